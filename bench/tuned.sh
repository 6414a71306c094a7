#!/usr/bin/env bash
# How far the defaults are from what `axe tune` finds, on one thread: the time
# with the defaults over that of the best combination.  Arguments: seconds for
# each row (default 10).
set -euo pipefail
printf '%-10s %-22s %10s %10s %7s %6s  %s\n' kernel sizes 'default ms' \
    'best ms' ratio tried best
while read -r kernel sizes; do
    # shellcheck disable=SC2086
    "$AXE" tune "$SRC/kernels/$kernel.axe" --random --threads 1 --records '' \
        --budget "${1-10}" --json $sizes 2>/dev/null |
        "$PYTHON" -c '
import json, sys
r = json.load(sys.stdin)
best, std = r["measured"][0], r["measured"][r["default"]]
print("%-10s %-22s %10.4f %10.4f %7.2f %6d  %s" % (
    sys.argv[1], sys.argv[2], std["time_s"] * 1e3, best["time_s"] * 1e3,
    std["time_s"] / best["time_s"], len(r["measured"]),
    " ".join(f"{k}={v}" for k, v in best["set"].items())), flush=True)
' "$kernel" "$sizes"
done <<'ROWS'
gemm M=256 N=256 K=256
gemm M=512 N=512 K=512
gemm M=1536 N=1536 K=1536
softmax M=64 N=1024
softmax M=1024 N=1024
softmax M=8192 N=4096
layernorm M=64 N=1024
layernorm M=1024 N=1024
layernorm M=8192 N=4096
transpose M=64 N=1024
transpose M=1000 N=1000
transpose M=4096 N=4096
ROWS
