"""Writes requirements.lock and requirements-tests.lock: exact pins of what is installed in this virtual environment.

The first has what Hotband needs to run and to be built; the second has the others, which lints and tests use, so that
`make demo` does not fetch them. Run by `make lock`.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

BUILD = "maturin"
NOT_PINNED = {"hotband", "pip", "setuptools", "wheel"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(names: list[str]) -> set[str]:
    """Packages, with all that they need here, without their extras."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = normal(waiting.pop())
        if name in found:
            continue
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:  # of another system or an older Python
            continue
        found.add(name)
        wanted = (one for one in requires if "extra ==" not in one)
        waiting += [match[0] for one in wanted if (match := re.match(r"[A-Za-z0-9._-]+", one))]
    return found


def of_project() -> list[str]:
    """Return what pyproject.toml names as Hotband's own dependencies, and what builds it."""
    named = tomllib.loads(Path("pyproject.toml").read_text())["project"]["dependencies"]
    return [BUILD, *(re.match(r"[A-Za-z0-9._-]+", requirement)[0] for requirement in named)]


def write(path: str, names: set[str], versions: dict[str, str]) -> None:
    lines = sorted((versions[name] for name in names), key=str.lower)
    Path(path).write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(lines)} packages")


def main() -> None:
    there = {normal(one.metadata["Name"]): f"{one.metadata['Name']}=={one.version}" for one in distributions()}
    everything = there.keys() - NOT_PINNED
    demo = needed(of_project())
    write("requirements.lock", everything & demo, there)
    write("requirements-tests.lock", everything - demo, there)


if __name__ == "__main__":
    main()
