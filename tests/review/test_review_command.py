"""Does `hotband review` print, write and refuse what it should?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from forms import sized
from hotband.base.text.table import MBS
from hotband.questions.review import PARTS, compare
from hotband.views.review import comparison_views, glance, review_views, sparkline

Hotband = Callable[..., "CompletedProcess[str]"]
Reviewed = Callable[[str], dict[str, Any]]

MISTAKES = [
    ("unknown machine", ["savio-10k1"], 'did you mean "savvio-10k1"'),
    ("unknown part", ["savvio-10k1", "--only", "acces"], 'did you mean "access"'),
    ("same machine", ["savvio-10k1", "--against", "savvio-10k1"], "is reviewed twice"),
    ("same twice", ["ent-15k", "--against", "savvio-10k1", "--against", "savvio-10k1"], "is reviewed twice"),
    ("unknown second", ["savvio-10k1", "--against", "cheeta"], "cheetah"),
    ("depth", ["savvio-10k1", "--set", "qd=8"], "a review issues its own I/Os"),
    ("app", ["savvio-10k1", "--set", "app.clients=8"], "a review issues its own I/Os"),
    ("threads", ["savvio-10k1", "--set", "depth=8"], "depth = '8': belongs to a workload, but a review issues"),
    ("unknown key", ["savvio-10k1", "--set", "nothing=8"], "--set = 'nothing': expected one of 62 names"),
    ("drive value", ["savvio-10k1", "--set", "wce=maybe"], "off, on"),
    ("value of one", ["savvio-10k1", "--against", "s4500-960", "--set", "parity=on"], "savvio-10k1 does not accept it"),
    ("state", ["savvio-10k1", "--set", "state=old"], "preconditioned"),
    ("units", ["st14000nm0001"], "--volume with one of d0.lun0, d0.lun1"),
    ("volume", ["savvio-10k1", "--volume", "db"], "expected a volume of savvio-10k1: d0"),
    ("no part", ["savvio-10k1", "--only", ""], "names no part; expected one or more of linear, access"),
    ("commas alone", ["savvio-10k1", "--only", " , "], "names no part"),
    ("no file", ["none.toml"], "cannot be read"),
    ("folder", ["savvio-10k1", "--out", "/proc/none"], "cannot be written"),
]


@pytest.mark.parametrize(("what", "arguments", "said"), MISTAKES, ids=[what for what, _, _ in MISTAKES])
def test_a_mistake_is_one_line(hotband: Hotband, what: str, arguments: list[str], said: str) -> None:
    done = hotband("review", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert said in done.stderr


def test_a_machine_that_is_too_small_is_refused(hotband: Hotband, tmp_path: Path) -> None:
    machine = '[drives.d]\nproduct = "savvio-10k1"\n[volumes]\nv = { on = "d", size = "512 B" }\n'
    (tmp_path / "tiny.toml").write_text(machine)
    done = hotband("review", "tiny.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "too small" in done.stderr


def test_one_machine_prints_every_part_and_its_json_is_the_review(hotband: Hotband) -> None:
    arguments = ("review", "savvio-10k1", "--quick", "--only", "access,patterns")
    shown = hotband(*arguments, "--details")
    assert shown.returncode == 0, shown.stderr
    for words in ("Seagate Savvio 10K.1", "Random access of 512 B", "Iometer's server patterns", "Summary"):
        assert words in shown.stdout
    assert "Transfer over" not in shown.stdout
    made = json.loads(hotband(*arguments, "--json").stdout)
    assert made["schema"] == "hotband-review"
    assert f"{made['access']['read']['mean_ns'] / 1e6:.2f}" in shown.stdout


def test_several_are_compared_and_written(hotband: Hotband, tmp_path: Path) -> None:
    machines = ("savvio-10k1", "cheetah-15k4", "raid1:2xsavvio-10k1")[: sized(2, 3)]
    against = [word for name in machines[1:] for word in ("--against", name)]
    arguments = ("review", machines[0], *against, "--quick", "--only", "access,linear", "--out", "out")
    done = hotband(*arguments)
    assert done.returncode == 0, done.stderr
    folders = ["savvio-10k1", "cheetah-15k4", "raid1-2xsavvio-10k1"][: len(machines)]
    reviews = [json.loads((tmp_path / "out" / folder / "review.json").read_text()) for folder in folders]
    assert [one["machine"]["name"] for one in reviews] == list(machines)
    comparison = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert comparison == compare(reviews)
    assert comparison["overall"]["cheetah-15k4"] > 1.2
    assert f"{comparison['overall']['cheetah-15k4']:.2f}" in done.stdout
    told = json.loads(hotband(*arguments, "--json").stdout)
    assert told == {"schema": "hotband-reviews", "schema_version": 1, "reviews": reviews, "comparison": comparison}


def test_tables_show_what_the_review_says(reviewed: Reviewed) -> None:
    from hotband.base.foreign import console
    from hotband.base.text.layout import fitted
    from hotband.base.text.table import Table

    made = reviewed("savvio-10k1")
    printed = StringIO()
    out = console(printed, 120)
    for view in review_views(made):
        for part in fitted(view, out) if isinstance(view, Table) else [view]:
            out.print(part)
    text = printed.getvalue()
    rows = {row["queue_depth"]: row for row in made["patterns"] if row["pattern"] == "database"}
    assert f"{rows[32]['iops']:,.0f}" in text
    assert f"{made['linear']['mean']['read'] / 1e6:.1f}" in text
    for title in (
        "Transfer over the whole surface",
        "read again and again",
        "written again and again",
        "Files at",
        "Energy",
    ):
        assert title in text
    assert max(len(line) for line in text.splitlines()) <= 120


def test_a_comparison_has_a_column_a_machine(reviewed: Reviewed) -> None:
    reviews = [reviewed("savvio-10k1"), reviewed("cheetah-15k4")]
    *_, ratios = (view for view in comparison_views(reviews, compare(reviews)) if hasattr(view, "columns"))
    assert [column.name for column in ratios.columns] == ["", "savvio-10k1", "cheetah-15k4"]
    assert [row[1] for row in ratios.texts()] == ["1"] * len(ratios.rows)
    shown = glance(reviews[0])
    assert shown["1 reader"] == (pytest.approx(61.6e6, rel=1e-3), MBS)
    assert len(shown) > 20


def test_a_sparkline_goes_from_zero_to_the_largest() -> None:
    assert sparkline([0.0, 3.5, 7.0]) == "▁▅█"
    assert sparkline([]) == ""
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert len(sparkline(list(range(1000)), width=40)) == 40


def example_line() -> tuple[str, str]:
    """The command of the guide to examples with what its comment says it prints."""
    text = (Path(__file__).parents[2] / "docs" / "guides" / "examples.md").read_text(encoding="utf-8")
    found = re.search(r"^(hotband review [^#\n]*?) +# (.*)$", text, re.MULTILINE)
    assert found is not None
    return found[1], found[2]


def test_the_guide_says_what_is_printed(hotband: Hotband) -> None:
    call, said = example_line()
    arguments = call.replace(" --out out/review", "").split()[1:]
    done = hotband(*arguments, "--only", "patterns", "--json")
    assert done.returncode == 0, done.stderr
    [server] = json.loads(done.stdout)["comparison"]["groups"]
    stated = [float(text) for text in re.findall(r"\d+\.\d+", said)]
    assert stated == [round(ratio, 2) for ratio in list(server["ratios"].values())[1:]]


def test_the_guide_has_every_part() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/review.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z][a-z-]*)` \| ", guide[: guide.index("**The surface")], re.MULTILINE) == list(PARTS)
