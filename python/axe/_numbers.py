"""Numbers that are given as arguments."""
from __future__ import annotations

import math
import operator
from typing import Any

from ._errors import ArgumentError, CallError, ElementTypeError


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


def is_number(p: Any, look: Any) -> bool:
    """Is a number given for the parameter?  One of dimensions takes none."""
    if look[6] is not None:
        return False
    if p.extent:
        raise ElementTypeError(
            f"{p.name} has {len(p.extent)} dimensions; a number is given for it")
    return True


def constant(name: str, value: Any) -> str:
    """A compile-time parameter's value as text; types by their names."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, str)):
        return str(value)
    if hasattr(value, "__index__") and not hasattr(value, "__len__"):
        return str(operator.index(value))
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)
    raise CallError(f"{name} is {value!r}; a number or a text is wanted")
