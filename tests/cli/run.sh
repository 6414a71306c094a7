#!/usr/bin/env bash
# axe run, compile, explain, as a user types them: every type and order of
# NumPy's arrays against NumPy's own results, and what is wrong with bad input:
# exit code, message, and no file left behind.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}
k=$SRC/kernels
n_bad=0

fail() {
    n_bad=$((n_bad + 1))
    echo "FAILED: $*"
}

# ok COMMAND...: exit code 0.
ok() {
    "$@" >out 2>err || { fail "$* (exit $?)"; cat err; }
}

# no CODE TEXT COMMAND...: this exit code, this text on standard error, and
# standard output without it; c.npy must not exist afterwards.
no() {
    local want=$1 text=$2
    shift 2
    "$@" >out 2>err
    local got=$?
    [ $got = "$want" ] || fail "$*: exit $got, not $want"
    grep -qF -- "$text" err || { fail "$*: no '$text' in:"; cat err; }
    [ ! -e c.npy ] || fail "$*: wrote c.npy"
    rm -f c.npy
    [ -z "$(ls | grep -F .tmp)" ] || fail "$*: left a temporary file"
}

"$PYTHON" -c '' || exit 77
"$PYTHON" - <<'PY'
import numpy as np
r = np.random.default_rng(1)
def save(name, a): np.save(name, a)
for t in ("f4", "f8", "f2"):
    a, b = r.standard_normal((37, 53)), r.standard_normal((41, 53))
    save("a_%s.npy" % t, a.astype(t))
    save("b_%s.npy" % t, b.astype(t))
    save("bf_%s.npy" % t, np.asfortranarray(b.astype(t)))
save("x.npy", r.standard_normal((65, 130)).astype("f4"))
save("a_i8.npy", np.arange(6, dtype="i8").reshape(2, 3))
for n in (5, 8, 9):
    save("i4_%d.npy" % n, np.arange(n, dtype="i4"))
save("empty.npy", np.zeros((0, 53), "f4"))
save("flat.npy", np.zeros((41, 0), "f4"))
save("nil.npy", np.zeros((37, 0), "f4"))
save("short.npy", np.zeros((41, 52), "f4"))
save("cube.npy", np.zeros((2, 3, 4), "f4"))
save("big.npy", np.zeros((2, 3), ">f4"))
save("obj.npy", np.array([[None]]))
w = np.load("a_f4.npy")
u = w.view("u4") + 0x7fff + (w.view("u4") >> 16 & 1) >> 16
save("a_u2.npy", u.astype("u2"))
save("b_u2.npy", u.astype("u2"))
open("cut.npy", "wb").write(open("a_f4.npy", "rb").read()[:-1])
open("text.npy", "w").write("hello")
PY

# --- results, against NumPy
for t in f4 f8 f2; do
    for b in b bf; do
        ok "$AXE" run "$k/gemm.axe" A=a_$t.npy B=${b}_$t.npy C=c.npy --check
        "$PYTHON" - $t $b <<'PY' || fail "gemm $t $b differs from NumPy"
import numpy as np, sys
t, b = sys.argv[1:]
a, b, c = (np.load(n) for n in ("a_%s.npy" % t, "%s_%s.npy" % (b, t), "c.npy"))
assert c.dtype == a.dtype and c.shape == (37, 41) and c.flags.c_contiguous
want = a.astype("f8") @ b.astype("f8").T
tol = {"f4": 1e-5, "f8": 1e-13, "f2": 2e-2}[t]
assert np.abs(c - want).max() < tol, np.abs(c - want).max()
PY
        rm -f c.npy
    done
done

ok "$AXE" run "$k/gemm.axe" A=a_u2.npy B=b_u2.npy C=c.npy --set T=bf16 --check
"$PYTHON" - <<'PY' || fail "gemm bf16 differs from NumPy"
import numpy as np
f = lambda u: (u.astype("u4") << 16).view("f4").astype("f8")
a, c = np.load("a_u2.npy"), np.load("c.npy")
assert c.dtype.str == "|V2" and c.shape == (37, 37)
got = f(c.view("u2"))
want = f(a) @ f(a).T
assert (np.abs(got - want) <= 2**-8 * np.abs(want) + 1e-3).all()
PY
rm -f c.npy

ok "$AXE" run "$k/softmax.axe" X=x.npy Y=c.npy --check
"$PYTHON" - <<'PY' || fail "softmax differs from NumPy"
import numpy as np
x, y = np.load("x.npy").astype("f8"), np.load("c.npy")
e = np.exp(x - x.max(1, keepdims=True))
assert np.abs(y - e / e.sum(1, keepdims=True)).max() < 1e-6
PY
rm -f c.npy

ok "$AXE" run "$k/transpose.axe" X=x.npy Y=c.npy
"$PYTHON" -c 'import numpy as np
assert (np.load("c.npy") == np.load("x.npy").T).all()
np.save("again.npy", np.load("c.npy"))' || fail "transpose"
cmp -s c.npy again.npy || fail "the file is not byte for byte NumPy's"
rm -f c.npy

# --- an array both read and written, all functions, a mask
cat >zoo.axe <<'AXE'
kernel zoo<type T = f32>(in T X[M, N], in T W[N], inout T Z[M, N], out T Y[M, N])
{
    index m, n;
    cta (i : M by 8) {
        reg accum(T) s[8];
        s[m] = sum[n](accum(T)(X[i*8 + m, n]) * accum(T)(W[n]));
        Y[i*8 + m, n] = i*8 + m >= n
            ? T(tanh(accum(T)(X[i*8 + m, n])) * sqrt(abs(accum(T)(W[n])) + 1.0)
                - log(abs(accum(T)(X[i*8 + m, n])) + 2.0) * exp2(accum(T)(W[n]))
                + rsqrt(accum(T)(W[n]) * accum(T)(W[n]) + 0.5) / exp(s[m])
                + min(s[m], 0.25) - max(accum(T)(X[i*8 + m, n]), 0.5))
            : T(0.0);
        Z[i*8 + m, n] += X[i*8 + m, n];
    }
}
AXE
"$PYTHON" -c 'import numpy as np
a = np.load("a_f4.npy"); np.save("w.npy", a[0] / 4); np.save("z.npy", 2 * a)'
cp z.npy z_old.npy
ok "$AXE" run zoo.axe X=a_f4.npy W=w.npy Z=z.npy Y=c.npy --check --time=3
"$PYTHON" - <<'PY' || fail "zoo differs from NumPy"
import numpy as np
x, w = np.load("a_f4.npy").astype("f8"), np.load("w.npy").astype("f8")
assert (np.load("z.npy") == np.load("z_old.npy") + np.load("a_f4.npy")).all()
s = (x * w).sum(1, keepdims=True)
y = (np.tanh(x) * np.sqrt(abs(w) + 1) - np.log(abs(x) + 2) * np.exp2(w)
     + 1 / np.sqrt(w * w + 0.5) / np.exp(s) + np.minimum(s, 0.25)
     - np.maximum(x, 0.5))
m, n = np.indices(x.shape)
y = np.where(m >= n, y, 0)
assert (abs(np.load("c.npy") - y) <= 1e-5 * (1 + abs(y))).all()
PY
rm -f c.npy
for t in f64 f16 bf16; do
    ok "$AXE" run zoo.axe --random M=19 N=70 --set T=$t --check
done
for t in i32 i8 u16; do
    ok "$AXE" run "$k/gemm.axe" --random M=19 N=7 K=33 --set T=$t --check
done

# What is made lies as it is asked to.
# Rows of B that fall into one set of a cache are copied, in groups of columns.
ok "$AXE" run "$k/gemm_nn.axe" --random M=64 N=512 K=512 --check
ok "$AXE" run "$k/gemm.axe" --random M=19 N=7 K=33 --order A=F --order C=F C=c.npy --check
grep -q 'A .* column-major' out || fail "A is by rows: $(cat out)"
"$PYTHON" -c 'import numpy as np; c = np.load("c.npy"); exit(c.flags.c_contiguous)' ||
    fail "c.npy is by rows"
rm -f c.npy

# --- nothing to do is done
ok "$AXE" run "$k/gemm.axe" A=empty.npy B=b_f4.npy C=c.npy --check
"$PYTHON" -c 'import numpy as np
assert np.load("c.npy").shape == (0, 41)' || fail "M = 0"
rm -f c.npy
ok "$AXE" run "$k/gemm.axe" A=nil.npy B=flat.npy C=c.npy --check
"$PYTHON" -c 'import numpy as np
c = np.load("c.npy"); assert c.shape == (37, 41) and (c == 0).all()' ||
    fail "K = 0"
rm -f c.npy

# --- the same seed gives the same bytes, another does not
for s in 1 1 2; do
    ok "$AXE" run "$k/transpose.axe" --random --seed $s M=9 N=7 Y=c.npy
    mv c.npy seed_$s.$((i = ${i:-0} + 1))
done
cmp -s seed_1.1 seed_1.2 || fail "--seed is not deterministic"
cmp -s seed_1.1 seed_2.3 && fail "--seed does nothing"

# --- numbers as an argument says
ok "$AXE" run "$k/gather_rows.axe" gather_rows 'X=normal(3,0.5)' rows=35..V V=40 M=500 N=40 \
    --check --save-random .
"$PYTHON" -c 'import numpy as np
x, r = np.load("X.npy"), np.load("rows.npy")
assert abs(x.mean() - 3) < 0.05 and abs(x.std() - 0.5) < 0.05, (x.mean(), x.std())
assert set(r) == {35, 36, 37, 38, 39}, set(r)' || fail "normal, a range"
ok "$AXE" run "$k/transpose.axe" 'X=uniform(2,5)' M=90 N=70 --save-random .
"$PYTHON" -c 'import numpy as np
x = np.load("X.npy"); assert 2 <= x.min() < 2.1 and 4.9 < x.max() < 5' || fail "uniform"
rm -f X.npy rows.npy
random() { # WHY NAME=VALUE...
    local why=$1
    shift
    "$AXE" run "$k/gather_rows.axe" gather_rows --random V=40 M=5 N=4 "$@" >out 2>&1 && fail "$* is taken"
    grep -qF "$why" out || fail "$*: $(cat out)"
}
random 'rows=V..V: there is no integer in it' rows=V..V
random 'its ends are no integers and no sizes given here' rows=0..W
random 'not all of it is i32' rows=0..9000000000
random 'i32 has integers' 'rows=uniform(0,1)'
random 'two numbers are needed' 'X=normal(3)'
random 'a deviation is not negative' 'X=normal(0,-1)'
random 'it ends before it begins' 'X=uniform(1,0)'
random "did you mean 'uniform'" 'X=unform(0,1)'
printf 'kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 8) Y[i*8 + m] = log(X[i*8 + m]); }\n' >log.axe
ok "$AXE" run log.axe 'X=uniform(-1,-0.5)' M=100 --check
grep -q 'check Y: unverifiable, 100 elements' out || fail "$(cat out)"
ok "$AXE" run log.axe 'X=uniform(1,2)' M=100 --check
grep -q 'check Y: ok, 100 elements' out || fail "$(cat out)"

# --- a tile is of its own type, also where a product reads it in another
cat >tile.axe <<'A'
kernel k<B = 64>(in f16 X[B, B], in f16 I[B, B], out f32 Y[B, B])
{
    index m, n, k;

    cta (i : 1) {
        reg f32 acc[B, B] = 0;
        shared f16 x[B, B];
        shared f16 w[B, B];

        x[m, k] = I[m, k];
        w[n, k] = X[n, k] * X[n, k];
        acc[m, n] += x[m, k] * w[n, k];
        Y[m, n] = acc[m, n];
    }
}
A
"$PYTHON" -c 'import numpy as np
np.save("X.npy", np.random.default_rng(1).normal(size=(64, 64)).astype(np.float16))
np.save("I.npy", np.eye(64, dtype=np.float16))'
ok "$AXE" run tile.axe X=X.npy I=I.npy Y=Y.npy --check
"$PYTHON" -c 'import numpy as np
x = np.load("X.npy"); assert (np.load("Y.npy") == (x * x).T).all()' || fail "a tile of f16 has f32"
printf 'kernel k(in u64 s, out u64 Y[1]) { cta (i : 1) Y[0] = s; }\n' >u64.axe
for s in 18446744073709551615 0xffffffffffffffff; do
    ok "$AXE" run u64.axe s=$s Y=Y.npy
    grep -q "s  *u64  *() <- $s\$" out || fail "$(cat out)"
    "$PYTHON" -c 'import numpy as np
assert np.load("Y.npy")[0] == 2**64 - 1' || fail "u64 $s"
done
for s in -1 18446744073709551616 0x 7x; do
    "$AXE" run u64.axe s=$s >out 2>&1 && fail "s=$s is taken"
    grep -q "s=$s: a number of u64 is needed" out || fail "$(cat out)"
done
rm -f X.npy I.npy Y.npy

# --- reports
ok "$AXE" run "$k/gemm.axe" --random M=30 N=20 K=10 --check --time=3 --json
"$PYTHON" -c 'import json
r = json.load(open("out"))
assert r["kernel"] == "gemm" and r["sizes"] == {"M": 30, "N": 20, "K": 10}
assert r["params"]["C"]["check"]["ok"] and r["time"]["n"] == 3
assert abs(r["time"]["flops"] - 12000) < 1e-6' || fail "run --json"
ok "$AXE" explain "$k/gemm.axe"
ok "$AXE" sim "$k/gemm.axe" -t sm_80 --random M=30 N=20 K=10 --check --json
"$PYTHON" -c '
import json
r = json.load(open("out"))
c = r["params"]["C"]["check"]
assert r["machine"] == "sm_80" and r["sizes"]["K"] == 10
assert c["ok"] and c["n"] == 600 and 0 <= c["max_share"] <= 1
assert "check" not in r["params"]["A"]
assert r["findings"] == [] and r["blocks"] == 1 and r["atoms"]' ||
    fail "sim --json"

ok "$AXE" explain "$k/gemm.axe" --json
"$PYTHON" -c 'import json; json.load(open("out"))' || fail "explain --json"
for stage in ir plan lower c; do
    ok "$AXE" compile "$k/gemm.axe" --emit $stage -o stage.txt
    [ -s stage.txt ] || fail "compile --emit $stage wrote nothing"
    ok "$AXE" compile "$k/gemm.axe" --emit $stage
    cmp -s out stage.txt || fail "compile --emit $stage: -o and - differ"
done
ok "$AXE" compile "$k/gemm.axe" --emit so -o gemm.so
[ "$(head -c 4 gemm.so | tail -c 3)" = ELF ] || fail "--emit so is no ELF"
for verb in run compile explain; do
    ok "$AXE" $verb --help
    grep -q "^usage: axe $verb" out || fail "$verb --help"
done

# --- the command line
no 2 "a kernel file is missing" "$AXE" run
no 2 "unrecognized option" "$AXE" run --nonsense "$k/gemm.axe"
no 2 "'C=': NAME=VALUE is needed" "$AXE" run "$k/gemm.axe" C=
no 2 "--time 0" "$AXE" run "$k/gemm.axe" --time=0
no 2 "--threads many" "$AXE" run "$k/gemm.axe" --threads many
no 2 "--set BM" "$AXE" run "$k/gemm.axe" --set BM
no 2 "--emit asm" "$AXE" compile "$k/gemm.axe" --emit asm
no 2 "too many arguments" "$AXE" explain "$k/gemm.axe" gemm more

# --- names, types, shapes
run=("$AXE" run "$k/gemm.axe" C=c.npy)
no 1 "none.axe: cannot open: No such file" "$AXE" run none.axe
no 1 "no kernel" "$AXE" run "$k/gemm.axe" gemmm --random M=1 N=1 K=1
no 1 "read, but no array is given for it" "${run[@]}" A=a_f4.npy
no 1 "and the value is no size" "${run[@]}" A=a_f4.npy B=b_f4.npy D=d.npy
no 1 "has no size 'Q'" "${run[@]}" A=a_f4.npy B=b_f4.npy Q=3
no 1 "BM is a compile-time parameter, not a size" "${run[@]}" A=a_f4.npy B=b_f4.npy BM=32
no 1 "help: write --set BM=32" "${run[@]}" A=a_f4.npy B=b_f4.npy BM=32
no 1 "A is an argument, not a size" "$AXE" explain "$k/gemm.axe" A=3
no 1 "launches nothing on a Trainium" "${run[@]}" A=a_f4.npy B=b_f4.npy -t trn1
no 1 "A is given twice" "${run[@]}" A=a_f4.npy A=b_f4.npy B=b_f4.npy
no 1 "type T is f32 from A but f16 from B" "${run[@]}" A=a_f4.npy B=b_f2.npy
no 1 "K is 53 from A (dimension 1) but 52 from B (dimension 1)" \
    "${run[@]}" A=a_f4.npy B=short.npy
no 1 "the array given for it 3" "${run[@]}" A=cube.npy B=b_f4.npy
no 1 "M is 4 from the value given but 37" "${run[@]}" A=a_f4.npy B=b_f4.npy M=4
no 1 "BMM" "${run[@]}" A=a_f4.npy B=b_f4.npy --set BMM=3
no 1 "error:" "${run[@]}" A=a_f4.npy B=b_f4.npy --set BM=0
no 1 "error:" "${run[@]}" A=a_f4.npy B=b_f4.npy --set BM=-5
no 1 "error:" "${run[@]}" A=a_f4.npy B=b_f4.npy --set T=nonsense
no 1 "error:" "${run[@]}" A=a_f4.npy B=b_f4.npy --set BM=9223372036854775807
no 1 "does not follow from the arrays and sizes" "${run[@]}" --random M=4
cat > beyond.axe <<'AXE'
kernel k(in f32 X[4*M + 1, N], out f32 Y[M]) { cta (i : M) Y[i] = X[i, 0]; }
AXE
no 1 "X (dimension 0), which is 4*M + 1, does not fit int64 with these sizes" \
    "$AXE" run beyond.axe --random M=2305843009213693952 N=1
no 1 "give N=512" "$AXE" run beyond.axe --random M=2305843009213693952
no 1 "not negative" "${run[@]}" --random M=-4 N=1 K=1
no 1 "fit int64" "${run[@]}" --random M=9223372036854775807 N=2 K=2
no 1 "A: no memory for an array of" "${run[@]}" \
    --random M=1000000000000000000 N=1 K=1
no 1 "and the value is no size" "${run[@]}" --random M=99999999999999999999 N=1
no 1 "1 to 1024 can work" "${run[@]}" --random M=1 N=1 K=1 --threads -1
no 1 "1 to 1024 can work" "${run[@]}" --random M=1 N=1 K=1 --threads 1000000000
no 1 "none of C, F, packed and strided" "${run[@]}" A=a_f4.npy B=b_f4.npy --order A=Z
no 1 "there is no machine" "${run[@]}" A=a_f4.npy B=b_f4.npy -t pdp11

# --- extents that are sums: 3*C + 2 gives C, then B + C gives B
cat >sums.axe <<'EOT'
kernel k(in i32 X[B + C], in i32 Y[3*C + 2], out i32 Z[B])
{
    index b;
    cta (i : B by 32) Z[i*32 + b] = X[i*32 + b] + Y[i*32 + b];
}
EOT
"$AXE" run sums.axe X=i4_5.npy Y=i4_8.npy --check >out 2>&1 &&
    grep -q 'B = 3, C = 2' out || fail "sums: $(cat out)"
no 1 "Y (dimension 0) is 9, but 3*C + 2 is not, for any size" \
    "$AXE" run sums.axe X=i4_5.npy Y=i4_9.npy
no 1 "Y (dimension 0) is 8, but 3*C + 2 is 5" \
    "$AXE" run sums.axe X=i4_5.npy Y=i4_8.npy B=4
no 1 "does not follow from the arrays" "$AXE" run sums.axe --random X=i4_5.npy

# --- files
no 1 "none.npy: cannot open: No such file" "${run[@]}" A=none.npy B=b_f4.npy
no 1 "help: check the name; relative ones" "${run[@]}" A=none.npy B=b_f4.npy
no 1 "help: something before a '/' in it is a file" "${run[@]}" A=a_f4.npy/a.npy B=b_f4.npy
no 1 "truncated: the shape needs 7844 bytes of data, the file has 7843" \
    "${run[@]}" A=cut.npy B=b_f4.npy
no 1 "not a .npy file" "${run[@]}" A=text.npy B=b_f4.npy
no 1 "big endian" "${run[@]}" A=big.npy B=b_f4.npy
no 1 "no tensor has elements of NumPy type '|O'" "${run[@]}" A=obj.npy B=b_f4.npy
no 1 "Is a directory" "${run[@]}" A=. B=b_f4.npy
no 1 "cannot create: No such file" \
    "$AXE" run "$k/gemm.axe" A=a_f4.npy B=b_f4.npy C=no/c.npy
no 1 "help: make its directory first: mkdir -p no/nor" \
    "$AXE" run "$k/gemm.axe" A=a_f4.npy B=b_f4.npy C=no/nor/c.npy
no 1 "help: give a number in decimal: \`--set BM=64\`" \
    "${run[@]}" A=a_f4.npy B=b_f4.npy --set BM=0x40
# A full device of our own: were axe to replace it and we root, the system's
# would be lost.
if mknod full c 1 7 2>/dev/null && ! echo x 2>/dev/null >full; then
    no 1 "No space left on device" \
        "$AXE" run "$k/gemm.axe" A=a_f4.npy B=b_f4.npy C=full
    no 1 "No space left on device" "$AXE" compile "$k/gemm.axe" --emit c -o full
    [ -c full ] || fail "a device was replaced"
fi
no 1 "cannot create" "$AXE" compile "$k/gemm.axe" -o no/gemm.c
"$AXE" compile "$k/gemm.axe" >/dev/full 2>err
[ $? = 1 ] || fail "standard output full: exit code"
grep -q "No space left" err || fail "standard output full: message"
cp a_f4.npy same.npy
ok "$AXE" run "$k/transpose.axe" X=same.npy Y=same.npy
"$PYTHON" -c 'import numpy as np
assert (np.load("same.npy") == np.load("a_f4.npy").T).all()' ||
    fail "a file both read and written"

# --- no compiler, bad compiler, bad caches
small=("${run[@]}" A=a_f4.npy B=b_f4.npy)
small+=(--set BK=256) # or the kernel is in the library
no 1 "none of gcc, clang and cc is on PATH" \
    env -u CC -u AXE_CC PATH=/nowhere AXE_CACHE=fresh "${small[@]}"
no 1 "no C compiler 'none' (AXE_CC for it)" \
    env AXE_CC=none AXE_CACHE=fresh "${small[@]}"
no 1 "true ended as if all were well, but has written nothing" \
    env AXE_CC=true AXE_CACHE=fresh "${small[@]}"
no 1 "failed with exit code 1" \
    env AXE_CC=false AXE_CACHE=fresh "${small[@]}"
touch file
for dir in file/below /proc/axe; do
    ok env AXE_CACHE=$dir "${small[@]}"
    grep -q "warning: compiled kernels are not kept: $dir: " err ||
        fail "no warning about $dir"
    rm -f c.npy
done
mkdir locked && chmod 500 locked
ok env AXE_CACHE=locked "${small[@]}"
chmod 700 locked
rm -f c.npy
ok env -u HOME -u XDG_CACHE_HOME -u AXE_CACHE "${small[@]}"
rm -f c.npy
ok env HOME="$PWD/home" XDG_CACHE_HOME= AXE_CACHE= "${small[@]}"
[ -d home/.cache/axe ] || fail "HOME/.cache/axe was not used"
[ "$(stat -c %a home/.cache/axe)" = 700 ] || fail "mode of HOME/.cache/axe"
find home -name '*.so' -exec truncate -s 100 {} +
rm -f c.npy
ok env HOME="$PWD/home" XDG_CACHE_HOME= AXE_CACHE= "${small[@]}"
rm -f c.npy

# --- eight at once, one empty cache
for i in 1 2 3 4 5 6 7 8; do
    AXE_CACHE=crowd "${small[@]/C=c.npy/C=c$i.npy}" --threads 1 >/dev/null 2>&1 &
done
wait
for i in 2 3 4 5 6 7 8; do
    cmp -s c1.npy c$i.npy || fail "eight at once: result $i"
done

[ $n_bad = 0 ] || { echo "$n_bad failed"; exit 1; }
echo "all as expected"
