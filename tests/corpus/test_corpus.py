"""Is the corpus whole, are its figures typed and checked, and does a user's own result become a part of it?"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.data.corpus.check import check, measurements
from hotband.data.corpus.figure import Figure, read_figures
from hotband.data.corpus.files import as_csv, own, shipped
from hotband.data.corpus.named import drive_named, family_of, figures_of
from hotband.inference.corpus.known import known_pools
from hotband.inference.corpus.residuals import own_residuals
from hotband.inference.interval.of_catalog import measured_on
from hotband.questions.corpus import AddCorpusQuestion, added
from hotband.questions.expect.others import Others
from hotband.views.corpus import beside_table

Hotband = Callable[..., CompletedProcess[str]]


def with_values(**values: str) -> list[Figure]:
    """Return figures of one measurement with these metrics."""
    template = next(figure for figure in shipped() if figure.metric == "lat_mean" and figure.depth == "32")
    units = {"iops": "1/s"}
    return [
        replace(
            template, id=name, metric=name, value=value, unit=units.get(name, "us"), low=float(value), high=float(value)
        )
        for name, value in values.items()
    ]


def test_it_has_the_figures_that_can_be_set_up() -> None:
    figures = shipped()
    assert len(figures) == 8008
    assert len({figure.family for figure in figures}) == 159
    assert {figure.confidence for figure in figures} == {"high", "mid"}
    assert len({figure.id for figure in figures}) == len(figures)


def test_a_file_is_read_as_it_is_written() -> None:
    figures = shipped()[::50]
    assert tuple(read_figures(io.StringIO(as_csv(figures)), "f.csv")) == figures


def test_figures_of_a_measurement_belong_together() -> None:
    groups = measurements(shipped())
    assert sum(map(len, groups)) == 8008
    both = next(group for group in groups if {"iops", "lat_p99"} <= {figure.metric for figure in group})
    assert len({(figure.device, figure.depth, figure.source) for figure in both}) == 1


def test_a_rate_and_a_latency_that_are_not_the_depth_contradict() -> None:
    (finding,) = check(with_values(iops="1000", lat_mean="16000"))
    assert finding.rule == "Little's law"
    assert "are 16 I/Os in flight, and the depth is 32" in finding.text
    assert check(with_values(iops="1000", lat_mean="31000")) == []


def test_digits_that_are_not_printed_are_no_contradiction() -> None:
    assert check(with_values(iops="9000", lat_mean="4000")) == []
    figures = with_values(iops="9000", lat_mean="4")
    assert check([figures[0], replace(figures[1], unit="ms", low=4000.0, high=4000.0)]) == []


def test_percentiles_rise() -> None:
    (finding,) = check(with_values(lat_p50="900", lat_p99="800"))
    assert finding.ids == ("lat_p50", "lat_p99")


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("metric", "iop", "iops"),
        ("low", "many", "expected a number"),
        ("base_unit", "ms", "expected us for lat_mean"),
        ("random", "yes", "expected 1, 0 or an empty cell"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(column: str, value: str, says: str) -> None:
    row = dict(zip(*(line.split(",") for line in as_csv([plain()]).splitlines()), strict=True))
    text = "\n".join((",".join(row), ",".join({**row, column: value}.values())))
    with pytest.raises(UserError, match=r"f\.csv, line 2") as error:
        list(read_figures(io.StringIO(text), "f.csv"))
    assert says in str(error.value)


def plain() -> Figure:
    """Return a figure whose texts have no comma."""
    return replace(with_values(lat_mean="100")[0], host="", note="", source="here", device="a disk", model="m")


def test_a_missing_column_is_named() -> None:
    with pytest.raises(UserError, match=r"f\.csv: class: this column is missing"):
        list(read_figures(io.StringIO("id,family\n1,x\n"), "f.csv"))


@pytest.mark.parametrize(
    ("drive", "family"),
    [
        ("7450-pro-3840", "micron 7450"),
        ("p4510-4tb", "intel p4510"),
        ("p4800x-750", "intel optane p4800x"),
        ("p5336-61440", "solidigm d5-p5336"),
        ("pm1743-15360", "samsung pm1743"),
        ("pm9a3-3840", "samsung pm9a3"),
        ("ps1010-7680", "solidigm d7-ps1010"),
        ("exos-x18-18tb", ""),
    ],
)
def test_drives_of_the_catalog_have_the_family_of_their_title(drive: str, family: str) -> None:
    assert family_of(drive) == family
    assert {figure.family for figure in figures_of(drive, shipped())} == ({family} if family else set())


def test_the_page_of_a_drive_compares_what_others_measured(hotband: Hotband) -> None:
    done = hotband("drives", "p4510-4tb", "--json")
    rows = json.loads(done.stdout)["measured"]
    reads = [row for row in rows if row["metric"] == "iops" and "read" in row["load"]["workload"]]
    single = next(row for row in reads if row["load"]["depth"] == "1")
    assert single["interval"][0] < single["measured"] < single["interval"][1]
    assert single["rests_on"].endswith(": SSD, reads at depth 1, state known")
    assert "measured by others" in hotband("drives", "p4510-4tb").stdout
    assert "measured" not in json.loads(hotband("drives", "exos-x18-18tb", "--json").stdout)


def test_predictions_next_to_measurements_have_one_scale() -> None:
    """A prediction had a full value and an interval in thousands next to a measured one without."""
    table = beside_table(measured_on("pm9a3-3840", ["iops"]), 8)
    assert table.columns[-1].kind == "estimate"
    texts = [row[-2:] for row in table.texts()]
    assert texts
    for measured, predicted in texts:
        assert re.fullmatch(r"[\d,]+ IOPS", measured)
        assert re.fullmatch(r"[\d,]+ \([\d,]+ to [\d,]+\)", predicted)


def test_intervals_next_to_measurements_rest_on_figures_of_the_product() -> None:
    """As those of a run do: they are narrower, and hold more of what was measured."""
    rows = [row for row in measured_on("ironwolf-8tb", ["iops"]) if row.interval is not None]
    assert len(rows) == 2
    assert all(" of seagate ironwolf and " in row.rests_on for row in rows)
    (reads,) = (row for row in rows if row.load.direction == "read")
    run = hb.run("fio-randread", on="ironwolf-8tb", qd=32, duration="2 s", interval=90, draws=8, progress=False)
    assert reads.rests_on.removeprefix("from ") in run.document["intervals"]["rests_on"]


def test_commands_say_first_what_they_found(hotband: Hotband) -> None:
    done = hotband("corpus", "list")
    assert done.stdout.startswith("Others measured 159 families: 8,008 figures in ")
    done = hotband("corpus", "show", "samsung 970")
    assert done.stdout.startswith("Others measured Samsung 970 PRO 512GB 14 times: 14 figures from 3 sources.")
    done = hotband("corpus", "show", "no such drive")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the corpus has no figures of it" in done.stderr


def test_a_model_is_the_drive_of_the_catalog_whose_name_it_has() -> None:
    assert drive_named("Samsung 990 PRO 2TB") == drive_named("990-pro-2tb") == "990-pro-2tb"
    assert drive_named("Samsung 990 PRO 8TB") == ""


@pytest.mark.parametrize(
    ("model", "drive"),
    [
        ("Micron 7450 PRO 3.84TB", "7450-pro-3840"),
        ("Micron 7450 PRO 3840 GB", "7450-pro-3840"),
        ("Intel SSD DC P4510 4 TB", "p4510-4tb"),
        ("Intel D3-S4610 480GB", "s4610-480"),
        ("Intel D3-S4610 960GB", ""),
        ("Crucial MX500 1000GB", "mx500-1tb"),
    ],
)
def test_a_model_is_the_drive_of_the_catalog_with_its_capacity(model: str, drive: str) -> None:
    assert drive_named(model) == drive


def test_python_has_the_same() -> None:
    shown = hb.corpus("samsung 970")
    assert {figure.family for group in shown.measurements for figure in group} == {"samsung 970"}
    assert [family.figures for family in hb.corpus_families(words=["hdd", "spinpoint f1"]).families] == [126]


def test_intervals_rest_on_ones_own_figures_of_a_drive_of_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTBAND_CORPUS", str(tmp_path / "mine.csv"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    example = next(figure for figure in shipped() if figure.family == "wd gold" and figure.workload == "randread")
    own = [
        replace(example, id=f"own-{name}", family=name, model=name, span="whole")
        for name in ("exos-x18-18tb", "contoso 4tb")
    ]
    (tmp_path / "new.csv").write_text(as_csv(own), encoding="utf-8")
    before = known_pools()
    answer = added(AddCorpusQuestion(path=tmp_path / "new.csv"), Way(lambda _: nullcontext(), print))
    assert (answer.added, answer.in_intervals) == (2, 1)
    (residual,) = own_residuals()
    assert residual.family == "exos-x18-18tb"
    assert residual.groups[0] == "disk, random reads"
    assert abs(residual.value) < 1.0
    after = known_pools()
    assert after.residuals == (*before.residuals, residual)
    assert known_pools() is after
    file = tmp_path / "mine.errors.csv"
    file.write_text(file.read_text().replace(f"{residual.value:.4f}", "far"))
    with pytest.raises(UserError, match=r"mine.errors.csv: value: is damaged .*expected numbers"):
        known_pools()


def test_ones_own_results_are_added_once(hotband: Hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTBAND_CORPUS", str(tmp_path / "mine.csv"))
    result = {
        "fio version": "fio-3.35", "timestamp": 1700000000,
        "global options": {"direct": "1", "bs": "4k", "ioengine": "libaio"},
        "jobs": [
            {
                "jobname": "r", "job options": {"rw": "randread", "iodepth": "8", "runtime": "30"},
                "job_runtime": 30000,
                "read": {
                    "io_bytes": 30 * 400 * 4096, "io_kbytes": 48000, "bw_bytes": 1638400, "runtime": 30000,
                    "total_ios": 12000, "iops": 400.0,
                    "clat_ns": {"min": 1, "max": 90_000_000, "mean": 19_990_000.0, "N": 12000},
                },
            }
        ],
    }  # fmt: skip
    (tmp_path / "r.json").write_text(json.dumps(result), encoding="utf-8")
    line = ("corpus", "add", str(tmp_path / "r.json"), "--model", "Contoso Disk 4TB", "--class", "hdd")
    done = hotband(*line)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Added 3 figures to your corpus.")
    assert hotband(*line).stdout.startswith("Added 0 figures to your corpus; 3 were there already.")
    shown = json.loads(hotband("corpus", "show", "contoso disk 4tb", "--json").stdout)
    assert {figure["metric"]: figure["low"] for figure in shown["measurements"][0]} == {
        "iops": 400.0,
        "mb_s": 1.6384,
        "lat_mean": 19990.0,
    }
    restated = hotband(*line, "--state", "steady").stdout
    assert restated.startswith("Added 0 figures to your corpus; corrected the state of 3 figures.")
    for again in (line, (*line, "--state", "steady")):
        assert hotband(*again).stdout.startswith("Added 0 figures to your corpus; 3 were there already.")
    assert {figure.state for figure in own()} == {"steady"}
    assert len(own()) == 3
    done = hotband("corpus", "add", str(tmp_path / "mine.csv"), "--state", "fob")
    assert (done.returncode, done.stderr) == (
        2, f"hotband: error: --state = 'fob': only for results: {tmp_path / 'mine.csv'} has a column of states\n"
    )  # fmt: skip
    done = hotband("corpus", "add", str(tmp_path / "r.json"), "--model", "Contoso Disk 4TB", "--class", "disk")
    assert done.returncode == 2
    assert done.stderr.startswith("hotband: error: --class = 'disk': expected one of ")


def test_results_of_others_are_of_drives_of_the_family() -> None:
    words = Others("iops", 400.0, 8, 2, 412.0, 488.0).words
    assert words == "8 results of its family by others: 412 to 488 IOPS; this one is below them"
