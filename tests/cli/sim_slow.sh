#!/usr/bin/env bash
# The kernels of tests/sim.list on the simulated GPUs, two at a time: each in one
# of its types, by turns, in three orders, and of three machines on two, by turns
# (SIM_ALL=1: in all types, on all, in four).
set -u
row_number=0
SIM_ALL=${SIM_ALL-}
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}

# FILE KERNEL MACHINE TYPE ORDERS SIZES: says what is wrong, and nothing else.  Where
# the reference has no bound nothing was compared.
one() {
    local file=$1 kernel=$2 machine=$3 type=$4 orders=$5 said
    shift 5
    [ "$type" = - ] || set -- --set "T=$type" "$@"
    said=$("$AXE" sim "$SRC/kernels/$file.axe" "$kernel" --target "$machine" \
        --random --check --policy "$orders" "$@" 2>&1) &&
        ! [[ $said == *"no error bound"* ]] && return
    echo "FAILED: $kernel on $machine, $type, orders $orders: $*"
    echo "$said" | head -n 40
}
export -f one

grep -v '^#' "$SRC/tests/sim.list" | while read -r file kernel on types sizes; do
    IFS=, read -ra type <<<"$types"
    row=$((${row:-0} + 1)) nth=0
    for m in ${on//,/ }; do
        row_number=$((row_number + 1)) nth=$((nth + 1))
        [ -n "$SIM_ALL" ] || [ "$on" != 80,90,100 ] || [ $((row % 3 + 1)) != $nth ] ||
            continue
        machine=sm_$m
        [ "$m" = 80 ] || machine=sm_${m}a
        for t in "${!type[@]}"; do
            [ -n "$SIM_ALL" ] || [ $((row_number % ${#type[@]})) = "$t" ] ||
                continue
            echo "$file $kernel $machine ${type[t]} $((${#SIM_ALL} > 0 ? 2 : 1)) $sizes"
        done
    done
done >list
xargs -P 2 -L 1 bash -c 'one "$@"' one <list >out 2>&1
cat out
echo "$(wc -l <list) runs, $(grep -c '^FAILED' out) failed"
[ -s list ] && ! grep -q . out
