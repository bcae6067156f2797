"""Measure what each stage of `make test` costs: seconds of wall and of the processor, kept in out/test-times.csv.

    stage_times.py begin                     starts a new table
    stage_times.py run STAGE -- COMMAND ...  runs a command and records its cost; its exit code is the command's
    stage_times.py cargo PROFILE STAGE -- COMMAND ...   the same for a build with --timings, and its crates' seconds
    stage_times.py stages                    prints what each stage took
    stage_times.py show                      prints the stages, then the slowest fifty parts
    stage_times.py budget                    exit code 1 where the stages took more processor time than recorded

Rows are (stage, part, wall_s, processor_s): a stage as a whole has an empty part. Python tests append their own rows
(tests/costs.py). Downloads are stages whose names begin with "download"; no budget counts them. Computers differ by a
third, and one from hour to hour, so a budget is a ratio within one run: the time of all stages over the time to
compile third-party crates, which is the same work until rust.lock changes.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "out" / "test-times.csv"
BUDGET = ROOT / "tests" / "budgets" / "loop.csv"
HEAD = ["stage", "part", "wall_s", "processor_s"]
OURS = "hotband"
"""Prefix of the names of our own crates."""
ALLOWED = 1.10
"""Share of the recorded processor time from which the budget is exceeded: issue P asks for ten per cent."""
COMPILED_BEFORE = 1 / 3
"""Share of the recorded time of others' crates below which they count as compiled before. Estimate: two computers
differ by a third, and none that runs this is three times as fast as another."""
SLOWEST = 50


class Row(NamedTuple):
    """What one part of a stage took; the processor time is None where only the wall clock is known."""

    stage: str
    part: str
    wall_s: float
    processor_s: float | None


def yardstick(rows: Iterable[Row]) -> float:
    """Return the seconds that third-party crates took to compile; 0 if they were compiled before."""
    parts = [row for row in rows if row.part and row.stage.startswith("compile") and row.processor_s is None]
    return sum(row.wall_s for row in parts if not row.part.startswith(OURS))


def append(rows: Iterable[Row]) -> None:
    """Add rows to the table. Stages beside one another do so, too: each writes its lines in one call."""
    lines = io.StringIO(newline="")
    csv.writer(lines, lineterminator="\n").writerows(
        [row.stage, row.part, f"{row.wall_s:.3f}", of(row.processor_s)] for row in rows
    )
    if not TABLE.exists():
        begin()
    with TABLE.open("a", newline="") as file:
        file.write(lines.getvalue())


def of(seconds: float | None) -> str:
    """Return seconds as the table has them: nothing where they are not known."""
    return "" if seconds is None else f"{seconds:.3f}"


def measured(stage: str, command: list[str]) -> tuple[Row, int]:
    """Run a command; return its cost and its exit code."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(command, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Row(stage, "", time.monotonic() - began, processor), code


def crates(stage: str, profile: str, since: float) -> list[Row]:
    """Return the wall seconds of each crate that cargo compiled after `since`: `--timings` writes them to a page, and
    another lane may write one of another profile meanwhile."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    rows = []
    for page in target.glob("cargo-timings/cargo-timing-*.html"):
        text = page.read_text(encoding="utf-8") if page.stat().st_mtime >= since else ""
        units = re.search(r"const UNIT_DATA = (\[.*?\]);\n", text, re.DOTALL)
        if units and f"<td>{profile}</td>" in text:
            rows += [
                Row(stage, f"{unit['name']}{unit['target']}", unit["duration"], None) for unit in json.loads(units[1])
            ]
    return rows


def read() -> list[Row]:
    """Return the rows of the table; those of Python tests carry a file and a test as their part."""
    with TABLE.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [Row(stage, part, float(wall), known(processor)) for stage, part, wall, processor in rows]


def known(text: str) -> float | None:
    """Return the seconds of a cell of the table."""
    return float(text) if text else None


def by_file(rows: Iterable[Row]) -> list[Row]:
    """Return what each file of Python tests took: the sums of its tests."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        if row.stage == "python test":
            sums[row.part.split("::")[0]][0] += row.wall_s
            sums[row.part.split("::")[0]][1] += row.processor_s or 0.0
    return [Row("python file", part, wall, processor) for part, (wall, processor) in sums.items()]


def line(row: Row) -> str:
    """Return a row as it is printed."""
    processor = "" if row.processor_s is None else f"{row.processor_s:.1f}"
    name = f"{row.stage}  {row.part}".strip()
    return f"{row.wall_s:>8.1f}{processor:>11}  {name}"


def stages() -> int:
    """Print what each stage took."""
    rows = [row for row in read() if not row.part]
    print("  wall s  processor  stage")
    print("\n".join(map(line, rows)))
    print(f"{'':8}{sum(row.processor_s or 0 for row in rows if counts(row)):>11.1f}  all but downloads")
    return 0


def show() -> int:
    """Print the stages, then the slowest parts."""
    stages()
    rows = read()
    parts = sorted((row for row in [*rows, *by_file(rows)] if row.part), key=cost, reverse=True)
    print(f"\nThe slowest {SLOWEST} parts:")
    print("\n".join(map(line, parts[:SLOWEST])))
    return 0


def cost(row: Row) -> float:
    """Return what a part is ordered by: its processor seconds, or its wall seconds where only those are known."""
    return row.wall_s if row.processor_s is None else max(row.processor_s, row.wall_s)


def counts(row: Row) -> bool:
    """Whether the budget counts a stage: whole stages, without what is fetched."""
    return not row.part and not row.stage.startswith("download")


def budget() -> int:
    """Compare the processor time of all stages with the recorded one; return 1 if it is more.

    On a computer that compiles crates more slowly than the recorded run, the time is reduced in the same ratio. It is
    not increased on a faster computer, because computers differ in more than that."""
    with BUDGET.open(newline="") as file:
        recorded, reference = (float(value) for value in next(csv.DictReader(file)).values())
    rows = read()
    compiled = yardstick(rows)
    if compiled < COMPILED_BEFORE * reference:
        print("No budget is checked: it is relative to the time to compile crates, and they were compiled before.")
        return 0
    slower = max(1.0, compiled / reference)
    spent = sum(row.processor_s or 0 for row in rows if counts(row)) / slower
    allowed = ALLOWED * recorded
    print(
        f"make test took {spent:,.0f} s of the reference processor (this one takes {slower:.2f} times as long); "
        f"allowed {allowed:,.0f} s ({recorded:,.0f} + 10 %)"
    )
    if spent <= allowed:
        return 0
    print("The loop has grown: `make test-times` shows where. tests/budgets/loop.csv holds the recorded time.")
    return 1


def begin() -> int:
    """Start a new table."""
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(",".join(HEAD) + "\n")
    return 0


def run(arguments: list[str], profile: str | None = None) -> int:
    """Run `STAGE -- COMMAND ...` and record what it took, whatever its exit code; with a PROFILE its crates."""
    stage, dashes, *command = arguments
    if dashes != "--" or not command:
        sys.exit(__doc__)
    since = time.time()
    row, code = measured(stage, command)
    append([row, *(crates(stage, profile, since) if profile else [])])
    print(f"-- {stage}: {row.wall_s:.1f} s, {row.processor_s:.1f} s of the processor", flush=True)
    return code


def main(arguments: list[str]) -> int:
    """Do what the module's text says."""
    match arguments:
        case ["begin"]:
            return begin()
        case ["run", *more]:
            return run(more)
        case ["cargo", profile, *more]:
            return run(more, profile)
        case ["stages"]:
            return stages()
        case ["show"]:
            return show()
        case ["budget"]:
            return budget()
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
