/* transpose for cpu-avx2, made by axe 0.1.0 */
typedef float f32;
typedef double f64;
typedef long long i64;
typedef int i32;
typedef short i16;
typedef signed char i8;
typedef unsigned long long u64;
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
    past &= ((unsigned long)p & (sizeof a - 1)) == 0;
    __asm__("test %2, %2\n\tjz 1f\n\tvmovntps %1, %0\n\tjmp 2f\n"
            "1:\tvmovups %1, %0\n2:"
            : "=m"(*(f32x8u *)p) : "v"(a), "r"(past) : "cc");
}
static inline f32x8 vmaskld_f32x8(const void *p, i64 n)
{
    f32x8 r;
    __asm__("vmaskmovps %1, %2, %0"
            : "=x"(r) : "m"(*(const f32x8u *)p), "x"((i32x8){0, 1, 2, 3, 4, 5, 6, 7} < (i32)n));
    return r;
}
static inline void vmaskst_f32x8(void *p, f32x8 a, i64 n)
{
    __asm__("vmaskmovps %1, %2, %0"
            : "+m"(*(f32x8u *)p) : "x"(a), "x"((i32x8){0, 1, 2, 3, 4, 5, 6, 7} < (i32)n));
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
        if (1048576 < s_M * s_N) {
            /* statement 0, line 14: Y[j*64 + n, i*64 + m]  */
            const i64 l_large_3 = 16777216 < s_M * (s_N * 4);
            const i64 l_inside_4 = axe_min(axe_max(s_N - v_j * 64, 0), 64);
            const i64 l_inside_5 = axe_min(axe_max(s_M - v_i * 64, 0), 64);
            const i64 l_inside_6 = axe_min(axe_max(s_N - v_j * 64, 0), l_inside_4);
            const i64 l_inside_7 = axe_min(axe_max(s_M - v_i * 64, 0), l_inside_5);
            const i64 l_whole_8 = l_inside_6 / 8 * 8;
            const i64 l_whole_9 = l_inside_7 / 8 * 8;
            for (i64 l_n_10 = 0; l_n_10 < l_whole_8; l_n_10 += 8) {
                for (i64 l_m_11 = 0; l_m_11 < l_whole_9; l_m_11 += 8) {
                    f32x8 r0 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + l_m_11 * s_N);
                    f32x8 r1 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + (l_m_11 + 1) * s_N);
                    f32x8 r2 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + (l_m_11 + 2) * s_N);
                    f32x8 r3 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + (l_m_11 + 3) * s_N);
                    f32x8 r4 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + (l_m_11 + 4) * s_N);
                    f32x8 r5 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + (l_m_11 + 5) * s_N);
                    f32x8 r6 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + (l_m_11 + 6) * s_N);
                    f32x8 r7 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_10 + (l_m_11 + 7) * s_N);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + l_m_11 * s_N]);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + (l_m_11 + 1) * s_N]);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + (l_m_11 + 2) * s_N]);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + (l_m_11 + 3) * s_N]);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + (l_m_11 + 4) * s_N]);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + (l_m_11 + 5) * s_N]);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + (l_m_11 + 6) * s_N]);
                    __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_10 + 32 + (l_m_11 + 7) * s_N]);
                    { f32x8 t = __builtin_shufflevector(r0, r1, 0, 8, 2, 10, 4, 12, 6, 14); r1 = __builtin_shufflevector(r0, r1, 1, 9, 3, 11, 5, 13, 7, 15); r0 = t; }
                    { f32x8 t = __builtin_shufflevector(r2, r3, 0, 8, 2, 10, 4, 12, 6, 14); r3 = __builtin_shufflevector(r2, r3, 1, 9, 3, 11, 5, 13, 7, 15); r2 = t; }
                    { f32x8 t = __builtin_shufflevector(r4, r5, 0, 8, 2, 10, 4, 12, 6, 14); r5 = __builtin_shufflevector(r4, r5, 1, 9, 3, 11, 5, 13, 7, 15); r4 = t; }
                    { f32x8 t = __builtin_shufflevector(r6, r7, 0, 8, 2, 10, 4, 12, 6, 14); r7 = __builtin_shufflevector(r6, r7, 1, 9, 3, 11, 5, 13, 7, 15); r6 = t; }
                    { f32x8 t = __builtin_shufflevector(r0, r2, 0, 1, 8, 9, 4, 5, 12, 13); r2 = __builtin_shufflevector(r0, r2, 2, 3, 10, 11, 6, 7, 14, 15); r0 = t; }
                    { f32x8 t = __builtin_shufflevector(r1, r3, 0, 1, 8, 9, 4, 5, 12, 13); r3 = __builtin_shufflevector(r1, r3, 2, 3, 10, 11, 6, 7, 14, 15); r1 = t; }
                    { f32x8 t = __builtin_shufflevector(r4, r6, 0, 1, 8, 9, 4, 5, 12, 13); r6 = __builtin_shufflevector(r4, r6, 2, 3, 10, 11, 6, 7, 14, 15); r4 = t; }
                    { f32x8 t = __builtin_shufflevector(r5, r7, 0, 1, 8, 9, 4, 5, 12, 13); r7 = __builtin_shufflevector(r5, r7, 2, 3, 10, 11, 6, 7, 14, 15); r5 = t; }
                    { f32x8 t = __builtin_shufflevector(r0, r4, 0, 1, 2, 3, 8, 9, 10, 11); r4 = __builtin_shufflevector(r0, r4, 4, 5, 6, 7, 12, 13, 14, 15); r0 = t; }
                    { f32x8 t = __builtin_shufflevector(r1, r5, 0, 1, 2, 3, 8, 9, 10, 11); r5 = __builtin_shufflevector(r1, r5, 4, 5, 6, 7, 12, 13, 14, 15); r1 = t; }
                    { f32x8 t = __builtin_shufflevector(r2, r6, 0, 1, 2, 3, 8, 9, 10, 11); r6 = __builtin_shufflevector(r2, r6, 4, 5, 6, 7, 12, 13, 14, 15); r2 = t; }
                    { f32x8 t = __builtin_shufflevector(r3, r7, 0, 1, 2, 3, 8, 9, 10, 11); r7 = __builtin_shufflevector(r3, r7, 4, 5, 6, 7, 12, 13, 14, 15); r3 = t; }
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + l_n_10 * s_M + l_m_11], r0, l_large_3);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_10 + 1) * s_M + l_m_11], r1, l_large_3);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_10 + 2) * s_M + l_m_11], r2, l_large_3);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_10 + 3) * s_M + l_m_11], r3, l_large_3);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_10 + 4) * s_M + l_m_11], r4, l_large_3);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_10 + 5) * s_M + l_m_11], r5, l_large_3);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_10 + 6) * s_M + l_m_11], r6, l_large_3);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_10 + 7) * s_M + l_m_11], r7, l_large_3);
                }
            }
            for (i64 l_n_12 = 0; l_n_12 < l_whole_8; l_n_12++) {
                for (i64 l_m_13 = l_whole_9; l_m_13 < l_inside_7; l_m_13++) {
                    f32 r8 = t_X[v_i * 64 * s_N + v_j * 64 + l_n_12 + l_m_13 * s_N];
                    t_Y[v_j * 64 * s_M + v_i * 64 + l_n_12 * s_M + l_m_13] = r8;
                }
            }
            for (i64 l_n_14 = l_whole_8; l_n_14 < l_inside_6; l_n_14++) {
                for (i64 l_m_15 = 0; l_m_15 < l_inside_7; l_m_15++) {
                    f32 r9 = t_X[v_i * 64 * s_N + v_j * 64 + l_n_14 + l_m_15 * s_N];
                    t_Y[v_j * 64 * s_M + v_i * 64 + l_n_14 * s_M + l_m_15] = r9;
                }
            }
            for (i64 l_n_16 = 0; l_n_16 < l_inside_6; l_n_16++) {
                for (i64 l_m_17 = l_inside_7; l_m_17 < l_inside_5; l_m_17++) {
                    f32 r10 = (f32)(0x0p+0f);
                    t_Y[v_j * 64 * s_M + v_i * 64 + l_n_16 * s_M + l_m_17] = r10;
                }
            }
            for (i64 l_n_18 = l_inside_6; l_n_18 < l_inside_4; l_n_18++) {
                for (i64 l_m_19 = 0; l_m_19 < l_inside_5; l_m_19++) {
                    f32 r11 = (f32)(0x0p+0f);
                    t_Y[v_j * 64 * s_M + v_i * 64 + l_n_18 * s_M + l_m_19] = r11;
                }
            }
        } else {
            /* statement 1, line 16: tile[m, n]  */
            if (64 <= s_M - v_i * 64 && 64 <= s_N - v_j * 64) {
                for (i64 l_m_20 = 0; l_m_20 < 64; l_m_20++) {
                    for (i64 l_n_21 = 0; l_n_21 < 64; l_n_21 += 8) {
                        f32x8 r12 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_21 + l_m_20 * s_N);
                        __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_21 + l_m_20 * s_N + 4 * s_N]);
                        *(f32x8u *)(t_tile + l_n_21 + l_m_20 * 64) = r12;
                    }
                }
            } else {
                const i64 l_end_22 = axe_min(axe_max(s_M - v_i * 64, 0), 64);
                const i64 l_end_24 = axe_min(axe_max(s_N - v_j * 64, 0), 64);
                const i64 l_whole_25 = l_end_24 / 8 * 8;
                const i64 l_left_27 = l_end_24 - l_whole_25;
                for (i64 l_m_23 = 0; l_m_23 < l_end_22; l_m_23++) {
                    for (i64 l_n_26 = 0; l_n_26 < l_whole_25; l_n_26 += 8) {
                        f32x8 r13 = *(f32x8u *)(t_X + v_i * 64 * s_N + v_j * 64 + l_n_26 + l_m_23 * s_N);
                        __builtin_prefetch(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_26 + l_m_23 * s_N + 4 * s_N]);
                        *(f32x8u *)(t_tile + l_n_26 + l_m_23 * 64) = r13;
                    }
                    for (i64 l_n_28 = l_whole_25; l_n_28 < l_end_24; l_n_28 += 8) {
                        f32x8 r14 = vmaskld_f32x8(&t_X[v_i * 64 * s_N + v_j * 64 + l_n_28 + l_m_23 * s_N], l_left_27);
                        vmaskst_f32x8(&t_tile[l_n_28 + l_m_23 * 64], r14, l_left_27);
                    }
                }
            }
            /* statement 2, line 17: Y[j*64 + n, i*64 + m]  */
            const i64 l_large_29 = 16777216 < s_M * (s_N * 4);
            const i64 l_inside_30 = axe_min(axe_max(s_N - v_j * 64, 0), 64);
            const i64 l_inside_31 = axe_min(axe_max(s_M - v_i * 64, 0), 64);
            const i64 l_whole_32 = l_inside_30 / 8 * 8;
            const i64 l_whole_33 = l_inside_31 / 8 * 8;
            for (i64 l_n_34 = 0; l_n_34 < l_whole_32; l_n_34 += 8) {
                for (i64 l_m_35 = 0; l_m_35 < l_whole_33; l_m_35 += 8) {
                    f32x8 r15 = *(f32x8u *)(t_tile + l_n_34 + l_m_35 * 64);
                    f32x8 r16 = *(f32x8u *)(t_tile + l_n_34 + (l_m_35 + 1) * 64);
                    f32x8 r17 = *(f32x8u *)(t_tile + l_n_34 + (l_m_35 + 2) * 64);
                    f32x8 r18 = *(f32x8u *)(t_tile + l_n_34 + (l_m_35 + 3) * 64);
                    f32x8 r19 = *(f32x8u *)(t_tile + l_n_34 + (l_m_35 + 4) * 64);
                    f32x8 r20 = *(f32x8u *)(t_tile + l_n_34 + (l_m_35 + 5) * 64);
                    f32x8 r21 = *(f32x8u *)(t_tile + l_n_34 + (l_m_35 + 6) * 64);
                    f32x8 r22 = *(f32x8u *)(t_tile + l_n_34 + (l_m_35 + 7) * 64);
                    { f32x8 t = __builtin_shufflevector(r15, r16, 0, 8, 2, 10, 4, 12, 6, 14); r16 = __builtin_shufflevector(r15, r16, 1, 9, 3, 11, 5, 13, 7, 15); r15 = t; }
                    { f32x8 t = __builtin_shufflevector(r17, r18, 0, 8, 2, 10, 4, 12, 6, 14); r18 = __builtin_shufflevector(r17, r18, 1, 9, 3, 11, 5, 13, 7, 15); r17 = t; }
                    { f32x8 t = __builtin_shufflevector(r19, r20, 0, 8, 2, 10, 4, 12, 6, 14); r20 = __builtin_shufflevector(r19, r20, 1, 9, 3, 11, 5, 13, 7, 15); r19 = t; }
                    { f32x8 t = __builtin_shufflevector(r21, r22, 0, 8, 2, 10, 4, 12, 6, 14); r22 = __builtin_shufflevector(r21, r22, 1, 9, 3, 11, 5, 13, 7, 15); r21 = t; }
                    { f32x8 t = __builtin_shufflevector(r15, r17, 0, 1, 8, 9, 4, 5, 12, 13); r17 = __builtin_shufflevector(r15, r17, 2, 3, 10, 11, 6, 7, 14, 15); r15 = t; }
                    { f32x8 t = __builtin_shufflevector(r16, r18, 0, 1, 8, 9, 4, 5, 12, 13); r18 = __builtin_shufflevector(r16, r18, 2, 3, 10, 11, 6, 7, 14, 15); r16 = t; }
                    { f32x8 t = __builtin_shufflevector(r19, r21, 0, 1, 8, 9, 4, 5, 12, 13); r21 = __builtin_shufflevector(r19, r21, 2, 3, 10, 11, 6, 7, 14, 15); r19 = t; }
                    { f32x8 t = __builtin_shufflevector(r20, r22, 0, 1, 8, 9, 4, 5, 12, 13); r22 = __builtin_shufflevector(r20, r22, 2, 3, 10, 11, 6, 7, 14, 15); r20 = t; }
                    { f32x8 t = __builtin_shufflevector(r15, r19, 0, 1, 2, 3, 8, 9, 10, 11); r19 = __builtin_shufflevector(r15, r19, 4, 5, 6, 7, 12, 13, 14, 15); r15 = t; }
                    { f32x8 t = __builtin_shufflevector(r16, r20, 0, 1, 2, 3, 8, 9, 10, 11); r20 = __builtin_shufflevector(r16, r20, 4, 5, 6, 7, 12, 13, 14, 15); r16 = t; }
                    { f32x8 t = __builtin_shufflevector(r17, r21, 0, 1, 2, 3, 8, 9, 10, 11); r21 = __builtin_shufflevector(r17, r21, 4, 5, 6, 7, 12, 13, 14, 15); r17 = t; }
                    { f32x8 t = __builtin_shufflevector(r18, r22, 0, 1, 2, 3, 8, 9, 10, 11); r22 = __builtin_shufflevector(r18, r22, 4, 5, 6, 7, 12, 13, 14, 15); r18 = t; }
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + l_n_34 * s_M + l_m_35], r15, l_large_29);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_34 + 1) * s_M + l_m_35], r16, l_large_29);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_34 + 2) * s_M + l_m_35], r17, l_large_29);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_34 + 3) * s_M + l_m_35], r18, l_large_29);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_34 + 4) * s_M + l_m_35], r19, l_large_29);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_34 + 5) * s_M + l_m_35], r20, l_large_29);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_34 + 6) * s_M + l_m_35], r21, l_large_29);
                    stream_f32x8((void *)&t_Y[v_j * 64 * s_M + v_i * 64 + (l_n_34 + 7) * s_M + l_m_35], r22, l_large_29);
                }
            }
            for (i64 l_n_36 = 0; l_n_36 < l_whole_32; l_n_36++) {
                for (i64 l_m_37 = l_whole_33; l_m_37 < l_inside_31; l_m_37++) {
                    f32 r23 = t_tile[l_n_36 + l_m_37 * 64];
                    t_Y[v_j * 64 * s_M + v_i * 64 + l_n_36 * s_M + l_m_37] = r23;
                }
            }
            for (i64 l_n_38 = l_whole_32; l_n_38 < l_inside_30; l_n_38++) {
                for (i64 l_m_39 = 0; l_m_39 < l_inside_31; l_m_39++) {
                    f32 r24 = t_tile[l_n_38 + l_m_39 * 64];
                    t_Y[v_j * 64 * s_M + v_i * 64 + l_n_38 * s_M + l_m_39] = r24;
                }
            }
        }
    }
    fence_f32x4();
}
