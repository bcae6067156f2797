"""Does every module stand on a floor, and does nobody import upward?"""

from pathlib import Path

import pytest
from circles import circles
from floors import FLOORS, floor_of, graph, modules, parts, upward

PACKAGE = Path(__file__).parents[2] / "python" / "hotband"
MOST = 3
"""Files of a circle, as in Rust (test_circles.py)."""


@pytest.fixture(scope="module")
def uses() -> dict[str, set[str]]:
    return graph(PACKAGE)


def test_every_module_stands_on_a_floor() -> None:
    assert [module for module in modules(PACKAGE) if floor_of(module) is None] == []


def test_nobody_imports_upward(uses: dict[str, set[str]]) -> None:
    assert sorted(upward(uses)) == [], "these go up: move the name down, or have it registered from above"


def test_no_circle_of_more_than_three_files(uses: dict[str, set[str]]) -> None:
    assert [circle for circle in circles(uses) if len(circle) > MOST] == []


def test_packages_of_a_floor_import_each_other_in_no_circle(uses: dict[str, set[str]]) -> None:
    assert circles(parts(uses)) == []


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


@pytest.mark.parametrize(
    ("text", "goes_up"),
    [
        ("from hotband import _core\n", True),
        ("import hotband._core as _core\n", False),
        ("from hotband._core import run\n", False),
    ],
)
def test_the_engine_is_not_taken_from_the_package_of_all_names(text: str, goes_up: bool, tmp_path: Path) -> None:
    for name, code in {"__init__": "", "base/units": text}.items():
        file = tmp_path / "hotband" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code, encoding="utf-8")
    assert upward(graph(tmp_path / "hotband")) == ({"hotband.base.units -> hotband"} if goes_up else set())


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
