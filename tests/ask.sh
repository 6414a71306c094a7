# shellcheck shell=bash
# ask.sh - to be read in the folder whose files programs name.
#
# ask PROGRAM: what Python prints of it; status 1 where it raises.
coproc ASKED { exec "$PYTHON" "$SRC/tests/ask.py"; }

ask() {
    local said
    printf '%s\0' "$1" >&"${ASKED[1]}" &&
        IFS= read -r -d '' said <&"${ASKED[0]}" || return
    printf '%s' "${said%?}"
    [ "${said: -1}" = 0 ]
}
