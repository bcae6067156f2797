"""Run in a process that has `faults.c` loaded: commands whose writes fail, each at every write; prints what was wrong.

Arguments: the loaded library and an empty folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vl_convert

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)
# Of an output with more writes some of them are looked at: the first, one in the middle, the last.
MOST_WRITES = 40 if os.environ.get("HOTBAND_LONG") == "1" else 3
Files = dict[str, bytes]


def main(library: str, folder: Path) -> None:
    for name in ("vegalite_to_png", "vegalite_to_svg"):
        setattr(vl_convert, name, drawn_once(getattr(vl_convert, name)))
    faults = ctypes.CDLL(library)
    record = folder / "a"
    assert run("run", "fio-randread", "--on", "ent-15k", "--duration", "0.2 s", "--out", str(record))[0] == 0
    found = {name: of_command(faults, folder / name, command) for name, command in commands(record).items()}
    print(json.dumps(found))


def drawn_once(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Draws a chart once: what is tested is how it is written."""
    drawn: dict[str, Any] = {}

    def of_spec(spec: Any, **options: Any) -> Any:
        key = json.dumps(spec)
        if key not in drawn:
            drawn[key] = draw(spec, **options)
        return drawn[key]

    return of_spec


def commands(record: Path) -> dict[str, Callable[[Path, int], list[str]]]:
    """Commands that write into a folder, by a name; the number makes their output differ."""
    runs = ["run", "fio-randread", "--duration", "0.01 s", "--on"]
    flash = [*runs, "s4500-960", "--set", "scale=64"]
    fio = Path(__file__).parents[1] / "fio/samples/client-two-hosts.json"
    return {
        "record": lambda out, n: [*runs, "ent-15k", "--seed", str(n), "--out", str(out), "--fresh"],
        "io-log": lambda out, n: [*runs, "ent-15k", "--seed", str(n), "--io-log", str(out / "log.parquet")],
        "long io-log": lambda out, n: [*flash, "--seed", str(n), "--io-log", str(out / "log.parquet")],
        "report": lambda out, n: ["report", str(record), "-o", str(out / "r.html"), "--title", f"Report {n}"],
        "html": lambda out, n: plot(record, out / "c.html", n),
        "png": lambda out, n: plot(record, out / "c.png", n),
        "svg": lambda out, n: plot(record, out / "c.svg", n),
        "import": lambda out, n: ["import", "fio", str(fio), "--out", str(out)],
    }


def plot(record: Path, out: Path, n: int) -> list[str]:
    return ["report", "--latency", str(record), "--out", str(out), "--title", f"Chart {n}"]


def of_command(faults: ctypes.CDLL, folder: Path, command: Callable[[Path, int], list[str]]) -> list[str]:
    """What was wrong when the command failed at its first, second, ... write, over a good output."""
    folder.mkdir()
    assert run(*command(folder, 2))[0] == 0
    new = files(folder)
    faults.faults_arm(str(folder).encode(), 0, 0)
    assert run(*command(folder, 1))[0] == 0
    writes, old = faults.faults_count(), files(folder)
    wrong = [] if writes > 2 else [f"only {writes} writes were seen"]
    for n in range(1, writes + 1) if writes <= MOST_WRITES else (1, writes // 2, writes):
        error = ERRORS[n % len(ERRORS)]
        faults.faults_arm(str(folder).encode(), n, error)
        code, said = run(*command(folder, 2))
        faults.faults_arm(b"", 0, 0)
        place = f"write {n} of {writes}, {errno.errorcode[error]}"
        wrong += [f"{place}: {one}" for one in defects(code, said, files(folder), old, new, folder)]
    return wrong


def defects(code: object, said: str, there: Files, old: Files, new: Files, folder: Path) -> list[str]:
    """What is wrong with how a command failed."""
    found = []
    # A bar of progress stands before it.
    *_, last = said.splitlines() or [""]
    if code not in (2, 74) or not last.startswith("hotband: error: "):
        found.append(f"exit code {code}, said {said[-300:]!r}")
    elif str(folder) not in last:
        found.append(f"names no file: {last!r}")
    if set(there) != set(old):
        found.append(f"files are {sorted(there)}")
    found += [f"{name} is neither old nor new" for name in there if there[name] not in (old.get(name), new.get(name))]
    return found


def files(folder: Path) -> Files:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(*arguments: str) -> tuple[object, str]:
    """Exit code of the command line, in this process, and what it wrote to stderr."""
    from hotband.faces.cli import main as hotband

    sys.argv = ["hotband", *arguments]
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            hotband()
        except SystemExit as stop:
            return stop.code or 0, said.getvalue()
        except Exception as error:
            return "traceback", f"{type(error).__name__}: {error}"
    return 0, said.getvalue()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
