"""Kernels: from text to calls on arrays."""
from __future__ import annotations

import json
import operator
import os
import re
import sys
from typing import (TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional,
                    Sequence, SupportsIndex, Tuple, Type)

from . import _arrays, _axe, _device, _measure
from ._arrays import CPU
from ._device import Device
from ._errors import (ArgumentError, CallError, ShapeError, TextError,
                      UnsupportedError)
from ._measure import Check, Simulation, Timing, Tuning
from ._numbers import constant, is_number

if TYPE_CHECKING:
    import inspect

STAGES = ("ir", "plan", "lower", "c")
_MACHINES: Dict[Optional[str], str] = {"cuda": "sm_90a"}  # words for machines


class Param(NamedTuple):
    """A parameter as it is declared."""

    name: str
    access: str  # "in", "out", "inout"
    type: str
    extent: Tuple[str, ...]

    def __str__(self) -> str:
        dims = f"[{', '.join(self.extent)}]" if self.extent else ""
        return f"{self.access} {self.type} {self.name}{dims}"


class Module:
    """The kernels of one text, as attributes and items.

    >>> import axe
    >>> m = axe.kernel("kernel twice(in f32 X[M], out f32 Y[M]) "
    ...                "{ index m; cta (i : 1) Y[m] = 2 * X[m]; }")
    >>> m.twice
    <kernel twice(in f32 X[M], out f32 Y[M])>
    >>> list(m)
    ['twice']
    """

    def __init__(self, text: str, name: str = "<kernel>"):
        if not isinstance(text, str):
            raise CallError(f"kernels are a text, not {type(text).__name__}; "
                            "axe.load reads a file")
        self.text = text
        self.name = name
        self._kernels: Dict[str, Kernel] = {}
        for row in _axe.signatures(name, text):
            self._kernels[row[0]] = _class_of(row)(self, row)
        if not self._kernels:
            raise TextError(f"{name} has no kernel; one is `kernel twice(in f32 X[M], "
                            "out f32 Y[M]) { ... }`")

    def __getattr__(self, name: str) -> "Kernel":
        kernels: Dict[str, Kernel] = self.__dict__.get("_kernels", {})
        if name in kernels:
            return kernels[name]
        raise AttributeError(
            f"{self.__dict__.get('name')} has no kernel '{name}'; it has "
            f"{', '.join(kernels) or 'none'}")

    def __getitem__(self, name: str) -> "Kernel":
        return self._kernels[name]

    def __iter__(self) -> Any:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._kernels]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if len(self._kernels) != 1:
            raise CallError(f"{self.name} has {len(self._kernels)} kernels; "
                            "call one of them by its name")
        return next(iter(self._kernels.values()))(*args, **keywords)

    def __reduce__(self) -> Any:
        return Module, (self.text, self.name)

    def __repr__(self) -> str:
        return f"<axe module {self.name}: {', '.join(self._kernels)}>"


def load(path: "os.PathLike[str] | str") -> Module:
    """The kernels of a file.  Raises ``OSError``, or ``TextError`` with the place."""
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except UnicodeDecodeError as e:
        raise TextError(f"{os.fspath(path)} is no text in UTF-8: {e.reason} at byte "
                        f"{e.start}") from None
    return Module(text, os.fspath(path))


def kernel(text: str, name: str = "<kernel>") -> Module:
    """The kernels of a text.  Raises ``TextError`` with the place in it."""
    return Module(text, name)


def _comment(text: str, kernel: str) -> str:
    """The comment above a kernel."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not re.match(rf"\s*kernel\s+{re.escape(kernel)}\b", line):
            continue
        first = i
        while first > 0 and lines[first - 1].lstrip().startswith("//"):
            first -= 1
        return "\n".join(l.lstrip().lstrip("/").strip() for l in lines[first:i])
    return ""


class Packed:
    """A matrix, or one for each value of dimensions around it, that ``Kernel.pack``
    has laid out as a kernel reads it best."""

    def __init__(self, type: str, shape: Tuple[int, ...],
                 strides: Tuple[int, ...], memory: Any):
        self._packed = (_packed_types.setdefault(type, type), shape, strides, memory)

    @property
    def shape(self) -> Tuple[int, ...]:
        return self._packed[1]

    def __repr__(self) -> str:
        return f"<{self._packed[0]}>"


_packed_types: Dict[str, str] = {}  # for ever, since calls know types by address


class Kernel(_axe.Caller):
    """A kernel, called on arrays: ``k(a, b)`` makes the outputs and returns them.

    Arguments are the ``in`` and ``inout`` parameters in order, or by name.
    Further keywords:

    ``out=``        the array, or tuple of arrays, to write instead
    a size          that follows from no array: ``N=100``
    a compile-time parameter   ``BM=64``, ``T="bf16"``
    ``device=``     where to run; else that of ``with Device()``

    Arrays are anything with the buffer protocol or DLPack (NumPy, PyTorch, JAX,
    CuPy, memoryview ...) in any order of strides; nothing is copied.  Types and
    sizes follow from them.  Parameters of rank 0 take numbers of Python and NumPy,
    ``2``, ``0.5``, ``np.float64(0.5)``, which become elements of the parameter's
    type: floats are rounded to it, integers must fit, a float is no integer.  An
    array of rank 0 has that type already.  What is
    returned is of the framework of the first array; for a kernel that has
    ``inout`` parameters alone, those.  On GPUs a call returns before it is done,
    on the stream that the framework uses.

    Raises ``ShapeError``, ``ElementTypeError``, ``ArgumentError`` ... with the
    parameter, the values and the reason, before anything has run.
    """

    def __init__(self, module: Module, row: Tuple[Any, ...],
                 sets: Tuple[Tuple[str, str], ...] = (),
                 sizes: Tuple[Tuple[str, int], ...] = ()):
        self.module = module
        self.name: str = row[0]
        self.machine: Optional[str] = row[1]
        self.params: Tuple[Param, ...] = tuple(Param(*p) for p in row[2])
        self.constants: Dict[str, str] = dict(zip(row[3], row[4]))
        self.__name__ = self.name
        self.__qualname__ = self.name
        self.__doc__ = f"{self}\n\n{_comment(module.text, self.name)}"
        self._row = row
        self._sets = sets
        self._sizes = sizes
        self._inputs = [p for p in self.params if p.access != "out"]
        self._outputs = [p for p in self.params if p.access == "out"]
        self._number = {p.name: i for i, p in enumerate(self.params)}
        self._name(tuple(sys.intern(p.name) for p in self._inputs),
                   tuple(sys.intern(p.name) for p in self._outputs))
        self._variants: Dict[Any, Kernel] = {}
        self._forget_all()
        _device.kernels.add(self)

    def __reduce__(self) -> Any:
        """Copies are made of the text, and compile anew."""
        module = self.module
        return _again, (module.text, module.name, self.name, self._sets, self._sizes)

    def _forget_all(self) -> None:
        """Nothing of what calls have found out so far."""
        self._forget()
        self._programs: Dict[Any, Any] = {}
        self._execs: Dict[Any, Any] = {}

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.params))})"

    def __repr__(self) -> str:
        chosen = ", ".join(f"{n}={v}" for n, v in (*self._sets, *self._sizes))
        return f"<kernel {self}{' with ' + chosen if chosen else ''}>"

    @property
    def __signature__(self) -> inspect.Signature:
        import inspect  # a third of what `import axe` would cost
        kind = inspect.Parameter
        return inspect.Signature(
            [kind(p.name, kind.POSITIONAL_OR_KEYWORD) for p in self._inputs]
            + [kind("out", kind.KEYWORD_ONLY, default=None),
               kind("device", kind.KEYWORD_ONLY, default=None)]
            + [kind(c, kind.KEYWORD_ONLY, default=v)
               for c, v in self.constants.items()])

    # ---------------------------------------------------------------- variants

    def with_(self, **values: Any) -> "Kernel":
        """The kernel with compile-time parameters and sizes that are known.

        >>> import axe
        >>> axe.ops.gemm.with_(BM=96)
        <kernel gemm(in T A[M, K], in T B[N, K], out T C[M, N]) with BM=96>
        """
        sets, sizes = dict(self._sets), dict(self._sizes)
        for name, value in values.items():
            if name in self.constants:
                sets[name] = constant(name, value)
            elif hasattr(value, "__index__") and not hasattr(value, "__len__"):
                sizes[name] = operator.index(value)
            else:
                raise CallError(
                    f"{self.name} has no parameter '{name}', and a size is an "
                    f"integer, not {value!r}")
        key = (tuple(sorted(sets.items())), tuple(sorted(sizes.items())))
        if key == (self._sets, self._sizes):
            return self
        if key not in self._variants:
            self._variants[key] = type(self)(self.module, self._row, *key)
        return self._variants[key]

    def _keywords(self, *args: Any, out: Any = None,
                  device: Optional[Device] = None, **keywords: Any) -> Any:
        """A call with more keywords than out=."""
        if device is not None:
            with _device.checked(device):
                return self._keywords(*args, out=out, **keywords)
        arrays = {n: keywords.pop(n) for n in list(keywords) if n in self._number}
        kernel = self.with_(**keywords) if keywords else self
        if arrays:
            args = self._place(args, arrays)
        given = [p.name for p in self._outputs if p.name in arrays]
        if given and out is not None:
            raise CallError(f"{self.name}: {given[0]} is given twice, by name and "
                            "by out=")
        if out is None:
            if given and len(given) < len(self._outputs):
                raise CallError(f"{self.name}: give all outputs or none, not "
                                f"{', '.join(given)} alone")
            out = tuple(arrays[n] for n in given) or None
            out = out[0] if out and len(out) == 1 else out
        return kernel(*args) if out is None else kernel(*args, out=out)

    def _place(self, args: Tuple[Any, ...], arrays: Dict[str, Any]) -> Tuple[Any, ...]:
        """Inputs in order, of which some are given by name."""
        placed = list(args)
        for p in self._inputs[len(args):]:
            if p.name in arrays:
                placed.append(arrays[p.name])
            elif any(q.name in arrays for q in self._inputs[len(placed):]):
                raise CallError(f"{self.name}: {p.name} is missing")
        for p in self._inputs[:len(args)]:
            if p.name in arrays:
                raise CallError(f"{self.name}: {p.name} is given twice")
        return tuple(placed)

    def pack(self, name: str, matrix: Any) -> Packed:
        """The matrix laid out once as the kernel reads parameter ``name`` best
        on this CPU; calls take it in place of the matrix.  Of more dimensions the
        last two are a matrix, for each value of the others.

        >>> import axe, numpy as np
        >>> x, w = np.ones((2, 64), "f4"), np.ones((48, 64), "f4")
        >>> packed = axe.ops.linear.with_(T="f32").pack("W", w)
        >>> np.array_equal(axe.ops.linear(x, packed), axe.ops.linear(x, w))
        True
        """
        import numpy as np
        program = _axe.compile(self.module.name, self.module.text, self.name,
                               None, self._sets, ((name, "packed"),), (),
                               self._sizes, 0, True, STAGES.index("plan"))
        shape = _arrays.look(matrix)[1]
        rank = next((r for n, _, _, r in program.params if n == name), len(shape))
        if len(shape) != rank:
            raise ShapeError(f"{name} has {rank} dimensions, not {len(shape)}")
        type, strides, n_bytes = program.packed(name, shape)
        memory = np.empty(n_bytes + 64, "u1")
        memory = memory[-memory.ctypes.data % 64:][:n_bytes]
        program.pack(((name, matrix),), memory)
        return Packed(type, shape, strides, memory)

    # ------------------------------------------------------------------ looking

    def _look(self, args: Tuple[Any, ...], target: Optional[str], stage: str,
              keywords: Dict[str, Any]) -> Tuple[Any, Tuple[Tuple[str, int], ...]]:
        """The program for the arrays that are given, and the sizes they have."""
        if len(args) > len(self._inputs):
            raise CallError(f"{self.name} takes {len(self._inputs)} arrays, "
                            f"{len(args)} are given")
        named = {p.name: keywords[p.name] for p in self._inputs if p.name in keywords}
        kernel = self.with_(**{n: v for n, v in keywords.items() if n not in named})
        for p, x in zip(self._inputs, args):
            if p.name in named:
                raise CallError(f"{self.name}: {p.name} is given twice")
            named[p.name] = x
        looks = {n: _arrays.look(x) for n, x in named.items()}
        arrays = self._arrays_of([(p, named[p.name], looks[p.name])
                                  for p in self._inputs if p.name in named])
        program = kernel.compile(arrays, target=_MACHINES.get(target, target),
                                 stage=stage)
        sizes = dict(kernel._sizes)
        by = {extent: "the value given" for extent in sizes}
        for p in self._inputs:
            if p.name not in named:
                continue
            shape: Tuple[int, ...] = looks[p.name][1]
            if len(shape) != len(p.extent):
                raise ShapeError(f"{p.name} has {len(p.extent)} dimensions, and "
                                 f"the array that is given {len(shape)}")
            for i, (extent, n) in enumerate(zip(p.extent, shape)):
                if extent in program.sizes and sizes.setdefault(extent, n) != n:
                    raise ShapeError(f"{extent} is {sizes[extent]} from {by[extent]} "
                                     f"but {n} from {p.name} (dimension {i})")
                by.setdefault(extent, f"{p.name} (dimension {i})")
        return program, tuple(sizes.items())

    def _arrays_of(self, given: Sequence[Tuple[Param, Any, Any]]
                   ) -> Tuple[Tuple[str, Any], ...]:
        """Those of (parameter, array or number, what look says) that types follow
        from: arrays, and NumPy's numbers where no array says what the type is."""
        arrays = [(p, x) for p, x, look in given if not is_number(p, look)]
        said = {p.type for p, _ in arrays} | {n for n, _ in self._sets}
        for p, x, look in given:
            if (is_number(p, look) and look[0] not in ("int", "float")
                    and p.type in self.constants and p.type not in said):
                import numpy as np
                arrays.append((p, np.asarray(x)))
        return tuple((p.name, x) for p, x in arrays)

    def explain(self, *args: Any, target: Optional[str] = None,
                **keywords: Any) -> str:
        """How each statement will run, and why so, as text.

        Arrays, sizes and compile-time parameters are given as in a call, as far
        as they matter: estimates are for their sizes.  ``target`` is a machine of
        ``axe help targets``; without it, this CPU.

        >>> import axe
        >>> "contract" in axe.ops.gemm.explain(M=64, N=64, K=64)
        True
        """
        program, sizes = self._look(args, target, "plan", keywords)
        text: str = program.explain(False, sizes)
        return text

    def source(self, target: Optional[str] = None, *args: Any,
               **keywords: Any) -> str:
        """The text that a compiler gets: C, CUDA C or OpenCL C.

        ``target`` is a machine of ``axe help targets``, or ``"cuda"`` for the one
        of Hopper; without it, this CPU.

        >>> import axe
        >>> "__global__" in axe.ops.softmax.source("cuda")
        True
        """
        if target is not None and not isinstance(target, str):
            raise CallError(f"{self.name}.source: the first argument is the name of a "
                            "machine or None, arrays come behind it")
        text: str = self._look(args, target, "c", keywords)[0].emit("c")
        return text

    # ---------------------------------------------------------------- measuring

    def time(self, *args: Any, out: Any = None, device: Optional[Device] = None,
             runs: SupportsIndex = 0, budget: float = 0.5, **keywords: Any) -> Timing:
        """How long the kernel takes, without Python's part of the call.

        Arrays, sizes and compile-time parameters are given as in a call.  Inputs
        that are not given are random numbers of the sizes that are; ``inout``
        arrays are copied before, so that nothing but ``out`` is written.

        ``runs``     how many, after two that do not count; 0: as many as the
                     ``budget`` [s] has room for, at least 5 and at most 1000

        On a GPU its own clock measures, and the arrays lie there.

        >>> import axe
        >>> t = axe.ops.gemm.time(M=64, N=32, K=16, runs=9)
        >>> len(t.seconds), t.flops, t.bytes
        (9, 65536.0, 14336.0)
        """
        return _measure.timed(self, args, out, device, runs, budget, keywords)

    def check(self, *args: Any, out: Any = None, device: Optional[Device] = None,
              **keywords: Any) -> Check:
        """Runs the kernel and compares what it wrote with its definition.

        The reference evaluates the kernel by its text with naive loops in double
        precision, and has for each element a bound of what rounding may do.
        Arguments are as for `time`.  The reference is slow: choose small arrays.

        >>> import axe
        >>> c = axe.ops.softmax.check(M=4, N=10)
        >>> bool(c), c.outputs[0].n
        (True, 40)
        """
        return _measure.checked(self, args, out, device, keywords)

    def simulate(self, *args: Any, target: Optional[str] = None, out: Any = None,
                 policy: str = "lazy", seed: SupportsIndex = 1,
                 sms: SupportsIndex = 0, max_steps: SupportsIndex = 0,
                 check: bool = True, cluster: SupportsIndex = -1, timeline: bool = False,
                 **keywords: Any) -> Simulation:
        """Executes the kernel as a GPU would, on this machine, thread by thread; or as
        the engines of a Trainium core would, instruction by instruction.

        Arguments are as for `time`, NumPy arrays.  The report says what could go
        wrong on any such machine (races, missing waits, reads of what nobody
        wrote ...) and counts instructions and bytes.

        ``target``     "sm_80", "sm_90a", "sm_100a", "trn1"; None: the kernel's own,
                       else sm_90a; "trn1" has the time by both profiles of its model
                       (``seconds``) and what each engine did (``engines``); of the
                       following it takes ``timeline``
        ``policy``     when asynchronous copies and products happen: "lazy",
                       "eager", or "random" by ``seed``; "behind": lazily, and of
                       clusters that wait for one another ``cluster`` (-1: the
                       last) goes on only when nobody else can; "ahead": eagerly,
                       and that one before all others
        ``sms``        blocks at a time of kernels that persist; 0: the machine's
        ``max_steps``  instructions of a cluster, then it counts as endless; 0:
                       10^9
        ``check``      look for races and for what is read unwritten
        ``timeline``   also say when things happen, by a model of time

        >>> import axe
        >>> s = axe.ops.row_sum.simulate(M=4, N=64, target="sm_80")
        >>> s.ok, s.outputs[0].shape
        (True, (4,))
        >>> axe.ops.row_sum.simulate(M=4, N=64, target="sm_80", timeline=True).timeline.svg[:4]
        '<svg'
        >>> s = axe.ops.gemm.simulate(M=128, N=128, K=128, T="bf16", target="trn1")
        >>> sorted(s.seconds), s.engines["tensor"].instructions > 0
        (['doc', 'legacy'], True)
        """
        return _measure.simulated(
            self, args, target or self.machine or "sm_90a", out, policy, cluster, seed, sms,
            max_steps, check, timeline, keywords)

    def _timed(self, l: _measure.Launch, device: Any, runs: int, budget: float
               ) -> Tuple[str, Tuple[float, ...]]:
        """Where, and how long."""
        return (_measure.device_text(device),
                _axe.Exec(l.program, device).time(l.arrays, l.sizes, runs, budget))

    def _checked(self, l: _measure.Launch, device: Any, host: Any
                 ) -> List[_measure.Compared]:
        """Rows of `Difference`, with row-major numbers for indices."""
        return _axe.Exec(l.program, device).check(l.arrays, l.sizes, host)

    def tune(self, *args: Any, target: Optional[str] = None,
             device: Optional[Device] = None, budget: float = 30.0,
             records: Optional[str] = None,
             progress: Optional[_measure.Progress] = None,
             **keywords: Any) -> Tuning:
        """Finds the values of its compile-time parameters that it runs best with.

        All combinations that its ``tune`` lines name are ranked by a model, the
        best are measured in turns for ``budget`` seconds.  What is found is kept
        in the database ``records`` (None: ``$AXE_TUNED``, or ``tuned.db`` in the
        cache; "": nowhere), from where calls with about these sizes take it.

        Arguments are as for `time`; parameters that are given are not varied.
        ``target`` names a GPU's machine: combinations are ranked by the model for
        the sizes given, none is measured and nothing kept.

        ``progress(doing, planned, measured, best)`` is called now and then, with
        the best time [s] or None so far; what it raises ends the search.  On a
        terminal a line says it.  Ctrl-C ends the search with what is known.

        Raises ``ArgumentError`` where the kernel has nothing to tune.

        >>> import axe
        >>> axe.ops.gemm.tune(M=512, N=512, K=512).best  # doctest: +SKIP
        {'BM': '96', 'BN': '512', 'BK': '512'}
        """
        return _measure.tuned(self, args, target, device, budget, records,
                              progress, keywords)

    @property
    def plan(self) -> Dict[str, Any]:
        """What `explain` says for this CPU, as data: what `axe explain --json` prints.

        >>> import axe
        >>> axe.ops.gemm.with_(BM=96).plan["kernel"]
        'gemm'
        """
        program, sizes = self._look((), None, "plan", {})
        found: Dict[str, Any] = json.loads(program.explain(True, sizes))
        return found

    # ----------------------------------------------------------------- binding

    def _new_device(self) -> Device:
        return Device()

    def _check_count(self, args: Tuple[Any, ...], out: Any) -> Tuple[Any, ...]:
        """The outputs that are given."""
        if len(args) != len(self._inputs):
            names = ", ".join(p.name for p in self._inputs)
            raise CallError(f"{self.name} takes {len(self._inputs)} arrays "
                            f"({names}), {len(args)} are given")
        if out is None:
            return ()
        given = out if isinstance(out, tuple) else (out,)
        if len(given) != len(self._outputs):
            names = ", ".join(p.name for p in self._outputs) or "none"
            raise CallError(f"{self.name} has {len(self._outputs)} outputs "
                            f"({names}), out= gives {len(given)}")
        return given

    def _bind(self, args: Tuple[Any, ...], out: Any, device: Any) -> Tuple[Any, ...]:
        """All that calls with arrays like these need; see entry.c."""
        outs = self._check_count(args, out)
        params = [*self._inputs, *self._outputs[:len(outs)]]
        given = list(zip(params, (*args, *outs)))
        looks = [_arrays.look(x) for _, x in given]
        arrays = self._arrays_of([(p, x, l) for (p, x), l in zip(given, looks)])
        device = self._place_of(looks, device)
        self._check_places([p.name for p, _ in given], looks, device)
        program, loaded = self._compiled(given, looks, arrays, device)
        numbers = tuple(self._number_type(program, p, l)
                        for (p, _), l in zip(given, looks))
        who, like = _arrays.maker_of([x for _, x in arrays], device.threads == 0)
        alloc: List[Any] = []
        if len(outs) < len(self._outputs):
            shapes = program.shapes(arrays, self._sizes)
            for p in self._outputs:
                params.append(p)
                i = self._number[p.name]
                if device.threads == 0 and who not in _arrays.ON_GPUS:
                    raise UnsupportedError(
                        f"{self.name}: no arrays of {type(like)} on a GPU can be made "
                        f"for {p.name}; give out=")
                alloc.append(_arrays.maker(who, like, program.params[i][2], shapes[i]))
        result = [i for i, p in enumerate(params) if p.access == "out"]
        if not result:
            result = [i for i, p in enumerate(params) if p.access == "inout"]
        stream = (_arrays.stream_of(who, _arrays.gpu_number(looks), (*args, *outs))
                  if device.threads == 0 else None)
        return (loaded, tuple(self._number[p.name] for p in params), numbers,
                self._sizes, tuple(alloc), _arrays.wrapper(who), tuple(result), stream)

    def _check_places(self, names: List[str], looks: List[Any], device: Any) -> None:
        """A GPU sees nothing of the host's memory; numbers are handed over."""
        for name, look in zip(names, looks):
            if device.threads == 0 and look[1] and look[3] == CPU:
                raise ArgumentError(f"{self.name}: {name} is in the host's memory, and "
                                    f"{device!r} a GPU; give arrays there")

    def _place_of(self, looks: List[Any], device: Any) -> Any:
        """Where the arrays are, which is where it runs."""
        places = {(l[3], l[4]) for l in looks if l[1]}
        gpus = {p for p in places if p[0] != CPU}
        if not gpus:
            return device
        if len(places) > 1:
            raise ArgumentError(f"{self.name}: the arrays are on several devices")
        kind, number = gpus.pop()
        if kind != 2:
            raise UnsupportedError(f"{self.name}: arrays on a device of DLPack's "
                                   f"kind {kind}")
        return _device.gpu(number)

    def _number_type(self, program: Any, p: Param, look: Any) -> Optional[str]:
        if not is_number(p, look):
            return None
        type: str = program.params[self._number[p.name]][2]
        return type

    def _compiled(self, given: Any, looks: Any, arrays: Any, device: Any) -> Any:
        """The program for types and orders, and it loaded on the device."""
        typed = {name for name, _ in arrays}
        key: Any = (device, tuple(
            (l[0], _arrays.order(l[1], l[2])) if p.name in typed else None
            for (p, _), l in zip(given, looks)))
        if _measure.has_records():  # values hang on sizes; what has the same is one program
            tuned = self.compile(arrays, device=device, stage="ir").tuned
            if tuned:
                key = (*key, tuned)
        found = self._execs.get(key)
        if found is None:
            program = self.compile(arrays, device=device)
            found = self._execs[key] = (program, _axe.Exec(program, device))
        return found

    def compile(self, arrays: Tuple[Tuple[str, Any], ...] = (), *,
                device: Optional[Any] = None, target: Optional[str] = None,
                stage: str = "c") -> Any:
        """The program for arrays by name, ((name, array), ...), and a machine."""
        if target is None and device is not None and device.threads == 0:
            target = device.machine
        workers = device.threads if device is not None else 0
        return _axe.compile(self.module.name, self.module.text, self.name, target,
                            self._sets, (), arrays, self._sizes, workers, True,
                            STAGES.index(stage))


def _class_of(row: Tuple[Any, ...]) -> Type[Kernel]:
    """What kernels of one device, and those over a mesh, are."""
    if not row[5]:
        return Kernel
    from ._mesh import MeshKernel  # which is made of this module's
    return MeshKernel


def _again(text: str, name: str, kernel: str, sets: Tuple[Tuple[str, str], ...],
           sizes: Tuple[Tuple[str, int], ...]) -> Kernel:
    """The kernel that was copied or pickled."""
    first = Module(text, name)[kernel]
    return type(first)(first.module, first._row, sets, sizes) if sets or sizes else first
