#!/usr/bin/env bash
# files.sh - outputs: modes, links, leftovers, names that cannot be meant; and
# what of outside texts reaches a terminal.
# Given: AXE the command, SRC the sources.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export AXE_CACHE=$tmp/cache
n_bad=0

# is WHAT COMMAND...: it succeeds.
is() {
    local what=$1
    shift
    "$@" && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $what: $*"
}

# no CODE TEXT COMMAND...: exit code, and TEXT on standard error.
no() {
    local code=$1 want=$2 got st
    shift 2
    got=$(timeout -k 1 20 "$@" 2>&1 >/dev/null)
    st=$?
    [ $st = "$code" ] && [[ $got == *"$want"* ]] && return
    n_bad=$((n_bad + 1))
    echo "FAILED: $*: exit $st, not $code, or not '$want'; printed:"
    echo "${got:0:1000}"
}

cat >k.axe <<'EOT'
kernel k(in f32 X[M], out f32 Y[M], out f32 Z[M])
{
    index m;
    cta (i : M by 8) { Y[i*8 + m] = X[i*8 + m]; Z[i*8 + m] = X[i*8 + m]; }
}
EOT
run() { "$AXE" run k.axe --random M=9 "$@" >/dev/null; }

# ------------------------------------------------------------ modes, links
(umask 077 && run Y=new.npy)
is "a new file is as the umask says" [ "$(stat -c %a new.npy)" = 600 ]
for mode in 640 604 755; do
    chmod $mode new.npy
    run Y=new.npy
    is "it keeps its mode" [ "$(stat -c %a new.npy)" = $mode ]
done
ln -s new.npy link.npy
cp k.axe new.npy
run Y=link.npy
is "a link stays one" [ -L link.npy ]
is "what it leads to is written" cmp -s -n 6 new.npy <(printf '\223NUMPY')
mkdir there
ln -s there/later.npy dangling.npy
run Y=dangling.npy
is "a link to nothing stays one" [ -L dangling.npy ]
is "what it leads to is made" [ -s there/later.npy ]
ln -s loop.npy loop.npy
no 1 "loop.npy: cannot create" "$AXE" run k.axe --random M=9 Y=loop.npy
if [ "$(id -u)" != 0 ]; then
    chmod 400 new.npy
    no 1 "cannot create" "$AXE" run k.axe --random M=9 Y=new.npy
    chmod 600 new.npy
fi

# ------------------------------------------------- what killed ones leave
: >new.npy.123.0.tmp
: >new.npy.123.x.tmp
: >other.npy.123.0.tmp
run Y=new.npy
is "a killed writer's file goes" [ ! -e new.npy.123.0.tmp ]
is "others stay" [ -e new.npy.123.x.tmp ]
is "others stay" [ -e other.npy.123.0.tmp ]
exec 9>new.npy.123.0.tmp
flock 9 && run Y=new.npy
is "a living writer's stays" [ -e new.npy.123.0.tmp ]
exec 9>&-

# --------------------------------------------------- outputs that clash
no 1 "Y=a.npy and Z=a.npy: two outputs to one file" \
    "$AXE" run k.axe --random M=9 Y=a.npy Z=a.npy
is "and nothing is written" [ ! -e a.npy ]
no 1 "two outputs to one file" "$AXE" run k.axe --random M=9 Y=a.npy Z=there/../a.npy
no 1 "two outputs to one file" "$AXE" run k.axe --random M=9 Y=new.npy Z=link.npy
is "both to nowhere" "$AXE" run k.axe --random M=9 Y=/dev/null Z=/dev/null >/dev/null
cp k.axe keep.axe
no 2 "'k.axe' does not end in .c" "$AXE" compile k.axe -o k.axe
no 1 "k.axe is what is read" "$AXE" compile k.axe --emit c -o ./k.axe
no 2 "'k.xyz' does not end in .c, .h, .o, .a, .cu, .cubin, .cl, .spv or .py" "$AXE" compile k.axe -o k.xyz
no 2 "does not end in" "$AXE" compile k.axe -o k
no 1 ".py files are for a Trainium" "$AXE" compile k.axe -o k.py
is "and nothing is written" [ ! -e k.py ]
is "a Trainium's text" "$AXE" compile k.axe -t trn1 -o k.py
is "it is Python" grep -q '^@nki.jit' k.py
no 1 "no host's part in C" "$AXE" compile k.axe -t trn1 -o t.c
is "and nothing is written" [ ! -e t.c ]
no 2 "'two.c': an output of that kind" "$AXE" compile k.axe -o one.c two.c
no 2 "'k.xyz' is named beside" "$AXE" compile k.axe -o k.c -o k.xyz
is "the kernel is as it was" cmp -s k.axe keep.axe
is "any name with --emit" "$AXE" compile k.axe --emit plan -o plan.xyz
cp k.axe k.c
no 1 "k.c is what is read" "$AXE" compile k.c -o k.c

# --------------------------------------------------------- endless files
no 1 "/dev/zero: it does not end" "$AXE" check /dev/zero
no 1 "" "$AXE" run k.axe X=/dev/zero
no 1 "a request does not end" "$AXE" eval < /dev/zero
is "a text from a pipe" "$AXE" check <(cat k.axe) >/dev/null

# --------------------------------------------------------------- escapes
esc=$(printf '\033]0;x\007\033[31m\302\233m')
plain() {
    local got
    got=$("$@" 2>&1)
    if printf %s "$got" | LC_ALL=C grep -q "$(printf '\033\\|\007\\|\302\233')"; then
        n_bad=$((n_bad + 1))
        echo "FAILED: control bytes: $* printed:"
        printf %s "$got" | cat -v
    fi
}
cp k.axe "k$esc.axe"
printf 'kernel k(in f32 X[M]) { %s }\n' "$esc" >"bad$esc.axe"
plain "$AXE" check "k$esc.axe"
plain "$AXE" check "bad$esc.axe"
plain "$AXE" check "none$esc.axe"
plain "$AXE" "$esc"
plain "$AXE" run k.axe "$esc=1"
plain "$AXE" run k.axe --random M=9 "Y=y$esc.npy"
plain "$AXE" compile k.axe -o "k$esc.xyz"
plain "$AXE" fmt --check "bad$esc.axe"
plain "$AXE" layout "(2) : (1) $esc"
plain env AXE_CC="none$esc" "$AXE" run k.axe --random M=11

[ $n_bad = 0 ] || exit 1
