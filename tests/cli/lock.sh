#!/usr/bin/env bash
# axe explain --lock and --check: a plan is kept beside its kernel, and a change
# of it is an error that says where.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$SRC"
gemm="kernels/gemm.axe -t cpu-avx512"
"$AXE" explain $gemm --lock "$tmp/gemm.lock"
"$AXE" explain $gemm --check "$tmp/gemm.lock"
cmp -s <("$AXE" explain $gemm) "$tmp/gemm.lock"
if "$AXE" explain $gemm --set BM=64 --check "$tmp/gemm.lock" 2>"$tmp/err"; then
    echo "another plan passed"
    exit 1
fi
grep -q 'they differ from line 1 on' "$tmp/err"
grep -q 'now:    .*BM = 64' "$tmp/err"
sed 's/vfma/vfmb/' "$tmp/gemm.lock" >"$tmp/other.lock"
if "$AXE" explain $gemm --check "$tmp/other.lock" 2>"$tmp/err"; then
    echo "another atom passed"
    exit 1
fi
grep -q 'locked:     atoms     vfmb' "$tmp/err"
if "$AXE" explain $gemm --check "$tmp/none.lock" 2>"$tmp/err"; then
    echo "a missing lock passed"
    exit 1
fi
grep -q 'cannot open' "$tmp/err"
