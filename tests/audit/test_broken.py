"""Does a record that was edited, truncated or made up get one line, whatever is wrong with it?"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up import DISK, SSD, result

from forms import sized
from hotband.base.errors import UserError
from hotband.inference.audit import findings, load_results

RECORD = dict(result("a", DISK, SSD, read_pct=70.0, kind="json").record)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document, lists by their first entries."""
    entries = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    return [path, *(place for key, own in entries for place in places(own, (*path, key)))]


PLACES = [place for place in places(RECORD) if place]


def refusal(path: Path) -> str:
    """Why a record is refused; empty where it is judged."""
    try:
        findings(load_results([path]), None)
    except UserError as error:
        return str(error)
    return ""


@settings(max_examples=sized(30, 300))
@given(place=st.sampled_from(PLACES), odd=ODD)
def test_any_value_in_any_place_is_judged_or_refused(tmp_path: Path, place: tuple[Any, ...], odd: Any) -> None:
    record = copy.deepcopy(RECORD)
    at: Any = record
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = odd
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert "\n" not in refusal(path)


@pytest.mark.parametrize(
    ("place", "odd", "words"),
    [
        (("source", "asked", "concurrency"), "many", "source.asked.concurrency = 'many'"),
        (("summary", "iops"), -1, "summary.iops = '-1'"),
        (("streams", 0, "read", "percentiles"), [[1]], "streams[0].read.percentiles"),
        (("streams", 0), {}, "streams[0].name = 'None': expected a text"),
        (("streams", 0, "read"), {"a": 1}, "streams[0].read.count = 'nothing'"),
        (("smart",), [{}], "smart[0].at_begin.host_bytes"),
    ],
)
def test_the_key_is_named(tmp_path: Path, place: tuple[Any, ...], odd: Any, words: str) -> None:
    record = copy.deepcopy(RECORD)
    at: Any = record
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = odd
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(UserError) as error:
        load_results([path])
    assert words in str(error.value)
