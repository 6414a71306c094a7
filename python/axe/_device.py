"""Where kernels run."""
from __future__ import annotations

import os
import weakref
from typing import Any, Dict, List, Optional, SupportsIndex

from . import _axe
from ._errors import ArgumentError
from ._numbers import within


class Device(_axe.Device):
    """The CPU with a team of threads, or one GPU.

    ``threads`` is 0 for one on each processor; ``cache`` is the directory of
    compiled kernels, ``cc`` the C compiler.  One caller at a time: calls from
    several threads take turns.  A thread that shall not wait uses its own:

    >>> import axe
    >>> with axe.Device(threads=1):
    ...     pass  # kernels called in this thread run on it

    Raises ``DeviceError`` where there is no such device.
    """

    name: str
    _was: List[Any]

    def __new__(cls, name: str = "cpu", *, threads: SupportsIndex = 0,
                cache: Optional[str] = None, cc: Optional[str] = None) -> "Device":
        gpu = -1
        if name.startswith("cuda"):
            number = name[5:] or "0"
            if name[4:5] not in ("", ":") or not (
                    number.isdigit() and len(number) < 9):
                raise ArgumentError(f"no device '{name}'; cpu, cuda and cuda:1 are")
            gpu = int(number)
        elif name != "cpu":
            raise ArgumentError(f"no device '{name}'; cpu, cuda and cuda:1 are")
        new: Device = super().__new__(
            cls, threads=within("threads", threads, 0, 1024), gpu=gpu, cache=cache, cc=cc)
        new.name = name
        new._was = []
        return new

    def __init__(self, name: str = "cpu", *, threads: SupportsIndex = 0,
                 cache: Optional[str] = None, cc: Optional[str] = None) -> None:
        self.name = name

    def __repr__(self) -> str:
        threads = f", threads={self.threads}" if self.threads else ""
        return f"axe.Device({self.name!r}{threads})"

    def __enter__(self) -> "Device":
        self._was.append(_axe.Caller._swap_device(self, True))
        return self

    def __exit__(self, *ignored: Any) -> None:
        _axe.Caller._swap_device(self._was.pop(), True)


def set_device(device: Device) -> None:
    """The device of all threads that are in no ``with Device(...)``."""
    _axe.Caller._swap_device(device, False)


_gpus: Dict[int, Device] = {}


def gpu(number: int) -> Device:
    """The one device object of a GPU."""
    if number not in _gpus:
        _gpus[number] = Device(f"cuda:{number}")
    return _gpus[number]


# Kernels whose calls are bound to devices of this process.
kernels: "weakref.WeakSet[Any]" = weakref.WeakSet()


def _after_fork() -> None:
    """No thread of a device survives a fork: all is found out anew."""
    _axe.after_fork()
    for kernel in list(kernels):
        kernel._forget_all()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def checked(device: Any) -> Device:
    """A device that was given, if it is one."""
    if not isinstance(device, Device):
        raise ArgumentError(f"device={device!r} is no axe.Device; "
                            "axe.Device('cpu') and axe.Device('cuda:0') are")
    return device
