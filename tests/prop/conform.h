/* conform.h - the rows of test_conform.c: kernels, of kernels/ or odd ones made
 * for this, their settings and sizes. */
#ifndef CONFORM_H
#define CONFORM_H

#include "axe/run.h"

typedef struct size_row {
    const char *name;
    int64_t     value;
} size_row;

typedef struct row {
    const char *what;
    const char *file; /* in kernels/, or NULL: text */
    const char *text;
    const char *set[5]; /* "BM=64" */
    size_row    size[6];
} row;

/* clang-format off */
#define SCALE "kernel k(in f32 X[M, N], in f32 s[M], out f32 Y[M, N]) {" \
              " index m, n; cta (i : M by 16) {" \
              " Y[i*16 + m, n] = X[i*16 + m, n] * s[i*16 + m] + 1.0; } }"
#define COLSUM "kernel k(in f32 X[M, N], out f32 s[N]) { index m, n;" \
               " cta (j : N by 64) { s[j*64 + n] = sum[m](X[m, j*64 + n]); } }"
#define SPREAD "kernel k(in f32 X[M, N], out f32 s[M]) { index m, n;" \
               " cta (i : M by 8) { reg f32 a[8]; reg f32 b[8];" \
               " a[m] = max[n](X[i*8 + m, n]); b[m] = min[n](X[i*8 + m, n]);" \
               " s[i*8 + m] = a[m] - b[m]; } }"
#define RELU "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;" \
             " cta (i : M by 4) { Y[i*4 + m, n] = X[i*4 + m, n] > 0.0 ?" \
             " X[i*4 + m, n] : X[i*4 + m, n] * 0.125; } }"
#define BATCH "kernel k(in f32 A[P, M, K], in f32 B[P, K, N], out f32 C[P, M, N])" \
              " { index m, n, k; cta (p : P, i : M by 32, j : N by 32) {" \
              " reg f32 acc[32, 32] = 0;" \
              " shared f32 a[32, 16]; shared f32 b[16, 32];" \
              " for (t : K by 16) {" \
              " a[m, k] = A[p, i*32 + m, t*16 + k];" \
              " b[k, n] = B[p, t*16 + k, j*32 + n];" \
              " acc[m, n] += a[m, k] * b[k, n]; }" \
              " C[p, i*32 + m, j*32 + n] = max(acc[m, n], 0.0); } }"
#define PLACED "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N])" \
               " { index m, n, k; cta (i : M by 32, j : N by 32) {" \
               " reg f32 acc[32, 32] = 0;" \
               " shared f32 a[32, 16] : (32, 16) : (20, 1);" \
               " shared f32 b[32, 16] : ((2, 16), 16) : ((272, 1), 17);" \
               " for (t : K by 16) {" \
               " a[m, k] = A[i*32 + m, t*16 + k];" \
               " b[n, k] = B[j*32 + n, t*16 + k];" \
               " acc[m, n] += a[m, k] * b[n, k]; }" \
               " C[i*32 + m, j*32 + n] = acc[m, n]; } }"
#define BROKEN "kernel k(in f32 A[M, K], in f32 B[K, N], out f32 C[M, N])" \
               " { index m, n, k; cta (i : M by 8, j : N by 12) {" \
               " reg f32 acc[8, 12] = 0; shared f32 a[8, 4];" \
               " shared f32 b[4, 12] : (4, (2, 6)) : (6, (30, 1));" \
               " for (t : K by 4) {" \
               " a[m, k] = A[i*8 + m, t*4 + k];" \
               " b[k, n] = B[t*4 + k, j*12 + n];" \
               " acc[m, n] += a[m, k] * b[k, n] slow; }" \
               " C[i*8 + m, j*12 + n] = acc[m, n]; } }"
#define MASK "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;" \
             " cta (i : M by 8) { Y[i*8 + m, n] =" \
             " i*8 + m >= n ? X[i*8 + m, n] : -1.0; } }"
#define ROWS "kernel k(in f32 X[M, N], out f32 Y[M, N], out f32 Z[M, N])" \
             " { index m, n; cta (i : M by 8) { Y[i*8 + m, n] =" \
             " i*8 + m > 5 ? X[i*8 + m, n] : -1.0;" \
             " Z[i*8 + m, n] = X[i*8 + m, n] * f32(i*8 + m) + f32(N); } }"
#define WIDTHS "kernel k(in f32 X[M, N], in f64 D[M, N], out f32 Y[M, N]," \
               " out f64 Z[M, N]) { index m, n; cta (i : M by 8) {" \
               " Y[i*8 + m, n] = D[i*8 + m, n] > 0.25 ? X[i*8 + m, n] : 0.5;" \
               " Z[i*8 + m, n] = X[i*8 + m, n] > 0.25 && D[i*8 + m, n] < 0.5" \
               " && m > 2 || i == 1 ? D[i*8 + m, n] : 0.5; } }"
#define FOLDS "kernel k(in f32 X[M, N], out f32 Y[M], out f32 P[M])" \
              " { index m, n; cta (i : M by 8) { Y[i*8 + m] =" \
              " sum[n](n >= i*8 + m ? X[i*8 + m, n] : 0.0);" \
              " P[i*8 + m] = prod[n](1.0 + X[i*8 + m, n] / 64); } }"
#define LEAST "kernel k(in f32 X[M, N], out f32 Z[N]) { index m, n;" \
              " cta (j : N by 64) { Z[j*64 + n] = min[m](X[m, j*64 + n]); } }"
#define TIES "kernel k(in i8 X[M, N], out i8 Y[M, N]) { index m, n;" \
             " cta (i : M) { Y[i, n] = i8(" \
             "f32(X[i, n]) * 0.5001 + 4096.0 - 4096.0); } }"
#define NARROW "kernel k(in f32 X[M, N], out i8 Y[M, N]) { index m, n;" \
               " cta (i : M) { Y[i, n] ="  \
               " i8(X[i, n] * 100.0); } }"

#define BRANCH "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;" \
               " cta (i : M by 8, j : N by 16) { reg f32 x[8, 16];" \
               " if (i == 0 && !(j > 1)) x[m, n] = X[i*8 + m, j*16 + n] * 2;" \
               " else if (i % 2 == 1 || abs(1 - i) * (i < j ? 1 : 0) > 1) {" \
               " reg f32 t[8, 16]; t[m, n] = X[i*8 + m, j*16 + n];" \
               " x[m, n] = t[m, n] + 1; } else x[m, n] = 3;" \
               " if (j >= 0) { } else x[m, n] = -1;" \
               " Y[i*8 + m, j*16 + n] = x[m, n]; } }"
#define DECIDED "kernel k<BM = 8, DOUBLE = 1>(in f32 X[M], out f32 Y[M])" \
                " { index m; if (DOUBLE == 1) cta (i : M by BM) {" \
                " if (DOUBLE == 2) { Y[m, m] = i8(X[0, 1.5]); } else {" \
                " reg f32 x[BM]; x[m] = X[i*BM + m]; Y[i*BM + m] = 2*x[m]; }" \
                " } else cta (i : M) Y[i] = X[i]; }"
#define PEEL "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N])" \
             " { index m, n, k; cta (i : M by 32, j : N by 32) {" \
             " reg f32 acc[32, 32] = 0;" \
             " shared f32 a[32, 16] = 0; shared f32 b[32, 16];" \
             " for (t : K by 16) { b[n, k] = B[j*32 + n, t*16 + k];" \
             " if (t % 2 == 1) a[m, k] = A[i*32 + m, t*16 + k];" \
             " if (t != 2) acc[m, n] += a[m, k] * b[n, k];" \
             " else { shared f32 c[32, 16]; c[m, k] = A[i*32 + m, t*16 + k];" \
             " acc[m, n] += c[m, k] * b[n, k]; } }" \
             " C[i*32 + m, j*32 + n] = acc[m, n]; } }"
#define STALE "kernel k(in f32 X[N], out f32 Y[M, N]) { index m;" \
              " cta (i : 1) { reg f32 x[8] = 0; for (a : M)" \
              " for (t : N by 8) { Y[a, t*8 + m] = x[m];" \
              " x[m] = X[t*8 + m]; } } }"
#define TURNS "kernel k(in f32 X[N], out f32 Y[M, N], out f32 Z[M, N])" \
              " { index m; cta (i : 1) { reg f32 x[8] = 0; for (a : M) {" \
              " for (t : N by 8) { x[m] = X[t*8 + m]; Y[a, t*8 + m] = x[m]; }" \
              " for (t : N by 8) Z[a, t*8 + m] = x[m]; } } }"
#define NAMES "kernel k(in f32 X[worker, 4], in f32 W[worker, task]," \
              " out f32 Y[worker, task], out f32 Z[worker]) { index m, n;" \
              " cta (i : worker by 8) { reg f32 t_1[8] = 0;" \
              " for (m_4 : 4) { reg f32 t[8]; t[m] = X[i*8 + m, m_4];" \
              " t_1[m] = t[m] + t_1[m]; } for (m_3 : 4) { reg f32 t[8];" \
              " t[m] = X[i*8 + m, m_3]; t_1[m] = t[m]*3 + t_1[m]; }" \
              " for (m_1 : 4) Z[i*8 + m] = X[i*8 + m, m_1];" \
              " for (m_5 : 4) Z[i*8 + m] = X[i*8 + m, m_5];" \
              " for (inside_8 : 4) Z[i*8 + m] = X[i*8 + m, inside_8];" \
              " pipeline r[2] { shared f32 a[8, 4]; }" \
              " shared f32 r_a[8, 4] = 1; for (kt : task by 4) {" \
              " produce r r.a[m, n] = W[i*8 + m, kt*4 + n];" \
              " consume r Y[i*8 + m, kt*4 + n] = r.a[m, n] + r_a[m, n]; }" \
              " Z[i*8 + m] = t_1[m]; } }"
#define LOOPED(name) "kernel k(in f32 X[M, 4], out f32 Y[M, 4]) { index m;" \
                     " cta (i : M by 8) { for (" name " : 4)" \
                     " Y[i*8 + m, " name "] = X[i*8 + m, " name "]; } }"

#define CALLS "fn load<type T>(T x[R, C], T X[M, N], i64 row, i64 col)" \
              " { index r, c; x[r, c] = X[row*R + r, col*C + c]; }" \
              " fn scaled<type T>(T x[R, C], f32 by2) { index r, c;" \
              " for (t : 2) { reg T y[R, C]; y[r, c] = x[r, c]*by2*HALF;" \
              " x[r, c] = y[r, c] + y[r, c]; } }" \
              " fn twice<type T>(T x[R, C]) { scaled(x, 2); scaled(x, 1); }" \
              " const HALF = 0.5;" \
              " kernel gemm<type T = f32, BM = 32, BK = 16>(in T A[M, K]," \
              " in T B[N, K], out T C[M, N]) { index m, n, k;" \
              " cta (t : M by BM, j : N by BM) { reg f32 acc[BM, BM] = 0;" \
              " pipeline r[2] { shared T a[BM, BK]; shared T b[BM, BK]; }" \
              " for (kt : K by BK) {" \
              " produce r { load(r.a, A, t, kt); load(r.b, B, j, kt); }" \
              " consume r acc[m, n] += r.a[m, k] * r.b[n, k]; }" \
              " twice(acc); C[t*BM + m, j*BM + n] = T(acc[m, n]); } }"

#define GROUPED "kernel k<G = 3>(in f32 Q[H, M, 16], in f32 K[L, 16]," \
                " in f32 R[N], out f32 S[H, M], out f32 T[H, M])" \
                " { index m, d; cta (h : H, i : M by 32) { reg f32 k[16];" \
                " k[d] = K[h/G, d];" \
                " S[h, i*32 + m] = sum[d](Q[h, i*32 + m, d] * k[d])" \
                " + K[(h + 1) % G, 3] + K[cdiv(h, G) - 1, 2];" \
                " T[h, i*32 + m] = R[h*M + i*32 + m]; } }"

#define TURNED "kernel k(in f32 K[G, N, M], out f32 Y[H, M, N])" \
               " { index m, n; cta (h : H, i : M by 32, j : N by 32)" \
               " Y[h, i*32 + m, j*32 + n]" \
               " = K[h/cdiv(H, G) - 1, j*32 + n, i*32 + m]; }"

#define NEWTON "kernel root(in f32 X[M], out f32 Y[M], out i32 N[M], out bool B[M])" \
               " { cta (i : M) { f32 y = 1; i32 n = 0; while (n < 50) {" \
               " f32 a = abs(X[i]); f32 next = 0.5 * (y + a / y);" \
               " if (abs(next - y) <= 1e-3 * y) break; y = next; n += 1; }" \
               " Y[i] = y; N[i] = n; B[i] = y > 0.5; } }"
#define COUNTS "kernel k(in i32 X[M], out i32 Y[M], out i32 Z[M], out i32 W[M])" \
               " { cta (i : M) { i32 n = X[i]; i64 steps = 0; u8 w = 250;" \
               " if (n < 0) n = -1 - n; n = n - n / 100 * 100 + 1;" \
               " while (true) { if (n == 1) break; steps += 1; w += 1;" \
               " if (n - n / 2 * 2 == 0) { n = n / 2; continue; }" \
               " n = 3*n + 1; w max= 3; } Y[i] = n; Z[i] = i32(steps); W[i] = w; } }"
#define THREADS "kernel k(in f32 X[M], out f32 Y[M], inout i32 N[M])" \
                " { index m, k; cta (i : M by 64) { shared f32 x[64];" \
                " reg f32 all[4] = 0; f32 total = 0; x[m] = X[i*64 + m];" \
                " warp (w : 0..2) { f32 s = 0; for (k0 : 2..32 step 3) {" \
                " if (x[w*32 + k0] < 0) continue; s += x[w*32 + k0];" \
                " if (k0 > 20) break; } all[w] = s; thread (t) {" \
                " bool neg = x[w*32 + t] < 0; i64 c = 3; while (c > 0) {" \
                " c += -1; if (c == 1) continue; x[w*32 + t] *= 2; }" \
                " Y[i*64 + w*32 + t] = neg ? x[w*32 + t] + s : 0.5; } }" \
                " warp (3) all[3] = 1; thread (0) { total = sum[k](all[k]);" \
                " N[i] += i32(total > 0 ? 1 : 0); } } }"
#define SLICES "kernel k<N = 3>(in f32 X[M, 8], out f32 Y[M, 8]) { index m;" \
               " cta (i : M) { reg f32 v[8] = 0; warpgroup (g : 0..2)" \
               " warp (w : 1..3) thread (t : 4..6) { f32 s = 0;" \
               " for (j : 0..8) { f32 q = X[i, j]; if (j > t) s += q;" \
               " else s max= q; } v[g*4 + (w - 1)*2 + t - 4] = s*N; }" \
               " lane (l : 8) Y[i, l] = v[l] + 1; } }"

#define RUNNING "kernel k(in f32 X[M, N], out f32 Y[M, N]) { cta (i : M) {" \
                " Y[i, 0] = X[i, 0]; for (n : 1..N)" \
                " Y[i, n] = Y[i, n - 1] * 0.5 + X[i, n]; } }"
#define REGION "kernel k(in f32 G[M, N], out f32 Y[16, 64], inout f32 Z[M, N])" \
               " { cta (i : 1) { shared f32 S[16, 64];" \
               " shared f32 T[64, 16] : ((8, 8), 16) : ((128, 1), 8);" \
               " warp (w : 0..4) thread (t) for (v : 8)" \
               " S[w*4 + t/8, t%8*8 + v] = G[16 + w*4 + t/8, 64 + v + t%8*8];" \
               " for (a : 8) for (b : 16) for (c : 8)" \
               " T[c*8 + a, b] = S[b, a + 8*c] + f32(c - b);" \
               " thread (t : 0..1024) Y[t/64, t%64] = T[t%64, t/64]; }" \
               " cta (j : N by 32) thread (t : 0..32) for (r : M)" \
               " Z[r, j*32 + t] += G[r, j*32 + t]; }"

/* A product: how many rows and columns of results, what the sums begin with,
 * what comes before and after them. */
#define ENDS(rows, columns, params, start, more, end)                           \
    "kernel k(in f32 A[M, K], in f32 B[L, N], " params                         \
    ") { index m, n, k; cta (i : " rows " by 32, j : " columns " by 32) {"     \
    " reg f32 acc[32, 32] = " start "; shared f32 a[32, 16];"                  \
    " shared f32 b[16, 32]; " more                                             \
    " for (t : K by 16) { a[m, k] = A[i*32 + m, t*16 + k];"                    \
    " b[k, n] = B[t*16 + k, j*32 + n];"                                        \
    " acc[m, n] += a[m, k] * b[k, n]; } " end " } }"
#define ALIKE(params, start, more, end)                                        \
    ENDS("M", "N", params, start, more, end)
#define PUT "C[i*32 + m, j*32 + n] = acc[m, n];"
#define WRAPS "kernel k(in i8 A[M, K], in i8 B[K, N], out i32 C[M, N])" \
              " { index m, n, k; cta (i : M by 32, j : N by 32) {" \
              " reg i8 acc[32, 32] = 0; shared i8 a[32, 16];" \
              " shared i8 b[16, 32]; for (t : K by 16) {" \
              " a[m, k] = A[i*32 + m, t*16 + k];" \
              " b[k, n] = B[t*16 + k, j*32 + n];" \
              " acc[m, n] += a[m, k] * b[k, n]; }" \
              " C[i*32 + m, j*32 + n] = i32(acc[m, n]); } }"
#define WINDOW "kernel k(in f32 X[M, N], out f32 Y[M, N], out f32 Z[M])" \
               " { index m, n; cta (i : M by 8) { Y[i*8 + m, n] =" \
               " (n < 40 ? X[i*8 + m, n] : 0.0) +" \
               " (n < 2*(i*8 + m) ? 1.0 : 2.0) + (n == 33 ? 4.0 : 0.0);" \
               " Z[i*8 + m] = sum[n](n <= 20 && n + 9 > i*8 + m ?" \
               " X[i*8 + m, n] : 0.0); } }"
#define FAR "kernel k(in f32 X[M, N], out f32 Y[M, N], out f64 Z[M, N])" \
            " { index m, n; cta (i : M by 8) { Y[i*8 + m, n] =" \
            " (n*1000000000 > (i*8 + m)*3000000000 ? X[i*8 + m, n] : 0.5)" \
            " + (n*1000000000 < (i*8 + m)*3000000000 + 7 ? 1.0 : 3.0);" \
            " Z[i*8 + m, n] = f64(n - 3000000000) + f64(m*1000000000); } }"

#define LARGE "kernel k(out f32 Y[M, 16], out f32 Z[M, 16], out f32 W[M, N])" \
              " { index m, n; cta (i : M by 8) {" \
              " reg f32 y[8, 16]; reg f32 z[8, 16];" \
              " y[m, n] = f32(n*100000000 + m*1000000000);" \
              " z[m, n] = f32(n*100000000 - m*1000000000);" \
              " Y[i*8 + m, n] = y[m, n]; Z[i*8 + m, n] = z[m, n];" \
              " W[i*8 + m, n] = f32(i32(n*5000000001 + m)); } }"

#define CLASH "kernel k(in f32 X[M, 24], out f32 Y[M, 24]) { index m, n;" \
              " cta (i : M by 8) {" \
              " reg f32 x[8, 24] : (8, (4, 6)) : (52, (13, 2));" \
              " reg f32 y[8, 24] : (8, (2, 3, 4)) : (70, (35, 11, 2));" \
              " x[m, n] = X[i*8 + m, n]; y[m, n] = x[m, n] * 2;" \
              " Y[i*8 + m, n] = y[m, n]; } }"

#define UNGROUPED "kernel k(in i8 X[M, N], out i8 Y[M, N]) { index m, n;" \
                  " cta (i : M by 32, j : N by 64) {" \
                  " shared i8 t[32, 64] : (32, (16, 4)) : (4, (128, 1));" \
                  " t[m, n] = X[i*32 + m, j*64 + n];" \
                  " Y[i*32 + m, j*64 + n] = t[m, n]; } }"

#define SHIFTS "kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;" \
               " cta (i : M by 8) Y[i*8 + m, n] = X[i*8 + m, n - 3] +" \
               " X[i*8 + m, n + i*8 - 20] + X[i*8 + m, n - m]; }"
#define BYTES "kernel k(in i8 A[M, K], in i8 B[N, K], out i32 C[M, N])" \
              " { index m, n, k; cta (i : M by 16, j : N by 48) {" \
              " reg i32 c[16, 48] = 0; shared i8 a[16, 16];" \
              " shared i8 b[48, 16]; for (t : K by 16) {" \
              " a[m, k] = A[i*16 + m, t*16 + k];" \
              " b[n, k] = B[j*48 + n, t*16 + k];" \
              " c[m, n] += a[m, k] * b[n, k]; }" \
              " C[i*16 + m, j*48 + n] = c[m, n]; } }"

#define DIAGONAL "kernel k(in f32 A[M, K], in f32 B[K, N], out f32 C[M, N])" \
                 " { index m, n, k, r; cta (i : M by 16, j : N by 48) {" \
                 " reg f32 c[16, 48] = 0; shared f32 a[16, 32, 16];" \
                 " shared f32 b[32, 48]; for (t : K by 32) {" \
                 " a[m, k, r] = A[i*16 + m, t*32 + k] + f32(m - r);" \
                 " b[k, n] = B[t*32 + k, j*48 + n];" \
                 " c[m, n] += a[m, k, m] * b[k, n]; }" \
                 " C[i*16 + m, j*48 + n] = c[m, n]; } }"

#define GATHERED "kernel k(in f32 X[N], in i8 I[K], out f32 Y[M], out f32 Z[M])" \
                 " { index m, k; cta (i : M by 32) {" \
                 " Y[i*32 + m] = sum[k](X[i*32 + m + I[k]]);" \
                 " Z[i*32 + m] = sum[k](X[(I[k] > 0 ? I[k] : k) + i*32 + m]); } }"
#define WINDOWS "kernel k(in f32 X[N], in f32 W[K], out f32 Y[N])" \
                " { index n, k; cta (i : N by 64) Y[i*64 + n] =" \
                " sum[k](X[i*64 + n - 2*k + 3] * W[k]); }"
#define BLOCKS "kernel k(in f32 X[M, N], out f32 Y[M, T]) { index m, n;" \
               " cta (i : M by 8, j : N by 64) {" \
               " reg f32 y[8, 64] : (8, (2, 32)) : (32, (256, 1));" \
               " y[m, n] = j*64 + n > i*8 + m ? X[i*8 + m, j*64 + n] : 0.5;" \
               " Y[i*8 + m, j] = sum[n](y[m, n]); } }"
#define ACROSS "kernel k(in f32 A[K, M], in f32 B[K, N], out f32 C[M, N])" \
               " { index m, n, k; cta (i : M by 32, j : N by 48) {" \
               " reg f32 c[32, 48] = 0; shared f32 a[32, 16];" \
               " shared f32 b[16, 48]; for (t : K by 16) {" \
               " a[m, k] = A[t*16 + k, i*32 + m];" \
               " b[k, n] = B[t*16 + k, j*48 + n];" \
               " c[m, n] += a[m, k] * b[k, n]; }" \
               " C[i*32 + m, j*48 + n] = c[m, n]; } }"

#define BELOW "kernel k(in f32 X[N], out f32 Y[N], out f32 Z[N]) { index n;" \
              " cta (i : N by 16) { Y[i*16 + n] = X[(i*16 + n - 3)/2];" \
              " if ((i - 3)/2 == -1) Z[i*16 + n] = 1;" \
              " else if ((i - 5)%3 == 1) Z[i*16 + n] = 2;" \
              " else Z[i*16 + n] = X[(i - 2)/4 + n]; } }"
#define QUOTIENTS "kernel k(out f32 Y[M, 45], out f32 Z[M, 45]) {" \
                  " index m, n; cta (i : M by 8) { i64 q = i - 3;" \
                  " Y[i*8 + m, n] = f32((n - 20) / 8 + (n - 20) % 16 * 100" \
                  " + (i*7 - n) / 4 + n % 1);" \
                  " Z[i*8 + m, n] = f32((n - 20) / q * 100 + (n - 20) % q); } }"
#define SHIFTED "kernel k(in f32 X[C, H, W], in f32 F[O, C, 3, 3]," \
                " out f32 Y[H, O, W]) { index o, c, p, q, y, x;" \
                " cta (u : H by 4, v : W by 32, i : O by 16) {" \
                " reg f32 acc[4, 16, 32] = 0; shared f32 f[3, 3, 16, 8];" \
                " shared f32 t[8, 6, 34]; for (k : C by 8) {" \
                " f[p, q, o, c] = F[i*16 + o, k*8 + c, p, q];" \
                " t[c, y, x] = X[k*8 + c, u*4 + y - 1, v*32 + x - 1];" \
                " for (r : 4) for (g : 3) for (s : 2) for (h : 3)" \
                " acc[r, o, x] += f[g, h, o, c] * t[c, r + g, x + h]; }" \
                " Y[u*4 + y, i*16 + o, v*32 + x] = acc[y, o, x]; } }"
#define STRIDED "kernel k(in f32 X[L, C], in f32 W[C, 4], out f32 Y[L, C]) {" \
                " index t, c, j; cta (i : L by 16, k : C by 16)" \
                " Y[i*16 + t, k*16 + c] = sum[j](W[k*16 + c, j]" \
                " * X[i*16 + t + j - 3, k*16 + c]); }"

/* A result of more rows than the factor has: of those f(0) is stored. */
#define LONGER "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[P, N]) {" \
              " index m, n, k; cta (i : M by 48, j : N by 48) {" \
              " reg f32 c[48, 48] = 0; shared f32 a[48, 32]; shared f32 b[48, 32];" \
              " for (t : K by 32) { a[m, k] = A[i*48 + m, t*32 + k];" \
              " b[n, k] = B[j*48 + n, t*32 + k]; c[m, n] += a[m, k] * b[n, k]; }" \
              " C[i*48 + m, j*48 + n] = c[m, n] + 1.0; } }"
/* Several elements folded side by side: one index, two, either the longer. */
#define DOTTED "kernel k<type T = f32>(in T A[M, K], in T x[K], inout T y[M]) {" \
              " index m, k; cta (i : M by 16) {" \
              " y[i*16 + m] += T(sum[k](accum(T)(A[i*16 + m, k]) * accum(T)(x[k]))); } }"
#define PAIRS(fold, f) "kernel k<type T = f32>(in T A[M, K], in T B[N, K], out T C[M, N]) {" \
              " index m, n, k; cta (j : N by 24) { C[m, j*24 + n] =" \
              " T(" fold "[k](" f "(accum(T)(A[m, k]) - accum(T)(B[j*24 + n, k])))); } }"
#define NEAREST "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[N, M]) {" \
              " index m, n, k; cta (i : M by 8) { C[n, i*8 + m] =" \
              " max[k](A[i*8 + m, k] * B[n, k]) * 0.5 + A[i*8 + m, 0]; } }"
static const row rows[] = {
    {"gemm of few rows",          "gemm.axe", NULL, {NULL},                    {{"M", 5}, {"N", 203}, {"K", 259}}},
    {"gemm of few rows, bf16",    "gemm.axe", NULL, {"T=bf16"},                {{"M", 3}, {"N", 53}, {"K", 300}}},
    {"gemm of few rows, f64",     "gemm.axe", NULL, {"T=f64"},                 {{"M", 7}, {"N", 30}, {"K", 131}}},
    {"gemm of few rows, f16",     "gemm.axe", NULL, {"T=f16", "M=9", "K=277"}, {{"M", 9}, {"N", 30}, {"K", 277}}},
    {"gemm of one row, known",    "gemm.axe", NULL, {"M=1", "N=5", "K=400"},   {{"M", 1}, {"N", 5}, {"K", 400}}},
    {"few rows and an end",       "gemm_bias_relu.axe", NULL, {NULL},          {{"M", 13}, {"N", 203}, {"K", 259}}},
    {"not quite few rows",        "gemm.axe", NULL, {NULL},                    {{"M", 33}, {"N", 50}, {"K", 130}}},
    {"a longer result",           NULL, LONGER, {NULL},                        {{"M", 5}, {"P", 9}, {"N", 50}, {"K", 259}}},
    {"few rows, a short sum",     "gemm.axe", NULL, {NULL},                    {{"M", 5}, {"N", 50}, {"K", 127}}},
    {"folds side by side",        NULL, DOTTED, {NULL},                        {{"M", 45}, {"K", 37}}},
    {"folds side by side, bf16",  NULL, DOTTED, {"T=bf16"},                     {{"M", 22}, {"K", 67}}},
    {"folds side by side, f64",   NULL, DOTTED, {"T=f64"},                      {{"M", 35}, {"K", 3}}},
    {"pairs side by side",        NULL, PAIRS("sum", "abs"), {NULL},           {{"M", 8}, {"N", 53}, {"K", 75}}},
    {"pairs side by side, bf16",  NULL, PAIRS("sum", "abs"), {"T=bf16"},       {{"M", 13}, {"N", 29}, {"K", 21}}},
    {"least pairs, f64",          NULL, PAIRS("min", "abs"), {"T=f64"},        {{"M", 2}, {"N", 50}, {"K", 37}}},
    {"the rows are the tile",     NULL, NEAREST, {NULL},                       {{"M", 21}, {"N", 14}, {"K", 19}}},
    {"a running sum",         NULL, RUNNING, {NULL},                           {{"M", 7}, {"N", 50}}},
    {"a region by threads",   NULL, REGION, {NULL},                            {{"M", 28}, {"N", 110}}},
    {"newton's steps",        NULL, NEWTON, {NULL},                            {{"M", 131}}},
    {"a loop to one",         NULL, COUNTS, {NULL},                            {{"M", 200}}},
    {"threads of warps",      NULL, THREADS, {NULL},                           {{"M", 333}}},
    {"slices of scopes",      NULL, SLICES, {NULL},                            {{"M", 21}}},
    {"gemm f32 one tile",     "gemm.axe", NULL, {"BM=16", "BN=48", "BK=8"},    {{"M", 16}, {"N", 48}, {"K", 8}}},
    {"gemm f32 odd",          "gemm.axe", NULL, {NULL},                        {{"M", 131}, {"N", 77}, {"K", 259}}},
    {"gemm f32 small tiles",  "gemm.axe", NULL, {"BM=24", "BN=32", "BK=7"},    {{"M", 61}, {"N", 95}, {"K", 23}}},
    {"gemm f32 many tiles",   "gemm.axe", NULL, {"BM=8", "BN=16", "BK=16"},    {{"M", 50}, {"N", 100}, {"K", 33}}},
    {"gemm f64",              "gemm.axe", NULL, {"T=f64", "BM=32", "BN=64"},   {{"M", 45}, {"N", 70}, {"K", 37}}},
    {"gemm f16",              "gemm.axe", NULL, {"T=f16"},                     {{"M", 33}, {"N", 65}, {"K", 100}}},
    {"gemm bf16",             "gemm.axe", NULL, {"T=bf16"},                    {{"M", 200}, {"N", 390}, {"K", 31}}},
    {"gemm i8",               "gemm.axe", NULL, {"T=i8", "BM=32", "BN=64"},    {{"M", 33}, {"N", 65}, {"K", 40}}},
    {"gemm one element",      "gemm.axe", NULL, {NULL},                        {{"M", 1}, {"N", 1}, {"K", 1}}},
    {"gemm no sum",           "gemm.axe", NULL, {NULL},                        {{"M", 5}, {"N", 6}, {"K", 0}}},
    {"grouped heads",         NULL, GROUPED, {NULL},                           {{"H", 7}, {"M", 45}, {"L", 2}, {"N", 300}}},
    {"grouped heads, all",    NULL, GROUPED, {NULL},                           {{"H", 6}, {"M", 33}, {"L", 3}, {"N", 198}}},
    {"turned heads",          NULL, TURNED, {NULL},                            {{"H", 7}, {"M", 45}, {"N", 70}, {"G", 3}}},
    {"gemm nothing",          "gemm.axe", NULL, {NULL},                        {{"M", 0}, {"N", 6}, {"K", 3}}},
    {"softmax",               "softmax.axe", NULL, {NULL},                     {{"M", 37}, {"N", 129}}},
    {"softmax short rows",    "softmax.axe", NULL, {"BM=4"},                   {{"M", 9}, {"N", 3}}},
    {"softmax f64",           "softmax.axe", NULL, {"T=f64"},                  {{"M", 10}, {"N", 50}}},
    {"softmax bf16",          "softmax.axe", NULL, {"T=bf16"},                 {{"M", 10}, {"N", 50}}},
    {"softmax f16",           "softmax.axe", NULL, {"T=f16"},                  {{"M", 16}, {"N", 64}}},
    {"transpose f32",         "transpose.axe", NULL, {NULL},                   {{"M", 100}, {"N", 75}}},
    {"transpose exact",       "transpose.axe", NULL, {NULL},                   {{"M", 128}, {"N", 64}}},
    {"transpose f16",         "transpose.axe", NULL, {"T=f16"},                {{"M", 70}, {"N", 65}}},
    {"transpose direct",      "transpose.axe", NULL, {"LARGE=0"},            {{"M", 100}, {"N", 75}}},
    {"transpose direct f64",  "transpose.axe", NULL, {"T=f64", "LARGE=0"},   {{"M", 33}, {"N", 90}}},
    {"transpose i8",          "transpose.axe", NULL, {"T=i8"},                 {{"M", 33}, {"N", 90}}},
    {"transpose f64 odd tile","transpose.axe", NULL, {"T=f64", "BM=9", "BN=7"}, {{"M", 33}, {"N", 90}}},
    {"scale",                 NULL, SCALE, {NULL},                             {{"M", 33}, {"N", 50}}},
    {"column sums",           NULL, COLSUM, {NULL},                            {{"M", 33}, {"N", 150}}},
    {"max - min",             NULL, SPREAD, {NULL},                            {{"M", 33}, {"N", 150}}},
    {"leaky relu",            NULL, RELU, {NULL},                              {{"M", 9}, {"N", 45}}},
    {"batched gemm",          NULL, BATCH, {NULL},                             {{"P", 3}, {"M", 40}, {"N", 50}, {"K", 20}}},
    {"declared layouts",      NULL, PLACED, {NULL},                            {{"M", 40}, {"N", 50}, {"K", 20}}},
    {"runs that break within a vector", NULL, BROKEN, {NULL},                  {{"M", 9}, {"N", 25}, {"K", 6}}},
    {"mask",                  NULL, MASK, {NULL},                              {{"M", 20}, {"N", 30}}},
    {"masks of rows",         NULL, ROWS, {NULL},                              {{"M", 20}, {"N", 70}}},
    {"masks of all widths",   NULL, WIDTHS, {NULL},                            {{"M", 20}, {"N", 70}}},
    {"folds in chains",       NULL, FOLDS, {NULL},                             {{"M", 70}, {"N", 333}}},
    {"chains of vectors",     NULL, LEAST, {NULL},                             {{"M", 71}, {"N", 133}}},
    {"ties in f32 only",      NULL, TIES, {NULL},                              {{"M", 20}, {"N", 30}}},
    {"narrow",                NULL, NARROW, {NULL},                            {{"M", 20}, {"N", 30}}},
    {"branches",              NULL, BRANCH, {NULL},                            {{"M", 37}, {"N", 45}}},
    {"decided",               NULL, DECIDED, {NULL},                           {{"M", 37}}},
    {"decided else",          NULL, DECIDED, {"DOUBLE=0"},                     {{"M", 37}}},
    {"loads in branches",     NULL, PEEL, {NULL},                              {{"M", 40}, {"N", 50}, {"K", 77}}},
    {"a turn later",          NULL, STALE, {NULL},                             {{"M", 3}, {"N", 21}}},
    {"another loop's turn",   NULL, TURNS, {NULL},                             {{"M", 3}, {"N", 21}}},
    {"names",                 NULL, NAMES, {NULL},                             {{"worker", 37}, {"task", 45}}},
    {"calls",                 NULL, CALLS, {NULL},                             {{"M", 50}, {"N", 70}, {"K", 33}}},
    {"calls bf16",            NULL, CALLS, {"T=bf16"},                         {{"M", 50}, {"N", 70}, {"K", 33}}},
    {"loop named m_2",        NULL, LOOPED("m_2"), {NULL},                     {{"M", 37}}},
    {"loop named m_5",        NULL, LOOPED("m_5"), {NULL},                     {{"M", 37}}},
    {"loop named end_3",      NULL, LOOPED("end_3"), {NULL},                   {{"M", 37}}},
    {"results beyond the factors", NULL, ENDS("P", "Q", "out f32 C[P, Q]", "0", "", PUT), {NULL},
     {{"M", 21}, {"N", 75}, {"K", 20}, {"L", 20}, {"P", 75}, {"Q", 200}}},
    {"a sum cut twice", NULL, ALIKE("out f32 C[M, N]", "0", "", PUT), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 60}, {"L", 23}}},
    {"a sum cut twice, later", NULL, ALIKE("out f32 C[M, N]", "0", "", PUT), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 23}, {"L", 60}}},
    {"sums that begin at 1.5", NULL, ALIKE("out f32 C[M, N]", "1.5", "", PUT), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 40}, {"L", 40}}},
    {"sums that begin elsewhere", NULL, ALIKE("in f32 D[M, N], out f32 C[M, N]", "0", "acc[m, n] += D[i*32 + m, j*32 + n];", PUT), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 40}, {"L", 40}}},
    {"sums that are read twice", NULL, ALIKE("out f32 C[M, N], out f32 D[M, N]", "0", "", PUT " D[i*32 + m, j*32 + n] = 2*acc[m, n];"), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 40}, {"L", 40}}},
    {"sums that are read across", NULL, ALIKE("out f32 C[M, N]", "0", "", "C[i*32 + m, j*32 + n] = acc[n, m] + 2*acc[m, n];"), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 40}, {"L", 40}}},
    {"sums and a longer row", NULL, ALIKE("in f32 D[P, N], out f32 C[M, N]", "0", "", "C[i*32 + m, j*32 + n] = acc[m, n] + D[i*32 + m, j*32 + n];"), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 40}, {"L", 40}, {"P", 45}}},
    {"sums and a shifted row", NULL, ALIKE("in f32 D[M, N], out f32 C[M, N]", "0", "", "C[i*32 + m, j*32 + n] = acc[m, n] + D[i*32 + m - 1, j*32 + n];"), {NULL},
     {{"M", 70}, {"N", 100}, {"K", 40}, {"L", 40}}},
    {"layouts that clash",      NULL, CLASH, {NULL},                           {{"M", 21}}},
    {"words along the result",  NULL, UNGROUPED, {NULL},                       {{"M", 37}, {"N", 101}}},
    {"large numbers of indices", NULL, LARGE, {NULL},                          {{"M", 21}, {"N", 70}}},
    {"rows shifted by tasks",   NULL, SHIFTS, {NULL},                          {{"M", 37}, {"N", 70}}},
    {"bytes in whole groups",   NULL, BYTES, {NULL},                           {{"M", 37}, {"N", 70}, {"K", 64}}},
    {"bytes and a rest",        NULL, BYTES, {NULL},                           {{"M", 37}, {"N", 70}, {"K", 63}}},
    {"a factor's diagonal",     NULL, DIAGONAL, {NULL},                        {{"M", 37}, {"N", 61}, {"K", 67}}},
    {"elements that subscripts read", NULL, GATHERED, {NULL},                  {{"M", 70}, {"N", 90}, {"K", 70}}},
    {"windows of a sum",        NULL, WINDOWS, {NULL},                         {{"N", 150}, {"K", 5}}},
    {"a mask over blocks",      NULL, BLOCKS, {NULL},                          {{"M", 37}, {"N", 90}, {"T", 2}}},
    {"a left factor by columns", NULL, ACROSS, {NULL},                         {{"M", 61}, {"N", 50}, {"K", 37}}},
    {"sums that wrap",          NULL, WRAPS, {NULL},                           {{"M", 37}, {"N", 70}, {"K", 100}}},
    {"two masks in a row",      NULL, WINDOW, {NULL},                          {{"M", 37}, {"N", 70}}},
    {"indices far away",        NULL, FAR, {NULL},                             {{"M", 21}, {"N", 70}}},
    {"quotients by scalars",    NULL, QUOTIENTS, {NULL},                       {{"M", 61}}},
    {"loops that are sums",     NULL, SHIFTED, {NULL},                         {{"C", 19}, {"H", 7}, {"W", 45}, {"O", 21}}},
    {"quotients below zero",    NULL, BELOW, {NULL},                           {{"N", 100}}},
    {"a strided factor",        NULL, STRIDED, {NULL},                         {{"L", 37}, {"C", 45}}},
};
/* clang-format on */

#endif
