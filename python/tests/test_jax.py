"""JAX: its arrays in calls, kernels as its functions."""
import numpy as np
import pytest

import axe

jax = pytest.importorskip("jax")
import axe.jax
import jax.numpy as jnp

k = axe.kernel("""
kernel twice<type T = f32>(in T X[M, N], out T Y[M, N]) {
    index m, n;
    cta (i : M by 8) Y[i*8 + m, n] = T(2) * X[i*8 + m, n];
}
kernel square(in f32 X[M], in f32 a, in i32 k, out f32 Y[M]) {
    index m;
    cta (i : M by 64) Y[i*64 + m] = a * X[i*64 + m] * X[i*64 + m] + f32(k);
}
kernel square_backward(in f32 X[M], in f32 a, in f32 dY[M], out f32 dX[M]) {
    index m;
    cta (i : M by 64) dX[i*64 + m] = 2 * a * X[i*64 + m] * dY[i*64 + m];
}
kernel add_to(in f32 X[M], inout f32 Y[M], out f16 Z[M]) {
    index m;
    cta (i : M by 64) {
        Y[i*64 + m] = Y[i*64 + m] + X[i*64 + m];
        Z[i*64 + m] = f16(X[i*64 + m]);
    }
}
kernel pair(in f32 X[M], in i32 I[M], out f32 Y[M], out f32 Z[M]) {
    index m;
    cta (i : M by 64) {
        Y[i*64 + m] = 2 * X[i*64 + m];
        Z[i*64 + m] = 3 * X[i*64 + m] + f32(I[i*64 + m]);
    }
}
kernel pair_backward(in f32 dY[M], in f32 dZ[M], out f32 dX[M]) {
    index m;
    cta (i : M by 64) dX[i*64 + m] = 2 * dY[i*64 + m] + 3 * dZ[i*64 + m];
}
kernel product(in f32 X[M], in f32 Y[M], out f32 P[M]) {
    index m;
    cta (i : M by 64) P[i*64 + m] = X[i*64 + m] * Y[i*64 + m];
}
kernel product_backward(in f32 Y[M], in f32 dP[M], in f32 X[M], out f32 dY[M], out f32 dX[M]) {
    index m;
    cta (i : M by 64) {
        dX[i*64 + m] = dP[i*64 + m] * Y[i*64 + m];
        dY[i*64 + m] = dP[i*64 + m] * X[i*64 + m];
    }
}
kernel times(in f32 X[M], in i32 n, out f32 Y[M]) {
    index m;
    global f32 S[M];
    cta (i : 1) S[m] = 0;
    for (t : n) cta (i : 1) S[m] = S[m] + X[m];
    cta (i : 1) Y[m] = S[m];
}""")
rng = np.random.default_rng(1)
twice = axe.jax.function(k.twice)
square = axe.jax.function(k.square, backward=k.square_backward)
twice(jnp.ones((1, 1), "f4"))  # the first row of ffi.c, for test_many_rows


def random(*shape, dtype="f4"):
    return jnp.asarray(rng.standard_normal(shape).astype("f4")).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "int8",
                                   "uint8", "uint16"])
def test_types(dtype):
    x = jnp.arange(35).reshape(5, 7).astype(dtype)
    for f in (k.twice, twice, jax.jit(twice)):
        y = f(x)
        assert y.dtype == x.dtype and isinstance(y, jax.Array)
        np.testing.assert_array_equal(y.astype("f4"), 2 * x.astype("f4"))


def test_under_jit():
    a, b = random(20, 30), random(10, 30)
    gemm = axe.jax.function(axe.ops.gemm)
    f = jax.jit(lambda a, b: gemm(a + 1, b).T)
    np.testing.assert_allclose(f(a, b), ((a + 1) @ b.T).T, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(f(a[:7], b), ((a[:7] + 1) @ b.T).T, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(jax.jit(lambda x: twice(x.T))(a), 2 * a.T)
    assert twice(random(0, 4)).shape == (0, 4)


def test_what_is_updated():
    add_to = axe.jax.function(k.add_to)
    x, y = random(9), random(9)
    was = np.array(y)
    for f in (add_to, jax.jit(add_to)):
        new, z = f(x, y)
        np.testing.assert_array_equal(new, x + was)
        np.testing.assert_array_equal(z, x.astype("f2"))
        np.testing.assert_array_equal(y, was)


def test_numbers():
    x = random(9)
    times = axe.jax.function(k.times)
    for n in (3, 1, 0, 7):
        np.testing.assert_allclose(times(x, n), n * x, rtol=1e-5, atol=1e-6)
    f = jax.jit(times)
    for n in (3, 1, 0, 7):  # traced once: the call finds that sizes have changed
        np.testing.assert_allclose(f(x, jnp.int32(n)), n * x, rtol=1e-5, atol=1e-6)
    with pytest.raises(Exception, match="n is -1"):
        jax.block_until_ready(f(x, jnp.int32(-1)))


def test_gradients():
    x = random(9)
    np.testing.assert_allclose(square(x, 2.0, 1), 2 * x * x + 1, rtol=1e-6)
    for g in (jax.grad(lambda x: square(x, 2.0, 1).sum()),
              jax.jit(jax.grad(lambda x: square(x, jnp.float32(2), 1).sum()))):
        np.testing.assert_allclose(g(x), 4 * x, rtol=1e-6)
    pair = axe.jax.function(k.pair, backward=k.pair_backward)
    i = jnp.arange(9, dtype="int32")
    y, back = jax.vjp(pair, x, i)
    np.testing.assert_allclose(y[1], 3 * x + i, rtol=1e-6)
    dx, di = back((x, 2 * x))
    np.testing.assert_allclose(dx, 8 * x, rtol=1e-6)
    assert di.dtype == jax.dtypes.float0 and di.shape == (9,)
    y = random(9)
    _, back = jax.vjp(axe.jax.function(k.product, backward=k.product_backward), x, y)
    for got, want in zip(back(2 * x), (2 * x * y, 2 * x * x)):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    _, back = jax.vjp(lambda x, a: square(x, a, 1), x, jnp.float32(2))
    dx, da = back(jnp.ones(9))
    assert da.dtype == np.float32 and da == 0  # of what the kernel gives no gradient
    np.testing.assert_allclose(dx, 4 * x, rtol=1e-6)
    with pytest.raises(axe.CallError, match="none of what there is to read"):
        axe.jax.function(k.twice, backward=axe.kernel(
            "kernel b(inout f32 X[M, N], out f32 dX[M, N]) "
            "{ index m, n; cta (i : 1) dX[m, n] = X[m, n]; }"))
    with pytest.raises(axe.UnsupportedError, match="in place"):
        axe.jax.function(k.add_to, backward=k.twice)
    with pytest.raises(axe.CallError, match="none of what there is to read"):
        axe.jax.function(k.twice, backward=k.square_backward)


def test_numbers_become_elements():
    """Of the parameter's type, not of Python's or NumPy's."""
    x = random(9)
    np.testing.assert_allclose(square(x, 2, True), 2 * x * x + 1, rtol=1e-6)


def test_devices():
    x = random(4, 4)
    twice(x)
    one, two = axe.Device(threads=1), axe.Device(threads=1)
    rows = len(axe.jax._rows)
    for device in (one, two, one):
        with device:
            np.testing.assert_array_equal(twice(x), 2 * x)
    assert len(axe.jax._rows) == rows + 2


def test_sizes_that_are_given():
    """A size that no array has goes with the kernel."""
    f = axe.jax.function(axe.kernel("""
        kernel ramp(in f32 a, out f32 Y[M]) {
            index m;
            cta (i : M by 8) Y[i*8 + m] = a;
        }""").ramp.with_(M=5))
    np.testing.assert_array_equal(f(3.0), np.full(5, 3, "f4"))
    np.testing.assert_array_equal(jax.jit(f)(jnp.float32(4)), np.full(5, 4, "f4"))


def test_many_rows():
    """What was bound is found when the table of ffi.c has grown."""
    x = np.ones((200, 1), "f4")
    for n in range(2, 200):
        axe.jax._bound(k.twice, [(k.twice.params[0], x[:n])])
    for n in (1, 2, 63, 64, 65, 127, 128, 129, 199):
        np.testing.assert_array_equal(twice(x[:n]), 2 * x[:n])


def test_vmap():
    x = random(3, 5, 7)
    np.testing.assert_array_equal(jax.vmap(twice)(x), 2 * x)
    unrolled = axe.jax.function(k.twice, vmap_method="sequential_unrolled")
    np.testing.assert_array_equal(jax.vmap(unrolled)(x), 2 * x)
    np.testing.assert_allclose(
        jax.vmap(jax.grad(lambda x: square(x, 2.0, 1).sum()))(x[0]), 4 * x[0], rtol=1e-6)


def test_other_methods_of_vmap():
    """Kernels have a fixed rank: with "expand_dims" the batch was a dimension more, of
    which the call that was there already saw the first element alone."""
    for method in ("expand_dims", "broadcast_all", "legacy_vectorized", "no"):
        with pytest.raises(axe.ArgumentError, match="as many dimensions as they say"):
            axe.jax.function(k.square, vmap_method=method)
    f = axe.jax.function(k.square, backward=k.square_backward, vmap_method=None)
    x = random(3, 9)
    with pytest.raises(Exception, match="vmap"):
        jax.vmap(lambda x: f(x, 2.0, 1))(x)
    _, back = jax.vjp(lambda x: f(x, 2.0, 1), x[0])
    with pytest.raises(Exception, match="vmap"):
        jax.vmap(back)(x)


def test_kernels_of_one_name():
    def of(n):
        return axe.jax.function(axe.kernel(
            "kernel same(in f32 X[M], out f32 Y[M]) "
            f"{{ index m; cta (i : M by 64) Y[i*64 + m] = {n} * X[i*64 + m]; }}"))

    x = random(9)
    for n in (2, 3, 2):
        np.testing.assert_allclose(of(n)(x), n * x, rtol=1e-6)


def test_what_is_bound_once():
    """By one of the threads that trace the same call."""
    import threading
    import time
    f = axe.jax.function(axe.kernel("kernel once(in f32 X[M], out f32 Y[M]) "
                                    "{ index m; cta (i : 1) Y[m] = X[m]; }"))
    bound, bind = [], axe.jax._bind

    def slow(*args):
        bound.append(1)
        time.sleep(0.05)
        return bind(*args)

    device = axe.Device(threads=1)

    def work():
        with device:
            f(jnp.ones(7))

    axe.jax._bind = slow
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        axe.jax._bind = bind
    assert len(bound) == 1


def test_on_a_gpu(monkeypatch):
    """XLA has no handler there."""
    from types import SimpleNamespace
    monkeypatch.setattr(k.twice, "_device_in_use", lambda: SimpleNamespace(threads=0))
    with pytest.raises(axe.UnsupportedError, match="on the CPU alone"):
        twice(random(4, 4))


def test_refusals():
    gemm = axe.jax.function(axe.ops.gemm)
    with pytest.raises(axe.ShapeError, match="K is 30 from A .* but 7 from B"):
        jax.jit(gemm)(random(20, 30), random(10, 7))
    with pytest.raises(axe.CallError, match="takes 2 arrays .A, B., 1 are given"):
        gemm(random(2, 2))
    with pytest.raises(axe.CallError, match="give one of them"):
        axe.jax.function(k)
    with pytest.raises(axe.ShapeError, match="X has 2 dimensions"):
        twice(2.0)
    assert twice.__name__ == "twice" and "Y" in twice.__doc__


def test_another_process():
    """A computation that another process has traced is refused, not run."""
    import axe._axe as c
    x = random(4, 4)
    f = jax.jit(twice)
    f(x)
    try:
        c.jax_target(axe.jax._process + 1)
        with pytest.raises(Exception, match="compiled by another process"):
            jax.block_until_ready(f(x))
    finally:
        c.jax_target(axe.jax._process)
    np.testing.assert_array_equal(f(x), 2 * x)


def test_threads():
    import threading
    wrong = []

    def work(seed):
        f = jax.jit(twice)
        for i in range(50):
            x = jnp.full((seed + 1, 33), i, "f4")
            if not np.array_equal(f(x), 2 * np.asarray(x)):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
