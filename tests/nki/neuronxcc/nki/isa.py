"""neuronxcc.nki.isa: the instructions that return their results."""

from nki import isa as _new
from nki._machine import Refused, View

from ._tensor import Pending, crop, ended


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


def activation(op, data, bias=None, scale=1.0, mask=None):
    return _pending(lambda d, x, b, s: _new.activation(d, op, x, bias=b, scale=s),
                    [data, _column(bias), _column(scale)], mask)


def activation_reduce(op, data, reduce_op, reduce_res, bias=None, scale=1.0, mask=None):
    return _pending(
        lambda d, x, r, b, s: _new.activation_reduce(d, op, x, reduce_op, r, bias=b, scale=s),
        [data, reduce_res, _column(bias), _column(scale)], mask, reduce_res)


def reciprocal(data, mask=None):
    return _pending(_new.reciprocal, [data], mask)


def __getattr__(name):
    raise Refused(f"nisa.{name} is outside of the subset")
