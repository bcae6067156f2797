"""Does a result whose files leave a reading open say so first, wherever it is quoted?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from result_documents import histogram, hlog

from hotband.data.documents.record import RecordDoc
from hotband.data.importers import load
from hotband.inference.audit.trouble import troubles

Hotband = Callable[..., CompletedProcess[str]]


def imported(path: Path) -> RecordDoc:
    return load(path)[0].record


def fio_log(folder: Path, value: int, further: str = "", job: str = "j") -> Path:
    path = folder / f"{job}_clat.1.log"
    path.write_text("".join(f"{10 * n}, {value + n}, 0, 4096{further}\n" for n in range(200)))
    return path


def test_a_log_without_json_says_that_microseconds_fit_as_well(tmp_path: Path, hotband: Hotband) -> None:
    path = fio_log(tmp_path, 80_000)
    [sentence] = troubles(imported(path))
    assert sentence == (
        "latencies of j are read in ns (fio 3); us (fio 2) would fit as well: put the JSON of the run into the same "
        "folder, which names fio's version"
    )
    other = fio_log(tmp_path, 90_000, job="k").name
    for command in (("import", "auto"), ("audit",), ("compare", other)):
        shown = " ".join(hotband(*command, path.name).stdout.split())
        assert "atencies of j are read in ns (fio 3)" in shown[:300], shown


@pytest.mark.parametrize(("value", "further"), [(80_000, ", 0, 0x0"), (80_000_000, "")])
def test_a_log_that_fits_one_unit_says_nothing(tmp_path: Path, value: int, further: str) -> None:
    assert troubles(imported(fio_log(tmp_path, value, further))) == []


def test_a_saved_record_keeps_its_guess(tmp_path: Path, hotband: Hotband) -> None:
    path = fio_log(tmp_path, 80_000)
    assert hotband("import", "auto", str(path), "--out", str(tmp_path / "r")).returncode == 0
    found = json.loads(hotband("audit", str(tmp_path / "r"), "--json").stdout)["findings"]
    assert "guessed-reading" in [finding["rule"] for finding in found]


@pytest.mark.parametrize(("length", "others"), [("10.000", ["us or ms"]), ("0.001", [])])
def test_a_histogram_names_the_units_that_fit_into_the_time_of_its_log(
    length: str, others: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.hlog"
    path.write_bytes(hlog(f"0.000,{length},0.002,{histogram([1500, 2000])}"))
    assert [guess["other"] for guess in imported(path)["source"].get("guesses", [])] == others


def groups(elapsed_s: int) -> str:
    """Three groups of fio, of 10 s each, whose order fio did not print."""
    side = {"total_ios": 1000, "io_bytes": 4096000, "runtime": 10000, "iops": 100.0, "bw_bytes": 409600}
    jobs = [
        {"jobname": f"j{n}", "groupid": n, "error": 0, "elapsed": elapsed_s, "job options": {"bs": "4k"}, "read": side}
        for n in range(3)
    ]
    return json.dumps({"fio version": "fio-3.33", "timestamp": 1700000000, "jobs": jobs})


@pytest.mark.parametrize(("elapsed_s", "guesses"), [(10, 0), (20, 1), (30, 0)])
def test_groups_that_may_have_run_in_turn_are_a_guess(tmp_path: Path, elapsed_s: int, guesses: int) -> None:
    path = tmp_path / "g.json"
    path.write_text(groups(elapsed_s))
    assert len(imported(path)["source"].get("guesses", [])) == guesses


def test_bytes_are_bytes_wherever_anything_shows_the_age_of_fio(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(groups(30))
    assert imported(path)["summary"]["bytes"] == 3 * 4096000
    path.write_text(groups(30).replace('"bw_bytes": 409600', '"bw": 400'))
    assert imported(path)["summary"]["bytes"] == 3 * 4096000 * 1024, "before 2.99 it counted KiB"
