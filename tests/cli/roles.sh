#!/usr/bin/env bash
# kernels/gemm_sm90.axe in other orders, clusters, stages, simulated with few
# blocks that stay, against the reference.
set -u
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=$PWD/cache
n_bad=0

# EDIT [--set NAME=VALUE]...
sim() {
    local edit=$1
    shift
    sed -E "$edit" "$SRC/kernels/gemm_sm90.axe" >k.axe
    "$AXE" sim k.axe --random M=700 N=200 K=72 --sms 3 --policy 1 --check \
        --set BN=64 "$@" >out 2>&1 && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $edit $*"
    head -n 20 out
}

sim 's/group = 8/hilbert/'
sim 's/, group = 8//'
sim 's/persistent //'
sim 's/cluster \(CLUSTER\) //; s/ : auto \+ .*;/;/'
sim '' --set CLUSTER=1
sim '' --set CLUSTER=4
sim '' --set STAGES=2
sim 's/group = 8/group = 4/' --set CLUSTER=4 --set BK=32
[ $n_bad = 0 ]
