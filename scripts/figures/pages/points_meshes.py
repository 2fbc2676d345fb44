"""docs/results/points-meshes.md: trees of a mesh. Counts have rows, times have none."""

from figures.page import LEFT
from figures.rows import Wrong, rows

TIMES = "No rows were kept of the times"
COUNTS = rows("mesh-counts.jsonl")


def figures(page):
    table = page.table("cells in leaves", "bytes of the tree")
    for value in ("inside", "surface"):
        for side in (128, 256, 512, 1024, 2048, 4096):
            row = COUNTS.one(f"value={value} size={side}")
            if side <= 1024 and not row.get("checksum") == row.get("full") == row.get("exhaustive"):
                raise Wrong(f"{row.place}: cells of the tree are not those of an exhaustive run, and the page says that none is wrong")
            table.row(value if side == 128 else "", None, *[LEFT] * 4, row.get("regions"), row.get("leaf_cells"), row.get("bytes"))
    volumes = [COUNTS.one(f"value=inside size={side}").get("volume") for side in (128, 512, 2048)]
    page.says("@ at 128³, @ at 512³, @ at 2048³", *volumes)
    page.no_rows(TIMES)
