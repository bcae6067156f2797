"""Do the examples of CONTRIBUTING run, and do the lines that it quotes stand in the files that they are from?

Its other Rust blocks are documentation tests of hotband-engine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(
    r"^```(\S+)\n(?:#|//) (\S+)\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)
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


def test_the_drive_product_runs(hotband, folder: Path) -> None:
    (folder / "machine.toml").write_text('[drives.d]\nproduct = "ent-10k-large-cache.toml"\n', encoding="utf-8")
    done = hotband("run", "fio-randread", "--on", "machine.toml", "--duration", "1 s", "--json")
    assert done.returncode == 0, done.stderr
    (product,) = json.loads(done.stdout)["spec"]["drives"].values()
    assert '"256 MB"' in product


def test_the_study_runs(hotband, folder: Path) -> None:
    done = hotband("study", "run", "./two-disks", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert (folder / "out" / "report.html").exists()


def test_the_page_has_its_blocks() -> None:
    assert len(QUOTES) == 3
    assert set(FILES) == {"ent-10k-large-cache.toml", "two-disks/study.toml", "two-disks/published.csv"}
