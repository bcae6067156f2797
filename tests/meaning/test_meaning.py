"""Does an input that is changed in one place mean what the change says, however it is written?"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from forms import sized

sys.path.insert(0, str(Path(__file__).parent))
from forms_of_input import FORMS

PAIRS = sized(40, 2000)
"""Of each form."""


@pytest.mark.sized
@pytest.mark.parametrize("form", FORMS)
def test_one_value_that_changes_changes_what_it_says(form: str, tmp_path: Path) -> None:
    kind, random = FORMS[form], Random(form)
    path = tmp_path / kind.name
    changed = 0
    for _ in range(PAIRS):
        values = {key: random.choice(choices) for key, choices in kind.choices.items()}
        key = random.choice(list(kind.choices))
        other = values | {key: random.choice(kind.choices[key])}
        for drawn in (values, other):
            path.write_text(kind.write(drawn, random))
            assert kind.read(path) == kind.means(drawn), f"{drawn}\n{path.read_text()}"
        changed += kind.means(values) != kind.means(other)
    assert changed > PAIRS / 5, "most changes matter"
