"""Layouts of other systems, moves, differences, pictures."""
import numpy as np
import pytest

import axe
from axe import Layout


def test_there_and_back():
    for text, format, options in (
            ("((2,4),8):((1,16),2)", "cute", {"keep": "coordinates"}),
            ("shape=(3, 4), strides=(16, 4), itemsize=4", "numpy", {}),
            ("size=(3, 4), stride=(4, 1)", "torch", {})):
        layout = Layout.read(text, format, **options)
        if format == "numpy":
            options["bits"] = 32
        assert Layout.read(layout.to(format, **options), format,
                           **{k: v for k, v in options.items() if k != "bits"}
                           ) == layout


def test_an_array_and_numpy_say_the_same():
    a = np.zeros((6, 8), "f4")[::2, 1::3]
    text = f"shape={a.shape}, strides={a.strides}, itemsize={a.itemsize}"
    assert Layout.read(text, "numpy") == Layout.of(a)


def test_options():
    assert axe.convert("[S(0), R]", "dtensor", shape=(8, 4), mesh=(2, 2)) == \
        axe.convert("[S(0), R]", "dtensor", shape=(8, 4), mesh="2,2")
    by_name = axe.convert("P('x', None)", "jax", shape=(8, 4), mesh={"x": 2, "y": 2})
    assert by_name == axe.convert("P('x', None)", "jax", shape=(8, 4), mesh="x=2,y=2")
    for mesh in (2, [2], np.array([2])):
        assert axe.convert("[S(0)]", "dtensor", shape=8, mesh=mesh) == \
            axe.convert("[S(0)]", "dtensor", shape=8, mesh="2")
    with pytest.raises(axe.CallError, match="a text or a Layout, not NoneType"):
        axe.convert(None)
    with pytest.raises(axe.ArgumentError, match="numpy and axe: takes no mesh="):
        axe.convert("shape=(2,), strides=(4,)", "numpy", mesh=(2,))
    with pytest.raises(axe.ArgumentError, match="keep is 'index' or 'coordinates'"):
        axe.convert("2:1", "cute", keep="order")
    with pytest.raises(axe.UnknownNameError, match="no format 'cutee'; there are axe"):
        axe.convert("2:1", "cutee")
    with pytest.raises(axe.ArgumentError, match="at most 64 extents"):
        axe.convert("a -> a", "einops", shape=(1,) * 65)
    with pytest.raises(axe.TextError) as e:
        Layout.read("(2,4:(1,2)", "cute", keep="index")
    assert "^" in str(e.value)
    assert axe.convert(Layout("(4) : (1@warp)", machine="nvidia")) == "(4) : (1@warp)"


def test_formats():
    rows = {f.name: f for f in axe.formats()}
    assert rows["cute"].reads and rows["cute"].writes
    assert "keep" in rows["cute"].options and "shape!" in rows["tv"].options
    for f in rows.values():
        if not f.writes:
            with pytest.raises(axe.Error):
                Layout("(2) : (1)").to(f.name)


# ---------------------------------------------------------------------- moves


def test_moves():
    m = axe.move("(32, 4) : (1@lane, 1@reg)", "(32, 4) : (1@lane, 1@reg)")
    assert m.kind == "nothing" and m.facts["cycles"] == 0
    m = axe.move("(8, 4) : (4@lane, 1@lane)", Layout("(8, 4) : (1@lane, 8@lane)"))
    assert m.kind == "shuffles" and m.facts["elements"] == m.proved == 32
    assert m.shared is None and m.program.startswith("program:") and "shuffle" in str(m)
    m = axe.move("(128, 8) : (1@tx, 1@reg)", "(128, 8) : (8, 1)", bits=16)
    assert m.kind == "stores" and m.facts["bits"] == 16
    m = axe.move("(128, 4) : (1@tx, 1@reg)", "(4, 128) : (1@reg, 1@tx)", by="shared")
    assert m.kind == "shared" and m.shared.size == 512 and m.facts["barriers"] > 0


def test_moves_of_global_memory():
    m = axe.move("(32) : (1@lane)", "(32) : (8)", memory="global")
    assert m.kind == "stores" and m.facts["stores"]["sectors"] == 32
    assert "sectors" not in axe.move("(32) : (1@lane)", "(32) : (8)").text
    with pytest.raises(axe.ArgumentError, match="memory is 'shared' or 'global', not 'l2'"):
        axe.move("(32) : (1@lane)", "(32) : (8)", memory="l2")


def test_moves_refused():
    with pytest.raises(axe.ShapeError):
        axe.move("(4) : (1@lane)", "(5) : (1@lane)")
    with pytest.raises(axe.UnknownNameError, match="no machine 'sm_12'"):
        axe.move("(4) : (1@lane)", "(4) : (1@lane)", machine="sm_12")
    with pytest.raises(axe.ArgumentError):
        axe.move("(4) : (1@lane)", "(4) : (1@lane)", bits=7)
    with pytest.raises(axe.ArgumentError, match="by is 'shuffles' or 'shared'"):
        axe.move("(4) : (1@lane)", "(4) : (1@lane)", by="magic")


# ------------------------------------------------------------------------ why


def test_why():
    w = axe.why("(2, 3) : (3, 1)", Layout("(3, 2) : (2, 1)"))
    assert w.equal and w.at is None and w.part == "nothing"
    assert str(w).startswith("equal: the same points at all 6 indices")
    w = axe.why("(4) : (1)", "(5) : (1)")
    assert not w.equal and w.at == 4 and w.a == [] and w.b == [{"m": 4}] and w.least
    a, b = Layout("(4, 6) : (6, 1) + [2 : 24]"), Layout("(4, 6) : (6, 1) + [2 : 48]")
    w = axe.why(a, b)
    assert w.part == "their copies" and w.a == a(w.at) and w.b == b(w.at)
    with pytest.raises(axe.ArgumentError, match="two machines"):
        axe.why(Layout("(2) : (1)", machine="cpu"), Layout("(2) : (1)", machine="nvidia"))


# ------------------------------------------------------------------- pictures


def test_pictures():
    t = Layout("(8, (2, 4, 2)) : (4@lane, (1@warp, 1@lane, 1@reg))")
    text = t.draw()
    assert "8 rows, 16 columns; each cell: lane/warp/reg" in text
    assert all(len(l) <= 84 for l in text.splitlines()[3:11])
    assert len(t.draw(200).splitlines()[4]) > 80
    svg = t._repr_svg_()
    assert svg == t.svg() and svg.startswith("<svg") and svg.endswith("</svg>\n")
    assert t._repr_html_().startswith('<img alt="(8, (2, 4, 2)) : (4@lane')
    swizzled = Layout("swizzle(32) o (16, 16) : (16, 1)")
    assert "swizzle&lt;" in Layout("swizzle<1, 3, 1> o (16) : (1)")._repr_html_()
    assert swizzled.draw(bits=16) != swizzled.draw(bits=8)
    with pytest.raises(axe.ArgumentError, match="1 or more"):
        t.draw(0)


def test_what_was_asked_before_changes_nothing():
    """Axes stand in the order in which the layout names them."""
    Layout("(2, 2, 2) : (1@zeta, 1@beta, 1@alpha)").draw()
    first = Layout("(2, 2, 2) : (1@alpha, 1@beta, 1@zeta)")
    assert list(first(7)[0]) == ["alpha", "beta", "zeta"]
    assert "each cell: alpha/beta/zeta" in first.draw()


def test_what_cannot_be_drawn():
    many = Layout("(2) : (1) + [4096 : 1@w]")
    assert many._repr_svg_() is None and many._repr_html_() is None
    with pytest.raises(axe.LimitError, match="at most 256"):
        many.draw()
    assert Layout("(2) : (K)")._repr_html_() is None


def test_axes_of_a_machine_stay_known():
    whole = Layout("(64) : (1@thread)", machine="nvidia")
    assert axe.convert(whole, to="axe") == axe.convert("(64) : (1@tx)", machine="nvidia")


def test_why_by_width():
    a, b = "swizzle(128) o (8, 64) : (64, 1)", "swizzle<3, 3, 3> o (8, 64) : (64, 1)"
    why = axe.why(a, b)
    assert not why.equal and why.at is None and why.part == "elements of some widths"
    assert str(why).splitlines() == [
        "different in elements of some widths: a swizzle counts in units of its own",
        "  equal on elements of 16 bits",
        "  different on elements of 4, 8, 32, 64, 128 bits"]
