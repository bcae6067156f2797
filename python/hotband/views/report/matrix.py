"""The matrix of a folder of results: a row per test, a column per drive, and reasons why drives are incomparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hotband.base.text.numbers import counted, finite
from hotband.base.text.table import IOPS, MBS, Unit
from hotband.data.documents.record import RecordDoc
from hotband.data.record.load import LoadedRecord
from hotband.data.results.walk import Walk
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import listed
from hotband.inference.audit.rules import contradicted, troubles
from hotband.views.text.screen import with_hidden

LARGE_BYTES = 64 * 1024
"""Block size from which a test is printed in MB/s."""
RATE_OPTIONS = ("rate_iops", "rate", "rate_min", "thinktime")
"""Options of fio that limit the rate of a test."""
MOST_TROUBLES = 3
AHEAD = 1.02
"""A drive leads a test if it is more than 2 % ahead of every other."""


@dataclass(frozen=True)
class Matrix:
    """Results of a folder by drive and test."""

    walk: Walk

    @cached_property
    def records(self) -> Mapping[tuple[str, str], LoadedRecord]:
        """Return records by drive and test; for repeats the first."""
        return {key: runs[0] for key, runs in self.runs.items()}

    @cached_property
    def runs(self) -> Mapping[tuple[str, str], list[LoadedRecord]]:
        """Return all runs by drive and test."""
        runs: dict[tuple[str, str], list[LoadedRecord]] = {}
        for result in self.walk.results:
            runs.setdefault((result.series, result.shared_test), []).append(result.record)
        return runs

    @property
    def drives(self) -> list[str]:
        """Return the drives, in the order of their folders."""
        return self.walk.series

    @property
    def tests(self) -> list[str]:
        """Return the tests, in natural order."""
        return self.walk.tests

    def record(self, drive: str, test: str) -> RecordDoc | None:
        """Return the record of a test on a drive."""
        loaded = self.records.get((drive, test))
        return None if loaded is None else loaded.record

    def unit(self, test: str) -> Unit:
        """Return MB/s for large blocks, else IOPS."""
        sizes = [size for drive in self.drives if (size := _block_bytes(self.record(drive, test)))]
        return MBS if sizes and min(sizes) >= LARGE_BYTES else IOPS

    def value(self, drive: str, test: str) -> float | None:
        """Return the rate of a test on a drive, in IOPS or bytes per second; for repeats the mean."""
        key = "bandwidth_bytes_per_s" if self.unit(test) is MBS else "iops"
        rates = [finite(run.record["summary"].get(key)) for run in self.runs.get((drive, test), ())]
        known = [rate for rate in rates if rate is not None]
        return sum(known) / len(known) if known else None

    @cached_property
    def contradicted(self) -> dict[tuple[str, str], list[str]]:
        """Return why figures cannot be right, by drive and test, for each test of which they cannot."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for result in self.walk.results:
            run = Audited(result.name, result.record.record, result.record.series)
            if words := contradicted(run):
                reasons.setdefault((result.series, result.shared_test), []).extend(words)
        return reasons

    def limits(self, drive: str) -> dict[str, str]:
        """Return the option that limited the rate of each test of a drive that was limited."""
        limits = {test: _limit(record) for test in self.tests if (record := self.record(drive, test)) is not None}
        return {test: limit for test, limit in limits.items() if limit}

    @property
    def rate_limited(self) -> dict[str, list[str]]:
        """Return the drives with a rate limit, and the options that set it."""
        return {drive: list(dict.fromkeys(name.values())) for drive in self.drives if (name := self.limits(drive))}

    @property
    def predicted(self) -> list[str]:
        """Return the drives whose results a model predicted."""
        kinds: dict[str, set[object]] = {}
        for result in self.walk.results:
            kinds.setdefault(result.series, set()).add(result.record.record["target"].get("kind"))
        return [drive for drive, drive_kinds in kinds.items() if drive_kinds == {"model"}]

    def leads(self) -> Counter[str]:
        """Return how many tests each drive leads; drives with a rate limit lead none, nor do contradictory figures."""
        limited, wrong = self.rate_limited, self.contradicted
        leads: Counter[str] = Counter()
        for test in self.tests:
            values = {
                drive: value
                for drive in self.drives
                if drive not in limited and (drive, test) not in wrong and (value := self.value(drive, test))
            }
            order = sorted(values, key=lambda drive: -values[drive])
            if len(order) > 1 and values[order[0]] > AHEAD * values[order[1]]:
                leads[order[0]] += 1
        return leads


def counts_of(matrix: Matrix) -> str:
    """Format the numbers of results, drives and tests: `27 fio results, 3 drives (folders), 9 tests each`."""
    tools = Counter(_tool(result.record.record) for result in matrix.walk.results)
    count = len(matrix.walk.results)
    results = counted(count, f"{next(iter(tools))} result") if len(tools) == 1 else counted(count, "result")
    kinds = f" ({', '.join(f'{number} {tool}' for tool, number in tools.items())})" if len(tools) > 1 else ""
    if len(matrix.drives) == 1:
        return f"{results}{kinds} in {matrix.drives[0]}"
    tests = sorted({sum(drive == key for key, _ in matrix.records) for drive in matrix.drives})
    each = counted(tests[-1], "test") if len(tests) == 1 else f"{tests[0]} to {tests[-1]} tests"
    runs = sorted({len(runs) for runs in matrix.runs.values()})
    repeats = "" if runs == [1] else f", {'' if len(runs) == 1 else 'up to '}{runs[-1]} runs of a test"
    return f"{results}{kinds}, {len(matrix.drives)} drives (folders), {each} each{repeats}"


def remarks_of(matrix: Matrix) -> list[str]:
    """Return the reasons why drives are incomparable, and the skipped files."""
    remarks = []
    limited = matrix.rate_limited
    if limited:
        options = listed(list(dict.fromkeys(option for options in limited.values() for option in options)))
        others = [drive for drive in matrix.drives if drive not in limited]
        against = f": not comparable with {listed(others)}" if others else ""
        be = "were" if len(limited) > 1 else "was"
        remarks.append(f"{listed(list(limited))} {be} rate limited ({options}){against}")
    if matrix.predicted:
        be = "are" if len(matrix.predicted) > 1 else "is"
        remarks.append(f"{listed(matrix.predicted)} {be} predicted, not measured")
    results = [(result.record.record, result.name) for result in matrix.walk.results]
    remarks += with_hidden([words for record, name in results for words in troubles(record, name)], MOST_TROUBLES)
    return [*remarks, *([matrix.walk.skipped_words] if matrix.walk.skipped else [])]


def answer_of(matrix: Matrix) -> str:
    """Return how many tests each drive leads."""
    if len(matrix.drives) == 1:
        return f"{counts_of(matrix)}."
    leads = matrix.leads().most_common()
    limited = len(matrix.drives) - len(matrix.rate_limited) < 2
    if not leads:
        return "Too few drives ran without a rate limit to compare them." if limited else "No drive leads any test."
    tests = len(matrix.tests)
    first, *others = [f"{drive} is fastest in {number} of {counted(tests, 'test')}" for drive, number in leads]
    return f"{'; '.join([first, *others])}."


def _tool(record: RecordDoc) -> str:
    source = record.get("source")
    return str(source["tool"]) if source else "Hotband"


def _block_bytes(record: RecordDoc | None) -> float | None:
    """Return the mean size of an I/O."""
    if record is None:
        return None
    summary = record["summary"]
    count, volume = finite(summary.get("count")), finite(summary.get("bytes"))
    if count and volume:
        return volume / count
    rate, bandwidth = finite(summary.get("iops")), finite(summary.get("bandwidth_bytes_per_s"))
    return bandwidth / rate if rate and bandwidth else None


def _limit(record: RecordDoc) -> str:
    """Return the option that limited the rate; empty if there is none."""
    source = record.get("source")
    if not source:
        return ""
    tables = Audited("", record).option_tables
    limit = next((name for name in RATE_OPTIONS if any(table.get(name, "").strip("0,") for table in tables)), "")
    return limit or ("a requested rate" if source["asked"]["rate_iops"] else "")
