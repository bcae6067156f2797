"""Do the commands, the SQL and the Python of the guide to stores run as they stand there?"""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "import.md").read_text(encoding="utf-8")
GUIDE = GUIDE.partition("## Keep and query many results")[2]


def block(language: str) -> str:
    """The one block in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    return str(found)


def test_the_guide(hotband: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    said = {}
    for line in block("sh").splitlines():
        done = hotband(*shlex.split(line, comments=True)[1:])
        assert done.returncode == 0, (line, done.stderr)
        said[line.split()[1]] = said[" ".join(line.split()[1:3])] = done.stdout
    assert "ent-15k" in said["store query"]
    assert "17 runs in" in said["store"]
    with contextlib.chdir(tmp_path):
        sql = block("sql").partition("--")[0]
        assert len(duckdb.sql(sql).fetchall()) == 2
        # A store of its own, so that the frame has what this block adds.
        names: dict[str, object] = {}
        exec(block("python").replace('"results"', '"python"'), names)
        assert duckdb.sql("select count(*) from 'python/summary/**/*.parquet'").fetchall() == [(6,)]
