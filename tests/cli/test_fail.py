"""Does `hotband run --fail` say what failed, how far the rebuild came and what hosts got, and name mistakes?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hotband.data.record.repair import repair_lines

CALL = ("run", "iometer-fileserver", "--on", "raid5:4xsavvio-10k1", "--set", "qd=4", "--duration", "60 s")
FAIL = ("--fail", "drive3@20 s", "--spares", "1", "--rebuild-rate", "30 MB/s", "--rebuild-after", "10 s")


@pytest.fixture(scope="module")
def record(call) -> dict[str, Any]:
    """The record of a run in which a drive fails."""
    done = call(*CALL, *FAIL, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_record_has_what_failed_what_was_rebuilt_and_what_hosts_got(record: dict[str, Any]) -> None:
    repair = record["repair"]
    assert set(repair) == {
        "failures", "spares", "spares_taken", "rebuilds", "service", "sector_errors", "bytes_lost", "io_errors",
    }  # fmt: skip
    assert repair["failures"] == [{"drive": "d3", "at_ns": 20_000_000_000}]
    (rebuild,) = repair["rebuilds"]
    assert (rebuild["drive"], rebuild["spare"], rebuild["layout"], rebuild["state"]) == (
        "d3",
        "spare1",
        "data",
        "running",
    )
    assert (rebuild["began_ns"], rebuild["ended_ns"]) == (30_000_000_000, None)
    assert 0 < rebuild["mean_bytes_per_s"] <= rebuild["rate_limit_bytes_per_s"] == 30_000_000
    durations = {service["phase"]: service["duration_ns"] / 1e9 for service in repair["service"]}
    assert durations == {"before": 20.0, "degraded": 10.0, "rebuilding": 30.0}
    assert sum(service["count"] for service in repair["service"]) == record["summary"]["count"]
    assert (repair["bytes_lost"], repair["io_errors"]) == (0, 0)
    assert any("the run ended before the rebuild of d3" in note for note in record["notes"])


def test_the_options_are_in_the_record(record: dict[str, Any]) -> None:
    expected = {"fail": ["drive3@20 s"], "spare": 1, "rebuild_rate": "30 MB/s", "rebuild_after": "10 s"}
    assert record["spec"]["repair"] == expected


def test_the_terminal_says_it_in_lines(hotband, record: dict[str, Any]) -> None:
    out = hotband(*CALL, *FAIL).stdout
    assert "Failed: d3 at 20 s" in out
    assert "rebuild of d3 of data on spare1: not finished when the run ended" in out
    for phase in ("before", "degraded", "rebuilding"):
        assert f"  {phase} " in out
    assert "no data lost, no I/O failed" in out
    assert "nothing yet" in repair_lines({**record, "repair": {**record["repair"], "failures": []}})[0]


def test_the_same_seed_gives_the_same_record(hotband, record: dict[str, Any]) -> None:
    assert json.loads(hotband(*CALL, *FAIL, "--json").stdout) == record


def test_without_it_there_is_neither_line_nor_key(hotband) -> None:
    call = ("run", "fio-randread", "--on", "raid1:2xsavvio-10k1", "--duration", "1 s")
    assert "Failed" not in hotband(*call).stdout
    record = json.loads(hotband(*call, "--json").stdout)
    assert "repair" not in record
    assert "repair" not in record["spec"]


def test_what_is_lost_is_said(hotband) -> None:
    out = hotband("run", "fio-randread", "--on", "raid0:2xsavvio-10k1", "--duration", "2 s", "--fail", "d1@1 s").stdout
    assert "73.4 GB lost" in out
    assert "I/Os failed" in out


def test_a_drive_below_a_cache_that_failed_is_not_whole_again(hotband, tmp_path: Path) -> None:
    machine = tmp_path / "cached.toml"
    controller = '[layouts.c]\ncontroller = { members = "d0", cache = "16 MiB" }\n'
    machine.write_text('[drives.d]\nproduct = "savvio-10k1"\ncount = 1\n' + controller)
    done = hotband("run", "fio-randread", "--on", str(machine), "--duration", "2 s", "--fail", "d0@1 s", "--json")
    assert [one["phase"] for one in json.loads(done.stdout)["repair"]["service"]] == ["before", "degraded"]


def test_a_rebuild_without_load_takes_capacity_over_the_limit(hotband) -> None:
    call = ("run", "idle", "--on", "raid1:2xsavvio-10k1", "--duration", "4000 s", "--fail", "d0@1 s", "--spares", "1")
    done = hotband(*call, "--rebuild-rate", "20 MB/s", "--json")
    (rebuild,) = json.loads(done.stdout)["repair"]["rebuilds"]
    seconds = (rebuild["ended_ns"] - rebuild["began_ns"]) / 1e9
    assert seconds == pytest.approx(rebuild["of_bytes"] / 20e6, rel=0.02)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fail", "d0"), "DRIVE@TIME"),
        (("--fail", "d0@"), "time"),
        (("--fail", "@1 s"), "d0"),
        (("--fail", "d9@1 s"), "d0"),
        (("--fail", "d0@1 s", "--fail", "d0@2 s"), "each drive once"),
        (("--fail", "d0@61 s"), "at most the measured"),
        (("--fail", "d0@-1 s"), "time"),
        (("--spares", "1"), "--spares = '1': is for drives that fail"),
        (("--rebuild-rate", "1 MB/s"), "is for drives that fail"),
        (("--rebuild-after", "1 s"), "is for drives that fail"),
        (("--fail", "d0@1 s", "--rebuild-rate", "0 MB/s"), "1 kB/s"),
        (("--fail", "d0@1 s", "--spares", "65"), "at most 64"),
        (("--fail", "d0@1 s", "--rebuild-after", "99999999999 d"), "out of range"),
        (("--fail", "d0@99999999999 d"), "out of range"),
        (("--fail", "spare1@1 s", "--spares", "1"), "one of the machine to fail too"),
        (("--fail", "d0@1 s", "--power-loss", "2 s"), "fail+power-off is not supported with layout raid5"),
        (("--fail", "d0@121 s", "--then", "fio-read"), "the measured time of all runs together"),
        (("--fail", "d0@1 s", "--set", "unrecoverable_error_bits=few"), "1e15"),
    ],
)
def test_a_mistake_is_one_line(hotband, options: tuple[str, ...], said: str) -> None:
    done = hotband(*CALL, *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("spares", ["-1", "99999999999999999999999"])
def test_a_number_of_spares_that_is_none_is_named(hotband, spares: str) -> None:
    done = hotband(*CALL, "--fail", "d0@1 s", "--spares", spares)
    assert done.returncode == 2
    assert "--spares" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_failure_without_a_spare_is_noted(hotband) -> None:
    call = ("run", "idle", "--on", "raid0:2xsavvio-10k1", "--duration", "2 s", "--fail", "d1@1 s", "--spares", "1")
    done = hotband(*call)
    assert "no spare replaced d1" in " ".join(done.stdout.split())
