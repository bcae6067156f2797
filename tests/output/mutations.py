"""Damage to files, drawn from a seed: to the values of a JSON document, and to bytes of any file."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

LONG = "x" * 10_000_000
# What a value becomes.
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 2**70, 1e308, "", "text", "[/]", "\x1b[2J", "\ud800", [], {}, [None], {"a": 1}),
    *([[]], [["a", "b"]], "\0", float("nan")),
)
NESTED = "[" * 3000 + "]" * 3000


def damaged_document(document: Any, rng: random.Random) -> str:
    """The document as text with a value replaced, removed or doubled."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    holder, key = places[rng.randrange(len(places))]
    kind = rng.random()
    if kind < 0.25:
        del holder[key]
    elif kind < 0.95:
        holder[key] = rng.choice(VALUES)
    elif kind < 0.97:
        holder[key] = LONG
    else:
        holder[key] = "NESTED"
        return json.dumps(document).replace('"NESTED"', NESTED)
    return json.dumps(document)


def _places(value: Any) -> Any:
    """Every place of a value: what holds it, and its key. Of long lists the beginning."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))[:3]
    for key, inner in items:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """The file cut off, with bytes changed, removed or doubled, or with what no reader expects put into it."""
    at = rng.randrange(len(data) + 1)
    to = min(len(data), at + rng.choice((1, 2, 20, 200)))
    kind = rng.randrange(6)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[to:]
    if kind == 2:
        return data[:to] + data[at:]
    inserted = (b"\xff", b"\x00", b"\n", b'"', b",", b"-1e999", b"[" * 3000, b"x" * 10_000_000, b"[/]", b"\x1b[2J")
    if kind == 3:
        return data[:at] + rng.choice(inserted) + data[to:]
    return data[:at] + rng.choice(inserted) + data[at:]
