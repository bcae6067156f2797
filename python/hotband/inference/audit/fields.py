"""Fields of questions with known facts about the target of results."""

from __future__ import annotations

from typing import Any

from hotband.base.question import asks


def target() -> Any:
    """Return the field `on`."""
    return asks("The target: a drive, LAYOUT:COUNTxDRIVE, or a TOML file.", default=None, metavar="MACHINE")


def media() -> Any:
    """Return the field `media`."""
    text = "Media of the target: hdd, ssd, or a speed such as 7200rpm."
    return asks(text, default=None, metavar="KIND")


def cache() -> Any:
    """Return the field `cache`."""
    return asks('Memory that may serve reads (host, servers), such as "8 GiB".', default=None, metavar="SIZE", unit="B")
