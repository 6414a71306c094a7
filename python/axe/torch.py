"""Kernels as operators of PyTorch: for torch.compile, export and autograd.

>>> import axe, axe.torch, torch
>>> softmax = axe.torch.op("axe::softmax", axe.ops.softmax)
>>> torch.compile(softmax, backend="eager")(torch.zeros(2, 4))
tensor([[0.2500, 0.2500, 0.2500, 0.2500],
        [0.2500, 0.2500, 0.2500, 0.2500]])

A call of the kernel itself, ``axe.ops.softmax(x)``, costs less, and is not seen by
``torch.compile``.  Tensors on a GPU are handed to the kernel on PyTorch's current
stream; tests do so with a driver that writes down what it is asked, none on a GPU.
"""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Sequence, Union

import numpy as np
import torch

from . import _arrays
from ._errors import ElementTypeError
from ._gradient import Gradient, one
from ._kernel import Kernel, Module, Param

_TYPES: Dict[torch.dtype, str] = {
    getattr(torch, name): type for type, name in _arrays._TORCH.items()
    if hasattr(torch, name)}


def op(name: str, kernel: Union[Kernel, Module], *,
       backward: Union[Kernel, Module, None] = None) -> Any:
    """The kernel as the operator ``name``, "namespace::name", of ``torch.ops``.

    Its arguments are the kernel's ``in`` and ``inout`` parameters in order, those
    of rank 0 as numbers; it returns the ``out`` parameters, and nothing if there
    are ``inout`` ones alone.  What is returned is a ``CustomOpDef`` of PyTorch, on
    which ``register_autograd`` and ``register_vmap`` can be called.

    ``backward`` is a kernel for the gradients, the operator ``name_backward``.  Its
    inputs are found by their names: those of the inputs and outputs of ``kernel``,
    or ``dY`` for the gradient with respect to an output ``Y``; its outputs are
    called ``dX`` for an input ``X``.  Inputs without one have no gradient.

    >>> import axe, axe.torch, torch
    >>> m = axe.kernel('''
    ... kernel square(in f32 X[M], out f32 Y[M]) {
    ...     index m;
    ...     cta (i : M by 1024) Y[i*1024 + m] = X[i*1024 + m] * X[i*1024 + m]; }
    ... kernel square_backward(in f32 X[M], in f32 dY[M], out f32 dX[M]) {
    ...     index m;
    ...     cta (i : M by 1024)
    ...         dX[i*1024 + m] = 2 * X[i*1024 + m] * dY[i*1024 + m]; }''')
    >>> square = axe.torch.op("axe::square", m.square, backward=m.square_backward)
    >>> x = torch.tensor([1., 2., 3.], requires_grad=True)
    >>> square(x).sum().backward()
    >>> x.grad
    tensor([2., 4., 6.])
    """
    kernel = one(kernel)
    updated = [p.name for p in kernel.params if p.access == "inout"]
    plan = Gradient(kernel, backward) if backward is not None else None
    new = torch.library.custom_op(name, _runner(kernel), mutates_args=updated,
                                  schema=_schema(kernel))
    new.register_fake(_faker(kernel))
    if plan is not None:
        _differentiate(new, plan, op(name + "_backward", plan.kernel))
    return new


def _schema(kernel: Kernel) -> str:
    def of(i: int, p: Param) -> str:
        if p.access == "inout":
            return f"Tensor(a{i}!)"
        if p.extent:
            return "Tensor"
        if p.type == "bool":
            return "bool"
        if p.type.startswith(("i", "u")):
            return "SymInt"
        return "float" if p.type.startswith(("f", "bf")) else "Scalar"

    args = ", ".join(f"{of(i, p)} {p.name}" for i, p in enumerate(kernel._inputs))
    results = ", ".join("Tensor" for _ in kernel._outputs)
    return f"({args}) -> " + (results if len(kernel._outputs) == 1
                              else f"({results})")


def _runner(kernel: Kernel) -> Callable[..., Any]:
    make = _faker(kernel)
    has_tensors = any(p.extent for p in kernel._inputs)

    def run(*args: Any) -> Any:
        if not has_tensors:  # else arrays that are made are of their framework
            return kernel(*args, out=make(*args))
        result = kernel(*(x.detach() if isinstance(x, torch.Tensor)
                          and x.requires_grad else x for x in args))
        return result if kernel._outputs else None

    return run


# ------------------------------------------------------------- without values


def _hint(n: Any) -> int:
    """A size as a number; of a symbolic one what it is while it is traced."""
    if isinstance(n, int):
        return n
    hint = getattr(n.node, "hint", None)
    return 2 if hint is None else int(hint)


def _likeness(p: Param, x: torch.Tensor) -> Any:
    """An array of that type and shape, whose memory is never touched."""
    if x.dtype not in _TYPES:
        raise ElementTypeError(f"{p.name}: there is no element type for {x.dtype}")
    type, shape = _TYPES[x.dtype], tuple(map(_hint, x.shape))
    if type in _arrays._NUMPY:
        return np.empty(shape, _arrays._NUMPY[type])
    return SimpleNamespace(
        dtype=SimpleNamespace(name=_arrays._ML_DTYPES[type]),
        view=lambda integer: np.empty(shape, integer))


def _faker(kernel: Kernel) -> Callable[..., Any]:
    """What makes results without values: of symbolic sizes where extents are names."""
    def fake(*args: Any) -> Any:
        given = [(p, x) for p, x in zip(kernel._inputs, args)
                 if isinstance(x, torch.Tensor)]
        arrays = tuple((p.name, _likeness(p, x)) for p, x in given)
        program = kernel.compile(arrays, stage="ir")
        shapes = program.shapes(arrays, kernel._sizes)
        known: Dict[str, Any] = {}
        for p, x in given:
            known.update(zip(p.extent, x.shape))
        made: List[torch.Tensor] = []
        for p in kernel._outputs:
            i = kernel._number[p.name]
            shape = [known.get(e, n) for e, n in zip(p.extent, shapes[i])]
            like = given[0][1] if given else torch.empty(0)
            made.append(like.new_empty(shape, dtype=_dtype(program.params[i][2])))
        if not made:
            return None
        return made[0] if len(made) == 1 else tuple(made)

    return fake


def _dtype(type: str) -> torch.dtype:
    found = getattr(torch, _arrays._TORCH.get(type, ""), None)
    if not isinstance(found, torch.dtype):
        raise ElementTypeError(f"PyTorch has no tensors of {type}")
    return found


# ------------------------------------------------------------------ gradients


def _differentiate(new: Any, plan: Gradient, back: Any) -> None:
    def keep(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        kept = plan.values(inputs, output)
        ctx.names = [n for n, x in kept.items() if isinstance(x, torch.Tensor)]
        ctx.numbers = {n: x for n, x in kept.items() if n not in ctx.names}
        ctx.save_for_backward(*(kept[n] for n in ctx.names))

    def run(ctx: Any, *gradients: Any) -> Any:
        kept = {**dict(zip(ctx.names, ctx.saved_tensors)), **ctx.numbers}
        results = plan.results(back(*plan.arguments(kept, gradients)))
        return results[0] if len(results) == 1 else results

    new.register_autograd(run, setup_context=keep)
