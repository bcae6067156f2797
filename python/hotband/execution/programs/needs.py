"""What a program needs of the system, and where it is found."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hotband.base.errors import UserError
from hotband.execution.programs.program import Need, Program

APART = ("/usr/sbin", "/sbin", "/usr/lib/postgresql/*/bin")
"""Where programs are that the PATH of a user does not have: Debian's servers, and PostgreSQL by its version."""


def built() -> Path:
    """The folder for what `make programs` builds: HOTBAND_PROGRAMS, else one in the user's cache (XDG base folders)."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("HOTBAND_PROGRAMS") or Path(cache, "hotband", "programs"))


def found(command: str) -> str | None:
    """The path of a command; None if it is not there."""
    known = shutil.which(command)
    if known is not None:
        return known
    folders = [folder for place in APART for folder in sorted(Path("/").glob(place.lstrip("/")), reverse=True)]
    files = (folder / command for folder in [*folders, built()])
    return next((str(file) for file in files if os.access(file, os.X_OK) and file.is_file()), None)


def path_of(command: str) -> str:
    """The path of a command that `expect_needs` has found; one with a folder as it is."""
    return command if "/" in command else found(command) or command


def missing(program: Program) -> list[Need]:
    """What a program needs and is not there."""
    return [need for need in program.needs if found(need.command) is None]


def how_to_get(needs: list[Need]) -> str:
    """How missing programs are installed, in words."""
    packages = list(dict.fromkeys(need.package for need in needs if need.package))
    ways = [f"apt-get install {' '.join(packages)}"] if packages else []
    return " and ".join(ways + (["make programs"] if any(not need.package for need in needs) else []))


def expect_needs(program: Program) -> None:
    """Raises UserError if something is not there, with the line that installs it."""
    lacking = missing(program)
    if lacking:
        names = ", ".join(need.command for need in lacking)
        raise UserError(
            "question.name", "", program.name, f"needs {names}, not found; install with: {how_to_get(lacking)}"
        )
