"""Layouts: where each element of a tensor lives.

A layout is a value: equal maps are equal, whatever their spelling, and have one
hash.  ``str`` is its text, ``repr`` is Python that makes it again.  All integers
are exact; what does not fit 64 bits is an error, never another number.
"""
from __future__ import annotations

from typing import (
    Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, SupportsIndex, Tuple,
    Union,
)

from . import _axe
from ._arrays import look
from ._errors import (
    ArgumentError, CallError, Error, RangeError, ShapeError, UnsupportedError,
)
from ._numbers import integer, within

Int = SupportsIndex  # an integer of Python or NumPy
Shape = Union[Int, Sequence[Int]]
Point = Dict[str, int]
MAX_BITS = 1 << 16  # of an element, where a picture or a text counts in them


class Iter(NamedTuple):
    """``extent`` steps, each of which adds ``stride`` (times ``unit``) on an axis."""

    extent: int
    stride: int
    axis: str
    unit: str


class Offset(NamedTuple):
    """A constant that is added on an axis."""

    value: int
    axis: str
    unit: str


def _shape_text(shape: Shape) -> str:
    if not isinstance(shape, Iterable):
        shape = (shape,)
    return "(" + ", ".join(str(integer(n)) for n in shape) + ")"


class Layout:
    """A map from an index to places on named axes.

    ``text`` is any layout expression; ``machine`` ("nvidia", "cpu", "trainium")
    makes the axes of a machine known, and how they nest.

    >>> t = Layout("(8, (2, 4, 2)) : (4@lane, (1@warp, 1@lane, 1@reg))")
    >>> t.shape, t.size
    ((8, 16), 128)
    >>> t(1, 3)
    [{'lane': 5, 'warp': 0, 'reg': 1}]

    ======================  =====================================================
    ``A @ B``               composition, x -> A(B(x))
    ``A * B``               tiling: tiles B, laid out by A (``><`` in text)
    ``A + B``               direct sum: A(x) + B(y), not scaled
    ``A | shape``           cut into the dims of a shape
    ``A[0:8, 8:24]``        the layout of a region
    ``A(3)``, ``A(1, 2)``   the points of an index
    ``~A``                  the inverse of a bijection
    ``A == B``              the same points at every index? decided
    ======================  =====================================================

    Raises ``axe.Error`` with the place in the text, the values and the reason.
    """

    __slots__ = ("_text", "_machine", "_shape", "_size", "_hash")

    def __init__(self, text: Union[str, "Layout"], machine: Optional[str] = None):
        if isinstance(text, Layout):
            machine = machine or text._machine
            text = text._text
        if not isinstance(text, str):
            raise CallError(f"a layout is a text or a Layout, not "
                            f"{type(text).__name__}; Layout.of(array) is an array's")
        value = _axe.evaluate(text, {}, machine)
        if value[0] != "layout":
            raise ArgumentError(f"{text!r} is no layout but of kind {value[0]}")
        self._set(value, machine)

    def _set(self, value: Tuple[Any, ...], machine: Optional[str]) -> None:
        self._text: str = value[1]
        self._shape: Tuple[int, ...] = value[2]
        self._size: int = value[3]
        self._machine = machine
        self._hash: Optional[int] = None

    @classmethod
    def _made(cls, value: Tuple[Any, ...], machine: Optional[str]) -> "Layout":
        new = cls.__new__(cls)
        new._set(value, machine)
        return new

    @classmethod
    def row_major(cls, *shape: Int, machine: Optional[str] = None) -> "Layout":
        """Row-major over memory.

        >>> Layout.row_major(2, 3)
        axe.Layout('(2, 3) : (3, 1)')
        """
        made: Layout = evaluate(f"row_major({_shape_text(shape)})", machine=machine)
        return made

    @classmethod
    def strided(cls, shape: Shape, strides: Shape) -> "Layout":
        """NumPy's model: one dim for each stride [elements].

        >>> Layout.strided((2, 3), (1, 2))
        axe.Layout('(2, 3) : (1, 2)')
        """
        made: Layout = evaluate(
            f"strided({_shape_text(shape)}, {_shape_text(strides)})")
        return made

    @classmethod
    def of(cls, array: Any) -> "Layout":
        """That of an array, in elements from its first one.

        >>> Layout.of(memoryview(bytes(6)).cast("B", (2, 3)))
        axe.Layout('(2, 3) : (3, 1)')
        """
        _, shape, strides, *_ = look(array)
        return cls.strided(shape, strides)

    @classmethod
    def read(cls, text: str, format: str, **options: Any) -> "Layout":
        """The layout that a text of another system means; ``axe.formats()`` lists
        the formats, and ``axe.convert`` says what the options mean.

        >>> Layout.read("((2,4),8):((1,16),2)", "cute", keep="index")
        axe.Layout('((8, 4, 2)) : ((2, 16, 1))')
        """
        from ._convert import read_value
        machine = options.pop("machine", None)
        return cls._made(read_value(text, format, machine, **options), machine)

    def to(self, format: str, **options: Any) -> str:
        """Its text in the notation of another system, as ``axe.convert`` gives it.

        >>> Layout("(8, 4) : (4, 1)").to("cute", keep="coordinates")
        '(8,4):(4,1)'
        """
        from ._convert import convert
        return convert(self, "axe", format, **options)

    # --------------------------------------------------------------- pictures

    def draw(self, width: Int = 80, bits: Int = 8) -> str:
        """A picture as text: a cell for each index, with its coordinates on every
        axis.  A layout of two dims is drawn as they are; ``L | (8, 16)`` chooses
        rows and columns.  At most 32 rows and 64 columns are drawn.

        ``width`` [letters in a line]; ``bits`` of an element, where the layout has
        a swizzle of bytes.

        >>> print(Layout("(2, 3) : (1, 2)").draw())
        (2, 3) : (1, 2)
        2 rows, 3 columns; each cell: m
        <BLANKLINE>
            0 1 2
        0 | 0 2 4
        1 | 1 3 5
        <BLANKLINE>
          m          0 .. 5
        """
        width = min(integer(width), 1 << 20)
        if width < 1:
            raise ArgumentError(f"width={width}: letters in a line, 1 or more")
        drawn: str = _axe.draw(self._text, self._machine,
                               within("bits", bits, 0, MAX_BITS), width)
        return drawn.rstrip("\n")

    def svg(self, bits: Int = 8) -> str:
        """A picture as SVG, with a grid for each pair of axes, too: places of no
        index are hatched, those of several framed."""
        drawn: str = _axe.draw(self._text, self._machine,
                               within("bits", bits, 0, MAX_BITS), 0)
        return drawn

    def _repr_svg_(self) -> Optional[str]:
        """For notebooks; None where it cannot be drawn."""
        try:
            return self.svg()
        except Error:
            return None

    def _repr_html_(self) -> Optional[str]:
        """For notebooks: the SVG as an image, whose styles stay its own."""
        picture = self._repr_svg_()
        if picture is None:
            return None
        import base64
        import html
        data = base64.b64encode(picture.encode()).decode()
        return (f'<img alt="{html.escape(self._text)}" '
                f'src="data:image/svg+xml;base64,{data}">')

    # ------------------------------------------------------------- as a value

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        if self._machine:
            return f"axe.Layout({self._text!r}, machine={self._machine!r})"
        return f"axe.Layout({self._text!r})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Layout, (self._text, self._machine))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        if self._text == other._text:
            return True
        if self._size != other._size:
            return False
        # Texts have a machine's own names of axes, so that none is asked here.
        try:
            return bool(evaluate("equal(a, b)", {"a": self._text, "b": other._text}))
        except UnsupportedError:
            same, differ = widths(self, other)
            if not same and not differ:
                raise
            return not differ

    def __hash__(self) -> int:
        if self._hash is None:
            # What equal layouts share: their map without replicas, offset,
            # swizzle and dims, in its normal form.
            flat = evaluate("canon(flat(a))", {"a": self._text})
            shard = _axe.parts(flat._text, None)[0]
            self._hash = hash((self._size, tuple(shard)))
        return self._hash

    def _map(self, text: str, **names: Any) -> "Layout":
        """What `_ask` answers where that is a layout."""
        made: Layout = self._ask(text, **names)
        return made

    def _ask(self, text: str, **names: Any) -> Any:
        machine = self._machine
        named: Dict[str, Any] = {"a": self._text}
        for name, value in names.items():
            if isinstance(value, Layout):
                machine = machine or value._machine
                if value._machine and value._machine != machine:
                    raise ArgumentError(
                        f"layouts of two machines, {machine} and "
                        f"{value._machine}")
                value = value._text
            named[name] = value
        return evaluate(text, named, machine)

    # ---------------------------------------------------------------- queries

    @property
    def shape(self) -> Tuple[int, ...]:
        """Extents of the dims, slow to fast."""
        return self._shape

    @property
    def ndim(self) -> int:
        """Number of dims."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of indices."""
        return self._size

    @property
    def machine(self) -> Optional[str]:
        """The machine whose axes are known."""
        return self._machine

    @property
    def iters(self) -> List[Iter]:
        """The digits of the index, slow to fast.

        >>> Layout("(2, 3) : (3, 1)").iters[0]
        Iter(extent=2, stride=3, axis='m', unit='1')
        """
        return [Iter(*i) for i in _axe.parts(self._text, self._machine)[0]]

    @property
    def replicas(self) -> List[Iter]:
        """What runs independently of the index: copies."""
        return [Iter(*i) for i in _axe.parts(self._text, self._machine)[1]]

    @property
    def offsets(self) -> List[Offset]:
        """What is added to all places."""
        return [Offset(*o) for o in _axe.parts(self._text, self._machine)[2]]

    def apply(self, *index: Int) -> List[Point]:
        """The points of an index, which is flat or has one number for each dim.

        >>> Layout("(2, 3) : (3, 1) + [2 : 100]").apply(1, 2)
        [{'m': 5}, {'m': 105}]
        """
        args = ", ".join(str(integer(i)) for i in index)
        points: List[Point] = self._ask(f"a({args})")
        return points

    def __call__(self, *index: Int) -> List[Point]:
        return self.apply(*index)

    def table(self, axis: str = "m") -> List[int]:
        """The coordinate on one axis of every index, in order.

        >>> Layout("(2, 3) : (1, 2)").table()
        [0, 2, 4, 1, 3, 5]
        """
        if self._size > 1 << 22:
            raise UnsupportedError(f"a table of {self._size} indices")
        out = []
        for i in range(self._size):
            points = self.apply(i)
            if len(points) != 1:
                raise UnsupportedError("an index has several points: "
                                       "look at apply")
            out.append(points[0].get(axis, 0))
        return out

    def span(self, axis: str = "m") -> int:
        """Largest minus smallest coordinate on an axis, plus 1."""
        return int(self._ask(f"span(a, {axis})"))

    def cosize(self, axis: str = "m") -> int:
        """1 + the largest coordinate on an axis: what storage needs."""
        return int(self._ask(f"cosize(a, {axis})"))

    @property
    def copies(self) -> int:
        """Points of each index."""
        return int(self._ask("fiber(a)"))

    @property
    def injective(self) -> bool:
        """Does no point belong to two indices?"""
        return bool(self._ask("injective(a)"))

    @property
    def surjective(self) -> bool:
        """Is every point of the bounding box hit?"""
        return bool(self._ask("surjective(a)"))

    @property
    def contiguous(self) -> bool:
        """One run of memory, in order?"""
        return bool(self._ask("contiguous(a)"))

    @property
    def compact(self) -> bool:
        """One run of memory, in any order?"""
        return bool(self._ask("compact(a)"))

    # ---------------------------------------------------------------- algebra

    def canon(self) -> "Layout":
        """The normal form, dims kept.

        >>> Layout("((2, 2), 3) : ((6, 3), 1)").canon()
        axe.Layout('(4, 3) : (3, 1)')
        """
        return self._map("canon(a)")

    def flat(self) -> "Layout":
        """All of it as one dim."""
        return self._map("flat(a)")

    def group(self, *shape: Int) -> "Layout":
        """Cut into the dims of a shape; ``L | shape``.

        >>> Layout("(6) : (2)").group(2, 3)
        axe.Layout('(2, 3) : (6, 2)')
        """
        return self._map(f"group(a, {_shape_text(shape)})")

    def permute(self, *order: Int) -> "Layout":
        """Dim k of the result is dim order[k]."""
        return self._map(f"permute(a, {_shape_text(order)})")

    def tile(self, inner: "Layout") -> "Layout":
        """Tiles ``inner``, laid out by this; ``A * B``.

        >>> Layout("(2, 3) : (3, 1)").tile(Layout("(8, 8) : (8, 1)")).shape
        (16, 24)
        """
        return self._map("tile(a, b)", b=inner)

    def tile_of(self, inner: "Layout") -> "Layout":
        """The outer of this = outer * inner; ShapeError if there is none."""
        return self._map("tile_of(a, b)", b=inner)

    def tile_of_outer(self, outer: "Layout") -> "Layout":
        """The inner of this = outer * inner; ShapeError if there is none."""
        return self._map("tile_of_outer(a, b)", b=outer)

    def tile_to(self, *shape: Int) -> "Layout":
        """Repeated row-major to cover a shape."""
        return self._map(f"tile_to(a, {_shape_text(shape)})")

    def sum(self, right: "Layout") -> "Layout":
        """Direct sum, not scaled; ``A + B``."""
        return self._map("sum(a, b)", b=right)

    def slice(self, begin: Shape, end: Shape) -> "Layout":
        """The layout of the region [begin, end); ``L[b:e, ...]``."""
        return self._map(
            f"slice(a, {_shape_text(begin)}, {_shape_text(end)})")

    def inverse(self) -> "Layout":
        """From coordinate to index, of a bijection; ``~L``.

        >>> ~Layout("(2, 3) : (1, 2)")
        axe.Layout('((3, 2)) : ((1, 3))')
        """
        return self._map("inverse(a)")

    def left_inverse(self) -> "Layout":
        """From coordinate to index, of an injection."""
        return self._map("left_inverse(a)")

    def compose(self, inner: "Layout") -> "Layout":
        """x -> self(inner(x)), the true map or an error; ``A @ B``."""
        return self._map("compose(a, b)", b=inner)

    def complement(self, total: Int) -> "Layout":
        """What fills the gaps up to ``total``."""
        return self._map(f"complement(a, {integer(total)})")

    def storage(self) -> "Layout":
        """Without axes of threads and devices."""
        return self._map("storage(a)")

    def pack(self, n: Int) -> "Layout":
        """n elements become one."""
        return self._map(f"pack(a, {integer(n)})")

    def unpack(self, n: Int) -> "Layout":
        """One element becomes n."""
        return self._map(f"unpack(a, {integer(n)})")

    def fuse(self, axis: str) -> "Layout":
        """The parts of a whole axis become it: 32 warp + lane -> thread."""
        return self._map(f"fuse(a, {axis})")

    def split(self, axis: str) -> "Layout":
        """A whole axis becomes its parts."""
        return self._map(f"split(a, {axis})")

    def swizzle(self, row_bytes: Int) -> "Layout":
        """The hardware's 32-, 64- or 128-byte swizzle behind this."""
        return self._map(f"swizzle({integer(row_bytes)}) o a")

    # -------------------------------------------------------------- operators

    def __matmul__(self, other: "Layout") -> "Layout":
        return self.compose(other) if isinstance(other, Layout) else NotImplemented

    def __mul__(self, other: "Layout") -> "Layout":
        return self.tile(other) if isinstance(other, Layout) else NotImplemented

    def __add__(self, other: "Layout") -> "Layout":
        return self.sum(other) if isinstance(other, Layout) else NotImplemented

    def __or__(self, shape: Shape) -> "Layout":
        return self.group(*(shape if isinstance(shape, Iterable) else (shape,)))

    def __invert__(self) -> "Layout":
        return self.inverse()

    def __getitem__(self, region: Any) -> "Layout":
        """A region: slices without a step and numbers, one for each dim."""
        parts: Iterable[Any] = region if isinstance(region, tuple) else (region,)
        parts = list(parts)
        if len(parts) > len(self._shape):
            raise ShapeError(f"{len(parts)} indices of {len(self._shape)} dims")
        begin, end = [], []
        for dim, extent in enumerate(self._shape):
            part = parts[dim] if dim < len(parts) else slice(None)
            if isinstance(part, slice):
                if part.step not in (None, 1):
                    raise UnsupportedError("regions have no step")
                b = 0 if part.start is None else integer(part.start)
                e = extent if part.stop is None else integer(part.stop)
                b, e = (b + extent if b < 0 else b), (e + extent if e < 0 else e)
            else:
                b = integer(part)
                b = b + extent if b < 0 else b
                e = b + 1
            begin.append(b)
            end.append(e)
        return self.slice(begin, end)

    # A region is no element: what has __getitem__ is otherwise walked through.
    __iter__ = None
    __contains__ = None

    def __len__(self) -> int:
        return self._size

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """NumPy has layouts as objects, ``np.array([L])``, and not what they map."""
        import numpy as np
        if dtype is not None and np.dtype(dtype) != object:
            raise CallError(f"a layout is no array of {np.dtype(dtype)}; table() has "
                            "its places as a list")
        made = np.empty((), object)
        made[()] = self
        return made


def widths(a: Layout, b: Layout) -> Tuple[List[int], List[int]]:
    """The widths [bits] of elements on which two layouts are equal, and those on
    which they differ, of which one has a swizzle in units of its own."""
    of_own = [_axe.parts(x._text, None)[4][3] > 0 for x in (a, b)]
    found: Tuple[List[int], List[int]] = ([], [])
    if not any(of_own):
        return found
    for bits in (4, 8, 16, 32, 64, 128):
        x, y = (f"recast({n}, {bits})" if own else n for n, own in zip("ab", of_own))
        try:
            same = evaluate(f"equal({x}, {y})", {"a": a._text, "b": b._text})
        except Error:
            continue
        found[0 if same else 1].append(bits)
    return found


def evaluate(text: str, names: Optional[Dict[str, Any]] = None,
             machine: Optional[str] = None) -> Any:
    """The value of a layout expression: a layout, number, truth, shape, points.

    ``names`` gives layouts and numbers names in the text.

    >>> import axe
    >>> axe.evaluate("tile >< (8, 8) : (8, 1)", {"tile": axe.Layout("(2) : (1)") | (2, 1)})
    axe.Layout('((2, 8), 8) : ((64, 8), 1)')
    >>> axe.evaluate("span((2, 3) : (30, 1))")
    33
    """
    plain: Dict[str, Any] = {}
    for name, value in (names or {}).items():
        if isinstance(value, Layout):
            machine = machine or value._machine
            value = value._text
        elif not isinstance(value, str):
            value = integer(value)
            if not -1 << 63 <= value < 1 << 63:
                raise RangeError(f"{name} is {value}, which does not fit 64 bits")
        plain[name] = value
    if not isinstance(text, str):
        raise CallError(f"an expression is a text, not {type(text).__name__}")
    value = _axe.evaluate(text, plain, machine)
    if value[0] == "layout":
        return Layout._made(value, machine)
    return value[1]
