"""The synthetic records stand beside the tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from altair.utils import schemapi

from hotband.views.report import page

sys.path.insert(0, str(Path(__file__).parent))


LONGEST_WORD = 24
"""Characters of a word of Vega-Lite; longer texts are titles and the like, of which every one is as good."""


def shape(of: object) -> object:
    """Return the part of a spec that decides whether it is valid: keys, words and types, without data."""
    if isinstance(of, dict):
        return tuple((key, None if key in ("data", "datasets") else shape(one)) for key, one in sorted(of.items()))
    if isinstance(of, list):
        return frozenset(map(shape, of))
    return of if isinstance(of, str) and len(of) <= LONGEST_WORD else type(of).__name__


SEEN: set[tuple[object, object]] = set()
"""Shapes of specs that were checked."""


@pytest.fixture(autouse=True, scope="module")
def checked() -> Iterator[None]:
    """Specs of charts are checked against Vega-Lite's schema here, and nowhere else; one of each shape, which takes
    most of the time of a page."""
    validate = schemapi.validate_jsonschema

    def once(spec: object, schema: object, *rest: object, **options: object) -> object:
        key = (shape(spec), str(schema.get("$ref", schema)) if isinstance(schema, dict) else repr(schema))
        if key in SEEN:
            return None
        found = validate(spec, schema, *rest, **options)  # type: ignore[arg-type]
        SEEN.add(key)
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page, "CHECKED", True)
        patched.setattr(schemapi, "validate_jsonschema", once)
        yield
