#!/usr/bin/env bash
# f8e4m3, f8e5m2 and f8e8m0 against a decoder of their own definition: all 256 codes to
# f32, and to codes all of f16, every point between two codes, and its
# neighbours, in vectors and one by one, on every CPU that this one can be.
set -u
"$PYTHON" -c '' || exit 77
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export AXE_CACHE=${AXE_CACHE:-$PWD/cache}
cat >k.axe <<'EOT'
kernel from<type T = f8e4m3>(in T X[M], out f32 Y[M])
{
    index m;
    cta (i : M by 64) Y[i*64 + m] = f32(X[i*64 + m]);
}

kernel to<type T = f8e4m3>(in f32 X[M], out T Y[M])
{
    index m;
    cta (i : M by 64) Y[i*64 + m] = T(X[i*64 + m]);
}
EOT
cat >t.py <<'EOT'
import subprocess, sys, os
import numpy as np

def decode(t, code):
    if t == "f8e8m0":
        return 2.0**(code - 127) if code < 255 else float("nan")
    m, bias = (3, 7) if t == "f8e4m3" else (2, 15)
    e, f = code >> m & (1 << 7 - m) - 1, code & (1 << m) - 1
    if t == "f8e4m3" and code & 127 == 127:
        return float("nan")
    if t == "f8e5m2" and e == 31:
        return float("nan") if f else float("-inf" if code >> 7 else "inf")
    v = f * 2.0**(1 - bias - m) if e == 0 else (1 + f / 2.0**m) * 2.0**(e - bias)
    return -v if code >> 7 else v

def encode(t, x):
    """Nearest, of two the even code; the largest beyond it.  Of powers of two
    the least that is not below, or the largest."""
    if np.isnan(x):
        return None
    if t == "f8e8m0":
        return next((c for c in range(254) if decode(t, c) >= x), 254)
    at = min(abs(float(x)), 1e6)
    best = min(FINE[t], key=lambda c: (abs(FINE[t][c] - at), c & 1))
    return best | (0x80 if np.signbit(x) else 0)

FINE = {t: {c: decode(t, c) for c in range(128) if np.isfinite(decode(t, c))}
        for t in ("f8e4m3", "f8e5m2")}

def run(kernel, t, cpu, x):
    np.save("x.npy", x)
    subprocess.run([os.environ["AXE"], "run", "--target", cpu, "--set",
                    "T=" + t, "k.axe", kernel, "X=x.npy", "Y=y.npy"],
                   check=True, stdout=subprocess.DEVNULL)
    return np.load("y.npy")

bad = 0
for t in ("f8e4m3", "f8e5m2", "f8e8m0"):
    codes = np.arange(256, dtype="u1")
    want = np.array([decode(t, int(c)) for c in codes], "f4")
    values = np.sort(want[np.isfinite(want)])
    between = (values[1:] + values[:-1]) / 2
    x = np.concatenate([values, np.nextafter(values, np.float32(9e9)), between, np.nextafter(between, np.float32(9e9)),
                        np.nextafter(between, np.float32(-9e9)),
                        np.arange(65536, dtype="u2").view("f2")[::31].astype("f4"),
                        np.array([449, 463, 464, 465, 6e4, 7e4, 1e30, np.inf,
                                  -np.inf, np.nan, 0.0, -0.0, -1.0, 3e38], "f4")])
    codes_want = [encode(t, v) for v in x]
    for cpu in ("cpu", "cpu-avx2", "cpu-base"):
        for pad in (0, 3):
            got = run("from", t, cpu, np.concatenate([codes, codes[:pad]]))
            ok = got.view("u4") == np.concatenate([want, want[:pad]]).view("u4")
            nan = np.isnan(got) & np.isnan(np.concatenate([want, want[:pad]]))
            if not np.all(ok | nan):
                bad += 1
                print(t, cpu, "from", np.nonzero(~(ok | nan))[0][:5])
        got = run("to", t, cpu, x)
        for v, g, w in zip(x, got, codes_want):
            same = np.isnan(decode(t, int(g))) if w is None else g == w
            if not same:
                bad += 1
                print(t, cpu, "to", v, g, w)
                break
print(bad, "failed")
sys.exit(bad > 0)
EOT
"$PYTHON" t.py
