"""Calls from several threads, and in children of forks."""
import multiprocessing
import os
import threading

import numpy as np
import pytest

import axe
from kernels import random, twice


@pytest.mark.all_threads
@pytest.mark.parametrize("own", [False, True])
def test_threads(own):
    """Right results from eight threads, on one device and on their own."""
    wrong, done = [], []

    def work(seed):
        r = np.random.default_rng(seed)
        device = axe.Device(threads=1) if own else None
        for i in range(40):
            a = r.standard_normal((20 + seed, 33)).astype("f4")
            b = r.standard_normal((10 + i % 3, 33)).astype("f4")
            c = axe.ops.gemm(a, b, device=device) if own else axe.ops.gemm(a, b)
            if not np.allclose(c, a @ b.T, atol=1e-4):
                wrong.append((seed, i))
        done.append(seed)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == [] and len(done) == 8


def test_the_library_is_read_by_several_threads(monkeypatch):
    """One saw that another had begun to list the kernels, and found no gemm there."""
    seen = []

    def opens(*args, **keywords):
        seen.append(len(axe.ops._files))
        return open(*args, **keywords)

    monkeypatch.setattr(axe.ops, "open", opens, raising=False)
    monkeypatch.setattr(axe.ops, "_files", {})
    assert "gemm" in axe.ops._index() and len(seen) > 3 and set(seen) == {0}


def test_the_lock_is_released():
    """Another thread of Python runs while a kernel does."""
    x = random(4096, 1024)
    done, counted = threading.Event(), [0]

    def count():
        while not done.is_set():
            counted[0] += 1

    t = threading.Thread(target=count)
    t.start()
    for _ in range(5):
        axe.ops.softmax(x)
    done.set()
    t.join()
    assert counted[0] > 1000


def _in_child(q):
    x = np.ones((3, 3), "f4")
    q.put(float(twice(x).sum() + twice(x, out=np.empty_like(x)).sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("busy", [False, True])
def test_fork(busy):
    """A child of a fork calls kernels, even while its parent was in one."""
    twice(np.ones((3, 3), "f4"))
    context = multiprocessing.get_context("fork")
    done = threading.Event()

    def keep_busy():
        x = random(512, 512)
        while not done.is_set():
            twice(x)

    threads = [threading.Thread(target=keep_busy) for _ in range(2 * busy)]
    for t in threads:
        t.start()
    try:
        for _ in range(3):
            q = context.Queue()
            p = context.Process(target=_in_child, args=(q,))
            p.start()
            assert q.get(timeout=60) == 36
            p.join(60)
            assert p.exitcode == 0
    finally:
        done.set()
        for t in threads:
            t.join()
    np.testing.assert_array_equal(twice(np.ones((1, 1), "f4")), [[2]])
