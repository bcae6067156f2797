"""Reviews that several tests look at: each is made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from hotband.questions.review import review

Reviewed = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def reviewed() -> Reviewed:
    """The review of a machine by its name."""
    return cache(lambda machine: review(machine))


@pytest.fixture(scope="session")
def catalog_value() -> Callable[[str, str], str]:
    """The text of a value of a drive of the catalog."""
    from hotband.data.catalog import entries as catalogue

    def text(drive: str, key: str) -> str:
        return str(next(value["value"] for value in catalogue.drive(drive)["values"] if value["key"] == key))

    return text
