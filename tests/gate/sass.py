"""Machine code in a cubin without a disassembler: sizes and instruction counts.

A cubin is an ELF file; the code of kernel K is its section .text.K, of sm_80,
sm_90a and sm_100a in instructions of 16 bytes.  The low 9 bits of an instruction name
the operation, bits 9 to 11 the form of its operands.  The numbers below were
found by compiling kernels of which it was known what is in them.
"""

import struct
from collections import Counter

NAMES = {
    0x1F0: "HGMMA",
    0x1F3: "QGMMA",
    0x1F1: "IGMMA",
    0x03C: "HMMA",
    0x037: "IMMA",
    0x03F: "DMMA",
    0x1B4: "UTMALDG",
    0x1B5: "UTMASTG",
    0x1B6: "UTMAREDG",
    0x1BA: "UBLKCP",
    0x1BB: "UBLKRED",
    0x1EA: "UTCMMA",
    0x1E9: "UTCBAR",
    0x1E7: "UTCCP",
    0x1E3: "UTCATOMSWS",
    0x1CA: "UGETNEXTWORKID",
    0x1EE: "LDTM",
    0x1ED: "STTM",
    0x1C5: "WARPGROUP",
    0x02F: "ELECT",
    0x1C8: "USETMAXREG",
    0x1AE: "LDGSTS",
    0x03B: "LDSM",
    0x044: "STSM",
    0x187: "STL",
    0x183: "LDL",
    0x192: "MEMBAR",
    0x18F: "CCTL",
    0x143: "CALL",
    0x108: "MUFU",
}
BRANCH = 0x147
FSEL = 0x008
LDG = 0x181
MANY = 32  # selects: fewer are not those of an accumulator
TENSOR = {"UTCMMA", "HGMMA", "QGMMA", "IGMMA"}


def sections(data):
    """(name, type, contents) of an ELF64 file, little-endian."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not an ELF64 file")
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    text = data[heads[names][4] :]
    for name, kind, _, _, at, length in heads:
        word = text[name : text.index(b"\0", name)].decode()
        yield word, kind, data[at : at + length] if kind != 8 else b""


def target(word, at):
    """The instruction that the branch number `at` goes to: its distance is in
    words of 4 bytes, 8 bits at 16, the others from 34 on."""
    far = (word >> 34 & (1 << 48) - 1) << 8 | word >> 16 & 0xFF
    if far >> 55:
        far -= 1 << 56
    return at + 1 + far // 4


def turn(words, names):
    """Instructions of the shortest loop that asks for products of tensor memory
    and commits them; 0 if there is none."""
    most = 0
    for at, word in enumerate(words):
        first = target(word, at) if word & 0x1FF == BRANCH else at
        has = names[first : at + 1]
        if "UTCMMA" in has and "UTCBAR" in has and not 0 < most < len(has):
            most = len(has)
    return most


def late(words, names):
    """The most exponentials that stand straight before a wait for products: as
    many as run while these are under way."""
    most = n = 0
    for word, name in zip(words, names):
        if name == "MUFU":
            n += 1
        elif name == "WARPGROUP" and word >> 47 & 1:
            most, n = max(most, n), 0
        elif name == "WARPGROUP" or name in TENSOR:
            n = 0
    return most


def selects(words, names):
    """Selects in code with products of warp groups, where an accumulator may be
    set to zero by them, one for each register and tile; 0 if they are few."""
    n = sum(w & 0x1FF == FSEL for w in words)
    return n if n >= MANY and not TENSOR.isdisjoint(names) else 0


def exposed(words, names):
    """Loads from global memory behind the first load of tensor memory in the
    shortest loop that has one: their result is waited for there and then."""
    best = 0, 0
    for at, word in enumerate(words):
        first = target(word, at) if word & 0x1FF == BRANCH else at
        if "LDTM" in names[first:at] and not 0 < best[1] - best[0] < at - first:
            best = first, at
    loads = [i for i in range(*best) if words[i] & 0x1FF == LDG]
    return sum(i > names.index("LDTM", *best) for i in loads) if loads else 0


def places(code):
    """Facts about where operations stand."""
    words = [int.from_bytes(code[i : i + 16], "little") for i in range(0, len(code) - 15, 16)]
    names = [NAMES.get(w & 0x1FF, "") for w in words]
    return {
        "turn": turn(words, names),
        "late": late(words, names),
        "selects": selects(words, names),
        "exposed": exposed(words, names),
    }


def kernels(data):
    """name -> (bytes of code, Counter of the operations named above and of
    the facts of places)"""
    out = {}
    for name, _, code in sections(data):
        if not name.startswith(".text."):
            continue
        count = Counter()
        for i in range(0, len(code) - 15, 16):
            op = struct.unpack_from("<H", code, i)[0] & 0x1FF
            if op in NAMES:
                count[NAMES[op]] += 1
        count.update(places(code))
        out[name[6:]] = (len(code), count)
    return out
