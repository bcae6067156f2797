"""Counts what `VOICE.md` asks to drop: vague names, fragments as first lines of docstrings, and patterns in texts.

python tests/house/voice.py writes what is counted now into `voice.csv`, whose numbers may only fall.
"""

from __future__ import annotations

import ast
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from source import nodes

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("voice.csv")
VAGUE = frozenset(
    ["one", "found", "own", "of", "told", "said", "asked", "kept", "place", "had", "there", "ways", "laws", "how"]
)
"""Names that do not name the thing."""
FRAGMENTS = re.compile(
    r"(That of|Those (?:of|that|who)|What |Who |Of |As |The same|Where |So |Nothing |Nobody |Whatever |Which |"
    r"Such |And |But |Both |Beside|Else|Neither |How )"
)
"""Beginnings of first lines that are neither a sentence nor the name of a thing."""
PATTERNS = re.compile(
    r"where not said|written over first|worn in\b|is told\b|are told\b|stands? beside|the front\b|nothing that|"
    r"not re-read|\brecalled\b|as it was asked|so many\b|is asked of|the look\b|lateness|what the model leaves out|"
    r"\bmended\b|\bswings?\b|\ba (?:drive|file|row|line|run) a\b",
    re.I,
)
"""The worst patterns of VOICE.md, in strings and docstrings."""


def counted() -> dict[tuple[str, str], int]:
    """Return how often each kind occurs, by kind and package."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted((ROOT / "python" / "hotband").rglob("*.py")):
        package = "/".join(path.relative_to(ROOT / "python" / "hotband").parts[:-1][:2]) or "."
        for kind, number in of_file(path).items():
            found[kind, package] += number
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        found["rust names", path.relative_to(ROOT / "crates").parts[0]] += sum(
            name in VAGUE for name in rust_names(path.read_text(encoding="utf-8"))
        )
    return {key: number for key, number in found.items() if number}


def of_file(path: Path) -> Counter[str]:
    """Return what a module of Python has of each kind."""
    code = nodes(path)
    texts = [node.value for node in code if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return Counter(
        {
            "names": sum(name in VAGUE for name in names(code)),
            "fragments": sum(bool(FRAGMENTS.match(line)) for line in first_lines(code)),
            "patterns": sum(len(PATTERNS.findall(text)) for text in texts),
        }
    )


def names(code: Iterable[ast.AST]) -> Iterator[str]:
    """Yield every name that the nodes of a module bind to a value."""
    for node in code:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def first_lines(code: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the first line of every docstring among the nodes of a module."""
    for node in code:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text.splitlines()[0]


BOUND = re.compile(
    r"\b(?:let|for)\s+(?:mut\s+|&\s*)?\(?([a-z_]\w*)|\|\s*&?(?:mut\s+)?\(?([a-z_]\w*)|\b([a-z_]\w*)\s*:\s*[&A-Z\[(]"
)


def rust_names(text: str) -> Iterator[str]:
    """Yield names that `let`, `for`, closures, parameters and fields bind, as far as a pattern finds them."""
    for match in BOUND.finditer(re.sub(r"//.*", "", text)):
        yield next(group for group in match.groups() if group)


def shares() -> dict[str, float]:
    """Return the share of vague names of Python and of Rust."""
    python = [name for path in (ROOT / "python" / "hotband").rglob("*.py") for name in names(nodes(path))]
    rust = [name for path in (ROOT / "crates").glob("*/src/**/*.rs") for name in rust_names(path.read_text())]
    return {
        which: sum(name in VAGUE for name in all_) / len(all_) for which, all_ in (("python", python), ("rust", rust))
    }


def recorded() -> dict[tuple[str, str], int]:
    """Return the numbers of `voice.csv`."""
    with RECORDED.open(encoding="utf-8", newline="") as file:
        return {(row["kind"], row["package"]): int(row["count"]) for row in csv.DictReader(file)}


if __name__ == "__main__":
    with RECORDED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "package", "count"])
        writer.writerows([*key, number] for key, number in sorted(counted().items()))
    print({which: f"{share:.2%}" for which, share in shares().items()})
