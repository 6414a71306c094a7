"""The examples in docstrings."""
import doctest
import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import axe

# Their examples need what is named.
NEEDS = {"torch": "torch", "jax": "jax"}


@pytest.mark.parametrize(
    "name", ["axe", *(f"axe.{m.name}" for m in pkgutil.iter_modules(axe.__path__)
                      if m.name != "_axe")])
def test_examples(name):
    if name.partition(".")[2] in NEEDS:
        pytest.importorskip(NEEDS[name.partition(".")[2]])
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


@pytest.mark.parametrize("page", ["../README.md", "../../README.md"])
def test_readme(page):
    """The pages of the package and of the whole; they are not part of a wheel."""
    page = pathlib.Path(__file__).parent / page
    found = doctest.testfile(str(page), module_relative=False)
    assert found.failed == 0 and found.attempted > 0


def test_every_public_name_is_documented():
    for name in axe.__all__:
        assert (getattr(axe, name).__doc__ or "").strip(), name
        if isinstance(getattr(axe, name), type):
            for of, method in vars(getattr(axe, name)).items():
                if not of.startswith("_") and (callable(method)
                                               or isinstance(method, property)):
                    assert (method.__doc__ or "").strip(), (name, of)


def test_import_brings_little():
    """What it costs is what it imports: bench/python.py."""
    code = ("import sys; import axe; "
            "print([m for m in ('numpy', 'torch', 'inspect', 'dataclasses') "
            "if m in sys.modules])")
    where = str(pathlib.Path(axe.__file__).parents[1])  # -S leaves out site-packages
    said = subprocess.run([sys.executable, "-S", "-c", code], check=True, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": where})
    assert said.stdout == "[]\n"
