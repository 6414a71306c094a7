"""share.py - of the longest lists of runs, the sanitizers see a share; of the kernels that a
C compiler compiles, few are optimised; as unit/share.h."""
import os


def share(rows, first=0):
    """Every AXE_SHARE-th of a list, from `first` on; without it, all."""
    n = int(os.environ.get("AXE_SHARE", "1"))
    return rows[first % n::n]


def with_cc(env, i):
    """The environment of kernel i of a list: every fourth is compiled as users' are, the
    others without optimising, which takes a third of the time."""
    return env if i % 4 == 0 else env | {"AXE_CC": env.get("CC", "gcc") + " -O0"}
