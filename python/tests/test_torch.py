"""PyTorch: its tensors in calls, kernels as its operators."""
import numpy as np
import pytest

import axe

torch = pytest.importorskip("torch")
import axe.torch

TEXT = """
kernel twice<type T = f32>(in T X[M, N], out T Y[M, N]) {
    index m, n;
    cta (i : M by 8) Y[i*8 + m, n] = T(2) * X[i*8 + m, n];
}
kernel square<type T = f32>(in T X[M], in f32 a, in i32 k, out T Y[M]) {
    index m;
    cta (i : M by 64) Y[i*64 + m] = T(a) * X[i*64 + m] * X[i*64 + m] + T(k);
}
kernel square_backward<type T = f32>
    (in T X[M], in f32 a, in T dY[M], out T dX[M]) {
    index m;
    cta (i : M by 64)
        dX[i*64 + m] = T(2) * T(a) * X[i*64 + m] * dY[i*64 + m];
}
kernel add_to(in f32 X[M], inout f32 Y[M]) {
    index m;
    cta (i : M by 64) Y[i*64 + m] = Y[i*64 + m] + X[i*64 + m];
}
kernel halves(in f32 X[M, 4], out f16 L[4, M], out bool B[M]) {
    index m, n;
    cta (i : 1) { L[n, m] = f16(X[m, n]); B[m] = X[m, 0] > 0.0; }
}
kernel double_backward(in f32 X[M, N], in f32 Z[M, N], out f32 dX[M, N]) {
    index m, n;
    cta (i : 1) dX[m, n] = X[m, n] + Z[m, n];
}
kernel products<type T = f32>(in T X[M], in T Y[M], out T P[M], out T Q[M]) {
    index m;
    cta (i : M by 64) {
        P[i*64 + m] = X[i*64 + m] * Y[i*64 + m];
        Q[i*64 + m] = X[i*64 + m] * X[i*64 + m] * Y[i*64 + m];
    }
}
kernel products_backward<type T = f32>
    (in T Y[M], in T dQ[M], in T X[M], in T P[M], in T dP[M], out T dY[M], out T dX[M]) {
    index m;
    cta (i : M by 64) {
        dX[i*64 + m] = dP[i*64 + m] * Y[i*64 + m] + T(2) * P[i*64 + m] * dQ[i*64 + m];
        dY[i*64 + m] = (dP[i*64 + m] + X[i*64 + m] * dQ[i*64 + m]) * X[i*64 + m];
    }
}
kernel ramp(in f32 a, out f32 Y[M]) { index m; cta (i : 1) Y[m] = a * f32(m); }
kernel other_backward(in f32 dY[M, N], out f32 dZ[M, N]) {
    index m, n;
    cta (i : 1) dZ[m, n] = 2 * dY[m, n];
}
"""
k = axe.kernel(TEXT)
random = torch.Generator().manual_seed(1)


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=random).to(dtype)


# ------------------------------------------------------------------ in calls


@pytest.mark.parametrize("dtype", [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64,
    torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32])
def test_types(dtype):
    x = torch.arange(35).reshape(5, 7).to(dtype)
    y = k.twice(x)
    assert type(y) is torch.Tensor and y.dtype == dtype and y.is_contiguous()
    assert torch.equal(y.to(torch.float64), 2 * x.to(torch.float64))


@pytest.mark.parametrize("view", [
    lambda x: x.T, lambda x: x[::2, 1::3], lambda x: x[:1].expand(6, 8),
    lambda x: x[:, :0], lambda x: x[1:5, 2:6].T])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_orders(view, dtype):
    x = view(randn(6, 8, dtype=dtype))
    assert torch.equal(k.twice(x), 2 * x)
    out = torch.full((2 * x.shape[0] + 1, 3 * x.shape[1] + 1), 7, dtype=dtype)
    part = out[:2 * x.shape[0]:2, 1:1 + 3 * x.shape[1]:3]
    assert k.twice(x, out=part) is part
    assert torch.equal(part, 2 * x) and (out[1::2] == 7).all()


def test_nothing_is_copied():
    """What a kernel writes is in the memory that the tensor had, and others see."""
    x, y = randn(9), randn(9)
    want, address, array = x + y, y.data_ptr(), y.numpy()
    assert k.add_to(x, y) is y
    assert y.data_ptr() == address and torch.equal(y, want)
    np.testing.assert_array_equal(array, want.numpy())
    row = randn(3, 9).to(torch.bfloat16)
    assert axe._axe.look(row)[6] == row.data_ptr()
    assert axe._axe.look(row[1:])[6] == row[1:].data_ptr()
    made = k.twice(x[None])
    assert axe._axe.look(made)[6] == made.data_ptr()


def test_mixed_with_numpy():
    a, b = randn(20, 30), np.ones((10, 30), "f4")
    c = axe.ops.gemm(a, b)
    assert type(c) is torch.Tensor
    torch.testing.assert_close(c, a @ torch.from_numpy(b).T)
    assert type(axe.ops.gemm(b, a)) is np.ndarray


def test_refusals():
    with pytest.raises(axe.ArgumentError, match="use tensor.detach"):
        k.twice(randn(2, 2).requires_grad_())
    with pytest.raises(axe.Error):
        k.twice(randn(2, 2).to(torch.complex64))
    with pytest.raises(axe.Error):
        k.twice(randn(2, 2).to_sparse())
    negative = torch.randn(2, 2, dtype=torch.complex64, generator=random).conj().imag
    assert negative.is_neg()  # its memory has the numbers without their sign
    for do in (k.twice, k.twice, k.twice.time, lambda x: axe.kernel(TEXT).twice(x[:, 0:1])):
        with pytest.raises(axe.ArgumentError, match=r"negative bit .* x.resolve_neg"):
            do(negative)
    assert torch.equal(k.twice(negative.resolve_neg()), 2 * negative)
    plain = randn(2, 2)
    assert torch.equal(k.twice(plain), 2 * plain)
    with pytest.raises(axe.ArgumentError, match="negative bit"):
        k.twice(torch._neg_view(plain))  # a call that is known


def test_what_is_measured_is_a_copy():
    x, y = randn(9), randn(9)
    was = y.clone()
    assert k.add_to.check(x, y) and k.add_to.time(x, y, runs=3).median > 0
    assert torch.equal(y, was)


# -------------------------------------------------------------- as operators

twice = axe.torch.op("axe_test::twice", k.twice)
square = axe.torch.op("axe_test::square", k.square, backward=k.square_backward)


@pytest.mark.parametrize("x", [
    randn(5, 7), randn(7, 5).T, randn(9, 14)[::2, ::2], randn(1, 0),
    randn(5, 7, dtype=torch.bfloat16), randn(5, 7, dtype=torch.float64),
    torch.ones(3, 3, dtype=torch.int32)])
def test_opcheck(x):
    torch.library.opcheck(twice, (x,))
    assert torch.equal(torch.ops.axe_test.twice(x), 2 * x)


def test_opcheck_of_the_library():
    torch.library.opcheck(axe.torch.op("axe_test::gemm", axe.ops.gemm),
                          (randn(20, 30), randn(10, 30)))
    torch.library.opcheck(axe.torch.op("axe_test::topk", axe.ops.topk.with_(W=64)),
                          (randn(4, 64),))
    torch.library.opcheck(axe.torch.op("axe_test::row_sum", axe.ops.row_sum),
                          (randn(4, 64, dtype=torch.bfloat16),))


def test_schemas():
    """Numbers keep their kind: whole ones may be symbolic sizes."""
    m = axe.kernel("""
    kernel many(in f32 X[M], in i32 n, in bool b, in f32 a, out f32 Y[M]) {
        index m;
        cta (i : M by 64) Y[i*64 + m] = b ? a * X[i*64 + m] : f32(n);
    }""")
    many = axe.torch.op("axe_test::many", m.many)
    assert str(many._opoverload._schema) == (
        "axe_test::many(Tensor X, SymInt n, bool b, float a) -> Tensor")
    x = randn(5)
    assert torch.equal(many(x, 3, True, 2.0), 2 * x)
    assert torch.equal(many(x, 3, False, 2.0), torch.full((5,), 3.0))
    with pytest.raises(axe.ElementTypeError, match="X: there is no element type for "
                                                   "torch.complex64"):
        many(torch.empty(5, dtype=torch.complex64, device="meta"), 3, True, 2.0)


def test_sizes_that_are_given():
    """With the kernel, as no tensor has them."""
    ramp = axe.torch.op("axe_test::ramp", k.ramp.with_(M=4))
    torch.library.opcheck(ramp, (2.0,))
    assert ramp(2.0).tolist() == [0, 2, 4, 6]


def test_on_the_device_of_the_tensors():
    made = twice(torch.empty(3, 4, dtype=torch.bfloat16, device="meta"))
    assert (made.device.type, made.shape, made.dtype) == ("meta", (3, 4), torch.bfloat16)


def test_sizes_that_data_says():
    """While they are traced they have not even a likely value."""
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        f = torch.compile(lambda x: twice(x.nonzero().float()), fullgraph=True,
                          backend="aot_eager")
        for x in (torch.tensor([0, 1, 1]), torch.tensor([1, 1, 1, 0, 2])):
            assert torch.equal(f(x), 2 * x.nonzero().float())


def test_several_results():
    halves = axe.torch.op("axe_test::halves", k.halves)
    x = randn(5, 4)
    torch.library.opcheck(halves, (x,))
    l, b = torch.compile(halves, fullgraph=True, backend="aot_eager")(x)
    assert torch.equal(l, x.T.half()) and torch.equal(b, x[:, 0] > 0)


def test_updates():
    add_to = axe.torch.op("axe_test::add_to", k.add_to)
    torch.library.opcheck(add_to, (randn(9), randn(9)))

    def f(x, y):
        z = y + 1
        add_to(x, z)
        return 2 * z

    x, y = randn(9), randn(9)
    was = y.clone()
    f = torch.compile(f, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(f(x, y), 2 * (x + y + 1))
    assert torch.equal(y, was)
    with pytest.raises(axe.UnsupportedError, match="writes Y in place"):
        axe.torch.op("axe_test::no", k.add_to, backward=k.twice)


@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(dynamic):
    """One graph, and with dynamic sizes one for all of them."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph

    f = torch.compile(lambda x: twice(x + 1).sum(1), fullgraph=True,
                      dynamic=dynamic, backend=backend)
    for shape in ((3, 4), (8, 9), (5, 11)):
        x = randn(*shape)
        torch.testing.assert_close(f(x), (2 * (x + 1)).sum(1))
    assert len(graphs) == (1 if dynamic else 3)


def test_export():
    class Model(torch.nn.Module):
        def forward(self, x):
            return twice(x) + 1

    sizes = {"x": {0: torch.export.Dim("m", min=2, max=64)}}
    program = torch.export.export(Model(), (randn(4, 5),), dynamic_shapes=sizes)
    assert "axe_test.twice" in str(program.graph)
    made = next(n.meta["val"] for n in program.graph.nodes
                if "axe_test.twice" in str(n.target))
    assert isinstance(made.shape[0], torch.SymInt) and made.shape[1] == 5
    x = randn(9, 5)
    torch.testing.assert_close(program.module()(x), 2 * x + 1)


def test_shapes_that_do_not_fit_are_refused_while_tracing():
    gemm = axe.torch.op("axe_test::gemm", axe.ops.gemm)
    with pytest.raises(Exception, match="K is 30 from A .* but 7 from B"):
        torch.compile(gemm, fullgraph=True, backend="eager")(randn(20, 30), randn(10, 7))
    with pytest.raises(RuntimeError):
        gemm(randn(2, 2))


# ------------------------------------------------------------------ gradients


def test_gradients():
    x = randn(9, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: square(x, 1.5, 3), (x,))
    torch.library.opcheck(square, (x.detach().float().requires_grad_(), 1.5, 3))
    y = square(x, 2.0, 1)
    assert torch.equal(y, 2 * x * x + 1)
    y.sum().backward()  # whose gradient has strides of 0
    assert torch.equal(x.grad, 4 * x)


def test_gradients_of_several():
    """Each value of its name, in whatever order the kernels have them."""
    products = axe.torch.op("axe_test::products", k.products, backward=k.products_backward)
    x, y = (randn(9, dtype=torch.float64).requires_grad_() for _ in "xy")
    assert torch.autograd.gradcheck(products, (x, y))
    torch.library.opcheck(products, tuple(
        v.detach().float().requires_grad_() for v in (x, y)))
    p, q = products(x, y)
    (p + 3 * q).sum().backward()
    x0, y0 = x.detach(), y.detach()
    torch.testing.assert_close(x.grad, y0 + 6 * x0 * y0)
    torch.testing.assert_close(y.grad, x0 + 3 * x0 * x0)


def test_gradients_compiled():
    f = torch.compile(lambda x: square(x + 1, 1.0, 0).sum(), fullgraph=True,
                      backend="aot_eager")
    x = randn(9).requires_grad_()
    f(x).backward()
    torch.testing.assert_close(x.grad, 2 * (x.detach() + 1))


def test_without_a_backward_kernel_there_are_no_gradients():
    y = twice(randn(2, 2).requires_grad_())
    with pytest.raises(RuntimeError, match="register_autograd"):
        y.sum().backward()


def test_kernels_that_are_no_backward():
    with pytest.raises(axe.CallError, match="double_backward: Z is none of what there "
                                            "is to read: X, Y, dY"):
        axe.torch.op("axe_test::no", k.twice, backward=k.double_backward)
    with pytest.raises(axe.CallError, match="dZ is the gradient of no input; those "
                                            "are X"):
        axe.torch.op("axe_test::no", k.twice, backward=k.other_backward)
    with pytest.raises(axe.CallError, match="give one of them"):
        axe.torch.op("axe_test::no", k)


def test_after_an_array_of_numpy():
    """A call on a tensor is not that on an array of the same shape."""
    k = axe.kernel("kernel id(in f32 X[M], out f32 Y[M]) "
                   "{ index m; cta (i : M by 8) Y[i*8 + m] = X[i*8 + m]; }").id
    t = torch.arange(5, dtype=torch.float32)
    for _ in range(2):
        assert isinstance(k(t.numpy()), np.ndarray)
        assert torch.equal(k(t), t) and isinstance(k(t), torch.Tensor)
    with pytest.raises(axe.ArgumentError, match="DLPack"):
        k(t.clone().requires_grad_())
