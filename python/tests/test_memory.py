"""Nothing leaks, and no allocation that fails is fatal."""
import gc
import resource
import sys

import numpy as np
import pytest

import axe
from kernels import TWICE, random, twice


def test_nothing_leaks():
    x, out = random(4, 4), np.empty((4, 4), "f4")
    for _ in range(1000):
        twice(x), twice(x, out=out), twice(x[::2])
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = len(gc.get_objects())
    for _ in range(100000):
        twice(x), twice(x, out=out)
    for _ in range(3000):
        try:
            twice(x, out=x)
        except axe.ArgumentError:
            pass
        try:
            twice(x[0])
        except axe.ShapeError:
            pass
    gc.collect()
    assert len(gc.get_objects()) - count < 200
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096


def test_references_are_given_back():
    x, y = random(4, 4), random(4, 4)
    n = sys.getrefcount(x)
    for _ in range(10):
        twice(X=x, Y=y), twice(X=x, out=y), twice(X=x)
        for wrong in ({"X": x, "Y": x}, {"Y": y}, {"X": x, "Y": y, "Z": y}):
            with pytest.raises(axe.Error):
                twice(**wrong)
    del wrong
    assert (sys.getrefcount(x), sys.getrefcount(y)) == (n, n)
    for _ in range(10):
        twice(x)
        with pytest.raises(axe.Error):
            twice(x, out=x)
        with pytest.raises(axe.Error):
            twice(x, x)
    assert sys.getrefcount(x) == n
    out = twice(x)
    assert sys.getrefcount(out) == 2


def _every_failure(do, most=60):
    """How often it was a MemoryError, where allocation 0, 1, 2 ... fails."""
    testcapi = pytest.importorskip("_testcapi")
    failed = 0
    for n in range(most):
        testcapi.set_nomemory(n, n + 1)
        try:
            do()
        except MemoryError:
            failed += 1
        except axe.Error:
            pass
        finally:
            testcapi.remove_mem_hooks()
    return failed


@pytest.mark.parametrize("what, least", [
    ("points", 2), ("parts", 3), ("why", 4), ("convert", 1), ("signatures", 3),
    ("look", 2), ("compile", 1), ("shapes", 2), ("load", 1), ("time", 1),
    ("check", 3), ("simulate", 1), ("refused", 2), ("call", 1)])
def test_no_memory(what, least):
    """Each allocation of Python's fails in turn, and nothing is lost by it.

    Of the functions of the extension module: where a frame of Python's fails,
    CPython itself loses what it holds.
    """
    C, t = axe._axe, "(2, 3) : (1@a, 2@b) + [2 : 4@c] + 1@a"
    x, out = np.ones((2, 3), "f4"), np.empty((2, 3), "f4")
    k, device = axe.kernel(TWICE).twice, axe.Device(threads=1)
    k(x), k(x, out=out)
    arrays, twins = (("X", x), ("Y", out)), (("X", x), ("Y", x))
    program = k.compile(arrays)
    simt = k.compile(arrays, target="sm_80", stage="lower")
    exec = C.Exec(program, device)
    do = {"points": lambda: C.evaluate("a(1)", {"a": t}, None),
          "parts": lambda: C.parts(t, None),
          "why": lambda: C.why(t, "(2, 3) : (1@a, 3@b)", None),
          "convert": lambda: C.convert(t, "axe", None, None, 0, None, None, None, 0),
          "signatures": lambda: C.signatures("k", TWICE),
          "look": lambda: C.look(x),
          "compile": lambda: C.compile("k", TWICE, "twice", None, (), (), arrays, (),
                                       1, False, 3),
          "shapes": lambda: program.shapes(arrays, ()),
          "load": lambda: C.Exec(program, device),
          "time": lambda: exec.time(arrays, (), 1, 0.0),
          "check": lambda: exec.check(arrays, (), device),
          "simulate": lambda: simt.simulate(arrays, (), 0, 0, 0, 1, 0, 0, True, True),
          "refused": lambda: exec.time(twins, (), 1, 0.0),
          "call": lambda: k(x)}[what]
    assert _every_failure(do) >= least
    kept = (x, out, program, exec, device)
    refs = [sys.getrefcount(o) for o in kept]
    grown = []
    for _ in range(5):  # what CPython keeps for later comes and goes
        gc.collect()
        blocks = sys.getallocatedblocks()
        for _ in range(100):
            _every_failure(do, 12)
        gc.collect()
        grown.append(sys.getallocatedblocks() - blocks)
        if grown[-1] < 100:
            break
    assert min(grown) < 100
    assert refs == [sys.getrefcount(o) for o in kept]
    np.testing.assert_array_equal(k(x), 2)
