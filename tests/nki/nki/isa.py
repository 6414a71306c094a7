"""nki.isa: the instructions of the subset, on NumPy, with Trainium 1's rules.

Sums of products are in f32 in the order of partitions, as docs/trace.md says."""

import numpy as np

from . import _machine
from ._machine import Refused, View


class engine:
    tensor, vector, scalar, gpsimd = "tensor", "vector", "scalar", "gpsimd"


class oob_mode:
    error, skip = "error", "skip"


_F = np.float32
_ALU = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply,
    "maximum": np.fmax, "minimum": np.fmin, "equal": np.equal,
    "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}
_ACT = {
    "copy": lambda x: x, "exp": np.exp, "log": np.log, "square": lambda x: x * x,
    "sqrt": np.sqrt, "rsqrt": lambda x: _F(1) / np.sqrt(x), "tanh": np.tanh,
    "sigmoid": lambda x: _F(1) / (_F(1) + np.exp(-x)),
    "relu": lambda x: np.maximum(x, _F(0)), "silu": lambda x: x / (_F(1) + np.exp(-x)),
    "sin": np.sin, "abs": np.abs, "reciprocal": lambda x: _F(1) / x,
}


def _alu(op, x, y):
    if op.name not in _ALU:
        raise Refused(f"{op!r} is no operator of the vector engine")
    return _ALU[op.name](x, y).astype(_F)


def _act(op, x):
    if op.name not in _ACT:
        raise Refused(f"{op!r} is no function of the scalar engine")
    return _ACT[op.name](x).astype(_F)


def _fold(op, x):
    out = x[:, 0]
    for k in range(1, x.shape[1]):
        out = _alu(op, out, x[:, k])
    return out[:, None]


def _column(x):
    if isinstance(x, (_machine.Tensor, View)):
        if View.of(x).n != 1:
            raise Refused(f"{View.of(x).tensor.name} is no column")
        return View.of(x).load()
    if not isinstance(x, (int, float)):
        raise Refused(f"{x!r} is neither a number nor a column")
    return _F(x)


def _where(x, *buffers):
    if View.of(x).tensor.buffer not in buffers:
        raise Refused(f"{View.of(x).tensor.name} is in {View.of(x).tensor.buffer}, and may be "
                      f"in {' or '.join(buffers)}")


def _do(engine, opcode, tiles, /, **named):
    for key, value in list(named.items()):
        named[key] = getattr(value, "name", value) if not isinstance(
            value, (_machine.Tensor, View)) else value
        if isinstance(named[key], bool):
            named[key] = int(named[key]) if named[key] else None
    _machine.current().do(engine, opcode, tiles, named)


def _engine(engine, tiles, *able):
    """The engine that is said: else NKI's compiler would choose one."""
    if engine is None:
        raise Refused(f"say engine=: NKI chooses one of {', '.join(able)}, and the trace has one")
    if engine not in able:
        raise Refused(f"the engine {engine} does not run this on Trainium 1")
    if engine == "gpsimd" and any(View.of(t).tensor.buffer == "psum" for t in tiles):
        raise Refused("gpsimd has no access to psum")
    return engine


def dma_copy(dst, src, oob_mode=oob_mode.error):
    _where(dst, "hbm", "sbuf")
    _where(src, "hbm", "sbuf")
    if isinstance(src, _machine.Rows):
        _where(dst, "sbuf")
        _do("dma", "dma_copy", [dst, src], vector_offset=src.indices,
            skip=1 if oob_mode == "skip" else None)
        src.copy(View.of(dst), oob_mode == "skip")
        return
    if oob_mode != "error":
        raise Refused("oob_mode is of transfers with indices")
    _do("dma", "dma_copy", [dst, src])
    View.of(dst).store(View.of(src).load())


def nc_matmul(dst, stationary, moving, accumulate=None):
    _where(dst, "psum")
    _where(stationary, "sbuf")
    _where(moving, "sbuf")
    out, a, b = View.of(dst), View.of(stationary).load(), View.of(moving).load()
    if out.tensor.dtype != "f32":
        raise Refused("a product's sums are float32")
    if a.shape[0] != b.shape[0] or a.shape[1] > 128 or b.shape[1] > 512:
        raise Refused(f"no product of {a.shape} and {b.shape}")
    acc = np.zeros((a.shape[1], b.shape[1]), _F)
    for k in range(a.shape[0]):
        acc = acc + a[k][:, None] * b[k][None, :]
    fresh = not out.tensor.written[out.places()].any()
    if accumulate is None:
        raise Refused("say accumulate=True or False: the shim keeps no groups")
    if accumulate and fresh:
        raise Refused("it adds to a sum that no product began")
    _do("tensor", "nc_matmul", [dst, stationary, moving])
    lines = _machine.current().lines
    lines[-1] += f", accumulate={int(accumulate)}"
    out.store(out.load() + acc if accumulate else acc)


def nc_transpose(dst, data, engine=None):
    engine = _engine(engine, [dst, data], "tensor", "vector")
    x, out = View.of(data), View.of(dst)
    if x.tensor.dtype != out.tensor.dtype:
        raise Refused("a transpose keeps the type")
    if engine == "tensor":
        _where(dst, "psum")
        _where(data, "sbuf")
    most = 128 if engine == "tensor" else 32
    if max(x.parts[0], x.n) > most:
        raise Refused(f"{engine} transposes {most} x {most}")
    _do(engine, "nc_transpose", [dst, data])
    out.store(x.load().T)


def tensor_copy(dst, src, engine=None):
    _do(_engine(engine, [dst, src], "vector", "gpsimd"), "tensor_copy", [dst, src])
    View.of(dst).store(View.of(src).load())


def tensor_tensor(dst, data1, data2, op, engine=None):
    if View.of(data1).tensor.buffer == View.of(data2).tensor.buffer == "psum":
        raise Refused("both operands are in psum; one may be")
    tiles = [dst, data1, data2]
    _do(_engine(engine, tiles, "vector", "gpsimd"), "tensor_tensor", tiles, op=op)
    View.of(dst).store(_alu(op, View.of(data1).load(), View.of(data2).load()))


def _two(x, op0, operand0, reverse0, op1, operand1, reverse1):
    y = _column(operand0)
    x = _alu(op0, y, x) if reverse0 else _alu(op0, x, y)
    if op1 is None:
        return x
    y = operand1 if isinstance(operand1, np.ndarray) else _column(operand1)
    return _alu(op1, y, x) if reverse1 else _alu(op1, x, y)


def tensor_scalar(dst, data, op0, operand0, reverse0=False, op1=None, operand1=None,
                  reverse1=False, engine="vector"):
    _do(_engine(engine, [], "vector"), "tensor_scalar", [dst, data], op0=op0, operand0=operand0,
        reverse0=reverse0, op1=op1, operand1=operand1, reverse1=reverse1)
    View.of(dst).store(
        _two(View.of(data).load(), op0, operand0, reverse0, op1, operand1, reverse1))


def scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, reverse0=False,
                         reverse1=False):
    _do("vector", "scalar_tensor_tensor", [dst, data, operand1], op0=op0, operand0=operand0,
        op1=op1, reverse0=reverse0, reverse1=reverse1)
    View.of(dst).store(_two(View.of(data).load(), op0, operand0, reverse0, op1,
                            View.of(operand1).load(), reverse1))


def tensor_reduce(dst, op, data, axis, negate=False, keepdims=False):
    dims = View.of(data).dims
    axes = [axis] if isinstance(axis, int) else list(axis)
    first = min(axes)
    if first < 1 or sorted(axes) != list(range(first, len(dims) + 1)):
        raise Refused(f"axis {axis} is not the last ones of {len(dims) + 1}")
    n = int(np.prod([c for c, _ in dims[first - 1:]]))
    _do("vector", "tensor_reduce", [dst, data], op=op, negate=negate)
    x = View.of(data).load()
    out = _fold(op, x.reshape(-1, n)).reshape(x.shape[0], -1)
    View.of(dst).store(-out if negate else out)


def _activate(data, op, bias, scale):
    x = View.of(data).load() * _column(1.0 if scale is None else scale)
    return _act(op, (x + _column(0.0 if bias is None else bias)).astype(_F))


def activation(dst, op, data, bias=None, scale=None):
    if isinstance(bias, (int, float)):
        raise Refused("bias is a column of a tile")
    if op.name == "reciprocal" and bias is not None:
        raise Refused("reciprocal takes no bias on Trainium 1")
    _do("scalar", "activation", [dst, data], op=op, bias=bias, scale=scale)
    View.of(dst).store(_activate(data, op, bias, scale))


def activation_reduce(dst, op, data, reduce_op, reduce_res, bias=None, scale=None):
    if reduce_op.name != "add":
        raise Refused("activation_reduce adds")
    _do("scalar", "activation_reduce", [dst, data, reduce_res], op=op, reduce_op=reduce_op,
        bias=bias, scale=scale)
    y = _activate(data, op, bias, scale)
    View.of(dst).store(y)
    View.of(reduce_res).store(_fold(reduce_op, y))


def reciprocal(dst, data):
    _do("vector", "reciprocal", [dst, data])
    View.of(dst).store(_F(1) / View.of(data).load())


def memset(dst, value, engine=None):
    out = View.of(dst)
    if out.tensor.dtype[0] in "iu" and not isinstance(value, int):
        raise Refused(f"{value!r} for {out.tensor.name}, whose elements are integers")
    _do(_engine(engine, [dst], "vector", "gpsimd"), "memset", [dst], value=float(value))
    out.store(np.full((out.parts[0], out.n), value, _F))


def _index(pattern, offset, channel_multiplier, parts):
    free = np.zeros(1)
    for stride, count in pattern:
        free = (free[:, None] + np.arange(count)[None, :] * stride).ravel()
    text = "[" + ", ".join(f"{count} by {stride}" for stride, count in pattern) + "]"
    return offset + channel_multiplier * np.arange(parts)[:, None] + free[None, :], text


def iota(dst, pattern, offset=0, channel_multiplier=0):
    _where(dst, "sbuf")
    values, text = _index(pattern, offset, channel_multiplier, View.of(dst).parts[0])
    _do("gpsimd", "iota", [dst], pattern=text, offset=offset,
        channel_multiplier=channel_multiplier)
    View.of(dst).store(values)


def affine_select(dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op,
                  offset=0):
    _where(dst, "sbuf")
    _where(on_true_tile, "sbuf")
    values, text = _index(pattern, offset, channel_multiplier, View.of(dst).parts[0])
    _do("gpsimd", "affine_select", [dst, on_true_tile], pattern=text,
        on_false_value=float(on_false_value), cmp_op=cmp_op, offset=offset,
        channel_multiplier=channel_multiplier)
    keep = _alu(cmp_op, values.astype(_F), _F(0)) != 0
    View.of(dst).store(np.where(keep, View.of(on_true_tile).load(), _F(on_false_value)))


def __getattr__(name):
    raise Refused(f"nisa.{name} is outside of the subset")
