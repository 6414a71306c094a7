"""Calls on arrays of a GPU, which tests/fake plays: a driver that says what it was
asked to do, arrays of a CuPy and a PyTorch that have no more than a call needs.

test_gpu.py runs this file by itself, as the driver is chosen once in a process."""
import ctypes
import os
import sys
import types

import numpy as np
import pytest

import axe

driver = ctypes.CDLL(os.environ["AXE_CUDA"])
driver.fake_log.restype = ctypes.c_char_p
driver.fake_stream.restype = ctypes.c_void_p
driver.fake_value.restype = ctypes.c_longlong
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = ctypes.py_object, ctypes.c_char_p

CUDA = 2  # as DLPack numbers devices
SCALE = """kernel scale(in f32 X[M, N], in f32 a, out f32 Y[M, N]) {
    index m, n;
    cta (i : M by 4) Y[i*4 + m, n] = a * X[i*4 + m, n];
}
kernel bump(inout f32 X[M]) { index m; cta (i : M by 64) X[i*64 + m] = X[i*64 + m] + 1.0; }
kernel both(in f32 X[M], in f32 Z[M], out f32 Y[M]) {
    index m;
    cta (i : M by 64) Y[i*64 + m] = X[i*64 + m] + Z[i*64 + m];
}"""
m = axe.kernel(SCALE)


class Array:
    """Memory that a GPU is said to have."""

    number = 0

    def __init__(self, x):
        self.x, self.asked = np.asarray(x), []

    def __dlpack_device__(self):
        return CUDA, self.number

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        return self.capsule()

    def capsule(self):
        made = self.x.__dlpack__()
        tensor = capsule_pointer(made, b"dltensor")
        ctypes.c_int32.from_address(tensor + 8).value = CUDA
        ctypes.c_int32.from_address(tensor + 12).value = self.number
        return made

    @property
    def address(self):
        return self.x.ctypes.data


def framework(name, **more):
    """A module of that name, with a class of arrays."""
    made = types.ModuleType(name)
    made.Array = type("Array", (Array,), {"__module__": name})
    vars(made).update(more)
    sys.modules[name] = made
    return made


cupy = framework("cupy", made=[], cuda=types.SimpleNamespace(
    get_current_stream=lambda: types.SimpleNamespace(ptr=cupy.stream)))
cupy.empty = lambda shape, dtype: cupy.made.append(
    cupy.Array(np.full(shape, 9, dtype))) or cupy.made[-1]
torch = framework(
    "torch", strided=object(), float32="f4", cuda=types.SimpleNamespace(
        current_stream=lambda number: types.SimpleNamespace(
            cuda_stream=torch.stream + number)))
torch.Tensor = torch.Array
torch.Tensor.is_cpu = torch.Tensor.requires_grad = False
torch.Tensor.is_cuda = True
torch.Tensor.layout = torch.strided
torch.Tensor.device = "cuda:0"
torch.Tensor.is_conj = torch.Tensor.is_neg = lambda self: False
torch.utils = types.SimpleNamespace(dlpack=types.SimpleNamespace(
    to_dlpack=lambda x: x.capsule()))
torch.empty = lambda shape, dtype, device: {"cuda:0": torch.Tensor}[device](
    np.full(shape, 9, dtype))


@pytest.fixture(autouse=True)
def quiet():
    """Each test is alone with the driver, which is never waited for."""
    driver.fake_clear()
    cupy.stream, torch.stream, cupy.made[:] = 0x5000, 0x7000, []
    os.environ.pop("FAKE_FAIL", None)
    yield
    os.environ.pop("FAKE_FAIL", None)
    assert driver.fake_waits() == 0 and driver.fake_copies() == 0
    assert driver.fake_depth() == 0


def launches():
    return driver.fake_log().decode().count("launch ")


def values(n):
    return [driver.fake_value(i) for i in range(n)]


def ones(*shape, of=None):
    return (of or cupy).Array(np.ones(shape, "f4"))


# ------------------------------------------------------------- what is launched


@pytest.mark.parametrize("of", [cupy, torch])
def test_on_the_current_stream(of):
    """Whichever that is when the call is made, though all else is kept of calls."""
    x = ones(8, 12, of=of)
    for n, stream in enumerate((0x1230, 0x4560, 0, 0x1230)):
        of.stream = stream
        y = m.scale(x, 2.0)
        assert driver.fake_stream() == (stream or None) and launches() == n + 1
    assert type(y) is of.Array and y.x.shape == (8, 12)
    assert (x.x == 1).all() and (y.x == 9).all()  # the host touched nothing
    assert m.scale._known >= 1


@pytest.mark.parametrize("of", [cupy, torch])
def test_arguments_are_the_arrays(of):
    """Their addresses and extents, without a copy; the number by its value."""
    x, y = ones(8, 12, of=of), ones(8, 12, of=of)
    assert m.scale(x, 2.5, out=y) is y
    got = values(5)
    assert x.address in got and y.address in got
    assert got.index(x.address) < got.index(y.address)
    assert {8, 12} & set(got)
    m.scale(ones(5, 7, of=of), 2.5, out=ones(5, 7, of=of))
    assert not {x.address, y.address} & set(values(5))


def test_strides_are_the_arrays():
    whole = np.ones((16, 40), "f4")
    x, y = cupy.Array(whole[::2, :20]), ones(8, 20)
    m.scale(x, 2.0, out=y)
    got = values(8)
    assert x.address in got and y.address in got and 80 in got, got


def test_what_is_updated():
    x = ones(100)
    assert m.bump(x) is x and values(1)[0] == x.address and launches() == 1


def test_results_are_made_by_the_framework():
    y = m.scale(ones(8, 12), 2.0)
    assert cupy.made == [y] and y.address in values(5)
    assert type(m.scale(ones(8, 12, of=torch), 2.0)) is torch.Tensor


# --------------------------------------------------------- streams of producers


def test_no_wait_for_the_own_stream():
    """DLPack: -1 is no synchronisation, as the kernel runs on the stream itself."""
    x = ones(8, 12)
    m.scale(x, 2.0), m.scale(x, 2.0)
    assert set(x.asked) == {-1}
    t = ones(8, 12, of=torch)
    m.scale(t, 2.0), m.scale(t, 2.0)
    assert set(t.asked) <= {-1}


def test_others_work_on_the_default_stream():
    """Of whom no current stream is known: 1 is the default one's name in DLPack."""
    x, y = Array(np.ones((8, 12), "f4")), Array(np.ones((8, 12), "f4"))
    m.scale(x, 2.0, out=y)
    assert set(x.asked) == set(y.asked) == {1} and driver.fake_stream() is None
    with pytest.raises(axe.UnsupportedError, match="Array'> on a GPU can be made "
                                                   "for Y; give out="):
        m.scale(x, 2.0)


def test_arrays_of_two_frameworks():
    """The kernel's stream comes behind what the other one has started."""
    x, z = ones(100), ones(100, of=torch)
    for stream in (0x1230, 0):
        cupy.stream = stream
        del x.asked[:], z.asked[:]
        y = m.both(x, z)
        assert type(y) is cupy.Array and driver.fake_stream() == (stream or None)
        assert set(x.asked) == {-1} and z.asked[-1] == (stream or 1)
    other = Array(np.ones(100, "f4"))
    y = m.both(other, z)
    assert type(y) is torch.Tensor and driver.fake_stream() == 0x7000
    assert other.asked[-1] == 0x7000


# -------------------------------------------------------------------- refusals


def test_where_arrays_are():
    host, x = np.ones((8, 12), "f4"), ones(8, 12)
    one = type("One", (cupy.Array,), {"__module__": "cupy", "number": 1})
    for wrong in ((x, host), (x, one(host)), (host, x)):
        with pytest.raises(axe.ArgumentError, match="on several devices"):
            m.both(*(type(a)(a.x[0]) if isinstance(a, Array) else a[0] for a in wrong))
    with pytest.raises(axe.DeviceError, match="there is no GPU 1"):
        m.scale(one(host), 2.0)
    gpu = axe.Device("cuda")
    for call in (m.scale, m.scale.time):
        with pytest.raises(axe.ArgumentError, match="X is in the host's memory"):
            call(host, 2.0, device=gpu)
    with pytest.raises(axe.ArgumentError, match="on several devices"):
        m.scale(x, 2.0, out=host)
    for first in (x, host):
        with pytest.raises(axe.DeviceError, match=r"(?s)DLPack's type 2, not 1.*x.item"):
            m.scale(first, cupy.Array(np.array(2, "f4")))
    assert launches() == 0


def test_errors_of_the_driver():
    fresh = axe.kernel(SCALE.replace("scale", "other")).other
    x = ones(8, 12)
    os.environ["FAKE_FAIL"] = "ModuleLoadData:700"
    with pytest.raises(axe.DeviceError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        fresh(x, 2.0)
    assert launches() == 0 and fresh._known == 0
    del os.environ["FAKE_FAIL"]
    fresh(x, 2.0)
    os.environ["FAKE_FAIL"] = "LaunchKernel:2"
    for _ in range(2):
        with pytest.raises(axe.DeviceError, match="CUDA_ERROR_FAKE.*a text of the driver"):
            fresh(x, 2.0)
    del os.environ["FAKE_FAIL"]
    before = launches()
    fresh(x, 2.0)
    assert launches() == before + 1


def test_a_wait_says_what_has_failed():
    gpu = axe.Device("cuda")
    os.environ["FAKE_FAIL"] = "StreamSynchronize:700"
    with pytest.raises(axe.DeviceError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        gpu.wait(0x5000)
    assert driver.fake_waits() == 1  # which is what counts them
    driver.fake_clear()
