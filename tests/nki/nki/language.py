"""nki.language: types, buffers, operators and limits of the subset."""

from . import _machine
from ._machine import Refused


class _Name:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"nl.{self.name}"


class tile_size:
    pmax = 128
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    psum_bank_fmax = 512


# Element types, as traces call them.
float32 = _Name("f32")
bfloat16 = _Name("bf16")
float16 = _Name("f16")
int32 = _Name("i32")
uint32 = _Name("u32")
int16 = _Name("i16")
int8 = _Name("i8")
uint8 = _Name("u8")

sbuf = _Name("sbuf")
psum = _Name("psum")
shared_hbm = _Name("hbm")

for _word in ("add subtract multiply maximum minimum equal not_equal less "
              "less_equal greater greater_equal copy exp log square sqrt rsqrt tanh "
              "sigmoid relu silu gelu sin abs reciprocal").split():
    globals()[_word] = _Name(_word)


def ndarray(shape, dtype, buffer=sbuf, name=None, address=None):
    return _machine.current().tensor(tuple(shape), dtype, buffer, name, address)


def __getattr__(name):
    raise Refused(f"nl.{name} is outside of the subset")
