"""What a document says of itself: `schema`, the kind of it, and `schema_version`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

D = TypeVar("D", bound=Mapping[str, object])


def with_schema(document: D, schema: str) -> D:
    """The document with its schema before all else; as it is where it says one itself."""
    if "schema" not in document:
        return cast("D", {"schema": schema, "schema_version": 1, **document})
    assert document["schema"] == schema, "a document is called what its command says"
    return document
