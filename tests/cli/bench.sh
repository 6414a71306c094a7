#!/usr/bin/env bash
# Every kernel of kernels/ has a row in the benchmark and one in the table of
# kernels/README.md, and every row of the benchmark a kernel.
set -euo pipefail

rows=$SRC/bench/table/rows.def
bad=0
while read -r file kernel; do
    if ! grep -Eq "\"$file\", +\"$kernel\"," "$rows" &&
        ! grep -Eq "^ \* but $kernel," "$rows"; then
        echo "$kernel of kernels/$file.axe has no row in bench/table/rows.def"
        bad=1
    fi
    if ! grep -q "$file.axe) | .$kernel. |" "$SRC/kernels/README.md"; then
        echo "$kernel of kernels/$file.axe has no row in kernels/README.md"
        bad=1
    fi
done < <(grep -L '^ *target ' "$SRC"/kernels/*.axe | while read -r f; do
    sed -n "s/^kernel \([A-Za-z0-9_]*\).*/$(basename "$f" .axe) \1/p" "$f"
done)
while read -r file kernel; do
    if ! grep -Eq "^kernel $kernel\b" "$SRC/kernels/$file.axe"; then
        echo "rows.def has a row for $kernel of $file.axe, which is not there"
        bad=1
    fi
done < <(sed -n 's/^ROW([^"]*"\([a-z0-9_]*\)", *"\([a-z0-9_]*\)".*/\1 \2/p' "$rows")
exit $bad
