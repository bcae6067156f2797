"""Are errors summed up by class, seen apart from blind, and has docs/accuracy-studies.md what the command writes?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.base.text.numbers import number
from hotband.questions.study import file
from hotband.questions.study.account import account_of, missed
from hotband.questions.study.accuracy import GOALS, LISTED, RATES_AND_TIMES, by_class, errors, goals, totals
from hotband.questions.study.blind_errors import blind_errors
from hotband.views.accuracy.page import MARKS, missed_text, page_text, rewritable, rewrite
from hotband.views.accuracy.tables import COLUMNS, accuracy_table, goals_table

PAGE = Path(__file__).parents[2] / "docs" / "accuracy-studies.md"


def row(error: float | None, blind: float | None = None, found: str = "random rate", **other: Any) -> Any:
    """A figure as a result lists it."""
    made = None if blind is None else {"predicted": 1.0, "error_pct": blind, "of": "c"}
    named = {"config": "mirror", "label": "reads", "metric": "IOPS", "published": 100.0, "interval": None}
    return {**named, "error_pct": error, "blind": made, "figure_class": found, "counted": True, **other}


def test_errors_count_either_way() -> None:
    found = errors([-30.0, 10.0, None, 20.0])
    assert found == {"measurements": 3, "median_pct": 20.0, "p90_pct": pytest.approx(28.0), "largest_pct": 30.0}
    assert errors([None]) == {"measurements": 0, "median_pct": None, "p90_pct": None, "largest_pct": None}


def test_what_was_predicted_blind_stands_apart_then_and_now() -> None:
    (found,) = by_class([row(5.0), row(-7.0, blind=80.0), row(9.0, blind=-60.0), row(None)])
    assert found["seen"]["largest_pct"] == 5.0
    assert (found["blind"]["median_pct"], found["now"]["median_pct"]) == (70.0, 8.0)
    assert found["blind"]["measurements"] == found["now"]["measurements"] == 2
    assert found["coverage"] is None


def test_what_does_not_count_is_left_out() -> None:
    assert by_class([row(50.0, counted=False)]) == []


def test_classes_stand_apart_and_rates_and_times_together() -> None:
    rows = [row(1.0), row(2.0, found="sequential rate"), row(3.0, found="mean time"), row(90.0, found="p99.9")]
    found = {one["figure_class"]: one["seen"]["measurements"] for one in totals({"a": rows[:2], "b": rows[2:]})}
    assert found == {"random rate": 1, "sequential rate": 1, "mean time": 1, "p99.9": 1, RATES_AND_TIMES: 3}


def test_intervals_are_counted_where_there_are_any() -> None:
    inside, outside = ({"level": 90.0, "low": low, "high": 120.0} for low in (90.0, 110.0))
    (found,) = by_class([row(1.0, interval=inside), row(1.0, interval=outside), row(1.0)])
    assert found["coverage"] == {"intervals": 2, "inside": 1}


def test_goals_are_of_seen_and_blind_together_by_todays_error() -> None:
    found = goals({"s": [row(4.0), row(12.0, blind=99.0), row(30.0, found="write amplification")]})
    of = {(one["figures"], one["statistic"]): one for one in found}
    assert len(of) == len(GOALS)
    assert of[RATES_AND_TIMES, "median"]["reached_pct"] == 8.0
    assert of[RATES_AND_TIMES, "median"]["holds"] is True
    assert of["write amplification", "largest"]["holds"] is True
    assert (of["p50", "median"]["measurements"], of["p50", "median"]["holds"]) == (0, None)


def test_what_is_missed_is_named_by_cell_with_its_reason() -> None:
    study = file.load("full-sata-ssd")
    rows = [row(60.0, blind=58.0, label="4 KiB random read, QD 4"), row(20.0), row(99.0, counted=False)]
    (found,) = missed(study, rows)
    assert found["errors"] == [{"metric": "IOPS", "error_pct": 60.0, "blind_error_pct": 58.0}]
    assert found["why"].startswith("Not explained: the data sheet has 94,000 IOPS")


@pytest.fixture
def account() -> Any:
    """One in which every class has errors of every size that the tables have to hold, and intervals."""
    interval = {"level": 90.0, "low": 0.0, "high": 200.0}
    rows = [row(4170.1, blind, str(one), interval=interval) for one in LISTED for blind in (None, 4170.1, 0.06)]
    studies = {"full-sata-ssd": file.load("full-sata-ssd"), "exos-15e900": file.load("exos-15e900")}
    return account_of(studies, dict.fromkeys(studies, rows))


def test_tables_fit_80_columns(account: Any) -> None:
    from io import StringIO

    from hotband.base.foreign import console
    from hotband.base.text.layout import fitted

    for width in (80, 200):
        for table in (accuracy_table(account), goals_table(account["goals"])):
            out = StringIO()
            for part in fitted(table, console(out, width)):
                console(out, width).print(part)
            lines = out.getvalue().splitlines()
            assert max(map(len, map(str.rstrip, lines))) <= 80
            assert not any("…" in line for line in lines)


def test_the_column_of_intervals_is_there_only_with_intervals(account: Any) -> None:
    assert "in its: range" in page_text(account)
    for one in (*account["totals"], *(of for study in account["studies"].values() for of in study["classes"])):
        one["coverage"] = None
    assert "in its: range" not in page_text(account)
    assert len(accuracy_table(account).columns) == len(COLUMNS) - 1


def test_an_explanation_is_printed_once() -> None:
    errors = [{"metric": "IOPS", "error_pct": 30.0, "blind_error_pct": None}]
    reasons = ("Not the disks.", "Not the disks. Sorting.", "")
    missed: Any = [{"config": "a", "label": "b", "errors": errors, "why": why} for why in reasons]
    assert missed_text(missed)[1::2] == ["Not the disks.", "Sorting.", "Not explained."]


def test_loads_that_differ_in_their_end_are_one_line() -> None:
    errors = [{"metric": "IOPS", "error_pct": 30.0, "blind_error_pct": 40.0}]
    labels = ("read, QD 1", "read, QD 2", "write, QD 2", "boot")
    missed: Any = [{"config": "a", "label": label, "errors": errors, "why": "Seeks."} for label in labels]
    error = "IOPS +30 % (+40 %)"
    lines = [f"- a, read – QD 1: {error}; QD 2: {error}", f"- a, write, QD 2: {error}", f"- a, boot: {error}"]
    assert missed_text(missed) == ["\n".join(lines), "Seeks."]


def test_a_page_is_rewritten_between_its_marks_and_twice_the_same(tmp_path: Path, account: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{MARKS[0]}\nfrom before\n{MARKS[1]}\nafter\n")
    rewrite(page, account)
    first = page.read_text()
    assert first.startswith(f"before\n{MARKS[0]}\n\nErrors")
    assert first.endswith(f"\n{MARKS[1]}\nafter\n")
    assert "from before" not in first
    rewrite(page, account)
    assert page.read_text() == first


@pytest.mark.parametrize("text", ["", MARKS[0], f"{MARKS[1]}\n{MARKS[0]}\n"])
def test_a_page_without_marks_is_refused_before_anything_is_run(hotband, tmp_path: Path, text: str) -> None:
    (tmp_path / "page.md").write_text(text)
    done = hotband("study", "accuracy", "--page", "page.md")
    assert done.returncode == 2
    assert "page.md: has no place for the errors" in done.stderr


def test_an_unknown_study_is_refused(hotband) -> None:
    done = hotband("study", "accuracy", "content-hhd")
    assert (done.returncode, 'did you mean "content-hdd"' in done.stderr) == (2, True)


def cells(text: str) -> list[list[str]]:
    """The rows of the first table of a page, without its heading."""
    lines = [line for line in text.split("## Goals")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_has_the_tables_of_the_command_for_every_study() -> None:
    before, _ = rewritable(PAGE)
    text = PAGE.read_text(encoding="utf-8")[len(before) :].split(MARKS[1])[0]
    heading, _, *rows = cells(text)
    names = ["study", *(f"{over}: {name}" if over else name for over, name in COLUMNS)]
    assert heading == names[: len(heading)]
    assert len(heading) in (len(names), len(names) - 1)
    assert [one[0].strip("*") for one in rows if one[0]] == [*file.whole_names(), "all studies"]
    assert all(f"\n### {name}\n" in text for name in file.whole_names())


def test_the_page_has_the_blind_errors_of_the_table() -> None:
    rows = cells(PAGE.read_text(encoding="utf-8"))[2:]
    total = rows[next(n for n, one in enumerate(rows) if one[0].strip("*") == "all studies") :]
    found = {one[1]: one[5:8] for one in total if one[5] != "–"}
    expected = {
        one.figures: [str(one.measurements), number(one.median_pct), number(one.largest_pct)]
        for one in blind_errors()
        if one.study == "all"
    }
    assert found == expected, "run `make accuracy`"


def test_an_account_is_kept_goes_on_and_begins_again_with_another_version(hotband, tmp_path: Path) -> None:
    study = str(Path(__file__).parent / "tiny")
    first = hotband("study", "accuracy", study, "--out", "out", "--json")
    assert first.returncode == 0, first.stderr
    again = hotband("study", "accuracy", study, "--out", "out", "--json")
    assert again.stdout == first.stdout
    assert "were there already" in again.stderr
    manifest = tmp_path / "out" / "tiny" / "experiment.json"
    table = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**table, "hotband": "0.0.0+other"}))
    anew = hotband("study", "accuracy", study, "--out", "out", "--json")
    assert anew.stdout == first.stdout
    assert "come from another version, 0.0.0+other; starting again" in anew.stderr


def test_errors_of_the_rows_of_a_result_are_those_of_its_figures(full_ssd: tuple[dict[str, Any], Path]) -> None:
    result = full_ssd[0]
    assert result["unmatched"] == []
    for row in result["figures"]:
        low, high = row["interval"]["low"], row["interval"]["high"]
        assert low < row["predicted"] < high, row["label"]
    (found,) = result["summary"]["classes"]
    assert (found["figure_class"], found["seen"]["measurements"], found["now"]["measurements"]) == ("random rate", 8, 7)
    assert found["blind"]["largest_pct"] == pytest.approx(4170.1, abs=0.05)


def test_the_page_of_a_study_has_the_blind_prediction_beside_todays(full_ssd: tuple[dict[str, Any], Path]) -> None:
    page = (full_ssd[1] / "report.html").read_text(encoding="utf-8")
    assert "Blind: predicted before the figure was seen." in page
    assert "12,298 IOPS" in page
    assert "seen: median" in page


def test_the_terminal_and_python_have_it_too(hotband) -> None:
    import hotband as hb

    done = hotband("study", "run", "full-sata-ssd", "--only", "read-1", "--details")
    assert "random rate, predicted before seen: 1, median error 2.40 %" in done.stdout
    figures = hb.study("full-sata-ssd").run(only=["read-1"]).figures
    (found,) = figures.select("figure_class", "blind", "blind_error_pct").rows()
    assert found == ("random rate", 8806.0, pytest.approx(2.395, abs=0.001))


def test_a_page_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        rewritable(tmp_path / "none.md")
