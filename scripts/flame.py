"""A flame graph of the instructions of one budget path: of a run of 2 n I/Os less those of a run of n.

    python scripts/flame.py raid10-write > raid10-write.folded      stacks, for the program that draws them

Callgrind keeps, for every function, the twelve callers above it; counts are exact and the same every time.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from budget_paths import PATHS, Budget

from budgets import callgrind

CALLERS = 12
"""Of each function, from where it is called up: deeper than any path of the engine is from its loop."""
NAME = re.compile(r"c?fn=\((\d+)\)(?: (.*))?")
OUTSIDE = ("main", "(below main)", "std::sys::backtrace::__rust_begin_short_backtrace")
"""The callers of everything, left out."""


def stacks(text: str) -> Counter[str]:
    """Instructions by folded stack, outermost function first, of what callgrind wrote."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    stack, is_call = "", False
    for line in text.splitlines():
        if found := NAME.fullmatch(line):
            if found[2]:
                names[found[1]] = folded(found[2])
            if line.startswith("fn"):
                stack = names[found[1]]
        elif line.startswith("calls="):
            is_call = True
        elif line[:1] in "+-*0123456789" and line:
            # The line behind a call has what was spent in it, which is counted there.
            if not is_call:
                counts[stack] += int(line.split()[1])
            is_call = False
    return counts


def folded(name: str) -> str:
    """`inner'outer` as `outer;inner`."""
    parts = [part for part in re.split(r"'(?!\d+$|\d+')", name) if not part.startswith(("0x", "__libc"))]
    return ";".join(part for part in reversed(parts) if part not in OUTSIDE) or "main"


def of_path(path: Budget) -> Counter[str]:
    """Instructions by stack of the I/Os of a path."""
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for times in (1, 2):
            out = Path(folder) / f"{times}.out"
            options = (f"--callgrind-out-file={out}", f"--separate-callers={CALLERS}")
            callgrind(path, times * path.ios, Path(folder), *options)
            texts.append(out.read_text())
    once, twice = map(stacks, texts)
    return twice - once


def main() -> None:
    """What the module's text says."""
    known = {path.name: path for path in PATHS}
    if len(sys.argv) != 2 or sys.argv[1] not in known:
        sys.exit(f"flame.py {' '.join(sys.argv[1:])}: expected one of {', '.join(known)}")
    for stack, count in sorted(of_path(known[sys.argv[1]]).items()):
        print(stack, count)


if __name__ == "__main__":
    main()
