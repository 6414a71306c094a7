#!/bin/sh
# why.sh - `axe why`: exact answers, exit codes, JSON.  Given: AXE the command.
set -u

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# says NAME CODE COMMAND... : prints exactly what standard input holds.
says() {
    name=$1 code=$2
    shift 2
    cat >"$tmp/want"
    "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$code" ] || ! cmp -s "$tmp/want" "$tmp/out"; then
        echo "FAILED $name: exit $got, wanted $code"
        diff "$tmp/want" "$tmp/out" | sed 's/^/    /'
        failed=1
    fi
}

says equal 0 "$AXE" why '(2, 3) : (3, 1)' '(3, 2) : (2, 1)' <<'END'
equal: the same points at all 6 indices
  normal forms:
    A (6) : (1)
    B (6) : (1)
END
says units 1 "$AXE" why 'swizzle(128) o (8, 64) : (64, 1)' 'swizzle<3, 3, 3> o (8, 64) : (64, 1)' <<'END'
different in elements of some widths: a swizzle counts in units of its own
  equal on elements of 16 bits
  different on elements of 4, 8, 32, 64, 128 bits
END
says digits 1 "$AXE" why '(2, 3) : (3, 1)' '(2, 3) : (4, 1)' <<'END'
different in the steps of their digits
  at index 3, (1, 0):
    A has it at (3)
    B has it at (4)
  normal forms:
    A (6) : (1)
    B ((2, 3)) : ((4, 1))
END
says size 1 "$AXE" why '(4) : (1)' '(5) : (1)' <<'END'
different in how many indices they have
  at index 4:
    A has it at no place
    B has it at (4)
  normal forms:
    A (4) : (1)
    B (5) : (1)
END
says copies 1 "$AXE" why '(4) : (1) + [2 : 4@warp]' '(4) : (1) + [2 : 8@warp]' <<'END'
different in their copies
  at index 0:
    A has it at (0, 0@warp) (0, 4@warp)
    B has it at (0, 0@warp) (0, 8@warp)
  normal forms:
    A (4) : (1) + [2 : 4@warp]
    B (4) : (1) + [2 : 8@warp]
END
says sizes 1 "$AXE" why '(4) : (K)' '(4) : (M)' <<'END'
different in the steps of their digits
  no index shows it in plain numbers
  normal forms:
    A (4) : (K)
    B (4) : (M)
END
says tile-of 1 "$AXE" why tile-of '(16) : (1) | (4, 4)' '(2, 2) : (4, 1)' <<'END'
refused: tile of: in dim 0, stride 8 on axis m is no multiple of the inner span 6
  a tile begins at index 2, (0, 2), 2 from the first one on m, no multiple of the span 6
END
says inside 1 "$AXE" why tile-of '(2, 2) : (1, 2)' '(1, 2) : (0, 1)' <<'END'
refused: tile of: in dim 1, the tiled layout has (2) : (2) where the inner layout has (2) : (1)
  index 1, (0, 1) is 2 from the first of its tile, index 0, (0, 0), on m; in the inner layout it is 1
END
says possible 0 "$AXE" why -m nvidia tile-of '(128) : (1@tx)' '(32) : (1@laneid)' <<'END'
possible: (4) : (1@warp)
END
says nested 1 "$AXE" why -m nvidia tile-of '(128) : (2@tx)' '(32) : (1@laneid)' <<'END'
refused: tile of: in dim 0, the tiled layout has ((2, 16)) : ((1@warp, 2@lane)) where the inner layout has (32) : (1@lane)
  index 1 is 2 from the first of its tile, index 0, on lane; in the inner layout it is 1
END
says slice 1 "$AXE" why '((2, 2) : (2@a, 1@b) | (4))[1:3]' <<'END'
refused: slice: no layout is [1, 3) of dim 0 of ((2, 2)) : ((2@a, 1@b)): where iter 1, extent 2, wraps, it moves on two axes at once
  help: begin and end at multiples of 2, or stay between two of them
END
says injective 1 "$AXE" why injective '(2, 2) : (1, 1)' <<'END'
no
  indices 1 and 2 share a point: (1)
END
says yes 0 "$AXE" why injective '(2, 2) : (2, 1)' <<'END'
yes
END
says misspelt 1 "$AXE" why 'cannon((2) : (1))' <<'END'
refused: there is no layout, constant or function 'cannon'
  help: did you mean 'canon'?
END
says json 1 "$AXE" why --json '(2, 3) : (3, 1)' '(1, 2, 3) : (0, 2, 1)' <<'END'
{"verdict":"different","part":"the steps of their digits","index":3,"least":true,"a":"(3)","b":"(2)","form_a":"(6) : (1)","form_b":"((2, 3)) : ((2, 1))"}
END
says json-refused 1 "$AXE" why --json group '(4, 6) : (7, 1)' '(6, 4)' <<'END'
{"verdict":"refused","code":"ESHAPE","reason":"group: (4, 6) : (7, 1) cannot be cut into (6, 4): at iter 0, extent 4 and the 6 still needed do not divide one another","notes":["in this expression"]}
END
says no-function 2 "$AXE" why a b c <<'END'
axe why: there is no function 'a' of layouts
  help: 'axe why --help' explains
END
says nothing 2 "$AXE" why <<'END'
axe why: two layouts, or an expression, are missing
  help: 'axe why --help' explains
END
says no-layout 1 "$AXE" why 3 '(2) : (1)' <<'END'
error: A is no layout but 3
END

exit $failed
