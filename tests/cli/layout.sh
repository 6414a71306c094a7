#!/bin/sh
# layout.sh - the command: exit codes, help, `layout`, `view` and its golden
# pictures.  Given: AXE the command, SRC the source directory.
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
    if [ "$got" -ne "$code" ] ||
        { [ -n "$text" ] && ! grep -qF -- "$text" "$tmp/out"; }; then
        echo "FAILED $name: exit $got, wanted $code and: $text"
        sed 's/^/    /' "$tmp/out"
        failed=1
    fi
}

tile='(8, (2, 4, 2)) : (4@lane, (1@warp, 1@lane, 1@reg)) + [2 : 4@warp] + 5@warp'

check help        0 'layout   EXPR...'       "$AXE" --help
check version     0 'axe 0.'                 "$AXE" --version
check no-verb     2 'a verb is missing'      "$AXE"
check bad-verb    2 "did you mean 'layout'?" "$AXE" layuot
check strange     2 "there is no verb 'zzz'" "$AXE" zzz
for verb in layout view eval; do
    check "$verb --help"   0 "usage: axe $verb" "$AXE" $verb --help
    check "$verb --nosuch" 2 "axe $verb"        "$AXE" $verb --nosuch
done

check value       0 '((2, 8), (3, 8)) : ((192, 8), (64, 1))' \
    "$AXE" layout '(2, 3) : (3, 1) >< (8, 8) : (8, 1)'
check properties  0 'replicas     2 points for each index' "$AXE" layout "$tile"
check witness     0 'no: 1 and 2 share a point' "$AXE" layout '(2, 2):(1, 1)'
check map         0 '       5  (5)'          "$AXE" layout --map '(2, 3):(3, 1)'
check map-more    0 '(904 more)'             "$AXE" layout --map '(5000):(1)'
check json        0 '{"D":[[2,1,"m"]],"R":[],"O":{}}' \
    "$AXE" layout --json '(2):(1)'
check several     0 '(3) : (1)'              "$AXE" layout '(2):(1)' '(3):(1)'
check kinds       0 'lane         thread' \
    "$AXE" layout -m nvidia --strict-axes '(4):(1@lane)'
check no-expr     2 'an expression is missing' "$AXE" layout
check syntax      1 'EXPR:1:5: error: '      "$AXE" layout '(2):'
check misspelt    1 "did you mean 'canon'?"  "$AXE" layout 'cannon((2):(1))'
check bad-axis    1 'lame' \
    "$AXE" layout -m nvidia --strict-axes '(4):(1@lame)'
check bad-machine 1 "there is no machine 'zx'" "$AXE" layout -m zx '(4):(1)'
check overflow    1 'error' \
    "$AXE" layout '(4294967296, 4294967296):(1, 1)'
check eval-arg    2 'unexpected argument'    "$AXE" eval x
check eval-mach   2 "there is no machine"    "$AXE" eval -m zx
check eval-empty  0 ''                       "$AXE" eval

check view        0 '8 rows, 16 columns; each cell: lane/warp/reg' \
    "$AXE" view "$tile"
check view-cell   0 '31/6,10/1'              "$AXE" view "$tile"
check view-narrow 0 '(shown: 8 of 8 rows, ' "$AXE" view -w 60 "$tile"
check view-clash  0 '2! 3! 4!'               "$AXE" view '(4, 6):(2, 1)'
check view-holes  0 '0 .. 26, 3 holes'       "$AXE" view '(4, 6):(7, 1)'
check view-int    1 'only a layout can be drawn' "$AXE" view 7
check view-many   1 'at most 256' "$AXE" view '(2):(1) + [4096 : 1@w]'
check view-none   2 'one expression is expected' "$AXE" view
check view-large  0 'shown: 32 of 1048576 rows, 64 of 1048576 columns' \
    "$AXE" view '(1048576, 1048576):(1048576, 1)'
check view-edge   0 '-1152921504606846976' \
    "$AXE" view '(2):(1152921504606846976) - 1152921504606846976'
check view-nofile 1 'No such file' "$AXE" view "$tile" -o "$tmp/no/x.svg"
if [ -c /dev/full ]; then
    check view-full 1 'No space left' "$AXE" view "$tile" -o /dev/full
    check out-full  1 'cannot write' sh -c "'$AXE' --help >/dev/full"
fi

# golden FILE EXPR: the picture is the same bytes as that file.
golden() {
    "$AXE" view "$2" -o "$tmp/new.svg" || failed=1
    if ! cmp -s "$tmp/new.svg" "$SRC/$1"; then
        echo "FAILED golden: look at both and, if the new one is right:"
        echo "    axe view '$2' -o $1"
        failed=1
    fi
}
golden tests/golden/view_clash.svg '(3, 4) : (2, 1) + [2 : 9]'
golden tests/golden/view_threads.svg \
    '(2, (2, 2)) : (2@lane, (1@warp, 1@lane)) + 1@warp'
golden tests/golden/view_tiles.svg '(2, 2) : (2, 1) >< (2, 2) : (2, 1)'
golden docs/img/tensor_core.svg "$tile"
golden docs/img/tiled_16x24.svg '(2, 3) : (3, 1) >< (8, 8) : (8, 1)'
exit $failed
