"""Damage to inputs that keeps their structure, drawn from a seed: trees (TOML, JSON), lines and bytes.

An input is damaged in a few steps, each of its own seed, so that a case is repeated from them and made smaller by
leaving some out. Most steps change a value as a user may: another number, another unit, what stands there in another
input; few break the syntax, which says nothing of what lies behind the parser.
"""

from __future__ import annotations

import copy
import json
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from probe.toml_text import toml_text

ODD_VALUES: tuple[Any, ...] = (
    *(True, False, 0, -1, 1, 1.5, 2**31, 2**63 - 1, -(2**63), 1e308, 1e-308, "", " ", "text", "[/]", "\x1b[2J", "\0"),
    *([], {}, [[]], [{}], ["a", "b"], {"a": 1}, "9" * 400, "d0..d9", "d*", "1 MiB", "1 s", "50 %", "nan", "-0"),
)
JSON_VALUES: tuple[Any, ...] = (None, 2**70, -(2**70), "\ud800", float("nan"), float("inf"), *ODD_VALUES)
UNITS = ("B", "KiB", "MiB", "GB", "TB", "EB", "ns", "us", "ms", "s", "min", "h", "days", "B/s", "MB/s", "GB/s", "rpm")
FACTORS = (0, -1, 0.001, 0.1, 0.5, 1.001, 2, 3, 10, 1000, 1e6, 1e12, 1e30)
ODD_TOKENS = (
    "",
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "18446744073709551616",
    "9" * 400,
    "0x10",
    "1.5",
    "[/]",
    "é",
    "\x1b[2J",
)
ODD_BYTES = (b"\xff", b"\x00", b"\n", b'"', b",", b"=", b"-1e999", b"[" * 3000, b"x" * 200_000, b"\x1b[2J", b"\r\n")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
TOKEN = re.compile(r"[^\s,;=:()<>\"']+")
Place = tuple[Any, Any]
"""What holds a value, and its key."""


class Step(NamedTuple):
    """One change: its name and the seed of its choices."""

    name: str
    seed: int


class Donors:
    """What stands in all inputs of a kind: values by their key, and lines."""

    def __init__(self, inputs: Sequence[tuple[str, bytes]]) -> None:
        self.values: dict[str, list[Any]] = {}
        self.lines: list[bytes] = []
        for form, data in inputs:
            tree = parsed(form, data)
            if tree is None:
                self.lines += [line for line in data.split(b"\n") if 0 < len(line) < 500][:200]
                continue
            for holder, key in places(tree):
                self.values.setdefault(str(key), []).append(holder[key])
        self.keys = sorted(self.values)

    def of(self, key: object, rng: random.Random) -> Any:
        """What stands under a key somewhere; under another key where that is nowhere."""
        found = self.values.get(str(key)) or self.values[rng.choice(self.keys)]
        return copy.deepcopy(rng.choice(found))


def parsed(form: str, data: bytes) -> Any:
    """The tree of an input; None where it has none, or is broken."""
    try:
        if form == "toml":
            return tomllib.loads(data.decode())
        return json.loads(data) if form == "json" else None
    except (ValueError, RecursionError):
        return None


def written(form: str, tree: Any) -> bytes:
    """A tree as text."""
    if form == "toml":
        return toml_text(tree).encode(errors="replace")
    return json.dumps(tree, indent=1).encode()


def places(tree: Any) -> Iterator[Place]:
    """Every place of a value; of long lists the beginning and the end."""
    items = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    for key, inner in items if len(items) < 60 else [*items[:20], *items[-3:]]:
        yield tree, key
        yield from places(inner)


def drawn(form: str, rng: random.Random) -> list[Step]:
    """One to four steps for an input of a form."""
    names = list(TREE_STEPS) if form in ("toml", "json") else list(LINE_STEPS) if form == "lines" else list(BYTE_STEPS)
    weights = [WEIGHTS.get(name, 1.0) for name in names]
    chosen = rng.choices(names, weights, k=rng.choices((1, 2, 3, 4), (5, 3, 2, 1))[0])
    if form != "bytes" and rng.random() < 0.08:
        chosen = [rng.choice(list(BYTE_STEPS))]
    return [Step(name, rng.getrandbits(48)) for name in chosen]


def damaged(form: str, data: bytes, steps: Sequence[Step], donors: Donors) -> bytes:
    """The input after all steps; one that does not apply leaves it as it is."""
    for step in steps:
        rng = random.Random(step.seed)
        if step.name in TREE_STEPS:
            tree = parsed(form, data)
            if isinstance(tree, dict | list) and tree:
                TREE_STEPS[step.name](tree, rng, donors)
                data = written(form, tree)
        elif step.name in LINE_STEPS:
            data = LINE_STEPS[step.name](data, rng, donors)
        else:
            data = BYTE_STEPS[step.name](data, rng)
    return data


def a_place(tree: Any, rng: random.Random, wanted: Callable[[Any], bool] = lambda _: True) -> Place | None:
    """Some place whose value is wanted."""
    found = [place for place in places(tree) if wanted(place[0][place[1]])]
    return rng.choice(found) if found else None


def scale(tree: Any, rng: random.Random, _: Donors) -> None:
    """A number, or that of a quantity, becomes a multiple of itself."""
    place = a_place(
        tree, rng, lambda value: is_number(value) or (isinstance(value, str) and bool(NUMBER.search(value)))
    )
    if place is None:
        return
    holder, key = place
    factor, value = rng.choice(FACTORS), holder[key]
    if isinstance(value, str):
        holder[key] = with_other_number(value, factor)
    else:
        holder[key] = int(value * factor) if isinstance(value, int) and abs(value * factor) < 1e18 else value * factor


def with_other_number(text: str, factor: float) -> str:
    """A text whose first number is multiplied."""
    return NUMBER.sub(lambda found: f"{float(found.group()) * factor:.12g}", text, count=1)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def other_unit(tree: Any, rng: random.Random, _: Donors) -> None:
    """A quantity has another unit."""
    place = a_place(tree, rng, lambda value: isinstance(value, str) and bool(re.fullmatch(r"[\d.]+ \S+", value)))
    if place is not None:
        holder, key = place
        holder[key] = f"{holder[key].split()[0]} {rng.choice(UNITS)}"


def donated(tree: Any, rng: random.Random, donors: Donors) -> None:
    """A value is that of another input at the same key."""
    place = a_place(tree, rng)
    if place is not None:
        place[0][place[1]] = donors.of(place[1], rng)


def added(tree: Any, rng: random.Random, donors: Donors) -> None:
    """A table has a key more, of another input."""
    tables = [holder[key] for holder, key in places(tree) if isinstance(holder[key], dict)]
    table = rng.choice([*tables, tree])
    if isinstance(table, dict):
        key = rng.choice(donors.keys)
        table[key] = donors.of(key, rng)


def odd_value(tree: Any, rng: random.Random, _: Donors) -> None:
    """A value is another, mostly of another type."""
    place = a_place(tree, rng)
    if place is not None:
        place[0][place[1]] = copy.deepcopy(rng.choice(ODD_VALUES if rng.random() < 0.7 else JSON_VALUES))


def removed(tree: Any, rng: random.Random, _: Donors) -> None:
    """A key, or an item of a list, is not there."""
    place = a_place(tree, rng)
    if place is not None:
        del place[0][place[1]]


def renamed(tree: Any, rng: random.Random, donors: Donors) -> None:
    """A key has another name: a slip of the finger, or a key of another input."""
    place = a_place(tree, rng)
    if place is not None and isinstance(place[0], dict):
        value, key = place[0].pop(place[1]), str(place[1])
        place[0][rng.choice((key + "s", key[:-1], key.upper(), "", "a b", "a\nb", rng.choice(donors.keys)))] = value


def doubled(tree: Any, rng: random.Random, _: Donors) -> None:
    """A list has an item more often, its items in another order, or none."""
    place = a_place(tree, rng, lambda value: isinstance(value, list) and bool(value))
    if place is None:
        return
    items = place[0][place[1]]
    kind = rng.randrange(4)
    if kind == 0:
        items.insert(rng.randrange(len(items) + 1), copy.deepcopy(rng.choice(items)))
    elif kind == 1:
        rng.shuffle(items)
    elif kind == 2:
        items.clear()
    else:
        items *= 40 if len(items) < 100 else 2


def swapped(tree: Any, rng: random.Random, _: Donors) -> None:
    """Two values stand in each other's place."""
    one, other = a_place(tree, rng), a_place(tree, rng)
    if one is not None and other is not None:
        first, second = copy.deepcopy(one[0][one[1]]), copy.deepcopy(other[0][other[1]])
        one[0][one[1]], other[0][other[1]] = second, first


def of_lines(
    change: Callable[[list[bytes], int, random.Random, Donors], None],
) -> Callable[[bytes, random.Random, Donors], bytes]:
    """A change of lines, at one of them."""

    def step(data: bytes, rng: random.Random, donors: Donors) -> bytes:
        lines = data.split(b"\n")
        change(lines, rng.randrange(len(lines)), rng, donors)
        return b"\n".join(lines)

    return step


def other_token(data: bytes, rng: random.Random, donors: Donors) -> bytes:
    """A word or number of a line is another: a multiple of itself, odd, or one of another line."""
    text = data.decode("latin-1")
    found = list(TOKEN.finditer(text))
    if not found:
        return data
    one = rng.choice(found)
    was, kind = one.group(), rng.random()
    if NUMBER.fullmatch(was) and kind < 0.6:
        new = with_other_number(was, rng.choice(FACTORS)) if len(was) < 300 else "1"
    elif kind < 0.8 and donors.lines:
        words = TOKEN.findall(rng.choice(donors.lines).decode("latin-1")) or [""]
        new = rng.choice(words)
    else:
        new = rng.choice(ODD_TOKENS)
    return (text[: one.start()] + new + text[one.end() :]).encode("latin-1", "replace")


def without_line(lines: list[bytes], at: int, _: random.Random, __: Donors) -> None:
    del lines[at]


def line_again(lines: list[bytes], at: int, rng: random.Random, _: Donors) -> None:
    lines.insert(rng.randrange(len(lines) + 1), lines[at])


def line_of_another(lines: list[bytes], at: int, rng: random.Random, donors: Donors) -> None:
    lines.insert(at, rng.choice(donors.lines or [b""]))


def lines_swapped(lines: list[bytes], at: int, rng: random.Random, _: Donors) -> None:
    other = rng.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def taken_out(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice((1, 2, 20, 200)) :]


def put_in(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(ODD_BYTES) + data[at + rng.choice((0, 0, 1)) :]


def flipped(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(changed))
        changed[at] = rng.choice((changed[at] ^ (1 << rng.randrange(8)), 0, 255, rng.randrange(256)))
    return bytes(changed)


def again(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    piece = data[at : at + rng.choice((4, 16, 28, 100))]
    return data[:at] + piece + data[at:]


TREE_STEPS: dict[str, Callable[[Any, random.Random, Donors], None]] = {
    one.__name__: one for one in (scale, other_unit, donated, added, odd_value, removed, renamed, doubled, swapped)
}
LINE_STEPS: dict[str, Callable[[bytes, random.Random, Donors], bytes]] = {
    "other_token": other_token,
    **{one.__name__: of_lines(one) for one in (without_line, line_again, line_of_another, lines_swapped)},
}
BYTE_STEPS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    one.__name__: one for one in (cut, taken_out, put_in, flipped, again)
}
WEIGHTS = {
    "scale": 4.0,
    "donated": 4.0,
    "other_token": 5.0,
    "odd_value": 2.0,
    "renamed": 0.5,
    "added": 1.5,
    "flipped": 4.0,
}
"""How often a step is drawn, one where it is not named: most of what gets past the first check changes values."""
