"""docs/results/energy.md: joules of a run."""

from figures.page import GIVEN, UpTo
from figures.rows import rows

ROWS, NOW = rows("h200/rows/energy.jsonl"), rows("h100/rows/energy.jsonl")
WAYS = [("ask", "sbr"), ("ask", "mbr"), ("dp", "sbr"), ("dp", "mbr")]


def figures(page):
    table = page.table("J per run", "net")
    net, ms = {}, {}
    for field, label, n, ways in [
        ("mandelbrot", "mandelbrot 16384, D = 512", 16384, 2),
        ("mandelbrot", "mandelbrot 65536", 65536, 2),
        ("mandelbulb", "mandelbulb 512", 512, 1),
    ]:
        scheme = "{64, 4, 16}" if field == "mandelbrot" else "{32, 2, 4}"
        every = ROWS.one(f"workload={field} n={n} strategy=exhaustive")
        table.row(label, None, every.ms, every.get("energy", "joules_per_run"), every.get("energy", "net_joules_per_run"), None)
        net[field, n], ms[field, n] = every.get("energy", "net_joules_per_run"), every.ms
        for strategy, kind in WAYS[: 2 * ways]:
            row = ROWS.one(f"workload={field} n={n} strategy={strategy} scheme={kind}" + (" g=64" if field == "mandelbrot" else ""))
            own = net[field, n, strategy, kind] = row.get("energy", "net_joules_per_run")
            ms[field, n, strategy, kind] = row.ms
            table.row("", f"{strategy} {kind} {scheme}", row.ms, row.get("energy", "joules_per_run"), own, net[field, n] / own)
    idle = {name: ROWS.all("").rows[0].get("energy", name) for name in ("idle_counter_watts", "idle_watts")}
    page.says("idling (@ W by the counter, @ W by power", *idle.values())
    apart = [abs(row.get("energy", "power_joules") / row.get("energy", "counter_joules") - 1) * 100 for row in ROWS]
    page.says("agrees with the counter within @ % in every case", UpTo(max(apart)))
    best = {strategy: min(net["mandelbrot", 65536, strategy, kind] for kind in ("sbr", "mbr")) for strategy in ("ask", "dp")}
    page.says("Here it is @x, and @x less than the better DP (mbr)", net["mandelbrot", 65536] / best["ask"], best["dp"] / best["ask"])
    page.says("@x less than DP by sbr", net["mandelbrot", 65536, "dp", "sbr"] / best["ask"])
    page.given("reports 20x less energy", "and 2x less than DP on an A100", "exhaustive of 350.8 ms")
    page.says(
        "gains @x in time and @x in energy",
        ms["mandelbulb", 512] / ms["mandelbulb", 512, "ask", "sbr"],
        net["mandelbulb", 512] / net["mandelbulb", 512, "ask", "sbr"],
    )
    now(page)


def now(page):
    """The same sweep by the code in use, on an H100."""
    lines = ["| field, now | | ms | J per run | net | over exhaustive, net |", "|---|---|--:|--:|--:|--:|"]
    gains = {}
    for field, n, more in (("mandelbrot", 16384, " g=64"), ("mandelbrot", 65536, " g=64"), ("mandelbulb", 512, "")):
        every = NOW.one(f"workload={field} n={n} strategy=exhaustive")
        found = [("exhaustive", every)]
        for strategy, kind in WAYS[: 4 if more else 2]:
            found.append((f"{strategy} {kind}", NOW.one(f"workload={field} n={n} strategy={strategy} scheme={kind}{more}")))
        for way, row in found:
            joules, net = (row.get("energy", key) for key in ("joules_per_run", "net_joules_per_run"))
            gain = every.get("energy", "net_joules_per_run") / net
            gains[field, n, way] = gain
            label = f"{field} {n}" if row is every else ""
            scheme = "" if row is every else f" {row.scheme}"
            lines.append(f"| {label} | {way}{scheme} | {row.ms:.4g} | {joules:.3f} | {net:.3f} | {'' if row is every else f'{gain:.2f}'} |")
    page.block("\n".join(lines))
    whole = {field: NOW.one(f"workload={field} n={n} strategy=exhaustive").ms for field, n in (("mandelbrot", 65536), ("mandelbulb", 512))}
    ask = {"mandelbrot": NOW.one("workload=mandelbrot n=65536 strategy=ask scheme=sbr g=64").ms}
    ask["mandelbulb"] = NOW.one("workload=mandelbulb n=512 strategy=ask scheme=sbr").ms
    page.says(
        "dividing saves less: @ times the time, and @ times the energy",
        whole["mandelbrot"] / ask["mandelbrot"],
        gains["mandelbrot", 65536, "ask sbr"],
    )
    page.says(
        "takes @ times as long as exhaustive now, and @ times less energy", ask["mandelbulb"] / whole["mandelbulb"], gains["mandelbulb", 512, "ask sbr"]
    )
    best = {strategy: max(gains["mandelbrot", 65536, f"{strategy} {kind}"] for kind in ("sbr", "mbr")) for strategy in ("ask", "dp")}
    page.says("ask takes @ times less energy than exhaustive now, and @ times less than the better DP", best["ask"], best["ask"] / best["dp"])
