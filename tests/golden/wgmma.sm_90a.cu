/* gemm for sm_90a */
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
struct __align__(64) tensor_map { u8 b[128]; };

__device__ __forceinline__ u32 pack_bf16(float lo, float hi)
{
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(lo), "f"(hi));
    return r;
}

__device__ __forceinline__ void pin_one(float &x)
{
    asm volatile("" : "+f"(x)::"memory");
}
__device__ __forceinline__ void pin_one(u32 &x)
{
    asm volatile("" : "+r"(x)::"memory");
}
__device__ __forceinline__ void pin_one(int &x)
{
    asm volatile("" : "+r"(x)::"memory");
}

/* Here the registers have their values, and may get others. */
template <int n, class T> __device__ __forceinline__ void pin(T *x)
{
    #pragma unroll
    for (int i = 0; i < n; i++)
        pin_one(x[i]);
}

__device__ __forceinline__ int cluster_rank()
{
    int r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

template <int bits, int base, int shift>
__device__ __forceinline__ u32 swizzle(u32 a)
{
    return a ^ (a >> shift & ((1u << bits) - 1) << base);
}

/* A matrix in shared memory at a, as a tensor core is told of it. */
__device__ __forceinline__ u64 describe(u32 a, u64 how)
{
    return how | (a & 0x3ffff) >> 4;
}

__device__ __forceinline__ void
mbarrier_init(u32 d, int a)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(d), "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
mbarrier_inited()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void
map_prefetch(const tensor_map *d)
{
    asm volatile("prefetch.tensormap [%0];"
                 :
                 : "l"(d)
                 : "memory");
}

__device__ __forceinline__ void
barrier_cluster()
{
    asm volatile("bar.warp.sync -1; barrier.cluster.arrive.aligned; "
                 "barrier.cluster.wait.aligned;" ::: "memory");
}

__device__ __forceinline__ void
setmaxnreg_dec_40()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
}

__device__ __forceinline__ void
mbarrier_wait(u32 d, int a)
{
    asm volatile("{ .reg .pred p; W%=: "
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p "
                 "bra D%=; bra W%=; D%=: }"
                 :
                 : "r"(d), "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
mbarrier_expect(u32 d, int a)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(d), "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
tma_load_2(u32 d, const tensor_map *a, int u, int v, u32 b)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"(d), "l"(a), "r"(u), "r"(v), "r"(b)
                 : "memory");
}

__device__ __forceinline__ void
tma_load_multicast_2(u32 d, const tensor_map *a, int u, int v, u32 b, u16 c)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 :
                 : "r"(d), "l"(a), "r"(u), "r"(v), "r"(b), "h"(c)
                 : "memory");
}

__device__ __forceinline__ void
setmaxnreg_inc_232()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
}

__device__ __forceinline__ void
wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void
wgmma_f32_bf16_ss_128(float *d, u64 a, u64 b, int c)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; "
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, "
                 "%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
                 "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
                 "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
                 "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
                 "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
                 "%62, %63}, %64, %65, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),
                   "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
                   "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
                   "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
                   "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                   "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
                   "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]),
                   "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]),
                   "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
                   "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]),
                   "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
                   "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]),
                   "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]),
                   "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]),
                   "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b), "r"(c));
}

__device__ __forceinline__ void
wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void
wgmma_drain_0()
{
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ __forceinline__ void
mbarrier_arrive_cluster(u32 d, int a)
{
    asm volatile("{ .reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; "
                 "mbarrier.arrive.shared::cluster.b64 _, [r]; }"
                 :
                 : "r"(d), "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
stmatrix_x4(u32 d, const u32 *a)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, "
                 "%4};"
                 :
                 : "r"(d), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
                 : "memory");
}

__device__ __forceinline__ void
bulk_fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void
bar_sync(int d, int a)
{
    asm volatile("bar.sync %0, %1;"
                 :
                 : "r"(d), "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
tma_store_2(const tensor_map *d, int u, int v, u32 a)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, "
                 "{%1, %2}], [%3];"
                 :
                 : "l"(d), "r"(u), "r"(v), "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
bulk_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void
bulk_drain_0()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* 256 threads, 108544 bytes of shared memory */
extern "C" __global__ void __launch_bounds__(256, 1) __cluster_dims__(2, 1, 1)
gemm(const __grid_constant__ tensor_map map0,
    const __grid_constant__ tensor_map map1,
    const __grid_constant__ tensor_map map2,
    const u16 *t_A, const u16 *t_B, u16 *t_C, i64 n_K)
{
    extern __shared__ __align__(1024) u8 shared[];
    const u32 smem = (u32)__cvta_generic_to_shared(shared);
    const u32 b_ring__a = smem + 0;
    const u32 b_ring__b = smem + 32768;
    const u32 b_stage = smem + 98304;
    const u32 b_full = smem + 106496;
    const u32 b_empty = smem + 107520;
    const int block = (int)blockIdx.x;
    const int rank = cluster_rank();
    const int warp = __shfl_sync(~0u, (int)threadIdx.x >> 5, 0);
    const int lane = (int)threadIdx.x & 31;
    const int s_K = (int)n_K;
    float r_acc[64];
    u32 r_out[32];
    if (warp * 32 + lane == 0) {
        #pragma unroll
        for (int v_i = 0; v_i < 4; v_i++) {
            mbarrier_init(b_full + v_i * 8, 1);
            mbarrier_init(b_empty + v_i * 8, 2);
        }
        mbarrier_inited();
        map_prefetch(&map0);
    }
    barrier_cluster();
    int v_stage = 0;
    int v_phase = 0;
    if (warp < 4) {
        setmaxnreg_dec_40();
        if ((warp & 3) * 32 + lane == 0) {
            #pragma unroll 1
            for (int v_t = 0; v_t < (s_K + 63) >> 6; v_t++) {
                mbarrier_wait(b_empty + v_stage * 8, 1 - v_phase);
                mbarrier_expect(b_full + v_stage * 8, 24576);
                tma_load_2(b_ring__a + v_stage * 8192,
                           &map0, v_t * 64, (i64)block * 64,
                           b_full + v_stage * 8);
                tma_load_multicast_2(b_ring__b + v_stage * 16384 + rank * 8192,
                                     &map1, v_t * 64, rank * 64,
                                     b_full + v_stage * 8, 3);
                v_stage = v_stage + 1 == 4 ? 0 : v_stage + 1;
                if (v_stage == 0) {
                    v_phase = v_phase + 1 == 2 ? 0 : v_phase + 1;
                }
            }
        }
    } else {
        setmaxnreg_inc_232();
        #pragma unroll 1
        for (int v_t = 0; v_t < (s_K + 63) >> 6; v_t++) {
            mbarrier_wait(b_full + v_stage * 8, v_phase);
            pin<64>(r_acc);
            wgmma_fence();
            #pragma unroll
            for (int v_kk = 0; v_kk < 4; v_kk++) {
                wgmma_f32_bf16_ss_128(r_acc,
                                      describe(b_ring__a + v_stage * 8192 + v_kk * 32, 0x4000004000010000),
                                      describe(b_ring__b + v_stage * 16384 + v_kk * 32, 0x4000004000010000),
                                      v_t + v_kk != 0);
            }
            wgmma_commit();
            wgmma_drain_0();
            pin<64>(r_acc);
            if ((warp & 3) * 32 + lane < 2)
                mbarrier_arrive_cluster(b_empty + v_stage * 8,
                                        (warp & 3) * 32 + lane);
            v_stage = v_stage + 1 == 4 ? 0 : v_stage + 1;
            if (v_stage == 0) {
                v_phase = v_phase + 1 == 2 ? 0 : v_phase + 1;
            }
        }
        #pragma unroll
        for (int v_e = 0; v_e < 64; v_e += 2) {
            r_out[v_e >> 1] = pack_bf16(r_acc[v_e], r_acc[(v_e + 1)]);
        }
        #pragma unroll
        for (int v_j = 0; v_j < 4; v_j++) {
            stmatrix_x4(b_stage + (swizzle<3, 4, 3>(((warp & 3) * 16 + (lane & 15)) * 128 + (lane >> 4) * 16) ^ (v_j * 32)),
                        r_out + v_j * 4);
        }
        bulk_fence();
        bar_sync(1, 128);
        if ((warp & 3) * 32 + lane == 0) {
            tma_store_2(&map2, 0, (i64)block * 64, b_stage);
            bulk_commit();
            bulk_drain_0();
        }
    }
    barrier_cluster();
}
