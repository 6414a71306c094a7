"""The kernel library, by name: ``axe.ops.softmax(x)``.

What each computes is its documentation: ``help(axe.ops.softmax)``.  The texts are
in the package; ``axe.ops.source("softmax")`` shows one.

>>> import axe
>>> "softmax" in dir(axe.ops)
True
>>> axe.ops.row_sum
<kernel row_sum(in T X[M, N], out accum(T) y[M])>
"""
from __future__ import annotations

import os
import re
from typing import Any, Dict, List

from ._kernel import Kernel, Module, load

_folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
_modules: Dict[str, Module] = {}
_files: Dict[str, str] = {}


def _index() -> Dict[str, str]:
    """Which file has which kernel; no other thread sees half of it."""
    if not _files:
        found: Dict[str, str] = {}
        for name in sorted(os.listdir(_folder)):
            if not name.endswith(".axe"):
                continue
            path = os.path.join(_folder, name)
            with open(path, encoding="utf-8") as f:
                for kernel in re.findall(r"^kernel\s+(\w+)", f.read(), re.M):
                    found.setdefault(kernel, path)
        _files.update(found)
    return _files


def source(name: str) -> str:
    """The text of the file that has a kernel."""
    with open(_index()[name], encoding="utf-8") as f:
        return f.read()


def __getattr__(name: str) -> Kernel:
    if name.startswith("__") or name not in _index():
        raise AttributeError(f"the library has no kernel '{name}'; "
                             "dir(axe.ops) lists them")
    path = _files[name]
    module = _modules.get(path) or _modules.setdefault(path, load(path))
    kernel = module[name]
    globals()[name] = kernel
    return kernel


def __dir__() -> List[Any]:
    return sorted([*_index(), "source"])
