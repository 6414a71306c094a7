#!/usr/bin/env bash
# Kernels whose statements depend on one another through global memory
# (tests/sim), on the simulated GPUs, in four orders: each on one of its machines
# by turns (SIM_ALL=1: on all).  A kernel's first line says where, and with which
# sizes, or how it is refused; `barriers 0` that it has no barrier.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}

fail() {
    echo "FAILED: $file on $machine: $1"
    head -n 20 said
    failed=1
}

# SIZES: run the kernel, which must be right and without a finding.
runs() {
    # shellcheck disable=SC2086
    "$AXE" sim "$file" --target "$machine" --random --check --policy 2 $1 \
        >said 2>&1 || fail "it is wrong"
    ! grep -q "no error bound" said || fail "nothing was compared"
    ! grep -q '^// barriers 0' "$file" || ! grep -q ' meet' said ||
        fail "threads wait at a barrier"
}

# TEXT: it is refused so, as early as by `axe check`.
refused() {
    for verb in check compile; do
        "$AXE" $verb "$file" --target "$machine" >said 2>&1 &&
            fail "$verb takes it"
        grep -qF -- "$1" said || fail "$verb does not say \"$1\""
    done
}

failed=0 n=0
for file in "$SRC"/tests/sim/*.axe; do
    IFS=: read -r head rest <"$file"
    read -r _ how on <<<"$head"
    IFS=, read -ra machines <<<"$on"
    n=$((n + 1))
    [ $((n % ${AXE_SHARE:-1})) = 0 ] || continue
    for i in "${!machines[@]}"; do
        [ -n "${SIM_ALL-}" ] || [ "$i" = $((n % ${#machines[@]})) ] || continue
        machine=sm_${machines[i]}
        [ "${machines[i]}" = 80 ] || machine=${machine}a
        if [ "$how" = refused ]; then refused "${rest# }"; else runs "$rest"; fi
    done
done
echo "$n kernels"
[ $n -gt 0 ] && [ $failed = 0 ]
