"""docs/results/stacks.md: folded, split and native stacks of grids."""

from figures.rows import rows

ROWS = rows("h200/rows/stacks.jsonl")
FIELDS = [("mandelbulb", 3, 512), ("julibrot", 4, 128), ("simplex", 5, 48), ("simplex", 6, 24)]
WAYS = [("exhaustive", "strategy=exhaustive block=8x8x1"), ("exhaustive, block 4x4x4", "strategy=exhaustive block=4x4x4"), ("ask, mbr in place", "strategy=ask"), ("dp", "strategy=dp")]


def native_over_folded():
    """The least and the most that native grids take beside folded ones."""
    found = []
    for field, k, _ in FIELDS:
        for _, question in WAYS:
            case = f"workload={field} dim={k} {question}"
            found.append(ROWS.ms(f"{case} stack=grid3d") / ROWS.ms(f"{case} stack=folded"))
    return min(found), max(found)


def figures(page):
    lines = ["| field | k | n | strategy | folded | split | grid3d | launches | in flight | cells |", "|---|--:|--:|---|--:|--:|--:|---|---|---|"]
    native = {name: [] for name, _ in WAYS}
    for field, k, n in FIELDS:
        for name, question in WAYS:
            found = {row.say("stack"): row for row in ROWS.all(f"workload={field} dim={k} {question}")}
            shown = [found[stack] for stack in ("folded", "split", "grid3d") if stack in found]
            times = [f"{found[stack].ms:.4g}" if stack in found else "" for stack in ("folded", "split", "grid3d")]
            equal = len({row.get("run", "checksum") for row in shown}) == 1
            counts = [", ".join(str(row.get("run", key)) for row in shown) for key in ("kernels", "most_in_flight")]
            lines.append(f"| {field} | {k} | {n} | {name} | {' | '.join(times)} | {' | '.join(counts)} | {'equal' if equal else 'DIFFERENT'} |")
            native[name].append(found["grid3d"].ms / found["folded"].ms)
    page.block("\n".join(lines))
    every = native["exhaustive"] + native["exhaustive, block 4x4x4"]
    page.says("In three and four dimensions `grid3d` takes @ to @ times as long", *(f(every[i] for i in (0, 1, 4, 5)) for f in (min, max)))
    page.says("In five and six it takes @ to @ times as long", *(f(every[i] for i in (2, 3, 6, 7)) for f in (min, max)))
    launch = [ROWS.one(f"workload=simplex dim={k} strategy=exhaustive block=8x8x1 stack=grid3d") for k in (5, 6)]
    page.says("@ and @ launches at @ µs each", *(row.get("run", "kernels") for row in launch), max(row.ms * 1e3 / row.get("run", "kernels") for row in launch))
    page.says("take @ to @ times as long for `mbr`", min(native["ask, mbr in place"]), max(native["ask, mbr in place"]))
    page.says("takes @ to @ times as long for dynamic parallelism", min(native["dp"]), max(native["dp"]))
    page.given("65,535", "k = 3 .. 6")
