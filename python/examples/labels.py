"""A labelled volume: build its tree, ask it, draw it. Run it as it is: it makes its own volume."""

import numpy as np

import pyorthant as ot

# Two organs in a box of 96 x 128 x 128 cells, 0.3 mm wide and 1.5 mm thick.
z, y, x = np.ogrid[:96, :128, :128]
volume = np.zeros((96, 128, 128), "u1")
volume[((z - 48) / 30) ** 2 + ((y - 64) / 40) ** 2 + ((x - 50) / 30) ** 2 < 1] = 7
volume[((z - 48) / 10) ** 2 + ((y - 60) / 12) ** 2 + ((x - 95) / 12) ** 2 < 1] = 9

t = ot.tree(
    volume,
    B=4,
    dims=("z", "y", "x"),
    spacing={"z": 1.5, "y": 0.3, "x": 0.3},
    units="mm",
    label_names={7: "liver", 9: "kidney"},
)
print(t)

cubic_millimetres = np.prod([axis.spacing for axis in t.axes])
stats = t.stats()
for value, name, cells in zip(stats["value"], stats["name"], stats["cells"]):
    print(f"{value:3} {name or 'outside':8} {cells * cubic_millimetres:10.1f} mm^3")

# A tree answers without the dense array.
assert t[48, 64, 50] == 7 and set(t[48, 60, 80:110]) == {0, 9}
points = np.argwhere(volume == 9)
assert (t[points] == 9).all()
