/* test for sm_100a */
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
struct __align__(64) tensor_map { u8 b[128]; };

__device__ __forceinline__ int quot(int a, int b)
{
    return (int)((u32)a / (u32)b);
}
__device__ __forceinline__ i64 quot64(i64 a, i64 b)
{
    return (i64)((u64)a / (u64)b);
}

__device__ __forceinline__ int rest(int a, int b)
{
    return (int)((u32)a % (u32)b);
}
__device__ __forceinline__ i64 rest64(i64 a, i64 b)
{
    return (i64)((u64)a % (u64)b);
}

template <class T> __device__ __forceinline__ T lesser(T a, T b)
{
    return a < b ? a : b;
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

/* A matrix in shared memory at a, as a tensor core is told of it. */
__device__ __forceinline__ u64 describe(u32 a, u64 how)
{
    return how | (a & 0x3ffff) >> 4;
}

__device__ __forceinline__ void
barrier_cluster()
{
    asm volatile("bar.warp.sync -1; barrier.cluster.arrive.aligned; "
                 "barrier.cluster.wait.aligned;" ::: "memory");
}

__device__ __forceinline__ void
tc_pair_alloc_64(u32 d)
{
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
                 "[%0], 64; "
                 "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;"
                 :
                 : "r"(d)
                 : "memory");
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
tc_before()
{
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

__device__ __forceinline__ void
tc_after()
{
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

__device__ __forceinline__ void
ld_shared_b32(u32 *d, u32 a)
{
    asm volatile("ld.shared.b32 %0, [%1];"
                 : "=r"(d[0])
                 : "r"(a)
                 : "memory");
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
tma_load_pair_2(u32 d, const tensor_map *a, int u, int v, u32 b, int w)
{
    asm volatile("{ .reg .b32 q; mapa.shared::cluster.u32 q, %4, %5; "
                 "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 "
                 "[%0], [%1, {%2, %3}], [q]; }"
                 :
                 : "r"(d), "l"(a), "r"(u), "r"(v), "r"(b), "r"(w)
                 : "memory");
}

__device__ __forceinline__ void
tc_f32_f16_pair256_ss_32(u32 d, u64 a, u64 b, int c)
{
    asm volatile("{ .reg .pred p; .reg .b32 i; setp.ne.b32 p, %3, 0; mov.b32 "
                 "i, 0x10 | 16 << 24 | 32 / 8 << 17 | 0 << 15 | 0 << 16; "
                 "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, i, p; }"
                 :
                 : "r"(d), "l"(a), "l"(b), "r"(c)
                 : "memory");
}

__device__ __forceinline__ void
tc_pair_commit(u32 d, u16 a)
{
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                 "[%0], %1;"
                 :
                 : "r"(d), "h"(a)
                 : "memory");
}

__device__ __forceinline__ void
tc_ld_32x32b_x32(float *d, u32 a)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, "
                 "%5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
                 "%30, %31}, [%32];"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]),
                   "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]),
                   "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]),
                   "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]),
                   "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]),
                   "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]),
                   "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]),
                   "=f"(d[30]), "=f"(d[31])
                 : "r"(a)
                 : "memory");
}

__device__ __forceinline__ void
tc_ld_drain()
{
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void
st_global_b128(void *d, const float *a)
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(d), "f"(a[0]), "f"(a[1]), "f"(a[2]), "f"(a[3])
                 : "memory");
}

__device__ __forceinline__ void
barrier_warp()
{
    asm volatile("bar.warp.sync -1;" ::: "memory");
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
tc_pair_free_64(u32 d)
{
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;"
                 :
                 : "r"(d)
                 : "memory");
}

/* 192 threads, 59396 bytes of shared memory */
extern "C" __global__ void __launch_bounds__(192, 1) __cluster_dims__(2, 1, 1)
test(const __grid_constant__ tensor_map map0,
    const __grid_constant__ tensor_map map1,
    const u16 *t_A, const u16 *t_B, float *t_C)
{
    extern __shared__ __align__(1024) u8 shared[];
    const u32 smem = (u32)__cvta_generic_to_shared(shared);
    const u32 b_a = smem + 0;
    const u32 b_b = smem + 49152;
    const u32 b_full = smem + 55296;
    const u32 b_empty = smem + 56320;
    const u32 b_ready = smem + 57344;
    const u32 b_taken = smem + 58368;
    const u32 b_word = smem + 59392;
    const int block = (int)blockIdx.x;
    const int rank = cluster_rank();
    const int warp = __shfl_sync(~0u, (int)threadIdx.x >> 5, 0);
    const int lane = (int)threadIdx.x & 31;
    u32 r_base[1];
    float r_out[32];
    barrier_cluster();
    if (warp == 0) {
        tc_pair_alloc_64(b_word);
    }
    if (warp * 32 + lane == 32) {
        mbarrier_init(b_full, 1);
        mbarrier_init(b_empty, 1);
        mbarrier_init(b_full + 8, 1);
        mbarrier_init(b_empty + 8, 1);
        mbarrier_init(b_full + 16, 1);
        mbarrier_init(b_empty + 16, 1);
        mbarrier_init(b_ready, 1);
        mbarrier_init(b_taken, 8);
        mbarrier_init(b_ready + 8, 1);
        mbarrier_init(b_taken + 8, 8);
        mbarrier_inited();
    }
    tc_before();
    barrier_cluster();
    tc_after();
    ld_shared_b32(r_base, b_word);
    if (warp * 32 + lane == 128) {
        #pragma unroll 1
        for (int v_i = 0; v_i < 12; v_i++) {
            mbarrier_wait(b_empty + rest(v_i, 3) * 8, 1 - (quot(v_i, 3) & 1));
            if (rank == 0) {
                mbarrier_expect(b_full + rest(v_i, 3) * 8, 36864);
            }
            tma_load_pair_2(b_a + rest(v_i, 3) * 16384,
                            &map0, rest(v_i, 3) * 64, (i64)block * 128,
                            b_full + rest(v_i, 3) * 8, 0);
            tma_load_pair_2(b_b + rest(v_i, 3) * 2048,
                            &map1, rest(v_i, 3) * 64, quot(v_i, 3) * 32 + rank * 16,
                            b_full + rest(v_i, 3) * 8, 0);
        }
        #pragma unroll 1
        for (int v_i = 12; v_i < 15; v_i++) {
            mbarrier_wait(b_empty + rest(v_i, 3) * 8, 1 - (quot(v_i, 3) & 1));
        }
    }
    if (warp * 32 + lane == 160 && rank == 0) {
        #pragma unroll 1
        for (int v_i = 0; v_i < 4; v_i++) {
            mbarrier_wait(b_taken + (v_i & 1) * 8, 1 - ((v_i >> 1) & 1));
            tc_after();
            #pragma unroll 1
            for (int v_kt = 0; v_kt < 3; v_kt++) {
                mbarrier_wait(b_full + rest(v_i * 3 + v_kt, 3) * 8,
                              quot(v_i * 3 + v_kt, 3) & 1);
                tc_f32_f16_pair256_ss_32(r_base[0] + (v_i & 1) * 32,
                                         describe(b_a + rest(v_i * 3 + v_kt, 3) * 16384, 0x4000404000000000),
                                         describe(b_b + rest(v_i * 3 + v_kt, 3) * 2048, 0x4000404000000000),
                                         lesser<int>(1, v_kt));
                tc_f32_f16_pair256_ss_32(r_base[0] + (v_i & 1) * 32,
                                         describe(b_a + rest(v_i * 3 + v_kt, 3) * 16384 + 32, 0x4000404000000000),
                                         describe(b_b + rest(v_i * 3 + v_kt, 3) * 2048 + 32, 0x4000404000000000),
                                         1);
                tc_f32_f16_pair256_ss_32(r_base[0] + (v_i & 1) * 32,
                                         describe(b_a + rest(v_i * 3 + v_kt, 3) * 16384 + 64, 0x4000404000000000),
                                         describe(b_b + rest(v_i * 3 + v_kt, 3) * 2048 + 64, 0x4000404000000000),
                                         1);
                tc_f32_f16_pair256_ss_32(r_base[0] + (v_i & 1) * 32,
                                         describe(b_a + rest(v_i * 3 + v_kt, 3) * 16384 + 96, 0x4000404000000000),
                                         describe(b_b + rest(v_i * 3 + v_kt, 3) * 2048 + 96, 0x4000404000000000),
                                         1);
                tc_pair_commit(b_empty + rest(v_i * 3 + v_kt, 3) * 8, 3);
            }
            tc_pair_commit(b_ready + (v_i & 1) * 8, 3);
        }
    }
    if (warp < 4) {
        #pragma unroll 1
        for (int v_i = 0; v_i < 4; v_i++) {
            mbarrier_wait(b_ready + (v_i & 1) * 8, (v_i >> 1) & 1);
            tc_after();
            tc_ld_32x32b_x32(r_out,
                             r_base[0] + (warp << 21 & 0x600000) + (v_i & 1) * 32);
            tc_ld_drain();
            pin<32>(r_out);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32,
                           r_out);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32 + 4,
                           r_out + 4);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32 + 8,
                           r_out + 8);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32 + 12,
                           r_out + 12);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32 + 16,
                           r_out + 16);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32 + 20,
                           r_out + 20);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32 + 24,
                           r_out + 24);
            st_global_b128(t_C + (i64)((i64)block * 128 + warp * 32 + lane) * 128 + (i64)v_i * 32 + 28,
                           r_out + 28);
            tc_before();
            barrier_warp();
            if (lane == 0)
                mbarrier_arrive_cluster(b_taken + (v_i & 1) * 8, 0);
        }
    }
    tc_before();
    barrier_cluster();
    tc_after();
    if (warp == 0) {
        tc_pair_free_64(r_base[0]);
    }
}
