"""Do a study's swings, intervals and errors from Python agree with what the commands print?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import hotband as hb

TINY = Path(__file__).parent / "tiny"
READS = "study: share of the reads"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tiny study with one queue depth, so that a swing is few runs."""
    copy = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    file = copy / "study.toml"
    file.write_text(file.read_text().replace("sweep = [1, 8]", 'set = { qd = "8" }'))
    return copy


def test_swings_are_what_the_command_prints(hotband, folder: Path) -> None:
    done = hotband("study", "swings", str(folder), "--only", READS, "--json")
    found = hb.study(folder).swings(only=READS, progress=False)
    assert json.loads(json.dumps(found.to_dict())) == json.loads(done.stdout)
    ends = found.frame.filter(found.frame["figure"] == "tiny/fifteen/mixed/most")
    assert ends["end"].to_list() == ["low", "high"]
    assert found.moved[0]["name"] == READS


def test_intervals_are_kept_where_why_finds_them(hotband, folder: Path) -> None:
    made = hb.study(folder).intervals(only="mixed", save=True, progress=False)
    kept = json.loads((folder / "intervals.json").read_text())
    assert made.to_dict() == {"schema": "hotband-study-intervals", "schema_version": 1, **kept}
    figure = made.frame.row(0, named=True)["figure"]
    done = hotband("study", "why", str(folder), figure, "--interval", "80", "--json")
    assert json.loads(json.dumps(hb.study(folder).why(figure, interval=80).to_dict())) == json.loads(done.stdout)


def test_errors_of_blind_predictions_are_what_the_command_prints(hotband) -> None:
    assert hb.blind_errors().to_dicts() == json.loads(hotband("study", "blind", "--json").stdout)


def test_a_study_is_outlined_as_the_listing_has_it(hotband) -> None:
    done = hotband("studies", "content-hdd", "--json")
    assert json.loads(json.dumps(hb.study("content-hdd").to_dict())) == json.loads(done.stdout)


def test_errors_have_a_row_a_class_and_all_studies_at_last() -> None:
    errors = {"measurements": 2, "median_pct": 3.0, "p90_pct": 4.0, "largest_pct": 5.0}
    none = {"measurements": 0, "median_pct": None, "p90_pct": None, "largest_pct": None}
    row = {"figure_class": "random rate", "seen": errors, "blind": none, "now": none, "coverage": None}
    found = hb.Accuracy({"studies": {"a": {"classes": [row], "missed": []}}, "totals": [row], "goals": []})  # type: ignore[typeddict-item, list-item]
    assert found.frame["study"].to_list() == ["a", "all"]
    assert found.frame["seen_largest_pct"].to_list() == [5.0, 5.0]
    assert found.frame["blind_median_pct"].null_count() == 2


@pytest.mark.parametrize(
    ("call", "file", "value"),
    [
        (lambda: hb.study(TINY).swings(only="nothing"), "only", "nothing"),
        (lambda: hb.study("content-hdd").intervals(only="nothing"), "only", "nothing"),
        (lambda: hb.study("content-hdd").why("nothing"), "figure", "nothing"),
        (lambda: hb.study("content-hdd").why("nothing", interval=100), "interval", "100"),
        (lambda: hb.study("content-hdd").swings(jobs="2"), "jobs", "2"),
        (lambda: hb.accuracy("content"), "study", "content"),
        (lambda: hb.accuracy(3), "studies", "3"),
    ],
)
def test_a_mistake_names_the_argument(call, file: str, value: str) -> None:
    with pytest.raises(hb.UserError) as caught:
        call()
    assert (caught.value.file, caught.value.value) == (file, value)
    assert "--" not in str(caught.value)


def test_without_a_figure_those_with_the_largest_errors_are_listed(hotband) -> None:
    done = hotband("study", "why", "content-hdd", "--json")
    found = json.loads(done.stdout)
    sizes = [abs(figure["error_pct"]) for figure in found["figures"]]
    assert found["schema"] == "hotband-study-errors"
    assert sizes == sorted(sizes, reverse=True)
    first = found["figures"][0]
    assert first["error_pct"] == pytest.approx(100 * (first["predicted"] / first["published"] - 1))
    shown = hotband("study", "why", "content-hdd").stdout
    assert first["figure"] in shown.splitlines()[4]
    # The next command names a figure, and explains it.
    following = shown.rstrip().rpartition("Next: hotband ")[2].split()
    assert following == ["study", "why", "content-hdd", first["figure"]]
    assert hotband(*following).stdout.startswith(first["config"])


OTHERS = ("exos-15e900", "savvio-raid", "mach2-ceph", "full-sata-ssd")


@pytest.mark.parametrize("study", ["content-hdd", *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)])
def test_every_figure_that_is_listed_can_be_explained(study: str) -> None:
    rows = hb.study(study).why().rows
    for row in (rows[0], rows[-1]):
        assert hb.study(study).why(row.figure).to_dict()["predicted"] == pytest.approx(row.predicted)


def test_errors_by_values_that_have_changed_are_not_listed(tmp_path: Path) -> None:
    from hotband.data.catalog import CATALOG_DIR

    folder = tmp_path / "stale"
    shutil.copytree(CATALOG_DIR / "studies" / "full_sata_ssd", folder)
    file = folder / "intervals.json"
    values = json.loads(file.read_text())
    next(iter(values["values"].values()))["high"] = "5 %"
    file.write_text(json.dumps(values))
    with pytest.raises(hb.UserError, match="has other values"):
        hb.study(folder).why()
