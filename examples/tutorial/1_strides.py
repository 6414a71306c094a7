"""Strides: a layout maps the index of an element to its place in memory."""
import numpy as np

import axe

# Shape and strides, as NumPy has them, but counted in elements and not in bytes.
rows = axe.Layout("(4, 6) : (6, 1)")
print(rows.draw())

# Element (2, 3) is at 2*6 + 3*1.
print("(2, 3) is at", rows(2, 3))

# The layout of an array: the transpose of an array has its strides exchanged.
x = np.zeros((6, 4), "f4").T
columns = axe.Layout.of(x)
print("x.T:", columns)
print("the same layout?", rows == columns)
print("they differ at index", axe.why(rows, columns).at)
