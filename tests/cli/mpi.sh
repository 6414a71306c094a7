#!/bin/bash
# mpi.sh - plans carried out by Open MPI and MPICH, where they are: messages, the
# mapping under their launchers, ranks that differ, ranks that die, kernels.  Given: AXE,
# SRC, PYTHON.
set -u

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm=isolated
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_hwloc_base_binding_policy=none
# What MPI itself leaves behind at its end is not ours to mend.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0 n=0

check() { # NAME FAILS TEXT COMMAND...
    name=$1 fails=$2 text=$3
    shift 3
    timeout -k 5 150 "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    if [ $((got != 0)) -ne "$fails" ] || [ "$got" -eq 124 ] ||
        [ "$(grep -cF -- "$text" "$tmp/out")" -ne 1 ]; then
        echo "FAILED $mpi $name: exit $got, wanted once: $text"
        sed 's/^/    /' "$tmp/out"
        failed=1
    fi
}

# The package, where it is built without the sanitizers' libraries.
package=$(dirname "$AXE")/python python=$SRC/build/venv/bin/python
if [ ! -e "$SRC/build/venv/ready" ] || [ ! -e "$package/axe/_axe.abi3.so" ] ||
    grep -q __asan_init "$package/axe/_axe.abi3.so"; then
    package=
fi
cat >"$tmp/k.py" <<'EOF'
import axe, numpy as np
m = axe.kernel("mesh gpu[P]; kernel total(in f32 X[M @ gpu, N], out f32 Y[N])"
               "{ index m, n; Y[n] = sum[m](X[m, n]); }")
found = axe.spmd(timeout=30)(lambda world: (
    world.rank, world.engine, m.total(np.full((5, 2), world.rank + 1, "f4")).tolist()))
def say(world):
    assert world.gather("x" * 1000 * world.rank) == ["", "x" * 1000]
    if world.rank == 0:
        print(found)
axe.spmd()(say)
EOF

for k in 0 1; do
    echo "mesh gpu[P]; kernel total(in f32 X[M @ gpu, N], out f32 Y[N])
        { index m, n; Y[n] = sum[m](X[m, n]) + $k; }" >"$tmp/$k.axe"
done

echo "mesh gpu[P]; kernel scaled(in f32 X[M @ gpu], in f32 alpha, out f32 Y[M])
    { index m; Y[m] = alpha * X[m]; }" >"$tmp/scaled.axe"

R="$AXE reshard --run --timeout 30"
for mpi in openmpi mpich; do
    case $mpi in
    openmpi) run=mpirun.openmpi rank=OMPI_COMM_WORLD_RANK ;;
    mpich) run=mpiexec.hydra rank=PMI_RANK ;;
    esac
    command -v $run >/dev/null || continue
    n=$((n + 1))
    check gather 0 "3 ranks by $mpi, f32: every element is right" \
        $run -n 3 $R --mesh x=3 10@x 10
    check exchange 0 '432 to all: as the plan says' \
        $run -n 8 $R --mesh 'x=4, y=2' '24@x, 24@y' '24@y, 24@x'
    check sum 0 '3000 to all: as the plan says' \
        $run -n 3 $R --no-latency --mesh x=3 '750 + partial(x)' 750
    check root 0 '2006 to all: as the plan says' \
        $run -n 3 $R --mesh x=3 '1003 at x=1' 1003
    check large 0 '2 ranks by' \
        $run -n 2 $R --mesh x=2 '400000@x, 4' '400000, 4@x'
    check mapping 0 '3 ranks by shm, f32: every element is right' \
        $run -n 3 $R --engine shm --mesh x=3 10@x 10
    check ranks 1 "$mpi launched 2 ranks where 3 are wanted" \
        $run -n 2 $R --mesh x=3 10@x 10
    check plans 1 'ranks differ in the plan: rank 0 has' \
        $run -n 3 bash -c "exec $R --mesh x=3 \$((10 + ($rank == 2)))@x \
            \$((10 + ($rank == 2)))"
    for engine in $mpi shm; do
        SECONDS=0
        timeout -k 5 60 $run -n 3 bash -c "if [ \$$rank = 1 ]; then
            exec timeout -s KILL 0.3 $R --engine $engine --mesh x=3 12000000@x 12000000
            else exec $R --engine $engine --mesh x=3 12000000@x 12000000; fi" \
            >"$tmp/out" 2>&1 </dev/null
        if [ $? -eq 0 ] || [ $SECONDS -gt 15 ]; then
            echo "FAILED $mpi, $engine: a rank that is killed, after $SECONDS s"
            cat "$tmp/out"
            failed=1
        fi
    done
    # One that does not come to MPI_Init, which waits for all: one text, and nothing is left.
    never=4321.$$
    for late in 0 1 2; do
        SECONDS=0
        check "rank $late does not come" 1 "of 3, which $mpi has launched, waited 2 s in MPI_Init" \
            $run -n 3 bash -c "[ \$$rank != $late ] || exec sleep $never; exec $R --timeout 2 --mesh x=3 10@x 10"
        grep -q "^error: engine $mpi: rank [^$late] of 3" "$tmp/out" && [ $SECONDS -lt 12 ] && ! pgrep -f "sleep $never" >/dev/null || {
            echo "FAILED $mpi, rank $late does not come: after $SECONDS s"
            cat "$tmp/out"
            failed=1
        }
    done
    check 'another program' 1 "rank 0 of 2, which $mpi has launched, waited 1 s in MPI_Init" \
        $run -n 1 "$AXE" run --timeout 1 --random "$tmp/scaled.axe" alpha=2 M=9 : -n 1 sleep $never
    ! pgrep -f "sleep $never" >/dev/null || { echo "FAILED $mpi: a process is left" && failed=1; }
    check 'one that comes late' 0 '2 ranks by' $run -n 2 bash -c "[ \$$rank = 0 ] || sleep 1; \
        exec $R --timeout 5 --mesh x=2 4@x 4"
    # engines that differ never meet; either ends by its limit
    SECONDS=0
    check 'engines that differ' 1 'rank 1 of 2, which' $run -n 2 bash -c "exec $R --timeout 3 --mesh x=2 4@x 4 \
        \$([ \$$rank = 1 ] || echo --engine shm --timeout 20)"
    [ $SECONDS -lt 15 ] || { echo "FAILED $mpi, engines that differ: after $SECONDS s" && failed=1; }
    # variables that a launcher has left, and no other rank: MPI's only rank says it
    check 'no launcher' 1 "engine $mpi: MPI has 1 ranks, and its launcher said 2" \
        env ${rank%RANK}SIZE=2 $rank=1 $R --timeout 5 --mesh x=2 4@x 4
    K="$AXE run --timeout 60 --random --check"
    check 'kernel, ring' 0 'check Y: ok, 10 elements' \
        $run -n 4 $K "$SRC/kernels/dist/all_reduce.axe" ring M=10
    # 6 steps, in each of which each of 4 devices gets 3 of 10 elements, rounded up
    check 'ring, what it moves' 0 'moved    288 bytes between devices, as planned' \
        $run -n 4 $K "$SRC/kernels/dist/all_reduce.axe" ring M=10
    check 'kernel, all-to-all' 0 'check row: ok, 270 elements' \
        $run -n 3 $K "$SRC/kernels/dist/all2all.axe" dispatch T=11 H=5 S=2 C=6 E=7
    # 72 bytes of counts for each of two statements, 56 of experts; 4 rows of 5 and their experts
    "${PYTHON:-python3}" -c "import numpy as np
np.save('$tmp/x', np.ones((7, 5), 'f4'))
np.save('$tmp/pick', np.array([[0], [1], [4], [4], [6], [2], [0]], 'i4'))"
    check 'kernel, rows that there are' 0 'moved    296 bytes between devices, as planned' \
        $run -n 3 "$AXE" run --timeout 60 --check "$SRC/kernels/dist/all2all.axe" dispatch \
        X="$tmp/x.npy" pick="$tmp/pick.npy" slot="$tmp/s.npy" row="$tmp/r.npy" \
        expert="$tmp/e.npy" count="$tmp/c.npy" used="$tmp/u.npy" C=6 E=7
    check 'kernel, two axes' 0 'check Y: ok, 70 elements' \
        $run -n 4 $K "$SRC/kernels/dist/reshard.axe" swap R=10 C=7 N=2 P=2
    # 4 steps, in which 29 rows of 40, 10 of them each, have 4 of neighbours' rows
    check 'kernel, borders' 0 'moved    2560 bytes between devices, as planned' \
        $run -n 3 $K "$SRC/kernels/dist/stencil.axe" heat N=1 H=29 W=40
    # around, of 6 rows
    check 'kernel, borders around' 0 'moved    3840 bytes between devices, as planned' \
        $run -n 3 $K "$SRC/kernels/dist/stencil.axe" ring N=1 H=29 W=40
    check 'kernel, a torus' 0 'check Y: ok, 2376 elements' \
        $run -n 4 $K "$SRC/kernels/dist/stencil.axe" life N=2 P=2 H=54 W=44
    check 'kernel, corners' 0 'check Y: ok, 2376 elements' \
        $run -n 4 $K "$SRC/kernels/dist/stencil.axe" blur N=2 P=2 H=54 W=44
    check 'kernel, layer' 0 'check Y: ok, 140 elements' \
        $run -n 3 $K "$SRC/kernels/dist/transformer.axe" T=7 H=20 A=5 D=4 F=26
    check 'kernels that differ' 1 'ranks differ in what they launch: rank 0 has total of text ' \
        $run -n 3 bash -c "exec $AXE run --timeout 60 --random $tmp/\$(($rank == 2)).axe M=9 N=4"
    while read -r rest first other; do
        check "launches that differ, $rest" 1 \
            "ranks differ in what they launch: rank 0 has ${first//_/ }, rank 1 has ${other//_/ }" \
            $run -n 2 bash -c "exec $AXE run --timeout 60 --random $tmp/scaled.axe M=9 alpha=2 \
                \$([ \$$rank = 1 ] && echo $rest)"
    done <<'EOF2'
--no-overlap overlap no_overlap
--time=3 no_runs_timed 3_runs_timed
EOF2
    # which MPI's and shared memory's ranks say alike, before they meet in memory of two sizes
    for engine in $mpi shm; do
        check "numbers that differ, $engine" 1 \
            'ranks differ in what they launch: rank 0 has alpha = 2, rank 2 has alpha = 2.5' \
            $run -n 3 bash -c "exec $AXE run --engine $engine --timeout 60 --random $tmp/scaled.axe \
                M=9 alpha=2\$([ \$$rank = 2 ] && echo .5)"
        check "sizes that differ, $engine" 1 'ranks differ in what they launch: rank 0 has M = 9, rank 1 has M = 9000000' \
            $run -n 3 bash -c "exec $AXE run --engine $engine --timeout 60 --random $tmp/scaled.axe \
                alpha=2 M=9\$([ \$$rank = 1 ] && echo 000000)"
    done
    if [ -n "$package" ]; then
        check 'kernel, from Python' 0 "[(0, '$mpi', [15.0, 15.0]), (1, '$mpi', [15.0, 15.0])]" \
            $run -n 2 env PYTHONPATH="$package" "$python" "$tmp/k.py"
    fi
    awk 'NR % 60 == 1' "$SRC/tests/vectors/reshard.jsonl" >"$tmp/some"
    "${PYTHON:-python3}" "$SRC/tests/reshard_run.py" "$AXE" "$tmp/some" \
        $run -n {} || failed=1
done
[ $n -gt 0 ] || exit 77

mpi=none
check launcher 1 'its own launcher starts the ranks, as in mpirun' \
    $R --engine openmpi --mesh x=2 4@x 4
exit $failed
