/* places for sm_80 */
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
ld_shared_b128(u32 *d, u32 a)
{
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
st_global_b128(void *d, const u32 *a)
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(d), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
                 : "memory");
}

/* 128 threads, 8192 bytes of shared memory */
extern "C" __global__ void __launch_bounds__(128, 1)
places(u16 *t_Y)
{
    extern __shared__ __align__(1024) u8 shared[];
    const u32 smem = (u32)__cvta_generic_to_shared(shared);
    const u32 b_s = smem + 0;
    const int warp = __shfl_sync(~0u, (int)threadIdx.x >> 5, 0);
    const int lane = (int)threadIdx.x & 31;
    u32 r_r[4];
    ld_shared_b128(r_r,
                   b_s + swizzle<3, 4, 3>((lane & 7) * 16 + (warp & 1) * 128));
    ld_shared_b128(r_r,
                   b_s + swizzle<3, 4, 3>((lane & 7) * 16 + (warp & 1) * 256));
    ld_shared_b128(r_r,
                   b_s + swizzle<3, 4, 3>((lane & 7) * 16 + (warp & 1) * 512));
    ld_shared_b128(r_r, b_s + (lane & 7) * 16 + (warp & 1) * 1024);
    st_global_b128(t_Y + lane * 8, r_r);
}
