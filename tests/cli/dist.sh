#!/usr/bin/env bash
# Kernels over a mesh: `axe run` on processes that are its devices, in all sizes
# against the reference, and against NumPy; what is refused; explain.
# Given: AXE the command, SRC the source directory, PYTHON with NumPy.
set -u
export AXE_CC="${CC:-gcc} -O0" # kernels are small, and the compiler takes longest
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
D=$SRC/kernels/dist

fail() {
    echo "FAILED $*"
    failed=1
}

# what it prints, and its exit status
says() {
    local code=$1 text=$2 got
    shift 2
    "$@" >out 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -qF -- "$text" out; then
        fail "exit $got, wanted $code and '$text': $*"
        sed 's/^/    /' out
    fi
}

right() { says 0 ': ok, ' "$AXE" run "$@" --random --check; }

teams="1 2 3 4 8" types="f32 f16 i8 i64 f64"
[ "${AXE_SHARE:-1}" = 1 ] || teams=3 types=f16

for n in $teams; do
    right $D/gemm_reduce_scatter.axe M=100 N=72 K=90 --devices $n
    right $D/allgather_gemm.axe M=37 N=50 K=33 --devices $n
    right $D/gemm_allreduce.axe M=19 N=23 K=70 --devices $n
    right $D/reduce_scatter.axe --devices $n
    right $D/mlp.axe mlp T=9 H=20 F=30 --devices $n
    right $D/mlp.axe mlp_sequence T=9 H=20 F=30 --devices $n
done
# fewer elements than devices, and none
right $D/gemm_reduce_scatter.axe M=3 N=5 K=2 --devices 4
right $D/gemm_reduce_scatter.axe M=0 N=5 K=2 --devices 2
right $D/gemm_allreduce.axe M=3 N=5 K=0 --devices 3
right $D/allgather_gemm.axe M=3 N=5 K=7 --devices 8 --set T=f16
for mesh in "N=1 P=1" "N=2 P=2" "N=2 P=3" "N=3 P=2"; do
    for type in $types; do
        right $D/reshard.axe swap R=10 C=7 $mesh --set T=$type
    done
    right $D/reshard.axe gather R=10 C=7 $mesh
    right $D/reshard.axe collect R=10 C=7 $mesh
done

# the number of devices
says 1 'the mesh has 3 devices, and there are 2' "$AXE" run \
    $D/gemm_allreduce.axe --random M=4 N=4 K=4 P=3 --devices 2
grep -q 'help: give it 3, by --devices or as ranks that are started' out || fail "how many to start"
says 1 'axis `gpu` of the mesh has 0 devices; there must be one at least' "$AXE" run \
    $D/gemm_allreduce.axe --random M=4 N=4 K=4 P=0 --devices 2
# more devices than any engine has ranks: plans are of them, and nothing counts them
for p in 1025 1099511627776; do
    says 1 "engine: $p ranks are wanted, and 1 to 1024 can run" timeout 60 "$AXE" run \
        $D/stencil.axe causal --random S=4 C=4 R=2 N=1 P=$p
    says 0 "over node=1, gpu=$p" timeout 60 "$AXE" explain $D/stencil.axe causal N=1 P=$p
    says 0 "over gpu=$p" timeout 60 "$AXE" explain $D/gemm_reduce_scatter.axe -t sm_90a P=$p
done
# elements that int64 does not count
says 1 "spread: a device's part leaves int64" "$AXE" explain $D/stencil.axe causal S=4611686018427387904 C=4 R=2 N=1 P=2
grep -q 'runtime error' out && fail "elements that int64 does not count: $(cat out)"
# a text of what has none
for stage in c plan lower; do
    says 1 'kernel gemm_allreduce has no `device`' "$AXE" compile --emit $stage $D/gemm_allreduce.axe
done

# who is where, what each has, loops and branches between devices
cat >own.axe <<'EOF'
mesh node[N], gpu[P];

kernel where(in i64 steps, out i32 Y[M @ (node, gpu)], inout i32 Z[M @ gpu])
{
    index m;
    global i32 T[M];

    device (n : node, g : gpu) {
        cta (i : M @ (node, gpu) by 8) Y[i*8 + m] = i32(100 * n + g) + 0 * i32(M @ (node, gpu));
    }
    for (t : steps) {
        T[m] = Z[m];
        device (g : gpu) {
            cta (i : M @ gpu by 8)
                Z[i*8 + m] = T[g * cdiv(M, gpu) + i*8 + m] + i32(t) + T[M - 1 - (g * cdiv(M, gpu) + i*8 + m)];
        }
    }
    if (M > 5) Z[m] = Z[m] + Y[m];
}

kernel unlike(in f32 X[M @ gpu], out f32 Y[M])
{
    index m;

    device (n : node, g : gpu) {
        cta (i : M by 8) Y[i*8 + m] = f32(g);
    }
}

kernel addends(in f32 X[M] : partial(gpu), in i32 I[M] : at node = 0 + partial(gpu), out f32 Y[M @ node],
               out i32 J[M] : partial(gpu))
{
    index m;

    Y[m] = X[m] * 2;
    J[m] = I[m] + 1;
}

kernel order(in f32 X[M @ node, K @ gpu], out f32 Y[K, M @ gpu], out f32 T[M @ gpu, K @ node])
{
    index m, k;

    Y[k, m] = m >= k ? X[m, k] : -X[m, k] + f32(m);
    T[m, k] = X[m, k] - max[k](X[m, k]);
}
EOF
for mesh in "N=1 P=1" "N=2 P=2" "N=2 P=3" "N=3 P=1"; do
    right own.axe where M=11 steps=3 $mesh
    right own.axe where M=4 steps=0 $mesh
    right own.axe addends M=11 $mesh
    right own.axe order M=11 K=6 $mesh
done
says 1 'devices hold copies of `Y`, and device 1 has another value of element 0' \
    "$AXE" run own.axe unlike --random M=9 N=1 P=2 --check
says 0 'unlike on 2 devices' "$AXE" run own.axe unlike --random M=9 N=1 P=2

# extents that are counts: whole on each device, and the most that one has
cat >count.axe <<'EOF'
mesh gpu[P];

kernel sum_of(in f32 X[2*M + 1, N @ gpu], out f32 Y[2*M + 1, N], out f32 Z[N])
{
    index m, n, p;
    global f32 T[2*N + 1, P @ gpu];
    global f32 L[P @ gpu, cdiv(N, P)];

    Y[m, n] = X[m, n] * 2;
    Z[n] = sum[m](X[m, n]);
    device {
        cta (i : cdiv(N, P) by 8) L[0, i*8 + n] = X[M, i*8 + n];
        cta (i : 1) T[n, 0] = f32(n + 3) slow;
    }
    Z[n] = Z[n] + L[n / cdiv(N, P), n % cdiv(N, P)] + sum[p](T[0, p]);
}
EOF
for n in 1 2 3; do right count.axe M=4 N=7 --devices $n; done
"$AXE" compile --emit ir count.axe >a.ir || fail "emit ir"
grep -q '^part .*N.gpu.most = cdiv(N, P)' a.ir || fail "the most of a part in the IR"

# the number of a loop around, in values and subscripts between devices
cat >loop.axe <<'EOF'
mesh gpu[P];

kernel k(in i64 n, in f32 X[P @ gpu, M], out f32 Y[M @ gpu])
{
    index p, m;

    for (t : n) {
        for (u : 2) Y[m] = sum[p](X[p, m]) + f32(t - 5 * u) * X[t % P, m];
    }
}
EOF
for n in 1 3; do right loop.axe n=3 M=7 --devices $n; done

# `op=`: sums of parts, into what is whole, cut, of addends, of one device
cat >fold.axe <<'EOF'
mesh node[N], gpu[P];

kernel fold(in i64 steps, in f32 A[M, K @ gpu], in f32 B[L, K @ gpu], inout f32 C[M, L],
            inout f32 D[M @ gpu], inout f32 E[M] : partial(gpu), inout i32 F[L @ (node, gpu)],
            inout f32 G[M] : at node = 0)
{
    index m, l, k;

    for (t : steps) {
        C[m, l] += A[m, k] * B[l, k];
        D[m] max= A[m, k];
        E[m] += A[m, k] + f32(t);
        if (t > 0) F[l] *= i32(l) - 3;
    }
    D[m] *= 2;
    E[m] min= D[m];
    G[m] += C[m, l];
}
EOF
for mesh in "N=1 P=1" "N=2 P=2" "N=2 P=3" "N=1 P=4"; do
    right fold.axe M=7 L=5 K=9 steps=2 $mesh
done
"$AXE" explain fold.axe M=64 L=64 K=4096 steps=2 N=1 P=4 >e || fail "explain op="
grep -q 'between C.fold0\[m, l\] = sum' e && grep -q 'each device computes its part: 64, 64 + partial(gpu)' e ||
    fail "the sum of op= goes by addends"
"$PYTHON" - <<'EOF'
import numpy as np
rng = np.random.default_rng(3)
for n, s in dict(A=(7, 9), B=(5, 9), C=(7, 5), D=7, E=7, G=7).items():
    np.save(f"f_{n}.npy", rng.integers(-4, 5, s).astype("f4"))
np.save("f_F.npy", rng.integers(-4, 5, 5).astype("i4"))
EOF
for n in C D E F G; do cp f_$n.npy $n.npy; done
says 0 'fold on 6 devices' "$AXE" run fold.axe A=f_A.npy B=f_B.npy steps=2 N=2 P=3 \
    C=C.npy D=D.npy E=E.npy F=F.npy G=G.npy
"$PYTHON" - <<'EOF' || fail "op= against NumPy"
import numpy as np
a, b, c, d, e, f, g = (np.load(f"f_{n}.npy") for n in "ABCDEFG")
for t in 0, 1:
    c += a @ b.T
    d = np.maximum(d, a.max(1))
    e += a.sum(1) + 9 * t
f *= np.arange(5, dtype="i4") - 3
d *= 2
for n, x in dict(C=c, D=d, E=np.minimum(e, d), F=f, G=g + c.sum(1)).items():
    assert (np.load(n + ".npy") == x).all(), n
EOF

# a sum that is a part of a value goes by addends, too, and not all that it is over: against
# NumPy, since the reference executes what became of the kernel
cat >hoist.axe <<'EOF'
mesh node[N], gpu[P];

kernel hoist(in i64 steps, in f32 X[M @ gpu, L], in f32 B[M @ (node, gpu)], inout f32 Y[L @ gpu], out f32 Z[L],
             out f32 U[M @ gpu, L], out f32 V[M @ (node, gpu)], out f16 W[L @ node], out f32 R[L] : at gpu = 1,
             inout f32 A[L] : partial(gpu), out f32 C[L], out f32 D[L], out f32 E[M @ gpu],
             out f32 F[L] : at node = 0 + partial(gpu))
{
    index m, l, j;

    Z[l] = sum[m](X[m, l]) / f32(M) + abs(1 + sum[j](X[j, l] * X[j, l])) - sum[j](X[j, l]);
    U[m, l] = X[m, l] * 2 - sum[m](X[m, l]);
    V[m] = B[m] - sum[j](B[j]);
    W[l] = f16(sum[m](X[m, l])) + 1;
    R[l] = -sum[m](X[m, l]);
    A[l] += 2 * sum[m](X[m, l]);
    for (t : steps) Y[l] = Y[l] + sum[m](X[m, l]) * f32(t);
    C[l] = L > 3 ? sum[m](X[m, l]) : 7;
    D[l] = sum[m](X[m, l]) > 0 ? 1 : -1;
    E[m] = 1 + sum[l](X[m, l]) + max[j](X[j, 0]);
    F[l] = 3 * sum[m](X[m, l]);
}
EOF
"$AXE" fmt --check hoist.axe || fail "the form of hoist.axe"
"$PYTHON" - <<'EOF'
import numpy as np
rng = np.random.default_rng(5)
for n, s in dict(X=(13, 5), B=13, Y=5, A=5).items():
    np.save(f"h_{n}.npy", rng.integers(-4, 5, s).astype("f4"))
EOF
for mesh in "N=1 P=2" "N=2 P=2" "N=2 P=3"; do
    cp h_Y.npy Y.npy && cp h_A.npy A.npy
    says 0 'hoist on' "$AXE" run hoist.axe --check X=h_X.npy B=h_B.npy Y=Y.npy A=A.npy steps=3 $mesh \
        Z=Z.npy U=U.npy V=V.npy W=W.npy R=R.npy C=C.npy D=D.npy E=E.npy F=F.npy
    [ "$(grep -c 'check .: ok' out)" = 11 ] || { fail "hoist on $mesh"; cat out; }
    "$PYTHON" - <<'EOF' || fail "sums in values against NumPy on $mesh"
import numpy as np
x, b, y, a = (np.load(f"h_{n}.npy") for n in "XBYA")
s = x.sum(0)
want = dict(Z=s / np.float32(13) + abs(1 + (x * x).sum(0)) - s, U=2 * x - s, V=b - b.sum(), W=s + 1, R=-s,
            A=a + 2 * s, Y=y + 3 * s, C=s, D=np.where(s > 0, 1, -1), E=1 + x.sum(1) + x[:, 0].max(),
            F=3 * s)
for n, v in want.items():
    assert np.allclose(np.load(n + ".npy"), v, rtol=1e-6, atol=0), n
EOF
done
"$AXE" explain hoist.axe M=4096 L=64 steps=1 N=1 P=4 >e || fail "explain sums in values"
[ "$(grep -c '^  global  f32 Z.sum[01]: 64; device 0 has (64)$' e)" = 2 ] && ! grep -q 'Z.sum2' e ||
    fail "the same sum is one"
grep -q '^  global  f32 Y.sum[0-9]*: 64@gpu; ' e && grep -q '^  global  f32 R.sum[0-9]*: 64 at gpu=1; ' e ||
    fail "sums are held as what is made of them"
grep -q '^  global  f32 F.sum[0-9]*: 64 at node=0; ' e || fail "sums are no addends"
grep -q '^  global  f32 V.sum[0-9]*: 1; ' e || fail "a sum of one element"
grep -q 'global .* [CE].sum' e && fail "a sum in a branch, or over what is not cut, is moved out"
grep -A 2 '^between D.sum' e | grep -q 'each device computes its part: 64 + partial(gpu)' || fail "addends of D"
cat >by_hand.axe <<'EOF'
mesh gpu[P];

kernel by_hand(in f32 X[M @ gpu, N], out f32 Y[N @ gpu])
{
    index m, n;
    global f32 T[N @ gpu];

    T[n] = sum[m](X[m, n]);
    Y[n] = T[n] / f32(M);
}
EOF
for k in $D/mean.axe by_hand.axe; do
    says 0 'moved    3072 bytes between devices, as planned' \
        "$AXE" run $k --random M=4096 N=256 --devices 4 --check
done

# from half of the mesh to all of it, and back to the other half
cat >half.axe <<'EOF'
mesh half[2], gpu[P];

kernel spread(in f32 X[M @ gpu] : at half = 0, out f32 Y[M @ (half, gpu)], out f32 Z[M @ gpu] : at half = 1, out f32 S[1])
{
    index m, o;

    Y[m] = X[m] + f32(m);
    Z[m] = Y[m] * 2 - X[m];
    S[o] = sum[m](Y[m]) + f32(o);
}
EOF
for n in 1 2 3; do right half.axe M=13 P=$n; done

# what is asked for
says 1 '2 axes of the mesh have no size' "$AXE" run own.axe addends --random M=9 --devices 4
says 1 'the mesh has 3 devices for each along its open axis, and there are 4' \
    "$AXE" run own.axe addends --random M=9 N=3 --devices 4
says 1 'the mesh has 2 devices, and there are 3' \
    "$AXE" run own.axe addends --random M=9 N=1 P=2 --devices 3
says 1 'axis `gpu` of the mesh has 0 devices' "$AXE" run own.axe addends --random M=9 N=1 P=0
# memory that no host has is one error
cat >room.axe <<'EOF'
mesh gpu[P];

kernel room(in f32 X[M @ gpu], out f32 Y[M @ gpu])
{
    global f32 S[M * 70368744177664];

    device {
        cta (i : M @ gpu) S[i] = X[i];
        cta (i : M @ gpu) Y[i] = S[i];
    }
}
EOF
says 1 "no memory for this device's part of S: 562949953421312 bytes cannot be had" \
    env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1" \
    "$AXE" run room.axe --random M=2 --devices 2
[ "$(grep -c 'error: ' out)" = 1 ] || fail "one error of memory"
says 1 'own.axe:1:15: error: axis `gpu` of the mesh has 1048576 devices: together there are more than 2^40' \
    "$AXE" run own.axe addends --random M=9 N=1048577 P=1048576
says 1 'together there are more than 2^40' \
    "$AXE" run own.axe addends --random M=9 N=4294967296 P=4294967296
says 2 '--devices 0: a number from 1' "$AXE" run own.axe addends --devices 0
says 1 'names no mesh' "$AXE" run "$SRC/kernels/gelu.axe" --random M=5 N=5 --devices 2
says 1 'is compiled for trn1, and devices of a mesh are CPUs and NVIDIA GPUs so far' \
    "$AXE" run $D/gemm_allreduce.axe -t trn1 --random M=64 N=64 K=64 --devices 2
says 1 'is over a mesh' "$AXE" compile $D/gemm_allreduce.axe -o k.h k.c
says 0 'between C[m, n] = sum[k:K]' "$AXE" explain $D/gemm_allreduce.axe
# what a device does is estimated at the sizes that it has, if any are given
"$AXE" explain $D/gemm_reduce_scatter.axe M=100 N=72 K=90 P=4 >e || fail "explain sizes"
grep -q '^estimates for M = 100, K.gpu = 23, N = 72 on 1 worker' e || fail "estimates: $(grep estimates e)"
says 0 'estimates for M = 1024, K.gpu = 1024, N = 1024 ' "$AXE" explain $D/gemm_reduce_scatter.axe
says 1 'is no JSON yet' "$AXE" explain --json $D/gemm_allreduce.axe
says 0 'no errors' "$AXE" check $D/*.axe
"$AXE" fmt --check $D/*.axe own.axe || fail "the form of kernels"
says 0 '"check"' "$AXE" run $D/reduce_scatter.axe --random --devices 2 --check --json
mv out report
says 1 'X is of order "F", and arrays of kernels over a mesh are row-major' \
    "$AXE" run $D/reduce_scatter.axe --random --devices 2 --order X=F
says 1 'X is of order "strided", and' \
    "$AXE" run $D/reduce_scatter.axe --random --devices 2 --order X=strided
says 0 '"machine": "cpu' cat report
says 0 '"devices": 2, "engine": "shm", "moved": ' cat report
says 0 '"threads": 3, ' "$AXE" run $D/reduce_scatter.axe --random --devices 2 --threads 3 --json
for n in -1 1025; do
    says 1 "$n threads: 1 to 1024 can work" "$AXE" run $D/reduce_scatter.axe --random --devices 2 --threads $n
done
says 0 'time: median' "$AXE" run $D/reduce_scatter.axe --random --devices 2 --time=3
grep -q '  exposed: .* in which device 0 moved or waited' out || fail "what is exposed"
says 0 '"exposed_s": ' "$AXE" run $D/gemm_reduce_scatter.axe M=64 N=64 K=64 --random --devices 2 \
    --time=3 --json
"$PYTHON" -c 'import json, sys
t = json.load(open("out"))["time"]
sys.exit(not 0 < t["exposed_s"] < t["median_s"])' || fail "exposed, of the whole"
says 0 'time: median' "$AXE" run $D/reduce_scatter.axe --random --devices 1 --time=3
grep -q exposed out && fail "one device has nothing that is exposed"

# the IR reads back
"$AXE" compile --emit ir own.axe where >a.ir || fail "emit ir"
grep -q '^mesh node = N, gpu = P$' a.ir || fail "the mesh in the IR"

# arrays from files, whole numbers, so that sums are exact, against NumPy
"$PYTHON" - <<'EOF' || fail "make arrays"
import numpy as np
rng = np.random.default_rng(7)
np.save("a.npy", rng.integers(-9, 9, (33, 21)).astype("f4"))
np.save("b.npy", rng.integers(-9, 9, (17, 21)).astype("f4"))
np.save("x.npy", rng.integers(-9, 9, (4, 64, 64)).astype("f4"))
EOF
for n in 1 3 4; do
    for k in gemm_reduce_scatter allgather_gemm gemm_allreduce; do
        rm -f c.npy
        says 0 "on $n device" "$AXE" run $D/$k.axe A=a.npy B=b.npy C=c.npy --devices $n
        "$PYTHON" -c 'import numpy as np
assert (np.load("c.npy") == np.load("a.npy") @ np.load("b.npy").T).all()' || fail "$k on $n against NumPy"
    done
    says 0 "on $n device" "$AXE" run $D/reduce_scatter.axe X=x.npy C=c.npy --devices $n
    "$PYTHON" -c 'import numpy as np
assert (np.load("c.npy") == np.load("x.npy").sum(0)).all()' || fail "reduce_scatter on $n against NumPy"
done

# ranks that a launcher has started: each sees the environment, one reports
for r in 1 0; do
    AXE_RANK=$r AXE_SIZE=2 AXE_LOCAL_RANK=$r AXE_LOCAL_SIZE=2 AXE_RENDEZVOUS=dist$$ \
        "$AXE" run $D/gemm_allreduce.axe A=a.npy B=b.npy C=l.npy --check >rank$r 2>&1 &
done
wait
[ "$(cat rank0 rank1 | grep -c 'check C: ok')" = 1 ] || { fail "launched"; cat rank0 rank1; }
# Two ranks that are not given the same: one error, said once, before anything runs.
unlike() { # TEXT ARGUMENTS... -- OF-RANK-0 OF-RANK-1
    local text=$1 both=() r args
    shift
    while [ "$1" != -- ]; do
        both+=("$1")
        shift
    done
    pair=$((${pair:-0} + 1)) SECONDS=0
    for r in 1 0; do
        read -ra args <<<"$([ $r = 0 ] && echo "$2" || echo "$3")"
        (
            AXE_RANK=$r AXE_SIZE=2 AXE_LOCAL_RANK=$r AXE_LOCAL_SIZE=2 AXE_RENDEZVOUS=unlike$$.$pair \
                timeout -k 5 60 "$AXE" run "${both[@]}" "${args[@]}" >rank$r 2>&1 </dev/null
            echo "exit $?" >>rank$r
        ) &
    done
    wait
    cat rank0 rank1 >out
    [ "$(grep -c '^error: ' out)" = 1 ] && [ "$(grep -c '^exit 1$' out)" = 2 ] && [ $SECONDS -lt 20 ] &&
        grep -q "^error: ranks differ in what they launch: rank 0 has $text" out ||
        {
            fail "unlike, wanted '$text', after $SECONDS s"
            cat out
        }
}
# of the same plans, but not the same kernel
mkdir other
sed 's/A\[m, k\] \* B\[n, k\]/A[m, k] * B[n, k] * 2/' $D/gemm_allreduce.axe >other/gemm_allreduce.axe
unlike 'gemm_allreduce of text ' A=a.npy B=b.npy C=l.npy -- $D/gemm_allreduce.axe other/gemm_allreduce.axe
cat >scaled.axe <<'EOF'
mesh gpu[P];

kernel scaled<BM = 8>(in f32 X[M @ gpu], in f32 alpha, in i64 steps, in u64 u, in f16 h, in bool b, out f32 Y[M])
{
    index m;
    global f32 S[M @ gpu];

    for (t : steps) {
        device { cta (i : M @ gpu by BM) S[i*BM + m] = X[i*BM + m] * alpha + f32(h) + f32(u); }
    }
    Y[m] = b ? S[m] : 0;
}

kernel other(in f32 X[M @ gpu], out f32 Y[M])
{
    index m;

    Y[m] = X[m];
}
EOF
right scaled.axe scaled M=100 steps=2 alpha=0.1 u=3 h=1 b=true --devices 3
S="scaled.axe scaled --random h=1 b=true"
unlike 'alpha = 0.1, rank 1 has alpha = 0.10000001$' $S M=9 steps=1 u=3 -- alpha=0.1 alpha=0.10000001
unlike 'alpha = 0, rank 1 has alpha = nan of bits 0x7fc00000$' $S M=9 steps=1 u=3 -- alpha=0 alpha=nan
unlike 'steps = 2, rank 1 has steps = 1$' $S M=9 alpha=2 u=3 -- steps=2 steps=1
unlike 'u = 18446744073709551615, rank 1 has u = 1$' $S M=9 alpha=2 steps=1 -- u=18446744073709551615 u=1
unlike 'M = 9, rank 1 has M = 90000$' $S alpha=2 steps=1 u=3 -- M=9 M=90000
unlike 'BM = 8, rank 1 has BM = 4$' $S M=9 alpha=2 steps=1 u=3 -- "--set BM=8" "--set BM=4"
unlike 'no runs timed, rank 1 has 3 runs timed$' $S M=9 alpha=2 steps=1 u=3 -- "" --time=3
unlike 'overlap, rank 1 has no overlap$' $D/gemm_reduce_scatter.axe --random M=512 N=512 K=64 -- "" --no-overlap
unlike 'scaled, rank 1 has other$' scaled.axe --random M=9 -- \
    "scaled alpha=2 steps=1 u=3 h=1 b=true" other
# random numbers of another seed are other numbers
unlike 'alpha = -\?[0-9.e-]*, rank 1 has alpha = ' scaled.axe scaled --random M=9 steps=1 -- "" "--seed 2"
# a limit that only one has ends nothing
for r in 1 0; do
    AXE_RANK=$r AXE_SIZE=2 AXE_LOCAL_RANK=$r AXE_LOCAL_SIZE=2 AXE_RENDEZVOUS=limit$$ \
        "$AXE" run $S M=9 alpha=2 steps=1 u=3 --timeout $((30 + r)) --threads $((1 + r)) --check >rank$r 2>&1 &
done
wait
[ "$(cat rank0 rank1 | grep -c 'check Y: ok')" = 1 ] || { fail "limits that differ"; cat rank0 rank1; }
exit $failed
