#!/usr/bin/env bash
# Kernels that were planned and then had no text, or a wrong one: tests/texts,
# whose first line says the sizes.  Each is what the reference says on this CPU,
# is simulated without a finding, and has CUDA C on all GPUs.
set -u
export AXE_CC="${CC:-gcc} -O0" # kernels are small, and the compiler takes longest

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

fail()
{
    echo "$*: $(grep -v warning "$tmp/log" | head -5)"
    bad=1
}

n=0
for f in "$SRC"/tests/texts/${1-*}.axe; do
    [ $((n++ % ${AXE_SHARE:-1})) = 0 ] || continue
    sizes=$(sed -n '1s,^// ,,p' "$f")
    "$AXE" run "$f" --random --check $sizes > "$tmp/log" 2>&1 ||
        fail "run $f $sizes"
    for m in sm_80 sm_90a sm_100a; do
        "$AXE" sim "$f" -t $m --random --check $sizes > "$tmp/log" 2>&1 ||
            fail "sim $f -t $m $sizes"
        "$AXE" compile "$f" -t $m -o "$tmp/k.cu" $(grep -o -e '--order [^ ]*' <<<"$sizes") > "$tmp/log" 2>&1 ||
            fail "compile $f -t $m"
        ! grep -n '^[^"]*[a-z]_[A-Za-z0-9_]*\.[a-z]' "$tmp/k.cu" > "$tmp/log" ||
            fail "a dot in a name: $f -t $m"
        [ "${f##*/}" = cores.axe ] || ! grep -n n_cores "$tmp/k.cu" > "$tmp/log" ||
            fail "cores that nobody names: $f -t $m"
    done
done
exit $bad
