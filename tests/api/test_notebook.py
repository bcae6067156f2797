"""The notebook of the tutorial runs from top to bottom, and each cell shows what a notebook can show.

Its cells are run here, in this process: a kernel (ipykernel, nbclient and what they need) would be thirty more packages
to pin, and would test Jupyter.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorial" / "python.ipynb"


@pytest.fixture(scope="module")
def cells() -> list[dict[str, Any]]:
    """Of the notebook."""
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return found


def shown(source: str, names: dict[str, Any]) -> object:
    """Runs a cell; what its last expression is, as a kernel would show it."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), str(NOTEBOOK), "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def test_every_cell_of_the_notebook_runs(cells: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    """In order, in one process; what a cell ends with can be shown."""
    import altair as alt

    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            value = shown("".join(cell["source"]), names)
            if isinstance(value, alt.TopLevelMixin):
                assert value.to_dict()
            elif value is not None:
                assert value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
    assert names["sweep"].complete
    assert names["result"].figures["error_pct"].is_not_null().any()
    assert "('streams', 0, 'size')" in capsys.readouterr().out


def test_the_notebook_is_committed_without_outputs(cells: list[dict[str, Any]]) -> None:
    """Outputs would be megabytes that change with every version."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


def test_the_guide_says_what_is_printed() -> None:
    """The figures beside its first example, and the error of its last."""
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "python.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in guide.split("```python\n")[1:]]
    names: dict[str, Any] = {}
    exec(blocks[0], names)
    assert f"r.iops            # {names['r'].iops}" in blocks[0]
    assert f"r.read.p99        # {names['r'].read.p99}" in blocks[0]
    errors = next(block for block in blocks if "except hb.UserError" in block)
    exec(errors.replace("    error.file, error.key", "    found = error.file, error.key"), names)
    assert f"# {names['found']}".replace("'", '"') in errors
