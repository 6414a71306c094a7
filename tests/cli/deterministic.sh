#!/bin/sh
# deterministic.sh - scopes whose entities meet in one order: bits, plans, what
# explain says, what is refused.
# Given: AXE the command, SRC the source directory.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "deterministic: $*" >&2; exit 1; }

kernel() {
    printf 'kernel k(in f32 X[M, N], in i32 rows[M], inout f32 Y[N], inout f32 Z[N, N], inout i32 H[N])\n{\n    index m, n;\n%s\n}\n' "$1" >"$tmp/k.axe"
}
told() {
    kernel "$2"
    "$AXE" explain "$tmp/k.axe" -t "$1" M=1024 N=512 >"$tmp/out" 2>&1 || fail "$1: $2: $(cat "$tmp/out")"
    grep -qF -- "$3" "$tmp/out" || fail "$1: $2: $(grep meets "$tmp/out" || cat "$tmp/out")"
}
told cpu-avx2 'cta deterministic (i : M by 32) Y[n] += X[i*32 + m, n];' \
    'meets       line 4: entities of `i` come to one `Y[n]`: each keeps a part, cdiv(M, 32)*N of f32, and a scope behind adds them up, as its plan says: 65536 bytes, written and read once, '
told cpu-avx2 'cta deterministic (i : M by 32, j : N by 64) Z[rows[i*32 + m], j*64 + n] += X[i*32 + m, j*64 + n];' \
    'in the order of their numbers, as which elements an entity has is known when it runs; what is left to run side by side is cdiv(N, 64) = 8'
told cpu-avx2 'cta deterministic (i : M by 32) for (t : 2) Y[n] += X[i*32 + t*16 + m, n];' 'as a loop adds to it more than once; what is left to run side by side is 1'
told sm_80 'cta (i : M by 32) Y[n] += X[i*32 + m, n];' \
    'entities of `i` come to one `Y[n]`: the order of the sum is open: its last bits may differ from run to run'
told sm_80 'cta (i : M by 32) H[rows[i*32 + m]] += 1;' 'in any order, which no result tells'
told sm_80 'cta deterministic (i : M by 32) H[rows[i*32 + m]] += 1;' 'in any order, which no result tells'
told cpu-avx2 'cta (i : M by 32) Z[rows[i*32 + m], n] = X[i*32 + m, n];' 'the last one stays, which may be any'

# Nothing is told where nobody meets.
kernel 'cta deterministic (i : N by 32) Y[i*32 + n] += 1;'
"$AXE" explain "$tmp/k.axe" -t cpu-avx2 >"$tmp/out" 2>&1 || true
! grep -q meets "$tmp/out" || fail "nobody meets: $(cat "$tmp/out")"

refuse() {
    kernel "$1"
    if "$AXE" compile "$tmp/k.axe" -t "${3:-cpu-avx2}" >"$tmp/out" 2>&1; then
        fail "taken: $1"
    fi
    grep -qF -- "$2" "$tmp/out" || fail "$1: $(cat "$tmp/out")"
}
refuse 'cta deterministic (i : M by 32) { f32 s = 0; for (j : cdiv(M, cores)) s += X[j, i]; Y[n] += s; }' 'names `cores`'

"${PYTHON:-python3}" "$SRC/tests/deterministic.py" "$AXE"
