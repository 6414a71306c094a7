#!/usr/bin/env bash
# The extension module, built for one Python, in each other that is here, since it
# keeps to the stable ABI of 3.9; without NumPy and without a C compiler.  The wheel
# itself is for tests/wheel/run.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
package=$(dirname "$AXE")/python
module=$package/axe/_axe.abi3.so
[ -e "$module" ] || { echo "skipped: built without Python.h"; exit 77; }
grep -aq 'softmax<T = f32> for cpu-avx2' "$module" ||
    { echo "skipped: built without kernels ahead of time"; exit 77; }
grep -q ' avx2 ' /proc/cpuinfo || exit 77

for python in $("$SRC/tests/wheel/pythons"); do
    env -i PATH="$tmp" HOME="$tmp" PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 \
        "$python" "$SRC/tests/wheel/check.py"
done

# What it takes of a glibc that has no more than this: RHEL 9 has 2.34, Debian 12 and
# Ubuntu 22.04 later ones.
case $(getconf GNU_LIBC_VERSION) in
"glibc 2.3"[4-6])
    ! grep -aoE 'GLIBC_2\.(3[5-9]|[4-9][0-9])' "$module" ||
        { echo "pythons: the module asks for a later glibc than 2.34" >&2; exit 1; }
    ;;
esac
