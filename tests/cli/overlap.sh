#!/bin/sh
# overlap.sh - groups of scopes that overlap: random ones against the reference
# and under ThreadSanitizer, with bugs put in; what explain says; what is refused.
# Given: AXE the command, SRC the source directory.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "overlap: $*" >&2; exit 1; }

"${PYTHON:-python3}" "$SRC/tests/random_overlap.py" "$AXE" $((24 / ${AXE_SHARE:-1}))

# The compiler takes longest, and optimising two thirds of that.
AXE_CC="${CC:-gcc} -O0" "${PYTHON:-python3}" "$SRC/tests/moe.py" "$AXE"

# Rows that no token has are not multiplied: it is seen of a gathered row and of a choice with zero,
# on machines of even register tiles, and not of rows that others than arguments tell.
"$AXE" explain "$SRC/examples/moe.axe" moe -t cpu-avx512-bf16 --set T=bf16 >"$tmp/rows"
[ "$(grep -c 'the last rows of a register tile' "$tmp/rows")" = 3 ] || fail "$(cat "$tmp/rows")"
sed 's/in i32 row\[P\]/inout i32 row[P]/' "$SRC/examples/moe.axe" >"$tmp/inout.axe"
"$AXE" explain "$tmp/inout.axe" moe -t cpu-avx512-bf16 --set T=bf16 >"$tmp/rows"
! grep -q 'the last rows of a register tile' "$tmp/rows" || fail "$(cat "$tmp/rows")"

# As many as are there, in eighths; and packed columns are asked for where all 8 are multiplied.
"$AXE" compile "$SRC/examples/moe.axe" moe -t cpu-avx512-bf16 --order V=packed --order W=packed \
    --emit lower >"$tmp/rows"
[ "$(grep -o 'if live_[0-9]* <= .*' "$tmp/rows" | sed 's/.* //' | sort -u | xargs)" = "1 2 4 6" ] ||
    fail "$(grep live "$tmp/rows")"
[ "$(grep -c 'prefetch [VW].* + 6[0-9]*\] to the second level' "$tmp/rows")" = 9 ] ||
    fail "$(grep prefetch "$tmp/rows")"
! grep -q 'prefetch [VW].*\]$' "$tmp/rows" || fail "$(grep prefetch "$tmp/rows")"
[ "$(grep -c 'let far_.* + part_[0-9]*\*32$' "$tmp/rows")" = 3 ] || fail "$(grep far_ "$tmp/rows")"
AXE_CC="${CC:-gcc} -O0" "${PYTHON:-python3}" "$SRC/tests/moe_f8.py" "$AXE"
# A weight is widened once for all rows of a tile of few, in one column, in the three sums.
for rows in 2 3; do
    "$AXE" explain "$SRC/examples/moe_f8.axe" moe_f8 -t cpu-avx512-bf16 --set BM=$rows >"$tmp/f8"
    [ "$(grep -c "loops     n < [0-9]*, m < $rows by $rows side by side" "$tmp/f8")" = 3 ] || fail "$(cat "$tmp/f8")"
done

cat >"$tmp/k.axe" <<'K'
kernel k<BM = 16>(in f32 X[M, N], in i32 row[P], out f32 Y[P, N])
{
    index m, n, k;
    global f32 S[M, N];

    overlap {
        cta (i : M by BM, j : N by 8)
            S[i*BM + m, j*8 + n] = X[i*BM + m, j*8 + n];
        cta (a : P by 32)
            Y[a*32 + m, n] = sum[k](S[a*32 + m, k]) + S[row[a*32 + m], n];
    }
}
K
"$AXE" explain "$tmp/k.axe" -t cpu-avx2 >"$tmp/out"
grep -q 'waits for line 7: i from 2\*a to 2\*a + 1, all j: S is written in line 8 and read in line 10' "$tmp/out" ||
    fail "explain: $(cat "$tmp/out")"
grep -q 'waits for line 7: i = row/16, all j, for each row\[a\*32 + m\]' "$tmp/out" || fail "explain: $(cat "$tmp/out")"
grep -q 'line 7 is counted by cdiv(cdiv(M, 16), 2) words of 8 bytes' "$tmp/out" || fail "explain: $(cat "$tmp/out")"

"$AXE" explain "$tmp/k.axe" -t cpu-avx2 --json | "${PYTHON:-python3}" -c '
import json, sys
group = [s for s in json.load(sys.stdin)["sync"] if "overlap" in s][0]
assert group["words"] == "8 + cdiv(cdiv(M, 16), 2) + cdiv(M, 16)", group
assert [(w["line"], w["for"], w["tensor"]) for w in group["waits"]] == [(9, 7, "S")] * 2, group
' || fail "explain --json"
"$AXE" explain "$tmp/k.axe" -t sm_80 >"$tmp/out"
grep -q 'in the launch of the scope before it' "$tmp/out" || fail "explain for sm_80: $(cat "$tmp/out")"
grep -q 'line 9 waits for line 7: i from 2\*a to 2\*a + 1' "$tmp/out" || fail "explain for sm_80: $(cat "$tmp/out")"
"$AXE" explain "$tmp/k.axe" -t opencl >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
grep -q 'though it might overlap: the machine has no row' "$tmp/out" || fail "explain for OpenCL: $(cat "$tmp/out")"

# A launch has CTAs for the tiles of all its scopes.
"$AXE" compile "$SRC/examples/overlap.axe" -t sm_90a --emit lower >"$tmp/out"
grep -qF 'persistent, for cdiv(M, 32)*cdiv(N, 64) + cdiv(M, 32)*cdiv(L, 64) + cdiv(T, 16) CTAs' "$tmp/out" ||
    fail "$(grep '^grid' "$tmp/out")"
"$AXE" explain "$SRC/tests/sim/overlap_dynamic.axe" -t sm_100a >"$tmp/out"
grep -q 'that stay and take every n-th tile, not as they come: scopes that overlap' "$tmp/out" ||
    fail "$(cat "$tmp/out")"
"$AXE" explain "$SRC/tests/sim/overlap_clusters.axe" -t sm_90a >"$tmp/out"
grep -q 'though it might overlap: their clusters have different sizes' "$tmp/out" || fail "$(cat "$tmp/out")"

# Stores past the caches are seen before others are told.
"$AXE" compile "$tmp/k.axe" -t cpu-avx2 --emit lower >"$tmp/out"
[ "$(grep -B1 '^ *done ' "$tmp/out" | sed 's/^ *\([a-z]*\).*/\1/' | tr '\n' ' ')" = 'fence done done ' ] ||
    fail "lowered: $(grep -B1 '^ *done ' "$tmp/out")"

# Outside of its tensor an index is 0, and row 0 is waited for.
sed 's/row\[a\*32 + m\]/row[a*32 + m + 3]/' "$tmp/k.axe" >"$tmp/outside.axe"
"$AXE" compile "$tmp/outside.axe" -t cpu-avx2 --emit lower >"$tmp/out"
[ "$(grep -A9 'let row_[0-9]* = ' "$tmp/out" | sed -n 's/^ *\(else\|await\).*/\1/p' | xargs)" = 'await else await' ] ||
    fail "lowered: $(grep -A9 'let row_' "$tmp/out")"

# The kernel with its counters reads back.
"$AXE" compile "$tmp/k.axe" -t cpu-avx2 --emit counters >"$tmp/k.ir"
grep -q 'overlap 1 counted overlap0.done {' "$tmp/k.ir" || fail "$(cat "$tmp/k.ir")"

# One launch where threads run; an element that names no row, a negative one among them, is divided as one.
"$AXE" sim "$tmp/k.axe" -t sm_80 --random M=40 N=20 P=50 row=0..40 --check >"$tmp/out" || fail "$(cat "$tmp/out")"
for t in sm_80 sm_90a; do
    "$AXE" sim "$tmp/k.axe" -t $t --set BM=24 --random M=40 N=20 P=50 row=-30..60 --check >"$tmp/out" ||
        fail "$(cat "$tmp/out")"
done

# A scope that has to do with the first of three alone.
cat >"$tmp/third.axe" <<'K'
kernel third(in f32 X[M, N], out f32 Y[M, N], out f32 Z[M, N])
{
    index m, n;
    global f32 S[M, N];

    overlap {
        cta (i : M by 16) S[i*16 + m, n] = X[i*16 + m, n] + 1;
        cta (i : M by 16) Y[i*16 + m, n] = X[i*16 + m, n] * 2;
        cta (i : M by 16) Z[i*16 + m, n] = S[M - 1 - i*16 - m, n];
    }
}
K
for t in sm_80 sm_90a; do
    "$AXE" sim "$tmp/third.axe" -t $t --random M=100 N=40 --check --policy 3 >"$tmp/out" || fail "$(cat "$tmp/out")"
done

# Orders are of clusters that are there.
for k in 0 -1 3; do
    "$AXE" sim "$tmp/third.axe" -t sm_90a --random M=100 N=40 --policy behind:$k >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
done
for k in 99 -2; do
    "$AXE" sim "$tmp/third.axe" -t sm_90a --random M=100 N=40 --policy ahead:$k >"$tmp/out" 2>&1 && fail "ahead:$k"
    grep -q -- "--policy ahead:$k: \(there are clusters 0 to [1-9]\|lazy, eager\)" "$tmp/out" || fail "$(cat "$tmp/out")"
done

# Counts that are below 0 are none: of two ranges, in front of another scope, in a loop.
cat >"$tmp/none.axe" <<'K'
kernel alone(in f32 X[M, N], inout f32 Y[M, N])
{
    cta (i : M - 3, j : N - 5) Y[i, j] = X[i, j] + 1;
}

kernel group(in f32 X[M, N], inout f32 Y[M, N])
{
    index n;

    for (t : M - 1) {
        overlap {
            cta (i : M - 3, j : N - 5) Y[i, j] = X[i, j] + 1;
            cta (i : 1..M, j : 2..N - 1 step 2) Y[i, j] += X[i - 1, j + 1];
            cta persistent (s : tiles(M - 5 by 4, N - 3 by 8, group = 2))
                for (q : 4) Y[s.i*4 + q, s.j] *= 2;
            cta (i : 3..M - 2) Y[i, n] *= 3;
        }
    }
}
K
for k in alone group; do
    for size in 'M=1 N=1' 'M=2 N=1' 'M=2 N=9' 'M=5 N=1' 'M=7 N=17'; do
        # shellcheck disable=SC2086
        "$AXE" run "$tmp/none.axe" $k --random $size --check >"$tmp/out" 2>&1 || fail "$k $size: $(cat "$tmp/out")"
        for t in sm_80 sm_90a; do
            # shellcheck disable=SC2086
            "$AXE" sim "$tmp/none.axe" $k -t $t --random $size --sms 2 --check >"$tmp/out" 2>&1 ||
                fail "$k $size on $t: $(cat "$tmp/out")"
        done
    done
done

refuse() {
    printf '%s\n' "$1" >"$tmp/bad.axe"
    if "$AXE" compile "$tmp/bad.axe" -t cpu-avx2 >"$tmp/out" 2>&1; then
        fail "taken: $1"
    fi
    grep -q "$2" "$tmp/out" || fail "$(cat "$tmp/out")"
}
begin='kernel k(in f32 X[M], out f32 Y[M]) { index m; '
refuse "$begin overlap { } }" '`overlap` holds no scope'
refuse "$begin overlap cta (i : M by 4) Y[i*4 + m] = X[i*4 + m]; }" 'before the scopes'
refuse "$begin overlap { index q; cta (i : M by 4) Y[i*4 + m] = X[i*4 + m]; } }" 'holds scopes of kind `cta`'
refuse "$begin overlap { core (c) { Y[m] = X[m]; } } }" 'holds scopes of kind `cta`'
refuse "$begin cta (i : M by 4) { overlap { warp (w : 1) Y[i*4 + m] = X[i*4 + m]; } } }" 'holds scopes of kind `cta`'
refuse "$begin overlap { for (t : 3) cta (i : M by 4) Y[i*4 + m] = X[i*4 + m]; } }" 'holds scopes of kind `cta`'
