"""Kernels timed, checked, simulated and tuned."""
import json
import os
import signal
import stat
import sys
import threading

import numpy as np
import pytest

import axe

TEXT = """kernel scaled<type T = f32>(in T X[M], in T a, out T Y[M]) {
    index m;
    cta (i : M by 8) Y[i*8 + m] = a * X[i*8 + m];
}
kernel times(in f32 X[M], out f32 Y[M]) {
    index m;
    cta (i : M by 8) Y[i*8 + m] = 3.5 * X[i*8 + m];
}
kernel times_all(in f32 X[M, N], out f32 Y[M, N]) {
    index m, n;
    cta (i : M by 8) Y[i*8 + m, n] = 3.5 * X[i*8 + m, n];
}
kernel add_to(in f32 X[M], inout f32 Y[M]) {
    index m;
    cta (i : M by 8) Y[i*8 + m] = Y[i*8 + m] + X[i*8 + m];
}"""
m = axe.kernel(TEXT)


# ----------------------------------------------------------------------- time


def test_time():
    a, b = np.ones((64, 16), "f4"), np.ones((32, 16), "f4")
    t = axe.ops.gemm.time(a, b, runs=7)
    assert len(t.seconds) == 7 and t.seconds == tuple(sorted(t.seconds))
    assert t.flops == 2 * 64 * 32 * 16
    assert t.bytes == 4 * (64 * 16 + 32 * 16 + 64 * 32)
    assert 0 < t.least <= t.median and t.spread >= 0
    assert t.flops_per_s == t.flops / t.median
    assert t.device == "cpu, 1 thread" and "GFLOP/s" in str(t)
    assert "GFLOP/s" not in str(axe.ops.softmax.time(M=4, N=8, runs=1))


def test_time_by_sizes_and_constants():
    t = axe.ops.gemm.time(M=8, N=4, K=2, T="f64", BM=96, runs=1)
    assert t.bytes == 8 * (8 * 2 + 4 * 2 + 8 * 4)
    assert axe.ops.gemm.time(M=0, N=4, K=2, runs=1).flops == 0
    with pytest.raises(axe.ArgumentError, match="give K=512"):
        axe.ops.gemm.time(M=8, N=4)


def test_a_budget_and_runs():
    assert len(m.times.time(M=8, budget=0).seconds) == 5
    for wrong in ({"runs": -1}, {"runs": 1001}, {"budget": -1.0},
                  {"budget": float("nan")}):
        with pytest.raises(axe.ArgumentError, match="0 to 1000|a budget is in"):
            m.times.time(M=8, **wrong)


def test_only_out_is_written():
    x, y = np.ones(9, "f4"), np.ones(9, "f4")
    t = m.add_to.time(x, y, runs=3)
    assert t.bytes == 3 * 4 * 9
    assert m.add_to.check(x, y).ok
    assert m.add_to.simulate(x, y).outputs[0].tolist() == [2] * 9
    np.testing.assert_array_equal(y, np.ones(9))
    out = np.zeros(9, "f4")
    m.times.time(x, out=out, runs=1)
    np.testing.assert_array_equal(out, np.full(9, 3.5))
    out[:] = 0
    out.flags.writeable = False
    for method in (m.times.time, m.times.check, m.times.simulate):
        with pytest.raises(axe.ArgumentError, match="Y is written"):
            method(x, out=out)


def test_numbers():
    x = np.arange(9, dtype="f4")
    s = m.scaled.simulate(x, 0.5)
    np.testing.assert_array_equal(s.outputs[0], x / 2)
    assert m.scaled.check(x, a=2).ok
    assert m.scaled.time(x, 2, runs=1).bytes == 2 * 9 * 4 + 4
    with pytest.raises(axe.CallError, match="give a, which is a number"):
        m.scaled.time(M=8)
    with pytest.raises(axe.CallError, match="a is given twice"):
        m.scaled.check(x, 2, a=2)
    with pytest.raises(axe.CallError, match="takes 2 arrays, 3"):
        m.scaled.check(x, 2, 3)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_an_interrupt_ends_it():
    x = np.ones((512, 512), "f4")
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            axe.ops.gemm.time(x, x, budget=30.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    np.testing.assert_allclose(axe.ops.gemm(x, x)[0, 0], 512)


# ---------------------------------------------------------------------- check


def test_check():
    c = axe.ops.gemm.check(M=20, N=30, K=40)
    assert c and c.ok and len(c.outputs) == 1
    d = c.outputs[0]
    assert d.name == "C" and d.n == 600 and d.verdict == "ok"
    assert 0 < d.max_share < 1 and len(d.worst) == 2
    assert str(c).startswith("check C: ok, 600 elements")
    assert [d.name for d in axe.ops.topk.check(M=3, N=40, W=64).outputs] == ["Y", "J"]
    assert axe.ops.gemm.check(np.ones((3, 8), "f2"), np.ones((8, 4), "f2").T).ok
    assert axe.ops.softmax.check(M=0, N=3).outputs[0].worst is None


def test_what_is_wrong_is_found(tmp_path):
    """By a C compiler that reads 3.75 where the kernel's text has 3.5; that of the
    reference has it in f64."""
    cc = tmp_path / "gcc"
    cc.write_text("#!/bin/sh\nfor a; do case $a in *.c) "
                  "sed -i 's/(f32)(0x1\\.cp/(f32)(0x1.ep/g' \"$a\";; esac; done\n"
                  "PATH=${PATH#*:} exec gcc \"$@\"\n")
    cc.chmod(cc.stat().st_mode | stat.S_IXUSR)
    with axe.Device(threads=1, cc=str(cc), cache=str(tmp_path / "cache")):
        c = m.times.check(np.array([0, 1, 2, 0], "f4"))
        x = np.zeros((3, 5), "f4")
        x[1, 4] = 1
        assert m.times_all.check(x).outputs[0].worst == (1, 4)
    d = c.outputs[0]
    assert not c and d.verdict == "WRONG" and d.n_wrong == 2
    assert (d.worst, d.want, d.got) in (((1,), 3.5, 3.75), ((2,), 7, 7.5))
    assert "2 wrong, worst Y[" in str(c)
    assert m.times.check(np.array([0, 1, 2, 0], "f4"))


# ------------------------------------------------------------------- simulate


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_simulate(target):
    r = np.random.default_rng(1)
    a, b = (r.integers(-2, 3, (n, 64)).astype("f2") for n in (64, 72))
    s = axe.ops.gemm.simulate(a, b, target=target)
    np.testing.assert_array_equal(s.outputs[0], a.astype("f4") @ b.T)
    assert s and s.ok and s.report["findings"] == []
    assert s.report["products"] >= 64 * 72 * 64 and s.report["atoms"]
    assert "seconds" not in s.report and "warp instructions" in str(s)


def test_simulated_orders():
    a = np.ones((64, 64), "f2")
    for policy in ("lazy", "eager", "random"):
        s = axe.ops.gemm.simulate(a, a, policy=policy, seed=7, sms=2)
        assert s and (s.outputs[0] == 64).all() and s.timeline is None
    with pytest.raises(axe.ArgumentError, match="'random', 'behind' or 'ahead', not 'late'"):
        axe.ops.gemm.simulate(a, a, policy="late")
    with pytest.raises(axe.ArgumentError, match="cluster"):
        axe.ops.gemm.simulate(a, a, policy="behind", cluster=-2)


def test_simulated_on_trainium():
    r = np.random.default_rng(3)
    a, b = (r.integers(-2, 3, (n, 192)).astype("f2") for n in (130, 72))
    assert "nki" in axe.ops.gemm.source("trn1", a, b)
    s = axe.ops.gemm.simulate(a, b, target="trn1")
    np.testing.assert_array_equal(s.outputs[0], a.astype("f4") @ b.T)
    assert s and set(s.engines) == {"tensor", "vector", "scalar", "gpsimd", "dma"}
    assert s.report["instructions"] == sum(e.instructions for e in s.engines.values())
    assert list(s.seconds) == ["legacy", "doc"] and s.timeline is None
    for name, e in s.engines.items():
        for profile, total in s.seconds.items():
            assert 0 <= e.busy[profile] <= total
            assert (e.busy[profile] > 0) == (e.instructions > 0), (name, profile)
    assert s.seconds["legacy"] != s.seconds["doc"]
    assert s.engines["dma"].busy["legacy"] != s.engines["dma"].busy["doc"]
    assert str(s).startswith("profile legacy: ") and "profile doc: " in str(s)
    again = axe.ops.gemm.simulate(a, b, target="trn1", timeline=True)
    assert again.seconds == s.seconds and again.timeline.svg.startswith("<svg")
    more = axe.ops.gemm.simulate(np.tile(a, (2, 1)), b, target="trn1")
    assert more.engines["tensor"].instructions > s.engines["tensor"].instructions


def test_trainium_refuses():
    with pytest.raises(axe.UnsupportedError, match="B has no elements, and a kernel for trn1"):
        axe.ops.gemm.simulate(np.ones((4, 0), "f2"), np.ones((4, 0), "f2"), target="trn1")
    s = axe.ops.row_sum.simulate(M=4, N=64, target="sm_80")
    assert s.seconds == {} and s.engines == {}


# Blocks add to one element in the order of their turns.
MEET = """kernel meet(in f32 X[M], inout f32 S[1], out f32 Y[M]) {
    index m;
    global f32 H[M];
    overlap {
        cta (i : M) {
            S[0] += X[i];
            H[i] = 2 * X[i];
        }
        cta (i : M by 2) Y[i*2 + m] = H[i*2 + m];
    }
}"""


def test_clusters_behind_and_ahead():
    x, k = np.array([1e8, -1e8, 1], "f4"), axe.kernel(MEET).meet
    for policy, cluster, total in (("ahead", 0, 1), ("behind", 0, 0), ("behind", -1, 1),
                                   ("ahead", 2, 0)):
        s = k.simulate(x, np.zeros(1, "f4"), target="sm_90a", policy=policy, cluster=cluster,
                       sms=3)
        assert s and (s.outputs[1] == 2 * x).all()
        assert s.outputs[0][0] == total, (policy, cluster)


def test_timeline(tmp_path):
    t = axe.ops.row_sum.simulate(M=64, N=64, target="sm_80", timeline=True).timeline
    assert t.svg.startswith("<svg") and t._repr_svg_() == t.svg
    assert t.events["traceEvents"] and "events>" in repr(t)
    t.save(tmp_path / "t.svg")
    t.save(tmp_path / "t.json")
    assert (tmp_path / "t.svg").read_text() == t.svg
    assert json.loads((tmp_path / "t.json").read_text()) == t.events
    with pytest.raises(axe.ArgumentError, match="a name that ends in .svg"):
        t.save(tmp_path / "t.png")


def test_what_is_found():
    s = axe.ops.row_sum.simulate(M=4, N=64, max_steps=10)
    assert not s and not s.ok
    assert s.report["findings"][0]["kind"] == "deadlock"
    assert "1 wrong" in repr(s)
    with pytest.raises(axe.UnsupportedError, match="not compiled for a GPU"):
        axe.ops.row_sum.simulate(M=4, N=64, target="cpu")


# ----------------------------------------------------------------------- tune


TUNED = """kernel half<B = 8>(in f32 X[M], out f32 Y[M])
    tune B in {8, 64}
{
    index m;
    cta (i : M by B) Y[i*B + m] = 0.5 * X[i*B + m];
}"""


def test_tune(tmp_path, monkeypatch):
    k, db = axe.kernel(TUNED).half, str(tmp_path / "tuned.db")
    x, seen = np.ones(3000, "f4"), []
    monkeypatch.setenv("AXE_TUNED", db)
    k(x)  # without, so far
    t = k.tune(M=3000, budget=0.5, records=db, progress=lambda *a: seen.append(a))
    assert {tuple(e.values.items()) for e in t.tries} == {
        (("B", "8"),), (("B", "64"),)}
    assert t.n_measured == 2 and t.tries[0].seconds <= t.tries[1].seconds
    assert t.best == t.tries[0].values and t.speedup >= 1 and not t.stopped
    assert t.tries[t.default].values == {"B": "8"}
    assert t.machine == "cpu, 1 thread" and "M=" in t.sizes
    assert seen[-1][1:3] == (2, 2) and seen[-1][3] > 0
    assert "(default)" in str(t) and f"B={t.best['B']}" in repr(t)
    np.testing.assert_array_equal(t.kernel(x), x / 2)
    np.testing.assert_array_equal(t.kernel(x[:7]), x[:7] / 2)
    if t.records is None:
        pytest.skip("no SQLite")
    assert t.records == db
    np.testing.assert_array_equal(k(x), x / 2)
    (program, _), = k._execs.values()
    assert f"B={t.best['B']}, tuned on" in program.tuned


def test_sizes_beyond_any_memory():
    for do in (axe.ops.gemm.time, axe.ops.gemm.check):
        with pytest.raises(axe.ArgumentError, match="A: 4611686018427387904 x 4 el"):
            do(M=2**62, N=4, K=4)


def test_programs_are_kept_by_tuned_values(tmp_path, monkeypatch):
    monkeypatch.setenv("AXE_TUNED", str(tmp_path / "tuned.db"))
    k, x = axe.kernel(TUNED).half, np.ones(3200, "f4")
    if k.tune(M=3000, budget=0.3).records is None:
        pytest.skip("no SQLite")
    for n in [*range(1, 50), *range(2950, 3050)]:
        np.testing.assert_array_equal(k(x[:n]), x[:n] / 2)
    tuned = [program.tuned for program, _ in k._execs.values()]
    assert len(tuned) == 2 and None in tuned
    stages = []  # what a shape costs that is new, of sizes that were seen
    whole = axe._kernel._axe.compile
    monkeypatch.setattr(axe._kernel._axe, "compile",
                        lambda *args: stages.append(args[-1]) or whole(*args))
    for n in range(3050, 3060):
        np.testing.assert_array_equal(k(x[:n]), x[:n] / 2)
    assert stages == 10 * [axe._kernel.STAGES.index("ir")]


def test_tune_stops():
    k = axe.kernel(TUNED).half

    class Enough(Exception):
        pass

    def enough(*ignored):
        raise Enough

    with pytest.raises(Enough):
        k.tune(M=3000, records="", progress=enough)
    with pytest.raises(axe.ArgumentError, match="seconds, above 0"):
        k.tune(M=3000, budget=0)
    with pytest.raises(axe.ArgumentError, match="nothing to tune"):
        m.times.tune(M=3000, budget=1)


def test_an_interrupt_ends_a_search_with_what_is_known():
    def press(doing, planned, measured, best):
        if measured:
            signal.raise_signal(signal.SIGINT)

    k = axe.kernel(TUNED).half
    t = k.tune(M=3000, records="", budget=600, progress=press)
    assert t.stopped and t.n_measured > 0 and "interrupted" in str(t)
    with pytest.raises(KeyboardInterrupt):
        k.tune(M=3000, records="", budget=600,
               progress=lambda *ignored: signal.raise_signal(signal.SIGINT))


def test_tune_for_a_gpu():
    """Ranked by the model; nothing measured."""
    t = axe.ops.gemm_sm90.tune(M=512, N=512, K=512, BM=128, BN=128, STAGES=3,
                               CLUSTER=1, target="sm_90a", budget=1)
    assert t.machine == "sm_90a" and t.n_measured == 0 and len(t.tries) > 1
    assert t.speedup is None and t.tries[0].seconds is None
    assert t.tries[0].estimate > 0 and t.records is None and "model" in str(t)


def test_progress_on_a_terminal(monkeypatch):
    """A line, and nothing of it left; without a terminal nothing at all."""
    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    at = Terminal()
    monkeypatch.setattr(sys, "stderr", at)
    axe.kernel(TUNED).half.tune(M=3000, records="", budget=0.2)
    assert "half: " in at.text and at.text.endswith("\r\033[K")
    at.text = ""
    at.isatty = lambda: False
    axe.kernel(TUNED).half.tune(M=3000, records="", budget=0.2)
    assert at.text == ""


def test_threads():
    """All methods from several threads at once, on one device."""
    a = np.ones((32, 16), "f4")
    wrong = []

    def work():
        for _ in range(3):
            ok = (axe.ops.gemm.time(a, a, runs=2).flops == 2 * 32 * 32 * 16
                  and axe.ops.row_sum.simulate(M=4, N=8).ok)
            if not ok:
                wrong.append(os.getpid())

    axe.set_device(axe.Device(threads=1))
    threads = [threading.Thread(target=work) for _ in range(4)]
    threads.append(threading.Thread(target=lambda: axe.ops.gemm.check(a, a)))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_verdicts():
    from axe._measure import Difference
    for wrong, unbound, verdict in ((0, 2, "ok"), (0, 3, "unverifiable"), (1, 4, "WRONG")):
        d = Difference("Y", 4, wrong, unbound, 0, 0, 0, (0,), 0, 0, 0)
        assert d.verdict == verdict and verdict in str(d)


def test_seeds_make_other_numbers():
    k = axe.ops.row_sum
    a, b, c = (k.simulate(M=4, N=8, target="sm_80", seed=s).outputs[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
