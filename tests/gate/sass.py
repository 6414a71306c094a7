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


def kernels(data):
    """name -> (bytes of code, Counter of the operations named above)"""
    out = {}
    for name, _, code in sections(data):
        if not name.startswith(".text."):
            continue
        count = Counter()
        for i in range(0, len(code) - 15, 16):
            op = struct.unpack_from("<H", code, i)[0] & 0x1FF
            if op in NAMES:
                count[NAMES[op]] += 1
        out[name[6:]] = (len(code), count)
    return out
