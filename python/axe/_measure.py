"""Kernels timed, tuned, checked against the reference, simulated.

What ``Kernel.time``, ``tune``, ``check`` and ``simulate`` return, and how they
get the arrays that are not given.
"""
from __future__ import annotations

import json
import os
import sys
import time
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple,
                    Optional, SupportsIndex, Tuple, Union)

from . import _arrays, _axe, _device
from ._errors import ArgumentError, CallError
from ._numbers import within

if TYPE_CHECKING:
    from ._kernel import Kernel

Arrays = Tuple[Tuple[str, Any], ...]
Sizes = Tuple[Tuple[str, int], ...]
Compared = Tuple[str, int, int, int, float, float, float, int, float, float, float]
Progress = Callable[[str, int, int, Optional[float]], Any]
# How copies happen, and which turns clusters have.
POLICIES = {"lazy": (0, 0), "eager": (1, 0), "random": (2, 0), "behind": (0, 1), "ahead": (1, 2)}
# Of the time of a Trainium core: what was fitted, what is documented.
PROFILES = ("legacy", "doc")


# -------------------------------------------------------------------- results


class Timing(NamedTuple):
    """Seconds of the runs of a kernel, and how much work one of them is.

    >>> t = Timing((0.001, 0.002, 0.002, 0.003, 0.005), 4e6, 2e6, "cpu, 1 thread")
    >>> t.median, t.least, t.spread, t.flops_per_s
    (0.002, 0.001, 0.5, 2000000000.0)
    >>> print(t)
    median 2 ms, least 1 ms of 5, middle half within 50 %; 2 GFLOP/s; 1 GB/s of arguments
    """

    seconds: Tuple[float, ...]
    """[s] of each run, ascending"""
    flops: float
    """floating operations of contractions in one run; 0: it has none"""
    bytes: float
    """of the arguments, twice of those both read and written"""
    device: str
    """"cpu, 2 threads", or the GPU's machine"""

    @property
    def median(self) -> float:
        """[s]"""
        s, n = self.seconds, len(self.seconds)
        return s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) / 2

    @property
    def least(self) -> float:
        """[s]"""
        return self.seconds[0]

    @property
    def spread(self) -> float:
        """Third quartile minus first, as a share of the median."""
        s, n = self.seconds, len(self.seconds)
        return (s[(3 * n - 1) // 4] - s[n // 4]) / self.median

    @property
    def flops_per_s(self) -> float:
        """At the median; 0 without contractions."""
        return self.flops / self.median

    @property
    def bytes_per_s(self) -> float:
        """Of the arguments, at the median."""
        return self.bytes / self.median

    def __str__(self) -> str:
        rate = f"; {self.flops_per_s * 1e-9:.4g} GFLOP/s" if self.flops else ""
        return (f"median {self.median * 1e3:.4g} ms, least {self.least * 1e3:.4g} "
                f"ms of {len(self.seconds)}, middle half within "
                f"{100 * self.spread:.0f} %{rate}; "
                f"{self.bytes_per_s * 1e-9:.4g} GB/s of arguments")

    def __repr__(self) -> str:
        return f"<axe timing on {self.device}: {self}>"


class Difference(NamedTuple):
    """One array that a kernel wrote, compared with what it should hold."""

    name: str
    n: int
    """elements compared"""
    n_wrong: int
    """that differ by more than rounding can explain"""
    n_unbound: int
    """that have no bound: anything passes"""
    max_abs: float
    max_rel: float
    max_share: float
    """largest difference as a share of its bound"""
    worst: Optional[Tuple[int, ...]]
    """index of the element of ``max_share``, or of a wrong one; None: there is none"""
    got: float
    want: float
    bound: float
    """of that element"""

    @property
    def verdict(self) -> str:
        """"ok", "WRONG", or "unverifiable": most elements have no bound."""
        if self.n_wrong:
            return "WRONG"
        return "unverifiable" if 2 * self.n_unbound > self.n else "ok"

    def __str__(self) -> str:
        text = (f"check {self.name}: {self.verdict}, {self.n} elements, max error "
                f"{self.max_abs:.3g} absolute, {self.max_rel:.3g} relative, "
                f"{self.max_share:.2g} of its bound")
        if self.n_wrong and self.worst is not None:
            text += (f"\n  {self.n_wrong} wrong, worst {self.name}"
                     f"{list(self.worst)}: {self.got:.9g}, should be "
                     f"{self.want:.9g} +- {max(self.bound, 0):.3g}")
        if self.n_unbound:
            text += f"\n  {self.n_unbound} elements have no error bound"
        return text


class Check(NamedTuple):
    """A kernel's results beside those of its definition; true if they agree."""

    outputs: Tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        """Is no element wrong?"""
        return all(d.n_wrong == 0 for d in self.outputs)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(map(str, self.outputs))

    def __repr__(self) -> str:
        return f"<axe {self}>"


class Timeline(NamedTuple):
    """When things happened, by a model of time: nothing of it was measured.

    A notebook shows the picture: SMs down, time across, what each role does in
    colours, hatchings and letters.
    """

    svg: str
    """the picture"""
    events: Dict[str, Any]
    """the same as trace events, which Perfetto and Chrome open"""

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the picture (``.svg``) or the events (``.json``)."""
        end = os.fspath(path).rpartition(".")[2]
        if end not in ("svg", "json"):
            raise ArgumentError(f"{os.fspath(path)}: a name that ends in .svg, a picture, or "
                                ".json, trace events")
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.svg if end == "svg" else json.dumps(self.events))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<axe timeline: {len(self.events['traceEvents'])} events>"


class Engine(NamedTuple):
    """What one engine of a Trainium core did."""

    instructions: int
    busy: Dict[str, float]
    """[s] by profile, "legacy" and "doc"; of "dma": the mean of its engines"""


class Simulation(NamedTuple):
    """What the simulator saw; true if it found nothing wrong.

    It decides what is right or wrong by the order that barriers and waits make
    sure of.  It counts instructions and bytes; with ``timeline=True`` a model of
    time says when they happen.
    """

    outputs: Tuple[Any, ...]
    """what the kernel wrote, in the order of its parameters"""
    report: Dict[str, Any]
    """findings and counts, as ``axe sim --json`` prints them"""
    text: str
    """the same for people"""
    timeline: Optional[Timeline] = None
    """if it was asked for"""

    @property
    def ok(self) -> bool:
        """Was nothing found?"""
        return not self.report["findings"]

    @property
    def seconds(self) -> Dict[str, float]:
        """[s] that a Trainium core takes by each profile of its timing model,
        "legacy" and "doc"; empty for machines of threads."""
        return {p: self.report[f"ns_{p}"] * 1e-9 for p in PROFILES
                if f"ns_{p}" in self.report}

    @property
    def engines(self) -> Dict[str, Engine]:
        """What each engine of a Trainium core did; empty for machines of threads."""
        return {name: Engine(e["instructions"],
                             {p: e[f"busy_ns_{p}"] * 1e-9 for p in PROFILES})
                for name, e in self.report.get("engines", {}).items()}

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        n = len(self.report["findings"])
        return f"<axe simulation: {'nothing' if n == 0 else n} wrong>"


class Try(NamedTuple):
    """One combination of values of compile-time parameters."""

    values: Dict[str, str]
    estimate: Optional[float]
    """[s] by the model; None: it cannot tell"""
    seconds: Optional[float]
    """[s] of a launch, the lower quartile of the samples; None: not measured"""
    samples: int


class Tuning(NamedTuple):
    """What a search has found; ``kernel`` is the kernel with the best values."""

    kernel: "Kernel"
    tries: Tuple[Try, ...]
    """measured ones first, the fastest first, then by the model"""
    n_measured: int
    n_refused: int
    """combinations without a plan"""
    default: Optional[int]
    """which of the tries has the defaults"""
    stopped: bool
    """by Ctrl-C, before it was done"""
    machine: str
    sizes: str
    """the class of sizes that the values are for"""
    records: Optional[str]
    """the database where they were kept"""

    @property
    def best(self) -> Dict[str, str]:
        """The best values."""
        return self.tries[0].values

    @property
    def speedup(self) -> Optional[float]:
        """Time of the defaults through that of the best; None: not measured."""
        base = None if self.default is None else self.tries[self.default].seconds
        best = self.tries[0].seconds
        return base / best if base and best else None

    def __str__(self) -> str:
        lines = [f"{self.kernel.name} for about {self.sizes} on {self.machine}: "
                 f"{len(self.tries)} combinations planned, {self.n_refused} "
                 f"refused, {self.n_measured} measured"
                 + (", interrupted" if self.stopped else "")]
        for i, t in enumerate(self.tries[:self.n_measured or None]):
            if i >= 12 and i != self.default:
                continue
            took = t.seconds if t.seconds is not None else t.estimate
            lines.append(
                ("  model " if t.seconds is None else "  ")
                + ("not launched" if took is None else f"{took * 1e3:9.4g} ms")
                + "  " + " ".join(f"{n}={v}" for n, v in t.values.items())
                + ("  (default)" if i == self.default else ""))
        return "\n".join(lines)

    def __repr__(self) -> str:
        values = ", ".join(f"{n}={v}" for n, v in self.best.items())
        return f"<axe tuning of {self.kernel.name}: {values}>"


# ------------------------------------------------------------------ arguments


class Launch(NamedTuple):
    """All arrays of a kernel by name, and what was compiled for them."""

    kernel: "Kernel"
    program: Any
    arrays: Arrays
    sizes: Sizes

    def outputs(self) -> Tuple[Any, ...]:
        """The arrays that the kernel writes."""
        by_name = dict(self.arrays)
        return tuple(by_name[p.name] for p in self.kernel.params
                     if p.access != "in")


def launch(kernel: "Kernel", args: Tuple[Any, ...], out: Any,
           keywords: Dict[str, Any], *, target: Optional[str] = None,
           device: Any = None, stage: str = "c", seed: int = 1) -> Launch:
    """What a call on these arrays would run.

    Arrays that are not given are made: those that are read of random numbers,
    with the sizes that are given.  ``inout`` arrays are copies, so that nothing
    of the caller's is written but ``out``.
    """
    named = {n: keywords.pop(n) for n in list(keywords) if n in kernel._number}
    kernel = kernel.with_(**keywords)
    if len(args) > len(kernel._inputs):
        raise CallError(f"{kernel.name} takes {len(kernel._inputs)} arrays, "
                        f"{len(args)} are given")
    for p, x in zip(kernel._inputs, args):
        if p.name in named:
            raise CallError(f"{kernel.name}: {p.name} is given twice")
        named[p.name] = x
    outs = out if isinstance(out, tuple) else () if out is None else (out,)
    if outs and len(outs) != len(kernel._outputs):
        raise CallError(f"{kernel.name} has {len(kernel._outputs)} outputs, out= "
                        f"gives {len(outs)}")
    named.update((p.name, x) for p, x in zip(kernel._outputs, outs))
    known = kernel._arrays_of([(kernel.params[kernel._number[n]], x, _arrays.look(x))
                               for n, x in named.items()])
    program = kernel.compile(known, device=device, target=target, stage=stage)
    return Launch(kernel, program,
                  _complete(kernel, program, named, known, seed), kernel._sizes)


def _complete(kernel: "Kernel", program: Any, named: Dict[str, Any],
              known: Arrays, seed: int) -> Arrays:
    """All parameters' arrays, in order."""
    shapes = program.shapes(tuple(named.items()), kernel._sizes)
    who, like = _arrays.maker_of([x for _, x in known], False)
    arrays: List[Tuple[str, Any]] = []
    for i, p in enumerate(kernel.params):
        type, x = program.params[i][2], named.get(p.name)
        if x is None:
            _arrays.check_size(p.name, shapes[i])
        if x is None and p.access == "out":
            x = _arrays.maker(who, like, type, shapes[i])()
        elif x is None and not p.extent:
            raise CallError(f"{kernel.name}: give {p.name}, which is a number")
        elif x is None:
            x = _arrays.random(who, like, type, shapes[i], seed + i)
        elif p.access == "inout":
            x = _arrays.copy(x)
        arrays.append((p.name, x))
    return tuple(arrays)


def on_device(kernel: "Kernel", args: Tuple[Any, ...], out: Any,
              device: Any) -> Any:
    """The device of arrays, or the one that is given or in use."""
    given = kernel._device_in_use() if device is None else _device.checked(device)
    outs = out if isinstance(out, tuple) else () if out is None else (out,)
    return kernel._place_of([_arrays.look(x) for x in (*args, *outs)], given)


def device_text(device: Any) -> str:
    """"cpu, 2 threads", "sm_90a"."""
    if not device.threads:
        return str(device.machine)
    return f"cpu, {device.threads} thread{'s' if device.threads > 1 else ''}"


# -------------------------------------------------------------------- methods


def timed(kernel: "Kernel", args: Tuple[Any, ...], out: Any, device: Any,
          runs: SupportsIndex, budget: float, keywords: Dict[str, Any]) -> Timing:
    device = on_device(kernel, args, out, device)
    runs = within("runs", runs, 0, 1000)
    l = launch(kernel, args, out, keywords, device=device)
    kernel._check_places([n for n, _ in l.arrays],
                         [_arrays.look(x) for _, x in l.arrays], device)
    where, seconds = l.kernel._timed(l, device, runs, budget)
    flops, n_bytes = l.program.work(l.arrays, l.sizes)
    return Timing(tuple(sorted(seconds)), flops, n_bytes, where)


def checked(kernel: "Kernel", args: Tuple[Any, ...], out: Any, device: Any,
            keywords: Dict[str, Any]) -> Check:
    device = on_device(kernel, args, out, device)
    if device.threads == 0 and any(_arrays.look(x)[3] != 1 for x in args):
        raise ArgumentError(f"{kernel.name}: the reference runs on the host; give "
                            f"arrays there, and device={device!r}")
    l = launch(kernel, args, out, keywords, device=device)
    host = device
    if device.threads == 0:
        host = _device.Device(threads=1)
    shapes = {p.name: s for p, s in zip(kernel.params, l.program.shapes(
        l.arrays, l.sizes))}
    rows = l.kernel._checked(l, device, host)
    return Check(tuple(Difference(*r[:7], _index(shapes[r[0]], r[7]), *r[8:])
                       for r in rows))


def _index(shape: Tuple[int, ...], number: int) -> Optional[Tuple[int, ...]]:
    """A row-major number as an index."""
    if number < 0:
        return None
    at = []
    for n in reversed(shape):
        at.append(number % n)
        number //= n
    return tuple(reversed(at))


def simulated(kernel: "Kernel", args: Tuple[Any, ...], target: Optional[str],
              out: Any, policy: str, cluster: SupportsIndex, seed: SupportsIndex,
              sms: SupportsIndex, max_steps: SupportsIndex,
              check: bool, timeline: bool, keywords: Dict[str, Any]) -> Simulation:
    if policy not in POLICIES:
        *names, last = POLICIES
        raise ArgumentError(f"policy is {', '.join(map(repr, names))} or {last!r}, "
                            f"not {policy!r}")
    cluster = within("cluster", cluster, -1, (1 << 31) - 1)
    sms = within("sms", sms, 0, (1 << 31) - 1)
    max_steps = within("max_steps", max_steps, 0, (1 << 63) - 1)
    seed = within("seed", seed, 0, (1 << 64) - 1)
    l = launch(kernel, args, out, keywords, target=target, stage="lower",
               seed=seed)
    text, report, svg, events = l.program.simulate(
        l.arrays, l.sizes, *POLICIES[policy], cluster, seed, sms, max_steps, check, timeline)
    when = Timeline(svg, json.loads(events)) if svg and events else None
    return Simulation(l.outputs(), json.loads(report), text, when)


def tuned(kernel: "Kernel", args: Tuple[Any, ...], target: Optional[str],
          device: Any, budget: float, records: Optional[str],
          progress: Optional[Progress], keywords: Dict[str, Any]) -> Tuning:
    if not budget > 0:
        raise ArgumentError(f"budget={budget!r}: seconds, above 0")
    own = kernel.with_(**{n: v for n, v in keywords.items() if n in kernel.constants})
    if target:
        device = None
        arrays: Arrays = ()
        program, sizes = kernel._look(args, target, "plan", dict(keywords))
        kernel = kernel.with_(**keywords)
        machine = program.machine
    else:
        device = on_device(kernel, args, None, device)
        kernel, program, arrays, sizes = launch(kernel, args, None, keywords,
                                                device=device, stage="plan")
        machine = None if device.threads else device.machine
    lines = Lines(kernel.name) if progress is None and Lines.wanted() else None
    try:
        found = _axe.tune(
            kernel.module.name, kernel.module.text, kernel.name, machine, program,
            kernel._sets, arrays, sizes, device, budget, records,
            progress or lines)
    finally:
        if lines:
            lines.end()
    for k in list(_device.kernels):  # calls take what was found from now on
        if k.module is kernel.module and k.name == kernel.name:
            k._forget_all()
    names, tries, n, default, refused, stopped, on, near, threads, db = found
    each = tuple(Try(dict(zip(names, t[0])), t[1] if t[1] >= 0 else None,
                     t[3] if t[3] > 0 else None, t[4]) for t in tries)
    if device is not None and device.threads:
        on = device_text(device)
    return Tuning(own.with_(**each[0].values), each, n, refused,
                  default if default >= 0 else None, stopped, on, near, db or None)


class Lines:
    """Progress as one line of a terminal, written again and again."""

    @staticmethod
    def wanted() -> bool:
        return sys.stderr is not None and sys.stderr.isatty()

    def __init__(self, name: str):
        self.name, self.last = name, 0.0

    def __call__(self, doing: str, planned: int, measured: int,
                 best: Optional[float]) -> None:
        if time.monotonic() - self.last < 0.1:
            return
        self.last = time.monotonic()
        text = f", best {best * 1e3:.4g} ms" if best else ""
        sys.stderr.write(f"\r\033[K{self.name}: {doing}: {planned} planned, "
                         f"{measured} measured{text}")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def has_records() -> bool:
    """Is there a database of what `axe tune` has found?"""
    path = os.environ.get("AXE_TUNED")
    if path is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        path = os.path.join(os.environ.get("AXE_CACHE")
                            or os.path.join(home, "axe"), "tuned.db")
    return bool(path) and os.path.exists(path)
