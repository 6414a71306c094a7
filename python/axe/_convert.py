"""Layouts in other notations, moves between layouts, why two differ."""
from __future__ import annotations

import json
from typing import (
    Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union,
)

from . import _axe
from ._errors import ArgumentError, CallError, UnknownNameError, UnsupportedError
from ._layout import MAX_BITS, Int, Layout, Point, Shape, widths
from ._numbers import integer, within

Mesh = Union[str, Int, Sequence[Int], Mapping[str, Int]]
_KEEP: Dict[Optional[str], int] = {None: 0, "index": 1, "coordinates": 2}


class Format(NamedTuple):
    """A notation of layouts."""

    name: str
    options: Tuple[str, ...]
    """which of keep, shape, mesh, axes, bits it takes; "shape!": it needs it"""
    what: str
    reads: bool
    writes: bool


def formats() -> List[Format]:
    """The notations that `convert`, ``Layout.read`` and ``Layout.to`` know.

    >>> [f.name for f in formats()][:4]
    ['axe', 'cute', 'tv', 'triton']
    """
    return [Format(n, tuple(o.split()), w, r, t) for n, o, w, r, t in _axe.formats()]


def _options(names: Tuple[str, ...], keep: Optional[str], shape: Optional[Shape],
             mesh: Optional[Mesh], axes: Optional[str], bits: Int) -> Tuple[Any, ...]:
    """As _axe.convert takes them; one that none of the formats takes is an error."""
    if keep not in _KEEP:
        raise ArgumentError(f"keep is 'index' or 'coordinates', not {keep!r}")
    rows = {f.name: f for f in formats()}
    for name in names:
        if name not in rows:
            raise UnknownNameError(f"there is no format '{name}'; there are "
                                   f"{', '.join(rows)}")
    bits = within("bits", bits, 0, MAX_BITS)
    taken = {o.rstrip("!") for name in names for o in rows[name].options}
    given = {"keep": keep, "shape": shape, "mesh": mesh, "axes": axes,
             "bits": bits or None}
    for option, value in given.items():
        if value is not None and option not in taken:
            raise ArgumentError(f"{' and '.join(names)}: takes no {option}=")
    if shape is not None:
        shape = tuple(map(integer, shape if isinstance(shape, Iterable) else (shape,)))
    if isinstance(mesh, Mapping):
        mesh = ",".join(f"{n}={integer(k)}" for n, k in mesh.items())
    elif mesh is not None and not isinstance(mesh, str):
        mesh = ",".join(str(integer(k)) for k in (
            mesh if isinstance(mesh, Iterable) else (mesh,)))
    return _KEEP[keep], shape, mesh, axes, bits


def convert(text: Union[str, Layout], from_: str = "axe", to: str = "axe", *,
            keep: Optional[str] = None, shape: Optional[Shape] = None,
            mesh: Optional[Mesh] = None, axes: Optional[str] = None, bits: Int = 0,
            machine: Optional[str] = None) -> str:
    """A layout in another notation: the same map, or an error that says where
    there is none.  `formats` lists the notations, and which options each takes.

    ``keep``    "index" or "coordinates": what stays equal where two systems count
                the elements in different orders
    ``shape``   of the tensor or tile
    ``mesh``    the devices: ``(2, 4)``, or by name ``{"x": 2, "y": 4}``
    ``axes``    names of Axe's axes: "TLane,TCol"
    ``bits``    of an element
    ``machine`` whose axes are known, as for `Layout`

    >>> convert("((2,4),8):((1,16),2)", "cute", keep="coordinates")
    '((4, 2), 8) : ((16, 1), 2)'
    >>> convert(Layout("(3, 4) : (4, 1)"), to="numpy", bits=32)
    'shape=(3, 4), strides=(16, 4), itemsize=4, offset=0'

    Raises ``TextError`` with the place in the text, ``ShapeError`` or
    ``UnsupportedError`` where no layout, or no text, says the same.
    """
    options = _options((from_, to), keep, shape, mesh, axes, bits)
    if isinstance(text, Layout):
        machine = machine or text.machine
    elif not isinstance(text, str):
        raise CallError(f"a layout is a text or a Layout, not {type(text).__name__}")
    found: str = _axe.convert(str(text), from_, to, machine, *options)
    return found


def read_value(text: str, format: str, machine: Optional[str], *,
               keep: Optional[str] = None, shape: Optional[Shape] = None,
               mesh: Optional[Mesh] = None, axes: Optional[str] = None,
               bits: Int = 0) -> Any:
    """What ``Layout.read`` makes a layout of."""
    options = _options((format,), keep, shape, mesh, axes, bits)
    return _axe.convert(text, format, None, machine, *options)


# ----------------------------------------------------------------------- moves


class Move(NamedTuple):
    """A program that brings elements from one layout to another, and its counts.

    It was executed before it was handed out: each place of the destination then
    held the element that the definition of layouts puts there.
    """

    kind: str
    """"nothing", "rename", "shuffles", "shared", "mixed", "loads" or "stores\""""
    facts: Dict[str, Any]
    """exact counts over all warps: what ``axe move --json`` prints"""
    text: str
    """the same for people, a fact a line"""
    program: str
    """the program of one CTA, warp by warp"""

    @property
    def proved(self) -> int:
        """Places of the destination that were compared with the definition."""
        return int(self.facts["proved"])

    @property
    def shared(self) -> Optional[Layout]:
        """The layout that shared memory has on the way, if it is used."""
        text = self.facts.get("shared")
        return Layout(text) if text else None

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<axe move: {self.kind}, {self.facts['elements']} elements>"


def move(src: Union[str, Layout], dst: Union[str, Layout], *, bits: Int = 32,
         machine: str = "sm_90a", by: Optional[str] = None,
         memory: str = "shared") -> Move:
    """The cheapest program that brings a tensor's elements from where ``src`` has
    them to where ``dst`` has them.

    Layouts over neither threads nor registers are shared memory of each CTA, or
    global memory, one for all.

    ``bits``     of an element: 4, 8, 16, 32, 64 or 128
    ``machine``  whose threads, shuffles and banks
    ``by``       "shuffles" or "shared": only so; None: what is cheapest
    ``memory``   "shared" or "global"

    >>> m = move("(8, 4) : (4@lane, 1@lane)", "(8, 4) : (1@lane, 8@lane)")
    >>> m.kind, m.facts["shuffles"], m.proved
    ('shuffles', 1, 32)

    Raises ``ShapeError`` where sizes differ or a place is of two elements,
    ``UnsupportedError`` where the machine has no way.
    """
    if by not in (None, "shuffles", "shared"):
        raise ArgumentError(f"by is 'shuffles' or 'shared', not {by!r}")
    if memory not in ("shared", "global"):
        raise ArgumentError(f"memory is 'shared' or 'global', not {memory!r}")
    found, text, both = _axe.move(str(Layout(src)), str(Layout(dst)), machine,
                                  within("bits", bits, 1, MAX_BITS),
                                  by or "nothing", memory == "global")
    facts = json.loads(found)
    return Move(facts["move"], facts, text, both[len(text):])


# ------------------------------------------------------------------ differences


class Why(NamedTuple):
    """What two layouts differ in, with the smallest index that shows it."""

    equal: bool
    part: str
    """"nothing", "the steps of their digits", "where they begin" ..."""
    at: Optional[int]
    """index of an element that shows it; None: there is none, or none was found"""
    least: bool
    """no index before shows it"""
    a: List[Point]
    """the places of the index in the one"""
    b: List[Point]
    """and in the other"""
    text: str
    """all of it for people"""

    def __str__(self) -> str:
        return self.text.rstrip("\n")


def why(a: Union[str, Layout], b: Union[str, Layout],
        machine: Optional[str] = None) -> Why:
    """Are two layouts equal, and if not, what shows it?

    >>> w = why("(2, 3) : (3, 1)", "(2, 3) : (4, 1)")
    >>> w.equal, w.at, w.a, w.b
    (False, 3, [{'m': 3}], [{'m': 4}])
    >>> print(w)
    different in the steps of their digits
      at index 3, (1, 0):
        A has it at (3)
        B has it at (4)
      normal forms:
        A (6) : (1)
        B ((2, 3)) : ((4, 1))
    """
    a, b = Layout(a, machine), Layout(b, machine)
    machine = a.machine or b.machine
    if (a.machine or machine) != (b.machine or machine):
        raise ArgumentError(f"layouts of two machines, {a.machine} and {b.machine}")
    try:
        part, index, least, at, bt, text = _axe.why(str(a), str(b), machine)
    except UnsupportedError:
        found = _by_width(a, b)
        if found is None:
            raise
        return found
    return Why(part == "nothing", part, index if index >= 0 else None, least, at, bt,
               text)


def _by_width(a: Layout, b: Layout) -> Optional[Why]:
    """The answer where a swizzle counts in units of its own."""
    same, differ = widths(a, b)
    if not same and not differ:
        return None
    part = ("nothing" if not differ else
            f"elements of {'some' if same else 'all'} widths")
    lines = [("different in " + part if differ else "equal on elements of all widths")
             + ": a swizzle counts in units of its own"]
    for word, bits in (("equal", same), ("different", differ)):
        if bits:
            lines.append(f"  {word} on elements of {', '.join(map(str, bits))} bits")
    return Why(not differ, part, None, False, [], [], "\n".join(lines) + "\n")
