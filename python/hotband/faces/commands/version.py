"""`hotband --version`."""

from __future__ import annotations

from hotband.faces.commands.output import print_version


def version() -> None:
    """Print the version."""
    print_version()
