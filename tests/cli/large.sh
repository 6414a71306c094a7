#!/usr/bin/env bash
# Long texts take time as they are long: 10,000 statements, 3,000 scopes or
# kernels, 2,000 tiles.  Each takes about a second of a processor, and took over
# 40 where every pair of them was looked at; the limits are generous.
set -euo pipefail
case $(ldd "$AXE") in *asan*) exit 77 ;; esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() {
    echo "large: $1" >&2
    exit 1
}

# check SECONDS FILE [OPTION]...: no errors within so much processor time.
check() {
    (ulimit -t "$1" && exec "$AXE" check "${@:3}" "$2") >out 2>&1 ||
        fail "$2 ${*:3}: $(head -c 400 out)"
    grep -q ', no errors' out || fail "$2: $(head -c 400 out)"
}

# repeat N LINE: '%d' is the number of the line, '%p' the one before.
repeat() {
    awk -v n="$1" -v line="$2" 'BEGIN {
        for (i = 1; i <= n; i++) {
            s = line
            gsub(/%d/, i, s)
            gsub(/%p/, i - 1, s)
            print s
        }
    }'
}

args='in f32 X[M], inout f32 Y[M]'
{
    echo "kernel k($args) { index e; cta (i : M by 8) {"
    repeat 10000 'Y[i*8 + e] += X[i*8 + e];'
    echo '} }'
} >folds.axe
{
    echo "kernel k(in f32 X[M], out f32 Y[M]) { cta (i : M by 10000) {"
    repeat 10000 'Y[i*10000 + %p] = X[i*10000 + %p] + 1;'
    echo '} }'
} >places.axe
{
    echo "kernel k($args) { index e;"
    repeat 3000 'cta (i : M by 8) { Y[i*8 + e] += X[i*8 + e]; }'
    echo '}'
} >scopes.axe
{
    echo "kernel k(in f32 X[M, 8], out f32 Y[M, 8]) { index e; cta (i : M) {"
    echo 'reg f32 T0[8]; T0[e] = X[i, e];'
    repeat 2000 'reg f32 T%d[8]; T%d[e] = T%p[e] + 1;'
    echo 'Y[i, e] = T2000[e]; } }'
} >tiles.axe
repeat 3000 "kernel k%d($args) { index e; cta (i : M by 8) Y[i*8 + e] = X[i*8 + e] + %d; }" \
    >kernels.axe

for file in folds places scopes tiles kernels; do
    check 12 $file.axe
done
(ulimit -t 12 && exec "$AXE" compile --emit plan tiles.axe -o plan) >out 2>&1 ||
    fail "plan of tiles.axe: $(head -c 400 out)"

# The same for a GPU, printed, too: 1,000 tiles took 15 seconds, and as many
# places 22.
sed 2001q folds.axe >gpu_folds.axe
sed 2001q places.axe >gpu_places.axe
sed 1001q scopes.axe >gpu_scopes.axe
for file in gpu_folds gpu_places; do
    echo '} }' >>$file.axe
done
echo '}' >>gpu_scopes.axe
for file in gpu_folds gpu_places gpu_scopes tiles; do
    check 6 $file.axe -t sm_90a
done

# Where all pairs are wrong, not all of them are told.
{
    echo "kernel k($args) { cta (i : M) {"
    repeat 2000 'if (i == %d) Y[0] = X[i];'
    echo '} }'
} >wrong.axe
(ulimit -t 12 && exec "$AXE" check wrong.axe) >out 2>&1 && fail "races pass"
grep -q 'more of the cta is not listed' out || fail "$(head -c 400 out)"
[ "$(grep -c 'may be one element in different ctas' out)" = 256 ] ||
    fail "$(grep -c 'may be one element' out) pairs are told"
