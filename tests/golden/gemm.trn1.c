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
    for i_1 in range((M + 511) // 512):
        for j_2 in range((N + 383) // 384):
            acc = nl.ndarray((128, 2048), dtype=nl.float32, buffer=nl.psum, address=(0, 0))
            for kt_3 in range((K + 255) // 256):
                ring_a = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.sbuf, address=(0, 4096 * (kt_3 % 3)))
                ring_b = nl.ndarray((128, 768), dtype=nl.float32, buffer=nl.sbuf, address=(0, 12288 + 3072 * (kt_3 % 3)))
                k_4 = min(256, K - kt_3 * 256)
                for k_5 in range((k_4 + 127) // 128):
                    n_6 = min(128, k_4 - 128 * k_5)
                    m_7 = min(512, M - i_1 * 512)
                    for f_8 in range((m_7 + 127) // 128):
                        n_9 = min(128, m_7 - 128 * f_8)
                        t_10 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf, address=(0, 21504 + 512 * (f_8 % 2)))
                        nisa.dma_copy(dst=t_10[0:n_9, 0:n_6], src=A.ap(pattern=[[K, n_9], [1, n_6]], offset=i_1 * 512 * K + (kt_3 * 256 + 128 * k_5) + 128 * f_8 * K))
                        sum_11 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum, address=(0, 12288 + 512 * ((4 * k_5 + f_8) % 8)))
                        nisa.nc_transpose(dst=sum_11[0:n_6, 0:n_9], data=t_10[0:n_9, 0:n_6], engine=nisa.engine.tensor)
                        nisa.tensor_copy(dst=ring_a[0:n_6, k_5 * 512 + 128 * f_8:k_5 * 512 + 128 * f_8 + n_9], src=sum_11[0:n_6, 0:n_9], engine=nisa.engine.vector)
                for k_12 in range((k_4 + 127) // 128):
                    n_13 = min(128, k_4 - 128 * k_12)
                    n_14 = min(384, N - j_2 * 384)
                    for f_15 in range((n_14 + 127) // 128):
                        n_16 = min(128, n_14 - 128 * f_15)
                        t_17 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf, address=(0, 22528 + 512 * ((k_12 + f_15) % 2)))
                        nisa.dma_copy(dst=t_17[0:n_16, 0:n_13], src=B.ap(pattern=[[K, n_16], [1, n_13]], offset=j_2 * 384 * K + (kt_3 * 256 + 128 * k_12) + 128 * f_15 * K))
                        sum_18 = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum, address=(0, 12288 + 512 * ((6 * kt_3 + (3 * k_12 + f_15) + 1) % 8)))
                        nisa.nc_transpose(dst=sum_18[0:n_13, 0:n_16], data=t_17[0:n_16, 0:n_13], engine=nisa.engine.tensor)
                        nisa.activation(dst=ring_b[0:n_13, k_12 * 384 + 128 * f_15:k_12 * 384 + 128 * f_15 + n_16], data=sum_18[0:n_13, 0:n_16], op=nl.copy)
                m_19 = min(512, M - i_1 * 512)
                for m_20 in range((m_19 + 127) // 128):
                    n_21 = min(128, m_19 - 128 * m_20)
                    n_22 = min(384, N - j_2 * 384)
                    for k_23 in range((k_4 + 127) // 128):
                        n_24 = min(128, k_4 - 128 * k_23)
                        nisa.nc_matmul(dst=acc[0:n_21, m_20 * 512:m_20 * 512 + n_22], stationary=ring_a[0:n_24, 128 * m_20 + k_23 * 512:128 * m_20 + k_23 * 512 + n_21], moving=ring_b[0:n_24, k_23 * 384:k_23 * 384 + n_22], accumulate=kt_3 > 0 or k_23 > 0)
            m_25 = min(512, M - i_1 * 512)
            for m_26 in range((m_25 + 127) // 128):
                n_27 = min(128, m_25 - 128 * m_26)
                n_28 = min(384, N - j_2 * 384)
                t_29 = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf, address=(0, 23552 + 2048 * (m_26 % 4)))
                nisa.activation(dst=t_29[0:n_27, 0:n_28], data=acc[0:n_27, m_26 * 512:m_26 * 512 + n_28], op=nl.copy)
                nisa.dma_copy(dst=C.ap(pattern=[[N, n_27], [1, n_28]], offset=(i_1 * 512 + 128 * m_26) * N + j_2 * 384), src=t_29[0:n_27, 0:n_28])
    return C
