#!/bin/sh
# mesh.sh - `axe mesh`: links measured, kept in records, taken by plans.  Given:
# AXE.
set -u

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
export AXE_TUNED="$tmp/tuned.db"

check() {
    name=$1 code=$2 text=$3
    shift 3
    "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -qE -- "$text" "$tmp/out"; then
        echo "FAILED $name: exit $got, wanted $code and: $text"
        sed 's/^/    /' "$tmp/out"
        failed=1
    fi
}

check help    0 'usage: axe mesh'       "$AXE" mesh --help
check nosuch  2 "did you mean '--measure'" "$AXE" mesh --mesure
check extra   2 "no argument 'x'"       "$AXE" mesh x
check none    0 'no link is measured here' "$AXE" mesh
check plan0   1 'link near is not measured here by shm: axe mesh --measure' \
    "$AXE" reshard --measured --mesh x=4 8@x 8
if ! "$AXE" mesh --measure >"$tmp/said" 2>&1; then
    if grep -q 'libsqlite3' "$tmp/said"; then exit 77; fi
    echo "FAILED measure:"
    cat "$tmp/said"
    exit 1
fi
check said    0 '^near: [0-9]+ns, [0-9]+MB/s by shm$' cat "$tmp/said"
check shown   0 "^$(cat "$tmp/said")\$"  "$AXE" mesh
check plan    0 "links   near: $(sed 's/,.*//; s/near: //' "$tmp/said"), .*B/s \(measured\)" \
    "$AXE" reshard --measured --mesh x=4 8@x 8
check said2   0 'links   near: 1us, 1GB/s$' \
    "$AXE" reshard --measured --mesh 'x=4; near: 1us, 1GB/s' 8@x 8
check far     1 'link far is not measured' \
    "$AXE" reshard --measured --mesh 'x=4@far' 8@x 8
check engine  1 'link near is not measured here by openmpi' \
    "$AXE" reshard --measured --engine openmpi --mesh x=4 8@x 8
check fixed   0 'guessed'               "$AXE" reshard --mesh x=4 8@x 8
# What is kept decides: with slow messages copies for a while, else an exchange.
if command -v sqlite3 >/dev/null; then
    sqlite3 "$AXE_TUNED" "UPDATE tuned SET bindings =
        'latency=1 bandwidth=1000000'"
    check slow 0 'near: 1ns, 1MB/s \(measured\)' \
        "$AXE" reshard --measured --mesh x=4 8@x 8
fi
check broken  1 'file is not a database' \
    env AXE_TUNED="$AXE" "$AXE" reshard --measured --mesh x=4 8@x 8
exit $failed
