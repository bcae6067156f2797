"""System requirements of a program, and where they are installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.folders import cache_folder
from hotband.execution.programs.program import Need, Program

APART = ("/usr/sbin", "/sbin", "/usr/lib/postgresql/*/bin")
"""Folders of programs that the PATH of a user lacks: Debian's servers, and PostgreSQL by its version."""


def built() -> Path:
    """The folder for what `make programs` builds: HOTBAND_PROGRAMS, else one in the user's cache (XDG base folders)."""
    return Path(os.environ.get("HOTBAND_PROGRAMS") or cache_folder() / "programs")


def found(command: str) -> str | None:
    """The path of a command; None if it is not there."""
    known = shutil.which(command)
    if known is not None:
        return known
    folders = [folder for pattern in APART for folder in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True)]
    files = (folder / command for folder in [*folders, built()])
    return next((str(file) for file in files if os.access(file, os.X_OK) and file.is_file()), None)


def path_of(command: str) -> str:
    """The path of a command that `expect_needs` has found; one with a folder as it is."""
    return command if "/" in command else found(command) or command


def missing(program: Program) -> list[Need]:
    """Return a program's missing requirements."""
    return [need for need in program.needs if found(need.command) is None]


def how_to_get(needs: list[Need]) -> str:
    """Return how to install missing programs, in words."""
    packages = list(dict.fromkeys(need.package for need in needs if need.package))
    methods = [f"apt-get install {' '.join(packages)}"] if packages else []
    return " and ".join(methods + (["make programs"] if any(not need.package for need in needs) else []))


def expect_needs(program: Program) -> None:
    """Raise UserError if something is not there, with the line that installs it."""
    lacking = missing(program)
    if lacking:
        names = ", ".join(need.command for need in lacking)
        raise UserError(
            "question.name", "", program.name, f"needs {names}, not found; install with: {how_to_get(lacking)}"
        )
