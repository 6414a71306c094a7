#!/usr/bin/env bash
# The benchmark on a GPU, as far as a driver goes that only writes down: rows are
# compiled beforehand, timed beside others, and those that there is no time for
# are named.  Its times are invented and kept nowhere.
set -u
built=$(dirname "$AXE")
[ -x "$built/bench/bench_prepare" ] || exit 77
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
bad=0

fail() {
    echo "FAILED: $*"
    bad=1
}

AXE_NVRTC=/none "$built/bench/bench_prepare" cache sm_90a >out 2>&1 &&
    fail "ready without a compiler"
grep -q 'compiled by NVRTC, but there is no /none' out || fail "$(cat out)"
grep -q '^sm_90a: 45 of 45 rows have a kernel, 0 ready' out || fail "$(cat out)"

bash "$SRC/bench/gpu" --help >out && fail "bench/gpu --help is no folder"
grep -q '^bench/gpu \[--prepare\] \[BUILD\]' out || fail "$(cat out)"
bash "$SRC/bench/gpu" --prepare "$PWD" >out 2>&1 && fail "benchmarks in an empty folder"
grep -q 'has no benchmarks: build it with' out || fail "$(cat out)"

printf '# a list\ngemm gemm 80,90 f16,bf16 M=8 N=8 K=8 --set BM=64\nsoftmax softmax 100 f32 M=8 N=8\n' >list
AXE_NVRTC=/none "$built/bench/bench_prepare" -r qwen3-8b.up -l list cache sm_90a >out 2>&1
grep -q '^sm_90a: 1 of 45 rows have a kernel, and 2 of 2 of the list, 0 ready' out || fail "$(cat out)"

[ -x "$built/bench/bench_gpu" ] || exit 77
ln -s "$built/tests/libfake_cuda.so" libcuda.so.1
case $(ldd libcuda.so.1) in *asan*) exit $bad ;; esac
cat >peer <<'P'
#!/usr/bin/env bash
while read -r verb rest; do
    case $verb in
    have) echo "PyTorch of this test" ;;
    make) case $rest in sdpa*) echo "cudnn flash" ;; *) echo "torch other" ;; esac ;;
    time) case "$rest" in
        "0 1") echo 2 0 ;;
        "1 1") echo 0.5 1 ;;
        *) echo -1 0 ;;
        esac ;;
    sync) echo "$rest" ;;
    *) echo - ;;
    esac
done
P
chmod +x peer
bench() { AXE_NVRTC=/none AXE_CACHE=$PWD/cache LD_LIBRARY_PATH=$PWD PYTHON=$PWD/peer \
    "$built/bench/bench_gpu" -d 64 "$@" >out 2>&1; }

bench -s 0 rows || fail "$(cat out)"
grep -q '^no time for: qwen3-8b.up, .*, reduce$' out || fail "$(cat out)"
[ "$(wc -l <rows)" = 6 ] && ! grep -q axe_ms rows && grep -q 'not measured"}$' rows ||
    fail "rows: $(cat rows)"

"$built/bench/bench_prepare" -r qwen3-8b.up cache sm_90a >out 2>&1 || {
    grep -q 'there is no libnvrtc' out && exit 77
    fail "$(cat out)"
}
for row in "heads 8k" "heads 8k low" elementwise; do
    "$built/bench/bench_prepare" -r "$row" cache sm_90a >out 2>&1 || fail "$(cat out)"
done
bench -n -s 100 rows || fail "$(cat out)" # its products are one kernel at 17 sizes
grep -q '^beside: PyTorch of this test' out || fail "$(cat out)"
grep -Eq '^qwen3-8b.up  *axe 1 ms .* torch 2 ms .* = 2.000 \(2.000-2.000\) win  other 0.5 ms [0-9.]+ host-bound = 0.500 \(0.500-0.500\) loss  model 0\.' out ||
    fail "$(cat out)"
grep -q '^fp8 64 *not run: CUDA C is compiled by NVRTC' out ||
    fail "$(cat out)"
grep -q '^the model over 20 rows' out || fail "$(cat out)"
"$PYTHON" -c 'import json
rows = [json.loads(line) for line in open("rows")]
assert rows[0]["gpu"] == "Fake GPU", rows[0]
assert rows[1]["axe_ms"] == 1 and rows[1]["torch_ms"] == 2, rows[1]
assert rows[1]["ratio_other"] == [0.5, 0.5, 0.5], rows[1]
assert 0 < rows[1]["least_ms"] < rows[1]["estimate_ms"] < 1, rows[1]
assert rows[1]["sets"] == 1, rows[1]
assert rows[-1]["model_rows"] == 20 and len(rows) == 27, rows
said = [(r["verdict"], r["rows"], r["of_rows"]) for r in rows if "target" in r]
assert said == [("not measured", 0, 16), ("not measured", 0, 4), ("not measured", 0, 5),
                ("met", 2, 2), ("missed", 1, 6)], said' || fail "JSON"
grep -q '^attention, .* of cuDNN in each row: geomean 2.000, .* 2 of 2 rows: met$' out ||
    fail "$(cat out)"
FAKE_MS=0.02 bench -n -s 100 rows || fail "$(cat out)" # ten launches fill 200 us, others need none
grep -q '^caches are cold; times below 50 us .* 200 us (xN)' out || fail "$(cat out)"
grep -Eq '^qwen3-8b.up  *axe 0.02 ms x10 .* torch 2 ms [0-9]' out || fail "$(cat out)"
FAKE_MS=0.05 FAKE_L2=10000000 FAKE_SLOW=1 bench -n -s 100 rows || fail "$(cat out)"
grep -Eq '^qwen3-8b.up  *axe 0.05 ms [0-9.]+ host-bound' out || fail "$(cat out)"
"$PYTHON" -c 'import json
rows = [json.loads(line) for line in open("rows")]
assert rows[1]["axe_calls"] == 1, rows[1]
assert rows[1]["sets"] == 16, rows[1]["sets"]' || fail "JSON of calls"

# Results that are not there, or wrong, count for nothing: this driver computes nothing.
bench -s 100 rows && fail "content with NaN"
grep -Eq '^qwen3-8b.up .*  off inf in 24 samples .*NaN!  WRONG' out || fail "$(cat out)"
grep -q '^20 rows failed or are wrong' out || fail "$(cat out)"
grep -q '^attention, .*: not measured$' out || fail "$(cat out)"

# A row that hangs, crashes, or fails leaves the others.
FAKE_HANG=attention_sm90 bench -n -s 100 -l 2 rows && fail "content with a row that hangs"
[ "$(grep -c '^heads 8k.*  hung: killed after 2 s' out)" = 2 ] || fail "$(cat out)"
grep -Eq '^elementwise  *axe 1 ms' out || fail "$(cat out)"
grep -q '^{"row": "heads 8k", "failed": "hung' rows || fail "$(cat rows)"
FAKE_CRASH=attention_sm90 bench -n -s 100 rows && fail "content with a row that crashes"
[ "$(grep -c '^heads 8k.*  crashed: Aborted' out)" = 2 ] || fail "$(cat out)"
grep -Eq '^elementwise  *axe 1 ms' out || fail "$(cat out)"
FAKE_FAIL=StreamSynchronize:700 bench -n -s 100 rows && fail "content with a fault"
grep -Eq '^elementwise  *FAILED: .*ILLEGAL_ADDRESS' out || fail "$(cat out)"

# Where a driver executes the kernels, results are as the host computes them, and a
# changed kernel is found.
lib=$built/tests/libptx_cuda.so
rm libcuda.so.1
ln -s "$lib" libcuda.so.1
executed() { # CACHE ROW
    AXE_NVRTC=$lib "$built/bench/bench_prepare" -r "$2" "$1" sm_90a >out 2>&1 || fail "$(cat out)"
    PTX=1 AXE_NVRTC=$lib AXE_CACHE=$PWD/$1 LD_LIBRARY_PATH=$PWD PYTHON=/bin/false \
        "$built/bench/bench_gpu" -d 64 -o "$2" rows >out 2>&1
}
executed ptx rmsnorm || fail "$(cat out)"
grep -Eq '^rmsnorm .*  off [1-9].[0-9]e-0[34] in 24 samples$' out || fail "$(cat out)"
PTX_CHANGE='rsqrt=>sqrt' executed changed rmsnorm && fail "content with another kernel"
grep -Eq '^rmsnorm .*  WRONG$' out || fail "$(cat out)"
[ "$(cd "$SRC" && git status --short bench/results 2>/dev/null)" = "" ] ||
    fail "invented times in bench/results"

# peers.py answers whoever asks, where there is nothing, too.
printf 'have\nmake matmul M=4 N=4 K=4\ntime 0\nsync x\ndrop\n' |
    "$PYTHON" "$SRC/bench/cuda/peers.py" >out 2>err || fail "$(cat err)"
[ "$(wc -l <out)" = 5 ] || fail "peers.py: $(cat out)"
exit $bad
