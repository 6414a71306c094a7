#!/usr/bin/env bash
# Texts for Intel's GPUs, with matrix rows, through Intel's offline compiler:
# ocloc (Debian: intel-opencl-icd), which needs no GPU.  Compilers that know the
# matrix functions and do not declare them get the declarations of
# cl_intel_subgroup_matrix_multiply_accumulate in front.
set -u
command -v ocloc >/dev/null || { echo "skipped: no ocloc"; exit 77; }
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
n_run=0 n_bad=0

declare_all() {
    local a=$1 u=$2 m v t ta tb
    for m in 1 2 4 8; do
        v=${m#1}
        for t in f16 bf16; do
            echo "float$v __attribute__((overloadable))" \
                "intel_sub_group_${t}_${t}_matrix_mad_k16($a$v, int8, float$v);"
        done
        for ta in i8 u8; do
            for tb in i8 u8; do
                [ $ta = i8 ] && ty=$a || ty=$u
                [ $tb = i8 ] && tyb=int8 || tyb=uint8
                echo "int$v __attribute__((overloadable))" \
                    "intel_sub_group_${ta}_${tb}_matrix_mad_k32($ty$v, $tyb, int$v);"
            done
        done
    done
}

# one MACHINE DEVICE STANDARD WORD KERNEL [SET...]: the text has the word
one() {
    local machine=$1 device=$2 std=$3 word=$4 kernel=$5
    shift 5
    n_run=$((n_run + 1))
    if ! "$AXE" compile -t "$machine" "$SRC/kernels/$kernel.axe" "$@" >k.cl 2>out ||
        ! grep -q "$word" k.cl; then
        echo "FAILED: $kernel $* for $machine, which has no $word"
        head -n 20 out
        n_bad=$((n_bad + 1))
        return
    fi
    cat "declared_$device" k.cl >all.cl
    ocloc compile -file all.cl -device "$device" -options "-cl-std=$std" \
        -out_dir bin >out 2>&1 && ls bin/*.bin >/dev/null 2>&1 && rm -rf bin && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $kernel $* for $device"
    cut -c1-200 out | head -n 20
}

declare_all int uint >declared_dg2
declare_all short ushort >declared_pvc
while read -r machine device std; do
    one $machine $device $std f16_f16_matrix_mad_k16 gemm --set T=f16
    one $machine $device $std bf16_bf16_matrix_mad_k16 gemm_bias_relu --set T=bf16
    one $machine $device $std u8_i8_matrix_mad_k32 gemm_i8
    one $machine $device $std i8_u8_matrix_mad_k32 gemm_i8 --set S=i8 --set T=u8
    one $machine $device $std sub_group_reduce_max softmax
done <<'END'
opencl-xe-hpg dg2 CL3.0
opencl-xe-hpc pvc CL2.0
END
echo "$n_run texts, $n_bad failed"
[ $n_run -gt 0 ] && [ $n_bad = 0 ]
