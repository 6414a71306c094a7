#!/usr/bin/env bash
# Atoms called by name: tests/atoms/*.axe against the reference.  The first
# lines of a file say its sizes and on which machines it runs, with which
# parameters.  Every atom that it names must be in its plan; where the host
# lacks the instructions that is all: the compiler refuses them, or they end it.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}
ILLEGAL=132
n_run=0 n_bad=0

fail() {
    n_bad=$((n_bad + 1))
    echo "FAILED: $*"
    cat out
}

while read -r file cpu set; do
    sizes=$(sed -n 's/^\/\/ sizes: //p' "$file")
    n_run=$((n_run + 1))
    # shellcheck disable=SC2086
    "$AXE" compile -t "$cpu" ${set:+--set $set} "$file" --emit plan >plan \
        2>out || fail "no plan of $file for $cpu"
    for atom in $(grep -o 'atom [a-z0-9]*' "$file" | cut -d' ' -f2 | sort -u); do
        grep -A3 'one atom by name' plan | grep -q " $atom: " ||
            fail "$atom is not in the plan of $file for $cpu"
    done
    for n in 1 3; do
        # shellcheck disable=SC2086
        "$AXE" run -t "$cpu" ${set:+--set $set} --threads $n --random \
            --seed $n --check "$file" $sizes >out 2>&1 || [ $? = $ILLEGAL ] ||
            grep -q 'has instructions that this processor lacks' out ||
            fail "$file on $cpu, $n threads"
    done
done < <(for file in "$SRC"/tests/atoms/*.axe; do
    sed -n 's/^\/\/ on: //p' "$file" | tr ';' '\n' | sed "s|^|$file |"
done)
echo "$n_run machines, $n_bad failed"
[ $n_run -gt 0 ] && [ $n_bad = 0 ]
