"""`hotband --version`."""

from __future__ import annotations

import sys

from hotband.base.version import __version__


def print_version() -> None:
    """Print the version."""
    sys.stdout.write(f"hotband {__version__}\n")
