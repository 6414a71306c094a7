#!/usr/bin/env bash
# axe check: all errors of all kernels of the files, and the exit codes.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
n_bad=0

# is CODE WANT COMMAND...: exit code, and all that is printed.
is() {
    local code=$1 want=$2
    shift 2
    got=$("$@" 2>&1)
    local st=$?
    [ $st = "$code" ] && [ "$got" = "$want" ] && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $*: exit $st, not $code; printed:"
    echo "$got"
}

"$AXE" check "$SRC"/kernels/*.axe >out 2>&1 || { cat out; n_bad=1; }
grep -q "gemm.axe: 1 kernel, no errors" out || { cat out; n_bad=1; }

cat >two.axe <<'EOT'
fn clear(f32 x[M]) { index m; x[m] = nothing; }
kernel a(in f32 X[M], out f32 Y[M]) { index m; clear(Y); Y[m] = X[n]; }
kernel b<B = 8>(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by B) Y[i*B + m] = X[i*B + m]; }
kernel c(in f32 X[M], out f32 Y[M]) { index m; Y[m] = X[m]; }
EOT
want="two.axe: errors in 2 of 3 kernels
two.axe:1:38: error: unknown name \`nothing\`
    1 | fn clear(f32 x[M]) { index m; x[m] = nothing; }
      |                                      ^~~~~~~
  two.axe:2:48: note: in \`clear\`, called here
    2 | kernel a(in f32 X[M], out f32 Y[M]) { index m; clear(Y); Y[m] = X[n]; }
      |                                                ^~~~~~~~
two.axe:2:67: error: unknown name \`n\`
    2 | kernel a(in f32 X[M], out f32 Y[M]) { index m; clear(Y); Y[m] = X[n]; }
      |                                                                   ^
  help: if it is an index, declare it: \`index n;\`
two.axe:4:48: error: a statement outside any scope: nobody runs it; put it in a cta scope
    4 | kernel c(in f32 X[M], out f32 Y[M]) { index m; Y[m] = X[m]; }
      |                                                ^~~~~~~~~~~"
is 1 "$want" env NO_COLOR=1 "$AXE" check two.axe

# 2^64 entities are none, and not 2^62
cat >crew.axe <<'EOT'
kernel k(in f32 X[64], out f32 Y[64])
{
    index m;

    cta (i : 1) warp (v : 4611686018427387904, w : 4) {
        reg f32 x[64];
        x[m] = X[m];
        if (w == 0 && v == 0) Y[m] = x[m];
    }
}
EOT
"$AXE" check -t sm_90a crew.axe >out 2>&1 && n_bad=1
grep -q 'entities of a scope in a cta must be a constant; this one is 4611686018427387904' out ||
    { cat out; n_bad=1; }
grep 'kernel b' two.axe >one.axe
is 0 "one.axe: 1 kernel, no errors" "$AXE" check one.axe
is 0 "one.axe: 1 kernel, no errors" "$AXE" check --set B=16 one.axe
is 1 "one.axe: errors in 1 of 1 kernel
one.axe:1:69: error: a tile has at least 1 element, not 0
$(sed 's/^/    1 | /' one.axe)
      |                                                                     ^" \
    env NO_COLOR=1 "$AXE" check --set B=0 one.axe
is 2 "axe check: --set Q: no kernel has it
  help: 'axe check --help' explains
one.axe: 1 kernel, no errors" "$AXE" check --set Q=1 one.axe
is 2 "axe check: a kernel file is missing
  help: 'axe check --help' explains" "$AXE" check
is 1 "one.axe: 1 kernel, no errors
error: none.axe: cannot open: No such file or directory
  help: check the name; relative ones begin at the current directory" \
    "$AXE" check none.axe one.axe

# A kernel for one machine is checked for it, one for a family as far as its IR.
for target in sm_90a nvidia sm_9; do
    sed "s/{ index/target $target { index/" one.axe >$target.axe
done
is 0 "sm_90a.axe: 1 kernel, no errors" "$AXE" check sm_90a.axe
is 0 "nvidia.axe: 1 kernel, no errors" "$AXE" check nvidia.axe
is 0 "nvidia.axe: 1 kernel, no errors" "$AXE" check -t sm_80 nvidia.axe
is 1 "sm_9.axe: errors in 1 of 1 kernel
error: there is no machine 'sm_9'
  help: did you mean 'sm_90a'?" "$AXE" check sm_9.axe
is 1 "sm_90a.axe: errors in 1 of 1 kernel
sm_90a.axe:1:8: error: kernel b is for sm_90a, not for cpu-avx2
$(sed 's/^/    1 | /' sm_90a.axe)
      |        ^
  help: name sm_90a as the target, or take \`target sm_90a\` away" \
    env NO_COLOR=1 "$AXE" check -t cpu-avx2 sm_90a.axe

# What has a plan and no text is found, and -t all says for which machine.
cat >wide.axe <<'EOT'
kernel w(in f32 X[M], out f32 Y[M])
{
    index m;
    cta (i : M by 64) { shared f32 x[64, 1024]; x[m, k] = X[i*64 + m]; Y[i*64 + m] = x[m, 3]; }
}
EOT
sed -i 's/index m;/index m, k;/' wide.axe
got=$("$AXE" check -t all wide.axe 2>/dev/null)
[ "$got" = "w: errors for sm_80
w: errors for sm_90a
w: errors for sm_100a
w: errors for opencl
w: errors for opencl-sg8
w: errors for opencl-sg16
w: errors for opencl-sg32
w: errors for opencl-sg64
w: errors for opencl-xe-hpg
w: errors for opencl-xe-hpc
wide.axe: errors in 1 of 1 kernel" ] || { echo "$got"; n_bad=$((n_bad + 1)); }
is 0 "sm_90a.axe: 1 kernel, no errors" "$AXE" check -t all sm_90a.axe
# What else is said: an axis of another machine; an error of an `fn` once; a
# size that is missing; options that are misspelt; machines; a swizzle drawn.
cat >axis.axe <<'EOT'
kernel k(in f32 X[M, 16], out f32 Y[M, 16])
{
    index m, n;
    cta (i : M by 16) {
        reg f32 x[16, 16] : (16, 16) : (16, 1@vlane);
        x[m, n] = X[i*16 + m, n];
        Y[i*16 + m, n] = x[m, n];
    }
}
EOT
is 1 "axis.axe: errors in 1 of 1 kernel
axis.axe:5:47: error: there is no axis 'vlane' here: it is one of cpu
    5 |         reg f32 x[16, 16] : (16, 16) : (16, 1@vlane);
      |                                               ^~~~~
  help: name a machine of these as the target, or lay it out over the axes of this one" \
    env NO_COLOR=1 "$AXE" check -t sm_80 axis.axe
cat >default.axe <<'EOT'
kernel k<B = 8>(in f32 X[M], out f32 Y[M]) default cpu (B = 16) default sm_90 (B = 64)
{ index m; cta (i : M by B) Y[i*B + m] = X[i*B + m]; }
EOT
is 0 "default.axe: 1 kernel, no errors
default.axe:1:73: warning: no machine is called \`sm_90\`, so that these values are never taken
    1 | kernel k<B = 8>(in f32 X[M], out f32 Y[M]) default cpu (B = 16) default sm_90 (B = 64)
      |                                                                         ^~~~~
  help: did you mean \`sm_90a\`?" env NO_COLOR=1 "$AXE" check default.axe
cat >once.axe <<'EOT'
fn twice(f32 x[N]) { index n; x[n] = x[n] * zz; }
kernel k(in f32 X[M], inout f32 Y[M], inout f32 Z[M]) { twice(Y); twice(Z); }
EOT
is 1 "once.axe: errors in 1 of 1 kernel
once.axe:1:45: error: unknown name \`zz\`
    1 | fn twice(f32 x[N]) { index n; x[n] = x[n] * zz; }
      |                                             ^~
  once.axe:2:57: note: in \`twice\`, called here
    2 | kernel k(in f32 X[M], inout f32 Y[M], inout f32 Z[M]) { twice(Y); twice(Z); }
      |                                                         ^~~~~~~~" \
    env NO_COLOR=1 "$AXE" check once.axe
cat >twice.axe <<'EOT'
fn half(f32 x[N]) { index n; x[n] = 1 * (f16(1.5) + x[n]); }
kernel k(in f32 X[M], inout f32 Y[M], inout f32 Z[M]) { half(Y); half(Z); }
EOT
[ "$("$AXE" check twice.axe 2>&1 | grep -c 'error: ')" = 1 ] || {
    n_bad=$((n_bad + 1))
    echo "FAILED: an error of an fn told once per call"
    "$AXE" check twice.axe
}
got=$("$AXE" run "$SRC/kernels/gemm.axe" --random M=3 2>&1 | tail -1)
[ "$got" = "  help: give K=512, N=512" ] || { n_bad=1; echo "FAILED: $got"; }
is 2 "axe run: unrecognized option '--rnadom'
  help: did you mean '--random'?" "$AXE" run --rnadom
is 2 "axe explain: unrecognized option '--tagret=x'
  help: did you mean '--target'?" "$AXE" explain --tagret=x
is 2 "axe view: option '--width' requires an argument
axe view: wrong option
  help: 'axe view --help' explains" "$AXE" view --width
for word in cpu-avx2 sm_80 sm_90a sm_100a; do
    "$AXE" help targets | grep -q "^  $word  *[a-z]" ||
        { n_bad=1; echo "FAILED: $word is not among the targets"; }
done
[ "$("$AXE" help fmt)" = "$("$AXE" fmt --help)" ] || { n_bad=1; echo "FAILED: axe help fmt"; }
is 2 "axe: there is no verb 'fmr'
  help: did you mean 'fmt'?" "$AXE" help fmr
got=$("$AXE" view --type f16 'swizzle(32) o (16, 16) : (16, 1)' | sed -n 9p)
[ "$got" = " 4 |  72  73  74  75  76  77  78  79  64  65  66  67  68  69  70  71" ] ||
    { n_bad=1; echo "FAILED: $got"; }
is 2 "axe view: --type f17: no such type
  help: 'axe view --help' explains" "$AXE" view --type f17 '(4) : (1)'
exit $((n_bad > 0))
