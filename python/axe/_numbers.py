"""Integers that are given as arguments."""
from __future__ import annotations

import operator
from typing import Any

from ._errors import ArgumentError, CallError


def integer(n: Any) -> int:
    """An integer of Python or NumPy; what would lose a part of it is refused."""
    try:
        return operator.index(n)
    except TypeError:
        raise CallError(f"an integer is wanted, not {n!r}") from None


def within(name: str, n: Any, least: int, most: int) -> int:
    """The argument ``name``, if it is an integer of that range."""
    try:
        value = operator.index(n)
    except TypeError:
        raise CallError(f"{name}={n!r}: an integer is wanted") from None
    if not least <= value <= most:
        raise ArgumentError(f"{name}={value}: {least} to {most} is meant")
    return value
