"""Does a figure that follows from others, changed alone, contradict them? Which follow from nothing?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest

from forms import sized
from hotband.data.documents.run import RunSpec
from hotband.data.record.load import loaded_run
from hotband.execution.experiment.experiment import execute
from hotband.inference.audit import Audited
from hotband.inference.audit.contradictions import check

Path = tuple[str | int, ...]
NO_FIGURES = {"spec", "versions", "schema_version", "seed", "concurrency", "data", "drive_state", "sequence"}
"""What was requested, and what a record is of: nothing that was measured."""
RUNS = {
    "disk": RunSpec("r", "ent-10k", "fio-randread", (("read_pct", "50"), ("qd", "4")), 1, "4.5 s"),
    "ssd": RunSpec("r", "s4500-960", "fio-randread", (("read_pct", "70"), ("qd", "16")), 1, "2 s"),
    "array": RunSpec("r", "raid10:4xent-10k", "specsfs-vdi", (), 1, "4 s"),
    "limits": RunSpec("r", "ent-15k", "exchange-jetstress", (), 1, "4 s"),
    "scripts": RunSpec("r", "ent-10k", "mysql-oltp", (), 1, "4 s"),
}
COUNTERS = ("parts.counters.", "parts.at_end.", "app.counters.", "smart.at_end.", "smart.at_begin.")
"""What a drive or a program counts: the way from I/Os to commands is not in a record. (Bytes of a host and to flash are
in both `parts` and `smart`, and judged.)"""
FREE = {"parts.power.active_w"}
MORE_FREE = {
    "array": {"app.operations.latency_max_ns", "app.requested_ops_per_s"},
    "limits": {"limits.limit", "limits.value", "series.interval_ns"},
    "scripts": {
        "scripts.clients",
        "scripts.duration_max_ns",
        "scripts.duration_p50_ns",
        "scripts.first_begin_ns",
    },
}
"""Figures that follow from no other of their record: bounds that were requested, and single figures of distributions
that the record has no histogram of (between their neighbours they can have any value)."""


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every number of a document, of lists the first three entries."""
    entries = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, each in entries:
        if path or key not in NO_FIGURES:
            yield from leaves(each, (*path, key))
    if isinstance(value, int | float) or (path and path[-1] == "latency_sum_ns" and value is not None):
        yield path


@contextmanager
def changed(record: Any, path: Path) -> Iterator[None]:
    """Make one number half as large again, and then what it was."""
    place = record
    for key in path[:-1]:
        place = place[key]
    value = place[path[-1]]
    more = 10_000_000 if any(str(key).endswith("_ns") for key in path) else 10
    if isinstance(value, bool):
        place[path[-1]] = not value
    else:
        place[path[-1]] = type(value)(int(float(value) * 1.5) + more)
    yield
    place[path[-1]] = value


def plain(path: Path) -> str:
    """A path without the numbers of list entries."""
    return ".".join(str(key) for key in path if isinstance(key, str))


FREE_OVER_TIME = {
    "series": set(),
    "power": set(),
    "caches": {"flash_hits", "flash_misses", "flash_promoted_bytes", "flash_used_bytes"}
    | {"write_cache_extents", "write_cache_bytes"},
}
"""Columns of which no sum is in a record."""


@pytest.mark.parametrize("name", list(FREE_OVER_TIME))
def test_each_value_over_time_changed_alone_is_found_or_follows_from_nothing(name: str) -> None:
    loaded = loaded_run(execute([RUNS["disk"]])[0])
    tables = {"series": loaded.series, **loaded.over_time}
    table = tables[name]
    assert table is not None
    quiet = set()
    for column in table.columns:
        values = table[column].to_list()
        if isinstance(values[2], str):
            continue
        values[2] = values[2] * 1.5 + 10
        over_time = {**tables, name: table.with_columns(pl.Series(column, values))}
        series = over_time.pop("series")
        if not check([Audited("changed", loaded.record, series, over_time=over_time)]):
            quiet.add(column)
    assert quiet == FREE_OVER_TIME[name]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("scripts", 0, "duration_mean_ns"), 1e15),
        (("scripts", 0, "duration_mean_ns"), 0.0),
        (("scripts", 0, "duration_p50_ns"), -1),
        (("scripts", 0, "duration_max_ns"), 10**15),
        (("scripts", 0, "first_begin_ns"), 10**15),
        (("scripts", 0, "last_end_ns"), 10**15),
        (("scripts", 0, "clients"), 1),
        (("summary", "read", "times_mean_ns", "flash"), -1.0),
    ],
)
def test_times_of_transactions_are_possible(path: Path, value: float) -> None:
    loaded = loaded_run(execute([RUNS["scripts"]])[0])
    place: Any = loaded.record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert check([Audited("changed", loaded.record, loaded.series)])


@pytest.mark.parametrize("name", sized(["disk"], list(RUNS)))
def test_each_figure_changed_alone_is_found_or_follows_from_nothing(name: str) -> None:
    loaded = loaded_run(execute([RUNS[name]])[0])
    record: Any = loaded.record
    assert check([Audited("right", loaded.record, loaded.series, over_time=loaded.over_time)]) == []
    quiet = set()
    for path in leaves(record):
        with changed(record, path):
            if not check([Audited("changed", loaded.record, loaded.series)]):
                quiet.add(plain(path))
    assert {path for path in quiet if not path.startswith(COUNTERS)} == FREE | MORE_FREE.get(name, set())
