"""Does every module stand on a floor, and does nobody import upward?"""

from pathlib import Path

import pytest
from circles import circles
from floors import FLOORS, floor_of, graph, modules, parts, upward

PACKAGE = Path(__file__).parents[2] / "python" / "hotband"
KNOWN = Path(__file__).with_name("upward.txt")
"""Imports that go up and are not mended yet, one a line: it may only get shorter."""
LARGEST_CIRCLE = 187
"""Files of which each reaches every other: it may only get smaller, down to three (as in Rust, test_circles.py)."""
PARTS_IN_CIRCLES = 19
"""Packages that import another one of their floor in a circle: it may only get smaller."""


@pytest.fixture(scope="module")
def uses() -> dict[str, set[str]]:
    return graph(PACKAGE)


def test_every_module_stands_on_a_floor() -> None:
    assert [module for module in modules(PACKAGE) if floor_of(module) is None] == []


def test_nobody_imports_upward(uses: dict[str, set[str]]) -> None:
    known = set(KNOWN.read_text(encoding="utf-8").splitlines())
    found = upward(uses)
    assert sorted(found - known) == [], "these go up: move the name down, or have it registered from above"
    assert sorted(known - found) == [], "these are mended: take them off the list"


def test_circles_of_files_get_no_larger(uses: dict[str, set[str]]) -> None:
    found = circles(uses)
    assert max(map(len, found), default=1) == LARGEST_CIRCLE, found[0]


def test_packages_of_a_floor_import_each_other_in_no_circle(uses: dict[str, set[str]]) -> None:
    found = circles(parts(uses))
    assert sum(map(len, found)) == PARTS_IN_CIRCLES, found


UPWARD = {
    "at the top": "from hotband.faces.cli import main\n",
    "a module of a package": "from hotband.faces import cli\n",
    "by its whole name": "import hotband.faces.cli as command\n",
    "in a function": "def f():\n    from hotband.faces import cli\n",
    "for type checkers": "if TYPE_CHECKING:\n    from hotband.faces.cli import Options\n",
    "relative": "from ..faces.cli import main\n",
    "relative, of a package": "from ..faces import cli\n",
    "by importlib": 'import_module("hotband.faces.cli")\n',
    "in a table": 'WHERE = {"run": "hotband.faces.cli:main"}\n',
    "the beginning of a name": 'import_module(f"hotband.faces.cli.{name}")\n',
}


@pytest.mark.parametrize("form", UPWARD)
def test_an_import_that_goes_up_is_found(form: str, tmp_path: Path) -> None:
    for name, text in {
        "__init__": "",
        "faces/cli": "",
        "base/units": UPWARD[form],
        "data/log": "import hotband.base",
    }.items():
        file = tmp_path / "hotband" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert upward(graph(tmp_path / "hotband")) == {"hotband.base.units -> hotband.faces.cli"}


def test_a_module_of_no_floor_is_found() -> None:
    assert [floor_of(name) for name in ("hotband.cli", "hotband.base.units", "hotband")] == [None, 0, len(FLOORS) - 1]


def test_a_circle_of_packages_is_found(tmp_path: Path) -> None:
    texts = {"data/log/a": "import hotband.data.book.b", "data/book/b": "", "data/book/c": "import hotband.data.log.d"}
    for name, text in {**texts, "data/log/d": "", "base/e": "import hotband.base.f", "base/f": ""}.items():
        file = tmp_path / "hotband" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    uses = graph(tmp_path / "hotband")
    assert circles(uses) == [], "no two files import each other"
    assert circles(parts(uses)) == [["hotband.data.book", "hotband.data.log"]]
