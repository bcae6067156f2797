"""Are the figures of a review those that the drives' values and arithmetic say?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forms import sized
from hotband.base.text.quantities import size_bytes, span_ns

Reviewed = Callable[[str], dict[str, Any]]
Value = Callable[[str, str], str]
DISKS = sized(["savvio-10k1", "exos-15e900-512n"], ["savvio-10k1", "cheetah-15k4", "exos-15e900-512n"])
SAVVIO = "savvio-10k1"


def rate(text: str) -> float:
    """Bytes a second of a rate such as "62 MB/s"."""
    found = size_bytes(text.removesuffix("/s"))
    assert found is not None
    return found


def time_ns(text: str) -> float:
    """Nanoseconds of a time."""
    found = span_ns(text)
    assert found is not None
    return found


def by(rows: list[dict[str, Any]], figure: str, **keys: Any) -> dict[Any, float]:
    """A figure against what varies: `keys` are held, the one key that is None varies."""
    varies = next(key for key, value in keys.items() if value is None)
    held = {key: value for key, value in keys.items() if value is not None}
    return {row[varies]: row[figure] for row in rows if all(row[key] == value for key, value in held.items())}


@pytest.mark.parametrize("disk", DISKS)
@pytest.mark.parametrize("op", ["read", "write"])
def test_the_curve_falls_from_the_outer_to_the_inner_rate(
    reviewed: Reviewed, catalog_value: Value, disk: str, op: str
) -> None:
    rates = [place["bandwidth_bytes_per_s"] for place in reviewed(disk)["linear"][op]]
    outer, inner = (rate(catalog_value(disk, f"sustained_{end}")) for end in ("outer", "inner"))
    # 64 MiB lie in one zone or on the border of two; zones differ by a few percent.
    assert rates[0] == pytest.approx(outer, rel=0.02)
    assert rates[-1] == pytest.approx(inner, rel=0.02)
    assert rates[0] / rates[-1] == pytest.approx(outer / inner, rel=0.03)
    offsets = [place["offset_bytes"] for place in reviewed(disk)["linear"][op]]
    assert offsets == sorted(offsets)
    assert offsets[0] == 0
    assert offsets[-1] > 0.99 * reviewed(disk)["machine"]["capacity_bytes"]
    tenths = [sum(rates[n : n + 10]) for n in range(0, 100, 10)]
    assert tenths == sorted(tenths, reverse=True)


@pytest.mark.parametrize("disk", DISKS)
def test_access_time_is_seek_and_half_a_revolution_and_overhead(
    reviewed: Reviewed, catalog_value: Value, disk: str
) -> None:
    half_a_turn = 60e9 / float(catalog_value(disk, "rpm").removesuffix(" rpm")) / 2
    overhead = time_ns(catalog_value(disk, "command_overhead"))
    expected = time_ns(catalog_value(disk, "seek_read_average")) + half_a_turn + overhead
    # Sectors are denser outside, so random sectors are a little nearer to each other than random tracks.
    assert reviewed(disk)["access"]["read"]["mean_ns"] == pytest.approx(expected, rel=0.03)


def test_without_a_write_cache_a_write_takes_its_seek_too(reviewed: Reviewed, catalog_value: Value) -> None:
    longer = time_ns(catalog_value(SAVVIO, "seek_write_average")) - time_ns(catalog_value(SAVVIO, "seek_read_average"))
    access = reviewed(SAVVIO)["access"]
    # The difference of two means of 10,000 accesses whose spread is 2.2 ms: four standard errors.
    assert access["write"]["mean_ns"] - access["read"]["mean_ns"] == pytest.approx(longer, abs=4 * 2.2e6 * 0.0141)


@pytest.mark.parametrize("op", ["read", "write"])
def test_the_distribution_is_of_all_accesses(reviewed: Reviewed, op: str) -> None:
    access = reviewed(SAVVIO)["access"][op]
    uppers = [upper for upper, _ in access["bins"]]
    assert sum(count for _, count in access["bins"]) == access["count"]
    # The first I/O of a step was still asked for by the step before.
    assert access["count"] >= 9_999
    assert len({b - a for a, b in zip([0, *uppers], uppers, strict=False)}) == 1
    assert uppers[-2] < access["max_ns"] * 1.001 <= uppers[-1] * 1.001
    middle = sum((upper - uppers[0] / 2) * count for upper, count in access["bins"]) / access["count"]
    assert middle == pytest.approx(access["mean_ns"], rel=0.01)


@pytest.mark.parametrize("pattern", ["file-server", "web-server", "database", "workstation"])
def test_a_deeper_queue_does_more(reviewed: Reviewed, pattern: str) -> None:
    rows = reviewed(SAVVIO)["patterns"]
    iops = by(rows, "iops", pattern=pattern, queue_depth=None)
    assert list(iops) == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    # Up to the 64 commands that the drive queues; beyond, it does as much.
    rising = [iops[1 << n] for n in range(7)]
    assert rising == sorted(rising)
    assert iops[64] > 2.5 * iops[1]
    assert iops[256] == pytest.approx(iops[64], rel=0.05)


@pytest.mark.parametrize("machine", [SAVVIO, "raid1:2xsavvio-10k1"])
def test_depth_is_rate_times_latency(reviewed: Reviewed, machine: str) -> None:
    for row in reviewed(machine)["patterns"]:
        # Those that are outstanding at the ends of a step belong to it in part: at most 2 x depth of its I/Os.
        outstanding = row["iops"] * row["latency_mean_ns"] / 1e9
        assert outstanding == pytest.approx(row["queue_depth"], rel=0.05), row


def test_two_readers_disturb_each_other(reviewed: Reviewed) -> None:
    rows = reviewed(SAVVIO)["streams"]
    together = by(rows, "bandwidth_bytes_per_s", op="read", streams=None)
    slowest = by(rows, "slowest_bytes_per_s", op="read", streams=None)
    assert together[2] < 0.5 * together[1]
    assert all(count * slowest[count] <= together[count] * 1.01 for count in (1, 2, 3, 4))
    assert slowest[4] < slowest[2] < slowest[1]


def test_a_small_file_is_read_at_the_speed_of_the_port(reviewed: Reviewed, catalog_value: Value) -> None:
    rows = reviewed(SAVVIO)["block_sizes"]
    rates = by(rows, "bandwidth_bytes_per_s", op="read", file_bytes=131072, block_bytes=None)
    overhead, port = time_ns(catalog_value(SAVVIO, "cache_overhead")), rate(catalog_value(SAVVIO, "port_rate"))
    for block, got in rates.items():
        assert got == pytest.approx(block / (overhead / 1e9 + block / port), rel=0.01), block
    assert rates[131072] > 4 * rate(catalog_value(SAVVIO, "sustained_outer"))


def test_a_large_file_is_read_at_the_speed_of_the_media(reviewed: Reviewed, catalog_value: Value) -> None:
    rows = reviewed(SAVVIO)["block_sizes"]
    rates = by(rows, "bandwidth_bytes_per_s", op="read", file_bytes=32 << 20, block_bytes=None)
    outer = rate(catalog_value(SAVVIO, "sustained_outer"))
    assert 0.95 * outer < rates[65536] <= outer
    assert rates[512] < rates[4096] < rates[65536]


def test_written_blocks_without_a_cache_take_a_revolution_each(reviewed: Reviewed, catalog_value: Value) -> None:
    rows = reviewed(SAVVIO)["block_sizes"]
    rates = by(rows, "iops", op="write", file_bytes=8 << 20, block_bytes=None)
    turns = float(catalog_value(SAVVIO, "rpm").removesuffix(" rpm")) / 60
    assert rates[512] == pytest.approx(turns, rel=0.05)


@pytest.mark.parametrize("size", ["small", "large"])
def test_a_copy_takes_a_read_and_a_write(reviewed: Reviewed, size: str) -> None:
    rows = reviewed(SAVVIO)["files"]
    read, write, copy = (
        by(rows, "files_per_s", op=op, size=size, queue_depth=None) for op in ("read", "write", "copy")
    )
    assert 1 / copy[1] == pytest.approx(1 / read[1] + 1 / write[1], rel=0.03)
    assert all(copy[depth] <= min(read[depth], write[depth]) for depth in copy)
    assert list(copy) == [1, 2, 4, 8, 16, 32, 64]


def test_an_extent_is_moved_in_its_latency(reviewed: Reviewed) -> None:
    moved = reviewed(SAVVIO)["defragmentation"]
    assert moved["extents_per_s"] * moved["latency_mean_ns"] / 1e9 == pytest.approx(1.0, rel=0.001)
    assert moved["bandwidth_bytes_per_s"] == pytest.approx(moved["extents_per_s"] * 65536)


def test_large_blocks_stream_faster_than_small_ones_are_written(reviewed: Reviewed) -> None:
    rates = {(row["op"], row["blocks"]): row["bandwidth_bytes_per_s"] for row in reviewed(SAVVIO)["streaming"]}
    assert rates["write", "large"] > 10 * rates["write", "small"]
    assert rates["read", "large"] == pytest.approx(rates["read", "small"], rel=0.05)


def test_a_stripe_doubles_linear_rates_and_a_mirror_only_random_reads(reviewed: Reviewed) -> None:
    single, stripe, mirror = (reviewed(name) for name in (SAVVIO, "raid0:2xsavvio-10k1:256KiB", "raid1:2xsavvio-10k1"))
    for op in ("read", "write"):
        one, two, copies = (review["linear"]["mean"][op] for review in (single, stripe, mirror))
        assert two == pytest.approx(2 * one, rel=0.03)
        assert one * 0.97 < copies < one * 1.15
    reads = [by(review["patterns"], "iops", pattern="web-server", queue_depth=None)[256] for review in (single, mirror)]
    assert reads[1] == pytest.approx(2 * reads[0], rel=0.05)


def test_a_solid_state_drive_has_no_outer_zone_and_reads_what_was_written(
    reviewed: Reviewed, catalog_value: Value
) -> None:
    drive = reviewed("s4500-960")
    rates = [place["bandwidth_bytes_per_s"] for place in drive["linear"]["read"]]
    assert max(rates) < 1.02 * min(rates)
    # From flash, not from the memory that answers what was never written.
    assert drive["access"]["read"]["mean_ns"] > time_ns(catalog_value("s4500-960", "read_time"))
    assert drive["machine"]["capacity_bytes"] == pytest.approx(960e9, rel=0.01)
    assert drive["linear"]["read"][-1]["offset_bytes"] > 0.98 * 960e9
    assert any("not preconditioned" in note for note in drive["notes"])


def test_energy_is_between_rest_and_work(reviewed: Reviewed, catalog_value: Value) -> None:
    energy = reviewed("raid1:2xsavvio-10k1")["energy"]
    idle, most = (float(catalog_value(SAVVIO, f"power_{key}").removesuffix(" W")) for key in ("idle", "seek"))
    assert energy["idle_w"] == pytest.approx(2 * idle)
    for pattern, watts in energy["patterns_w"].items():
        assert 2 * idle < watts <= 2 * most * 1.0001
        iops = by(reviewed("raid1:2xsavvio-10k1")["patterns"], "iops", pattern=pattern, queue_depth=None)[8]
        assert energy["joules_per_io"][pattern] == pytest.approx(watts / iops, rel=0.05)


@pytest.mark.parametrize("machine", ["s4500-960", "raid1:2xsavvio-10k1"])
def test_energy_stands_between_the_ends_of_its_ranges(reviewed: Reviewed, machine: str) -> None:
    energy = reviewed(machine)["energy"]
    for key, low, high in (
        ("patterns_w", "patterns_low_w", "patterns_high_w"),
        ("joules_per_io", "joules_per_io_low", "joules_per_io_high"),
    ):
        assert len(energy[key]) == 4
        for pattern, value in energy[key].items():
            assert 0.5 * value < energy[low][pattern] < value < energy[high][pattern] < 2 * value


def test_a_solid_state_drive_draws_between_rest_and_writing(reviewed: Reviewed, catalog_value: Value) -> None:
    energy = reviewed("s4500-960")["energy"]
    idle, write = (float(catalog_value("s4500-960", f"power_{key}").removesuffix(" W")) for key in ("idle", "write"))
    assert energy["idle_w"] == pytest.approx(idle)
    assert all(idle < watts < write for watts in energy["patterns_w"].values())


@pytest.mark.parametrize("disk", sized(["exos-15e900-512n"], ["exos-15e900-512n", "mg06sca-10tb"]))
def test_a_write_cache_does_not_stream_faster_than_the_media(
    reviewed: Reviewed, catalog_value: Value, disk: str
) -> None:
    outer = rate(catalog_value(disk, "sustained_outer"))
    rates = {row["blocks"]: row["bandwidth_bytes_per_s"] for row in reviewed(disk)["streaming"] if row["op"] == "write"}
    assert rates["large"] == pytest.approx(outer, rel=0.03)
    assert rates["small"] < 1.03 * outer
    assert max(place["bandwidth_bytes_per_s"] for place in reviewed(disk)["linear"]["write"]) < 1.02 * outer
