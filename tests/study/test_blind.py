"""Are blind predictions those of the table, joined to their studies, and is a damaged table refused by its place?"""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.inference.interval.figureclass import FigureClass, figure_class
from hotband.questions.study import file
from hotband.questions.study.blind import TABLE, check_released, predictions, released
from hotband.questions.study.blind_errors import ALL, blind_errors, blind_figures

HEADING = "id,value,blind,blind_error_pct,blind_of\n"


@pytest.fixture(scope="module")
def studies() -> list[file.Study]:
    return [file.load(name) for name in file.names()]


def table(folder: Path, rows: str) -> Path:
    path = folder / "released.csv"
    path.write_text(HEADING + rows)
    return path


def test_every_released_figure_joins_its_study_with_its_value(studies: list[file.Study]) -> None:
    assert len(released()) == 149
    check_released(studies)
    joined = {name: made for study in studies for name, made in study.blind.items()}
    assert joined == predictions()


def test_every_error_is_that_of_its_prediction_by_the_rule_of_today(studies: list[file.Study]) -> None:
    in_table = {one.id: one.error_pct for one in released()}
    rows = {row["id"]: row for study in studies for row in blind_figures(study)}
    assert set(rows) == set(predictions())
    for name, row in rows.items():
        assert row["blind"] is not None
        # Gains are scored by the ratio that they stand for; the table takes them as plain numbers.
        if in_table[name] is not None and row["unit"] != "%":
            assert row["blind"]["error_pct"] == pytest.approx(in_table[name], abs=0.06), name


def test_a_gain_is_scored_by_its_ratio() -> None:
    row = next(row for row in blind_figures(file.load("savvio-raid")) if row["id"] == "ixbt_savvio_raid-028")
    assert (row["published"], row["predicted"], figure_class(row)) == (12.0, 25.665, FigureClass.GAIN)
    assert row["error_pct"] == pytest.approx((1.25665 / 1.12 - 1) * 100)


def test_errors_are_summed_by_class_each_measurement_once() -> None:
    found = {(one.study, one.figures): one for one in blind_errors()}
    # Of ten cells of content-hdd IOPS, bandwidth and response time were predicted.
    assert found["content-hdd", "rates and times"].measurements == 10
    sizes = [abs(error) for error in (-7.2, -26.5, -18.2, -19.8)]
    assert found["content-hdd", "random rate"].median_pct == pytest.approx(sum(sorted(sizes)[1:3]) / 2, abs=0.1)
    every = [one.measurements for (study, of), one in found.items() if of == "p99.9" and study != ALL]
    assert found[ALL, "p99.9"].measurements == sum(every) == 9


def test_nothing_is_run(hotband) -> None:
    done = hotband("study", "blind", "--details")
    assert done.returncode == 0
    assert "mach2-ceph" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("rows", "key", "words"),
    [
        ("a,1,2,100,\n", "row 1: blind_of", "the commit that predicted it"),
        ("a,1,,100,c\n", "row 1: blind", "the prediction of this error"),
        ("a,1,2,0,c\na,1,2,0,c\n", "row 2: id", "is given twice; first in row 1"),
        ("a,1,many,0,c\n", "row 1: blind", "expected a number, or an empty cell"),
        ("a,1,nan,0,c\n", "row 1: blind", "expected a finite number"),
        ("a,1,2,x,c\n", "row 1: blind_error_pct", "expected a number, or an empty cell"),
        ("a,1,2\n", "row 1", "expected 5, as the heading has"),
    ],
)
def test_a_damaged_table_is_refused_by_its_place(tmp_path: Path, rows: str, key: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        released(table(tmp_path, rows))
    assert (caught.value.file, caught.value.key) == (str(tmp_path / "released.csv"), key)
    assert words in caught.value.accepted


def test_a_table_without_its_columns_or_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "released.csv"
    for content, words in ((b"id,value\n", "missing"), (b"id\xff", "not UTF-8"), (b'"', "not CSV")):
        path.write_bytes(content)
        released.cache_clear()
        with pytest.raises(UserError, match=words):
            released(path)
    path.unlink()
    released.cache_clear()
    with pytest.raises(UserError, match="cannot be read"):
        released(path)


@pytest.mark.parametrize(
    ("rows", "key", "words"),
    [
        ("no-such-figure,1,2,100,c\n", "row 1: id", "is not a figure of a study of the catalog"),
        ("independent-043,8601,2,100,c\n", "row 1: value", "expected 8600, as published.csv of full-sata-ssd has"),
    ],
)
def test_a_released_row_without_its_figure_is_refused(
    tmp_path: Path, studies: list[file.Study], rows: str, key: str, words: str
) -> None:
    with pytest.raises(UserError) as caught:
        check_released(studies, table(tmp_path, rows))
    assert caught.value.key == key
    assert words in caught.value.accepted


def test_the_table_is_shipped() -> None:
    assert TABLE.is_file()
