"""Which values a kernel for gradients reads, and whose gradients it makes."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

from ._errors import CallError, UnsupportedError
from ._kernel import Kernel, Module


def one(kernel: "Kernel | Module") -> Kernel:
    """A kernel, or the only one of a module."""
    if isinstance(kernel, Kernel):
        return kernel
    if len(kernel) != 1:
        raise CallError(f"{kernel!r} has {len(kernel)} kernels; give one of them")
    return next(iter(kernel._kernels.values()))


class Gradient:
    """The kernel ``backward`` of a kernel: what is what, by the parameters' names."""

    def __init__(self, kernel: Kernel, backward: "Kernel | Module"):
        updated = [p.name for p in kernel.params if p.access == "inout"]
        if updated:
            raise UnsupportedError(f"{kernel.name} writes {', '.join(updated)} in "
                                   "place, of which there are no gradients")
        self.kernel = backward = one(backward)
        self.inputs = [p.name for p in kernel._inputs]
        self.outputs = [p.name for p in kernel._outputs]
        self.gradients = ["d" + name for name in self.outputs]
        known = self.inputs + self.outputs + self.gradients
        for p in backward._inputs:
            if p.access == "inout" or p.name not in known:
                raise CallError(f"{backward.name}: {p.name} is none of what there is "
                                f"to read: {', '.join(known)}")
        self.made = [p.name for p in backward._outputs]
        for name in self.made:
            if name[:1] != "d" or name[1:] not in self.inputs:
                raise CallError(f"{backward.name}: {name} is the gradient of no "
                                f"input; those are {', '.join(self.inputs)}")
        self.kept: List[str] = [p.name for p in backward._inputs
                                if p.name not in self.gradients]

    def values(self, inputs: Any, outputs: Any) -> Dict[str, Any]:
        """What must be kept of a call, by name."""
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        all = {**dict(zip(self.inputs, inputs)), **dict(zip(self.outputs, outputs))}
        return {name: all[name] for name in self.kept}

    def arguments(self, kept: Mapping[str, Any], gradients: Any) -> Tuple[Any, ...]:
        """Arguments of the kernel for gradients."""
        values = {**kept, **dict(zip(self.gradients, gradients))}
        return tuple(values[p.name] for p in self.kernel._inputs)

    def results(self, made: Any) -> Tuple[Any, ...]:
        """Of each input its gradient, or None."""
        made = made if isinstance(made, (tuple, list)) else (made,)
        found = dict(zip(self.made, made))
        return tuple(found.get("d" + name) for name in self.inputs)
