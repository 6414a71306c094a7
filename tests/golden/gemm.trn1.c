# gemm for trn1
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def gemm(A, B):
    M = A.shape[0]
    K = A.shape[1]
    N = B.shape[0]
    C = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm, name="C")
    for i_1 in range((M + 127) // 128):
        for j_2 in range((N + 127) // 128):
            acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 2048 * (j_2 % 2)))
            for kt_3 in range((K + 31) // 32):
                ring_a = nl.ndarray((32, 128), dtype=nl.float32, buffer=nl.sbuf, address=(0, 512 * (kt_3 % 3)))
                ring_b = nl.ndarray((32, 128), dtype=nl.float32, buffer=nl.sbuf, address=(0, 1536 + 512 * (kt_3 % 3)))
                k_4 = min(32, K - kt_3 * 32)
                m_5 = min(128, M - i_1 * 128)
                t_6 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf, address=(0, 3072 + 512 * (kt_3 % 2)))
                nisa.dma_copy(dst=t_6[0:m_5, 0:k_4], src=A.ap(pattern=[[K, m_5], [1, k_4]], offset=i_1 * 128 * K + kt_3 * 32))
                sum_7 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum, address=(0, 12288 + 512 * (kt_3 % 8)))
                nisa.nc_transpose(dst=sum_7[0:k_4, 0:m_5], data=t_6[0:m_5, 0:k_4], engine=nisa.engine.tensor)
                nisa.tensor_copy(dst=ring_a[0:k_4, 0:m_5], src=sum_7[0:k_4, 0:m_5], engine=nisa.engine.vector)
                n_8 = min(128, N - j_2 * 128)
                t_9 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf, address=(0, 4096 + 512 * (kt_3 % 2)))
                nisa.dma_copy(dst=t_9[0:n_8, 0:k_4], src=B.ap(pattern=[[K, n_8], [1, k_4]], offset=j_2 * 128 * K + kt_3 * 32))
                sum_10 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum, address=(0, 12288 + 512 * ((kt_3 + 1) % 8)))
                nisa.nc_transpose(dst=sum_10[0:k_4, 0:n_8], data=t_9[0:n_8, 0:k_4], engine=nisa.engine.tensor)
                nisa.activation(dst=ring_b[0:k_4, 0:n_8], data=sum_10[0:k_4, 0:n_8], op=nl.copy)
                nisa.nc_matmul(dst=acc[0:m_5, 0:n_8], stationary=ring_a[0:k_4, 0:m_5], moving=ring_b[0:k_4, 0:n_8], accumulate=kt_3 > 0)
            m_11 = min(128, M - i_1 * 128)
            n_12 = min(128, N - j_2 * 128)
            t_13 = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf, address=(0, 5120 + 2048 * (j_2 % 4)))
            nisa.activation(dst=t_13[0:m_11, 0:n_12], data=acc[0:m_11, 0:n_12], op=nl.copy)
            nisa.dma_copy(dst=C.ap(pattern=[[N, m_11], [1, n_12]], offset=i_1 * 128 * N + j_2 * 128), src=t_13[0:m_11, 0:n_12])
    return C
