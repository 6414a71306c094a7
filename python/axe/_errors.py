"""The exceptions of axe: one for each status of the library.

Their text is the whole diagnostic, with the place in the source where there is
one.  ``errors`` has the texts of the errors alone, ``help`` the ways out.
"""
from __future__ import annotations

from typing import Dict, Tuple, Type

from . import _axe


class Error(Exception):
    """What every exception of axe is.

    >>> import axe
    >>> try:
    ...     axe.Layout("(2, 3) : (3, 1")
    ... except axe.Error as e:
    ...     print(e.code)
    ESYNTAX
    """

    code: str = "EARG"
    errors: Tuple[str, ...] = ()
    help: Tuple[str, ...] = ()


class TextError(Error, ValueError):
    """A text is not in the language."""

    code = "ESYNTAX"


class UnknownNameError(Error, ValueError):
    """A name is unknown, missing, or there twice."""

    code = "ENAME"


class ElementTypeError(Error, TypeError):
    """Element types do not fit."""

    code = "ETYPE"


class ShapeError(Error, ValueError):
    """Shapes, strides or layouts do not fit."""

    code = "ESHAPE"


class RangeError(Error, OverflowError):
    """A value does not fit 64 bits."""

    code = "EOVERFLOW"


class LimitError(Error, ValueError):
    """More than this implementation can decide."""

    code = "ELIMIT"


class ArgumentError(Error, ValueError):
    """An argument of the call is wrong."""

    code = "EARG"


class CallError(Error, TypeError):
    """A kernel was called with too many or too few arguments."""

    code = "EARG"


class UnsupportedError(Error, NotImplementedError):
    """The machine has no way to do it."""

    code = "EUNSUPPORTED"


class FileError(Error, OSError):
    """A file could not be read or written."""

    code = "EIO"


class ToolError(Error, RuntimeError):
    """A C compiler is missing or failed."""

    code = "ETOOL"


class DeviceError(Error, RuntimeError):
    """A driver or device reported failure."""

    code = "EDEVICE"


_CLASSES: Dict[str, Type[Error]] = {
    c.code: c
    for c in (
        TextError, UnknownNameError, ElementTypeError, ShapeError, RangeError,
        LimitError, ArgumentError, UnsupportedError, FileError, ToolError,
        DeviceError,
    )
}
_axe.set_errors(_CLASSES)
for _class in (Error, CallError, *_CLASSES.values()):
    _class.__module__ = "axe"
