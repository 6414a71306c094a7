"""A fragment: which lane of a warp has which element, in which register."""
import axe

# The accumulator of mma.m16n8k16: 16 x 8 numbers over 32 lanes, 4 registers each.
# Strides count lanes and registers, in place of memory.
acc = axe.Layout("((2, 8), (4, 2)) : ((2@reg, 4@lane), (1@lane, 1@reg))")
print(acc.draw())
print("(9, 3) is in", acc(9, 3))

# Four instructions beside each other: 32 x 16 numbers, and 16 registers a lane.
four = axe.Layout("(2, 2) : (2@reg, 1@reg)")
print(axe.evaluate("four >< acc", {"four": four, "acc": acc}))

# From the fragment to memory, row by row: the program and what it costs.
rows = axe.Layout("(16, 8) : (8, 1)")
print(axe.move(acc, rows, bits=32, machine="sm_90a"))

# The same picture in colours.
with open("fragment.svg", "w", encoding="utf-8") as f:
    f.write(acc.svg())
