#!/usr/bin/env bash
# Kernels in f32 on our own CPU back end and, as OpenCL C, on the devices that are
# installed, at each width that plans are made for: milliseconds, the device's own
# clock for OpenCL, the median of five runs in turns of which each gives the
# median of its launches; and how many times as long as by our own back end.
set -euo pipefail
# shellcheck source=tests/opencl.sh
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
. "$SRC/tests/opencl.sh"
export POCL_CACHE_DIR=$cache/pocl AXE_CACHE=$cache/axe
opencl_devices >"$cache/devices"
[ -s "$cache/devices" ] || { echo "no device of OpenCL: skipped"; exit 0; }
"$AXE" devices | grep '^opencl'
"$PYTHON" - "$AXE" "$SRC" "$cache/devices" <<'END'
import json, statistics, subprocess, sys

axe, src, devices = sys.argv[1:]
TURNS, LAUNCHES = 5, 11
ROWS = [("gemm", "gemm", "M=512 N=512 K=512"),
        ("gemm", "gemm", "M=1024 N=1024 K=1024"),
        ("softmax", "softmax", "M=1024 N=1024"),
        ("layernorm", "layernorm", "M=1024 N=1024"),
        ("rmsnorm", "rmsnorm", "M=1024 N=1024"),
        ("elementwise", "add", "M=1024 N=1024")]
columns = [("cpu", "cpu", [])]
for line in open(devices):
    number, *machines = line.split()
    columns += [(number + m.replace("opencl", "").replace("-", " "), m,
                 ["--device", number]) for m in machines if m != "spirv"]


def median_ms(row, column):
    file, kernel, sizes = row
    said = subprocess.run(
        [axe, "run", "%s/kernels/%s.axe" % (src, file), kernel, "--random",
         "--no-tuned", "-t", column[1], "--time=%d" % LAUNCHES, "--json"]
        + column[2] + sizes.split(), capture_output=True, text=True)
    if said.returncode:
        return None
    return 1e3 * json.loads(said.stdout)["time"]["median_s"]


print("%-32s" % "by device and width" +
      "".join("%14s" % c[0] for c in columns))
for row in ROWS:
    times = [[] for _ in columns]
    for _ in range(TURNS):
        for c, t in zip(columns, times):
            t.append(median_ms(row, c))
    best = [None if None in t else statistics.median(t) for t in times]
    print("%-32s" % " ".join(row[1:]) + "".join(
        "%14s" % ("refused" if b is None else "%.3g" % b if b == best[0] else
                  "%.3g (%.1f)" % (b, b / best[0])) for b in best),
          flush=True)
END
