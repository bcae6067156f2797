"""Are tables the same numbers as CSV, Markdown and JSON, of every command that prints one?"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hotband.base.text.formats import csv_text, markdown_text
from hotband.base.text.table import (
    MBS,
    MS,
    OF_ROW,
    PERCENT,
    Estimate,
    Range,
    Table,
    Unit,
    column,
    estimate,
    interval,
    numeric,
)
from hotband.faces.commands.group import FORMAT, Commands

Hotband = Callable[..., "CompletedProcess[str]"]
GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of the first block of CSV."""
    return list(csv.DictReader(io.StringIO(text.split("\n\n")[0])))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, call: Hotband) -> tuple[Path, dict[str, CompletedProcess[str]]]:
    """What the commands of the guide print, by their beginning."""
    folder = tmp_path_factory.mktemp("formats")
    section = GUIDE.read_text(encoding="utf-8").split("## Tables elsewhere")[1]
    (block,) = re.findall(r"```sh\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    done = {}
    for line in block.strip().splitlines():
        done[line] = call(*shlex.split(line)[1:], cwd=folder)
        assert done[line].returncode == 0, done[line].stderr
    return folder, done


def test_csv_of_a_run_has_the_numbers_of_its_record(printed: tuple[Path, dict[str, CompletedProcess[str]]]) -> None:
    folder, done = printed
    (out,) = (one.stdout for line, one in done.items() if "--out a" in line)
    record = json.loads((folder / "a" / "record.json").read_text())
    read, both = rows_of(out)
    assert (read["record"], read["of"], both["of"]) == (record["name"], "read", "all")
    summary = record["summary"]["read"]
    assert float(read["IOPS"]) == pytest.approx(summary["iops"], rel=1e-11)
    assert float(read["p99 ms"]) == pytest.approx(summary["latency_p99_ns"] / 1e6, rel=1e-11)
    assert "," not in read["max ms"]


def test_csv_of_a_comparison_has_a_column_for_each_end_and_for_the_unit(
    printed: tuple[Path, dict[str, CompletedProcess[str]]],
) -> None:
    (out,) = (one.stdout for line, one in printed[1].items() if line.startswith("hotband compare"))
    rows = rows_of(out)
    assert [(row["of"], row["unit"]) for row in rows[:2]] == [("IOPS", "IOPS"), ("p50", "ms")]
    assert {"95 % interval, from (%)", "95 % interval, to (%)", "difference (%)", "result", "against"} <= set(rows[0])
    change = 100 * (float(rows[0]["B"]) / float(rows[0]["A"]) - 1)
    assert float(rows[0]["difference (%)"]) == pytest.approx(change)


def test_markdown_is_a_table_of_github(printed: tuple[Path, dict[str, CompletedProcess[str]]]) -> None:
    (out,) = (one.stdout for line, one in printed[1].items() if "--out b" in line)
    lines = out.splitlines()
    assert lines[0] == "**fio-randread on ent-10k**"
    assert lines[2].startswith("|   | IOPS | MB/s |")
    assert lines[3] == f"| --- |{' ---: |' * 9}"
    assert {line.count("|") for line in lines[2:6]} == {11}


def test_words_go_to_stderr_so_that_stdout_is_data(printed: tuple[Path, dict[str, CompletedProcess[str]]]) -> None:
    (done,) = (one for line, one in printed[1].items() if "--out a" in line)
    assert "state: write cache" in done.stderr
    assert "state:" not in done.stdout


def test_json_is_the_same_as_the_flag(hotband: Hotband) -> None:
    assert hotband("keys", "--events", "--format", "json").stdout == hotband("keys", "--events", "--json").stdout
    rows = rows_of(hotband("keys", "--events", "--format", "csv").stdout)
    assert [row["supported"] == "yes" for row in rows] == [one["supported"] for one in json.loads(
        hotband("keys", "--events", "--json").stdout)]  # fmt: skip


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by what is typed for it."""
    import typer

    ctx = typer.Context(group, info_name="hotband")
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if isinstance(command, Commands):
            yield from commands(command, f"{path} {name}".strip())
        else:
            yield f"{path} {name}".strip(), command


def test_every_command_that_prints_data_has_every_format() -> None:
    import typer

    from hotband.faces.cli import app

    found = {name: one.params for name, one in commands(typer.main.get_command(app))}
    assert len(found) > 20
    with_json = {name for name, params in found.items() if "as_json" in [param.name for param in params]}
    of_traces = {f"trace {word}" for word in ("compare", "convert", "fit", "show")}
    assert {
        name for name, params in found.items() if FORMAT in [param.name for param in params]
    } == with_json - of_traces
    assert of_traces <= {name for name, params in found.items() if any("--format" in param.opts for param in params)}
    named = {
        "run",
        "compare",
        "drives show",
        "workloads show",
        "studies",
        "study run",
        "study accuracy",
        "audit",
        "review",
    }
    assert named | {"keys", "reliability", "import fio", "measure entropy", "store list"} <= with_json


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("drives", "--format", "xml"), "--format = 'xml': expected one of table, csv, markdown, json"),
        (("drives", "--format", "csv", "--json"), "--format = 'csv': and --json are two formats; expected one of them"),
        (("drives", "--format", "csv", "--format", "csv"), "--format: is given twice; expected it once"),
        (("drives", "--format"), "--format: expected a value after it"),
        (("version", "--format", "csv"), "--format: no such option"),
    ],
)
def test_a_mistake_is_one_line(hotband: Hotband, arguments: tuple[str, ...], words: str) -> None:
    done = hotband(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def made() -> Table:
    """A table with all that a cell can be."""
    columns = [column(""), numeric("rate", MBS), interval("between", PERCENT), estimate("mean ms", MS)]
    table = Table("A", columns, about={"record": "=A"})
    table.add("=1+1|x", 1_234_567_800.0, Range(1.0, 2.0), Estimate(1.5e6, 1e6, 2e6))
    table.add("<b>*y*", None, None, None)
    return table


def test_cells_are_values_with_units_in_the_headings_and_no_formulas() -> None:
    head, first, second = csv_text([made()]).splitlines()
    ends = '"between, from (%)","between, to (%)",mean ms,"mean ms, from","mean ms, to"'
    assert head == f"record,of,rate (MB/s),{ends}"
    assert first == "'=A,'=1+1|x,1234.5678,1,2,1.5,1,2"
    assert second == "'=A,<b>*y*,,,,,,"


def test_tables_of_other_columns_follow_after_an_empty_line_with_their_titles() -> None:
    other = Table("-B", [column("one")])
    other.add("x")
    assert csv_text([made(), other, made()]).splitlines()[-3:] == ["", "table,one", "'-B,x"]


def test_markdown_shows_texts_as_they_are() -> None:
    lines = markdown_text([made()]).splitlines()
    assert lines[4] == "| =1+1\\|x | 1,235 MB/s | 1 to 2 % | 1.5 (1 to 2) |"
    assert lines[5] == "| \\<b\\>\\*y\\* | – | – | – |"


def test_rows_of_several_units_name_theirs_and_columns_have_one() -> None:
    table = Table("", [column("figure"), numeric("measured", OF_ROW), numeric("predicted", OF_ROW)])
    table.add("p50", 716_800.0, 75_690_000.0, unit=MS)
    table.add("IOPS", 1701.0, 154.7, unit=Unit("IOPS"))
    assert table.values() == (
        ["figure", "unit", "measured", "predicted"],
        [["p50", "ms", 0.7168, 75.69], ["IOPS", "IOPS", 1701.0, 154.7]],
    )
    assert table.texts() == [["p50", "717 µs", "75.7 ms"], ["IOPS", "1,701 IOPS", "155 IOPS"]]


def test_a_frame_and_json_have_the_same_values() -> None:
    assert made().frame().rows() == [tuple(row.values()) for row in made().records()]
    assert made().records()[0]["rate (MB/s)"] == 1234.5678
