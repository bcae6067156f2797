"""Do the files that the documents name exist, and do their links lead somewhere?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMING = ("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/README.md", "docs/words.md")
LINKING = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CODE = [ROOT / folder for folder in ("crates", "python", "tests", "docs", "scripts", "fuzz")]
FILE = re.compile(r"[\w./-]+\.(?:rs|py|pyi|toml|md|csv|json|ipynb|lock)")
MADE_UP = {"study.toml", "published.csv", "findings.py", "swings.json", "result.json", "Cargo.lock"}
"""Names that every study or checkout has, none at one place."""
COMING: set[Path] = set()
"""Pages that are linked before they are written; take them out of here when they are."""
DECLARED = re.compile(r"^\s*(?:pub(?:\(\w+\))? )?(?:struct|enum|trait|type|class|macro_rules!) ?(\w+)", re.MULTILINE)


def without_blocks(text: str) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def stands(name: str) -> bool:
    """Whether a path is there from the root, from a crate's folder or from the package; a bare file name anywhere."""
    if "/" not in name:
        return (ROOT / name).exists() or any(any(folder.rglob(name)) for folder in CODE)
    beginnings = [ROOT, ROOT / "python" / "hotband", *(ROOT / "crates").glob("*/src"), ROOT / "crates"]
    return any((beginning / name).exists() for beginning in beginnings)


def anchors(text: str) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    headings = re.findall(r"^#+\s+(.*)$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", NAMING)
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    spans = re.findall(r"`([^`\n]+)`", without_blocks((ROOT / page).read_text(encoding="utf-8")))
    names = {span.rstrip("/") for span in spans if FILE.fullmatch(span) or re.fullmatch(r"[\w.]+(?:/[\w.-]+)*/?", span)}
    paths = {name for name in names if FILE.fullmatch(name) or "/" in name} - MADE_UP
    assert [name for name in sorted(paths) if not stands(name)] == []


@pytest.mark.parametrize("page", LINKING)
def test_every_path_of_the_repository_that_a_page_names_is_there(page: str) -> None:
    spans = re.findall(r"`((?:crates|python|tests|scripts)/[\w./*-]+)`", (ROOT / page).read_text(encoding="utf-8"))
    assert [span for span in spans if not any(ROOT.glob(span.rstrip("/")))] == []


@pytest.mark.parametrize("page", NAMING)
def test_every_type_that_a_page_names_is_declared(page: str) -> None:
    code = (
        path for end in ("rs", "py") for folder in ("crates", "python") for path in (ROOT / folder).rglob(f"*.{end}")
    )
    declared = {name for path in code for name in DECLARED.findall(path.read_text(encoding="utf-8"))}
    spans = re.findall(r"`([^`\n]+)`", without_blocks((ROOT / page).read_text(encoding="utf-8")))
    named = {span.split("::")[-2 if span.split("::")[-1][0].islower() else -1] for span in spans if "::" in span}
    named |= {span for span in spans if re.fullmatch(r"(?:[A-Z][a-z]+)+", span)}
    assert sorted(named - declared) == []


@pytest.mark.parametrize("page", LINKING)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    path = ROOT / page
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(path.read_text(encoding="utf-8"))):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if re.match(r"[a-z]+:", link) or target in COMING:
            continue
        known = anchors(target.read_text(encoding="utf-8")) if anchor and target.is_file() else {anchor}
        if not target.exists() or anchor not in known:
            broken.append(link)
    assert broken == []


def test_every_page_of_the_docs_is_in_their_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [path for folder in ("guides", "models", "tutorial") for path in (ROOT / "docs" / folder).glob("*.md")]
    assert [path.name for path in pages if f"{path.parent.name}/{path.name})" not in index] == []


@pytest.mark.parametrize(("page", "lines"), [("ARCHITECTURE.md", 80), ("CONTRIBUTING.md", 400)])
def test_the_page_is_no_longer_and_no_wider(page: str, lines: int) -> None:
    text = (ROOT / page).read_text(encoding="utf-8").splitlines()
    assert len(text) <= lines
    assert max(map(len, text)) < 120
