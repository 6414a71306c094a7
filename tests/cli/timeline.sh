#!/usr/bin/env bash
# axe sim --timeline: what holds of all timelines (tests/timeline.py), for kernels
# of each kind, and how far they are from `axe explain`; one picture, byte by
# byte (UPDATE=1 AXE=build/release/axe SRC=. bash tests/cli/timeline.sh writes
# it); the same findings, counts and arrays as without; bad files.
set -u
SRC=$(cd "$SRC" && pwd)
AXE=$(cd "$(dirname "$AXE")" && pwd)/$(basename "$AXE")
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}
n_bad=0

fail() {
    n_bad=$((n_bad + 1))
    echo "FAILED: $*"
}

# FACTOR KERNEL MACHINE ARGUMENTS: the model of `axe explain` is within that
# factor of it, where the sizes make more of a launch than beginning it.
n=0
while read -r factor kernel machine sizes; do
    [ $((n++ % ${AXE_SHARE:-1})) = 0 ] || continue
    # shellcheck disable=SC2086
    set -- "$SRC/kernels/$kernel.axe" --target "$machine" $sizes
    "$AXE" explain "$@" --json >explained 2>err || fail "explain $kernel: $(cat err)"
    "$AXE" sim "$@" --random --json --timeline t.json >said 2>err &&
        "$AXE" sim "$@" --random --json --timeline u.json >again 2>err &&
        "$AXE" sim "$@" --random --json --timeline t.svg >/dev/null 2>err &&
        "$AXE" sim "$@" --random --json --timeline u.svg >/dev/null 2>err ||
        fail "sim $kernel: $(cat err)"
    cmp t.json u.json && cmp t.svg u.svg && cmp said again ||
        fail "$kernel: two timelines of one kernel differ"
    "$PYTHON" "$SRC/tests/timeline.py" t.json said "$factor" explained >wrong ||
        fail "$kernel $machine $sizes: $(cat wrong)"
    "$PYTHON" -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' t.svg ||
        fail "$kernel: no XML"
done <<'EOT'
1.5 gemm_sm90 sm_90a M=1024 N=1024 K=1024
2 gemm_fp8_sm90 sm_90a M=512 N=512 K=1024 P=4 Q=8
1.5 gemm_sm100 sm_100a M=1024 N=1024 K=256
2 gemm sm_80 M=256 N=256 K=512
2 attention_sm90 sm_90a G=1 R=2 S=256 L=256
2 softmax sm_80 M=256 N=1024
2 softmax_cluster sm_90a M=8 N=9000
2 layernorm sm_90a M=200 N=1024
2 transpose sm_80 M=512 N=512
2 gemm_splitk sm_80 M=128 N=128 K=1024
EOT

# The same, whether or not anybody asks when.
arguments=("$SRC/kernels/gemm_sm90.axe" --random M=512 N=512 K=256 --policy 3)
"$AXE" sim "${arguments[@]}" C=plain.npy >plain || fail "plain"
"$AXE" sim "${arguments[@]}" C=timed.npy --timeline x.svg >timed || fail "timed"
cmp plain.npy timed.npy || fail "another result"
sed '/^time, by a model/,$d; s/timed.npy/plain.npy/' timed | cmp - plain ||
    fail "another report"

# Blocks that take others: each of 4 SMs has its share.
"$AXE" sim "$SRC/kernels/gemm_sm100.axe" --target sm_100a --random M=1024 N=1024 \
    K=64 --sms 4 --json --timeline t.json >said 2>err || fail "$(cat err)"
"$PYTHON" "$SRC/tests/timeline.py" t.json said 2 || fail "4 SMs"

golden=$SRC/tests/golden/softmax.sm_80.timeline.svg
"$AXE" sim "$SRC/kernels/softmax.axe" --target sm_80 --random M=33 N=300 \
    --timeline one.svg >/dev/null || fail "softmax"
if [ "${UPDATE:-}" ]; then
    cp one.svg "$golden"
else
    diff "$golden" one.svg || fail "another picture"
fi

# no CODE TEXT FILE: this exit code and text, and no such file afterwards.
no() {
    "$AXE" sim "$SRC/kernels/softmax.axe" --target sm_80 --random M=3 N=30 \
        --timeline "$3" >out 2>err
    local got=$?
    [ $got = "$1" ] || fail "$3: exit $got, not $1"
    grep -qF -- "$2" err || fail "$3: no '$2' in: $(cat err)"
    [ ! -f "$3" ] || fail "$3 is there"
}
no 2 'a name that ends in .svg, a picture, or .json, trace events' picture.pdf
no 2 'a name that ends in .svg, a picture, or .json, trace events' svg
no 1 'make its directory first: mkdir -p nowhere' nowhere/x.svg
(
    trap '' XFSZ
    ulimit -f 2
    no 1 'cannot write: File too large' x.json
    exit $n_bad
) || n_bad=$((n_bad + 1))
if [ -c /dev/full ]; then
    ln -s /dev/full full.svg
    no 1 'No space left' full.svg
fi
ls -A | grep -v -x -e cache -e '[^.]*' -e '.*\.npy' -e '[tux]\.json' -e '[tuxo].*\.svg' \
    -e full.svg && fail "something is left"

[ $n_bad = 0 ]
