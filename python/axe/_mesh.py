"""Kernels over a mesh: called on ranks with what each has, or with whole arrays."""
from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _arrays, _axe, _spmd
from ._arrays import CPU
from ._errors import ArgumentError, CallError
from ._kernel import STAGES, Kernel, Param
from ._layout import Layout
from ._measure import Compared, Launch
from ._numbers import integer

TIMEOUT_MS = 30000


class Local:
    """What this rank has of an argument, with its layout over the mesh.

    ``layout``  the whole array's: ``"1000@gpu, 512"`` or a `Layout` over ``gpuid``;
                a ``PartitionSpec`` of JAX; placements of a DTensor, ``[Shard(0)]``;
                or a text in ``format``: "jax", "dtensor", "shardy", "gspmd" ...
    ``shape``   of the whole array; where it is not given, what all ranks have

    A kernel compares it with the layout that it declares, and refuses another:

    >>> import axe, numpy as np
    >>> m = axe.kernel("mesh gpu[P]; kernel twice(in f32 X[M @ gpu], out f32 Y[M @ gpu])"
    ...                "{ index m; Y[m] = 2 * X[m]; }")
    >>> def f(world, layout):
    ...     return m.twice(axe.Local(np.ones(2, "f4"), layout, shape=(4,)))
    >>> axe.spmd(2)(f, "4@gpu")
    [array([2., 2.], dtype=float32), array([2., 2.], dtype=float32)]
    >>> axe.spmd(2)(f, "4")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    axe.ShapeError: ...X is given as 4 and declared as 4@gpu: device 0 has index 2 of \
dimension 0 by what is given alone
    ...

    A DTensor is an argument by itself, and says all of that.
    """

    def __init__(self, array: Any, layout: Any = None, *,
                 shape: Optional[Sequence[Any]] = None, format: Optional[str] = None):
        self.array = array
        self.shape: Tuple[int, ...] = tuple(map(integer, shape or ()))
        self.layout, self.format = _layout_of(layout, format)

    def __repr__(self) -> str:
        return f"axe.Local({self.array!r}, {self.layout!r})"

    @property
    def _row(self) -> Optional[Tuple[Optional[str], Optional[str], Tuple[int, ...]]]:
        """As _axe takes it."""
        if self.layout is None and not self.shape:
            return None
        return (self.layout, self.format, self.shape)


def _layout_of(layout: Any, format: Optional[str]) -> Tuple[Optional[str], Optional[str]]:
    """The text of a layout, and whose it is."""
    if layout is None or isinstance(layout, str):
        return layout, format
    if isinstance(layout, Layout):
        return str(layout), None
    if type(layout).__name__ == "PartitionSpec":
        return f"P({', '.join(map(repr, layout))})", "jax"
    if isinstance(layout, (list, tuple)) and all(hasattr(p, "is_shard") for p in layout):
        return f"[{', '.join(map(_placement, layout))}]", "dtensor"
    raise CallError(f"a layout is a text, an axe.Layout, a PartitionSpec or a list of "
                    f"placements, not {type(layout).__name__}")


def _placement(p: Any) -> str:
    """Of a DTensor, as it writes them."""
    if p.is_shard():
        return f"S({p.dim})"
    return f"P({p.reduce_op})" if p.is_partial() else "R"


def _local(x: Any) -> Local:
    """An argument of any kind."""
    if isinstance(x, Local):
        return x
    if type(x).__name__ == "DTensor" and hasattr(x, "placements"):
        return Local(x.to_local(), list(x.placements), shape=tuple(x.shape))
    return Local(x)


class _Call(NamedTuple):
    """Arguments of a call, in the order of inputs, then outputs that are given."""

    params: List[Param]
    local: List[Local]
    looks: List[Any]
    arrays: Tuple[Tuple[str, Any], ...]  # of which types follow


class MeshKernel(Kernel):
    """A kernel over the devices of a mesh.

    Called in a function that `axe.spmd` runs, it takes what this rank has of each
    argument, arrays or `axe.Local`, and returns what it has of the results.  Called
    elsewhere, it takes whole arrays, and ``P=4`` or whatever the mesh's size is
    called: it runs on that many processes, and returns whole arrays.  Else it is
    called as any `Kernel` is; inputs that are not row-major are copied.

    `time` (20 runs, where ``runs`` does not say it), `check` and `simulate` take whole
    arrays, too.
    """

    _meshed: Dict[Any, Any]

    def _forget_all(self) -> None:
        super()._forget_all()
        if not hasattr(self, "_meshed"):
            self._meshed = {}  # programs, which forks leave as they are

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        out = keywords.pop("out", None)
        if keywords:
            return self._keywords(*args, out=out, **keywords)
        world = _spmd.current()
        call = self._read(args, out)
        program = self._program(call)
        if world is None:
            return self._whole(call, program)
        return self._on_rank(world, call, program)

    @property
    def mesh(self) -> Dict[str, str]:
        """The axes of its mesh and their sizes, as they are declared."""
        return dict(zip(self._row[5], self._row[6]))

    def _read(self, args: Tuple[Any, ...], out: Any) -> _Call:
        outs = self._check_count(args, out)
        params = [*self._inputs, *self._outputs[:len(outs)]]
        local = [_local(x) for x in (*args, *outs)]
        looks = [_arrays.look(l.array) for l in local]
        for i, (p, look) in enumerate(zip(params, looks)):
            if look[1] and look[3] != CPU:
                raise ArgumentError(f"{self.name}: {p.name} is on a GPU, and devices of a "
                                    "mesh are processes on CPUs so far")
            if p.access == "in" and look[1] and _arrays.order(look[1], look[2]) != "C":
                local[i] = _row_major(local[i])
                looks[i] = _arrays.look(local[i].array)
        given = [(p, l.array, look) for p, l, look in zip(params, local, looks)]
        return _Call(params, local, looks, self._arrays_of(given))

    def _program(self, call: _Call) -> Any:
        types = {p.name: look[0] for p, look in zip(call.params, call.looks)}
        key = tuple((name, types[name]) for name, _ in call.arrays)
        if key not in self._meshed:
            # Values that were tuned hang on sizes, which ranks have their own of.
            self._meshed[key] = _axe.compile(
                self.module.name, self.module.text, self.name, None, self._sets, (),
                call.arrays, self._sizes, 0, False, STAGES.index("c"))
        return self._meshed[key]

    def _complete(self, call: _Call, program: Any, shapes: Any) -> List[Local]:
        """All arguments, and outputs that are made."""
        who, like = _arrays.maker_of([x for _, x in call.arrays], False)
        local = list(call.local)
        for p in self._outputs[len(call.params) - len(self._inputs):]:
            i = self._number[p.name]
            local.append(Local(_arrays.maker(who, like, program.params[i][2], shapes[i])()))
        return local

    def _result(self, call: _Call, local: List[Local]) -> Any:
        wrap = _arrays.wrapper(_arrays.maker_of([x for _, x in call.arrays], False)[0])
        params = [*self._inputs, *self._outputs]
        results = [l.array for p, l in zip(params, local)
                   if p.access == ("out" if self._outputs else "inout")]
        if wrap:
            results = [wrap(x) for x in results]
        return results[0] if len(results) == 1 else tuple(results) if results else None

    # ---------------------------------------------------------------- on ranks

    def _on_rank(self, world: "_spmd.World", call: _Call, program: Any) -> Any:
        loaded = world._exec(self, program)
        local = call.local
        if len(call.params) < len(self.params):
            local = self._complete(call, program, loaded.shapes(
                *self._rows(call.params, local), self._sizes))
        loaded.launch(*self._rows([*self._inputs, *self._outputs], local), self._sizes)
        return self._result(call, local)

    def _rows(self, params: List[Param], local: List[Local]) -> Tuple[Any, Any]:
        return (tuple((p.name, l.array) for p, l in zip(params, local)),
                tuple(l._row for l in local))

    # ------------------------------------------------------- from one process

    def _whole(self, call: _Call, program: Any) -> Any:
        for p, l in zip(call.params, call.local):
            if l._row is not None:
                raise CallError(f"{self.name}: {p.name} is given as one rank has it; that is "
                                "for calls in a function that axe.spmd runs")
        self._check_open(program)
        arrays, _ = self._rows(call.params, call.local)
        local = call.local
        if len(call.params) < len(self.params):
            local = self._complete(call, program, program.shapes(arrays, self._sizes))
        arrays, _ = self._rows([*self._inputs, *self._outputs], local)
        program.mesh_launch(arrays, self._sizes, 0, TIMEOUT_MS)
        return self._result(call, local)

    def _timed(self, l: Launch, device: Any, runs: int, budget: float
               ) -> Tuple[str, Tuple[float, ...]]:
        self._check_alone(l.program)
        n, seconds = l.program.mesh_time(l.arrays, l.sizes, 0, TIMEOUT_MS, runs)
        return f"{n} devices", seconds

    def _checked(self, l: Launch, device: Any, host: Any) -> List[Compared]:
        self._check_alone(l.program)
        rows: List[Compared] = l.program.mesh_check(l.arrays, l.sizes, 0, TIMEOUT_MS, host)
        return rows

    def _check_alone(self, program: Any) -> None:
        if _spmd.current() is not None:
            raise CallError(f"{self.name} is timed and checked from one process, which starts "
                            "the ranks; a rank measures by its clock around a call")
        self._check_open(program)

    def _check_open(self, program: Any) -> None:
        """Does anything say how many devices there are?"""
        known = dict(self._sizes)
        for axis, size in self.mesh.items():
            follows = any(re.fullmatch(rf"{re.escape(size)}( *@.*)?", e)
                          for p in self.params for e in p.extent)
            if size in program.sizes and size not in known and not follows:
                raise CallError(
                    f"{self.name} is over a mesh, and nothing says how many devices "
                    f"there are along {axis}: give {size}=4, or call it in a function "
                    "that axe.spmd(4) runs")


def _row_major(l: Local) -> Local:
    """A copy that is."""
    new = Local(None, l.layout, shape=l.shape, format=l.format)
    if _arrays.framework(l.array) == "torch":
        new.array = l.array.contiguous()
    else:
        import numpy as np
        new.array = np.ascontiguousarray(l.array)
    return new

