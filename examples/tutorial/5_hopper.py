"""The same matrix product for a Hopper GPU: planned, printed and simulated here."""
import numpy as np

import axe

gemm = axe.ops.gemm.with_(T="f16", BM=128, BN=128, BK=64)

# The plan for sm_90a: boxes that fill shared memory, tensor cores that read it.
plan = gemm.explain(target="sm_90a", M=512, N=512, K=512)
print(plan)

# The CUDA C that nvcc gets.
source = gemm.source("sm_90a")
print(*[line for line in source.splitlines() if "wgmma.mma_async" in line], sep="\n")

# The simulator executes the plan thread by thread.  It finds races and waits that
# are missing, and counts instructions and bytes; it knows no time.
r = np.random.default_rng(0)
a = r.integers(-4, 5, (128, 128)).astype("f2")
b = r.integers(-4, 5, (128, 128)).astype("f2")
s = gemm.simulate(a, b, target="sm_90a")
print(s)
print("no findings:", s.ok, " equal to NumPy:", np.array_equal(s.outputs[0], a @ b.T))

# A kernel written for Hopper, with roles for its warp groups, has a plan, too.
special = axe.ops.gemm_sm90.plan
print(special["machine"], *special["launches"][:1], *special["pipelines"][:3], sep="\n")
