#!/usr/bin/env bash
# What a kernel can say of threads, layouts and scopes, on every OpenCL device
# that is installed: a row each, on the machines that its text allows, compared
# with the reference.  The table of what ran is printed.  The driver's optimiser
# is off, which is most of what it takes, but for sums in branches, which it would
# break on PoCL (src/lower/pass/reconverge.c).
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache AXE_OPENCL_OPTIONS=-cl-opt-disable
# shellcheck source=tests/opencl.sh
. "$SRC/tests/opencl.sh"
opencl_devices >devices
[ -s devices ] || { echo "skipped: no OpenCL device"; exit 77; }
n_run=0 n_bad=0

cat >scatter.axe <<'END'
kernel scatter(in f32 X[M, N], in i32 rows[M], inout f32 Y[V, N])
{
    index m, n;

    cta (i : M by 32, j : N by 64)
        Y[rows[i*32 + m], j*64 + n] += X[i*32 + m, j*64 + n];
}
END
cat >by_lanes.axe <<'END'
// The sum of a row whose elements a warp's 16 lanes hold.
kernel by_lanes(in f32 X[M, 64], out f32 Y[M])
{
    index m, n;

    cta (i : M by 4) warps 4 {
        reg f32 x[4, 64] : (4, (16, 4)) : (1@warp, (1@lane, 1@reg));

        x[m, n] = X[i*4 + m, n];
        Y[i*4 + m] = sum[n](x[m, n]);
    }
}
END

cat >branch_sums.axe <<'END'
// A sum over the threads of a CTA in a branch; rows end within a tile, and what
// is written beyond one is found in rows that nothing else writes.
kernel branch_sums<B = 32>(in f32 X[C, 16], in f32 F[O, C], inout f32 Y[O, Q])
{
    index c, s, q;

    cta (j : Q by B) {
        if (O > 2)
            Y[1, j*B + q] = sum[c, s](X[c, s] * F[1, c] * f32(q));
        Y[0, j*B + q] = sum[c, s](X[c, s] * F[0, c] * f32(q));
    }
}
END

cat >nested_sums.axe <<'END'
// The same in branches with an `else`, by turns of a `while`.
kernel nested_sums<B = 32>(in f32 X[C, 16], in f32 F[O, C], in i32 T[1], inout f32 Y[P, Q])
{
    index c, s, q;

    cta (j : Q by B) {
        reg i32 t[1] = 0;

        while (t[0] < T[0]) {
            Y[0, j*B + q] = sum[c, s](X[c, s] * F[0, c] * f32(q));
            if (O > 2)
                Y[2, j*B + q] = sum[c, s](X[c, s] * F[1, c] * f32(q));
            else
                Y[4, j*B + q] = sum[c, s](X[c, s] * F[2, c] * f32(q));
            t[0] += 1;
        }
    }
}
END

cat >quotients.axe <<'END'
// Quotients round to minus infinity, by whatever sign.
kernel quotients(in i32 X[N], in i32 D[N], out i32 Y[N], out i32 Z[N], out i64 W[N], out i64 V[N])
{
    index n;

    cta (i : N by 64) {
        Y[i*64 + n] = X[i*64 + n] / D[i*64 + n];
        Z[i*64 + n] = X[i*64 + n] % D[i*64 + n];
        W[i*64 + n] = i64(X[i*64 + n]) / i64(D[i*64 + n]);
        V[i*64 + n] = i64(X[i*64 + n]) % i64(D[i*64 + n]);
    }
}
END

# WHAT, machines as a pattern, FILE, ARGUMENTS; files of tests/ or made here.
list='
thread scopes;        *;           machines/linear_thread;    M=100
warps;                *;           machines/all_warps;        M=13 N=70
lane layouts;         *-sg32;      machines/laid_for_threads; M=133 N=77
sums over lanes;      *-sg16;      by_lanes;                  M=37
atomics;              *;           sim/histogram;             M=500 X=0..1000
atomics of floats;    *;           scatter;                   M=70 N=136 V=40 rows=0..40
several scopes;       *;           machines/host_loops;       M=40 N=50 T=4
global temporaries;   *;           sim/settle;                ARGS
exchange in a warp;   *-sg32;      gate/lanes;                M=70
products of f64;      *;           ../kernels/gemm;           --set T=f64 M=5 N=7 K=9
sums in a branch;     opencl;      branch_sums;               O=4 Q=35 C=40
sums in a nest;       opencl;      nested_sums;               O=4 Q=35 C=40 P=8 T=3..4
quotients;            *;           quotients;                 N=100 X=-50..50 D=-9..9'

while IFS=';' read -r what on file args; do
    file=${file// /}
    on=${on// /}
    [ -n "$file" ] || continue
    path=$SRC/tests/$file.axe
    [ -r "$path" ] || path=$file.axe
    AXE_OPENCL_OPTIONS=-cl-opt-disable
    [[ $file != *_sums ]] || AXE_OPENCL_OPTIONS=
    [ "${args// /}" != ARGS ] ||
        args=$(sed -n 's/^\/\/ on 80,90,100: *//p' "$path" | head -n 1)
    ran=
    while read -r device machines; do
        for machine in $machines; do
            # shellcheck disable=SC2053
            [[ $machine == $on && $machine != spirv ]] || continue
            n_run=$((n_run + 1))
            # shellcheck disable=SC2086
            if "$AXE" run "$path" -t "$machine" --device "$device" --random \
                --check $args >out 2>&1 && grep -q 'check .*: ok' out; then
                ran="$ran $device:$machine"
            else
                n_bad=$((n_bad + 1))
                echo "FAILED: $file on $machine, device $device"
                head -n 12 out
            fi
        done
    done <devices
    printf '%-20s %-26s%s\n' "$what" "$file" "$ran"
    [ -n "$ran" ] || grep -q -- "${on#\*}" devices || echo "no device has $on"
done <<<"$list"
echo "$n_run runs, $n_bad failed"
[ $n_run -gt 0 ] && [ $n_bad = 0 ]
