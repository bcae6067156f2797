"""Are tables with semicolons read with decimal commas, and numbers with two readings refused with both?"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.base.text.amounts import AmbiguousAmount
from hotband.base.text.separated import plain, separator_of
from hotband.data.corpus.figure import columns_of_file, read_figures
from hotband.data.corpus.sheets import COLUMNS as OF_SHEETS
from hotband.data.corpus.sheets import read_sheets
from hotband.data.importers import iometer
from hotband.inference.audit.published import COLUMNS, read_table
from hotband.questions.advise.prices import read_prices
from hotband.questions.fleet.lifetimes import read_lifetimes
from hotband.questions.study.rows import PUBLISHED_COLUMNS, read_published


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[("0,532", "0.532"), ("12,5", "12.5"), ("-1,25", "-1.25"), ("1.234.567", "1234567.0"), ("1.234,5", "1234.5")],
        *[("1 234,5", "1234.5"), ("0.5", "0.5"), ("17", "17"), ("n/a", "n/a"), ("1.2.3", "1.2.3"), ("1,5e3", "1.5e3")],
    ],
)
def test_decimals_follow_a_comma_between_semicolons(text: str, number: str) -> None:
    found = plain(text, ";")
    assert found == number or float(found) == float(number)
    assert plain(text, ",") == text


@pytest.mark.parametrize("text", ["1,234", "1.234", "-999,999"])
def test_three_digits_behind_one_mark_are_refused_between_semicolons(text: str) -> None:
    with pytest.raises(AmbiguousAmount, match=r"is .* or .*: expected an unambiguous number"):
        plain(text, ";")


def test_what_separates_a_heading_is_the_mark_that_it_has_most_of() -> None:
    headings = {"a;b;c": ";", "a,b": ",", "a\tb\tc": "\t", "a": ",", "a;b,c,d": ","}
    assert {heading: separator_of(heading) for heading in headings} == headings


def _rows(columns: tuple[str, ...], row: dict[str, str]) -> str:
    return ";".join(columns) + "\n" + ";".join(row.get(name, "") for name in columns) + "\n"


def _figure(folder: Path, number: str) -> float:
    row = {"metric": "iops", "base_unit": "1/s", "low": number, "high": number}
    return next(iter(read_figures(io.StringIO(_rows(tuple(columns_of_file()), row)), "f.csv"))).high


def _sheet(folder: Path, number: str) -> float:
    row = {"family": "a", "model": "b", "capacity_gb": "960", "key": "latency", "value": number}
    return float(read_sheets(io.StringIO(_rows(OF_SHEETS, row)), "f.csv")["a"][0].rows[0].value)


def _price(folder: Path, number: str) -> float:
    (folder / "f.csv").write_text(f"drive;price;currency\nent-10k;{number};EUR\n")
    return read_prices(folder / "f.csv").of["ent-10k"].price


def _audited(folder: Path, number: str) -> float:
    row = dict.fromkeys(COLUMNS, "x") | {"metric": "IOPS", "value": number, "unit": "IOPS", "kind": "measured"}
    (folder / "f.csv").write_text(_rows(tuple(COLUMNS), row))
    printed = read_table(folder / "f.csv")[0].printed
    assert printed is not None
    return printed["iops"].value


def _published(folder: Path, number: str) -> float:
    row = dict.fromkeys(PUBLISHED_COLUMNS, "x") | {"value": number, "kind": "measured"}
    (folder / "f.csv").write_text(_rows(PUBLISHED_COLUMNS, row))
    return read_published(folder / "f.csv", {})[0].value or 0.0


def _lifetime(folder: Path, number: str) -> float:
    (folder / "f.csv").write_text(f"days;failed\n{number};1\n")
    return float(read_lifetimes(folder / "f.csv").end[0]) / 24


def _iometer(folder: Path, number: str) -> float:
    names = "Target Name;Access Specification Name;# Managers;# Workers;# Disks;IOps;Read I/Os;Average Response Time"
    (folder / "f.csv").write_text(f"'Results\n'Target Type;{names}\nALL;All;4K;1;1;1;{number};2301;1,0\n")
    return float(iometer.read([folder / "f.csv"])[0].record["summary"]["iops"])


def _twice(folder: Path, heading: str) -> Path:
    (folder / "f.csv").write_text(f"{heading}\n{','.join('1' for _ in heading.split(','))}\n")
    return folder / "f.csv"


@pytest.mark.parametrize(
    ("read", "heading"),
    [
        (read_prices, "drive,price,Price"),
        (read_lifetimes, "Days,days,failed"),
        (read_lifetimes, "failed,note,days,Failed"),
        (read_lifetimes, "date,serial,smart_9_raw,failure,SMART_9_RAW"),
        (lambda path: read_lifetimes(path, "x"), "days,failed,model,model"),
        (read_table, ",".join([*COLUMNS, "Value"])),
        (lambda path: read_published(path, {}), ",".join([*PUBLISHED_COLUMNS, "value"])),
        (lambda path: list(read_figures(path.open(), "f.csv")), ",".join([*columns_of_file(), "low"])),
    ],
)
def test_a_column_that_occurs_twice_is_refused(read: Callable[[Path], object], heading: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="occurs twice"):
        read(_twice(tmp_path, heading))


@pytest.mark.parametrize(
    ("read", "heading"),
    [
        (read_lifetimes, "note,Note,note,days,failed"),
        (read_lifetimes, '"capacity, bytes","size, bytes",days,failed'),
        (read_lifetimes, "model,model,first,first,days,failed"),
        (lambda path: read_lifetimes(path, "1"), '"a,""b"",c","c",Model,days,failed'),
        (read_table, ",".join([*COLUMNS, "remark", "remark"])),
        (lambda path: list(read_figures(path.open(), "f.csv")), ",".join([*columns_of_file(), "remark", "remark"])),
        (lambda path: read_sheets(path.open(), "f.csv"), ",".join([*OF_SHEETS, "remark", "remark"])),
        (lambda path: read_published(path, {}), ",".join([*PUBLISHED_COLUMNS, "remark", "remark"])),
    ],
)
def test_columns_that_are_not_read_may_occur_twice(
    read: Callable[[Path], object], heading: str, tmp_path: Path
) -> None:
    names = next(csv.reader([heading]))
    special = {"metric": "iops", "base_unit": "1/s", "kind": "measured", "unit": "IOPS"}
    row = ",".join(special.get(name, "1") for name in names)
    (tmp_path / "f.csv").write_text(f"{heading}\n{row}\n")
    assert read(tmp_path / "f.csv")


READERS = [_figure, _sheet, _price, _audited, _published, _lifetime, _iometer]


@pytest.mark.parametrize("reader", READERS)
def test_each_table_is_read_with_semicolons_and_decimal_commas(
    reader: Callable[[Path, str], float], tmp_path: Path
) -> None:
    assert reader(tmp_path, "1150,5") == 1150.5
    with pytest.raises(UserError, match=r"1,150.*is 1150 or 1\.15"):
        reader(tmp_path, "1,150")
