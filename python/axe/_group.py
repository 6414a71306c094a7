"""Groups of processes that a framework has made, as what has launched ranks."""
from __future__ import annotations

import secrets
import socket
import sys
from typing import Any, Callable, List, Optional, Tuple

from ._errors import CallError

# Name, job, rank, size, rank and size on the host: axe/engine.h, axe_launcher.
Launcher = Tuple[str, str, int, int, int, int]


def launcher_of(group: Any) -> Launcher:
    """All members of the group call this: who they are, with a job's name that no
    other run has."""
    name, rank, size, gather = _of_mpi4py(group) or _of_torch(group)
    said = gather((secrets.token_hex(8), _host()))
    job, here = said[0][0], [r for r, (_, host) in enumerate(said) if host == _host()]
    return name, f"{name}.{job}", rank, size, here.index(rank), len(here)


_Group = Tuple[str, int, int, Callable[[Any], List[Any]]]


def _of_mpi4py(group: Any) -> Optional[_Group]:
    """A communicator, or what has its methods."""
    if not (hasattr(group, "Get_rank") and hasattr(group, "allgather")):
        return None
    return "mpi4py", group.Get_rank(), group.Get_size(), group.allgather


def _of_torch(group: Any) -> _Group:
    dist: Any = sys.modules.get("torch.distributed")
    if dist is None or not isinstance(group, getattr(dist, "ProcessGroup", ())):
        raise CallError(f"group is {type(group).__name__}; it is a process group of "
                        "torch.distributed, as torch.distributed.group.WORLD behind "
                        "init_process_group, or a communicator of mpi4py")
    rank, size = dist.get_rank(group), dist.get_world_size(group)

    def gather(x: Any) -> List[Any]:
        said: List[Any] = [None] * size
        dist.all_gather_object(said, x, group=group)
        return said

    return "torch.distributed", rank, size, gather


def _host() -> str:
    """What processes that can share memory have in common, and others have not."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            return f"{socket.gethostname()} {f.read().strip()}"
    except OSError:
        return socket.gethostname()
