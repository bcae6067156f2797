"""What do the rules say of the 14 raw fio results of croit's MACH.2 study? They lie outside the repository."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hotband.inference.audit import Finding, findings, load_results
from hotband.inference.audit.facts import MachineFacts, of_machine, of_media

# Shares of reads under 2 ms, from the files' own tables, in whole percent (published.csv, croit_mach2).
SHARES = {2: 38, 4: 61, 16: 70, 32: 74, 128: 69, 256: 62}
# Reads a second and disk from the media, lower and upper bound, six disks (published.csv, croit_mach2-303 to 309).
MEDIA = {4: (41, 43), 16: (86, 104), 32: (75, 107), 128: (89, 111), 256: (103, 122)}
MACHINES = {
    "nothing": None,
    "7200rpm": of_media("7200rpm"),
    "hdd": of_media("hdd"),
    "six disks": of_machine("raid0:6xmg06sca-10tb"),
}


@pytest.fixture(scope="module")
def found(croit: list[Path]) -> dict[str, list[Finding]]:
    """Findings by what is known of the target."""
    results = load_results(croit)
    return {name: findings(results, machine) for name, machine in MACHINES.items()}


@pytest.mark.parametrize("known", MACHINES)
def test_nothing_false_is_said(found: dict[str, list[Finding]], known: str) -> None:
    counts = Counter((one.rule, one.severity) for one in found[known])
    assert counts == {
        ("cache-served", "severe"): 6,
        ("replayed-offsets", "severe"): 1,
        ("out-of-sequence", "warning"): 1,
        ("one-repeat", "note"): 1,
    }


@pytest.mark.parametrize("known", MACHINES)
def test_the_shares_from_caches_are_those_of_the_histograms(found: dict[str, list[Finding]], known: str) -> None:
    shares = {one.subject[0]: one.numbers["cache_served_pct"] for one in found[known] if one.rule == "cache-served"}
    assert {name: round(float(share)) for name, share in shares.items()} == {
        f"read-normal-{depth}.json": share for depth, share in SHARES.items()
    }


def test_the_media_rate_is_within_the_published_bounds(found: dict[str, list[Finding]]) -> None:
    served = {one.subject[0]: one.numbers for one in found["six disks"] if one.rule == "cache-served"}
    bounds = {
        depth: tuple(
            round(float(served[f"read-normal-{depth}.json"][f"media_iops_a_drive_{end}"])) for end in ("lower", "upper")
        )
        for depth in MEDIA
    }
    assert bounds == MEDIA


def test_replay_follows_the_clock(found: dict[str, list[Finding]]) -> None:
    replay = next(one for one in found["nothing"] if one.rule == "replayed-offsets")
    assert replay.numbers["runs"] == 14
    assert replay.numbers["replaying_runs"] == 13
    assert replay.subject[0] == "read-normal-1.json", "the first run repeats nothing"
    assert replay.subject[-2:] == ("read-normal-2.json", "read-normal-4.json")
    assert replay.table is not None
    assert replay.table.rows[0][3] == 0.0


def test_the_reads_of_the_next_morning_are_named(found: dict[str, list[Finding]]) -> None:
    late = next(one for one in found["nothing"] if one.rule == "out-of-sequence")
    assert set(late.subject) == {"read-normal-2.json", "read-normal-4.json"}
    # The last of the others ended at 04:44:48, these at 11:18:52 and 11:33:53.
    assert late.numbers["hours_apart"] == pytest.approx(6.818, abs=0.001)


@pytest.mark.parametrize("machine", [None, of_media("7200rpm")], ids=["not known", "7200rpm"])
def test_one_file_of_writes_is_clean(croit: list[Path], machine: MachineFacts | None) -> None:
    for path in croit:
        if path.name.startswith("write") or path.name == "read-normal-1.json":
            assert findings(load_results([path]), machine) == [], path.name
