#!/usr/bin/env bash
# Stages of the library's kernels, byte by byte.  After an intended change:
#     UPDATE=1 AXE=build/release/axe SRC=. bash tests/cli/golden.sh
# and read the difference before committing it.
set -eu
cd "$SRC"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
while read -r kernel machine stage; do
    want=tests/golden/$kernel.$machine.$stage
    file=kernels/$kernel.axe
    [ -f "$file" ] || file=tests/atoms/$kernel.axe
    [ -f "$file" ] || file=tests/gate/$kernel.axe
    "$AXE" compile "$file" --emit "$stage" -t "$machine" -o "$tmp/got"
    if [ "${UPDATE:-}" ]; then
        cp "$tmp/got" "$want"
    elif ! diff -u "$want" "$tmp/got"; then
        failed=1
    fi
done <<'EOT'
gemm cpu-avx512 ir
gemm cpu-avx512 plan
gemm cpu-avx2 plan
gemm cpu-neon plan
softmax cpu-avx512 ir
softmax cpu-avx512 plan
softmax cpu-avx512 lower
softmax_causal cpu-avx512 lower
conv2d cpu-avx512 plan
transpose cpu-avx512 ir
transpose cpu-avx512 plan
transpose cpu-base lower
transpose cpu-avx2 c
floats cpu-avx512 ir
floats cpu-avx512 plan
dots cpu-avx512-bf16 plan
dots cpu-avx512-bf16 lower
gemm trn1 c
gemm_batched trn1 nki01
softmax_causal trn1 nki01
gemm_sm90 sm_90a plan
gemm_sm90 sm_90a lower
gemm_sm100 sm_100a plan
gemm_sm100 sm_100a lower
softmax sm_80 lower
transpose sm_80 plan
transpose sm_80 lower
lanes sm_80 plan
EOT
[ -z "${UPDATE:-}" ] || AXE=$AXE SRC=. bash tests/cli/targets.sh
exit $failed
