"""Calls on arrays: results, refusals, what is kept of calls."""
import array
import warnings

import numpy as np
import pytest

import axe
from kernels import TWICE, random, rng, twice

SCALE = """kernel scale<type T = f32>(in T X[M], in T a, in i32 n, out T Y[M]) {
    index m;
    cta (i : 1) Y[m] = a * X[m] + T(n);
}"""
ADD_TO = """kernel add_to(in f32 X[M], inout f32 Y[M]) {
    index m;
    cta (i : 1) Y[m] = Y[m] + X[m];
}"""

scale = axe.kernel(SCALE).scale


# -------------------------------------------------------------------- results


def test_the_library():
    a, b = random(70, 50), random(30, 50)
    np.testing.assert_allclose(axe.ops.gemm(a, b), a @ b.T, rtol=1e-4, atol=1e-5)
    x = random(9, 33)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(axe.ops.softmax(x), e / e.sum(1, keepdims=True),
                               rtol=1e-5)
    np.testing.assert_allclose(axe.ops.row_sum(x), x.sum(1), rtol=1e-4, atol=1e-5)
    y, j = axe.ops.topk(x, W=64)
    np.testing.assert_array_equal(y, -np.sort(-x, 1)[:, :8])
    np.testing.assert_array_equal(np.take_along_axis(x, j, 1), y)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8",
                                   "u4", "u2", "u1"])
def test_types(dtype):
    x = rng.integers(0, 50, (5, 7)).astype(dtype)
    y = twice(x)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, (2 * x).astype(dtype))


def test_ml_dtypes():
    ml = pytest.importorskip("ml_dtypes")
    x = random(5, 7).astype(ml.bfloat16)
    y = twice(x)
    assert y.dtype == ml.bfloat16
    np.testing.assert_array_equal(y.astype("f4"), 2 * x.astype("f4"))
    np.testing.assert_array_equal(twice(x[::2, ::3]).astype("f4"),
                                  2 * x[::2, ::3].astype("f4"))
    q, s = axe.ops.quantise_f8_rows(random(4, 256).astype(ml.bfloat16), Q=2)
    assert q.dtype == ml.float8_e4m3fn and s.shape == (2, 4)
    with pytest.raises(axe.ArgumentError, match="cannot be had by DLPack"):
        twice(np.zeros((2, 2), ml.int4))


@pytest.mark.parametrize("view", [
    lambda x: x, lambda x: x.T, lambda x: np.asfortranarray(x), lambda x: x[::2],
    lambda x: x[:, ::3], lambda x: x[1:5, 2:6], lambda x: x[:1], lambda x: x[:, :1],
    lambda x: x.T[::2, ::2], lambda x: np.broadcast_to(x[:1], (6, 8)),
    lambda x: x[:0], lambda x: x[:, :0], lambda x: x[3:3].T])
def test_orders(view):
    x = view(random(6, 8))
    y = twice(x)
    np.testing.assert_array_equal(y, 2 * x)
    for out in (np.empty_like(y), np.empty(y.shape, y.dtype, order="F"),
                np.empty((2 * y.shape[0] + 1, 3 * y.shape[1] + 1), "f4")
                [:2 * y.shape[0]:2, 1:1 + 3 * y.shape[1]:3]):
        assert twice(x, out=out) is out
        np.testing.assert_array_equal(out, 2 * x)


def test_strided_outputs_leave_gaps_alone():
    big = np.full((6, 8), 7, "f4")
    twice(random(3, 4), out=big[::2, ::2])
    assert (big[1::2] == 7).all() and (big[:, 1::2] == 7).all()


def test_numbers():
    x = random(9)
    near = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(scale(x, 2.5, 3), np.float32(2.5) * x + 3, **near)
    np.testing.assert_allclose(scale(x, 2, True), 2 * x + 1, **near)
    np.testing.assert_allclose(scale(x, np.float32(2), np.array(3, "i4")),
                               2 * x + 3, **near)
    np.testing.assert_allclose(scale(x.astype("f8"), 0.1, -5),
                               0.1 * x.astype("f8") - 5)
    np.testing.assert_allclose(scale(x.astype("f2"), 0.1, 0),
                               np.float16(0.1) * x.astype("f2"), rtol=2e-3,
                               atol=1e-3)
    for n in (1 << 31, -(1 << 31) - 1, 1 << 64):
        with pytest.raises(axe.RangeError, match=str(n)):
            scale(x, 1.0, n)
    with pytest.raises(axe.ElementTypeError, match="float is no i32"):
        scale(x, 1.0, 1.5)
    with pytest.raises(axe.ElementTypeError, match="X has 1 dimensions; a number"):
        scale(1.0, 1.0, 1)
    with pytest.raises(axe.ElementTypeError, match="f64 from a"):
        scale(x, np.array(2.0), 1)


@pytest.mark.parametrize("a", [
    np.float64(0.1), np.float32(0.1), np.float16(0.1), np.int64(3), np.uint8(3),
    np.bool_(True)])
@pytest.mark.parametrize("type", ["f8", "f4", "f2", "i8", "i2"])
def test_numbers_of_numpy(a, type):
    """They are numbers as Python's: rounded, and whole ones must fit."""
    x = np.ones(3, type)
    if x.dtype.kind == "i" and isinstance(a, np.floating):
        with pytest.raises(axe.ElementTypeError, match="is no i.*; give an integer"):
            scale(x, a, 0)
    else:
        for n in (np.int64(0), np.uint64(0), np.int8(0), np.False_):
            y = scale(x, a, n)
            assert y.dtype == x.dtype and y[0] == np.asarray(a).astype(type)
    with pytest.raises(axe.RangeError, match="does not fit i32"):
        scale(x, 1, np.int64(1 << 31))
    with pytest.raises(axe.ElementTypeError, match="f64 is no i32; give an integer"):
        scale(x, 1, np.float64(1))


def test_numbers_of_numpy_say_types():
    """Where no array does; what was called before does not matter."""
    k = axe.kernel("kernel fill<type T = f32>(in T a, out T Y[M]) "
                   "{ index m; cta (i : 1) Y[m] = a; }").fill.with_(M=2)
    for a, type in ((np.float64(2), "f8"), (2.0, "f4"), (np.float16(2), "f2"), (2, "f4"),
                    (np.int8(2), "i1"), (np.array(2.0), "f8"), (2.5, "f4")):
        assert k(a).dtype == type and (k(a) == a).all()
        assert k.with_(T="f16")(float(a)).dtype == "f2"
    assert k.with_(T="f16")(np.float64(2)).dtype == "f2"
    assert (scale.time(np.ones(3, "f4"), np.float64(2), np.int64(1), runs=1).median > 0
            and scale.check(np.ones(3, "f4"), np.float64(2), np.int64(1)))
    big = np.uint64((1 << 64) - 1)
    assert k.with_(T="u64")(big)[0] == big
    with pytest.raises(axe.RangeError, match="64 bits"):
        k((1 << 64) - 1)


def test_masked_arrays_are_refused():
    x = np.ma.array(np.ones((2, 2), "f4"), mask=[[0, 1], [0, 0]])
    for call in (twice, twice.time, twice.check, twice.explain, axe.Layout.of,
                 lambda x: twice(X=x), lambda x: twice(x.data, out=x),
                 lambda x: axe.ops.linear.with_(T="f32").pack("W", x)):
        for _ in range(2):
            with pytest.raises(axe.ArgumentError, match=r"mask would not .* x.filled"):
                call(x)
    np.testing.assert_array_equal(twice(x.filled(0)), [[2, 0], [2, 2]])


def test_numbers_that_sizes_follow_from():
    k = axe.kernel("""kernel add_up(in f32 X[M], in i32 n, out f32 Y[M]) {
        index m;
        global f32 S[M];
        cta (i : 1) S[m] = 0;
        for (t : n) cta (i : 1) S[m] = S[m] + X[m];
        cta (i : 1) Y[m] = S[m];
    }""").add_up
    x = random(5)
    for n in (3, 1, 0, 7, 7, 2):
        np.testing.assert_allclose(k(x, n), n * x, rtol=1e-5, atol=1e-6)
    with pytest.raises(axe.ArgumentError, match="n is -1"):
        k(x, -1)
    np.testing.assert_allclose(k(x, 2), 2 * x)


def test_updates():
    add_to = axe.kernel(ADD_TO).add_to
    x, y = random(5), random(5)
    want = x + y
    assert add_to(x, y) is y
    np.testing.assert_array_equal(y, want)
    y.flags.writeable = False
    with pytest.raises(axe.ArgumentError, match="Y is written, but .* read-only"):
        add_to(x, y)


def test_read_only_arrays_are_read():
    x = random(5, 7)
    want = 2 * x
    x.flags.writeable = False
    np.testing.assert_array_equal(twice(x), want)
    out = np.empty_like(x)
    out.flags.writeable = False
    with pytest.raises(axe.ArgumentError, match="Y is written, but .* read-only"):
        twice(x, out=out)


def test_other_buffers():
    x = array.array("f", [1, 2, 3, 4, 5, 6])
    y = array.array("f", [0] * 6)
    shape = lambda b: memoryview(b).cast("B").cast("f", (2, 3))
    twice(shape(x), out=shape(y))
    assert list(y) == [2, 4, 6, 8, 10, 12]
    np.testing.assert_array_equal(twice(shape(x)), [[2, 4, 6], [8, 10, 12]])
    bits = array.array("B", range(6))
    np.testing.assert_array_equal(
        axe.kernel("kernel k(in u8 X[M], out u8 Y[M]) "
                   "{ index m; cta (i : 1) Y[m] = X[m] + 1; }")(bits), range(1, 7))


def test_keywords():
    a, b = random(20, 30), random(10, 30)
    want = a @ b.T
    gemm = axe.ops.gemm
    for c in (gemm(A=a, B=b), gemm(a, B=b), gemm(a, b, BM=96), gemm(a, b, M=20), gemm(a, b, BM=96, BN=48, K=30)):
        np.testing.assert_allclose(c, want, rtol=1e-4, atol=1e-5)
    c = np.empty((20, 10), "f4")
    assert gemm(a, b, C=c) is c and gemm(B=b, C=c, A=a) is c
    assert gemm(A=a, B=b, out=c) is c and gemm(a, B=b, out=c) is c
    assert gemm(A=a, B=b, out=None, device=None).shape == (20, 10)
    for wrong, said in (
            ({"A": a}, "B is missing|1 are given"), ({"B": b}, "A is missing"),
            ({"A": a, "B": b, "C": c, "out": c}, "C is given twice"), ({"C": c}, "0 are given"),
            ({"A": a, "B": b, "C": c, "D": c}, "no parameter 'D'"), ({"out": c}, "0 are given"),
            ({"A": a, "B": b, "D": 3}, "no size 'D'"), ({"A": None, "B": b}, "is no array")):
        with pytest.raises(axe.Error, match=said):
            gemm(**wrong)
    with pytest.raises(axe.CallError, match="A is given twice"):
        gemm(a, A=a)
    with pytest.raises(axe.CallError, match="3 are given"):
        gemm(a, b, b, C=c)
    add_to = axe.kernel(ADD_TO).add_to
    y = np.ones(3, "f4")
    assert add_to(X=y.copy(), Y=y) is y and (y == 2).all()
    np.testing.assert_allclose(c, want, rtol=1e-4, atol=1e-5)
    assert gemm.with_(BM=96) is gemm.with_(BM=96)
    assert gemm.with_(BM=96).with_(BM=96) is gemm.with_(BM=96)
    assert "BM=96" in repr(gemm.with_(BM=96))


def test_sizes_without_arrays():
    k = axe.kernel("""kernel count(out i32 Y[N]) {
        index n;
        cta (i : 1) Y[n] = i32(n);
    }""").count
    np.testing.assert_array_equal(k(N=5), np.arange(5))
    assert k(N=0).shape == (0,)
    with pytest.raises(axe.ArgumentError, match="does not follow") as e:
        k()
    assert e.value.help == ("give N=512",)


# ------------------------------------------------------------------- refusals


def test_refusals():
    a, b = random(20, 30), random(10, 30)
    gemm = axe.ops.gemm
    with pytest.raises(axe.ShapeError) as e:
        gemm(a, b[:, :7])
    assert "K is 30 from A (dimension 1) but 7 from B (dimension 1)" in str(e.value)
    assert "in T A[M, K]" in str(e.value)
    with pytest.raises(axe.ElementTypeError, match="f32 from A but f64 from B"):
        gemm(a, b.astype("f8"))
    with pytest.raises(axe.ShapeError, match="A has 2 dimensions, .* 1"):
        gemm(a[0], b)
    with pytest.raises(axe.CallError, match="takes 2 arrays .A, B., 1 are given"):
        gemm(a)
    with pytest.raises(axe.CallError, match="3 are given"):
        gemm(a, b, a)
    with pytest.raises(axe.CallError, match="B is missing"):
        axe.ops.gemm_bias_relu(a, bias=b)
    with pytest.raises(axe.CallError, match="A is given twice"):
        gemm(a, b, A=a)
    with pytest.raises(axe.CallError, match="has 1 outputs .C., out= gives 2"):
        gemm(a, b, out=(a, a))
    with pytest.raises(axe.ShapeError):
        gemm(a, b, out=np.empty((20, 11), "f4"))
    with pytest.raises(axe.ElementTypeError):
        gemm(a, b, out=np.empty((20, 10), "f8"))
    with pytest.raises(axe.UnknownNameError, match="no size 'FOO'"):
        gemm(a, b, FOO=3)
    with pytest.raises(axe.CallError, match="no parameter 'FOO'"):
        gemm(a, b, FOO="x")
    with pytest.raises(axe.Error):
        gemm(a, b, M=21)
    with pytest.raises(axe.ElementTypeError, match="is no array"):
        gemm(a, object())
    with pytest.raises(axe.ElementTypeError, match="no element type"):
        gemm(a.astype("c8"), b)
    with pytest.raises(axe.ElementTypeError, match="no element type"):
        gemm(a.astype(">f4"), b)
    with pytest.raises(axe.ShapeError, match="not negative"):
        gemm(a[::-1], b)
    record = np.zeros(4, [("x", "f4"), ("y", "i2")])["x"]
    with pytest.raises(axe.ShapeError, match="no multiple"):
        twice(np.lib.stride_tricks.as_strided(record, (2, 4), (24, 6)))
    assert issubclass(axe.ShapeError, ValueError)
    assert issubclass(axe.ElementTypeError, TypeError)


def test_overlap():
    x = random(8, 8)
    for inp, out in ((x, x), (x[:4], x[3:7]), (x[:, :4], x[:, 4:])):
        with pytest.raises(axe.ArgumentError, match="overlaps that of X"):
            twice(inp, out=out)
    flat = np.zeros(9, "f4")
    with pytest.raises(axe.ArgumentError, match="its elements overlap"):
        twice(random(2, 5),
              out=np.lib.stride_tricks.as_strided(flat, (2, 5), (4, 4)))
    # The same shapes again, now apart: the kept call must not remember.
    y = np.empty((4, 8), "f4")
    twice(x[:4], out=y)
    with pytest.raises(axe.ArgumentError, match="overlaps"):
        twice(x[:4], out=x[3:7])
    np.testing.assert_array_equal(y, 2 * x[:4])


def test_misaligned():
    raw = np.zeros(2 * 3 * 4 + 1, "u1")
    x = np.frombuffer(raw[1:], "f4").reshape(2, 3)
    with pytest.raises(axe.ArgumentError, match="not aligned"):
        twice(x)
    twice(np.zeros((2, 3), "f4"))
    with pytest.raises(axe.ArgumentError, match="not aligned"):
        twice(x)


def test_texts():
    with pytest.raises(axe.TextError) as e:
        axe.kernel("kernel k(in f32 X[M]) { X[m = 1; }", name="k.axe")
    assert "k.axe:1:" in str(e.value) and "^" in str(e.value)
    with pytest.raises(OSError):
        axe.load("/nowhere.axe")
    m = axe.kernel(TWICE + SCALE)
    assert list(m) == ["twice", "scale"] and m["scale"] is m.scale
    assert m.twice.__doc__.endswith("Y = 2 X")
    with pytest.raises(AttributeError, match="no kernel 'thrice'"):
        m.thrice
    with pytest.raises(axe.CallError, match="has 2 kernels"):
        m(random(2, 2))
    np.testing.assert_array_equal(axe.kernel(TWICE)(np.ones((1, 1), "f4")), [[2]])
    with pytest.raises(AttributeError, match="no kernel 'nothing'"):
        axe.ops.nothing
    assert "gemm" in dir(axe.ops) and "kernel gemm" in axe.ops.source("gemm")


# ------------------------------------------------------- caches and lifetimes


def test_calls_are_kept_by_what_they_are():
    k = axe.kernel(TWICE).twice
    x = random(5, 7)
    k(x), k(x), k(random(5, 7))
    assert k._known == 1
    k(x, out=np.empty_like(x)), k(x.T), k(x[:3])
    assert k._known == 4
    k(x.astype("f8"))
    assert k._known == 5 and len(k._execs) == 4
    k._forget_all()
    assert k._known == 0
    np.testing.assert_array_equal(k(x), 2 * x)


class Own:
    """An array of another framework, which exports by DLPack."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **keywords):
        return self.x.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def test_calls_of_other_classes_are_other_calls():
    """Their results may be others', too: a tensor's was NumPy's after an array's."""
    k = axe.kernel(TWICE).twice
    x = random(5, 7)
    k(x), k(Own(x)), k(memoryview(x)), k(Own(x))
    assert k._known == 3
    np.testing.assert_array_equal(k(Own(x)), 2 * x)

    def of_a_class_that_goes():
        class Once(Own):
            pass
        k(Once(x))

    for _ in range(50):
        of_a_class_that_goes()
    assert k._known == 53


def test_many_shapes():
    k = axe.kernel(TWICE).twice
    for n in range(5000):
        if n % 7 == 0:
            k(np.zeros((1, n + 1), "f4"))
    assert k._known <= 4096


# ------------------------------------------------------- devices and texts


def test_devices():
    d = axe.Device(threads=2)
    assert d.threads == 2 and d.machine == "cpu" and "threads=2" in repr(d)
    np.testing.assert_array_equal(twice(np.ones((2, 2), "f4"), device=d), 2)
    with pytest.raises(axe.ArgumentError, match="no device 'tpu'"):
        axe.Device("tpu")
    with pytest.raises(axe.ArgumentError):
        axe.Device(threads=-1)
    with pytest.raises(axe.DeviceError):
        axe.Device("cuda:7")
    with pytest.raises(axe.UnsupportedError, match="sm_90a"):
        axe.ops.gemm_sm90(np.ones((2, 2), "f2"), np.ones((2, 2), "f2"))


def test_what_a_copy_would_do():
    x = random(6, 4)
    for method in (twice, twice.time, twice.check):
        with pytest.raises(axe.ShapeError, match=r"np.ascontiguousarray\(X\)"):
            method(x[::-1])
        with pytest.raises(axe.ShapeError, match=r"np.ascontiguousarray\(Y\)"):
            method(x, out=np.empty_like(x)[:, ::-1])
        odd = np.zeros(97, "u1")[1:].view("f4").reshape(6, 4)
        twice(x)
        with pytest.raises(axe.ArgumentError, match=r"X.copy\(\) is aligned"):
            method(odd)
        method(odd.copy()), method(np.ascontiguousarray(x[::-1]))
    six = np.lib.stride_tricks.as_strided(np.zeros(40, "u1").view("f4"), (3, 1), (6, 4))
    with pytest.raises(axe.ShapeError, match="np.ascontiguousarray"):
        twice(six)
    with pytest.raises(axe.ElementTypeError, match=r"newbyteorder\('='\)"):
        twice(x.astype(">f4"))
    with pytest.raises(axe.ElementTypeError, match=r"x.view\(ml_dtypes.bfloat16\)"):
        twice(np.zeros(4, "V2"))  # as np.load reads bf16
    with pytest.raises(axe.ElementTypeError, match="np.asarray"):
        twice([[1.0]])


def test_texts_without_kernels():
    for text in ("", "// nothing", "\n"):
        with pytest.raises(axe.TextError, match="has no kernel; one is"):
            axe.kernel(text)
    with pytest.raises(axe.CallError, match="a text, not bytes; axe.load"):
        axe.kernel(TWICE.encode())
    with pytest.raises(axe.TextError, match="no meaning"):
        axe.kernel("\ud800")
    with pytest.raises(axe.TextError, match="no meaning"):
        twice.with_(T="f32\0")(random(2, 2))
    with pytest.raises(axe.TextError, match="no meaning"):
        axe.Device(cache="a\0b")


def test_looking():
    k = axe.kernel("kernel twice(in f32 X[M, N], out f32 Y[M, N]) { index m, n; "
                   "cta (i : M by 8) Y[i*8 + m, n] = 2 * X[i*8 + m, n]; }").twice
    x = np.ones((24, 7), "f4")
    assert "M = 24" in k.explain(x) and "N = 7" in k.explain(x)
    assert "M = 3" in k.explain(M=3, N=5)
    assert k.explain(x, target="sm_80").startswith("plan of twice for sm_80")
    assert k.plan["kernel"] == "twice" and k.plan["statements"]
    assert "__global__" in k.source("cuda")
    assert "kernel" in k.source("opencl") and "__global__" not in k.source()
    with pytest.raises(axe.ShapeError, match="X has 2 dimensions"):
        k.explain(np.ones(3, "f4"))
    with pytest.raises(axe.CallError, match="takes 1 arrays, 2 are given"):
        k.explain(x, x)
    for look in (k.explain, lambda *a, **n: k.source(None, *a, **n)):
        with pytest.raises(axe.ShapeError, match=r"M is 6 from the value given but 24 "
                                                 r"from X .dimension 0"):
            look(x, M=6)
    assert "M = 24" in k.explain(x, M=24)
    a, b = np.ones((3, 4), "f4"), np.ones((5, 6), "f4")
    with pytest.raises(axe.ShapeError, match=r"K is 4 from A .dimension 1. but 6 from B "
                                             r".dimension 1"):
        axe.ops.gemm.explain(a, b)
    with pytest.raises(axe.Error, match="no machine 'sm_12'"):
        k.source("sm_12")


@pytest.mark.parametrize("value", [
    0.1, 1 / 3, 65504, 65519.99, 65520, 1e9, 6e-8, 2.9e-8, 3e-8, -0.0, 6.1e-5,
    6.09e-5, float("inf"), 1.0009765625, 1.00048828125, 1.00146484375, -2.5e-7])
def test_numbers_of_f16(value):
    """Ties to even, and subnormals, as NumPy rounds."""
    k = axe.kernel("kernel fill(in f16 a, out f16 Y[M]) "
                   "{ index m; cta (i : M by 8) Y[i*8 + m] = a; }").fill
    with np.errstate(over="ignore"):
        wanted = np.float16(value)
    assert k(value, M=3)[2].tobytes() == wanted.tobytes()


def test_integers_of_numpy_and_files_that_are_no_text(tmp_path):
    x = np.ones((3, 4), "f4")
    assert axe.ops.gemm(x, x, K=np.int64(4), BM=np.int32(96)).shape == (3, 3)
    with pytest.raises(axe.CallError, match="a size is an integer"):
        axe.ops.gemm(x, x, K=np.array([4]))
    path = tmp_path / "k.axe"
    path.write_bytes(b"kernel \xff")
    with pytest.raises(axe.TextError, match="no text in UTF-8: .* at byte 7"):
        axe.load(path)
    with pytest.raises(axe.ArgumentError, match="sms=-3"):
        axe.ops.row_sum.simulate(M=4, N=64, target="sm_80", sms=-3)


@pytest.mark.parametrize("call", [
    lambda n: axe.ops.row_sum.time(M=4, N=64, runs=n),
    lambda n: axe.ops.row_sum.simulate(M=4, N=64, target="sm_80", seed=n),
    lambda n: axe.ops.row_sum.simulate(M=4, N=64, target="sm_80", sms=n),
    lambda n: axe.ops.row_sum.simulate(M=4, N=64, target="sm_80", max_steps=n),
    lambda n: axe.Device(threads=n), lambda n: axe.Device(f"cuda:{n}"),
    lambda n: axe.Layout("(2) : (1)").draw(bits=n),
    lambda n: axe.Layout("(2) : (1)").svg(bits=n),
    lambda n: axe.move("(2) : (1@lane)", "(2) : (1@lane)", bits=n),
    lambda n: axe.convert("(2) : (1)", to="numpy", bits=n),
    lambda n: axe.evaluate("n + 1", {"n": n}), lambda n: axe.ops.row_sum.time(M=n, N=4),
    lambda n: axe.Layout.row_major(n), lambda n: axe.Layout("(2) : (1)")(n)])
def test_numbers_that_are_too_large(call):
    with pytest.raises(axe.Error, match=str(1 << 70) + "|64 bits|leaves int64"):
        call(1 << 70)


TWO = """kernel two(in f32 X[M], out f32 Y[M], out i32 Z[M]) {
    index m;
    cta (i : M by 64) { Y[i*64 + m] = -X[i*64 + m]; Z[i*64 + m] = i32(m); } }
kernel eps<EPS = 1e-5>(in f32 X[M], out f32 Y[M]) {
    index m; cta (i : M by 64) Y[i*64 + m] = X[i*64 + m] + EPS; }"""


def test_what_is_given_twice_or_by_halves():
    two, x = axe.kernel(TWO).two, np.ones(3, "f4")
    y, z = np.zeros(3, "f4"), np.zeros(3, "i4")
    with pytest.raises(axe.CallError, match="give all outputs or none, not Y alone"):
        two(x, Y=y)
    with pytest.raises(axe.CallError, match="Y is given twice, by name and by out="):
        two(x, Y=y, out=(y.copy(), z))
    assert two(x, Y=y, Z=z)[0] is y and y[0] == -1
    assert two(Z=z, X=-x, Y=y)[1] is z and y[0] == 1
    assert two(X=x, out=(y, z))[1] is z and y[0] == -1
    with pytest.raises(axe.ArgumentError, match="device='cuda' is no axe.Device"):
        two(x, device="cuda")
    with pytest.raises(axe.ArgumentError, match="device='cpu' is no axe.Device"):
        two.time(x, device="cpu")


def test_floats_and_names_where_calls_take_them():
    eps, x = axe.kernel(TWO).eps, np.zeros(3, "f4")
    for value in (1e-3, 2.0, 1e16, 1e-20, -0.5, np.float64(0.5)):
        assert eps(x, EPS=value)[0] == np.float32(value)
    with pytest.raises(axe.CallError, match="EPS is nan; a number or a text"):
        eps(x, EPS=float("nan"))
    assert eps.explain(X=x) == eps.explain(x) and "M = 3" in eps.explain(X=x)
    assert eps.source(None, x) == eps.source(X=x)
    with pytest.raises(axe.CallError, match="X is given twice"):
        eps.explain(x, X=x)
    with pytest.raises(axe.CallError, match="first argument is the name of a machine"):
        eps.source(x)


def test_copies():
    import copy
    import pickle
    m, x = axe.kernel(TWO), np.zeros(3, "f4")
    k = m.eps.with_(EPS="0.5", M=3)
    for other in (copy.copy(k), copy.deepcopy(k), pickle.loads(pickle.dumps(k))):
        assert repr(other) == repr(k) and other(x)[0] == 0.5
    assert list(pickle.loads(pickle.dumps(m))) == ["two", "eps"]


def test_dimensions_of_one_and_dlpack_that_is_read():
    two, x = axe.kernel(TWO).two, np.arange(3, dtype="f4")
    gemm = axe.ops.gemm
    row = np.lib.stride_tricks.as_strided(x, (1, 3), (5, 4))
    assert gemm(row, row)[0, 0] == 5

    class Exports:
        def __init__(self, of):
            self.of = of

        def __dlpack__(self, **options):
            return self.of.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.of.__dlpack_device__()

    y, z = np.zeros(3, "f4"), np.zeros(3, "i4")
    two(Exports(x), out=(Exports(y), z))
    assert y[2] == -2
    y.flags.writeable = False
    try:
        y.__dlpack__(max_version=(1, 1))
    except (BufferError, TypeError):
        pytest.skip("a NumPy that exports no read-only array")
    with pytest.raises(axe.ArgumentError, match="Y is written, but .* read-only"):
        two(x, out=(Exports(y), z))


def test_warnings_are_told_once_where_the_call_is_and_apart_from_errors():
    """Not again by what loads the program, nor in front of an error of a call."""
    k = axe.kernel("""
kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N], in f32 unused[M]) {
    index m, n, k;
    cta (i : M by 8) C[i*8 + m, n] = sum[k](A[i*8 + m, k] * B[n, k]);
}""").k
    a, b, u = np.ones((8, 4), "f4"), np.ones((8, 4), "f4"), np.ones(8, "f4")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        k(a, b, u)
    texts = [str(w.message) for w in told]
    assert any("`unused` is never used" in t for t in texts), texts
    assert len(texts) == len(set(texts)), texts
    assert {w.filename for w in told} == {__file__}, told
    with warnings.catch_warnings(), pytest.raises(axe.ShapeError) as e:
        warnings.simplefilter("ignore")
        k(a, b[:, :3], u)
    assert "warning" not in str(e.value) and ": error: K is 4 from A" in str(e.value)
