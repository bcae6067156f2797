"""Does the fuzz target hold on every input kept in its corpus?"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
SEEDS = sorted((FUZZ / "corpus" / "fio").glob("*"))


@pytest.fixture(scope="module")
def one_input() -> Callable[[bytes], None]:
    spec = importlib.util.spec_from_file_location("fio_reader", FUZZ / "fio_reader.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target: Callable[[bytes], None] = module.one_input
    return target


def test_the_corpus_is_there() -> None:
    assert len(SEEDS) >= 10


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_seed(seed: Path, one_input: Callable[[bytes], None]) -> None:
    one_input(seed.read_bytes())
