"""Keeps the pins of Cargo.lock without the address of the registry they come from.

`save` writes rust.lock from Cargo.lock; `restore` writes Cargo.lock from rust.lock, asking cargo for the name of the
registry in use. Versions and checksums are those of rust.lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK, PINS = ROOT / "Cargo.lock", ROOT / "rust.lock"
SOURCE = re.compile(r'^source = "(?P<address>[^"]+)"$', re.MULTILINE)
PLACEHOLDER = 'source = "registry"'


def save() -> None:
    """Writes rust.lock."""
    PINS.write_text(SOURCE.sub(PLACEHOLDER, LOCK.read_text()))


def restore() -> None:
    """Writes Cargo.lock."""
    # cargo alone knows what it calls its registry: a lock file that it resolves afresh names it.
    LOCK.unlink(missing_ok=True)
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=ROOT, check=True)
    found = SOURCE.search(LOCK.read_text())
    if found is None:
        sys.exit("rust_lock: cargo named no registry")
    LOCK.write_text(PINS.read_text().replace(PLACEHOLDER, found.group(0)))


if __name__ == "__main__":
    actions = {"save": save, "restore": restore}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit("usage: rust_lock.py save | restore")
    actions[sys.argv[1]]()
