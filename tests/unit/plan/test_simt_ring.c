/* test_simt_ring.c - pipelines on machines with threads, in the simulator: in
 * one role ahead, across roles with phases, multicast, CTAs that stay, results
 * by way of staging.  Sizes are odd where the kernel lets them; elements are
 * small integers, so that results are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/number.h"
#include "lang/lang.h"
#include "machine/machine.h"
#include "share.h"
#include "sim/sim.h"

enum { MAX_SET = 8 };

/* C[M, N] = A[M, K] * B[N, K]^T by a kernel of kernels/, or by one below. */
typedef struct row {
    const char *file, *machine;
    const char *set[2 * MAX_SET]; /* name, value ... */
    int         m, n, k;
    const char *atoms; /* that it is done with, each of them */
} row;

/* clang-format off */
static const row rows[] = {
    {"gemm", "sm_80", {"T", "f16"}, 200, 136, 104, "cp.async.b128 ldmatrix"},
    {"gemm", "sm_80", {"T", "bf16", "STAGES", "4"}, 128, 128, 256, "cp.drain"},
    {"gemm", "sm_80", {"T", "f16", "STAGES", "2"}, 65, 63, 96, "cp.commit"},
    {"gemm", "sm_80", {"T", "f16", "STAGES", "1"}, 65, 63, 96, "cp.async.b128"},
    {"gemm", "sm_80", {"T", "f16"}, 33, 47, 65, "ld.global.b16"},
    {"gemm", "sm_90a", {"T", "f16"}, 200, 136, 104, "tma.load wgmma tma.store"},
    {"gemm", "sm_90a", {"T", "f16", "BK", "64", "STAGES", "4"}, 130, 257, 320,
     "tma.load wgmma st.global.b16"},
    {"gemm", "sm_90a", {"T", "bf16", "STAGES", "1"}, 64, 72, 96, "tma.load"},
    {"gemm_sm90", "sm_90a", {"T", "f16"}, 512, 512, 320,
     "tma.load.multicast wgmma tma.store setmaxnreg stmatrix"},
    {"gemm_sm90", "sm_90a", {"T", "bf16", "STAGES", "2"}, 300, 500, 72,
     "tma.load.multicast tma.load wgmma"},
    {"gemm_sm90", "sm_90a", {"T", "f16", "CLUSTER", "1"}, 300, 260, 200,
     "tma.load wgmma mbarrier.arrive"},
    {"gemm_sm90", "sm_90a",
     {"T", "f16", "STAGES", "3", "BN", "128", "CLUSTER", "4"}, 640, 128, 136,
     "tma.load.multicast"},
    {"stays", "sm_80", {NULL}, 200, 136, 104, "cp.async.b128 ldmatrix"},
    {"stays", "sm_90a", {NULL}, 200, 136, 104, "tma.load"},
    {"padded", "sm_90a", {NULL}, 100, 136, 104, "cp.async mbarrier ldmatrix"},
    {"rounded", "sm_80", {NULL}, 130, 70, 136, "ldmatrix"},
    {"rounded", "sm_90a", {NULL}, 130, 70, 136, "wgmma.fence.shared"},
    {"primed", "sm_80", {NULL}, 100, 72, 104, "cp.drain"},
    {"primed", "sm_90a", {NULL}, 100, 72, 104, "tma.load"},
    {"twice", "sm_80", {NULL}, 100, 136, 104, "cp.async"},
    {"twice", "sm_90a", {NULL}, 100, 136, 104, "tma.load tma.store"},
    {"alone", "sm_90a", {NULL}, 300, 136, 104, "tma.load barrier.cluster"},
    {"turned", "sm_80", {NULL}, 136, 72, 104, "cp.async ldmatrix"},
    {"turned", "sm_90a", {NULL}, 136, 72, 104, "tma.load wgmma"},
    {"in_turn", "sm_90a", {NULL}, 400, 136, 104, "bar.arrive bar.sync wgmma.drain"},
    {"again", "sm_90a", {NULL}, 128, 136, 104, "bar.arrive bar.sync"},
    {"two_sums", "sm_90a", {NULL}, 128, 64, 264, "wgmma.drain"},
    {"made_anew", "sm_90a", {NULL}, 128, 64, 264, "wgmma.f32.f16.rs"},
    {"loaded", "sm_90a", {NULL}, 64, 64, 264, "tma.load ldmatrix tx.fence"},
    {"branched", "sm_90a", {NULL}, 64, 64, 264, "wgmma.fence.shared"},
    {"pieces", "sm_90a", {NULL}, 64, 64, 264, "cp.async wgmma"},
    {"in_pairs", "sm_90a", {NULL}, 64, 64, 264, "tma.load wgmma.drain"},
    {"turns_apart", "sm_90a", {NULL}, 128, 72, 104, "bar.arrive bar.sync tma.store"},
    {"nested", "sm_90a", {NULL}, 128, 64, 264, "mbarrier.arrive tma.store"},
    {"by_two", "sm_90a", {NULL}, 64, 64, 264, "tma.load mbarrier.expect"},
    {"by_all", "sm_90a", {NULL}, 128, 64, 264, "wgmma.fence.shared"},
    {"own", "sm_90a", {NULL}, 64, 64, 264, "tma.load tx.fence"},
    {"own_wide", "sm_90a", {NULL}, 128, 64, 264, "tma.load wgmma.drain"},
};
/* clang-format on */

/* What is around and between the stages of a pipeline. */
static const struct {
    const char *name, *text;
} own[] = {
    {"stays", /* one role, CTAs that stay: the ring runs again */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta persistent (t : tiles(M by 64, N by 64, group = 2)) warps 4 {"
     "  pipeline ring[3] { shared f16 a[64, 32]; shared f16 b[64, 32]; }"
     "  reg f32 acc[64, 64] = 0;"
     "  for (kt : K by 32) {"
     "    produce ring {"
     "      ring.a[m, k] = A[t.i*64 + m, kt*32 + k];"
     "      ring.b[n, k] = B[t.j*64 + n, kt*32 + k]; }"
     "    consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "  C[t.i*64 + m, t.j*64 + n] = f16(acc[m, n]); } }"},
    {"alone", /* a cluster without roles: each CTA brings all of b itself */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cluster (2) cta (i : M by 64, j : N by 64) warpgroups 1 {"
     "  pipeline ring[3] { shared f16 a[64, 32];"
     "                     shared f16 b[64, 32] : auto + [2 : 1@cta]; }"
     "  reg f32 acc[64, 64] = 0;"
     "  for (kt : K by 32) {"
     "    produce ring {"
     "      ring.a[m, k] = A[i*64 + m, kt*32 + k];"
     "      ring.b[n, k] = B[j*64 + n, kt*32 + k]; }"
     "    consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "  C[i*64 + m, j*64 + n] = f16(acc[m, n]); } }"},
    {"turned", /* rows of the factors are the sum */
     "kernel k(in f16 A[K, M], in f16 B[K, N], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 128, j : N by 64) warpgroups 2 {"
     "  pipeline ring[3] { shared f16 a[128, 32]; shared f16 b[64, 32]; }"
     "  reg f32 acc[128, 64] = 0;"
     "  for (kt : K by 32) {"
     "    produce ring {"
     "      ring.a[m, k] = A[kt*32 + k, i*128 + m];"
     "      ring.b[n, k] = B[kt*32 + k, j*64 + n]; }"
     "    consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "  C[i*128 + m, j*64 + n] = f16(acc[m, n]); } }"},
    {"in_turn", /* three that stay take turns, tile after tile */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta persistent (t : tiles(M by 192, N by 64)) warpgroups 4 {"
     "  pipeline ring[3] { shared f16 a[192, 64]; shared f16 b[64, 64]; }"
     "  roles {"
     "    warpgroup (0) for (kt : K by 64) produce ring {"
     "      ring.a[m, k] = A[t.i*192 + m, kt*64 + k];"
     "      ring.b[n, k] = B[t.j*64 + n, kt*64 + k]; }"
     "    warpgroup (w : 1..4) {"
     "      reg f32 acc[64, 64] = 0;"
     "      for (kt : K by 64) turn consume ring"
     "        acc[m, n] += ring.a[(w - 1)*64 + m, k] * ring.b[n, k];"
     "      C[t.i*192 + (w - 1)*64 + m, t.j*64 + n] = f16(acc[m, n]); } } } }"},
    {"again", /* a scope in a loop, whose barriers are as they were each time */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64) warps 2 {"
     "  for (j : N by 64) warp (w : 0..2) {"
     "    reg f32 c[32, 64] = 0;"
     "    for (p : K by 64) turn {"
     "      reg f32 d[32, 64] = 0;"
     "      for (q : 64) d[m, n] += f32(A[i*64 + w*32 + m, p*64 + q])"
     "        * f32(B[j*64 + n, p*64 + q]);"
     "      c[m, n] += d[m, n]; }"
     "    C[i*64 + w*32 + m, j*64 + n] = f16(c[m, n]); } } }"},
    {"two_sums", /* both in flight, and drained one by one */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warpgroups 2 {"
     "  pipeline ring[2] { shared f16 a[64, 64]; }"
     "  pipeline side[2] { shared f16 b[64, 64]; }"
     "  roles {"
     "    warpgroup (0) for (kt : K by 64) {"
     "      produce ring ring.a[m, k] = A[i*64 + m, kt*64 + k];"
     "      produce side side.b[n, k] = B[j*64 + n, kt*64 + k]; }"
     "    warpgroup (1) {"
     "      reg f32 all[64, 64] = 0; reg f32 c[64, 64]; reg f32 d[64, 64];"
     "      for (kt : K by 64) {"
     "        c[m, n] = 0; d[m, n] = 0;"
     "        consume ring consume side {"
     "          c[m, n] += ring.a[m, k] * side.b[n, k];"
     "          d[m, n] += ring.a[m, k] * side.b[n, k]; }"
     "        all[m, n] += 0.5 * c[m, n];"
     "        all[m, n] += 0.5 * d[m, n]; }"
     "      C[i*64 + m, j*64 + n] = f16(all[m, n]); } } } }"},
    {"made_anew", /* a factor in registers, while the first product reads it */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warpgroups 2 {"
     "  pipeline ring[2] { shared f16 b[64, 64]; }"
     "  roles {"
     "    warpgroup (0) for (kt : K by 64) for (q : 2) produce ring"
     "      ring.b[n, k] = B[j*64 + n, kt*64 + k];"
     "    warpgroup (1) {"
     "      reg f32 c[64, 64] = 0; reg f16 a[64, 64];"
     "      for (kt : K by 64) {"
     "        a[m, k] = f16(f32(A[i*64 + m, kt*64 + k]) * 0.25);"
     "        consume ring c[m, n] += a[m, k] * ring.b[n, k];"
     "        a[m, k] = f16(f32(a[m, k]) * 3);"
     "        consume ring c[m, n] += a[m, k] * ring.b[n, k]; }"
     "      C[i*64 + m, j*64 + n] = f16(c[m, n]); } } } }"},
    {"padded", /* across roles, by pieces: threads arrive, warps read */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warpgroups 2 {"
     "  pipeline ring[3] { shared f16 a[64, 32] : (64, 32) : (40, 1);"
     "                     shared f16 b[64, 32] : (64, 32) : (40, 1); }"
     "  roles {"
     "    warpgroup (0) { for (kt : K by 32) produce ring {"
     "      ring.a[m, k] = A[i*64 + m, kt*32 + k];"
     "      ring.b[n, k] = B[j*64 + n, kt*32 + k]; } }"
     "    warpgroup (1) {"
     "      reg f32 acc[64, 64] = 0;"
     "      for (kt : K by 32) consume ring"
     "        acc[m, n] += ring.a[m, k] * ring.b[n, k];"
     "      C[i*64 + m, j*64 + n] = f16(acc[m, n]); } } } }"},
    {"rounded", /* threads compute what an engine reads */
     "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 128, j : N by 64) {"
     "  pipeline ring[3] { shared f16 a[128, 64]; shared f16 b[64, 64]; }"
     "  reg f32 acc[128, 64] = 0;"
     "  for (kt : K by 64) {"
     "    produce ring {"
     "      ring.a[m, k] = f16(A[i*128 + m, kt*64 + k]);"
     "      ring.b[n, k] = f16(B[j*64 + n, kt*64 + k]); }"
     "    consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "  C[i*128 + m, j*64 + n] = acc[m, n]; } }"},
    {"loaded", /* warps load what boxes fill again */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warps 8 {"
     "  pipeline ring[2] { shared f16 a[64, 32]; shared f16 b[64, 32]; }"
     "  roles {"
     "    warpgroup (0) for (kt : K by 32) produce ring {"
     "      ring.a[m, k] = A[i*64 + m, kt*32 + k];"
     "      ring.b[n, k] = B[j*64 + n, kt*32 + k]; }"
     "    warp (w : 4..8) {"
     "      reg f32 acc[16, 64] = 0;"
     "      for (kt : K by 32) consume ring"
     "        acc[m, n] += ring.a[(w - 4)*16 + m, k] * ring.b[n, k];"
     "      C[i*64 + (w - 4)*16 + m, j*64 + n] = f16(acc[m, n]); } } } }"},
    {"branched", /* threads write in branches what an engine reads behind them
                  */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warpgroups 1 {"
     "  shared f16 a[64, 64]; shared f16 b[64, 64];"
     "  reg f32 acc[64, 64] = 0;"
     "  for (kt : K by 64) {"
     "    b[n, k] = f16(f32(B[j*64 + n, kt*64 + k]) * 2);"
     "    if (kt % 2 == 0) a[m, k] = f16(f32(A[i*64 + m, kt*64 + k]) * 0.5);"
     "    else a[m, k] = f16(f32(A[i*64 + m, kt*64 + k]) / 2);"
     "    acc[m, n] += a[m, k] * b[n, k]; }"
     "  C[i*64 + m, j*64 + n] = f16(acc[m, n]); } }"},
    {"pieces", /* pieces arrive by themselves, and an engine reads them */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warpgroups 2 {"
     "  pipeline ring[2] { shared f16 a[64, 64]; shared f16 b[64, 64]; }"
     "  roles {"
     "    warpgroup (0) for (kt : K by 64) produce ring {"
     "      ring.a[m, k] = A[i*64 + 63 - m, kt*64 + k];"
     "      ring.b[n, k] = B[j*64 + n, kt*64 + k]; }"
     "    warpgroup (1) {"
     "      reg f32 acc[64, 64] = 0;"
     "      for (kt : K by 64) consume ring"
     "        acc[m, n] += ring.a[m, k] * ring.b[n, k];"
     "      C[i*64 + 63 - m, j*64 + n] = f16(acc[m, n]); } } } }"},
    {"in_pairs", /* two stages in an iteration, the first still being read */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warpgroups 2 {"
     "  pipeline ring[3] { shared f16 a[64, 64]; shared f16 b[64, 64]; }"
     "  roles {"
     "    warpgroup (0) for (kt : K by 128) for (q : 2) produce ring {"
     "      ring.a[m, k] = A[i*64 + m, kt*128 + q*64 + k];"
     "      ring.b[n, k] = B[j*64 + n, kt*128 + q*64 + k]; }"
     "    warpgroup (1) {"
     "      reg f32 c[64, 64] = 0;"
     "      for (kt : K by 128) {"
     "        consume ring c[m, n] += ring.a[m, k] * ring.b[n, k];"
     "        consume ring c[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "      C[i*64 + m, j*64 + n] = f16(c[m, n]); } } } }"},
    {"turns_apart", /* warps of two groups: turns, and staging, of each */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 128) warps 8 {"
     "  warpgroup (g : 0..2) {"
     "  for (j : N by 64) warp (w : 0..4) {"
     "    reg f32 c[16, 64] = 0;"
     "    for (p : K by 64) turn {"
     "      reg f32 d[16, 64] = 0;"
     "      for (q : 64) d[m, n] += f32(A[i*128 + g*64 + w*16 + m, p*64 + q])"
     "        * f32(B[j*64 + n, p*64 + q]);"
     "      c[m, n] += d[m, n]; }"
     "    C[i*128 + g*64 + w*16 + m, j*64 + n] = f16(c[m, n]); } } } }"},
    {"nested", /* a ring read by warps of two groups */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 128, j : N by 64) warpgroups 3 {"
     "  pipeline ring[2] { shared f16 a[128, 32]; shared f16 b[64, 32]; }"
     "  roles {"
     "    warpgroup (0) for (kt : K by 32) produce ring {"
     "      ring.a[m, k] = A[i*128 + m, kt*32 + k];"
     "      ring.b[n, k] = B[j*64 + n, kt*32 + k]; }"
     "    warpgroup (g : 1..3) {"
     "     warp (w : 0..4) {"
     "      reg f32 acc[16, 64] = 0;"
     "      for (kt : K by 32) consume ring"
     "        acc[m, n] += ring.a[(g - 1)*64 + w*16 + m, k] * ring.b[n, k];"
     "      C[i*128 + (g - 1)*64 + w*16 + m, j*64 + n] = f16(acc[m, n]); } } } "
     "} }"},
    {"by_two", /* boxes of two warps of a group fill a stage */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warpgroups 2 {"
     "  pipeline ring[2] { shared f16 a[2, 32, 64]; shared f16 b[2, 32, 64]; }"
     "  roles {"
     "    warpgroup (0) warp (v : 0..2) for (kt : K by 64) produce ring {"
     "      ring.a[v, m, k] = A[i*64 + v*32 + m, kt*64 + k];"
     "      ring.b[v, n, k] = B[j*64 + v*32 + n, kt*64 + k]; }"
     "    warp (w : 4..8) {"
     "      reg f32 acc[32, 32] = 0;"
     "      for (kt : K by 64) consume ring"
     "        acc[m, n] += ring.a[w % 2, m, k] * ring.b[w / 2 - 2, n, k];"
     "      C[i*64 + w%2*32 + m, j*64 + (w/2 - 2)*32 + n] = f16(acc[m, n]);"
     "  } } } }"},
    {"by_all", /* threads of warps of two groups do, and two groups read it */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 128, j : N by 64) warpgroups 4 {"
     "  pipeline ring[2] { shared f16 a[128, 32]; shared f16 b[64, 32]; }"
     "  roles {"
     "    warpgroup (h : 0..2) warp (v : 0..4) {"
     "      reg f16 x[16, 32]; reg f16 y[8, 32];"
     "      for (kt : K by 32) produce ring {"
     "        x[m, k] = A[i*128 + h*64 + v*16 + m, kt*32 + k];"
     "        y[n, k] = B[j*64 + h*32 + v*8 + n, kt*32 + k];"
     "        ring.a[h*64 + v*16 + m, k] = f16(f32(x[m, k]) * 2);"
     "        ring.b[h*32 + v*8 + n, k] = f16(f32(y[n, k]) * 0.5); } }"
     "    warpgroup (g : 2..4) {"
     "      reg f32 acc[64, 64] = 0;"
     "      for (kt : K by 32) consume ring"
     "        acc[m, n] += ring.a[(g - 2)*64 + m, k] * ring.b[n, k];"
     "      C[i*128 + (g - 2)*64 + m, j*64 + n] = f16(acc[m, n]); } } } }"},
    {"own", /* each warp has a ring */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warps 4 {"
     "  warp (w : 0..4) {"
     "    pipeline ring[2] { shared f16 a[16, 32]; shared f16 b[64, 32]; }"
     "    reg f32 acc[16, 64] = 0;"
     "    for (kt : K by 32) {"
     "      produce ring {"
     "        ring.a[m, k] = A[i*64 + w*16 + m, kt*32 + k];"
     "        ring.b[n, k] = B[j*64 + n, kt*32 + k]; }"
     "      consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "    C[i*64 + w*16 + m, j*64 + n] = f16(acc[m, n]); } } }"},
    {"own_wide", /* each warp group has one, which an engine reads */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 128, j : N by 64) warpgroups 2 {"
     "  warpgroup (w : 0..2) {"
     "    pipeline ring[3] { shared f16 a[64, 64]; shared f16 b[64, 64]; }"
     "    reg f32 acc[64, 64] = 0;"
     "    for (kt : K by 64) {"
     "      produce ring {"
     "        ring.a[m, k] = A[i*128 + w*64 + m, kt*64 + k];"
     "        ring.b[n, k] = B[j*64 + n, kt*64 + k]; }"
     "      consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "    C[i*128 + w*64 + m, j*64 + n] = f16(acc[m, n]); } } }"},
    {"primed", /* a stage is filled before the loop, and read behind it */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64, j : N by 64) warps 4 {"
     "  pipeline ring[2] { shared f16 a[64, 32]; shared f16 b[64, 32]; }"
     "  reg f32 acc[64, 64] = 0;"
     "  for (p : 1) produce ring {"
     "    ring.a[m, k] = A[i*64 + m, p*32 + k];"
     "    ring.b[n, k] = B[j*64 + n, p*32 + k]; }"
     "  for (kt : K by 32) {"
     "    produce ring {"
     "      ring.a[m, k] = A[i*64 + m, kt*32 + 32 + k];"
     "      ring.b[n, k] = B[j*64 + n, kt*32 + 32 + k]; }"
     "    consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "  consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k];"
     "  C[i*64 + m, j*64 + n] = f16(acc[m, n]); } }"},
    {"twice", /* a loop around the ring's, and tiles of shared memory beside */
     "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"
     "index m, n, k;"
     "cta (i : M by 64) warps 4 {"
     "  pipeline ring[3] { shared f16 a[64, 32]; shared f16 b[64, 32]; }"
     "  shared f16 c[64, 64];"
     "  for (j : N by 64) {"
     "    reg f32 acc[64, 64] = 0;"
     "    for (kt : K by 32) {"
     "      produce ring {"
     "        ring.a[m, k] = A[i*64 + m, kt*32 + k];"
     "        ring.b[n, k] = B[j*64 + n, kt*32 + k]; }"
     "      consume ring acc[m, n] += ring.a[m, k] * ring.b[n, k]; }"
     "    c[m, n] = f16(acc[m, n]);"
     "    C[i*64 + m, j*64 + n] = c[m, n]; } } }"},
};

static const char *
read_file(axe_ctx *cx, const char *name)
{
    for (int i = 0; i < AXE_LEN(own); i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].text;

    const char *path = axe_textf(cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, name);
    FILE       *f = fopen(path, "rb");
    char       *text = axe_alloc(cx, 1 << 16);
    size_t      n;

    assert_non_null(f);
    n = fread(text, 1, (1 << 16) - 1, f);
    assert_true(n > 0);
    fclose(f);
    return text;
}

static axe_status
lower_text(axe_ctx *cx, const char *file, const char *text, const char *machine,
           int n_set, const char *const *name, const char *const *value,
           const axe_lowered **out)
{
    int32_t            src = axe_source_add(cx, file, text, strlen(text));
    const axe_module  *mod;
    const axe_kernel  *k;
    const axe_machine *mc;
    const axe_plan    *p;
    axe_inst           inst = {.machine = machine,
                               .n_set = n_set,
                               .set_name = name,
                               .set_value = value};

    AXE_TRY(axe_machine_find(cx, machine, &mc));
    AXE_TRY(axe_module_parse(cx, src, &mod));
    AXE_TRY(axe_module_instantiate(cx, mod, &inst, &k));
    AXE_TRY(axe_kernel_verify(cx, k));
    AXE_TRY(axe_plan_kernel(cx, k, mc, &p));
    return axe_lower(cx, p, out);
}

static axe_status
lower(axe_ctx *cx, const row *r, const axe_lowered **out)
{
    const char *name[MAX_SET], *value[MAX_SET];
    int         n = 0;

    for (; n < MAX_SET && r->set[2 * n]; n++) {
        name[n] = r->set[2 * n];
        value[n] = r->set[2 * n + 1];
    }
    return lower_text(cx, r->file, read_file(cx, r->file), r->machine, n, name,
                      value, out);
}

static uint32_t
draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* n elements of -1, 0, 1, and the same as numbers. */
static void *
fill(axe_ctx *cx, axe_type t, int n, uint32_t *seed, int8_t **numbers)
{
    int   size = axe_type_table[t].bits / 8;
    char *data = axe_alloc(cx, (size_t)(n * size));

    *numbers = axe_alloc(cx, (size_t)n);
    for (int i = 0; i < n; i++) {
        (*numbers)[i] = (int8_t)(draw(seed) % 3) - 1;
        axe_number_put(t, data + i * size, (*numbers)[i]);
    }
    return data;
}

static int64_t
size_of(const row *r, const axe_var *v)
{
    return v->name[0] == 'M' ? r->m : v->name[0] == 'N' ? r->n : r->k;
}

static void
check_atoms(const axe_sim_report *rep, const char *atoms)
{
    char list[200];

    snprintf(list, sizeof list, "%s", atoms);
    for (char *a = strtok(list, " "); a; a = strtok(NULL, " ")) {
        bool found = false;
        for (int i = 0; i < rep->n_count; i++)
            found = found || strncmp(rep->count[i].name, a, strlen(a)) == 0;
        if (!found)
            fail_msg("no atom %s", a);
    }
}

typedef struct axe_contract_job {
    axe_ctx           *cx;
    const row         *r;
    const axe_lowered *l;
    int8_t            *a, *b;
    axe_sim_array      param[3];
    int64_t            size[3], shape[3][2];
    axe_type           type;
    bool               turned; /* A is [K, M], B is [K, N] */
} axe_contract_job;

static void
check_result(const axe_contract_job *j)
{
    int bytes = axe_type_table[j->type].bits / 8;

    for (int m = 0; m < j->r->m; m++)
        for (int n = 0; n < j->r->n; n++) {
            int    sum = 0, k = j->r->k;
            double got =
                axe_number_get(j->type, (const char *)j->param[2].data +
                                            (m * j->r->n + n) * bytes);
            for (int i = 0; i < k && !j->turned; i++)
                sum += j->a[m * k + i] * j->b[n * k + i];
            for (int i = 0; i < k && j->turned; i++)
                sum += j->a[i * j->r->m + m] * j->b[i * j->r->n + n];
            if (got != sum)
                fail_msg("%s %s: C[%d, %d] is %g, not %d", j->r->file,
                         j->r->machine, m, n, got, sum);
        }
}

static void
run(axe_contract_job *j, axe_sim_policy policy, uint64_t seed)
{
    axe_sim_report rep = {0};
    axe_sim_spec   spec = {.param = j->param,
                           .size = j->size,
                           .with = {.policy = policy, .seed = seed, .n_sm = 4}};
    axe_buf        said = {.cx = j->cx};

    memset(j->param[2].data, 0xff,
           (size_t)(j->r->m * j->r->n * axe_type_table[j->type].bits / 8));
    if (axe_simulate(j->cx, j->l, &spec, &rep) != AXE_OK) {
        axe_diags_print(j->cx, &said, false);
        fail_msg("%s", said.text);
    }
    if (rep.n_finding > 0) {
        axe_sim_report_print(j->cx, &said, &rep);
        fail_msg("%s %s:\n%s", j->r->file, j->r->machine, said.text);
    }
    check_result(j);
    check_atoms(&rep, j->r->atoms);
}

static void
run_row(const row *r)
{
    axe_ctx         *cx = axe_ctx_new();
    axe_contract_job j = {
        .cx = cx, .r = r, .turned = strcmp(r->file, "turned") == 0};
    uint32_t seed = 7;
    axe_buf  said = {.cx = cx};

    if (lower(cx, r, &j.l) != AXE_OK) {
        axe_diags_print(cx, &said, false);
        fail_msg("%s", said.text);
    }
    j.type = j.l->plan->kernel->param[0]->type;
    j.param[0].data = fill(cx, j.type, r->m * r->k, &seed, &j.a);
    j.param[1].data = fill(cx, j.type, r->n * r->k, &seed, &j.b);
    j.param[2].data =
        axe_alloc(cx, (size_t)(r->m * r->n * axe_type_table[j.type].bits / 8));
    memcpy(j.shape, (int64_t[3][2]){{r->m, r->k}, {r->n, r->k}, {r->m, r->n}},
           sizeof j.shape);
    for (int i = 0; i < 2 && j.turned; i++) {
        j.shape[i][1] = j.shape[i][0];
        j.shape[i][0] = r->k;
    }
    for (int i = 0; i < 3; i++)
        j.param[i].shape = j.shape[i];
    for (int i = 0; i < j.l->plan->kernel->n_size; i++)
        j.size[i] = size_of(r, j.l->plan->kernel->size[i]);
    run(&j, AXE_SIM_EAGER, 0);
    run(&j, AXE_SIM_LAZY, 0);
    run(&j, AXE_SIM_RANDOM, 1);
    axe_ctx_free(cx);
}

static void
test_rows(void **state)
{
    const char *only = getenv("ROW");

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i += only ? 1 : share())
        if (!only || atoi(only) == i)
            run_row(&rows[i]);
}

#define RING(keys, bt, one, two)                                               \
    "kernel k(in f16 A[M, K], in f16 B[N, K], out f16 C[M, N]) {"              \
    "index m, n, k; " keys " { "                                               \
    "pipeline ring[3] { shared f16 a[64, 32]; shared f16 b[64, 32]" bt "; } "  \
    "roles { " one " { for (kt : K by 32) produce ring { "                     \
    "ring.a[m, k] = A[t.i*64 + m, kt*32 + k]; "                                \
    "ring.b[n, k] = B[t.j*64 + n, kt*32 + k]; } } " two                        \
    " { reg f32 acc[64, 64] = 0; for (kt : K by 32) consume ring acc[m, n] "   \
    "+= ring.a[m, k] * ring.b[n, k]; "                                         \
    "C[t.i*64 + m, t.j*64 + n] = f16(acc[m, n]); } } } }"
#define STAY "cta persistent (t : tiles(M by 64, N by 64)) warpgroups 2"
#define PAIR                                                                   \
    "cluster (4) cta persistent (t : tiles(M by 64, N by 64)) warpgroups 2"
#define FILLS "warpgroup (0)"
#define READS "warpgroup (1)"

/* Three warps of a group are one role, the fourth another. */
#define THREE(warps, first, second, more)                                      \
    "kernel k(in f32 X[M], out f32 Y[3, M], out f32 Z[M], out f32 W[M]) { "    \
    "index m; cta (i : 1) warps " warps " { roles { warp (w : 0..3) "          \
    "registers " first " Y[w, m] = X[m]; warp (3) registers " second           \
    " Z[m] = X[m]; " more " } } }"

/* What cannot be, and what is said of it. */
static const struct {
    const char *text, *says;
} wrong[] = {
    {RING(STAY, "", "warp (0) registers 40", READS),
     "registers 40: sm_90a gives registers to whole warp groups, and warp 1, "
     "of the same, does not ask for 40"},
    {THREE("4", "40", "48", ""),
     "registers 40: sm_90a gives registers to whole warp groups, and warp 3, "
     "of the same, does not ask for 40"},
    {THREE("8", "40", "40", "warpgroup (1) registers 56 W[m] = X[m];"), ""},
    {"kernel k(in f32 X[M], out f32 Y[M]) { cta (i : M by 128) warps 4 { roles "
     "{ "
     "thread (t : 0..128) registers 40 Y[i*128 + t] = X[i*128 + t]; } } }",
     "registers 40: sm_90a gives registers to warp groups of a cta, not to "
     "each thread"},
    {RING("cta persistent (t : tiles(M by 64, N by 64)) warpgroups 3", "",
          FILLS " registers 240", READS " registers 256"),
     "the roles ask for 84992 registers; sm_90a has 65536"},
    {RING(STAY, "", FILLS " registers 256", READS " registers 256"), ""},
    {RING(PAIR, " : auto + [2 : 1@cta]", FILLS, READS),
     "pipeline ring is replicated over 2 CTAs; the cluster has 4"},
    {RING("cta persistent (t : tiles(M by 64, N by 64, hilbert)) "
          "warpgroups 2",
          "", FILLS, READS),
     ""},
    {RING(STAY, "", FILLS, READS), ""},
    {"kernel k(in f16 A[M, K], out f16 C[M, K]) { index m, k; cta (i : M by "
     "64) warpgroups 2 { pipeline ring[3] { shared f16 a[64, 64]; } roles { "
     "warpgroup (0) { for (t : K by 64) produce ring ring.a[m, k] = A[i*64 + "
     "m, t*64 + k]; } warpgroup (1) C[i*64 + m, k] = f16(1.0); } } }",
     "pipeline ring is produced and never consumed: a role would wait for "
     "ever"},
    {"kernel k(in f32 X[M], out f32 Y[M]) { cta (i : M by 8) threads 32 thread "
     "(t : 0..8) turn Y[i*8 + t] = X[i*8 + t]; }",
     "each thread has 1 threads; on sm_90a turns are of whole warps or warp "
     "groups"},
    {"kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 512) warps "
     "16 warp (w : 0..16) { reg f32 x[32]; x[m] = X[i*512 + w*32 + m]; turn "
     "Y[i*512 + w*32 + m] = x[m]; } }",
     "turns and barriers up to this scope take 17 of the named barriers; a CTA "
     "of sm_90a "
     "has "
     "16"},
};

static void
test_refused(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(wrong); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_lowered *l = NULL;
        axe_status         st =
            lower_text(cx, "t", wrong[i].text, "sm_90a", 0, NULL, NULL, &l);

        if (st == AXE_OK)
            assert_string_equal("", wrong[i].says);
        else
            assert_string_equal(axe_last_error(cx), wrong[i].says);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests_name("simt_ring", tests, NULL, NULL);
}
