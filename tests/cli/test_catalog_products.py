"""Do drives of the catalog that are made from lines of their data sheets do what these rate, and are their files
current?"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

import hotband as hb
from forms import sized
from hotband.data.catalog import CATALOG_DIR, entries

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from catalog_products import DEPTHS, Product, product_text, products, rules_of

TOLERANCE = 0.03
MISSED = {
    ("exos-m-30tb", "read-iops"): "no line of a disk but its seeks says how fast it reads at a depth",
    ("exos-m-30tb", "write-iops"): "how many writes its memory sorts is not published",
    ("cd8p-r-7680", "write-iops"): "a write amplification of 6: open blocks are a large share of the spare ones",
    ("pm983-960", "write-iops"): "a write amplification of 6: open blocks are a large share of the spare ones",
    ("t500-2tb", "write-iops-burst"): "a stream of writes, which is fitted, is slower than this many of 4 KiB",
}
"""Ratings that the model misses by more than the tolerance, and why. Each is asserted to be missed."""
LOAD = """
[load]
closed = {{ threads = 1, depth = {depth} }}
[[streams]]
read_pct = {read_pct}
random_pct = {random_pct}
size = "{size}"
range = {range}
[[phases]]
name = "warm-up"
ios = {warm_up}
[[phases]]
name = "measure"
ios = {ios}
measure = true
"""
QUANTITIES = {
    "read-bandwidth": "read_stream",
    "read-iops": "read_rate",
    "write-iops": "write_rate_steady",
    "write-iops-burst": "write_rate_new",
}
"""The quantity that each line rates."""
PRODUCTS = products()
LARGE = ("cd8p-r-7680", "dc3000me-7680", "p3-plus-4tb", "pm1653-7680", "pm9d3a-7680", "sn640-3840")
"""Drives that take longest to precondition: others of their kinds are smaller."""


def loads_of(product: Product) -> dict[str, dict[str, object]]:
    """Return the load of each line that rates one, and the state of the drive."""
    if product.kind == "hdd":
        random = {"size": "4 KiB", "depth": 16, "ios": 3000}
        stream = {"read_pct": 100, "random_pct": 0, "size": "256 KiB", "depth": 16, "ios": 2000}
        return {"bandwidth": stream, "read-iops": random | {"read_pct": 100}, "write-iops": random | {"read_pct": 0}}
    # Sheets of drives without DRAM speak of a range whose part of the map the host holds.
    near = {} if product.lines.get("dram") == "full" else {"range": '["0 %", "1 %"]'}
    # Blocks of QLC with four planes hold few passes.
    has_few = product.kind == "nvme" and product.lines["flash"] == "QLC"
    used = {"state": "preconditioned", "scale": 64 if has_few else 256}
    random = {"size": "4 KiB", "depth": DEPTHS[product.port], "ios": 10_000} | near
    stream = {"random_pct": 0, "size": "128 KiB", "depth": 32, "ios": 4000}
    return {
        "read-bandwidth": stream | {"read_pct": 100} | used,
        "read-iops": random | {"read_pct": 100} | used,
        "write-iops": random | {"read_pct": 0, "ios": 40_000} | used,
        "write-iops-burst": random | {"read_pct": 0, "state": "fob", "scale": 64},
    }


def ratio_of(name: str, line: str, load: dict[str, object], path: Path) -> float:
    """Return what a drive does over what its sheet rates."""
    settings = {key: load[key] for key in ("state", "scale") if key in load}
    ios = int(str(load["ios"]))
    shown = {"random_pct": 100, "range": '["0 %", "100 %"]', "warm_up": ios // 4} | load
    path.write_text(LOAD.format(**shown), encoding="utf-8")
    run = hb.run(str(path), on=name, progress=False, **settings)
    rated = PRODUCTS[name].lines[line]
    if "bandwidth" in line:
        return run.iops * int(str(load["size"]).split()[0]) * 1024 / (float(rated.split()[0]) * 1e6)
    return run.iops / float(rated)


@pytest.mark.parametrize("name", sized(sorted(set(PRODUCTS) - set(LARGE))[::3], list(PRODUCTS)))
def test_a_drive_does_what_its_sheet_rates(name: str, tmp_path: Path) -> None:
    for line, load in loads_of(PRODUCTS[name]).items():
        if line in PRODUCTS[name].lines:
            ratio, measured = ratio_of(name, line, load, tmp_path / "load.toml"), shown_by(name, line)
            if measured is None:
                assert (abs(ratio - 1) > TOLERANCE) == ((name, line) in MISSED), (line, ratio)
                continue
            # Fitted: closer to what was measured than the sheet is.
            shown = measured / (float(PRODUCTS[name].lines[line].split()[0]) * (1e6 if "bandwidth" in line else 1))
            assert abs(math.log(ratio / shown)) <= abs(math.log(shown)) + TOLERANCE, (line, ratio, shown)


def shown_by(name: str, line: str) -> float | None:
    """Return what others measured of the quantity that a line rates; None if nobody did."""
    figures = [each.observed for each in rules_of(PRODUCTS[name]).measured]
    quantity = QUANTITIES.get(line, "")
    return next((observed[quantity] for observed in figures if quantity in observed), None)


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_file_is_current_and_says_where_each_line_was_read(name: str) -> None:
    product = PRODUCTS[name]
    text = (CATALOG_DIR / "drives" / f"{name}.toml").read_text(encoding="utf-8")
    assert text == product_text(product), "run scripts/catalog_products.py"
    stated = {"form", "endurance"} & product.about.keys() | product.lines.keys()
    assert set(product.read) <= stated
    drive = entries.drive(name)
    assert drive["warnings"] == []
    for value in drive["values"]:
        assert value["source"]
        assert (value["range"] is not None) == value["estimate"]
