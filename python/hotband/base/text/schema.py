"""Schemas of JSON documents: `schema` and `schema_version`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TypeVar, cast

from hotband.base.text.values import Json

D = TypeVar("D", bound=Mapping[str, object])


def with_schema(document: D, schema: str) -> D:
    """Return the document with its schema first; unchanged if it has one."""
    if "schema" not in document:
        return cast("D", {"schema": schema, "schema_version": 1, **document})
    assert document["schema"] == schema, "a document is called what its command says"
    return document


def to_doc(
    value: object, /, *, without: tuple[str, ...] = (), names: Mapping[str, str] | None = None, **values: object
) -> dict[str, Json]:
    """Return a dataclass as a JSON object: its fields in order, except those in `without`. `names` maps fields to other
    names; `values` replace those of fields, and further ones follow at the end."""
    assert is_dataclass(value)
    keys = [field.name for field in fields(value) if field.name not in without]
    known = {key: values.pop(key, getattr(value, key)) for key in keys}
    return to_object({(names or {}).get(key, key): item for key, item in {**known, **values}.items()})


def to_object(values: Mapping[str, object]) -> dict[str, Json]:
    """Return a mapping as a JSON object."""
    return {str(key): to_json(value) for key, value in values.items()}


def to_json(value: object) -> Json:
    """Return a value as JSON: dataclasses as objects, tuples as lists, paths as text."""
    if is_dataclass(value):
        return to_doc(value)
    if isinstance(value, Mapping):
        return to_object(value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return cast("Json", str(value) if isinstance(value, Path) else value)
