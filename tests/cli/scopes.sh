#!/usr/bin/env bash
# Kernels of several scopes, pipelines of several stages, types and attributes:
# tests/scopes/*.axe against the reference, on every CPU that this one can be,
# by teams of 1, 2, 3 and 7 (a share: of 3).
set -u
export AXE_CC="${CC:-gcc} -O0" # kernels are small, and the compiler takes longest
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
n_bad=0 n_run=0 teams="1 2 3 7"
[ "${AXE_SHARE:-1}" = 1 ] || teams=3

for file in "$SRC"/tests/scopes/*.axe; do
    sizes=$(sed -n 's/^\/\/ sizes: //p' "$file")
    for cpu in cpu cpu-avx2 cpu-base; do
        for n in $teams; do
            n_run=$((n_run + 1))
            # shellcheck disable=SC2086
            "$AXE" run --target "$cpu" --threads $n --random --seed $n --check \
                "$file" ${sizes:-M=133 N=171 K=210} >out 2>&1 && continue
            n_bad=$((n_bad + 1))
            echo "FAILED: $file on $cpu, $n threads"
            cat out
        done
    done
done
echo "$n_run runs, $n_bad failed"
[ $n_run -gt 0 ] && [ $n_bad = 0 ]
