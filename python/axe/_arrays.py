"""How arrays of each framework are made, by the framework of a call's arguments.

NumPy, PyTorch and the others are looked up when a call has arrays of theirs, so
that ``import axe`` imports none of them.
"""
from __future__ import annotations

import functools
import math
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _axe
from ._errors import ArgumentError, ElementTypeError

Alloc = Callable[[], Any]
Stream = Callable[[Tuple[Any, ...], Any], int]  # of the arguments and out=
CPU = 1  # as DLPack numbers kinds of devices
ON_GPUS = ("torch", "cupy")  # who makes arrays there, and says on which stream

# Element types of axe by their names in NumPy, ml_dtypes and PyTorch.
_NUMPY: Dict[str, str] = {
    "f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64",
    "i32": "int32", "i16": "int16", "i8": "int8", "u64": "uint64",
    "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool_",
}
_ML_DTYPES: Dict[str, str] = {
    "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0fnu",
}
_TORCH: Dict[str, str] = {**_NUMPY, **_ML_DTYPES, "bool": "bool"}


@functools.lru_cache(maxsize=None)
def numpy_dtype(type: str) -> Any:
    """NumPy's dtype of an element type; bf16 and f8 by ml_dtypes."""
    import numpy as np

    if type in _NUMPY:
        return np.dtype(getattr(np, _NUMPY[type]))
    if type not in _ML_DTYPES:
        raise ElementTypeError(f"NumPy has no arrays of {type}")
    try:
        import ml_dtypes
    except ImportError:
        raise ElementTypeError(
            f"NumPy has no arrays of {type} by itself; pip install ml_dtypes, or "
            f"give out= an array") from None
    return np.dtype(getattr(ml_dtypes, _ML_DTYPES[type]))


_exported: List[str] = []


def _torch_capsule() -> Callable[[Any], Any]:
    """``Tensor.__dlpack__`` for tensors that it needs not ask much of: strided,
    without gradients.  Its questions cost ten times the capsule.  It waits for no
    stream, as those of a GPU are used on PyTorch's."""
    torch = sys.modules["torch"]
    capsule, strided = torch.utils.dlpack.to_dlpack, torch.strided

    def of(x: Any) -> Any:
        if ((x.is_cpu or x.is_cuda) and not x.requires_grad and x.layout is strided
                and not x.is_conj() and not x.is_neg()):
            return capsule(x)
        _check_signs(x)
        return None

    return of


def _check_signs(x: Any) -> None:
    """PyTorch exports such a tensor's memory as if it had no such bit."""
    if x.is_neg():
        raise ArgumentError("a tensor with its negative bit set, whose memory has the "
                            "numbers without their signs; x.resolve_neg() is a copy with "
                            "them")


def look(x: Any) -> Tuple[str, Tuple[int, ...], Tuple[int, ...], int, int, bool,
                          Optional[int]]:
    """(type, shape, strides, device, number of it, read-only?, address) of an array;
    of a number, whose address is None, the type is "int" or "float", or NumPy's."""
    ma = sys.modules.get("numpy.ma")
    if ma is not None and isinstance(x, ma.MaskedArray):
        raise ArgumentError("a masked array's mask would not be looked at; "
                            "x.filled(0) has a number for each masked element, x.data "
                            "the array without its mask")
    if framework(x) == "torch" and hasattr(x, "is_neg"):
        _check_signs(x)
    return _axe.look(x)


def framework(x: Any) -> str:
    """"numpy", "torch", "jax" or "cupy": who makes the results of a call."""
    name = type(x).__module__.partition(".")[0]
    if name == "torch" and not _exported:
        _exported.append(name)
        _axe.set_exporter(sys.modules["torch"].Tensor, _torch_capsule())
    return {"torch": "torch", "jax": "jax", "jaxlib": "jax",
            "cupy": "cupy"}.get(name, "numpy")


def maker_of(arrays: Sequence[Any], on_gpu: bool) -> Tuple[str, Any]:
    """The framework that makes the results of a call on these, and what they are
    like: of the first array, on a GPU of the first whose framework can."""
    found = [(framework(x), x) for x in arrays] or [("numpy", None)]
    return next((f for f in found if not on_gpu or f[0] in ON_GPUS), found[0])


def maker(who: str, like: Any, type: str, shape: Tuple[int, ...]) -> Alloc:
    """What makes an array without values, again and again."""
    if who == "torch":
        torch = sys.modules["torch"]
        if type not in _TORCH or not hasattr(torch, _TORCH[type]):
            raise ElementTypeError(f"PyTorch has no tensors of {type}")
        return functools.partial(torch.empty, shape,
                                 dtype=getattr(torch, _TORCH[type]),
                                 device=like.device)
    if who == "cupy":
        return functools.partial(sys.modules["cupy"].empty, shape,
                                 numpy_dtype(type))
    import numpy as np

    return functools.partial(np.empty, shape, numpy_dtype(type))


def check_size(name: str, shape: Tuple[int, ...]) -> None:
    """Arrays that no memory holds are refused here, not in words of NumPy's."""
    if math.prod(shape) >= 2**48:
        raise ArgumentError(f"{name}: {' x '.join(map(str, shape))} elements are more "
                            "than any memory holds; give smaller sizes")


def random(who: str, like: Any, type: str, shape: Tuple[int, ...],
           seed: int) -> Any:
    """Numbers of the type: floats normal(0, 1), integers small, bools either."""
    import numpy as np

    dtype = numpy_dtype(type)
    r = np.random.default_rng(seed)
    if type == "bool":
        x = r.integers(0, 2, shape).astype(dtype)
    elif type[0] in "iu":
        x = r.integers(0 if type[0] == "u" else -4, 5, shape).astype(dtype)
    else:
        x = r.standard_normal(shape, "f4").astype(dtype)
    if who == "numpy":
        return x
    out = maker(who, like, type, shape)()
    if who == "torch":
        out.copy_(sys.modules["torch"].from_numpy(x.astype("f4"))
                  if type in _ML_DTYPES else sys.modules["torch"].from_numpy(x))
    else:
        out[...] = sys.modules[who].asarray(x)
    return out


def copy(x: Any) -> Any:
    """The same numbers in memory of their own."""
    if framework(x) == "torch":
        return x.clone()
    return x.copy()


def wrapper(who: str) -> Optional[Callable[[Any], Any]]:
    """What makes a result of such an array; None: it is one."""
    if who != "jax":
        return None
    # Aliased where the memory is aligned as JAX wants it, else copied by JAX.
    return functools.partial(sys.modules["jax"].numpy.asarray)


def stream_of(who: str, number: int, given: Sequence[Any]) -> Optional[Stream]:
    """Says on which stream of a GPU the framework works now; arrays of others come
    to it behind what was started on theirs.  None: the default stream."""
    if who == "torch":
        torch = sys.modules["torch"]
        now: Callable[[], int] = lambda: torch.cuda.current_stream(number).cuda_stream
    elif who == "cupy":
        cupy = sys.modules["cupy"]
        now = lambda: cupy.cuda.get_current_stream().ptr
    else:
        return None
    others = [i for i, x in enumerate(given)
              if framework(x) != who and hasattr(x, "__dlpack__")]
    if not others:
        return lambda args, out: now()

    def behind(args: Tuple[Any, ...], out: Any) -> int:
        stream = now()
        all = (*args, *(out if isinstance(out, tuple) else (out,)))
        for i in others:
            all[i].__dlpack__(stream=stream or 1)  # 1: DLPack's name of the default
        return stream

    return behind


def order(shape: Sequence[int], strides: Sequence[int]) -> str:
    """"C", "F" or "strided"; dims of one step do not tell."""
    if 0 in shape:
        return "C"
    for name, dims in (("C", range(len(shape) - 1, -1, -1)),
                       ("F", range(len(shape)))):
        step = 1
        for d in dims:
            if shape[d] != 1 and strides[d] != step:
                break
            step *= shape[d]
        else:
            return name
    return "strided"


def gpu_number(looks: Any) -> int:
    """Of the first that is on a GPU, which one; 0."""
    return next((l[4] for l in looks if l[3] != CPU), 0)
