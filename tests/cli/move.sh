#!/bin/sh
# move.sh - `axe move`: options, exit codes, JSON.  Given: AXE the command.
set -u

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

check() {
    name=$1 code=$2 text=$3
    shift 3
    "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -qF -- "$text" "$tmp/out"; then
        echo "FAILED $name: exit $got, wanted $code and: $text"
        sed 's/^/    /' "$tmp/out"
        failed=1
    fi
}

check help     0 'usage: axe move'        "$AXE" move --help
check none     2 'two layouts, SRC and DST' "$AXE" move '(4):(1@lane)'
check nosuch   2 "did you mean '--machine'?" "$AXE" move --machinx y z
check number   2 "--bits 'x' is no number" "$AXE" move -b x '(4):(1)' '(4):(1)'
check bits     1 'elements of 7 bits'     "$AXE" move -b 7 '(4):(1)' '(4):(1)'
check machine  1 "there is no machine 'zx'" "$AXE" move -m zx '(4):(1)' '(4):(1)'
check family   1 'is a family; name one'  "$AXE" move -m nvidia '(4):(1)' '(4):(1)'
check kind     1 'SRC is no layout but 3' "$AXE" move 3 '(4):(1)'
check axis     1 "did you mean 'lane'?"   "$AXE" move '(4):(1@lame)' '(4):(1)'
check syntax   1 'DST:1:'                 "$AXE" move '(4):(1)' '(4'
check missing  1 'element 4 of DST is not in SRC' "$AXE" move '(4):(1)' '(5):(1)'
check part     0 'shuffles       1, 1 in a warp' \
    "$AXE" move 'let t = (8, 8) : (4@lane, 1@lane); t[0:8, 0:4]' \
    '(8, 4) : (1@lane, 8@lane)'
check program  0 'shuffle s0: lanes give r0 | get from lane ^ 1' \
    "$AXE" move -p -m opencl-sg8 '(2, 4) : (1@lane, 2@lane)' \
    '(2, 4) : (-1@lane, 2@lane) + 1@lane'
check by       0 'stores         1 of up to 4 bytes' \
    "$AXE" move --by shared '(8, 4):(4@lane, 1@lane)' '(8, 4):(1@lane, 8@lane)'
check way      2 "not 'air'"              "$AXE" move --by air '(4):(1)' '(4):(1)'
check global   0 '64 sectors of global memory, of which 32' \
    "$AXE" move --memory global '(2, 32, 4) : (1@cta, 1@lane, 1@reg)' '(2, 32, 4) : (4, 8, 1)'
check memory   2 "not 'disk'"             "$AXE" move --memory disk '(4):(1)' '(4):(1)'
check json     0 '"shuffles":1' \
    "$AXE" move --json '(8, 4):(4@lane, 1@lane)' '(8, 4):(1@lane, 8@lane)'

exit $failed
