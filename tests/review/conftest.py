"""Reviews that several tests look at: each is made once."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from hotband.base.folders import folder_name
from hotband.questions.review import review
from shared import shared_folder

Reviewed = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Reviewed:
    """The review of a machine by its name."""

    @cache
    def of_machine(machine: str) -> dict[str, Any]:
        with shared_folder(tmp_path_factory, f"review-{folder_name(machine)}") as folder:
            made = folder / "review.pickle"
            if not made.exists():
                made.write_bytes(pickle.dumps(review(machine)))
        review_of_all: dict[str, Any] = pickle.loads(made.read_bytes())
        return review_of_all

    return of_machine


@pytest.fixture(scope="session")
def catalog_value() -> Callable[[str, str], str]:
    """The text of a value of a drive of the catalog."""
    from hotband.data.catalog import entries as catalogue

    def text(drive: str, key: str) -> str:
        return str(next(value["value"] for value in catalogue.drive(drive)["values"] if value["key"] == key))

    return text
