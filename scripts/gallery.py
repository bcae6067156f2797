"""The notebooks of docs/gallery, made of the scripts beside them and executed.

    python scripts/gallery.py                all of them
    python scripts/gallery.py 6-reliability  those whose name begins so

A script has cells in the percent form that editors know (`# %%`, `# %% [markdown]`). Its notebook (nbformat 4.5) has
the same cells with what they show: what they print, and of their last expression what a kernel would show. Cells run in
this process, as in `tests/api/test_notebook.py`: a kernel and what it needs would be thirty more packages to pin.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "version": "3.11"},
}
MOST_BYTES = 200_000
"""Of a notebook: more is a chart with too many points, or a frame that nobody reads."""

Cell = dict[str, Any]
Bundle = dict[str, Any]


def cells_of(text: str) -> list[tuple[str, str]]:
    """Kind (code or markdown) and source of each cell of a script."""
    parts = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)
    assert not parts[0].strip(), "a script begins with a cell"
    found = []
    for mark, source in zip(parts[1::2], parts[2::2], strict=True):
        source = source.strip()
        if "[markdown]" in mark:
            found.append(("markdown", re.sub(r"^# ?", "", source, flags=re.MULTILINE)))
        else:
            found.append(("code", source))
    return found


def run(source: str, names: dict[str, Any], file: str) -> tuple[str, object]:
    """Runs a cell: what it printed, and what its last expression is."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), file, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), file, "eval"), names)
    return printed.getvalue(), value


def bundle_of(value: object) -> Bundle:
    """What a notebook shows of a value, by kind."""
    as_bundle = getattr(value, "_repr_mimebundle_", None)
    if as_bundle is not None:
        made = as_bundle()
        made = made[0] if isinstance(made, tuple) else made
        return {"text/plain": type(value).__name__, **made}
    shown: Bundle = {"text/plain": repr(value)}
    as_html = getattr(value, "_repr_html_", None)
    return shown if as_html is None else {**shown, "text/html": as_html()}


def outputs_of(printed: str, value: object, count: int) -> list[Cell]:
    """The outputs of a cell."""
    found: list[Cell] = []
    if printed:
        found.append({"output_type": "stream", "name": "stdout", "text": lines(printed)})
    if value is not None:
        data = {kind: lines(text) if isinstance(text, str) else text for kind, text in bundle_of(value).items()}
        result = {
            "output_type": "execute_result",
            "execution_count": count,
            "metadata": {},
            "data": data,
        }
        found.append(result)
    return found


def lines(text: str) -> list[str]:
    """Text as notebooks keep it."""
    return text.splitlines(keepends=True)


def notebook(script: Path) -> dict[str, Any]:
    """The notebook of a script, executed."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[Cell] = []
    count = 0
    for number, (kind, source) in enumerate(cells_of(script.read_text(encoding="utf-8"))):
        cell: Cell = {
            "cell_type": kind,
            "id": f"c{number}",
            "metadata": {},
            "source": lines(source),
        }
        if kind == "code":
            count += 1
            printed, value = run(source, names, script.name)
            cell |= {"execution_count": count, "outputs": outputs_of(printed, value, count)}
        cells.append(cell)
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def main() -> None:
    """Writes the notebooks that were asked for."""
    sys.path.insert(0, str(GALLERY.parents[1] / "python"))
    from hotband.base.text.write import write_file

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="beginnings of names")
    wanted = tuple(parser.parse_args().names) or ("",)
    for script in sorted(GALLERY.glob("*.py")):
        if script.name.startswith(wanted):
            text = json.dumps(notebook(script), indent=1, ensure_ascii=False) + "\n"
            if len(text.encode()) > MOST_BYTES:
                raise SystemExit(f"{script.stem}: {len(text.encode()):,} bytes; expected at most {MOST_BYTES:,}")
            write_file(script.with_suffix(".ipynb"), text)
            print(f"{script.stem}.ipynb: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
