"""neuronxcc.nki.language: loops, indices, loads and stores."""

import numpy as np

from nki import _machine, isa
from nki import language as _new
from nki._machine import Refused

from ._tensor import Pending, Tile, crop, tile

float32, bfloat16, float16, int32 = _new.float32, _new.bfloat16, _new.float16, _new.int32

for _word in ("add subtract multiply maximum minimum equal not_equal less "
              "less_equal greater greater_equal copy exp log square sqrt rsqrt tanh "
              "sigmoid relu silu abs reciprocal").split():
    globals()[_word] = getattr(_new, _word)


class _Buffer:
    byte = None

    def __init__(self, name):
        self.name = self.buffer = name


sbuf, psum, hbm = _Buffer("sbuf"), _Buffer("psum"), _Buffer("hbm")
shared_hbm = hbm


class par_dim:
    def __init__(self, n):
        self.par = n


def _type(dtype):
    names = {"float32": "f32", "float16": "f16", "int32": "i32", "int8": "i8", "uint8": "u8"}
    if hasattr(dtype, "name") and dtype.name in _machine.BYTES:
        return dtype
    name = names.get(np.dtype(dtype).name)
    if not name:
        raise Refused(f"{dtype} is no element type of the subset")
    return _new._Name(name)


def ndarray(shape, dtype, buffer=sbuf):
    place = buffer
    if not hasattr(place, "name"):
        place.name = place.buffer
    return tile(_machine.current(), shape, _type(dtype), place)


def arange(n):
    return np.arange(n)


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
