"""Does any interval of a rate go beyond what ports, links and media of the machine carry?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest

import hotband as hb
from hotband import _core
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.entries import drives
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute
from hotband.inference.interval.ceiling import capped, room_below, room_of
from hotband.inference.interval.of_record import intervals_of
from hotband.inference.interval.of_run import Asked
from hotband.inference.interval.turns import bounded, latency_bounds

MB = 1e6
EXOS_OUTER = 274 * MB
"""The upper end of `sustained_outer` of exos-x16-16tb."""
STREAM = """title = "stream"
source = "here"
[load]
closed = {{ threads = 1, depth = {depth} }}
[[streams]]
read_pct = {read}
random_pct = 0
size = "{size}"
[[phases]]
duration = "200 ms"
[[phases]]
duration = "{time}"
measure = true
"""


def ceiling(machine: str, read_share: float = 1.0, **settings: str) -> _core.Ceiling:
    pairs = list(settings.items())
    return _core.ceiling(CATALOG_DIR, machine, None, pairs, read_share=read_share, seconds=60.0)


def of_stream(machine: str, read: int, depth: int = 8, size: str = "128 KiB", time: str = "300 ms") -> dict[str, Any]:
    text = STREAM.format(depth=depth, read=read, size=size, time=time)
    spec = RunSpec(
        "run", machine, "stream.toml", (("scale", "256"),) if "exos" not in machine else (), workload_text=text
    )
    whole = execute([spec])[0]
    document = intervals_of(spec, whole, Asked(90, 8), None, lambda _: None, lambda _: nullcontext())
    return {one["figure"]: dict(one) for one in document["figures"]}


@pytest.mark.parametrize("read", [0, 100])
def test_a_stream_of_a_disk_stays_within_its_outer_zone(read: int) -> None:
    figures = of_stream("exos-x16-16tb", read, time="1 s")
    rate, mean = figures["bandwidth_bytes_per_s"], figures["latency_mean_ns"]
    assert rate["low"] < rate["predicted"] <= rate["high"] <= EXOS_OUTER * (1 + 1e-9)
    assert rate["values_high"] <= rate["high"] * 1.01
    iops = figures["iops"]
    assert iops["high"] * 128 * 1024 <= EXOS_OUTER * (1 + 1e-6)
    # The mean of a closed loop is the inverse of its rate.
    assert mean["predicted"] / mean["low"] == pytest.approx(rate["high"] / rate["predicted"], rel=0.01)


def test_a_stream_of_a_solid_state_drive_stays_within_its_lanes() -> None:
    rate = of_stream("pm893-3840", 100)["bandwidth_bytes_per_s"]
    ports = ceiling("pm893-3840")["ports"]
    assert ports is not None
    assert ports <= 600 * MB
    assert rate["predicted"] <= rate["high"] <= ports * (1 + 1e-9)


def test_every_drive_of_the_catalog_has_a_port() -> None:
    for one in drives():
        found = ceiling(one["name"])
        if one["kind"] == "black-box":
            assert found == {"ports": None, "media": None}
            continue
        assert found["ports"] is not None, one["name"]
        assert found["ports"] < 16_000 * MB, one["name"]


def test_a_value_that_is_set_is_not_at_the_end_of_its_range() -> None:
    assert ceiling("exos-x16-16tb")["media"] == pytest.approx(EXOS_OUTER)
    assert ceiling("exos-x16-16tb", sustained_outer="261 MB/s")["media"] == pytest.approx(261 * MB)


def test_lanes_carry_what_their_generation_says() -> None:
    ports = ceiling("7450-pro-3840")["ports"]
    assert ports == pytest.approx(7_200 * MB)
    # Both directions at once.
    assert ceiling("7450-pro-3840", read_share=0.5)["ports"] == pytest.approx(2 * 7_200 * MB)


def test_a_layout_has_the_sum_of_its_members_and_writes_its_copies_to_them() -> None:
    assert ceiling("raid0:4xexos-x16-16tb")["media"] == pytest.approx(4 * EXOS_OUTER)
    assert ceiling("raid1:2xexos-x16-16tb", read_share=0.0)["media"] == pytest.approx(EXOS_OUTER)


@pytest.mark.parametrize(
    ("ports", "media", "predicted", "most"),
    [
        (600.0, 274.0, 100.0, 274.0),
        # Above what the media give it comes from a cache: the port is what limits it.
        (600.0, 274.0, 400.0, 600.0),
        # A little above: it stays where it is.
        (600.0, 274.0, 280.0, 280.0),
        (600.0, None, 100.0, 600.0),
        (None, None, 100.0, None),
        # Above all that is known, nothing is known.
        (600.0, 274.0, 900.0, None),
    ],
)
def test_the_lowest_limit_above_a_prediction_counts(
    ports: float | None, media: float | None, predicted: float, most: float | None
) -> None:
    room = room_below({"ports": ports, "media": media}, predicted)
    assert room == (None if most is None else pytest.approx(math.log(most / predicted)))


@pytest.mark.parametrize(
    ("name", "is_inverse", "ends"),
    [
        ("iops", False, (-1.0, 0.5)),
        ("bandwidth_bytes_per_s", False, (-1.0, 1.0)),
        ("latency_mean_ns", True, (-0.5, 1.0)),
        ("latency_mean_ns", False, (-1.0, 1.0)),
        ("latency_p99_ns", True, (-1.0, 1.0)),
    ],
)
def test_a_rate_is_capped_and_the_mean_of_a_closed_loop_with_it(
    name: str, is_inverse: bool, ends: tuple[float, float]
) -> None:
    room: Mapping[str, float] = {"iops": 0.5}
    assert capped(name, (-1.0, 1.0), room, is_inverse=is_inverse) == ends


@pytest.mark.parametrize(
    ("name", "bounds", "ends"),
    [("iops", (0.75, 1.75), (-0.5, 0.5)), ("latency_mean_ns", (-1.75, -0.75), (-0.5, 0.5))],
)
def test_an_interval_that_its_product_moves_beyond_a_ceiling_does_not_become_a_point(
    name: str, bounds: tuple[float, float], ends: tuple[float, float]
) -> None:
    assert capped(name, bounds, {"iops": 0.5}, is_inverse=True) == ends


def test_reads_and_writes_have_ceilings_of_their_own() -> None:
    spec = RunSpec(
        "run", "pm893-3840", "iometer-4k-rand-70-30", (("scale", "256"), ("warm_up", "0 s")), duration="100 ms"
    )
    room = room_of(spec, execute([spec])[0].record)
    assert {"iops", "read.iops", "write.iops"} <= set(room)
    assert room["read.iops"] == room["read.bandwidth_bytes_per_s"] > 0


@pytest.mark.parametrize("drive", ["exos-15e900-512n", "exos-x18-18tb", "st8000as0002"])
def test_a_tail_at_depth_one_does_not_end_below_the_mean_that_the_rate_allows(drive: str) -> None:
    record = hb.run("fio-randread", on=drive, duration="2 s", interval=90).document
    figures = {figure["figure"]: figure for figure in record["intervals"]["figures"]}
    rates, p99 = figures["iops"], figures["latency_p99_ns"]
    # The highest rate has the shortest mean, one I/O at a time; the one in flight at the end counts for neither.
    counted = 1 - 1 / record["summary"]["count"]
    assert p99["low"] >= 1e9 / rates["high"] * counted
    assert p99["high"] >= 1e9 / rates["low"] * counted


@pytest.mark.parametrize(("drive", "turn_ms", "stroke_ms"), [("exos-15e900-512n", 4.0, 5.1), ("ent-10k", 6.0, None)])
def test_a_lone_random_read_of_a_disk_takes_a_seek_and_a_turn_at_most(
    drive: str, turn_ms: float, stroke_ms: float | None
) -> None:
    record = hb.run("fio-randread", on=drive, duration="2 s", interval=90, draws=8)
    assert record.intervals is not None
    figures = {row["figure"]: (row["low"] / 1e6, row["high"] / 1e6) for row in record.document["intervals"]["figures"]}
    for name, turns in (("latency_mean_ns", 0.5), ("latency_p50_ns", 0.5), ("latency_p99_ns", 0.99)):
        low, high = figures[name]
        # The rotation alone is uniform over a turn.
        assert low >= turns * turn_ms * (1 - 1e-9)
        if stroke_ms is not None:
            assert high <= 1.05 * (stroke_ms + turns * turn_ms + 0.5)
    assert figures["latency_p999_ns"][0] >= 0.999 * turn_ms * (1 - 1e-9)


@pytest.mark.parametrize(
    ("load", "machine", "settings"),
    [
        ("fio-randwrite", "ent-10k", {}),
        ("fio-randread", "ent-10k", {"qd": 2}),
        ("fio-randread", "raid1:2xent-10k", {}),
        ("fio-randread", "ent-10k", {"random_pct": 50}),
        ("fio-randread", "ent-10k", {"bs": "1 MiB"}),
        ("fio-randread", "s4500-960", {"scale": 512}),
        # Within 100 times the drive's cache of 128 MB.
        ("fio-randread", "ent-10k", {"span": "10 GB"}),
        ("fio-randread", "ent-10k", {"span": "0.5 %"}),
    ],
)
def test_seek_and_turn_bound_no_other_load(load: str, machine: str, settings: dict[str, object]) -> None:
    record = hb.run(load, on=machine, duration="0.2 s", set=settings)
    spec = RunSpec("r", machine, load, tuple((key, str(value)) for key, value in settings.items()))
    assert latency_bounds(spec, record.document) == {}


@pytest.mark.parametrize(
    ("region", "are_bounded"),
    [
        ("", True),
        ('range = ["10 %", "60 %"]', True),
        ('range = ["0 GB", "10 GB"]', False),
        ('range = ["1 GiB", "1 GiB + 80 %"]', False),
        ('offsets = { hotspot = { data = "1 %", ios = "80 %" } }', False),
    ],
)
def test_seek_and_turn_bound_no_reads_of_a_region_that_a_cache_may_hold(region: str, are_bounded: bool) -> None:
    text = STREAM.format(depth=1, read=100, size="4 KiB", time="300 ms").replace(
        "random_pct = 0", f"random_pct = 100\n{region}"
    )
    spec = RunSpec("run", "ent-10k", "w.toml", workload_text=text)
    assert bool(latency_bounds(spec, execute([spec])[0].record)) is are_bounded


def test_seek_and_turn_bound_no_run_with_hits_of_a_cache() -> None:
    spec = RunSpec("run", "ent-10k", "fio-randread", duration="1 s")
    record = execute([spec])[0].record
    assert latency_bounds(spec, record)
    (disk,) = record["parts"]
    disk["counters"]["media_reads"] -= 1 + record["summary"]["count"] // 50
    assert latency_bounds(spec, record) == {}


@pytest.mark.parametrize(
    ("predicted", "ends", "bounded_ends"),
    [
        (4.0, (-1.0, 1.0), (math.log(0.5), math.log(2.0))),
        (4.0, (-0.1, 0.1), (-0.1, 0.1)),
        (1.0, (-1.0, 1.0), (-1.0, 1.0)),
        (9.0, (-1.0, 1.0), (-1.0, 1.0)),
    ],
)
def test_a_prediction_beyond_a_bound_is_not_of_it(
    predicted: float, ends: tuple[float, float], bounded_ends: tuple[float, float]
) -> None:
    found = bounded(predicted, ends, (2.0, 8.0))
    if predicted == 1.0:
        assert found[0] == -1.0
    elif predicted == 9.0:
        assert found[1] == 1.0
    else:
        assert found == pytest.approx(bounded_ends)
