#!/usr/bin/env bash
# The kernels of tests/sim.list that name no machine, as OpenCL C on every device
# that is installed, and in the simulator, compared with the reference; each on one
# of a device's widths and in one of its types by turns (OPENCL_ALL=1: in all).
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache
[ ! -r "$SRC/build/opencl/vendors" ] ||
    export OCL_ICD_VENDORS=${OCL_ICD_VENDORS-$SRC/build/opencl/vendors}

"$AXE" devices --json >devices.json || exit 1
"$PYTHON" - devices.json >devices <<'END'
import json, sys
for d in json.load(open(sys.argv[1]))["opencl"]["devices"]:
    has = d["features"]
    widths = [w for w in d.get("widths", []) if w in (8, 16, 32, 64)]
    if not all(f in has for f in ("subgroups", "shuffle", "width")):
        widths = []
    print(d["number"], "opencl", *("opencl-sg%d" % w for w in widths))
END
[ -s devices ] || { echo "skipped: no OpenCL device"; exit 77; }

# What is refused, as patterns of VERB:KERNEL:MACHINE:DEVICE, and why.
export REFUSED='
*:scatter_add:*   *:attention_mma:*
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

# VERB DEVICE FILE KERNEL MACHINE TYPE SIZES: says what is wrong, and no more.
one() {
    local verb=$1 device=$2 file=$3 kernel=$4 machine=$5 type=$6 said
    shift 6
    [ "$type" = - ] || set -- --set "T=$type" "$@"
    [ "$verb" = run ] || set -- --policy lazy "$@"
    said=$("$AXE" "$verb" "$SRC/kernels/$file.axe" "$kernel" --target "$machine" \
        --device "$device" --random --check "$@" 2>&1) &&
        ! [[ $said == *"no error bound"* ]] && said=
    ! is_refused "$verb:$kernel:$machine:$device" ||
        if [ -z "$said" ]; then
            said="it is among the refused, and runs"
        elif [[ $said == *"error: "* && $said != *finding* ]]; then
            said=
        fi
    [ -z "$said" ] && return
    echo "FAILED: $verb $kernel on $machine, device $device, $type: $*"
    echo "$said" | head -n 20
}
export -f one

turn_of=0 before=
grep -v '^#' "$SRC/tests/sim.list" | grep ' 80,90,100 ' |
    while read -r file kernel _ types sizes; do
        [ "$kernel" = "$before" ] || turn_of=$((turn_of + 1))
        before=$kernel
        IFS=, read -ra type <<<"$types"
        [ -n "${OPENCL_ALL-}" ] || type=("${type[turn_of % ${#type[@]}]}")
        while read -r device machines; do
            # shellcheck disable=SC2086
            set -- $machines
            for i in $(seq $#); do
                turn=$(((turn_of + i) % $#))
                for t in "${type[@]}"; do
                    [ -z "${OPENCL_ALL-}" ] && [ $turn != 0 ] ||
                        echo "run $device $file $kernel ${!i} $t $sizes"
                    [ $turn != 0 ] || [ "$device" != 0 ] ||
                        echo "sim $device $file $kernel ${!i} $t $sizes"
                done
            done
        done <devices
    done >list
xargs -P 2 -L 1 bash -c 'one "$@"' one <list >out 2>&1
cat out
echo "$(wc -l <list) runs on $(wc -l <devices) devices, $(grep -c '^FAILED' out) failed"
[ -s list ] && ! grep -q . out
