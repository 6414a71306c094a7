"""Tiles: one dimension may have several extents, each with its own stride."""
import axe

# 4 x 6 elements as tiles of 2 x 3, each of which is contiguous: the row index is
# (which tile, row in it), and so is the column index.
tiled = axe.Layout("((2, 2), (2, 3)) : ((12, 3), (6, 1))")
print(tiled.draw())

# The same layout as a product: 2 x 2 tiles, each a 2 x 3 tile.
tile = axe.Layout("(2, 3) : (3, 1)")
grid = axe.Layout("(2, 2) : (2, 1)")
product = axe.evaluate("grid >< tile", {"grid": grid, "tile": tile})
print("grid >< tile:", product)
print("the same layout?", product == tiled)

# Slicing gives the layout of a region: here the lower right tile.
print("lower right tile:", tiled[2:4, 3:6])
