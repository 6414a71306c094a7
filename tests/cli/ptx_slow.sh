#!/usr/bin/env bash
# ptx_slow.sh - printed kernels run as nvcc's front end leaves them: `axe run`
# with a driver that executes PTX (tests/ptx), so that launches and tensor maps
# are those of a GPU.
#
# Every other kernel of tests/sim.list against the reference, each in one of its
# types on one machine, by turns, those with roles or clusters in two orders; boxes
# of an array without elements, which the launch makes a map of; every
# fourth run of tests/kernels.py for one machine against NumPy; and every third of
# the changes of tests/ptx.list, which must be found (PTX_ALL=1: all of these).
# Arguments: kernels, instead of all, on each machine.
set -u
wide="gemm softmax permute_acb scatter_add_rows row_argmax scan" # those, too
row_number=0 line=0
signs=gemm_nvfp4_sm100 # random scales of e4m3 have some, those of tensor cores have none
lib=$(dirname "$AXE")/tests/libptx_cuda.so
export AXE_CUDA=$lib AXE_NVRTC=$lib PTX=1
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache

# MACHINE FILE KERNEL ARGUMENT...
run() {
    local name=sm_$1 file=$2
    [ "$1" = 80 ] || name+=a
    shift 2
    PTX_CC=${name//[^0-9]/} "$AXE" run "$SRC/kernels/$file.axe" "$@" -t "$name" \
        --random --check --no-tuned 2>&1
}

# MACHINE FILE KERNEL SIZES...: says what is wrong, and nothing else.
one() {
    local orders=$(($(cksum <<<"$*" | cut -c 1-5) % 5)) said
    [[ $2 == *_sm* || $2 == *cluster* ]] && orders="0 $((1 + orders % 4))"
    for o in $orders; do
        said=$(PTX_ORDER=$o run "$@") && [[ $said != *"no error bound"* ]] &&
            continue
        echo "FAILED in order $o: $*"
        echo "$said" | cut -c1-600
        return
    done
}

# CHANGE MACHINE FILE KERNEL SIZES...: says that it was not found.
change() {
    local said
    export PTX_CHANGE=$1
    shift
    for o in 1 0 2 3 4; do
        said=$(PTX_ORDER=$o run "$@") && continue
        [[ $said == *"WRONG"* || $said == *LAUNCH_FAILED* ]] && return
        echo "FAILED: $PTX_CHANGE cannot be made: ${said:0:300}"
        return
    done
    echo "FAILED: $PTX_CHANGE of $3 was not found"
}
export -f run one change

run 80 elementwise add M=4 N=8 >out || {
    cat out
    grep -q "there is no NVRTC\|NVRTC gives no" out && exit 77
    exit 1
}
grep -v '^#' "$SRC/tests/sim.list" | while read -r file kernel on types sizes; do
    [ $# = 0 ] || [[ " $* " == *" $kernel "* ]] || continue
    [[ $kernel != "$signs" || $sizes == *S=f8e8m0* ]] || continue
    [ $# != 0 ] || [ -n "${PTX_ALL-}" ] || ((++line % 2)) || continue
    IFS=, read -ra type <<<"$types"
    machines=(${on//,/ })
    [ $# != 0 ] || [ -n "${PTX_ALL-}" ] || [[ " $wide " == *" $kernel "* ]] ||
        machines=("${machines[row_number++ % ${#machines[@]}]}")
    for m in "${machines[@]}"; do
        n=$((${n:-0} + 1))
        t=${type[n % ${#type[@]}]}
        [ "$t" = - ] && t= # and no blank at the end, which joins lines
        row="$m $file $kernel ${sizes/ --sms [0-9]/}${t:+ --set T=$t}"
        echo "$row"
        [ "$m" != 80 ] || [[ " $wide " != *" $kernel "* ]] || echo "$row --wide"
    done
done >list
while read -r row; do
    [ $# != 0 ] && [[ " $* " != *" $(cut -d' ' -f3 <<<"$row") "* ]] || echo "$row"
done >>list <<'END'
90 ../tests/sim/empty_boxes empty_boxes M=70 Z=0
100 ../tests/sim/empty_fourths empty_fourths M=140 N=136 K=512 E=0 P=2 Q=2 R=4
END
xargs -r -P 2 -L 1 bash -c 'one "$@"' one <list >said
bad=$(grep -c '^FAILED' said)
[ $# != 0 ] || PTX_CC=80 "$PYTHON" "$SRC/tests/corners/corners.py" "$AXE" \
    "$SRC/tests/corners" ptx_80 || bad=$((bad + 1))
cat said
echo "$(wc -l <list) kernels, $bad are wrong"

[ $# != 0 ] || [ -n "${PTX_ALL-}" ] || export AXE_SHARE=4
"$PYTHON" "$SRC/tests/kernels.py" "$@" >said || bad=1
cat said
if [ $# != 0 ]; then
    [ -s list ] || ! grep -q '^0 runs' said || { echo "no kernel here is called $*"; bad=1; }
    exit "$((bad > 0))"
fi
what=
while IFS= read -r line; do
    case $line in
    '#'*) ;;
    ' '*) printf '%s\0%s\0' "${line#    }" "$what" ;;
    *) what=$line ;;
    esac
done <"$SRC/tests/ptx.list" >all
awk -v RS='\0' -v ORS='\0' -v every="$([ -n "${PTX_ALL-}" ] && echo 1 || echo 3)" \
    'int((NR - 1) / 2) % every == 0' all >changes
xargs -0 -P 2 -n 2 bash -c 'change "$1" $2' change <changes >said
cat said
echo "$(($(tr -cd '\0' <changes | wc -c) / 2)) changes, $(grep -c '^FAILED' said) were not found"
[ "$bad" = 0 ] && [ ! -s said ]
