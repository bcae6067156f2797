"""Writes requirements.lock and requirements-tests.lock: exact pins of what is installed in this virtual environment.

The second has what only tests use (Ray, which a user installs as `hotband[ray]`, and Playwright) with what only they
need, so that `make demo` does not fetch it. Run by `make lock`.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

TESTS_ONLY = ("ray", "playwright")
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
    """What pyproject.toml names: Hotband's own dependencies and those of its developers."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    named = project["dependencies"] + project["optional-dependencies"]["dev"]
    return [re.match(r"[A-Za-z0-9._-]+", one)[0] for one in named]


def write(path: str, names: set[str], versions: dict[str, str]) -> None:
    lines = sorted((versions[name] for name in names), key=str.lower)
    Path(path).write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(lines)} packages")


def main() -> None:
    there = {normal(one.metadata["Name"]): f"{one.metadata['Name']}=={one.version}" for one in distributions()}
    everything = there.keys() - NOT_PINNED
    others = needed(of_project())
    tests_only = needed(list(TESTS_ONLY)) - others
    write("requirements.lock", everything - tests_only, there)
    write("requirements-tests.lock", everything & tests_only, there)


if __name__ == "__main__":
    main()
