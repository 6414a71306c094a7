#!/usr/bin/env bash
# Every kernel of tests/machines means the same on this CPU, on the simulated
# GPUs, on the simulated Trainium, and on the devices of OpenCL that are
# installed, each at one of its widths by turns: what `// run:` says is run and
# compared with the reference.  A machine that cannot is named with its message, `// not sm_80: TEXT`, `// not cpu: TEXT`
# or, for all widths, `// not opencl: TEXT`.
set -u
export AXE_CC="${CC:-gcc} -O0" # kernels are small, and the compiler takes longest
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
# shellcheck source=tests/opencl.sh
. "$SRC/tests/opencl.sh"
export POCL_CACHE_DIR=$dir/pocl
opencl_devices |
    while read -r device machines; do
        for m in ${machines% spirv}; do
            printf '%s@%s ' "$m" "$device"
        done
        echo
    done >"$dir/devices"

# one MACHINE FILE RUN...: 0 where the check passes
one() {
    local machine=$1 file=$2
    shift 2
    if [[ $machine == opencl* ]]; then
        set -- -t "${machine%@*}" --device "${machine#*@}" --random --check \
            --cache "$dir/cache" "$@"
        AXE_OPENCL_OPTIONS=-cl-opt-disable "$AXE" run "$file" "$@" 2>&1 |
            tee "$dir/said"
        [ "${PIPESTATUS[0]}" != 0 ] || return 0
        # without its optimiser Intel's compiler leaves some no large groups
        grep -q 'at most, of this kernel' "$dir/said" && "$AXE" run "$file" "$@"
    elif [ "$machine" = cpu ]; then
        "$AXE" run "$file" --random --check --cache "$dir/cache" "$@"
    else
        "$AXE" sim "$file" -t "$machine" --random --check --cache "$dir/cache" "$@"
    fi
}

turn=0
for file in "$SRC"/tests/machines/*.axe; do
    turn=$((turn + 1)) some=()
    [ $((turn % ${AXE_SHARE:-1})) = 0 ] || continue
    while read -ra widths; do
        some+=("${widths[turn % ${#widths[@]}]}")
    done <"$dir/devices"
    name=$(basename "$file")
    grep -q '^// run:' "$file" || { echo "$name: no '// run:'"; failed=1; }
    for machine in cpu sm_80 sm_90a sm_100a trn1 "${some[@]}"; do
        no=$(sed -n "s|^// not ${machine/opencl*/opencl}: ||p" "$file")
        while read -r args; do
            # shellcheck disable=SC2086
            if one $machine "$file" $args > "$dir/out" 2>&1; then
                [ -z "$no" ] || [[ $machine == opencl* ]] || { echo "$name runs on $machine: drop '// not'"; failed=1; }
                if grep -q '^check' "$dir/out" || grep -q ' check ' "$dir/out"; then :; else
                    echo "$name on $machine: nothing was compared"
                    failed=1
                fi
            elif [ -z "$no" ] || ! grep -qF -- "$no" "$dir/out"; then
                echo "$name on $machine with $args:"
                cat "$dir/out"
                failed=1
            fi
        done < <(sed -n 's|^// run:||p' "$file")
    done
done
exit $failed
