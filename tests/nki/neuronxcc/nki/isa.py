"""neuronxcc.nki.isa: the instructions that return their results."""

import numpy as np
from nki import isa as _new
from nki import language as _nl
from nki._machine import Refused, View

from ._tensor import Pending, Tile, _steps, crop, ended

tensor_engine, vector_engine, scalar_engine, gpsimd_engine = (
    "tensor", "vector", "scalar", "gpsimd")


def _column(x):
    """An operand that each partition has one of: a wide tile is none."""
    if isinstance(x, View) and x.n != 1:
        raise Refused(f"{x.tensor.name} is {x.n} wide; this operand is a number or a column")
    return x


def _pending(do, operands, mask, *results):
    def run(dst):
        views = crop([dst, *operands], mask)
        if views:
            do(*views)
            for v in (views[0], *results):
                ended(v, False)
            for v in views[1:]:
                if isinstance(v, View):
                    ended(v, True)

    return Pending(run)


def nc_matmul(stationary, moving, mask=None):
    if mask is not None:
        raise Refused("a masked product: of which operand?")

    def run(dst):
        _new.nc_matmul(dst, stationary, moving, accumulate=not out.begins)
        ended(dst, False)

    out = Pending(run, adds=True)
    return out


def tensor_copy(src, mask=None, engine=None):
    engine = engine or "vector"  # the compiler may choose; what the shim takes, the record says
    return _pending(lambda d, s: _new.tensor_copy(d, s, engine=engine), [src], mask)


def nc_transpose(data, mask=None, engine=None):
    engine = engine or "tensor"
    return _pending(lambda d, s: _new.nc_transpose(d, s, engine=engine), [data], mask)


def tensor_tensor(data1, data2, op, mask=None, engine=None):
    engine = engine or "vector"
    return _pending(lambda d, x, y: _new.tensor_tensor(d, x, y, op, engine=engine),
                    [data1, data2], mask)


def tensor_scalar(data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False,
                  mask=None, engine="vector"):
    return _pending(
        lambda d, x, a, b: _new.tensor_scalar(d, x, op0, a, reverse0=reverse0, op1=op1,
                                              operand1=b, reverse1=reverse1, engine=engine),
        [data, _column(operand0), _column(operand1)], mask)


def scalar_tensor_tensor(data, op0, operand0, op1, operand1, reverse0=False, reverse1=False,
                         mask=None):
    return _pending(
        lambda d, x, a, b: _new.scalar_tensor_tensor(d, x, op0, a, op1, b, reverse0=reverse0,
                                                     reverse1=reverse1),
        [data, _column(operand0), operand1], mask)


def tensor_reduce(op, data, axis, negate=False, mask=None):
    axes = [axis] if isinstance(axis, int) else [int(x) for x in axis]
    if axes not in ([1], [-1]):
        raise Refused(f"axis {axis} of indices with two dimensions")
    return _pending(
        lambda d, x: _new.tensor_reduce(d, op, x, axis=tuple(range(1, len(x.dims) + 1)),
                                        negate=negate), [data], mask)


def _scale(x):
    """1, which is what it is by itself, is not written down."""
    return None if isinstance(x, (int, float)) and x == 1 else _column(x)


def activation(op, data, bias=None, scale=1.0, mask=None):
    return _pending(lambda d, x, b, s: _new.activation(d, op, x, bias=b, scale=s),
                    [data, _column(bias), _scale(scale)], mask)


def activation_reduce(op, data, reduce_op, reduce_res, bias=None, scale=1.0, mask=None):
    return _pending(
        lambda d, x, r, b, s: _new.activation_reduce(d, op, x, reduce_op, r, bias=b, scale=s),
        [data, reduce_res, _column(bias), _scale(scale)], mask, reduce_res)


oob_mode = _new.oob_mode


def dma_copy(*, dst, src, oob_mode=oob_mode.error):
    _new.dma_copy(*(View.of(x.tensor) if isinstance(x, Tile) else x for x in (dst, src)),
                  oob_mode=oob_mode)


def memset(shape, value, dtype, engine="vector"):
    def run(dst):
        if tuple(shape) != (dst.parts[0], dst.n) or dtype.name != dst.tensor.dtype:
            raise Refused(f"{tuple(shape)} of {dtype} for {dst.text()}")
        _new.memset(dst, value, engine=engine)

    return Pending(run)


def _affine(values):
    """offset, channel_multiplier and pattern of numbers that are affine."""
    v = np.asarray(values).reshape(len(values), -1)
    by = int(v[1, 0] - v[0, 0]) if len(v) > 1 else 0
    if (v != v[0] + by * np.arange(len(v))[:, None]).any():
        raise Refused("an expression that is not affine over partitions")
    return int(v[0, 0]), by, [[s, c] for c, s in _steps(v[0] - v[0, 0])] or [[0, 1]]


def iota(expr, dtype):
    def run(dst):
        if dtype.name != dst.tensor.dtype:
            raise Refused(f"{dtype} for {dst.tensor.name}")
        offset, by, pattern = _affine(expr)
        _new.iota(dst, pattern, offset=offset, channel_multiplier=by)

    return Pending(run)


_COMPARE = {"__eq__": _nl.equal, "__ne__": _nl.not_equal, "__lt__": _nl.less,
            "__le__": _nl.less_equal, "__gt__": _nl.greater, "__ge__": _nl.greater_equal}


def affine_select(pred, on_true_tile, on_false_value):
    if not hasattr(pred, "compared"):
        raise Refused("pred is a comparison of nl.arange")

    def run(dst):
        values, op = pred.compared
        offset, by, pattern = _affine(values)
        _new.affine_select(dst, pattern, by, on_true_tile, on_false_value, _COMPARE[op],
                           offset=offset)

    return Pending(run)


def reciprocal(data, mask=None):
    return _pending(_new.reciprocal, [data], mask)


def __getattr__(name):
    raise Refused(f"nisa.{name} is outside of the subset")
