"""Is everything there that shows a result, and is every form registered that a result asks for?"""

import ast
import importlib
from pathlib import Path

import pytest
from floors import modules
from source import nodes, parsed

import hotband as hb
from hotband.base.views import register, registered, view_of
from hotband.faces.questions import QUESTIONS, declared

PACKAGE = Path(__file__).parents[2] / "python" / "hotband"


def asked_for() -> set[tuple[str, str]]:
    """Results and forms of every `view_of(result, "form")`: a class that shows itself, or the schema of a document."""
    found = set()
    for module, file in modules(PACKAGE).items():
        classes = [node for node in parsed(file).body if isinstance(node, ast.ClassDef)]
        inside = {id(node): one.name for one in classes for node in ast.walk(one)}
        for node in nodes(file):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "view_of":
                of, form = node.args
                if id(node) not in inside and not isinstance(of, ast.Constant):
                    continue  # the command of any question, below
                name = of.value if isinstance(of, ast.Constant) else f"{module}:{inside[id(node)]}"
                found.add((str(name), str(form.value) if isinstance(form, ast.Constant) else "?"))
    return found


def test_every_form_that_is_asked_for_is_registered_and_no_other() -> None:
    of_commands = {
        (shown, "terminal")
        for one in map(declared, QUESTIONS)
        for shown in (*(one.shown or (one.answers,)), *one.on_the_way)
    }
    assert asked_for() | of_commands == set(registered())


@pytest.mark.parametrize("named", sorted({*registered().values(), *(name for name, _ in registered() if ":" in name)}))
def test_what_is_registered_is_there(named: str) -> None:
    module, _, name = named.partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_a_view_of_a_class_shows_what_derives_from_it() -> None:
    class Derived(hb.Record):
        pass

    assert view_of(Derived.__new__(Derived), "html") is view_of(hb.Record.__new__(hb.Record), "html")


def test_a_form_that_nobody_registered_is_an_error() -> None:
    with pytest.raises(KeyError):
        view_of("hotband-study", "song")
    register("hotband-test", song="hotband.views.record.picture:html")
    try:
        assert view_of("hotband-test", "song").__name__ == "html"
    finally:
        registered()
        from hotband.base import views

        views._VIEWS.pop(("hotband-test", "song"))
