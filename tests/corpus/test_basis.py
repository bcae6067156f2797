"""What does the interval of a run rest on: the corpus, the studies, or nothing?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import pytest

from hotband.data.corpus.loads import Load
from hotband.data.documents.record import RecordDoc
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.specify import Named
from hotband.execution.experiment.watch import watch
from hotband.inference.corpus.conformal import FEW, At, Pools, Residual
from hotband.inference.interval import basis
from hotband.inference.interval.basis import UNCHECKED, bases_of
from hotband.inference.interval.of_corpus import Basis, is_studied, subject_of
from hotband.inference.interval.of_record import evidence_of, missing_of
from hotband.questions.advise.asked import AdviseQuestion, needs_of
from hotband.questions.advise.candidates import candidates_of, space_of
from hotband.questions.advise.finalists import point_of
from hotband.questions.advise.front import Tried, read_figures
from hotband.questions.advise.measure import Bench, loads_from
from hotband.questions.advise.prices import Prices

RATE, P99 = "iops", "latency_p99_ns"
READS = At(100.0, 4096, 32, "random")


def record_of(outstanding: float = 32.0, unmodelled: str = "") -> RecordDoc:
    """Return what of a record the evidence depends on."""
    entries = [{"what": unmodelled, "part": "data", "note": "x"}] if unmodelled else []
    return cast("RecordDoc", {"summary": {"queue_depth_mean": outstanding}, "concurrency": 32, "unmodelled": entries})


def bases(machine: str, workload: str = "fio-randread", **settings: str) -> dict[str, Basis]:
    spec = RunSpec("run", machine, workload, tuple(settings.items()), in_use=True)
    return bases_of(spec, record_of(), 90.0)


def group_of(found: Mapping[str, Basis], figure: str = RATE) -> str:
    """Return the group of the corpus that an interval rests on."""
    width = found[figure].width
    return "" if width is None else width.group


def test_a_solid_state_drive_has_the_error_of_its_class() -> None:
    assert group_of(bases("7450-pro-3840", qd="32")) == "SSD, reads at depth 8 and more, state known"
    assert group_of(bases("7450-pro-3840", qd="1")) == "SSD, reads at depth 1, state known"


def test_drives_of_an_array_share_their_error_under_their_part_of_the_load() -> None:
    array, drive = bases("raid10:8x7450-pro-3840", qd="32")[RATE], bases("7450-pro-3840", qd="4")[RATE]
    assert (array.width, array.words) == (drive.width, drive.words)


def test_a_size_in_a_table_is_a_size() -> None:
    subject = subject_of(RunSpec("run", "7450-pro-3840", "iometer-database", (("qd", "8"),)), 8.0)
    assert subject.load is not None
    assert (subject.load.block, subject.load.direction, subject.load.depth) == (8192, "mix", 8)


def load_of_text(load: str, offsets: str = "") -> Load | None:
    stream = f'read_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n{offsets}'
    text = f'[load]\n{load}\n[[streams]]\n{stream}\n[[phases]]\nduration = "1 s"\nmeasure = true\n'
    return subject_of(RunSpec("run", "7450-pro-3840", "w.toml", workload_text=text), 8.0).load


def test_a_loop_with_pauses_is_like_no_row_of_the_corpus() -> None:
    assert load_of_text('closed = { threads = 8, think = "0.5 ms" }') is None
    assert load_of_text('closed = { threads = 8, think = "0.0 ms" }') is not None


def test_skewed_reads_are_compared_with_skewed_reads() -> None:
    zipf = "offsets = { zipf = { exponent = 1.2 } }"
    skewed, even = (load_of_text("closed = { threads = 8 }", text) for text in (zipf, ""))
    assert skewed is not None
    assert even is not None
    assert (skewed.zipf, even.zipf) == (1.2, None)


def test_disks_have_the_error_of_disks_unless_a_study_ran_them() -> None:
    reads, mixes = bases("exos-x18-18tb"), bases("exos-x18-18tb", "iometer-database")
    assert group_of(reads) == "disk, random reads"
    assert mixes[RATE].is_of_studies, "the interval of the studies is narrower and holds the disks of the corpus"
    assert bases("exos-15e900-512n", "iometer-database")[RATE].is_of_studies, "a study ran it"
    assert is_studied("exos-15e900-512n")
    assert not is_studied("exos-x18-18tb")


@pytest.mark.parametrize(("wild", "is_of_studies"), [(2, True), (6, False)])
def test_disks_keep_the_studies_where_these_hold_the_disks_of_the_corpus(
    wild: int, is_of_studies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = ("disk, random reads", "disk, rates of any load", "rates of any drive")
    values = [1.5] * wild + [0.1] * (20 - wild)
    pools = Pools(Residual(str(family), "", groups, value, READS, 0) for family, value in enumerate(values))
    monkeypatch.setattr(basis, "known_pools", lambda: pools)
    assert bases("exos-x18-18tb")[RATE].is_of_studies is is_of_studies


def test_streams_of_disks_have_the_error_of_streams() -> None:
    assert group_of(bases("exos-x18-18tb", "fio-read")).startswith("sequential")


def test_programs_have_the_studies_and_their_tails_the_drives_of_any_load() -> None:
    found = bases("7450-pro-3840", "postgres-oltp")
    assert found[RATE].is_of_studies
    assert not found[P99].is_of_studies
    assert found[P99].is_checked


@pytest.fixture
def far_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tails of solid-state drives be off by a factor of 33."""
    groups = (
        "SSD, p99 of reads, state known",
        "SSD, p99",
        "SSD, latencies of reads",
        "latencies of reads of any drive",
    )
    pools = Pools(Residual(str(family), "", groups, math.log(33.0), READS, 0) for family in range(12))
    monkeypatch.setattr(basis, "known_pools", lambda: pools)


@pytest.mark.usefixtures("far_off")
def test_a_width_that_is_not_printed_decides() -> None:
    found = bases("7450-pro-3840", qd="32")[P99]
    assert not found.has_interval
    assert found.words == "no interval: errors of 12 families like it exceed a factor of 10"
    assert found.unprinted is not None
    # With a thirteenth family, the scale of errors is a little more certain than it is for each of the twelve.
    few = math.sqrt((1 + FEW / 13) / (1 + FEW / 12))
    assert found.unprinted.factor == pytest.approx(33.0**few)


@pytest.mark.usefixtures("far_off")
@pytest.mark.parametrize(("bound", "is_sure"), [("250 ms", True), ("1 ms", False)])
def test_what_is_far_enough_from_its_bound_is_certain_without_an_interval(bound: str, is_sure: bool) -> None:
    question = AdviseQuestion(
        workloads=[Named("fio-randread")], slo=f"p99 < {bound}", capacity="1 TB", protect="one failure"
    )
    needs, space = needs_of(question), space_of("drives=7450-pro-3840,layouts=raid10", 1)
    listed = candidates_of(space, needs, Prices())
    bench = Bench(
        loads_from([Named("fio-randread")], listed.candidates[0].machine), read_figures(needs), duty=1.0, seed=1,
        watch=lambda title: watch(title, False), say=lambda _: None,
    )  # fmt: skip
    candidate = listed.candidates[0]
    measured = bench.measure([(candidate, "fio-randread")], 1_000, "one")
    point = point_of(Tried(candidate, {"fio-randread": measured[candidate.name, "fio-randread"]}), needs, 90.0)
    assert point.surely is is_sure
    assert point.latency.high is None


def test_what_is_not_modelled_was_never_checked() -> None:
    spec = RunSpec("run", "raidz:6x7450-pro-3840", "fio-randread")
    found = bases_of(spec, record_of(unmodelled="flash-raidz"), 90.0)
    assert not any(basis.has_interval or basis.is_checked for basis in found.values())
    (note,) = missing_of(found)
    assert note.startswith("no interval: the model leaves out ZFS on solid-state drives")
    assert evidence_of(found, 90.0) == ""


def test_a_tail_of_a_machine_of_several_kinds_was_never_checked() -> None:
    text = '[drives.a]\nproduct = "7450-pro-3840"\n[drives.b]\nproduct = "exos-x18-18tb"\n'
    text += '[layouts.data]\nraid0 = { members = "a, b" }\n'
    spec = RunSpec("run", "mixed", "fio-randread", machine_text=text)
    assert bases_of(spec, record_of(), 90.0)[P99] == Basis(UNCHECKED, is_checked=False)


@pytest.mark.parametrize("level", [50.0, 90.0])
def test_evidence_is_one_phrase(level: float) -> None:
    spec = RunSpec("run", "7450-pro-3840", "fio-randread", (("qd", "32"),))
    found = bases_of(spec, record_of(), level)
    assert evidence_of(found, level).startswith(f"{level:g} % interval {found[RATE].words}; p50 from ")
