#!/usr/bin/env bash
# Kernels for cpu-neon against NumPy, in an emulator.
set -u
"$PYTHON" -c '' || exit 77
for tool in qemu-aarch64 aarch64-linux-gnu-gcc; do
    if ! command -v $tool >/dev/null; then
        echo "neon: no $tool here; tools/setup test installs it"
        exit 77
    fi
done
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
"$PYTHON" "$SRC/tests/neon.py"
