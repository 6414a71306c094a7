"""Ranks: processes that are the devices of a mesh, which run one function."""
from __future__ import annotations

import os
import sys
import threading
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Optional, SupportsIndex, Tuple,
                    TypeVar, Union)

from . import _axe
from ._device import Device
from ._errors import ArgumentError, CallError, Error
from ._group import launcher_of
from ._numbers import within

if TYPE_CHECKING:
    from ._mesh import MeshKernel

T = TypeVar("T")
MOST_EXECS = 64  # that stay loaded


class _Now(threading.local):
    world: Optional["World"] = None


_now = _Now()


def current() -> Optional["World"]:
    """The world of the run that this thread is a rank of."""
    return _now.world


class World:
    """The ranks of a run as one of them sees it: what `spmd` gives the function.

    A kernel over a mesh that is called in the function is a collective: all ranks
    call it, in the same order, each with what its device has of the arguments.
    """

    def __init__(self, ranks: Any, threads: int):
        self._ranks = ranks
        self._rank: int = ranks.rank
        self._size: int = ranks.size
        self._threads = threads or max(1, _n_core() // self._size)
        self._device: Optional[Device] = None
        self._execs: Dict[int, Tuple["MeshKernel", Any, Any]] = {}

    @property
    def rank(self) -> int:
        """Which of the ranks this is, from 0 on: the number of its device."""
        return self._rank

    @property
    def size(self) -> int:
        """How many there are."""
        return self._size

    @property
    def engine(self) -> str:
        """How they reach one another: "shm", "openmpi" or "mpich"."""
        name: str = self._ranks.engine
        return name

    def barrier(self) -> None:
        """Waits until all ranks have come to it."""
        self._ranks.barrier()

    def gather(self, x: Any) -> List[Any]:
        """What each rank gives, in their order, on all of them; pickled."""
        return self._collect(x, True)

    def __repr__(self) -> str:
        return f"<axe world: rank {self._rank} of {self._size}>"

    def _collect(self, x: Any, wanted: bool) -> List[Any]:
        import pickle
        try:
            mine = pickle.dumps(x, 5)
        except Exception as e:
            raise CallError(f"what rank {self._rank} gives to others does not pickle: {e}; "
                            "arrays, numbers and texts do") from None
        found = self._ranks.gather(mine, wanted)
        return [x if r == self._rank else pickle.loads(b) if wanted else None
                for r, b in enumerate(found)]

    def _exec(self, kernel: "MeshKernel", program: Any) -> Any:
        """The program, loaded here."""
        known = self._execs.get(id(program))
        if known is None:
            if len(self._execs) == MOST_EXECS:
                self._close()
            made = _axe.RankExec(self._ranks, program, self._device)
            known = self._execs[id(program)] = (kernel, program, made)
        return known[2]

    def _close(self) -> None:
        """All that is loaded, the last first, as memory is given back so."""
        while self._execs:
            self._execs.popitem()[1][2].close()

    def __enter__(self) -> "World":
        self._device = Device(threads=self._threads)
        self._device.__enter__()
        _now.world = self
        return self

    def __exit__(self, *ignored: Any) -> None:
        """Once, however often it is called."""
        _now.world, (device, self._device) = None, (self._device, None)
        if device is not None:
            device.__exit__()


def _n_core() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _where(e: BaseException) -> str:
    """The innermost place outside of this package."""
    here = os.path.dirname(__file__)
    place, at = "", e.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        if os.path.dirname(code.co_filename) != here:
            place = f", at {code.co_filename}:{at.tb_lineno} in {code.co_name}"
        at = at.tb_next
    return place


class _Run:
    """One run: what its ranks do, and what came of it on this one."""

    def __init__(self, f: Callable[..., Any], args: Tuple[Any, ...],
                 keywords: Dict[str, Any], threads: int):
        self.f, self.args, self.keywords, self.threads = f, args, keywords, threads
        self.process = os.getpid()
        self.results: List[Any] = []
        self.world: Optional[World] = None
        self.error: Optional[BaseException] = None

    def __call__(self, ranks: Any) -> Optional[str]:
        world = self.world = World(ranks, self.threads)
        try:
            with world:
                value = self.f(world, *self.args, **self.keywords)
                self.results = world._collect(value, os.getpid() == self.process)
                world._close()
            return None
        except BaseException as e:
            self.error = e
            text = (f"rank {world.rank} of {world.size} raised {type(e).__name__}: "
                    f"{e}{_where(e)}").replace("\0", "?")
            self._end(ranks, world, text)
            return text
        finally:
            _flush()

    def _end(self, ranks: Any, world: World, text: str) -> None:
        """All ranks end; what is loaded is given back as far as it goes."""
        ranks.fail(text)
        while world._execs:
            try:
                world._execs.popitem()[1][2].close()
            except Error:
                pass


def _flush() -> None:
    """What was printed so far: a child ends without doing so, and would otherwise
    have its parent's again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


class Spmd:
    """Ranks to be: called with a function, they run it; see `spmd`."""

    def __init__(self, n: int, engine: Optional[str], threads: int, timeout: float,
                 heap: int, group: Any):
        self._options = (engine, n, heap, max(1, int(timeout * 1000)))
        self._threads = threads
        self._group = group

    def __call__(self, f: Callable[..., T], *args: Any, **keywords: Any) -> List[T]:
        """What ``f(world, *args, **keywords)`` returns on each rank."""
        if not callable(f):
            raise CallError(f"axe.spmd({self._options[1]})(f) runs a function, not "
                            f"{type(f).__name__}")
        if current() is not None:
            raise CallError("a rank starts no ranks of its own: axe.spmd is called in a "
                            "function that axe.spmd runs")
        run = _Run(f, args, keywords, self._threads)
        _flush()
        try:
            launcher = None if self._group is None else launcher_of(self._group)
            _axe.spmd(run, *self._options, launcher)
        except Error:
            if run.error is None:
                raise
        finally:
            if run.world is not None:
                run.world.__exit__()  # also where Ctrl-C kept it from that
        if run.error is not None:
            raise run.error
        return run.results

    def __repr__(self) -> str:
        return f"axe.spmd({self._options[1] or ''})"


def spmd(n: Optional[SupportsIndex] = None, *, engine: Optional[str] = None,
         threads: SupportsIndex = 0, timeout: Union[int, float] = 30.0,
         heap: SupportsIndex = 1 << 34, group: Any = None) -> Spmd:
    """``axe.spmd(4)(f, x)`` runs ``f(world, x)`` on four processes, and returns
    what each has returned, as a list.

    ``world`` (`World`) says which rank this is, and of how many.  A kernel over a
    mesh that is called in ``f`` takes what this rank's device has of each argument,
    and returns what it has of the results:

    >>> import axe, numpy as np
    >>> m = axe.kernel('''
    ... mesh gpu[P];
    ... kernel total(in f32 X[M @ gpu, N], out f32 Y[N]) {
    ...     index m, n;
    ...     Y[n] = sum[m](X[m, n]);
    ... }''')
    >>> def f(world, x):
    ...     each = -(-len(x) // world.size)  # M @ gpu, which is not np.array_split's
    ...     return m.total(x[each * world.rank:each * (world.rank + 1)])
    >>> x = np.arange(12, dtype="f4").reshape(4, 3)
    >>> axe.spmd(2)(f, x)
    [array([18., 22., 26.], dtype=float32), array([18., 22., 26.], dtype=float32)]

    The caller is rank 0; the others are forked from it, so ``f`` may be a closure
    or a lambda and use what is there, by NumPy and kernels: threads that PyTorch or
    another library has started before are not there in them.  Results of other
    ranks come pickled.

    ``n``        None: under ``mpirun``, ``torchrun`` or ``srun`` the ranks there
                 are, each of which calls this and gets all results; else one
    ``engine``   "shm", "openmpi", "mpich"; None: the launcher's, else "shm"
    ``threads``  of each rank for what it computes; 0: a share of the cores
    ``timeout``  [s] that a rank may be waited for
    ``heap``     [bytes] of symmetric memory a rank may take; it is address space
                 until it is used
    ``group``    processes that are there already, on one host: a process group of
                 ``torch.distributed``, or a communicator of mpi4py.  Its members
                 all call this, and its ranks are those of the run

    What a kernel finds wrong with its arguments, on any rank, all ranks raise, and
    may go on from.  Any other exception in ``f``, a rank that dies, that is waited
    for too long, or that does something else than the others ends all ranks:
    rank 0 raises what it has raised itself, or ``DeviceError`` with the rank and
    its error.
    """
    count = 0 if n is None else within("n", n, 1, 1024)
    if not isinstance(timeout, (int, float)) or not 0 < timeout < 1e9:
        raise ArgumentError(
            f"timeout is {timeout!r}; it is seconds, more than 0 and below 1e9")
    return Spmd(count, engine, within("threads", threads, 0, 1024), timeout,
                within("heap", heap, 1, 1 << 46), group)
