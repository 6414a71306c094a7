"""nki: enough of AWS's Neuron Kernel Interface to execute what Axe prints.

No part of AWS's software, and no compiler: a stand-in of the documented subset
(NKI 0.3, as SDK 2.29 to 2.32 take it), which executes a kernel with NumPy and
writes down each instruction as a line of a trace (docs/trace.md).  Whatever is
outside of the subset is an error.

    with nki.recording() as record:
        result = kernel(x, w)           # NumPy arrays in and out
    record.text(), record.inputs, record.outputs
"""

import ast
import inspect
import textwrap

from . import _machine, isa, language  # noqa: F401

recording = _machine.recording

_REFUSED = {
    ast.Starred: "starred arguments", ast.Is: "`is`", ast.IsNot: "`is not`",
    ast.While: "while", ast.Lambda: "lambda", ast.Try: "try", ast.With: "with",
    ast.ClassDef: "classes", ast.ListComp: "comprehensions",
    ast.DictComp: "comprehensions", ast.SetComp: "comprehensions",
    ast.GeneratorExp: "comprehensions", ast.Global: "global",
    ast.Nonlocal: "nonlocal", ast.Yield: "yield", ast.Await: "await",
    ast.NamedExpr: "`:=`", ast.Delete: "del",
}


def _check(function):
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        for kind, name in _REFUSED.items():
            if isinstance(node, kind):
                raise _machine.Refused(f"{name} is outside of the subset")
        if isinstance(node, ast.keyword) and node.arg is None:
            raise _machine.Refused("starred arguments is outside of the subset")


def jit(function):
    """A kernel: NumPy arrays become tensors of device memory, results arrays."""
    _check(function)

    def kernel(*arrays):
        record = _machine.current()
        args = [value if isinstance(value, int) else record.input(name, value) for name, value in
                zip(inspect.signature(function).parameters, arrays, strict=True)]
        out = function(*args)
        several = isinstance(out, tuple)
        for tensor in out if several else [out]:
            record.output(tensor)
        values = tuple(t.array() for t in (out if several else [out]))
        return values if several else values[0]

    return kernel
