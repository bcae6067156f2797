from pathlib import Path

import pytest
from trees import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A machine with its root disk."""
    return Tree(tmp_path / "machine")
