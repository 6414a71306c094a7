#!/bin/sh
# convert.sh - `axe convert`: options, formats, errors with a caret.
# Given: AXE the command, SRC the source directory.
set -u

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# check NAME CODE TEXT COMMAND...: the exit code, and a text in what is printed
# on either stream.
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

check help     0 'usage: axe convert'        "$AXE" convert --help
check formats  0 'thread-value layouts'      "$AXE" convert --help
check none     2 'a layout is missing'       "$AXE" convert
check option   2 'axe convert'               "$AXE" convert --nosuch
check from     1 "did you mean 'cute'?"      "$AXE" convert --from cue 4:1
check keep     2 'index or coordinates'      "$AXE" convert --keep it 4:1
check shape    2 '--shape is a list as 16,8' "$AXE" convert --shape 16x8 4:1
check bits     2 '--bits is a number'        "$AXE" convert --bits 0 4:1
check idle     2 'takes --mesh'              "$AXE" convert --from cute --mesh 2 4:1
check unsaid   1 'say which to keep'         "$AXE" convert --from cute '(2,4):(1,2)'
check several  0 '(8) : (2)'                 "$AXE" convert --from cute 4:1 8:2
check machine  0 '@lane'                     "$AXE" convert -m nvidia -f tv --shape 32,1 '(32,1):(1,0)'
check caret    1 '    1 | (4:1'              "$AXE" convert --from cute '(4:1'
check minus    2 "goes behind '--'"           "$AXE" convert '-(4:1)'
check behind   0 '(4) : (-1)'                "$AXE" convert -- '(4) : (-1)'
check column   1 '      |        ^'           "$AXE" convert --from dtensor --shape 8,16 --mesh 2,4 '[S(0), T(1)]'
check back     0 '[S(0), R]'                 "$AXE" convert --to dtensor --mesh 2,4 -m cpu '((2, 4), 16) : ((4@gpuid, 16), 1) + [4 : 1@gpuid]'

exit $failed
