#!/usr/bin/env bash
# The kernels of tests/sim.list on the simulated GPUs, two at a time.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache

# FILE KERNEL MACHINE TYPE SIZES: says what is wrong, and nothing else.  Where
# the reference has no bound nothing was compared.
one() {
    local file=$1 kernel=$2 machine=$3 type=$4 said
    shift 4
    [ "$type" = - ] || set -- --set "T=$type" "$@"
    said=$("$AXE" sim "$SRC/kernels/$file.axe" "$kernel" --target "$machine" \
        --random --check --policy 2 "$@" 2>&1) &&
        ! [[ $said == *"no error bound"* ]] && return
    echo "FAILED: $kernel on $machine, $type: $*"
    echo "$said" | head -n 40
}
export -f one

grep -v '^#' "$SRC/tests/sim.list" | while read -r file kernel on types sizes; do
    for m in ${on//,/ }; do
        machine=sm_$m
        [ "$m" = 80 ] || machine=sm_${m}a
        for type in ${types//,/ }; do
            echo "$file $kernel $machine $type $sizes"
        done
    done
done >list
xargs -P 2 -L 1 bash -c 'one "$@"' one <list >out 2>&1
cat out
echo "$(wc -l <list) runs, $(grep -c '^FAILED' out) failed"
[ -s list ] && ! grep -q . out
