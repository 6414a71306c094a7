#!/usr/bin/env bash
# hostile.sh - what is too large, in time, in memory or for int64, is refused,
# with its numbers, and soon.
# Given: AXE the command.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export AXE_CACHE=$tmp/cache
n_bad=0
limit=16000000 # KiB of addresses; a sanitizer's shadow wants more
(ulimit -v $limit; "$AXE" --version) >/dev/null 2>&1 || limit=unlimited

# says CODE TEXT COMMAND...: within 20 seconds the exit code, and TEXT somewhere
# in what is printed ("" for anything).
says() {
    local code=$1 want=$2 got st
    shift 2
    got=$(ulimit -v $limit; timeout -k 1 20 "$@" 2>&1)
    st=$?
    [ $st = "$code" ] && [[ $got == *"$want"* ]] && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $*: exit $st, not $code, or not '$want'; printed:"
    echo "${got:0:2000}"
}

# ---------------------------------------------------- index arithmetic
cat >read.axe <<'EOT'
kernel k(in f32 X[M], out f32 Y[M])
{
    index m;
    cta (i : M by 8) Y[i*8 + m] = X[M*M*M*M*M*M*M*M + i*8 + m];
}
EOT
cat >write.axe <<'EOT'
kernel k(in f32 X[M], inout f32 Z[M])
{
    index m;
    cta (i : M by 8) Z[M*M*M*M*M*M*M*M + i*8 + m] = X[i*8 + m];
}
EOT
for f in read write; do
    says 0 "ok, 100 elements" "$AXE" run --random --check $f.axe M=100
    says 1 '`M*M*M*M*M*M*M` may be beyond 2^62' "$AXE" run --random $f.axe M=1000
    says 1 "with M = 1000" "$AXE" run --random --check $f.axe M=1000
    says 1 "may be beyond 2^62" "$AXE" sim --random $f.axe M=1000
done
# i64 elements as subscripts are data: what they add up to is the kernel's.
cat >sums.axe <<'EOT'
kernel k(in f32 X[N], out f32 Y[M, N])
{
    index m, n;
    cta (i : M by 32, j : N by 32) Y[i*32 + m, j*32 + n] = X[j*32 + n + 9223372036854775807];
}
EOT
says 1 "9223372036854775807\` may be beyond 2^62" "$AXE" check sums.axe
says 1 "9223372036854775807\` may be beyond 2^62" "$AXE" check -t sm_80 sums.axe
sed -i 's/9223372036854775807/4611686018427387000/' sums.axe
says 1 "may be beyond 2^62" "$AXE" run --random --check sums.axe M=3 N=5000
says 0 "ok, 60 elements" "$AXE" run --random --check sums.axe M=3 N=20
# More entities than int64 counts: none of them ran.
cat >count.axe <<'EOT'
kernel k(in f32 X[M], out f32 Y[M])
{
    index m;
    cta (i : M by 4, j : 3037000500, k : 3037000500) if (j == 0) if (k == 0) Y[i*4 + m] = X[i*4 + m];
}
EOT
says 1 "3037000500\` may be beyond 2^62" "$AXE" run --random count.axe M=8
says 1 "may be beyond 2^62" "$AXE" sim --random count.axe M=8

# ---------------------------------------------------------------- memory
cat >own.axe <<'EOT'
kernel k(out f32 Y[M])
{
    index m, q;
    global f32 g[M, 4611686018427387904];
    cta (i : M by 8) g[i*8 + m, q] = 0;
    cta (i : M by 8) Y[i*8 + m] = g[i*8 + m, 0];
}
EOT
for m in 1 2 8; do
    says 1 "would take more bytes than int64" "$AXE" run --check own.axe M=$m
    says 1 "g has more elements than int64 counts" "$AXE" run own.axe M=$m
done
says 0 "ok, 0 elements" "$AXE" run --check own.axe M=0
sed -i 's/4611686018427387904/100000000000/' own.axe
says 1 "the reference of k would take 160000000" "$AXE" run --check own.axe M=100
cat >wide.axe <<'EOT'
kernel k(in f32 X[M], out f32 Y[M, N])
{
    index m, n;
    cta (i : M by 8, j : N by 64) {
        shared f32 t[8, 64] : (8, 64) : (64, 2147483648);
        t[m, n] = X[i*8 + m];
        Y[i*8 + m, j*64 + n] = t[m, n];
    }
}
EOT
for on in sm_80 sm_90a sm_100a; do
    says 1 "tile t spans 541165881092 bytes by its layout" "$AXE" check -t $on wide.axe
done
cat >big.axe <<'EOT'
kernel k(in i64 X[M])
{
    index m;
    cta (i : M by 16) {
        shared i32 t[1073741824];
        t[m] = -i32(X[i*16 + m]);
    }
}
EOT
says 0 "take 4294967296 bytes" "$AXE" check big.axe
says 1 "tile t spans 4294967296 bytes" "$AXE" check -t sm_80 big.axe
cat >grid.axe <<'EOT'
kernel k(in f32 X[16, 16, 16, 16, 16, 16, 16], out f32 Y[1])
{
    index a, b, c, d, e, f, g;
    cta (i : 1) {
        shared f32 t[16, 16, 16, 16, 16, 16, 16];
        t[a, b, c, d, e, f, g] = X[a, b, c, d, e, f, g];
        Y[0] = t[1, 2, 3, 4, 5, 6, 7];
    }
}
EOT
says 0 "1 kernel, no errors" "$AXE" check grid.axe

# Not one bank after the other of 2^31 elements.
cat >product.axe <<'EOT'
kernel k<BK = 64>(in f16 A[M, K], in f16 B[N, K], out f32 C[M, N])
{
    index m, n, k;
    cta (i : M by 64, j : N by 64) {
        reg f32 c[64, 64] = 0;
        for (l : K by BK) {
            shared f16 a[64, BK]; shared f16 b[64, BK];
            a[m, k] = A[i*64 + m, l*BK + k];
            b[n, k] = B[j*64 + n, l*BK + k];
            c[m, n] += a[m, k] * b[n, k];
        }
        C[i*64 + m, j*64 + n] = c[m, n];
    }
}
EOT
for t in sm_80 sm_90a sm_100a; do
    says 0 "" "$AXE" compile -t $t product.axe
    says 1 "tile a spans 274877906816 bytes by its layout" \
        "$AXE" compile -t $t product.axe --set BK=2147483647
done

[ $n_bad = 0 ] || exit 1
