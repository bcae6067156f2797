"""Do the examples of CONTRIBUTING run, and are its quotes those of the files?

Its other Rust blocks are documentation tests of hotband-engine."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import typer

from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.execution.runs import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\S+)\n(?:#|//) (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
"""Language, file and text of each block that begins with the name of a file."""
QUOTES = [(file, text) for language, file, text in BLOCKS if language == "rust,ignore"]
FILES = {file: text for language, file, text in BLOCKS if language in ("toml", "csv")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the page has one write."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("file", "text"), QUOTES)
def test_what_is_quoted_stands_in_its_file(file: str, text: str) -> None:
    source = (ROOT / file).read_text(encoding="utf-8")
    assert [part for part in text.strip("\n").split("\n\n") if part not in source] == []


def test_the_drive_product_runs_as_a_file_of_a_catalog(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("drives", "workloads"):
        shutil.copytree(CATALOG_DIR / kind, folder / "catalog" / kind)
    shutil.copy(folder / "ent-10k-large-cache.toml", folder / "catalog" / "drives")
    monkeypatch.setattr(run, "CATALOG_DIR", folder / "catalog")
    spec = run.RunSpec("it", "ent-10k-large-cache", "fio-randread", duration="1 s")
    done = run.execute_one([run.prepare(spec)], 0)
    assert done.ios > 0
    assert '"256 MB"' in json.dumps(done.record["spec"]["drives"]).replace('\\"', '"')


def test_a_format_is_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from hotband.base.text import formats
    from hotband.base.text.table import MS, Table, column, numeric

    monkeypatch.setattr(formats, "FORMATS", dict(formats.FORMATS))
    (text,) = (text for _, file, text in BLOCKS if file == "tabs.py")
    exec(compile(text, "tabs.py", "exec"), {})
    table = Table("", [column("drive"), numeric("p99", MS)])
    table.add("a", 1_500_000.0)
    assert formats.FORMATS["tsv"].tables([table]) == "drive\tp99 (ms)\na\t1.5\n"


def test_a_question_is_a_class_and_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hotband.base import views
    from hotband.faces import questions
    from hotband.faces.asked import function
    from hotband.faces.commands import question

    (text,) = (text for _, file, text in BLOCKS if file == "usable.py")
    (tmp_path / "usable.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(views, "_VIEWS", dict(views.registered()))
    line = eval(re.findall(r'`"usable": (Line\(.*?\))`', PAGE.replace("\n", " "))[0], vars(questions).copy())
    monkeypatch.setitem(questions.QUESTIONS, "usable", line)
    usable = function.__getattr__("usable")
    assert usable("raid1:2xent-10k").to_dict() == {"usable_bytes": 1_800_360_124_416}
    with pytest.raises(UserError, match="machines = '0': expected a whole number from 1 to 1,000"):
        usable("ent-10k", machines=0)
    command = typer.Typer()
    command.command()(question.__getattr__("usable"))
    command(["raid1:2xent-10k", "--machines", "2"], standalone_mode=False)
    assert capsys.readouterr().out == "3,600,720,248,832 bytes\n"


def test_the_page_has_its_blocks() -> None:
    assert len(QUOTES) == 3
    assert set(FILES) == {"ent-10k-large-cache.toml"}
