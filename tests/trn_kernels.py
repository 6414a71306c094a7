"""Kernels for Trainium 1: tests/trn_kernels.py AXE SOURCE.

Each row of tests/trn.list, in one of its types by turns (TRN_ALL=1: in all): its
trace is simulated and compared with the reference; its text for NKI is executed by
the shim in tests/nki, whose record must be the trace, instruction by instruction,
and whose results must be the trace's.  So is, of one row in four and of those with
a !, its text in the first dialect, of which NKI places the tiles."""

import linecache
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

axe, source = sys.argv[1:3]
only = sys.argv[3:]
sys.path.insert(0, os.path.join(source, "tests", "nki"))

import neuronxcc.nki  # noqa: E402
import nki  # noqa: E402
from nki._machine import Rows, rounded  # noqa: E402

BITS = {"bf16": np.uint16, "f32": np.float32, "f16": np.float16, "i8": np.int8, "u8": np.uint8,
        "i32": np.int32, "u32": np.uint32, "i16": np.int16}


take = Rows.copy


def checked(self, dst, skip):
    """What is of no row has the number behind the last: far beyond, its bytes may be
    of more than 32 bits."""
    most = self.tensor.values.size // self.parts[1]
    assert self.indices.load().max() <= most, f"an index of {self.tensor.name} is beyond {most}"
    take(self, dst, skip)


Rows.copy = checked


def command(*args):
    done = subprocess.run([axe, *args], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout[-1500:] + done.stderr[-1500:])
    return done.stdout


def random(rng, dtype, shape):
    if dtype in ("i32", "u32", "i16"):  # indices, also of nothing
        x = rng.integers(0 if dtype == "u32" else -4, 40, shape)
        most = np.iinfo(BITS[dtype]).max
        return np.where(rng.random(shape) < 0.05, most, x).astype(BITS[dtype])
    if dtype in ("i8", "u8"):
        return rng.integers(0 if dtype == "u8" else -100, 100, shape).astype(BITS[dtype])
    x = rng.normal(0, 1, shape).astype(np.float32)
    return (rounded(x, "bf16").view(np.uint32) >> 16).astype(np.uint16) if dtype == "bf16" \
        else x.astype(BITS[dtype])


def canonical(lines):
    """Tiles by the order of their declaration, numbers by their values; whether a
    product adds is what the trace does not say."""
    names, out = {}, []
    for line in lines:
        line = line.strip()
        m = re.match(r"(sbuf|psum) (\w+) : (.*)", line)
        if m:
            names[m[2]] = f"tile{len(out)}"
            line = f"{m[1]} {names[m[2]]} : {m[3]}"
        elif not line or line.split()[0] in ("trace", "hbm") or "_given" in line:
            continue
        else:
            line = re.sub(r", accumulate=\d+", "", line)
            line = re.sub(r"\b\w+(?=\[)", lambda w: names.get(w[0], w[0]), line)
            head, *named = re.split(r", (?=\w+=)", line)
            named = [re.sub(r"=(-?[\d.]+(e[-+]?\d+)?)$", lambda n: f"={float(n[1])!r}", x)
                     for x in named]
            line = ", ".join([head, *sorted(x for x in named if not x.endswith("=0.0") or
                                            "offset" not in x and "multiplier" not in x)])
        out.append(line)
    return out


def dense(access):
    """A pattern without counts of 1, and with counts in one that are."""
    head, pattern = access[1].rsplit(" : ", 1)
    first, *dims = pattern.split(", ")
    first = "1" if re.match(r"1( by|$)", first) else first
    out = []
    for count, stride in ((int(n) for n in d.split(" by ")) for d in dims):
        if count != 1 and out and out[-1][1] == count * stride:
            out[-1] = (out[-1][0] * count, stride)
        elif count != 1:
            out.append((count, stride))
    return f"[{head} : {first}{''.join(f', {n} by {s}' for n, s in out)}]"


def placeless(line):
    """What both dialects say of an instruction."""
    line = re.sub(r" at \d+, \d+$", "", line)
    line = re.sub(r"pattern=\[(?:1 by -?\d+(?:, )?)+\]", "pattern=one", line)
    line = re.sub(r"(?<=\w)\[([^]]* : [^]]*)\]", dense, line)
    return re.sub(r", channel_multiplier=[^, ]+", "", line) if re.search(r" : 1\b", line) else line


def compare(trace, record, what):
    for i, (x, y) in enumerate(zip(trace, record, strict=False)):
        assert x == y, (f"instruction {i} of the trace is\n    {x}\nand {what} does\n    {y}")
    assert len(trace) == len(record), f"{len(trace)} lines of the trace, {len(record)} of {what}"


def execute(tmp, dialect, kernel, text, arrays, values):
    """A kernel's text by its stand-in: its record and results."""
    path = os.path.join(tmp, f"k_{kernel}.py")
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    scope = {}
    exec(compile(text, path, "exec"), scope)
    head = re.search(rf"^def {kernel}\((.*)\):", text, re.M)[1].split(", ")
    with dialect.recording() as record:
        out = scope[kernel](*(arrays[a] if a in arrays else values[a] for a in head))
    return canonical(record.text().splitlines()), out if isinstance(out, tuple) else (out,)


def first_dialect(tmp, file, kernel, sets, arrays, values, trace, mine):
    """The same by the first dialect; what that cannot say is refused with a reason."""
    done = subprocess.run([axe, "compile", file, kernel, "--target", "trn1", *sets, "--emit",
                           "nki01"], capture_output=True, text=True)
    if done.returncode != 0:
        assert "neuronxcc.nki 0.1" in done.stderr, done.stderr
        return " but not in 0.1"
    try:
        record, out = execute(tmp, neuronxcc.nki, kernel, done.stdout, arrays, values)
    except Exception as e:  # noqa: BLE001
        if "are free" not in str(e):  # the stand-in keeps a tile as long as its name
            raise
        return " but not in 0.1"
    compare([placeless(x) for x in trace], [placeless(x) for x in record], "the text of 0.1")
    for x, y in zip(mine, out, strict=True):
        assert np.array_equal(x, y, equal_nan=True), "the dialects differ"
    return " in both dialects"


def by_shim(tmp, file, kernel, sets, sizes, seed):
    rng, chosen = np.random.default_rng(seed), sets
    trace = command("compile", file, kernel, "--target", "trn1", *sets, "--emit", "lower")
    trace = trace[trace.index("trace "):]
    path = os.path.join(tmp, "t.trace")
    with open(path, "w") as f:
        f.write(trace)
    text = command("compile", file, kernel, "--target", "trn1", *sets, "--emit", "c")
    values = {m[1]: int(m[2]) for m in re.finditer(r"^size (\w+) = (\d+)$", trace, re.M)}
    values.update(sizes)
    arrays, results = {}, re.search(r"^    return (.*)$", text, re.M)[1].split(", ")
    for m in re.finditer(r"^hbm (\w+) : (\w+)\[(.*)\] (\w+)$", trace, re.M):
        shape = [eval(e.replace("/", "//"), {}, values)
                 for e in re.split(r", (?![^(]*\))", m[3])]
        if m[4] == "in":
            arrays[m[1]] = random(rng, m[2], shape)
        elif f"{m[1]}_given" in text:
            # what is `kept` begins as zeros in `axe trace`
            arrays[f"{m[1]}_given"] = np.zeros_like(random(rng, m[2], shape))
        if m[2] not in BITS:
            return "no text"
    sets = [f"--set={k}={v}" for k, v in values.items()]
    for name, x in arrays.items():
        np.save(os.path.join(tmp, name + ".npy"), x)
    files = [f"{n}={tmp}/{n}.npy" for n in [*arrays, *results] if not n.endswith("_given")]
    command("trace", path, *sets, *files)
    b, mine = execute(tmp, nki, kernel, text, arrays, values)
    a = canonical(command("trace", path, *sets, "--unroll").splitlines())
    compare(a, b, "the text")
    for name, x in zip(results, mine, strict=True):
        y = np.load(os.path.join(tmp, name + ".npy"))
        y = y.view(np.uint16) if y.dtype.kind == "V" else y
        y = (y.astype(np.uint32) << 16).view(np.float32) if y.dtype == np.uint16 else y
        off = np.abs(x.astype(np.float64) - y.astype(np.float64))
        bound = 2.0 ** -6 * (1 + np.abs(y.astype(np.float64)))
        assert (off <= bound).all() or (np.isnan(x) == np.isnan(y)).all() and not (
            off > bound).any(), f"{name}: the text and the trace differ by {np.nanmax(off)}"
    said = ""
    if seed % 4 == 0 or os.environ.get("TRN_ALL") or only:
        said = first_dialect(tmp, file, kernel, chosen, arrays, values, a, mine)
    return f"{len(a)} instructions{said}"


def one(row):
    seed, file, kernel, dtype, rest = row
    path = f"{source}/{file if '/' in file else 'kernels/' + file}.axe"
    options = [] if dtype == "-" else ["--set", f"T={dtype}"]
    words = rest.split()
    sizes = {w.split("=")[0]: int(w.split("=")[1]) for i, w in enumerate(words)
             if re.search(r"=\d+$", w) and words[i - 1] != "--set"}
    sets = [w for i, w in enumerate(words) if w == "--set" or i and words[i - 1] == "--set"]
    try:
        with tempfile.TemporaryDirectory() as tmp:
            said = command("sim", path, kernel, "--target", "trn1", "--random", "--check",
                           "--cache", tmp, *options, *words)
            assert "no error bound" not in said, "nothing was compared"
            return by_shim(tmp, path, kernel, [*options, *sets], sizes, seed), None
    except Exception as e:  # noqa: BLE001
        return None, f"FAILED {kernel} {dtype} {rest}: {type(e).__name__} {e}"


def main():
    rows = []
    with open(f"{source}/tests/trn.list") as f:
        for n, line in enumerate(x for x in f if not x.startswith("#")):
            file, kernel, types, rest = line.split(None, 3)
            kinds = types.rstrip("!").split(",")
            seed = 0 if types.endswith("!") else n
            if only and kernel not in only:
                continue
            for t in kinds if os.environ.get("TRN_ALL") or only else [kinds[n % len(kinds)]]:
                rows.append((seed, file, kernel, t, rest.strip()))
    with ThreadPoolExecutor(1) as pool:
        done = list(pool.map(one, rows))
    failed = [why for _, why in done if why]
    print("\n".join(failed))
    print(f"{len(rows)} runs, {len(failed)} failed; the shim executed "
          f"{sum(1 for x, _ in done if x and 'instr' in x)}, of them in both dialects "
          f"{sum(1 for x, _ in done if x and 'both' in x)}; 0.1 cannot say "
          f"{sum(1 for x, _ in done if x and 'but not' in x)}")
    sys.exit(1 if failed or not rows else 0)


main()
