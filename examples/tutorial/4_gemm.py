"""A matrix product on this CPU: run, checked, timed and explained."""
import numpy as np

import axe

gemm = axe.kernel("""
kernel gemm<BM = 64, BN = 96, BK = 64>
    (in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) {
    index m, n, k;
    cta (i : M by BM, j : N by BN) {
        reg f32 acc[BM, BN] = 0;
        shared f32 a[BM, BK];  shared f32 b[BN, BK];
        for (kt : K by BK) {
            a[m, k] = A[i*BM + m, kt*BK + k];
            b[n, k] = B[j*BN + n, kt*BK + k];
            acc[m, n] += a[m, k] * b[n, k];
        }
        C[i*BM + m, j*BN + n] = acc[m, n];
    }
}""").gemm

# A call takes arrays and returns one.
a = np.ones((300, 100), "f4")
b = np.ones((200, 100), "f4")
c = gemm(a, b)
print(c.shape, c[0, 0])

# The kernel against its definition, on random numbers.
print("check:", bool(gemm.check(M=100, N=70, K=50)))

# How long it takes, without Python's part.
print(gemm.time(M=512, N=512, K=512, runs=9))

# How it runs: the plan has an entry for each statement.
for s in gemm.plan["statements"]:
    print(s["statement"], "|", s["schedule"])

# The layouts that were left open in the text, as they are chosen for AVX-512.
text = gemm.explain(target="cpu-avx512", M=512, N=512, K=512)
print(text[text.index("tile "):])
