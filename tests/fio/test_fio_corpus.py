"""Does the fuzz target hold on every input kept in its corpus?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
SEEDS = sorted((FUZZ / "corpus" / "fio").glob("*"))


@pytest.fixture(scope="module")
def one_input(fuzz_target: Callable[[str], Callable[[bytes], None]]) -> Callable[[bytes], None]:
    return fuzz_target("fio_reader")


def test_the_corpus_is_there() -> None:
    assert len(SEEDS) >= 10


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_seed(seed: Path, one_input: Callable[[bytes], None]) -> None:
    one_input(seed.read_bytes())
