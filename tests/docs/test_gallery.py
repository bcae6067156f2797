"""Do the notebooks of the gallery run as they stand, and do they show what their scripts show?

Cells run in this process, as `scripts/gallery.py` runs them, which also wrote what they show.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs" / "gallery").glob("*.py"))
CHEAPER = [
    (r"duration=\"[13] s\"", 'duration="0.3 s"'),
    (r"ios=\d_000", "ios=1_000"),
    (r"repetitions=200", "repetitions=30"),
    (r"repeat=3", "repeat=2"),
    (r"qd=\[1, 4, 16, 64\]", "qd=[4, 16]"),
]
"""What a test leaves out: figures are not asked, only whether cells run."""


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    """The script that makes the notebooks."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import gallery
    finally:
        sys.path.pop(0)
    return gallery


def read(script: Path) -> dict[str, Any]:
    """A committed notebook."""
    found: dict[str, Any] = json.loads(script.with_suffix(".ipynb").read_text(encoding="utf-8"))
    return found


def test_there_are_six() -> None:
    assert len(SCRIPTS) == 6
    assert {path.stem for path in SCRIPTS} == {path.stem for path in SCRIPTS[0].parent.glob("*.ipynb")}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_has_the_cells_of_its_script_and_what_they_show(gallery: ModuleType, script: Path) -> None:
    found = read(script)
    text = script.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in found["cells"]]
    assert cells == gallery.cells_of(script.read_text(encoding="utf-8"))
    code = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {kind for cell in code for output in cell["outputs"] for kind in output.get("data", {})}
    assert "text/html" in kinds
    assert len(text.encode()) <= gallery.MOST_BYTES
    # Nothing that a page would run or load.
    assert not re.search(r"<script|https?://(?!www\.w3\.org/)", text)


LONGEST = ("4-study", "5-sweep-and-find")
"""Notebooks that take 2 to 4 s of the processor, which `make test-long` runs."""


@pytest.mark.parametrize(
    "script",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.long] if path.stem in LONGEST else []) for path in SCRIPTS],
)
def test_the_cells_of_a_notebook_run(gallery: ModuleType, script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    for wanted, cheaper in CHEAPER:
        text = re.sub(wanted, cheaper, text)
    names: dict[str, Any] = {"__name__": "__main__"}
    committed = [cell for cell in read(script)["cells"] if cell["cell_type"] == "code"]
    sources = [source for kind, source in gallery.cells_of(text) if kind == "code"]
    for source, cell in zip(sources, committed, strict=True):
        printed, value = gallery.run(source, names, script.name)
        shown = gallery.outputs_of(printed, value, 1)
        assert [set(one.get("data", ())) for one in shown] == [set(one.get("data", ())) for one in cell["outputs"]]


def test_the_page_of_documentation_names_them() -> None:
    """Each, with what it answers."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert {f"gallery/{path.stem}.ipynb" for path in SCRIPTS} == set(re.findall(r"gallery/[\w-]+\.ipynb", index))
