"""Kernels as functions of JAX: for jit, vmap and grad, on the CPU.

>>> import axe, axe.jax, jax, jax.numpy as jnp
>>> softmax = axe.jax.function(axe.ops.softmax)
>>> jax.jit(softmax)(jnp.zeros((2, 4)))
Array([[0.25, 0.25, 0.25, 0.25],
       [0.25, 0.25, 0.25, 0.25]], dtype=float32)

XLA calls the kernel itself, on its own buffers, without Python: the extension
module has a handler of XLA's FFI.  A computation for a GPU has none.
"""
from __future__ import annotations

import secrets
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import jax
import jax.numpy as jnp
import numpy as np

from . import _arrays, _axe
from ._errors import ArgumentError, CallError, UnsupportedError
from ._gradient import Gradient, one
from ._kernel import Kernel, Module

_TARGET = "axe_kernel"
_process = secrets.randbits(62)
_METHODS = ("sequential", "sequential_unrolled", None)
_lock = threading.Lock()
_rows: Dict[Any, Tuple[Any, int, Any]] = {}  # what _bind found

jax.ffi.register_ffi_target(_TARGET, _axe.jax_target(_process), platform="cpu")


def function(kernel: Union[Kernel, Module], *,
             backward: Union[Kernel, Module, None] = None,
             vmap_method: Optional[str] = "sequential") -> Callable[..., Any]:
    """The kernel as a function of arrays that JAX can trace.

    Its arguments are the kernel's ``in`` and ``inout`` parameters in order; those of
    rank 0 may be numbers.  It returns all that the kernel writes, ``out`` and
    ``inout``, in order: JAX's arrays do not change, so an ``inout`` argument keeps
    its value.  ``vmap_method`` is that of ``jax.ffi.ffi_call``: one that calls the
    kernel for each element of the batch, ``"sequential"`` or
    ``"sequential_unrolled"``, or None for none, as a kernel's parameters have as many
    dimensions as it says.

    ``backward`` is a kernel for the gradients.  Its inputs are found by their names:
    those of the inputs and outputs of ``kernel``, or ``dY`` for the gradient with
    respect to an output ``Y``; its outputs are called ``dX`` for an input ``X``.
    Inputs without one have no gradient, or a gradient of zeros.

    >>> import axe, axe.jax, jax, jax.numpy as jnp
    >>> m = axe.kernel('''
    ... kernel square(in f32 X[M], out f32 Y[M]) {
    ...     index m;
    ...     cta (i : M by 1024) Y[i*1024 + m] = X[i*1024 + m] * X[i*1024 + m]; }
    ... kernel square_backward(in f32 X[M], in f32 dY[M], out f32 dX[M]) {
    ...     index m;
    ...     cta (i : M by 1024)
    ...         dX[i*1024 + m] = 2 * X[i*1024 + m] * dY[i*1024 + m]; }''')
    >>> square = axe.jax.function(m.square, backward=m.square_backward)
    >>> jax.grad(lambda x: square(x).sum())(jnp.array([1., 2., 3.]))
    Array([2., 4., 6.], dtype=float32)
    """
    if vmap_method not in _METHODS:
        raise ArgumentError(f"vmap_method={vmap_method!r}: parameters of kernels have as "
                            f"many dimensions as they say; it is one of {_METHODS}")
    kernel = one(kernel)
    call = _caller(kernel, vmap_method)
    if backward is None:
        return call
    plan = Gradient(kernel, backward)
    back = _caller(plan.kernel, vmap_method)

    def forward(*args: Any) -> Any:
        result = call(*args)
        return result, (plan.values(args, result), args)

    def run(saved: Any, gradients: Any) -> Any:
        kept, args = saved
        if len(plan.outputs) == 1:
            gradients = (gradients,)
        results = plan.results(back(*plan.arguments(kept, gradients)))
        return tuple(_zero(x) if g is None else g for x, g in zip(args, results))

    new = jax.custom_vjp(call)
    new.defvjp(forward, run)
    return new


def _zero(x: Any) -> Any:
    """A gradient with respect to what has none: of integers JAX wants its own type."""
    x = jnp.asarray(x)
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.zeros_like(x)
    return np.zeros(x.shape, jax.dtypes.float0)


def _caller(kernel: Kernel, vmap_method: Optional[str]) -> Callable[..., Any]:
    written = [p for p in kernel.params if p.access != "in"]

    def call(*args: Any) -> Any:
        if len(args) != len(kernel._inputs):
            wanted = ", ".join(p.name for p in kernel._inputs)
            raise CallError(f"{kernel.name} takes {len(kernel._inputs)} arrays "
                            f"({wanted}), {len(args)} are given")
        given = [(p, x if isinstance(x, (int, float)) and not p.extent
                  else jnp.asarray(x)) for p, x in zip(kernel._inputs, args)]
        program, row, shapes = _bound(kernel, given)
        types = {p.name: _arrays.numpy_dtype(program.params[kernel._number[p.name]][2])
                 for p in kernel.params}
        struct: Any = jax.ShapeDtypeStruct  # JAX gives it no types
        results = [struct(shapes[kernel._number[p.name]], types[p.name])
                   for p in written]
        buffers = [np.asarray(x, types[p.name]) if isinstance(x, (int, float)) else x
                   for p, x in given]
        names = [p.name for p, _ in given]
        aliases = {names.index(p.name): i for i, p in enumerate(written)
                   if p.access == "inout"}
        made = jax.ffi.ffi_call(_TARGET, results, vmap_method=vmap_method,
                                input_output_aliases=aliases)(
            *buffers, row=np.int64(row), process=np.int64(_process))
        return made[0] if len(made) == 1 else tuple(made)

    call.__name__ = call.__qualname__ = kernel.name
    call.__doc__ = kernel.__doc__
    return call


def _bound(kernel: Kernel, given: List[Tuple[Any, Any]]) -> Tuple[Any, int, Any]:
    """The program for types and shapes, the row of ffi.c for it, all shapes.

    The arrays stand for those of the call; their memory is never touched."""
    arrays = tuple((p.name, np.empty(x.shape, x.dtype))
                   for p, x in given if not isinstance(x, (int, float)))
    device = kernel._device_in_use()
    if device.threads == 0:
        raise UnsupportedError(f"{kernel.name}: JAX calls kernels on the CPU alone")
    key = (kernel, device, tuple((name, x.dtype.name, x.shape) for name, x in arrays))
    with _lock:
        if key not in _rows:
            _rows[key] = _bind(kernel, given, arrays, device)
        return _rows[key]


def _bind(kernel: Kernel, given: List[Tuple[Any, Any]], arrays: Any,
          device: Any) -> Tuple[Any, int, Any]:
    program = kernel.compile(arrays, device=device)
    shapes = program.shapes(arrays, kernel._sizes)
    args = tuple(-1 if p.access == "inout" else kernel._number[p.name]
                 for p, _ in given)
    results = tuple(kernel._number[p.name] for p in kernel.params
                    if p.access != "in")
    row = _axe.jax_bind(_axe.Exec(program, device), args, results, kernel._sizes)
    return program, row, shapes
