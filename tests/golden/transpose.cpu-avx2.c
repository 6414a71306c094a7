/* transpose for cpu-avx2, made by axe 0.1.0 */
typedef float f32;
typedef double f64;
typedef long long i64;
typedef int i32;
typedef short i16;
typedef signed char i8;
typedef unsigned u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef i32 i32_word __attribute__((aligned(1), may_alias));
typedef i64 i64_word __attribute__((aligned(1), may_alias));
static inline i64 axe_min(i64 a, i64 b) { return a < b ? a : b; }
static inline i64 axe_max(i64 a, i64 b) { return a > b ? a : b; }
static inline i64 axe_div(i64 a, i64 b)
{
    return b ? a / b - (a % b != 0 && (a % b < 0) != (b < 0)) : 0;
}
static inline i64 axe_mod(i64 a, i64 b) { return a - axe_div(a, b) * b; }
typedef f32 f32x8 __attribute__((vector_size(32)));
typedef f32 f32x8u __attribute__((vector_size(32), aligned(1), may_alias));
typedef i32 i32x8 __attribute__((vector_size(32)));
typedef i32 i32x8u __attribute__((vector_size(32), aligned(1), may_alias));
typedef i32 i32x4 __attribute__((vector_size(16)));
typedef i32 i32x4u __attribute__((vector_size(16), aligned(1), may_alias));
typedef f32 f32x4 __attribute__((vector_size(16)));
typedef f32 f32x4u __attribute__((vector_size(16), aligned(1), may_alias));
static inline void stream_f32x8(f32x8 *p, f32x8 a, i64 past)
{
    if (past && ((unsigned long)p & (sizeof a - 1)) == 0)
        __asm__("vmovntps %1, %0" : "=m"(*(f32x8u *)p) : "v"(a));
    else
        *(f32x8u *)p = a;
}
static inline void fence_f32x4(void)
{
    __asm__ volatile("sfence" ::: "memory");
}

void axe_entry(void *const *ptr, const i64 *size, i64 worker, i64 workers, void *scratch, void *team)
{
    const i64 s_M = size[0];
    const i64 s_N = size[1];
    const f32 *restrict t_X = ptr[0];
    f32 *restrict t_Y = ptr[1];
    f32 *restrict t_tile = (void *)((char *)scratch + 0); /* f32 : (64, 64) : (64, 1) */
    const i64 n_task = (s_M + 64 - 1) / 64 * ((s_N + 64 - 1) / 64), share = n_task / workers, more = n_task % workers;
    const i64 first = worker * share + axe_min(worker, more);
    for (i64 l_task_1 = first; l_task_1 < first + share + (worker < more); l_task_1++) {
        const i64 v_j = axe_mod(l_task_1, ((s_N + 64 - 1) / 64));
        const i64 l_task_2 = axe_div(l_task_1, ((s_N + 64 - 1) / 64));
        const i64 v_i = l_task_2;
        /* statement 0, line 11: tile[m, n]  */
        if (64 <= s_M - v_i * 64 && 64 <= s_N - v_j * 64) {
            for (i64 l_m_3 = 0; l_m_3 < 64; l_m_3++) {
                for (i64 l_n_4 = 0; l_n_4 < 64; l_n_4 += 8) {
                    f32x8 r0 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_4 + l_m_3 * s_N);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_4 + l_m_3 * s_N + 4 * s_N]);
                    *(f32x8u *)(t_tile + l_n_4 + l_m_3 * 64) = r0;
                }
            }
        } else {
            const i64 l_end_5 = axe_min(axe_max(s_M - v_i * 64, 0), 64);
            const i64 l_end_7 = axe_min(axe_max(s_N - v_j * 64, 0), 64);
            const i64 l_whole_8 = l_end_7 / 8 * 8;
            for (i64 l_m_6 = 0; l_m_6 < l_end_5; l_m_6++) {
                for (i64 l_n_9 = 0; l_n_9 < l_whole_8; l_n_9 += 8) {
                    f32x8 r1 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_9 + l_m_6 * s_N);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_9 + l_m_6 * s_N + 4 * s_N]);
                    *(f32x8u *)(t_tile + l_n_9 + l_m_6 * 64) = r1;
                }
                for (i64 l_n_10 = l_whole_8; l_n_10 < l_end_7; l_n_10++) {
                    f32 r2 = t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + l_m_6 * s_N];
                    t_tile[l_n_10 + l_m_6 * 64] = r2;
                }
            }
        }
        /* statement 1, line 12: Y[j*64 + n, i*64 + m]  */
        const i64 l_large_11 = 16777216 < s_M * (s_N * 4);
        const i64 l_inside_12 = axe_min(axe_max(s_N - v_j * 64, 0), 64);
        const i64 l_inside_13 = axe_min(axe_max(s_M - v_i * 64, 0), 64);
        const i64 l_whole_14 = l_inside_12 / 8 * 8;
        const i64 l_whole_15 = l_inside_13 / 8 * 8;
        for (i64 l_n_16 = 0; l_n_16 < l_whole_14; l_n_16 += 8) {
            for (i64 l_m_17 = 0; l_m_17 < l_whole_15; l_m_17 += 8) {
                f32x8 r3 = *(f32x8u *)(t_tile + l_n_16 + l_m_17 * 64);
                f32x8 r4 = *(f32x8u *)(t_tile + l_n_16 + (l_m_17 + 1) * 64);
                f32x8 r5 = *(f32x8u *)(t_tile + l_n_16 + (l_m_17 + 2) * 64);
                f32x8 r6 = *(f32x8u *)(t_tile + l_n_16 + (l_m_17 + 3) * 64);
                f32x8 r7 = *(f32x8u *)(t_tile + l_n_16 + (l_m_17 + 4) * 64);
                f32x8 r8 = *(f32x8u *)(t_tile + l_n_16 + (l_m_17 + 5) * 64);
                f32x8 r9 = *(f32x8u *)(t_tile + l_n_16 + (l_m_17 + 6) * 64);
                f32x8 r10 = *(f32x8u *)(t_tile + l_n_16 + (l_m_17 + 7) * 64);
                { f32x8 t = __builtin_shufflevector(r3, r4, 0, 8, 2, 10, 4, 12, 6, 14); r4 = __builtin_shufflevector(r3, r4, 1, 9, 3, 11, 5, 13, 7, 15); r3 = t; }
                { f32x8 t = __builtin_shufflevector(r5, r6, 0, 8, 2, 10, 4, 12, 6, 14); r6 = __builtin_shufflevector(r5, r6, 1, 9, 3, 11, 5, 13, 7, 15); r5 = t; }
                { f32x8 t = __builtin_shufflevector(r7, r8, 0, 8, 2, 10, 4, 12, 6, 14); r8 = __builtin_shufflevector(r7, r8, 1, 9, 3, 11, 5, 13, 7, 15); r7 = t; }
                { f32x8 t = __builtin_shufflevector(r9, r10, 0, 8, 2, 10, 4, 12, 6, 14); r10 = __builtin_shufflevector(r9, r10, 1, 9, 3, 11, 5, 13, 7, 15); r9 = t; }
                { f32x8 t = __builtin_shufflevector(r3, r5, 0, 1, 8, 9, 4, 5, 12, 13); r5 = __builtin_shufflevector(r3, r5, 2, 3, 10, 11, 6, 7, 14, 15); r3 = t; }
                { f32x8 t = __builtin_shufflevector(r4, r6, 0, 1, 8, 9, 4, 5, 12, 13); r6 = __builtin_shufflevector(r4, r6, 2, 3, 10, 11, 6, 7, 14, 15); r4 = t; }
                { f32x8 t = __builtin_shufflevector(r7, r9, 0, 1, 8, 9, 4, 5, 12, 13); r9 = __builtin_shufflevector(r7, r9, 2, 3, 10, 11, 6, 7, 14, 15); r7 = t; }
                { f32x8 t = __builtin_shufflevector(r8, r10, 0, 1, 8, 9, 4, 5, 12, 13); r10 = __builtin_shufflevector(r8, r10, 2, 3, 10, 11, 6, 7, 14, 15); r8 = t; }
                { f32x8 t = __builtin_shufflevector(r3, r7, 0, 1, 2, 3, 8, 9, 10, 11); r7 = __builtin_shufflevector(r3, r7, 4, 5, 6, 7, 12, 13, 14, 15); r3 = t; }
                { f32x8 t = __builtin_shufflevector(r4, r8, 0, 1, 2, 3, 8, 9, 10, 11); r8 = __builtin_shufflevector(r4, r8, 4, 5, 6, 7, 12, 13, 14, 15); r4 = t; }
                { f32x8 t = __builtin_shufflevector(r5, r9, 0, 1, 2, 3, 8, 9, 10, 11); r9 = __builtin_shufflevector(r5, r9, 4, 5, 6, 7, 12, 13, 14, 15); r5 = t; }
                { f32x8 t = __builtin_shufflevector(r6, r10, 0, 1, 2, 3, 8, 9, 10, 11); r10 = __builtin_shufflevector(r6, r10, 4, 5, 6, 7, 12, 13, 14, 15); r6 = t; }
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + l_n_16 * s_M + l_m_17], r3, l_large_11);
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_16 + 1) * s_M + l_m_17], r4, l_large_11);
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_16 + 2) * s_M + l_m_17], r5, l_large_11);
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_16 + 3) * s_M + l_m_17], r6, l_large_11);
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_16 + 4) * s_M + l_m_17], r7, l_large_11);
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_16 + 5) * s_M + l_m_17], r8, l_large_11);
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_16 + 6) * s_M + l_m_17], r9, l_large_11);
                stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_16 + 7) * s_M + l_m_17], r10, l_large_11);
            }
        }
        for (i64 l_n_18 = 0; l_n_18 < l_whole_14; l_n_18++) {
            for (i64 l_m_19 = l_whole_15; l_m_19 < l_inside_13; l_m_19++) {
                f32 r11 = t_tile[l_n_18 + l_m_19 * 64];
                t_Y[v_j * 64 * s_M + v_i * 64 + l_n_18 * s_M + l_m_19] = r11;
            }
        }
        for (i64 l_n_20 = l_whole_14; l_n_20 < l_inside_12; l_n_20++) {
            for (i64 l_m_21 = 0; l_m_21 < l_inside_13; l_m_21++) {
                f32 r12 = t_tile[l_n_20 + l_m_21 * 64];
                t_Y[v_j * 64 * s_M + v_i * 64 + l_n_20 * s_M + l_m_21] = r12;
            }
        }
    }
    fence_f32x4();
}
