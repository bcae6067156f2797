"""Record what each Python test costs: seconds of wall and of the processor, in this process and the ones it started.

`HOTBAND_TEST_TIMES=FILE` names the CSV file that rows are appended to; without it nothing is recorded."""

from __future__ import annotations

import csv
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

COST = "cost"
"""Name of the property of a test's report that carries (wall, processor) seconds from a worker to the controller."""


def processor_s() -> float:
    """Return the processor seconds that this process and its ended children have taken."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note when a test and its fixtures begin."""
    item.stash[BEGAN] = (time.perf_counter(), processor_s())
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Attach the cost so far to the last report of a test, which crosses from a worker to the controller."""
    if call.when == "teardown":
        wall, processor = item.stash[BEGAN]
        item.user_properties.append((COST, (time.perf_counter() - wall, processor_s() - processor)))
    return (yield)


BEGAN = pytest.StashKey[tuple[float, float]]()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Append one row per test, in the process that collects the reports."""
    path = os.environ.get("HOTBAND_TEST_TIMES")
    if path is None or report.when != "teardown" or "PYTEST_XDIST_WORKER" in os.environ:
        return
    for name, cost in report.user_properties:
        if name == COST:
            wall, processor = cost
            with Path(path).open("a", newline="") as file:
                csv.writer(file).writerow(["python test", report.nodeid, f"{wall:.3f}", f"{processor:.3f}"])
