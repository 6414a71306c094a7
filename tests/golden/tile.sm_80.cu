/* tile for sm_80 */
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
struct __align__(64) tensor_map { u8 b[128]; };

template <int bits, int base, int shift>
__device__ __forceinline__ u32 swizzle(u32 a)
{
    return a ^ (a >> shift & ((1u << bits) - 1) << base);
}

__device__ __forceinline__ void
cp_async_b128(u32 d, const void *a, bool p)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(d), "l"(a), "r"(p ? 16 : 0)
                 : "memory");
}

__device__ __forceinline__ void
cp_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void
cp_drain_0()
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ void
barrier_warp()
{
    asm volatile("bar.warp.sync -1;" ::: "memory");
}

__device__ __forceinline__ void
ldmatrix_x4(u32 *d, u32 a)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
                 "[%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
ldmatrix_x2(u32 *d, u32 a)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
mma_m16n8k16_f32_f16(float *d, const u32 *a, const u32 *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void
st_global_b64(void *d, const float *a)
{
    asm volatile("st.global.v2.b32 [%0], {%1, %2};"
                 :
                 : "l"(d), "f"(a[0]), "f"(a[1])
                 : "memory");
}

/* 32 threads, 3072 bytes of shared memory */
extern "C" __global__ void __launch_bounds__(32, 1)
tile(const u16 *t_A, const u16 *t_B, float *t_C, i64 n_K)
{
    extern __shared__ __align__(1024) u8 shared[];
    const u32 smem = (u32)__cvta_generic_to_shared(shared);
    const u32 b_a = smem + 0;
    const u32 b_b = smem + 2048;
    const int lane = (int)threadIdx.x & 31;
    const int s_K = (int)n_K;
    u32 r_fa[4];
    u32 r_fb[2];
    float r_acc[4];
    #pragma unroll
    for (int v_z = 0; v_z < 4; v_z++) {
        r_acc[v_z] = 0.0f;
    }
    #pragma unroll 1
    for (int v_t = 0; v_t < (s_K + 63) >> 6; v_t++) {
        #pragma unroll
        for (int v_r = 0; v_r < 4; v_r++) {
            cp_async_b128(b_a + swizzle<3, 4, 3>((v_r * 4 + (lane >> 3)) * 128 + (lane & 7) * 16),
                          t_A + (i64)(v_r * 4 + (lane >> 3)) * s_K + (i64)v_t * 64 + (lane & 7) * 8,
                          v_t * 64 + (lane & 7) * 8 < s_K);
        }
        #pragma unroll
        for (int v_r = 0; v_r < 2; v_r++) {
            cp_async_b128(b_b + swizzle<3, 4, 3>((v_r * 4 + (lane >> 3)) * 128 + (lane & 7) * 16),
                          t_B + (i64)(v_r * 4 + (lane >> 3)) * s_K + (i64)v_t * 64 + (lane & 7) * 8,
                          v_t * 64 + (lane & 7) * 8 < s_K);
        }
        cp_commit();
        cp_drain_0();
        barrier_warp();
        #pragma unroll
        for (int v_kk = 0; v_kk < 4; v_kk++) {
            ldmatrix_x4(r_fa,
                        b_a + (swizzle<3, 4, 3>((lane & 15) * 128 + (lane >> 4) * 16) ^ (v_kk * 32)));
            ldmatrix_x2(r_fb,
                        b_b + (swizzle<3, 4, 3>((lane & 7) * 128 + ((lane >> 3) & 1) * 16) ^ (v_kk * 32)));
            mma_m16n8k16_f32_f16(r_acc, r_fa, r_fb);
        }
        barrier_warp();
    }
    #pragma unroll
    for (int v_h = 0; v_h < 2; v_h++) {
        st_global_b64(t_C + ((lane >> 2) + v_h * 8) * 8 + (lane & 3) * 2,
                      r_acc + v_h * 2);
    }
}
