"""Do type checkers see the public names as they are?"""

import sys
from pathlib import Path

import pytest

import hotband as hb

SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_the_stub_is_what_the_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run scripts/public_stub.py after a change to the table of `hotband/__init__.py`."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import public_stub

    assert public_stub.STUB.read_text(encoding="utf-8") == public_stub.stub()
    assert public_stub.METHODS.read_text(encoding="utf-8") == public_stub.methods_stub()


def test_every_public_name_is_defined_in_the_module_that_the_table_names() -> None:
    """The stub imports it from there; a name that a module only passes on would be an error of mypy."""
    assert [
        name
        for name in hb.__all__
        if name != "__version__" and getattr(hb, name) is not getattr(sys.modules[hb._WHERE[name]], name)
    ] == []


def test_the_reference_is_what_the_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run scripts/reference.py after a change to a command, a key, the catalog, a docstring or the record."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import reference

    written = {path: (reference.DOCS / path).read_text(encoding="utf-8") for path in reference.pages()}
    assert written == reference.pages()
