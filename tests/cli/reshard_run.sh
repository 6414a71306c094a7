#!/bin/sh
# reshard_run.sh - `axe reshard --run`: plans carried out on processes, forked
# and launched; and how they end.  Given: AXE, SRC, PYTHON.
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

R="$AXE reshard --run"
check exchange 0 '8 ranks by shm, f32: every element is right' \
    $R --mesh 'x=4, y=2' '24@x, 24@y' '24@y, 24@x'
check moved 0 '72 elements to the rank that got most, 432 to all: as the plan says' \
    $R --mesh 'x=4, y=2' '24@x, 24@y' '24@y, 24@x'
check gather  0 '30 to all'             $R --mesh x=4 10@x 10
check slice   0 '0 to all'              $R --mesh x=4 10 10@x
check scatter 0 '750 to all'            $R --mesh x=4 '1000 at x=3' 1000@x
check root    0 '4012 to all'           $R --mesh x=5 '1003 at x=2' 1003
check reduce  0 '30 to all'             $R --mesh x=4 '10 + partial(x)' 10@x
check sum     0 '60 to all'             $R --mesh x=4 '10 + partial(x)' 10
check parts   0 '6000 to all'           $R --mesh x=4 '1000 + partial(x)' 1000
check levels  0 'all-reduce'            $R --mesh 'node=2@far, gpu=4' \
    '4096, 16 + partial(node, gpu)' '4096, 16'
check i8      0 'by shm, i8'            $R -b 8 --mesh x=3 '100 + partial(x)' 100@x
check f64     0 'by shm, f64'           $R -b 64 --mesh x=3 '100 + partial(x)' 100@x
check i64     0 'by shm, i64'           $R -b 64 --type i64 --mesh x=3 100@x 100
check one     0 '1 ranks by shm'        $R --mesh x=1 7 7
check bits    1 'no elements of 12 bits' $R -b 12 --mesh x=2 4@x 4
check i16     0 'by shm, i16'           $R --type i16 --mesh x=2 4@x 4
check type    1 'no elements of 32 bits called i16' $R -b 32 --type i16 --mesh x=2 4@x 4
check f16     1 'called f16 are run; there are' $R --type f16 --mesh x=2 4@x 4
check engine  1 "engine 'smh' is not known" $R --engine smh --mesh x=2 4@x 4
check timeout 2 "--timeout '0' is no number" $R --timeout 0 --mesh x=2 4@x 4
check alone   2 'go with --run'         $AXE reshard --type f32 --mesh x=2 4@x 4
check draw    2 '--run draws nothing'   $R -d --mesh x=2 4@x 4
check many    1 '2000 ranks are wanted, and 1 to 1024 can run' $R --mesh x=2000 10@x 10
check memory  1 'bytes for each of 2 ranks are more than there are addresses' \
    $R --mesh x=2 4611686018427387904@x 4611686018427387904
check file    1 '(ulimit -f)' \
    bash -c "ulimit -f 1; exec $R --mesh x=2 40@x 40"

"${PYTHON:-python3}" "$SRC/tests/reshard_run.py" "$AXE" \
    "$SRC/tests/vectors/reshard.jsonl" || failed=1
# The judge sees elements that did not go.
sed -n '3s/"min_total":288/"min_total":289/p' "$SRC/tests/vectors/reshard.jsonl" \
    >"$tmp/bad"
if "${PYTHON:-python3}" "$SRC/tests/reshard_run.py" "$AXE" "$tmp/bad" >/dev/null
then
    echo "FAILED: a wrong count passes"
    failed=1
fi

# Four processes that a launcher has started; $1 rank, $2 variables for all.
launched() {
    for rank in 0 1 2 3; do
        env "$@" RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 \
            MASTER_ADDR=localhost MASTER_PORT=$$ \
            $R --timeout 5 --mesh x=4 10@x 10 >"$tmp/rank$rank" 2>&1 &
    done
    wait
    cat "$tmp"/rank? >"$tmp/all"
}
launched A=b
if [ "$(grep -c '4 ranks by shm' "$tmp/all")" -ne 1 ]; then
    echo "FAILED: launched ranks"
    cat "$tmp/all"
    failed=1
fi
check ranks 1 'torchrun launched 3 ranks where 4 are wanted' \
    env RANK=0 WORLD_SIZE=3 MASTER_ADDR=h $R --mesh x=4 10@x 10
check late 1 'of 4 ranks these did not come in 1 s: 1, 2, 3' \
    env RANK=0 WORLD_SIZE=4 MASTER_ADDR=h MASTER_PORT=x$$ \
    $R --timeout 1 --mesh x=4 10@x 10

# each with a shell of its own as its parent: told how they meet, and they do
check shells 1 'AXE_RENDEZVOUS=NAME' \
    env AXE_RANK=0 AXE_SIZE=2 $R --timeout 1 --mesh x=2 4@x 4
for r in 0 1; do
    (env PMI_RANK=$r PMI_SIZE=2 AXE_RENDEZVOUS=meet$$ $R --engine shm --timeout 10 --mesh x=2 4@x 4
     : a shell) >"$tmp/rank$r" 2>&1 &
done
wait
check meet 0 '2 ranks by shm' cat "$tmp/rank0"

if ls /dev/shm | grep -i axe; then
    echo "FAILED: shared memory is left behind"
    failed=1
fi
exit $failed
