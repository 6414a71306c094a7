"""gloo.py RANKS - collectives of torch.distributed over gloo, at the sizes of dist.c:
"op bytes us" a line.  A time is the slowest rank's, the lower quartile of rounds."""
import multiprocessing
import os
import sys
import tempfile
import time

ROUNDS, MOST = 21, 64 << 20


def calls(n_bytes):
    """In a row, of one round; as n_call of dist.c."""
    return 200 if n_bytes <= 4096 else 20 if n_bytes <= 1 << 18 else 4 if n_bytes <= 1 << 21 else 1


def operations(dist, torch, n, count):
    """What is called, of count f32 that a rank has."""
    mine, parts = torch.zeros(count), [torch.zeros(count) for _ in range(n)]
    pieces = list(torch.zeros(count).split(count // n))
    into = [torch.zeros(count // n) for _ in range(n)]
    return {
        "broadcast": lambda: dist.broadcast(mine, 0),
        "all-reduce": lambda: dist.all_reduce(mine),
        "reduce-scatter": lambda: dist.reduce_scatter(into[0], pieces),
        "all-to-all": lambda: dist.all_to_all(into, pieces),
        "all-gather": lambda: dist.all_gather(parts, mine),
    }


def sizes(n):
    b = 8
    while b <= MOST:
        yield max(b, 4 * n) // 4 // n * n * 4
        b *= 8 if b < 1 << 24 else 4


def rank(r, n, store):
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=r, world_size=n)
    for name in operations(dist, torch, n, n):
        for n_bytes in sizes(n):
            if name == "all-gather" and n_bytes * n > 2 * MOST:
                continue
            call, times = operations(dist, torch, n, n_bytes // 4)[name], []
            try:
                call()
            except RuntimeError:  # this gloo has it not
                break
            for _ in range(ROUNDS):
                dist.barrier()
                begin = time.perf_counter()
                for _ in range(calls(n_bytes)):
                    call()
                t = torch.tensor([(time.perf_counter() - begin) / calls(n_bytes) * 1e6])
                dist.all_reduce(t, dist.ReduceOp.MAX)
                times.append(t.item())
            if r == 0:
                print(f"{name} {n_bytes} {sorted(times)[ROUNDS // 4]:.3f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    n_rank = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as d:
        ranks = [multiprocessing.Process(target=rank, args=(r, n_rank, os.path.join(d, "store")))
                 for r in range(n_rank)]
        for p in ranks:
            p.start()
        for p in ranks:
            p.join()
        sys.exit(any(p.exitcode for p in ranks))
