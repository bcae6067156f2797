"""What Hotband is made of, as a bill of materials (CycloneDX 1.6): `python scripts/sbom.py out/sbom.json`.

Rust packages are those of rust.lock with its checksums, their licences from `cargo metadata`; Python packages those of
requirements*.lock, their licences from what is installed. Nothing is asked of a registry. A licence that is not among
ACCEPTED is an error. It leaves out what the packages bring along in binary form (OpenBLAS in numpy's wheel).
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-tests.lock")
ACCEPTED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "PSF-2.0"),
    *("Unicode-3.0", "Unlicense", "Zlib"),
}
"""Identifiers of SPDX. All may be linked and shipped with Apache-2.0; of MPL-2.0 the files stay under it."""
IN_WORDS = {
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
}
"""What packages say that name no SPDX identifier; "BSD License" of altair, Jinja2 and scipy is the three-clause one
(the LICENSE files of their wheels)."""


class Unknown(Exception):
    """A package whose licence is not known, or not accepted."""


def is_accepted(expression: str) -> bool:
    """Whether a licence may be used: all of an AND, one of an OR. An exception (WITH) only gives more."""
    text = re.sub(r" WITH [\w.-]+", "", expression.replace("/", " OR "))
    words = re.findall(r"[()]|[^\s()]+", text)
    python = [{"AND": "and", "OR": "or", "(": "(", ")": ")"}.get(word, str(word in ACCEPTED)) for word in words]
    # Only these words are left, so that nothing a package says is executed.
    return bool(python) and bool(eval(" ".join(python), {"__builtins__": {}}))


def component(kind: str, name: str, version: str, licence: str, sha256: str | None = None) -> dict[str, Any]:
    """A package as CycloneDX has it. Raises Unknown."""
    if not is_accepted(licence):
        raise Unknown(f"{name} {version}: licence {licence!r} is not among those accepted")
    url = f"pkg:{kind}/{name}@{version}"
    found: dict[str, Any] = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
    found["licenses"] = [{"expression": licence.replace("/", " OR ")}]
    if sha256 is not None:
        found["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    return found


def rust_packages() -> list[dict[str, Any]]:
    """What rust.lock names, our own crates left out."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    told = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    licences = {(one["name"], one["version"]): one["license"] or "" for one in told["packages"]}
    locked = tomllib.loads((ROOT / "rust.lock").read_text(encoding="utf-8"))["package"]
    return [
        component(
            "cargo", one["name"], one["version"], licences.get((one["name"], one["version"]), ""), one["checksum"]
        )
        for one in locked
        if "source" in one and (one["name"], one["version"]) in licences
    ]


def licence_of(name: str) -> str:
    """What an installed Python package says of its licence, as SPDX has it. Raises Unknown."""
    try:
        told = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        raise Unknown(f"{name}: is not installed: run `make setup` first") from None
    classified = [one.split(" :: ")[-1] for one in told.get_all("Classifier") or [] if one.startswith("License ::")]
    said = told.get("License-Expression") or next(iter(classified), None) or told.get("License") or ""
    return IN_WORDS.get(said, said)


def pins_of(locks: tuple[str, ...] = LOCKS) -> dict[str, str]:
    """Versions by name, as the locks of requirements have them."""
    lines = [line for lock in locks for line in (ROOT / lock).read_text(encoding="utf-8").splitlines()]
    found = (re.match(r"([\w.-]+)(?:\[[\w,]+\])?==([^\s;\\]+)", line) for line in lines)
    return {one[1]: one[2] for one in found if one}


def python_packages(locks: tuple[str, ...] = LOCKS) -> list[dict[str, Any]]:
    """What the locks of requirements name."""
    pins = pins_of(locks)
    return [component("pypi", name.lower(), version, licence_of(name)) for name, version in sorted(pins.items())]


def bill() -> dict[str, Any]:
    """The whole of it. Raises Unknown."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    own = {"type": "application", "bom-ref": "hotband", "name": "hotband", "version": version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**own, "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": [*rust_packages(), *python_packages()],
    }


def main() -> None:
    """Writes the bill."""
    if len(sys.argv) != 2:
        sys.exit("usage: sbom.py FILE")
    try:
        found = bill()
    except Unknown as error:
        sys.exit(f"sbom: {error}")
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(found['components'])} packages, all licences accepted")


if __name__ == "__main__":
    main()
