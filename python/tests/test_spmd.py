"""Kernels over a mesh: on ranks with what each has, from one process with whole
arrays; what is refused on all ranks, and what ends all of them."""
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import axe

M = axe.kernel("""
mesh gpu[P];
kernel rows(in f32 X[M @ gpu, N], out f32 Y[M, N]) { index m, n; Y[m, n] = 2 * X[m, n]; }
kernel product(in f32 A[M, K @ gpu], in f32 B[N, K @ gpu], out f32 C[M @ gpu, N])
{ index m, n, k; C[m, n] = sum[k](A[m, k] * B[n, k]); }
kernel add<type T = f32>(in T X[M @ gpu], in T a, inout T Y[M @ gpu]) { index m; Y[m] += a * X[m]; }
kernel sums(in f32 X[M] : partial(gpu), out f32 Y[M @ gpu], out f32 Z[M])
{ index m; Y[m] = X[m]; Z[m] = X[m]; }
kernel iota(in i32 k, out i32 Y[M @ gpu]) { index m; Y[m] = i32(m) + k; }
""", "m.axe")
TWO = axe.kernel("mesh a[A], b[B]; kernel swap(in f32 X[M @ a, N @ b], out f32 Y[M @ b, N @ a])"
                 "{ index m, n; Y[m, n] = X[m, n]; }")


def part(n, size, rank):
    """A block of n."""
    each = -(-n // size)
    return slice(min(rank * each, n), min((rank + 1) * each, n))


# ------------------------------------------------------------------------ ranks


@pytest.mark.parametrize("n", [1, 2, 4])
def test_ranks(n):
    def f(world, a, *, b):
        world.barrier()
        assert world.gather({"rank": world.rank}) == [{"rank": r} for r in range(world.size)]
        return world.rank, world.size, world.engine, a + b + offset

    offset = 100
    assert axe.spmd(n)(f, 1, b=10) == [(r, n, "shm", 111) for r in range(n)]
    assert axe.spmd(n)(lambda world: np.full(300000, world.rank))[n - 1][-1] == n - 1


def test_caller_is_rank_0():
    seen = []
    pids = axe.spmd(3)(lambda world: seen.append(world.rank) or os.getpid())
    assert seen == [0] and pids[0] == os.getpid() and len(set(pids)) == 3
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_alone():
    """Without a launcher one rank is what there is."""
    assert axe.spmd()(lambda world: world.size) == [1]
    assert repr(axe.spmd(2)) == "axe.spmd(2)"


def test_from_a_thread():
    found = []
    t = threading.Thread(target=lambda: found.append(axe.spmd(2)(
        lambda world: M.iota(7, M=5).tolist())))
    t.start()
    t.join()
    assert found == [[[7, 8, 9], [10, 11]]]


# ----------------------------------------------------------------------- kernels


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_local_arrays(n):
    r = np.random.default_rng(n)
    a, b = (r.integers(-4, 5, s).astype("f4") for s in ((10, 7), (6, 7)))

    def f(world):
        mine = part(7, world.size, world.rank)
        c = M.product(a[:, mine], b[:, mine])  # which are no rows: copied
        again = M.product(A=a[:, mine] + 1, B=b[:, mine])
        mine = part(10, world.size, world.rank)
        y = np.ones_like(c[:, 0])
        assert M.add(c[:, 0].copy(), 3, y) is y
        return c, again, M.rows(a[mine]), y

    found = axe.spmd(n)(f)
    want = a @ b.T
    np.testing.assert_array_equal(np.concatenate([x[0] for x in found]), want)
    np.testing.assert_array_equal(np.concatenate([x[1] for x in found]), (a + 1) @ b.T)
    np.testing.assert_array_equal(np.concatenate([x[3] for x in found]), 1 + 3 * want[:, 0])
    for x in found:
        np.testing.assert_array_equal(x[2], 2 * a)


def test_out_and_addends():
    def f(world):
        y, z = np.zeros(3 - world.rank, "f4"), np.zeros(5, "f4")
        got = M.sums(np.full(5, world.rank + 1, "f4"), out=(y, z))
        assert got[0] is y and got[1] is z
        return y.tolist(), z.tolist(), M.rows.with_(P=2)(np.ones((0, 3), "f4")).shape

    assert axe.spmd(2)(f) == [([3] * 3, [3] * 5, (0, 3)), ([3] * 2, [3] * 5, (0, 3))]


def test_types():
    def f(world):
        return [M.add(np.ones(2, t), 2, np.ones(2, t)).tolist() for t in ("f8", "i4", "f4")]

    assert axe.spmd(2)(f) == [[[3, 3]] * 3] * 2


@pytest.mark.parametrize("n", [1, 2, 3])
def test_whole_arrays(n):
    r = np.random.default_rng(n)
    a, b = (r.integers(-4, 5, s).astype("f4") for s in ((10, 7), (6, 7)))
    np.testing.assert_array_equal(M.product(a, b, P=n), a @ b.T)
    np.testing.assert_array_equal(M.product(a.T.copy().T, b, P=n), a @ b.T)
    x, y = np.arange(9, dtype="f4"), np.ones(9, "f4")
    M.add(x, 0.5, y, P=n)
    np.testing.assert_array_equal(y, 1 + x / 2)
    np.testing.assert_array_equal(TWO.swap(a, A=2, B=n), a)
    assert M.iota(3, M=4, P=n).tolist() == [3, 4, 5, 6]


def test_what_it_is():
    assert isinstance(M.product, axe.MeshKernel) and M.product.mesh == {"gpu": "P"}
    assert isinstance(TWO.swap.with_(A=2), axe.MeshKernel)
    assert not isinstance(axe.ops.gemm, axe.MeshKernel)
    assert "all-gather" in M.rows.explain(M=64, N=8, P=2) or "between" in M.rows.explain()


def test_torch():
    torch = pytest.importorskip("torch")

    def f(world):
        y = M.rows(torch.ones(2, 3))
        return type(y).__name__, float(y.sum())

    assert axe.spmd(2)(f) == [("Tensor", 24.0)] * 2
    assert M.product(torch.ones(4, 6), torch.ones(2, 6), P=2).tolist() == [[6, 6]] * 4


# ----------------------------------------------------------------------- layouts


class PartitionSpec(tuple):
    """As JAX's prints and is walked through."""


class Shard:
    def __init__(self, dim=None):
        self.dim = dim

    def is_shard(self):
        return self.dim is not None

    def is_partial(self):
        return False


@pytest.mark.parametrize("layout, shape", [
    ("4@gpu, 3", ()), (PartitionSpec(("gpu", None)), ()), (PartitionSpec(("gpu",)), (4, 3)),
    ([Shard(0)], ()), (axe.Layout.row_major(4, 3), None)])
def test_layouts(layout, shape):
    def f(world):
        if shape is None:  # a layout without devices is what each has of all
            return M.product(axe.Local(np.ones((4, 3), "f4")), np.ones((4, 3), "f4")).shape
        return M.rows(axe.Local(np.ones((2, 3), "f4"), layout, shape=shape)).shape

    assert axe.spmd(2)(f) == [(4, 3)] * 2 if shape is not None else [(2, 4)] * 2


@pytest.mark.parametrize("local, says", [
    (lambda r: axe.Local(np.ones((4, 3), "f4"), "4, 3"),
     r"X is given as 4, 3 and declared as 4@gpu, 3: device 0 has index 2 of dimension 0"),
    (lambda r: axe.Local(np.ones((4, 2), "f4"), PartitionSpec((None, "gpu")), shape=(4, 4)),
     r"X is given as P\(None, 'gpu'\) and declared as 4@gpu, 4: device 0 has index 2 of "
     "dimension 0 by what is given alone"),
    (lambda r: axe.Local(np.ones((4, 2), "f4"), [Shard(1)], shape=(4, 4)),
     r"X is given as \[S\(1\)\] and declared as 4@gpu, 4"),
    (lambda r: np.ones((2 + 2 * r, 3), "f4"),
     r"X \(dimension 0\) is 2 on device 0, where 6@gpu, 3, as it is declared, has 3; devices "
     "have 2, 4"),
    (lambda r: np.ones((2, 3 + r), "f4"),
     r"X \(dimension 1\) is 4 on device 1, where 4@gpu, 3, as it is declared, has 3"),
])
def test_refused_on_all(local, says):
    """And all go on."""
    def f(world):
        with pytest.raises(axe.ShapeError, match=says):
            M.rows(local(world.rank))
        return float(M.rows(np.ones((2, 2), "f4")).sum())

    assert axe.spmd(2)(f) == [16.0, 16.0]


def test_one_rank_is_wrong():
    """Of types and numbers, too; what was told of one rank names it."""
    def f(world):
        with pytest.raises(axe.Error) as e:
            M.rows(np.ones((2, 2), "f4" if world.rank else "f8"))
        with pytest.raises(axe.ArgumentError, match="ranks differ in what they launch"):
            M.iota(world.rank, M=5)
        return type(e.value).__name__, e.value.code

    assert axe.spmd(2)(f)[1] == ("ElementTypeError", "ETYPE")


def test_dtensor():
    torch = pytest.importorskip("torch")
    from torch.distributed.tensor import Replicate

    class DTensor:
        """What is asked of one."""
        placements, shape = (Replicate(),), torch.Size((4, 3))

        def to_local(self):
            return torch.ones(4, 3)

    def f(world):
        with pytest.raises(axe.ShapeError, match=r"X is given as \[R\] and declared as 4@gpu, 3"):
            M.rows(DTensor())

    axe.spmd(2)(f)


# ------------------------------------------------------------------- what is wrong


def ends(f, says, kind=axe.DeviceError, n=3, timeout=20):
    """All ranks, with that text, soon; nothing is left, and others can start."""
    begin = time.monotonic()
    with pytest.raises(kind, match=says):
        axe.spmd(n, timeout=timeout)(f)
    assert time.monotonic() - begin < 15
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert not [x for x in os.listdir("/dev/shm") if "axe" in x]
    assert axe.spmd(2)(lambda world: world.rank) == [0, 1]


def at(rank, what):
    def f(world):
        if world.rank == rank:
            what()
        return M.iota(1, M=9)
    return f


def fail():
    raise ValueError("no good")


def test_a_rank_raises():
    ends(at(1, fail), r"^rank 1 of 3 raised ValueError: no good, at .*test_spmd.py:\d+ in fail$")
    ends(at(0, fail), "^no good$", ValueError)
    ends(at(2, lambda: sys.exit(3)), "rank 2 of 3 raised SystemExit: 3")
    ends(at(0, lambda: sys.exit(3)), "3", SystemExit)


def test_a_rank_dies():
    ends(at(2, lambda: os._exit(5)), "rank 2 of 3 has (exited with status 5|ended)")
    ends(at(1, lambda: os.kill(os.getpid(), signal.SIGKILL)),
         r"rank 1 of 3 (was killed by signal 9 \(Killed\)|has ended)")


def test_a_rank_is_late():
    ends(at(1, lambda: time.sleep(60)), "waited 0.5 s for rank 1 in", timeout=0.5)


def test_ranks_do_other_things():
    ends(lambda world: world.rank == 1 or M.iota(1, M=9), "ranks do different things")
    ends(lambda world: (M.iota if world.rank else M.rows)(
        *((1,) if world.rank else (np.ones((1, 1), "f4"),)), **({"M": 9} if world.rank else {})),
        r"ranks differ in what they launch: rank 0 has rows\(f32 X\).*rank 1 has iota",
        axe.ArgumentError)


def test_results_that_do_not_pickle():
    ends(lambda world: (lambda: 0) if world.rank == 1 else 0,
         "rank 1 gives to others does not pickle")


def test_calls():
    for call, says in [
            (lambda: axe.spmd(0), "n=0: 1 to 1024 is meant"), (lambda: axe.spmd(2, timeout=0), "more than 0"),
            (lambda: axe.spmd(2, timeout=float("inf")), "below 1e9"),
            (lambda: axe.spmd(2000), "n=2000"), (lambda: axe.spmd(2)(3), "runs a function"),
            (lambda: axe.spmd(2, engine="smh")(len), "engine 'smh' is not known"),
            (lambda: M.rows(np.ones((2, 2), "f4")),
             r"rows is over a mesh, and nothing says how many devices there are along gpu: "
             r"give P=4, or call it in a function that axe.spmd\(4\) runs"),
            (lambda: M.rows(axe.Local(np.ones((2, 2), "f4"), "2, 2"), P=2), "as one rank has it"),
            (lambda: axe.Local(0, 3), "a layout is a text, an axe.Layout, a PartitionSpec"),
            (lambda: M.rows(P=2), "takes 1 arrays"),
            (lambda: axe.spmd(1)(lambda world: axe.spmd(1)(len)), "starts no ranks of its own"),
            (lambda: axe.spmd(2)(lambda world: M.rows(np.ones((2, 2), "f4"), P=3)),
             "the mesh has 3 devices, and there are 2")]:
        with pytest.raises(axe.Error, match=says):
            call()


def test_when_it_is_over():
    kept = []
    axe.spmd(1)(kept.append)
    with pytest.raises(axe.ArgumentError, match="the run that they were of is over"):
        kept[0].barrier()
    with pytest.raises(axe.CallError, match="is over a mesh"):
        M.iota(1, M=3)


def test_measured():
    """From one process, on arrays that are given or random; inout arrays stay."""
    c = M.product.check(M=20, N=7, K=30, P=3)
    assert c and c.outputs[0].n == 140
    y = np.ones(5, "f4")
    c = M.add.check(np.ones(5, "f4"), 2, y, P=2)
    assert c.ok and c.outputs[0].name == "Y" and (y == 1).all()
    t = M.product.time(np.ones((4, 6), "f4"), np.ones((2, 6), "f4"), P=2, runs=7)
    assert len(t.seconds) == 7 and t.device == "2 devices" and t.seconds[0] > 0
    assert len(M.product.with_(P=1).time(M=4, N=2, K=6).seconds) == 20
    s = M.product.simulate(M=20, N=7, K=30, P=3, target="sm_90a")
    assert s.ok and s.outputs[0].shape == (20, 7)
    for call, says in [(lambda: M.rows.check(M=2, N=2), "how many devices there are along gpu"),
                       (lambda: axe.spmd(1)(lambda world: M.rows.check(M=2, N=2, P=1)),
                        "is timed and checked from one process")]:
        with pytest.raises(axe.CallError, match=says):
            call()


# ------------------------------------------------------------- around the processes


def run(code, **env):
    where = str(pathlib.Path(axe.__file__).parents[1])
    return subprocess.Popen([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT,
                            env={**os.environ, "PYTHONPATH": where, **env})


def test_what_was_printed():
    """Is there once, though standard output is no terminal and so is kept back."""
    p = run("import axe, sys\nprint('before')\n"
            "axe.spmd(2)(lambda world: sys.stdout.write(f'in {world.rank}\\n'))\nprint('behind')")
    lines = p.communicate()[0].split("\n")
    assert sorted(lines) == ["", "before", "behind", "in 0", "in 1"], lines


LAUNCHERS = {
    "axe": {"AXE_RANK": "{}", "AXE_SIZE": "2", "AXE_LOCAL_RANK": "{}", "AXE_LOCAL_SIZE": "2",
            "AXE_RENDEZVOUS": f"test{os.getpid()}"},
    "torchrun": {"RANK": "{}", "WORLD_SIZE": "2", "LOCAL_RANK": "{}", "LOCAL_WORLD_SIZE": "2",
                 "MASTER_ADDR": "localhost", "MASTER_PORT": str(os.getpid())},
    "srun": {"SLURM_PROCID": "{}", "SLURM_NTASKS": "2", "SLURM_LOCALID": "{}",
             "SLURM_NTASKS_PER_NODE": "2", "SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0"},
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_launched(launcher):
    """Processes that somebody else has started, twice in a row."""
    code = ("import axe\n"
            "m = axe.kernel('mesh gpu[P]; kernel one(in i32 k, out i32 Y[M @ gpu])"
            "{ index m; Y[m] = k; }')\n"
            "for i in 1, 2:\n"
            "    print(axe.spmd()(lambda world: (world.rank, world.size, i)))\n"
            "    print(axe.spmd(2)(lambda world: world.gather(i)))\n"
            "try:\n    m.one(1, M=2, P=2)\nexcept axe.ArgumentError as e:\n    print(e)")
    ranks = [run(code, **{n: v.format(r) for n, v in LAUNCHERS[launcher].items()})
             for r in (0, 1)]
    for p in ranks:
        assert p.communicate()[0] == (
            "[(0, 2, 1), (1, 2, 1)]\n[[1, 1], [1, 1]]\n"
            "[(0, 2, 2), (1, 2, 2)]\n[[2, 2], [2, 2]]\n"
            f"{launcher} has launched 2 ranks, and whole arrays are for one process\n"
            "  help: call the kernel in a function that axe.spmd() runs, with what each rank has\n")


@pytest.mark.parametrize("wait", ["world.barrier()",
                                  "world.rank or world.barrier(); time.sleep(9)"])
def test_ctrl_c(wait):
    """Ends all ranks at once, also where they wait for one another; others may follow."""
    code = ("import axe, os, time\n"
            f"def f(world):\n    os.write(1, b'in\\n')\n    while True: {wait}\n"
            "try:\n    axe.spmd(2)(f)\nexcept KeyboardInterrupt:\n"
            "    print(axe.spmd(2)(lambda world: world.rank))")
    p = run("import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + code)
    assert p.stdout.readline() + p.stdout.readline() == "in\nin\n"
    begun = time.monotonic()
    p.send_signal(signal.SIGINT)
    assert p.communicate()[0] == "[0, 1]\n"
    assert time.monotonic() - begun < 8


# A communicator with mpi4py's methods over a pipe to the parent, who has all.
COMM = """
import axe, pickle, sys
class Comm:
    def __init__(self, rank, size): self.rank, self.size = rank, size
    def Get_rank(self): return self.rank
    def Get_size(self): return self.size
    def allgather(self, x):
        print("gather", pickle.dumps(x).hex(), flush=True)
        return pickle.loads(bytes.fromhex(input()))
comm = Comm(int(sys.argv[1]), 2)
m = axe.kernel("mesh gpu[P]; kernel one(in i32 k, out i32 Y[M @ gpu]) { index m; Y[m] = k + i32(m); }")
def f(world): return world.rank, m.one(10, M=4).tolist()
try:
    for i in 1, 2:
        print(axe.spmd(group=comm)(f), flush=True)
    print(axe.spmd(3, group=comm)(f))
except axe.Error as e:
    print(e)
"""


def test_group():
    """Ranks of a communicator, twice; a number of ranks that is not its own."""
    ranks = [subprocess.Popen([sys.executable, "-c", COMM, str(r)], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH":
                                   str(pathlib.Path(axe.__file__).parents[1])})
             for r in (0, 1)]
    seen = []
    for _ in range(3):
        given = [pickle.loads(bytes.fromhex(p.stdout.readline().split()[1])) for p in ranks]
        seen += [x[0] for x in given]
        for p in ranks:
            p.stdin.write(pickle.dumps(given).hex() + "\n")
            p.stdin.flush()
        if len(seen) <= 4:
            for p in ranks:
                assert p.stdout.readline() == "[(0, [10, 11]), (1, [12, 13])]\n"
    for p in ranks:
        assert p.communicate()[0] == ("engine: mpi4py launched 2 ranks where 3 are wanted\n")
    assert len(set(seen)) == 6  # no job has another's name


TORCH = """
import axe, torch, torch.distributed as dist
dist.init_process_group("gloo", init_method=sys_argv[1], rank=int(sys_argv[2]), world_size=3)
pair = dist.new_group([2, 0])
f = lambda world: (world.rank, dist.get_rank())
print(axe.spmd(group=dist.group.WORLD)(f))
if dist.get_rank() != 1:
    print(axe.spmd(group=pair)(f))
dist.barrier()
"""


def test_group_of_torch(tmp_path):
    pytest.importorskip("torch.distributed")
    ranks = [run(TORCH.replace("sys_argv[1]", repr(f"file://{tmp_path}/store"))
                 .replace("sys_argv[2]", str(r))) for r in range(3)]
    said = [p.communicate()[0].splitlines() for p in ranks]
    assert [x[0] for x in said] == ["[(0, 0), (1, 1), (2, 2)]"] * 3
    assert said[0][1] == said[2][1] == "[(0, 0), (1, 2)]"


@pytest.mark.parametrize("group", [3, "WORLD", object()])
def test_no_group(group):
    with pytest.raises(axe.CallError, match="group is .*; it is a process group of torch"):
        axe.spmd(group=group)(len)


def test_nothing_is_kept():
    def f(world):
        for i in range(3):
            M.rows(np.ones((i + 1, 2), "f4"))
        return 1

    def mapped():
        with open("/proc/self/maps") as maps:
            return len(os.listdir("/proc/self/fd")), sum("memfd:axe" in x for x in maps)

    axe.spmd(2)(f)
    before = mapped()
    for _ in range(5):
        axe.spmd(2)(f)
        with pytest.raises(axe.DeviceError):
            axe.spmd(2, timeout=5)(at(1, fail))
    assert mapped() == before
