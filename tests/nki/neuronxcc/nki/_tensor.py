"""Tiles that are indexed by arrays of numbers, and results that wait for where
they go."""

import numpy as np

from nki._machine import BANK, BYTES, Refused, Rows, View


class Pending:
    """An instruction without its destination: `run(view)` does it."""

    def __init__(self, run, adds=False):
        self.run, self.adds, self.begins = run, adds, True


class Ref(View):
    """Elements of a tile, as an operand or to be added to."""

    def __iadd__(self, value):
        if not isinstance(value, Pending) or not value.adds:
            raise Refused("+= is for products")
        value.begins = starts_anew(self)
        return value


# Places of PSUM whose sum was read, or that hold zeros: id of a tensor -> mask.
def _fresh(tensor):
    if not hasattr(tensor, "over"):
        tensor.over = np.ones(tensor.values.size, bool)
    return tensor.over


def starts_anew(view):
    over = _fresh(view.tensor)[view.places()]
    if over.any() != over.all():
        raise Refused(f"a part of {view.tensor.name} has a sum that goes on")
    return bool(over.all())


def ended(view, yes):
    if view.tensor.buffer == "psum":
        _fresh(view.tensor)[view.places()] = yes


def _steps(rel):
    """Counts and strides whose sums are these numbers, in this order."""
    n = len(rel)
    if n == 1:
        return []
    step, count = int(rel[1]), 1
    while count < n and rel[count] == count * step:
        count += 1
    while n % count:
        count -= 1
    rows = rel.reshape(-1, count)
    if not (rows == rows[:, :1] + np.arange(count) * step).all():
        raise Refused("indices are no pattern of counts and strides")
    return [*_steps(rows[:, 0]), (count, step)]


class Tile:
    """A tensor of the machine under an index space of its own.

    strides  [elements] of each dimension; banked tiles of psum have the bank in
             front of the partition"""

    def __init__(self, tensor, shape, strides=None):
        self.tensor, self.shape = tensor, tuple(shape)
        self.strides = strides or np.cumprod([1, *self.shape[:0:-1]])[::-1].tolist()

    dtype = property(lambda self: self.tensor.dtype)

    def reshape(self, shape):
        if self.tensor.buffer != "hbm" or np.prod(shape) != np.prod(self.shape):
            raise Refused(f"{self.tensor.name} has no shape {shape}")
        return Tile(self.tensor, shape)

    def _places(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != len(self.shape):
            raise Refused(f"{self.tensor.name} has {len(self.shape)} dimensions")
        if all(isinstance(i, slice) for i in index):
            index = self._sliced(index)
        at = np.zeros((1, 1), np.int64)
        for i, n, stride in zip(index, self.shape, self.strides, strict=True):
            if isinstance(i, slice):
                raise Refused("slices beside indices of nl.arange")
            i = np.asarray(i)
            if i.min() < 0 or i.max() >= n:
                raise Refused(f"{i.min()} to {i.max()} leaves {self.tensor.name}, {n} long")
            at = at + i * stride
        return at.reshape(at.shape[0], -1)

    def _sliced(self, index):
        """Slices as indices of nl.arange."""
        out = []
        for k, (i, n) in enumerate(zip(index, self.shape, strict=True)):
            low, high = i.start or 0, n if i.stop is None else i.stop
            if i.step not in (None, 1) or not 0 <= low < high <= n:
                raise Refused(f"{low}:{high} leaves {self.tensor.name}, {n} long, or has steps")
            shape = [1] * len(self.shape)
            shape[k] = high - low
            out.append(np.arange(low, high).reshape(shape))
        return tuple(out)

    def _view(self, at):
        row = int(np.prod(self.tensor.shape[1:])) if self.tensor.buffer != "hbm" else 1
        parts = (len(at), int(at[1, 0] - at[0, 0]) if len(at) > 1 else row)
        if not (at == at[:, :1] + (at[0] - at[0, 0])).all() or (
                at[:, 0] != at[0, 0] + parts[1] * np.arange(len(at))).any():
            raise Refused(f"indices of {self.tensor.name} differ from partition to partition")
        if self.tensor.buffer != "hbm" and len(at) > 1 and parts[1] != row:
            raise Refused(f"the first index of {self.tensor.name} is not its partition")
        return Ref(self.tensor, int(at[0, 0]), parts, _steps(at[0] - at[0, 0]) or [(1, 1)])

    def _rows(self, index):
        """Rows that the first index, a tile, chooses."""
        if len(self.shape) != 2 or len(index) != 2 or self.tensor.buffer != "hbm":
            raise Refused(f"a tile of indices chooses rows of two dimensions in device memory, "
                          f"not of {self.tensor.name}")
        free = np.asarray(index[1]).ravel()
        dims = _steps(free - free[0]) or [(1, 1)]
        parts = (index[0].parts[0], self.shape[1])
        return Rows(self.tensor, int(free[0]), parts, dims, index[0])

    def __getitem__(self, index):
        if isinstance(index, tuple) and isinstance(index[0], View):
            return self._rows(index)
        return self._view(self._places(index))

    def __setitem__(self, index, value):
        view = self[index]
        if isinstance(value, (int, float)):
            from nki import isa
            isa.memset(view, value, engine="vector")
            ended(view, value == 0)
        elif isinstance(value, Pending):
            value.run(view)
        else:
            raise Refused(f"{value!r} is no instruction's result")


def crop(views, mask):
    """The rows and columns of views that the mask leaves."""
    if mask is None:
        return views
    mask = np.asarray(mask)
    rows, cols = mask.any(1), mask.any(0)
    n, m = int(rows.sum()), int(cols.sum())
    if not (mask == rows[:, None] & cols[None, :]).all() or not rows[:n].all() or (
            not cols[:m].all()):
        raise Refused("a mask that leaves no rectangle at the origin")
    if n == 0 or m == 0:
        return None
    return [_crop(v, n, m if mask.shape[1] > 1 else None) for v in views]


def _crop(v, n, m):
    if not isinstance(v, View):
        return v
    dims = list(v.dims)
    if m is not None and v.n > 1:
        count, inner = dims[0][0], v.n // dims[0][0]
        if m % inner or m // inner > count:
            raise Refused("a mask that cuts through a pattern")
        dims[0] = (m // inner, dims[0][1])
    return Ref(v.tensor, v.offset, (min(n, v.parts[0]), v.parts[1]), dims)


def tile(record, shape, dtype, place):
    """A tile of sbuf or psum, at a byte that the program gives or that is free."""
    shape = list(shape)
    if place.buffer == "hbm":
        raise Refused("tensors of device memory come as parameters")
    two = len(shape) == 2 and hasattr(shape[0], "par")
    if two:
        shape = [shape[0].par, shape[1]]
    if two and place.buffer == "psum" and shape[1] * BYTES[dtype.name] > BANK:
        raise Refused(f"{shape[1]} elements are more than a bank has")
    if two or place.buffer == "sbuf":
        t = record.tensor(tuple(shape), dtype, place,
                          None, None if place.byte is None else (0, place.byte))
        return Tile(t, shape)
    bank = getattr(shape[1], "par", None) if len(shape) == 3 else None
    if bank is None:
        raise Refused("a tile of psum is [banks, par_dim(partitions), elements]")
    n, parts, m = shape[0], bank, shape[2]
    unit = BANK // BYTES[dtype.name]
    if m > unit:
        raise Refused(f"{m} elements are more than a bank has")
    width = (n - 1) * unit + m
    t = record.tensor((parts, width), dtype, place, None,
                      None if place.byte is None else (0, place.byte))
    return Tile(t, (n, parts, m), [unit, width, 1])
