"""Layouts as values, and their algebra against its definition."""
import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import axe
from axe import Layout

TILE = "(8, (2, 4, 2)) : (4@lane, (1@warp, 1@lane, 1@reg)) + [2 : 4@warp] + 5@warp"


def test_text_and_repr():
    t = Layout(TILE)
    assert str(t) == TILE
    assert eval(repr(t)) == t
    assert eval(repr(Layout(TILE, machine="nvidia"))).machine == "nvidia"
    assert t.shape == (8, 16) and t.ndim == 2 and t.size == len(t) == 128
    assert copy.deepcopy(t) == pickle.loads(pickle.dumps(t)) == t


def test_parts():
    t = Layout(TILE)
    assert t.iters[1] == axe.Iter(2, 1, "warp", "1")
    assert t.replicas == [axe.Iter(2, 4, "warp", "1")]
    assert t.offsets == [axe.Offset(5, "warp", "1")]
    assert Layout("(2, 3) : (K, 1)").iters[0] == axe.Iter(2, 1, "m", "K")


def test_points():
    t = Layout(TILE)
    assert t(1, 3) == t(19) == [
        {"lane": 5, "warp": 5, "reg": 1}, {"lane": 5, "warp": 9, "reg": 1}]
    assert t.copies == 2
    assert Layout("(2, 3) : (1, 2)").table() == [0, 2, 4, 1, 3, 5]
    with pytest.raises(axe.ShapeError, match="128"):
        t(128)


def test_equal_maps_are_equal_and_have_one_hash():
    a, b = Layout("((2, 2), 3) : ((6, 3), 1)"), Layout("(12) : (1)")
    assert a == b and hash(a) == hash(b) and len({a, b}) == 1
    assert a != Layout("(12) : (2)") and a != Layout("(6) : (1)")
    assert a != "(12) : (1)"
    assert Layout("(4) : (1) + [2 : 4]") == Layout("(4) : (1) + [2 : -4] + 4")
    assert hash(Layout("(4) : (1) + [2 : 4]")) == hash(
        Layout("(4) : (1) + [2 : -4] + 4"))
    small = Layout("swizzle<1, 3, 1> o (2) : (1)")
    assert small == Layout("(2) : (1)") and hash(small) == hash(Layout("(2) : (1)"))


def test_operators():
    a, b = Layout("(2, 3) : (3, 1)"), Layout("(8, 8) : (8, 1)")
    assert str(a * b) == "((2, 8), (3, 8)) : ((192, 8), (64, 1))"
    assert (a * b).tile_of(b | (8, 8)) == a
    assert (Layout("(6) : (2)") | (2, 3)).shape == (2, 3)
    assert (Layout("(6) : (2)") @ Layout("(3) : (2)")).table() == [0, 4, 8]
    assert (Layout("(2) : (4)") + Layout("(4) : (1)")).table() == list(range(8))
    assert ~Layout("(2, 3) : (1, 2)") == Layout("(3, 2) : (1, 3)")
    wide = Layout("(16, 24) : (24, 1)")
    assert str(wide[0:8, 8:24]) == "(8, 16) : (24, 1) + 8"
    assert wide[3].shape == (1, 24) and wide[-1, -2](0) == [{"m": 382}]
    with pytest.raises(axe.UnsupportedError):
        wide[::2]
    with pytest.raises(axe.ShapeError):
        wide[0, 0, 0]


def test_every_function_of_the_library_is_a_method_or_reachable():
    known = {"tile_to", "sum_left_of", "sum_right_of", "recast", "row_major",
             "strided", "size", "shape", "fiber", "equal"}
    for name, _, _ in axe._axe.functions():
        assert hasattr(Layout, name) or name in known, name


def test_axes_of_machines():
    t = Layout("(4, 32) : (1@warp, 1@lane)", machine="nvidia")
    assert str(t.fuse("thread")) == "(4, 32) : (32@thread, 1@thread)"
    assert t.fuse("thread").machine == "nvidia"
    assert t.fuse("thread").split("thread") == t
    assert str(Layout(str(t)).fuse("thread")) == str(t)
    with pytest.raises(axe.ArgumentError, match="two machines"):
        t * Layout("(2, 2) : (2, 1)", machine="cpu")
    with pytest.raises(axe.UnknownNameError, match="no machine 'abacus'"):
        Layout("(2) : (1)", machine="abacus")


def test_errors_carry_the_diagnostic():
    with pytest.raises(axe.TextError) as e:
        Layout("(2, 3) : (3, 1@")
    assert e.value.code == "ESYNTAX"
    assert str(e.value) == (
        "layout:1:16: error: layout: expected an axis, but the text ends\n"
        "    1 | (2, 3) : (3, 1@\n"
        "      |                ^")
    with pytest.raises(axe.ShapeError):
        ~Layout("(2, 2) : (1, 1)")
    with pytest.raises(axe.UnknownNameError) as e:
        axe.evaluate("cannon((2) : (1))")
    assert "canon" in str(e.value.help) + str(e.value)
    with pytest.raises(axe.ArgumentError, match="is no layout"):
        Layout("3")
    assert isinstance(e.value, ValueError)


def test_texts_that_are_none():
    for text in ("\0", "(2)\0 : (1)", "\ud800"):
        with pytest.raises(axe.TextError, match="no meaning anywhere"):
            Layout(text)
        with pytest.raises(axe.TextError):
            Layout("(2) : (1)", machine=text)
        with pytest.raises(axe.TextError):
            Layout.read(text, "cute")
    for text in (3, None, b"(2) : (1)"):
        with pytest.raises(axe.CallError, match="a layout is a text or a Layout"):
            Layout(text)
        with pytest.raises(axe.CallError):
            axe.evaluate(text)


def test_integers_are_exact():
    big = (1 << 62) - 1
    assert Layout(f"(2) : ({big})").table() == [0, big]
    with pytest.raises(axe.Error):
        Layout(f"(4) : ({big})")
    with pytest.raises(axe.Error):
        Layout(f"(2) : ({1 << 63})")


def test_threads():
    """Questions from several threads at once, and with a pool of forked processes."""
    import concurrent.futures as futures
    import multiprocessing

    with futures.ThreadPoolExecutor(8) as pool:
        wanted = _ask(3)
        assert set(pool.map(_ask, [3] * 40)) == {wanted}
        if "fork" in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context("fork").Pool(2) as others:
                assert others.map(_ask, [3] * 4) == [wanted] * 4


def _ask(n):
    t = Layout(TILE)
    for _ in range(n):
        a = t(1, 3), t.canon(), t == Layout(TILE), t.draw()
        move = axe.move("(8, 4) : (4@lane, 1@lane)", "(8, 4) : (1@lane, 8@lane)")
    return repr(a) + str(move)


def test_memory_is_constant():
    import resource
    a = Layout(TILE)
    for _ in range(200):
        a.canon()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20000):
        a.canon()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2048


# ------------------------------------------------------------------ definitions

extents = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def layouts(draw, max_iters=4):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=max_iters))
    strides = draw(st.lists(st.integers(-8, 8), min_size=len(shape),
                            max_size=len(shape)))
    text = f"({', '.join(map(str, shape))}) : ({', '.join(map(str, strides))})"
    offset = draw(st.integers(0, 9))
    return Layout(text + (f" + {offset}" if offset else "")), shape, strides, offset


def define(shape, strides, offset):
    """The map by its definition: digits times strides."""
    out = [offset]
    for extent, stride in zip(shape, strides):
        out = [x + i * stride for x in out for i in range(extent)]
    return out


@given(layouts())
def test_table_is_the_definition(l):
    layout, *parts = l
    assert layout.table() == define(*parts)
    assert Layout(str(layout)) == layout
    assert layout.canon().table() == layout.table()


@given(layouts(), layouts())
def test_equality_is_that_of_maps(a, b):
    same = a[0].table() == b[0].table()
    assert (a[0] == b[0]) == same
    if same:
        assert hash(a[0]) == hash(b[0])


@given(layouts(2), layouts(2))
def test_tile_is_the_definition(a, b):
    if len(a[1]) != len(b[1]):
        return
    span, tiled = b[0].span(), a[0] * b[0]
    assert tiled.shape == tuple(m * n for m, n in zip(a[1], b[1]))
    x, y = define(*a[1:]), define(*b[1:])
    for i, outer in enumerate(itertools.product(*map(range, a[1]))):
        for j, inner in enumerate(itertools.product(*map(range, b[1]))):
            index = [p * n + q for p, q, n in zip(outer, inner, b[1])]
            # The offset of the outer is scaled, too.
            assert tiled(*index) == [{"m": span * x[i] + y[j]}] or (
                tiled(*index) == [{}] and span * x[i] + y[j] == 0)


@given(layouts(3))
def test_inverse(l):
    layout, *parts = l
    table = define(*parts)
    if sorted(table) == list(range(len(table))):
        assert (~layout).flat() @ layout == Layout(f"({len(table)}) : (1)")
    else:
        with pytest.raises(axe.Error):
            ~layout


@given(st.data(), layouts(3))
def test_slice_is_the_definition_or_refused(data, l):
    layout, shape, strides, offset = l
    begin = [data.draw(st.integers(0, n - 1)) for n in shape]
    end = [data.draw(st.integers(b + 1, n)) for b, n in zip(begin, shape)]
    region = layout[tuple(slice(b, e) for b, e in zip(begin, end))]
    want = [offset]
    for b, e, s in zip(begin, end, strides):
        want = [x + i * s for x in want for i in range(b, e)]
    assert region.table() == want


settings.register_profile("quick", max_examples=60, deadline=None)
settings.load_profile("quick")


def test_equality_is_that_of_maps():
    known, other = Layout("(4) : (1@tx)", machine="nvidia"), Layout("(4) : (1@tx)")
    thread = Layout("(4) : (1@thread)")
    assert str(known) == str(thread) and known == thread and hash(known) == hash(thread)
    assert other != known and known != other and other != thread
    assert Layout("(4) : (1@lane)", machine="opencl") != known
    assert Layout("(4, 1) : (1@thread, 1)", machine="opencl") == known
    by_bytes = Layout("swizzle(128) o (8, 64) : (64, 1)")
    by_elements = Layout("swizzle<3, 3, 3> o (8, 64) : (64, 1)")
    assert by_bytes != by_elements and by_elements not in [by_bytes]
    assert len({by_bytes, by_elements, Layout(str(by_bytes))}) == 2


def test_integers_are_not_rounded():
    a = Layout("(4) : (2)")
    assert a(np.int64(3)) == a(3) and a | np.int64(4) == a
    assert a | np.array([2, 2]) == a.group(2, 2) and a[np.int64(1):3] == a[1:3]
    for wrong in (lambda: a(1.7), lambda: a("1"), lambda: a.group(2.9, 2),
                  lambda: a | "22", lambda: a[1.5], lambda: a[0:2.5], lambda: a[...],
                  lambda: a.complement(16.9), lambda: a.swizzle(128.5),
                  lambda: axe.evaluate("x", {"x": 2.5})):
        with pytest.raises(axe.CallError, match="an integer is wanted, not"):
            wrong()
    assert axe.evaluate("x", {"x": np.int64(4)}) == 4


def test_no_container():
    for walk in (lambda a: list(a), lambda a: 3 in a, lambda a: np.asarray(a, "i8")):
        with pytest.raises(TypeError):
            walk(Layout("(4) : (2)"))


def test_in_arrays_of_objects():
    """NumPy walked through a layout as through a sequence, and failed."""
    a, b = axe.Layout("(2, 3) : (3, 1)"), axe.Layout("(8) : (1)")
    x = np.array([[a, b]])
    assert x.shape == (1, 2) and x.dtype == object and x[0, 0] is a and x[0, 1] is b
    assert np.asarray(a).shape == () and np.asarray(a)[()] is a
    x[0, 1] = a
    assert (x == np.array([a, a])).all()
    for copy in (np.array(a, dtype=object), np.array([a], object)[0]):
        assert copy == a
    with pytest.raises(TypeError, match="no array of float64; table"):
        np.array(a, dtype="f8")
