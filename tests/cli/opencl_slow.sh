#!/usr/bin/env bash
# The kernels of tests/sim.list that name no machine, as OpenCL C on every device
# that is installed, compared with the reference.
#
# Each kernel, in its first sizes there and in one of its types by turns, runs on
# every device, where it has several widths at every fifth without what the
# driver's optimiser does, which is most of what it takes; in the simulator in one
# type and at one width by turns, and so, optimised, every fourth kernel on the
# first device and every other one on another (OPENCL_ALL=1: all, optimised, in all
# types and sizes, at all widths).  The table of kernels and widths is printed, and is that
# of docs/opencl.md as far as they ran (OPENCL_ALL=1 UPDATE=1 writes it).  OPENCL_ONLY='^plain .* gemm ':
# those of the list alone, and no table.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}
# shellcheck source=tests/opencl.sh
. "$SRC/tests/opencl.sh"
opencl_devices | sed 's/ spirv$//' >devices
[ -s devices ] || { echo "skipped: no OpenCL device"; exit 77; }

# What is refused, as patterns of VERB:KERNEL:MACHINE:DEVICE, and why.
export REFUSED='
*:attention_mma:*
    for nvidia alone
*:lanes:opencl:*   *:lanes:*8:*   *:lanes:*16:*   *:lanes:*64:*
    lays out 32 lanes'
is_refused() {
    local p
    set -f
    for p in $REFUSED; do
        # shellcheck disable=SC2053
        [[ $1 != $p ]] || return 0
    done
    return 1
}
export -f is_refused

# HOW DEVICE FILE KERNEL MACHINE TYPE SIZES: says whether it runs, is refused, or
# what is wrong.  HOW is run, sim, or plain for a run that is not optimised.
one() {
    local how=$1 device=$2 file=$3 kernel=$4 machine=$5 type=$6 said verb=run
    shift 6
    [ "$type" = - ] || set -- --set "T=$type" "$@"
    [ "$how" != sim ] || { verb=sim; set -- --policy lazy "$@"; }
    [ "$how" != plain ] || export AXE_OPENCL_OPTIONS=-cl-opt-disable
    said=$("$AXE" "$verb" "$SRC/kernels/$file.axe" "$kernel" --target "$machine" \
        --device "$device" --random --check "$@" 2>&1) &&
        ! [[ $said == *"no error bound"* ]] && said=
    if ! is_refused "$verb:$kernel:$machine:$device"; then
        [ -n "$said" ] || { echo "runs $how $device $machine $kernel"; return; }
    elif [ -z "$said" ]; then
        said="it is among the refused, and runs"
    elif [[ $said == *"error: "* && $said != *finding* ]]; then
        echo "refused $how $device $machine $kernel"
        return
    fi
    echo "FAILED: $how $kernel on $machine, device $device, $type: $*"
    echo "$said" | head -n 20
}
export -f one

# Which runs there are of a row: in how many of its types, at how many widths.
turn_of=0 before=
grep -v '^#' "$SRC/tests/sim.list" | grep ' 80,90,100 ' |
    while read -r file kernel _ types sizes; do
        first=
        [ "$kernel" = "$before" ] || { turn_of=$((turn_of + 1)); first=yes; }
        before=$kernel
        [ -n "$first" ] || [ -n "${OPENCL_ALL-}" ] || continue
        IFS=, read -ra all <<<"$types"
        [ "$kernel" != scatter_add ] || all=(f32) # no atomics of 2 bytes
        type=("${all[@]}")
        [ -n "${OPENCL_ALL-}" ] || type=("${all[turn_of % ${#all[@]}]}")
        while read -r device machines; do
            # shellcheck disable=SC2086
            set -- $machines
            for i in $(seq $#); do
                turn=$(((turn_of + i) % $#))
                [ -z "$first" ] || [ $# = 1 ] || {
                    [ -z "${OPENCL_ALL-}" ] && [ $(((turn_of + i + device) % 5)) != 0 ]
                } ||
                    echo "plain $device $file $kernel ${!i}" \
                        "${all[(turn_of + i + device) % ${#all[@]}]} $sizes"
                how=run
                [ -n "${OPENCL_ALL-}" ] || [ $((device > 0 ? turn_of % 2 : \
                    (turn_of + 2) % 4)) = $((device > 0 ? 1 : 0)) ] || how=plain
                for t in "${type[@]}"; do
                    [ -z "${OPENCL_ALL-}" ] && [ $turn != 0 ] ||
                        echo "$how $device $file $kernel ${!i} $t $sizes"
                    [ $turn != 0 ] || [ "$device" != 0 ] ||
                        echo "sim $device $file $kernel ${!i} $t $sizes"
                done
            done
        done <devices
    done | awk '!seen[$0]++' >list
[ -z "${OPENCL_ONLY-}" ] || { grep -E "$OPENCL_ONLY" list >some; mv some list; }
xargs -P 2 -L 1 bash -c 'one "$@"' one <list >out 2>&1
grep -vE '^(runs|refused) ' out
failed=$(grep -c '^FAILED' out)
echo "$(wc -l <list) runs on $(wc -l <devices) devices, $failed failed"
[ -s list ] && ! grep -qvE '^(runs|refused) ' out || exit 1
[ -n "${OPENCL_ONLY-}" ] && [ -z "${UPDATE-}" ] || {
    "$AXE" devices --json >devices.json
    "$PYTHON" "$SRC/tests/opencl.py" devices.json out
}
