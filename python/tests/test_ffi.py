"""The handler that XLA calls (python/src/ffi.c), called here as XLA would: frames by
ctypes as xla/ffi/api/c_api.h has them, so that it needs no JAX."""
import ctypes as c
import gc
import os
import re
import resource
import threading

import numpy as np
import pytest

import axe
from axe import _axe

INVALID, PRECONDITION, INTERNAL = 3, 9, 13
EXECUTE, PREPARE = 3, 1
PROCESS = 1234567


def struct(name, *fields):
    return type(name, (c.Structure,), {"_fields_": [
        ("bytes", c.c_size_t), ("more", c.c_void_p), *fields]})


Error = struct("Error", ("message", c.c_char_p), ("code", c.c_int))
Create = c.CFUNCTYPE(c.c_void_p, c.POINTER(Error))
Version = struct("Version", ("major", c.c_int), ("minor", c.c_int))
Api = struct("Api", ("version", Version), ("internal", c.c_void_p), ("create", Create))
Buffer = struct("Buffer", ("type", c.c_int), ("data", c.c_void_p), ("rank", c.c_int64),
                ("shape", c.POINTER(c.c_int64)))
Buffers = struct("Buffers", ("n", c.c_int64), ("kind", c.c_void_p),
                 ("buffer", c.POINTER(c.POINTER(Buffer))))


class Span(c.Structure):
    _fields_ = [("text", c.c_char_p), ("len", c.c_size_t)]


class Scalar(c.Structure):
    _fields_ = [("type", c.c_int), ("value", c.c_void_p)]


class Metadata(c.Structure):
    _fields_ = [("bytes", c.c_size_t), ("version", Version), ("traits", c.c_uint32)]


class Extension(c.Structure):
    _fields_ = [("bytes", c.c_size_t), ("type", c.c_int), ("next", c.c_void_p),
                ("metadata", c.POINTER(Metadata))]


Attrs = struct("Attrs", ("n", c.c_int64), ("kind", c.POINTER(c.c_int)),
               ("name", c.POINTER(c.POINTER(Span))), ("value", c.POINTER(c.c_void_p)))
Frame = struct("Frame", ("api", c.POINTER(Api)), ("context", c.c_void_p),
               ("stage", c.c_int), ("args", Buffers), ("results", Buffers),
               ("attrs", Attrs))

pointer_of = c.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = c.c_void_p, (c.py_object, c.c_char_p)
said = threading.local()


@Create
def create(error):
    said.error = error.contents.code, error.contents.message.decode()
    return 1


api = Api(c.sizeof(Api), None, Version(c.sizeof(Version), None, 0, 7), None, create)


@pytest.fixture(autouse=True, scope="module")
def handler():
    capsule = _axe.jax_target(PROCESS)
    globals()["call"] = c.CFUNCTYPE(c.c_void_p, c.POINTER(Frame))(
        pointer_of(capsule, b"xla._CUSTOM_CALL_TARGET"))
    yield
    import sys
    if "axe.jax" in sys.modules:
        _axe.jax_target(sys.modules["axe.jax"]._process)


def buffers(arrays, keep):
    each = [Buffer(c.sizeof(Buffer), None, 0, x.ctypes.data, x.ndim,
                   (c.c_int64 * max(x.ndim, 1))(*x.shape)) for x in arrays]
    pointers = (c.POINTER(Buffer) * max(len(each), 1))(*map(c.pointer, each))
    keep += [each, pointers, arrays]
    return Buffers(c.sizeof(Buffers), None, len(each), None, pointers)


def attributes(pairs, keep):
    """Of (name, value, kind of attribute, type): an integer of 64 bits is (3, 5)."""
    names = [Span(n.encode(), len(n)) for n, *_ in pairs]
    numbers = [c.c_int64(v) for _, v, *_ in pairs]
    scalars = [Scalar(t, c.addressof(n)) for n, (*_, t) in zip(numbers, pairs)]
    n = len(pairs)
    out = Attrs(c.sizeof(Attrs), None, n, (c.c_int * n)(*(k for _, _, k, _ in pairs)),
                (c.POINTER(Span) * n)(*map(c.pointer, names)),
                (c.c_void_p * n)(*map(c.addressof, scalars)))
    keep += [names, numbers, scalars, out]
    return out


def attrs_of(row, process=PROCESS):
    return [("row", row, 3, 5), ("process", process, 3, 5)]


def frame(args, results, attrs, stage=EXECUTE, more=None):
    keep = []
    made = Frame(c.sizeof(Frame), more, c.pointer(api), None, stage, buffers(args, keep),
                 buffers(results, keep), attributes(attrs, keep))
    made.keep = keep
    return made


def run(args, results, attrs, **how):
    """None, or the code and text of the error."""
    made = frame(args, results, attrs, **how)
    said.error = None
    assert bool(call(c.byref(made))) == (said.error is not None)
    return said.error


k = axe.kernel("""
kernel less<type T = f32>(in T X[M, N], in T Z[M, N], out T Y[M, N]) {
    index m, n;
    cta (i : 1) Y[m, n] = X[m, n] - Z[m, n];
}
kernel times(in f32 X[M], in i32 n, out f32 Y[M]) {
    index m;
    global f32 S[M];
    cta (i : 1) S[m] = 0;
    for (t : n) cta (i : 1) S[m] = S[m] + X[m];
    cta (i : 1) Y[m] = S[m];
}
kernel ramp(in f32 a, out f32 Y[M], out i32 Z[M]) {
    index m;
    cta (i : 1) { Y[m] = a; Z[m] = i32(m); }
}""")


def bind(kernel, *arrays, params=None, sizes=()):
    """The row of a kernel for inputs and outputs like these."""
    device = kernel._device_in_use()
    n = len(kernel._inputs)
    program = kernel.compile(tuple((p.name, x) for p, x in zip(kernel._inputs, arrays)),
                             device=device)
    if params is None:
        params = tuple(range(n)), tuple(range(n, len(kernel.params)))
    return _axe.jax_bind(_axe.Exec(program, device), *params, sizes)


def two(*shape, dtype="f4"):
    r = np.random.default_rng(3)
    return [(9 * r.standard_normal(shape)).astype(dtype) for _ in "xz"]


# ------------------------------------------------------------------------ calls


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1"])
def test_buffers(dtype):
    x, z = two(3, 5, dtype=dtype)
    y = np.zeros_like(x)
    row = bind(k.less, x, z)
    for _ in range(2):
        assert run([x, z], [y], attrs_of(row)) is None
        np.testing.assert_array_equal(y, x - z)
        x, z, y = z.copy(), x.copy(), np.zeros_like(x)  # others, of the same shapes
    assert run([x, z], [y], attrs_of(row)[::-1]) is None


def test_attributes():
    """They are found by their whole names, and are integers of 64 bits."""
    x, z = two(3, 5)
    y, row = np.zeros_like(x), bind(k.less, x, z)
    names = [("ro", 7, 3, 5), ("rows", 7, 3, 5), ("proc", 7, 3, 5), ("row_", 7, 3, 5),
             ("xrow", 7, 3, 5)]
    assert run([x, z], [y], names + attrs_of(row)) is None
    np.testing.assert_array_equal(y, x - z)
    first = bind(k.less, x, z)
    for attrs in ([], attrs_of(row)[:1], attrs_of(row)[1:],
                  [("row", row, 3, 4), ("process", PROCESS, 3, 5)],
                  [("row", row, 1, 5), ("process", PROCESS, 3, 5)],
                  [("row", row, 3, 5), ("process", PROCESS, 2, 5)],
                  attrs_of(row, PROCESS + 1), attrs_of(row, row), attrs_of(-1),
                  attrs_of(first + 1), attrs_of(1 << 40), attrs_of(-1 << 40)):
        y[:] = 5
        code, text = run([x, z], [y], attrs)
        assert code == PRECONDITION and "compiled by another process" in text
        assert (y == 5).all()


def test_metadata():
    """XLA asks first which version this is; nothing runs then."""
    found = Metadata(c.sizeof(Metadata), Version(c.sizeof(Version), None, -1, -1), 77)
    last = Extension(c.sizeof(Extension), 1, None, c.pointer(found))
    first = Extension(c.sizeof(Extension), 2, c.addressof(last), None)
    assert run([], [], attrs_of(-1), more=c.addressof(first)) is None
    assert (found.version.major, found.version.minor, found.traits) == (0, 7, 0)


def test_other_stages():
    x, z = two(3, 5)
    y = np.full_like(x, 5)
    for stage in (0, PREPARE, 2):
        assert run([x, z], [y], attrs_of(bind(k.less, x, z)), stage=stage) is None
        assert (y == 5).all()


def test_numbers_of_buffers():
    x, z = two(3, 5)
    y, row = np.full_like(x, 5), bind(k.less, x, z)
    for args, results in (([x], [y]), ([x, z, z], [y]), ([x, z], []), ([x, z], [y, y])):
        code, text = run(args, results, attrs_of(row))
        assert code == INTERNAL and "not the buffers that were traced" in text
    assert (y == 5).all()


def test_which_is_which():
    """Parameters in any order, among them those that are not looked at."""
    x, z = two(3, 5)
    y = np.zeros_like(x)
    for params, args in (((1, -1, 0), [z, y, x]), ((1, 0, -1), [z, x, y])):
        y[:] = 5
        row = bind(k.less, x, z, params=(params, (2,)))
        assert run(args, [y], attrs_of(row)) is None
        assert run(args, [y], attrs_of(row)) is None
        np.testing.assert_array_equal(y, x - z)
    a, i = np.zeros(4, "f4"), np.zeros(4, "i4")
    row = bind(k.ramp, params=((0,), (2, 1)), sizes=(("M", 4),))
    assert run([np.array(2.5, "f4")], [i, a], attrs_of(row)) is None
    assert (a == 2.5).all() and list(i) == [0, 1, 2, 3]


def test_shapes_of_buffers():
    """A call is for the shapes that come with it, whatever was there before."""
    row = bind(k.less, *two(3, 5))
    for shape in ((3, 5), (6, 5), (6, 5), (3, 9), (3, 5), (1, 1)):
        x, z = two(*shape)
        y = np.zeros_like(x)
        assert run([x, z], [y], attrs_of(row)) is None
        np.testing.assert_array_equal(y, x - z)
    x, z = two(2, 3, 5)
    y = np.full_like(x, 5)  # (3, 5, 0) begins as (3, 5)
    for args, result, what in (([x, z], y, "X has 2 dimensions"),
                               ([x[0], z[0]], y, "Y has 2 dimensions"),
                               ([x[0], z[0, 0]], y[0], "Z has 2 dimensions"),
                               ([x[:1, 0, :].repeat(3, 0), z[0, :3, :0]], y[0], "Z"),
                               ([x[0, :, :, None][..., :0], z[0]], y[0], "X has 2"),
                               ([x[0], z[0]], y[0, :2], "M is 3 from X .* but 2 from Y")):
        code, text = run(args, [result], attrs_of(row))
        assert code == INVALID and re.search(what, text), text
        assert (y == 5).all()
        x2, z2 = two(3, 5)
        y2 = np.zeros_like(x2)
        assert run([x2, z2], [y2], attrs_of(row)) is None
        np.testing.assert_array_equal(y2, x2 - z2)


def test_errors():
    x = np.ones(5, "f4")
    y, row = np.zeros_like(x), bind(k.times, x, np.array(1, "i4"))
    for n in (3, 1, 7, 7):  # a size that follows from a number changes
        assert run([x, np.array(n, "i4")], [y], attrs_of(row)) is None
        np.testing.assert_allclose(y, n * x)
    for _ in range(2):
        code, text = run([x, np.array(-1, "i4")], [y], attrs_of(row))
        assert code == INVALID and "n is -1" in text
    assert run([x, np.array(2, "i4")], [y], attrs_of(row)) is None
    np.testing.assert_allclose(y, 2 * x)
    code, text = run([x, np.array(2, "i4")], [np.zeros(6, "f4")], attrs_of(
        bind(k.times, x, np.array(1, "i4"))))
    assert code == INVALID and "M is 5 from X" in text
    code, text = run([x, np.array(2, "i4")], [x], attrs_of(
        bind(k.times, x, np.array(1, "i4"))))
    assert code == INVALID and "overlaps" in text


def test_what_cannot_be_bound():
    x, z = two(3, 5)
    with pytest.raises(axe.ArgumentError, match="at most 32 arrays"):
        bind(k.less, x, z, params=(tuple(range(33)), ()))
    with pytest.raises(axe.ArgumentError, match="at most 32 arrays"):
        bind(k.less, x, z, params=((0,), tuple(range(33))))
    with pytest.raises(axe.RangeError, match="size M does not fit"):
        bind(k.less, x, z, sizes=(("M", 1 << 70),))
    with pytest.raises(TypeError):
        bind(k.less, x, z, params=(("a",), ()))


def test_in_the_child_of_a_fork():
    """None of XLA's threads, and none of the device's, are there."""
    x, z = two(3, 5)
    y, row = np.zeros_like(x), bind(k.less, x, z)
    assert run([x, z], [y], attrs_of(row)) is None
    made = frame([x, z], [y], attrs_of(row))
    child = os.fork()
    if child == 0:
        said.error = None
        call(c.byref(made))
        os._exit(0 if said.error and said.error[0] == PRECONDITION
                 and "in a child of the process" in said.error[1] else 1)
    assert os.waitpid(child, 0)[1] == 0


# ----------------------------------------------------------- threads and memory


def test_threads():
    """Calls of one row take turns, as they share what is between its statements."""
    sample = np.ones(50000, "f4"), np.array(3, "i4")
    row, wrong, done = bind(k.times, *sample), [], []

    def work(seed):
        r = np.random.default_rng(seed)
        x = r.integers(-9, 9, 50000).astype("f4")
        y, want = np.zeros_like(x), 3 * x
        made = frame([x, sample[1]], [y], attrs_of(row))
        for i in range(200):
            y[:] = seed
            if call(c.byref(made)) or not (y == want).all():
                wrong.append((seed, i))
        done.append(seed)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == [] and len(done) == 4


@pytest.mark.parametrize("case", ["the same", "another size", "an error"])
def test_memory_is_constant(case):
    x, y = np.ones(5, "f4"), np.zeros(5, "f4")
    row = bind(k.times, x, np.array(1, "i4"))
    frames = [frame([x, np.array(n, "i4")], [y], attrs_of(row)) for n in {
        "the same": (2,), "another size": (2, 3), "an error": (-1,)}[case]]

    def calls(n):
        for _ in range(n):
            for made in frames:
                call(c.byref(made))
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = calls(2000)
    assert calls(20000) - before < 2048


def test_what_is_bound_lives():
    """By the row alone, when nobody else has the program any more."""
    x, z = two(3, 5)
    y, rows = np.zeros_like(x), []
    for _ in range(200):
        rows.append(bind(k.less, x, z))
        k._kernels["less"]._forget_all()
    gc.collect()
    for row in rows[::20] + rows[-1:]:
        assert run([x, z], [y], attrs_of(row)) is None
        np.testing.assert_array_equal(y, x - z)
