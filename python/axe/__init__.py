"""Axe: a layout algebra, a kernel language and a compiler.

>>> import axe
>>> axe.Layout("(2, 3) : (3, 1)") * axe.Layout("(8, 8) : (8, 1)")
axe.Layout('((2, 8), (3, 8)) : ((192, 8), (64, 1))')

``axe.Layout`` is the algebra, ``axe.load`` and ``axe.kernel`` make kernels of
text, ``axe.ops`` has the library's.
"""
from __future__ import annotations

from . import ops
from ._axe import version as __version__
from ._convert import Format, Move, Why, convert, formats, move, why
from ._device import Device, set_device
from ._errors import (
    ArgumentError, CallError, DeviceError, ElementTypeError, Error, FileError,
    LimitError, RangeError, ShapeError, TextError, ToolError, UnknownNameError,
    UnsupportedError,
)
from ._kernel import Kernel, Module, Param, kernel, load
from ._measure import Check, Difference, Engine, Simulation, Timeline, Timing, Try, Tuning
from ._layout import Iter, Layout, Offset, evaluate
from ._mesh import Local, MeshKernel
from ._spmd import Spmd, World, spmd

__all__ = [
    "ArgumentError", "CallError", "Check", "Device", "DeviceError", "Difference",
    "ElementTypeError", "Engine", "Error", "FileError", "Format", "Iter", "Kernel", "Layout",
    "LimitError", "Local", "MeshKernel", "Module", "Move", "Offset", "Param", "RangeError", "ShapeError",
    "Simulation", "Spmd", "TextError", "Timeline", "Timing", "ToolError", "Try", "Tuning",
    "UnknownNameError", "UnsupportedError", "Why", "World", "convert", "evaluate", "formats",
    "kernel", "load", "move", "ops", "set_device", "spmd", "why",
]
