"""neuronxcc.nki: the first dialect of NKI (0.1, SDK 2.22 to 2.29), as far as
texts need it that TVM's trn back end prints, or that Axe prints on request.

Over the same machine as the newer dialect (tests/nki/nki): results are assigned,
indices are arrays, loads and stores are functions, and a product is added by
`+=`.  What differs in meaning is the last: `+=` begins a new sum where nothing
was written, where zeros were, and where the sum so far has been read; elsewhere
it goes on with the sum that is there.

    with nki.recording() as record:
        kernel(a, b, out)      # NumPy arrays; `out` is a shape: (M, N), "f32"
    record.text(), record.inputs, record.outputs
"""

import ast
import inspect
import textwrap

from nki import _machine

from . import compiler, isa, language, typing  # noqa: F401
from ._tensor import Tile

recording = _machine.recording


def baremetal(function=None, **_):
    """A kernel.  Parameters that are `nt.mutable_tensor` are results: what is given
    for one is its shape and type."""
    if function is None:
        return baremetal

    def kernel(*given):
        record, args = _machine.current(), []
        for (name, p), x in zip(inspect.signature(function).parameters.items(), given,
                                strict=True):
            if p.annotation is typing.mutable_tensor:
                shape, dtype = x
                t = record.tensor(tuple(shape), _Named(dtype), _Named("hbm"), name, None)
                record.output(t)
            else:
                t = record.input(name, x)
            args.append(Tile(t, t.shape))
        function(*args)
        return {t.name: t.array() for t in record.outputs.values()}

    return kernel


class _Named:
    def __init__(self, name):
        self.name = name


def jit(function):
    """A kernel that returns tensors of shared_hbm: arrays in and out.  A loop over
    `range` becomes one over nl.sequential_range, whose index is no number of Python."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    if any(isinstance(n, ast.Name) and n.id == "range" for n in ast.walk(tree)):
        raise _machine.Refused("range is nl.sequential_range here; say nl.static_range")

    def kernel(*given):
        record, args = _machine.current(), []
        for name, x in zip(inspect.signature(function).parameters, given, strict=True):
            t = x if isinstance(x, int) else record.input(name, x)
            args.append(t if isinstance(t, int) else Tile(t, t.shape))
        out = function(*args)
        out = out if isinstance(out, tuple) else (out,)
        for t in out:
            record.output(t.tensor)
        return tuple(t.tensor.array() for t in out)

    return kernel


def benchmark(*_, **__):
    raise _machine.Refused("nki.benchmark needs a Trainium")


simulate_kernel = trace = benchmark
