"""share.py - of the longest lists of runs, the sanitizers see a share; as unit/share.h."""
import os


def share(rows, first=0):
    """Every AXE_SHARE-th of a list, from `first` on; without it, all."""
    n = int(os.environ.get("AXE_SHARE", "1"))
    return rows[first % n::n]
