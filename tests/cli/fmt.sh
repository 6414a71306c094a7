#!/usr/bin/env bash
# axe fmt: to standard output, --check, -w; exit codes; nothing is lost.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
n_bad=0

fail() {
    n_bad=$((n_bad + 1))
    echo "FAILED: $*"
}

# is CODE WANT COMMAND...: exit code, and all that is printed.
is() {
    local code=$1 want=$2
    shift 2
    got=$("$@" 2>&1)
    local st=$?
    [ $st = "$code" ] && [ "$got" = "$want" ] && return
    fail "$*: exit $st, not $code; printed:"
    echo "$got"
}

is 0 "" "$AXE" fmt --check "$SRC"/kernels/*.axe

printf 'kernel k(out f32 Y[M])\n{\nindex m;\nY[m]=1;\n}\n' >a.axe
printf 'kernel k(out f32 Y[M])\n{\n    index m;\n    Y[m] = 1;\n}\n' >want
cp a.axe b.axe
chmod 640 b.axe
is 0 "$(cat want)" "$AXE" fmt a.axe
is 1 "a.axe" "$AXE" fmt --check a.axe want
is 0 "" "$AXE" fmt -w b.axe
cmp want b.axe || fail "-w"
[ "$(stat -c %a b.axe)" = 640 ] || fail "-w: permissions"
is 0 "" "$AXE" fmt --check b.axe
is 0 "" "$AXE" fmt -w b.axe

printf 'kernel k(out f32 Y[M])\n{\nindex m\n}\n' >bad.axe
cp bad.axe same.axe
is 1 "bad.axe:3:8: error: expected \`;\` after the indices
    3 | index m
      |        ^" env NO_COLOR=1 "$AXE" fmt -w bad.axe
cmp bad.axe same.axe || fail "a wrong file was changed"
: >empty.axe
is 0 "" "$AXE" fmt empty.axe
is 0 "" "$AXE" fmt --check empty.axe
is 1 "error: none.axe: cannot open: No such file or directory
  help: check the name; relative ones begin at the current directory" \
    "$AXE" fmt none.axe
is 2 "axe fmt: a kernel file is missing
  help: 'axe fmt --help' explains" "$AXE" fmt -w
is 2 "axe fmt: --check changes nothing, so that -w does not go with it
  help: 'axe fmt --help' explains" "$AXE" fmt -w --check a.axe
[ -z "$(ls | grep -F .tmp)" ] || fail "a temporary file is left"
exit $((n_bad > 0))
