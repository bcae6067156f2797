"""Which known advisories apply to what Hotband is locked to: `python scripts/advisories.py OSV...`.

OSV is advisories as osv.dev has them: a folder of JSON files, one such file, or a zip of them (osv.dev gives one for
crates.io and one for PyPI; RustSec's and PyPA's databases are exported so, too). Nothing is fetched: bring what is at
hand. Versions are those of rust.lock and requirements*.lock. An advisory that only says that a package is unmaintained
or unsound is listed and is no fault. Exit code 1 where one applies, 2 where what was given is no such data.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import InvalidVersion, Version
from sbom import LOCKS, pins_of

ROOT = Path(__file__).resolve().parent.parent
RUST, PYTHON = "crates.io", "PyPI"


class Unusable(Exception):
    """What was given is no advisories."""


class Applies(NamedTuple):
    """An advisory that applies to a locked package."""

    id: str
    package: str
    version: str
    informational: str
    summary: str

    def line(self) -> str:
        kind = f" ({self.informational})" if self.informational else ""
        return f"{self.id:20} {self.package} {self.version}{kind}: {self.summary}"


def same(name: str) -> str:
    """A package's name as the registries compare it."""
    return name.lower().replace("_", "-")


def locked() -> dict[tuple[str, str], list[str]]:
    """Versions by (ecosystem, name): Rust may have several of one package."""
    rust = tomllib.loads((ROOT / "rust.lock").read_text(encoding="utf-8"))["package"]
    found: dict[tuple[str, str], list[str]] = {}
    for one in rust:
        if "source" in one:
            found.setdefault((RUST, same(one["name"])), []).append(one["version"])
    for name, pinned in pins_of(LOCKS).items():
        found[PYTHON, same(name)] = [pinned]
    return found


def documents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Files of advisories, with a name for each. Raises Unusable."""
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        if not files:
            raise Unusable(f"{path}: no JSON file in it")
        yield from ((str(one), one.read_bytes()) for one in files)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            yield from ((f"{path}:{name}", packed.read(name)) for name in packed.namelist() if name.endswith(".json"))
    elif path.is_file():
        yield str(path), path.read_bytes()
    else:
        raise Unusable(f"{path}: no such file or folder")


def is_advisory(found: Any) -> bool:
    """Whether it has the shape that is read here."""
    if not isinstance(found, dict) or not isinstance(found.get("id"), str):
        return False
    affected = found.get("affected", [])
    return isinstance(affected, list) and all(
        isinstance(one, dict) and isinstance(one.get("package", {}), dict) for one in affected
    )


def advisories(path: Path) -> Iterator[dict[str, Any]]:
    """Those of a folder, file or zip. Raises Unusable."""
    for name, data in documents(path):
        try:
            found = json.loads(data)
        except ValueError as error:
            raise Unusable(f"{name}: is no JSON: {error}") from None
        if not is_advisory(found):
            raise Unusable(f"{name}: is no advisory of OSV: an object with `id` and `affected` is expected")
        yield found


def is_within(at: str, events: list[dict[str, str]]) -> bool:
    """Whether a version lies between where it was introduced and where it was mended (the OSV schema's "evaluation").
    Raises InvalidVersion."""
    have, inside = Version(at), False
    for event in sorted(events, key=lambda one: Version(next(iter(one.values())))):
        kind, limit = next(iter(event.items()))
        if kind == "introduced":
            inside |= have >= Version(limit)
        elif kind == "last_affected":
            inside &= have <= Version(limit)
        else:
            inside &= have < Version(limit)
    return inside


def affects(affected: dict[str, Any], at: str) -> bool:
    """Whether one entry of an advisory holds a version; one that cannot be compared is held: look at it."""
    if at in affected.get("versions", []):
        return True
    ranges = [one for one in affected.get("ranges", []) if one.get("type") in ("SEMVER", "ECOSYSTEM")]
    try:
        return any(is_within(at, one["events"]) for one in ranges)
    except InvalidVersion:
        return True


def of_advisory(one: dict[str, Any], have: dict[tuple[str, str], list[str]]) -> Iterator[Applies]:
    """What of what is locked an advisory applies to."""
    if "withdrawn" in one:
        return
    said = str(one.get("summary") or one.get("details") or "").split("\n")[0][:100]
    for affected in one.get("affected", []):
        package = affected.get("package", {})
        name = same(str(package.get("name", "")))
        kind = str((affected.get("database_specific") or {}).get("informational") or "")
        for at in have.get((package.get("ecosystem", ""), name), []):
            if affects(affected, at):
                yield Applies(one["id"], name, at, kind, said)


def main(given: list[str] | None = None) -> int:
    """Prints those that apply."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("osv", type=Path, nargs="+", metavar="OSV")
    asked = parser.parse_args(given)
    have, count = locked(), 0
    found: list[Applies] = []
    try:
        for path in asked.osv:
            for one in advisories(path):
                count += 1
                found += of_advisory(one, have)
    except (Unusable, OSError, zipfile.BadZipFile) as error:
        print(f"advisories: {error}", file=sys.stderr)
        return 2
    found = sorted(set(found))
    print("".join(f"{one.line()}\n" for one in found), end="")
    faults, packages = [one for one in found if not one.informational], sum(map(len, have.values()))
    print(f"{count:,} advisories, {packages} packages: {len(faults)} apply, {len(found) - len(faults)} more inform")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
