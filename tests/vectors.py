#!/usr/bin/env python3
"""Feed files of layout vectors to `axe eval` and judge its answers.

    vectors.py AXE FILE...

A vector is a line {"id", "op", "in", "out"}; "out": {"fail": true} asks for an
error.  Layouts are compared as maps over the same domain, twice: by asking axe
(`equal`), and without it, by enumerating both here.  Vectors that contradict
the definition of the induced map are listed in OVERRULED with the reason.
Descriptors are compared but for bits that the hardware does not observe; what
our machines do not have, by `lacks`, must be EUNSUPPORTED, and nothing else.
Prints a table per file and operation; the exit status says whether any failed.
"""

import itertools
import json
import os
import subprocess
import sys
from collections import Counter

ENUMERATE = 4096  # indices times replicas

# id -> why the definition and not the vector decides
OVERRULED = {
    "tvm-swz-is_tile_inner-007": "tiled has 256 elements and is given the shape "
    "(64, 32): it is no layout of that shape",
}

# What a refusal may be: the operation's own, not a misread request.
REFUSALS = {"ESHAPE", "EOVERFLOW"}


# ------------------------------------------------- the definition, in Python


def is_layout(v):
    return isinstance(v, dict) and ("D" in v or "swizzle" in v)


def parts(layout):
    if "swizzle" in layout:
        return layout["tile"], layout["swizzle"]
    return layout, None


def size(layout):
    tile, _ = parts(layout)
    n = 1
    for extent, _, _ in tile["D"]:
        n *= extent
    return n


def swizzled(s, x):
    ones = (1 << s["swizzle_len"]) - 1
    high = x >> s["per_element"]
    low = x & ((1 << s["per_element"]) - 1)
    if s["inner"]:
        high ^= (high & (ones << s["atom_len"])) >> s["atom_len"]
    else:
        high ^= (high & ones) << s["atom_len"]
    return high << s["per_element"] | low


def point(coord, swizzle):
    if swizzle:
        coord["m"] = swizzled(swizzle, coord.get("m", 0))
    return frozenset((a, v) for a, v in coord.items() if v != 0)


def points(layout, x):
    """The set that index x has, each point without its zero coordinates."""
    tile, swizzle = parts(layout)
    base = dict(tile.get("O", {}))
    for extent, stride, axis in reversed(tile["D"]):
        base[axis] = base.get(axis, 0) + x % extent * stride
        x //= extent
    out = set()
    replicas = tile.get("R", [])
    for r in itertools.product(*(range(e) for e, _, _ in replicas)):
        c = dict(base)
        for k, (_, stride, axis) in zip(r, replicas):
            c[axis] = c.get(axis, 0) + k * stride
        out.add(point(c, swizzle))
    return out


def n_replica(layout):
    n = 1
    for extent, _, _ in parts(layout)[0].get("R", []):
        n *= extent
    return n


def small(layout):
    return size(layout) * n_replica(layout) <= ENUMERATE


def same_map(a, b):
    return size(a) == size(b) and all(
        points(a, x) == points(b, x) for x in range(size(a))
    )


# ----------------------------------------------------------------- judgement


def no_units(blocks):
    return [[it for it in b if it[0] != 1] for b in blocks]


def tensor_core(got):
    """The paper's example writes a point as one number."""
    weights = {"warp": 10**6, "lane": 10**3, "reg": 1}
    return [sorted(sum(weights[a] * v for a, v in p.items()) for p in s) for s in got]


def sets(v):
    return [set(frozenset(map(tuple, p)) for p in s) for s in v]


def judge(case, got, same):
    """Is `got` what the vector wants?  same(a, b) compares two layouts."""
    op, want = case["op"], case["out"]
    if op == "group" and isinstance(want, dict):
        return no_units(got["blocks"]) == no_units(want["blocks"])
    if op == "group":
        return got["seps"] == want[1] and got["layout"]["D"] == want[0]["D"]
    if op == "group_many":
        return got[1] == want[1] and got[0]["D"] == want[0]["D"]
    if op == "select":
        return got["offset"] == want["offset"] and same(got["layout"], want["layout"])
    if op == "apply" and case["in"].get("set_valued"):
        return tensor_core(got) == want
    if op == "apply_set":
        return sets(got) == sets(want)
    if is_layout(want):
        return is_layout(got) and same(got, want)
    return type(got) is type(want) and got == want


# ------------------------------------------------- what our machines lack
# The same list as in docs/eval.md, written from what is asked.


def lacks_type(v):
    small = [v.get(t) for t in ("dtype", "a", "b")]
    if any(t in ("e2m3", "e3m2") for t in small):
        return "elements of 6 bits"
    if v.get("dtype") == "e2m1" and v["bits"] == 8:
        return "e2m1 in bytes"
    if v.get("kind", "") in ("f8f6f4", "mxf8f6f4") and "e2m1" in small:
        return "e2m1 in bytes"
    if v.get("kind") == "mxf4nvf4" and v.get("scale") == "ue8m0":
        return "ue8m0 for 16"
    return None


def lacks_columns(v):
    """Widths that no row has."""
    if "vec" in v:
        return "columns with scales not by 32" if v["N"] % 32 else None
    if v.get("kind") == "i8":
        return "columns of i8 not by 16" if v["N"] % 16 else None
    if "mma" in v and v["dtype"] in ("s8", "u8") and v["mma"][0] % 16:
        return "columns of i8 not by 16"
    if "mma" in v and v["dtype"] == "e2m1" and v["mma"][0] % 16:
        return "columns with scales not by 32, by 16 in each of two CTAs"
    return None


def lacks(case):
    """Why no machine of ours has it, or None."""
    op, v = case["op"], case["in"]
    if op.startswith("scale_"):
        whole = v.get("memory") == "global" or v["rows"] % 128 == 0
        return None if whole else "rows that fill no copy"
    if lacks_type(v) or lacks_columns(v):
        return lacks_type(v) or lacks_columns(v)
    if v.get("kind") == "f8f6f4" and v["d"] == "f16":
        return "sums of f16 of 8-bit factors"
    if v.get("swizzle_atom") == 32:
        return "swizzles of 32 bytes"
    if v.get("negate", [0, 0]) != [0, 0] or v.get("saturate"):
        return "negated factors, saturated sums"
    if v.get("a") == "tf32" and "MN" in (v["a_major"], v["b_major"]):
        return "tf32 with k slow"
    return None


def same_bits(want, got, mask):
    return (int(want, 16) ^ int(got, 16)) & ~int(mask, 16) == 0


def judge_machine(op, want, got):
    """Equal, but for bits of descriptors that are not observed."""
    if not isinstance(got, dict) or want.keys() != got.keys():
        return False
    mask = want.get("dont_care", "0")
    pairs = [(want, got)]
    if op == "scale_copy":
        pairs += list(zip(want["copies"], got["copies"]))
        if len(want["copies"]) != len(got["copies"]):
            return False
    return all(
        same_bits(a[k], b[k], mask) if k == "desc" else k == "copies" or a[k] == b[k]
        for a, b in pairs
        for k in a
    )


MACHINE_OPS = {
    "smem_descriptor",
    "instruction_descriptor",
    "scale_order",
    "scale_tmem",
    "scale_copy",
}


class Eval:
    """One `axe eval` process that is kept for all requests."""

    def __init__(self, axe):
        self.process = subprocess.Popen(
            [axe, "eval", "--machine", "cuda"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.n = 0

    def ask(self, op, args):
        self.n += 1
        request = {"id": self.n, "op": op, "in": args}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"axe eval died at {json.dumps(request)}")
        reply = json.loads(answer)
        assert reply["id"] == self.n, "replies out of order"
        return reply

    def same(self, a, b):
        asked = self.ask("equal", {"a": a, "b": b}).get("out")
        if small(a) and small(b) and asked is not same_map(a, b):
            return False
        return asked is True

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def run_case(ev, case):
    """passed, overruled or failed, and why"""
    reply = ev.ask(case["op"], case["in"])
    error = reply.get("error")
    want = case["out"]
    if case["op"] in MACHINE_OPS:
        if lacks(case):
            ok = bool(error) and error["code"] == "EUNSUPPORTED"
            return ("lacking", "") if ok else ("failed", f"{lacks(case)}: {reply}")
        ok = not error and judge_machine(case["op"], want, reply["out"])
    elif isinstance(want, dict) and want.get("fail"):
        ok = bool(error) and error["code"] in REFUSALS
    else:
        ok = not error and judge(case, reply["out"], ev.same)
    if case["id"] in OVERRULED:
        return ("failed", "passes, but is listed as overruled") if ok else ("overruled", "")
    return ("passed", "") if ok else ("failed", json.dumps(reply.get("error", reply.get("out"))))


def run_file(ev, path):
    table = {}
    failed = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.strip():
                continue
            case = json.loads(line)
            verdict, why = run_case(ev, case)
            table.setdefault(case["op"], Counter())[verdict] += 1
            if verdict == "overruled":
                failed.append(f"  overruled {case['id']}: {OVERRULED[case['id']]}")
            if verdict == "failed":
                failed.append(
                    f"  FAILED {case['id']}: {case['op']} {json.dumps(case['in'])[:300]}\n"
                    f"    want {json.dumps(case['out'])[:300]}\n    got  {why[:300]}"
                )
    return table, failed


def main():
    axe, files = sys.argv[1], sys.argv[2:]
    ev = Eval(axe)
    total = Counter()
    columns = ("passed", "overruled", "lacking", "failed")
    print(f"{'file':24}{'operation':26}" + "".join(f"{c:>10}" for c in columns))
    for path in files:
        table, notes = run_file(ev, path)
        for op in sorted(table):
            name = os.path.basename(path).removesuffix(".jsonl")
            print(f"{name:24}{op:26}" + "".join(f"{table[op][c]:>10}" for c in columns))
            total += table[op]
        for note in notes:
            print(note)
    print(f"{'all':50}" + "".join(f"{total[c]:>10}" for c in columns))
    if ev.close() != 0:
        print("axe eval failed")
        return 1
    return 1 if total["failed"] or not sum(total.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
