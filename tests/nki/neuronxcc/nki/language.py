"""neuronxcc.nki.language: loops, indices, loads and stores."""

import numpy as np

from nki import _machine, isa
from nki import language as _new
from nki._machine import Refused

from ._tensor import Pending, Tile, crop, tile

float32, bfloat16, float16, int32 = _new.float32, _new.bfloat16, _new.float16, _new.int32
uint32 = _new.uint32
int16, int8, uint8 = _new.int16, _new.int8, _new.uint8

for _word in ("add subtract multiply maximum minimum equal not_equal less "
              "less_equal greater greater_equal copy exp log square sqrt rsqrt tanh "
              "sigmoid relu silu gelu abs reciprocal").split():
    globals()[_word] = getattr(_new, _word)


class _Buffer:
    byte = None

    def __init__(self, name):
        self.name = self.buffer = name


sbuf, psum, hbm = _Buffer("sbuf"), _Buffer("psum"), _Buffer("hbm")
shared_hbm = _Buffer("shared_hbm")


class par_dim:
    def __init__(self, n):
        self.par = n


def _type(dtype):
    names = {"float32": "f32", "float16": "f16", "int32": "i32", "uint32": "u32", "int16": "i16",
             "int8": "i8", "uint8": "u8"}
    if hasattr(dtype, "name") and dtype.name in _machine.BYTES:
        return dtype
    name = names.get(np.dtype(dtype).name)
    if not name:
        raise Refused(f"{dtype} is no element type of the subset")
    return _new._Name(name)


def ndarray(shape, dtype, buffer=sbuf, name=None):
    place = buffer
    if place is shared_hbm:  # a result
        t = _machine.current().tensor(tuple(shape), _type(dtype), _new.shared_hbm, name, None)
        return Tile(t, t.shape)
    if not hasattr(place, "name"):
        place.name = place.buffer
    return tile(_machine.current(), shape, _type(dtype), place)


def zeros(shape, dtype, buffer=sbuf, name=None):
    """Where products are added: the first of them overwrites, and nothing is set."""
    if buffer is not psum:
        raise Refused("zeros are for sums in psum; elsewhere use nisa.memset")
    return ndarray(shape, dtype, buffer, name)


class Index(np.ndarray):
    """Numbers of nl.arange; what they compare to is remembered for affine_select."""

    def _compared(self, other, op):
        out = np.asarray(getattr(np.asarray(self), op)(np.asarray(other))).view(Index)
        out.compared = np.asarray(self) - np.asarray(other), op
        return out

    def __eq__(self, other):
        return self._compared(other, "__eq__")

    def __ne__(self, other):
        return self._compared(other, "__ne__")

    def __lt__(self, other):
        return self._compared(other, "__lt__")

    def __le__(self, other):
        return self._compared(other, "__le__")

    def __gt__(self, other):
        return self._compared(other, "__gt__")

    def __ge__(self, other):
        return self._compared(other, "__ge__")

    def __bool__(self):
        raise Refused("a condition of nl.arange: use a mask")


def arange(n):
    return np.arange(n).view(Index)


def static_range(n):
    return range(n)


def sequential_range(n, body_no_reorder=False):
    return range(n)


affine_range = sequential_range


def _whole(x):
    if not isinstance(x, Tile):
        return x
    return x[tuple(np.arange(n).reshape([-1 if k == i else 1 for k in range(len(x.shape))])
                   for i, n in enumerate(x.shape))]


def load(source, mask=None):
    def run(dst):
        views = crop([dst, _whole(source)], mask)
        if views:
            isa.dma_copy(*views)

    return Pending(run)


def store(dst, value, mask=None):
    views = crop([_whole(dst), _whole(value)], mask)
    if views:
        isa.dma_copy(*views)


def shared_constant(values, dtype):
    record = _machine.current()
    values = np.asarray(values, np.float32)
    if _type(dtype).name == "bf16":
        values = (values.view(np.uint32) >> 16).astype(np.uint16)
    t = record.input(None, values)
    return Tile(t, t.shape)


def __getattr__(name):
    raise Refused(f"nl.{name} is outside of the subset")
