# Every kernel of tests/machines means the same on this CPU and on the simulated
# GPUs: what `// run:` says is run and compared with the reference.  A machine
# that cannot is named with its message, `// not sm_80: TEXT`, or
# `// not cpu: TEXT`.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# one MACHINE FILE RUN...: 0 where the check passes
one() {
    local machine=$1 file=$2
    shift 2
    if [ "$machine" = cpu ]; then
        "$AXE" run "$file" --random --check --cache "$dir/cache" "$@"
    else
        "$AXE" sim "$file" -t "$machine" --random --check --cache "$dir/cache" "$@"
    fi
}

for file in "$SRC"/tests/machines/*.axe; do
    name=$(basename "$file")
    grep -q '^// run:' "$file" || { echo "$name: no '// run:'"; failed=1; }
    for machine in cpu sm_80 sm_90a sm_100a; do
        no=$(sed -n "s|^// not $machine: ||p" "$file")
        while read -r args; do
            # shellcheck disable=SC2086
            if one $machine "$file" $args > "$dir/out" 2>&1; then
                [ -z "$no" ] || { echo "$name runs on $machine: drop '// not'"; failed=1; }
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
