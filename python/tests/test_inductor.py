"""torch.compile by its usual backend, which writes C++ around the operators."""
import shutil

import pytest

import axe

torch = pytest.importorskip("torch")
import axe.torch

if not any(map(shutil.which, ("g++", "clang++", "c++"))):
    pytest.skip("no C++ compiler", allow_module_level=True)

random = torch.Generator().manual_seed(1)
k = axe.kernel("""
kernel square(in f32 X[M, N], in f32 a, out f32 Y[M, N]) {
    index m, n;
    cta (i : M by 8) Y[i*8 + m, n] = a * X[i*8 + m, n] * X[i*8 + m, n];
}
kernel square_backward(in f32 X[M, N], in f32 a, in f32 dY[M, N], out f32 dX[M, N]) {
    index m, n;
    cta (i : M by 8) dX[i*8 + m, n] = 2 * a * X[i*8 + m, n] * dY[i*8 + m, n];
}
kernel add_to(in f32 X[M, N], inout f32 Y[M, N]) {
    index m, n;
    cta (i : M by 8) Y[i*8 + m, n] = Y[i*8 + m, n] + X[i*8 + m, n];
}""")
softmax = axe.torch.op("axe_inductor::softmax", axe.ops.softmax)
layernorm = axe.torch.op("axe_inductor::layernorm", axe.ops.layernorm)
gemm = axe.torch.op("axe_inductor::gemm", axe.ops.gemm)
square = axe.torch.op("axe_inductor::square", k.square, backward=k.square_backward)
add_to = axe.torch.op("axe_inductor::add_to", k.add_to)


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """What Inductor has compiled before is no part of the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))
        patch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
        torch._dynamo.reset()
        yield


def randn(*shape):
    return torch.randn(*shape, generator=random)


def compiled(f, *args, **how):
    """The result, and the C++ of Inductor."""
    from torch._inductor.utils import run_and_get_code
    found, texts = run_and_get_code(torch.compile(f, fullgraph=True, **how), *args)
    return found, "\n".join(texts)


def test_a_block_of_a_model():
    """The library's kernels among PyTorch's own operations, in one graph."""
    w, g, b = randn(24, 16), randn(24), randn(24)

    def block(x):
        y = torch.relu(gemm(x * 2, w)) + 1
        return softmax(layernorm(y.contiguous(), g, b)).sum(0)

    x = randn(10, 16)
    y, text = compiled(block, x)
    want = torch.relu(2 * x @ w.T) + 1
    want = torch.nn.functional.layer_norm(want, (24,), g, b).softmax(1).sum(0)
    torch.testing.assert_close(y, want, rtol=1e-4, atol=1e-4)
    for name in ("softmax", "layernorm", "gemm"):
        assert f"torch.ops.axe_inductor.{name}.default" in text
    assert "cpp_fused" in text


def test_sizes_that_vary():
    f = torch.compile(lambda x: softmax(x + 1) * 3, fullgraph=True, dynamic=True)
    torch._dynamo.config.error_on_recompile = True
    try:
        for shape in ((3, 5), (8, 7), (20, 33)):
            x = randn(*shape)
            torch.testing.assert_close(f(x), 3 * (x + 1).softmax(1))
    finally:
        torch._dynamo.config.error_on_recompile = False


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[::2, 1:], lambda x: x[:, :1]])
def test_orders(view):
    """Inductor chooses strides of what it makes; the operator takes any."""
    x, w = view(randn(12, 16)), randn(9, 7)
    y, _ = compiled(lambda x: (gemm(x.sin(), x.cos()) + 1).T, x)
    torch.testing.assert_close(y, (x.sin() @ x.cos().T + 1).T, rtol=1e-4, atol=1e-4)


def test_updates():
    """What is updated is seen by what comes behind, not by what came before."""
    def f(x, y):
        before = y * 2
        add_to(x, y)
        return before + y * 3

    x, y = randn(4, 5), randn(4, 5)
    was = y.clone()
    z, _ = compiled(f, x, y)
    torch.testing.assert_close(y, was + x)
    torch.testing.assert_close(z, 2 * was + 3 * (was + x))


def test_gradients():
    def f(x):
        return (square(x.sin(), 2.0) + x).sum()

    x = randn(4, 5).requires_grad_()
    torch.compile(f, fullgraph=True)(x).backward()
    d = x.detach()
    torch.testing.assert_close(x.grad, 4 * d.sin() * d.cos() + 1)
