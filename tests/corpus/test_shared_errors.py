"""What do figures of a product make of its intervals: how far do they move them, and how much narrower are they?"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tests.corpus.test_basis import bases, record_of

import hotband as hb
from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.data.corpus.figure import OWN_RESULT, USER
from hotband.data.corpus.files import as_csv, shipped
from hotband.data.corpus.loads import Load, class_of, load_of
from hotband.data.documents.run import RunSpec
from hotband.inference.corpus.conformal import At, OfLine, Pools, Residual, Width
from hotband.inference.corpus.known import known_pools, line_of
from hotband.inference.corpus.residuals import at_of, groups_of, own_residuals, shipped_residuals
from hotband.inference.corpus.shared_errors import Likeness, errors_of, shipped_likenesses, width_of
from hotband.inference.interval import basis
from hotband.inference.interval.basis import bases_of
from hotband.inference.interval.of_corpus import Basis
from hotband.inference.interval.of_record import outside_of
from hotband.questions.advise import advise as advising
from hotband.questions.advise import search as searching
from hotband.questions.corpus import AddCorpusQuestion, added
from hotband.questions.predictions import asked
from hotband.questions.predictions.asked import Kept, _line_judged, _of_line, _width
from hotband.questions.predictions.likeness import likenesses_of
from hotband.questions.predictions.predicted import Predicted

Hotband = Callable[..., CompletedProcess[str]]
GROUPS = ("SSD, reads at depth 8 and more, state known", "SSD, reads at depth 8 and more", "SSD", "rates of any drive")
READS = At(100.0, 4096, 32, "random")


def residual(value: float, family: str = "line", *, tester: str = "a", at: At = READS, run: int = 0) -> Residual:
    return Residual(family, tester, GROUPS, value, at, run)


def others(spread: float = 0.2) -> list[Residual]:
    """Return errors of twenty families."""
    draw = random.Random(1)
    return [residual(draw.gauss(0.0, spread), f"family {number}") for number in range(20)]


def width(known: Sequence[Residual], *, tester: str = "a", metric: str = "iops", at: At = READS) -> Width:
    made = width_of(Pools([*others(), *known]), GROUPS, metric, at, known, tester=tester)
    assert made is not None
    return made


def test_without_figures_of_a_product_the_other_families_decide() -> None:
    assert width([]) == Pools(others()).width(GROUPS)


def test_figures_of_a_product_move_its_interval_and_narrow_it() -> None:
    alone, known = width([]), width([residual(0.3, run=run) for run in range(8)])
    assert known.of_line is not None
    assert (known.of_line.line, known.of_line.figures) == ("line", 8)
    assert known.of_line.shift == pytest.approx(-0.3, rel=0.15)
    low, high = known.ends
    assert low < -0.3 < high < 0
    assert math.log(known.factor) < 0.5 * math.log(alone.factor)
    assert known.words == "from 8 figures of line and 20 families: SSD, reads at depth 8 and more, state known"


def test_a_product_that_is_slower_has_longer_latencies() -> None:
    rate, latency = (width([residual(0.3)], metric=metric).of_line for metric in ("iops", "lat_mean"))
    assert rate is not None
    assert latency is not None
    assert latency.shift == -rate.shift > 0


@pytest.mark.parametrize(
    ("known", "tester"),
    [
        (residual(0.3), "b"),
        (residual(0.3, at=At(100.0, 4096, 1024, "random")), "a"),
        (residual(0.3, at=At(100.0, 65536, 32, "random")), "a"),
    ],
)
def test_the_less_alike_two_figures_are_the_less_they_tell(known: Residual, tester: str) -> None:
    alone, alike, other = width([]), width([residual(0.3)]), width([known], tester=tester)
    assert alike.factor < other.factor < alone.factor


def test_a_rate_and_the_mean_latency_of_one_measurement_are_one_figure() -> None:
    once, twice = width([residual(0.3)]), width([residual(0.3), residual(0.3)])
    assert once == twice


def test_a_product_counts_once_as_a_family_and_as_itself() -> None:
    known = [residual(2.0, run=run) for run in range(3)]
    pools = Pools([*others(), *known])
    made = width_of(pools, GROUPS, "iops", READS, known, tester="a")
    assert made is not None
    assert made.families == 20
    (error,) = set(errors_of(known, pools).values)
    assert error == pytest.approx(2.0 / Pools(others()).scale(GROUPS, ""))


@pytest.mark.long
def test_how_alike_errors_are_is_learned() -> None:
    draw = random.Random(2)
    made = []
    for family in range(150):
        line = draw.gauss(0.0, math.sqrt(0.6))
        for tester in ("a", "b"):
            host = draw.gauss(0.0, math.sqrt(0.25))
            for run in range(4):
                value = 0.05 * (line + host + draw.gauss(0.0, math.sqrt(0.15)))
                made.append(residual(value, f"family {family}", tester=tester, run=run))
    learned = likenesses_of([*made, *(each._replace(groups=("x", "y", "z", "latencies")) for each in made)])
    # Errors are cut at the ends of their 90 % intervals, which takes a little off what they share.
    assert learned.rates.line == pytest.approx(0.6, abs=0.08)
    assert learned.rates.tester == pytest.approx(0.25, abs=0.08)


def test_nine_of_ten_figures_lie_where_figures_of_their_product_say() -> None:
    """Correlated errors as those that are learned, each predicted from the others of its line."""
    likeness: Likeness = shipped_likenesses().rates
    draw, made = random.Random(3), []
    own = 1.0 - likeness.line - likeness.tester
    for family in range(200):
        shared = draw.gauss(0.0, math.sqrt(likeness.line + likeness.tester))
        for run in range(4):
            made.append(residual(0.2 * (shared + draw.gauss(0.0, math.sqrt(own))), f"family {family}", run=run))
    pools, inside = Pools(made), 0
    for each in made:
        known = [other for other in pools.of_line(each.family, GROUPS, each.at.pattern) if other.run != each.run]
        found, alone = width_of(pools, GROUPS, "iops", READS, known, tester="a"), pools.width(GROUPS, 0.9, each.family)
        assert found is not None
        assert alone is not None
        assert math.log(found.factor) < 0.6 * math.log(alone.factor)
        low, high = found.ends
        inside += low <= -each.value <= high
    assert 0.88 <= inside / len(made) <= 0.92


def test_the_shipped_figures_of_a_product_are_evidence_for_it_alone() -> None:
    known = bases("p4510-4tb", qd="32")["iops"]
    assert known.words.startswith("from ")
    assert " of intel p4510 and 16 families: SSD, reads at depth 8 and more" in known.words
    array = bases("raid10:8xp4510-4tb", qd="256")["iops"]
    assert (array.width, array.words) == (known.width, known.words)
    assert bases("s4500-960", qd="32")["iops"].words.startswith("from 17 families")


def test_a_drive_with_other_values_is_not_the_product_that_was_measured() -> None:
    assert of_line_of(bases("p4510-4tb", qd="32", wce="on")) is not None
    assert of_line_of(bases("p4510-4tb", qd="32", read_time="400 us")) is None
    for text, is_product in (("read_time = '400 us'", False), ("wce = 'on'", True)):
        machine = f'[drives.a]\nproduct = "p4510-4tb"\nset = {{ {text} }}\n[volumes.a]\non = "a"\n'
        spec = RunSpec("run", "changed", "fio-randread", (("qd", "32"),), in_use=True, machine_text=machine)
        assert (of_line_of(bases_of(spec, record_of(), 90.0)) is not None) is is_product


def of_line_of(bases: dict[str, Basis]) -> OfLine | None:
    width = bases["iops"].width
    assert width is not None
    return width.of_line


def test_sequential_percentiles_do_not_rest_on_random_figures() -> None:
    patterns = [
        each.at.pattern
        for each in shipped_residuals()
        if each.family == "intel p4510" and "SSD, p50 of reads" in each.groups
    ]
    assert 0 < patterns.count("sequential") < patterns.count("random")
    words = bases("p4510-4tb", "fio-read", qd="8")["latency_p50_ns"].words
    assert words.startswith(f"from {patterns.count('sequential')} figures of intel p4510 and ")


def test_sync_writes_are_a_pattern_of_their_own() -> None:
    loads = [load_of(figure) for figure in shipped()]
    known = {at_of(load).pattern: load for load in loads if isinstance(load, Load)}
    assert set(known) == {"random", "sequential", "sync"}
    assert known["sync"].sync or known["sync"].of_flush
    assert (known["random"].random, known["sequential"].random) == (True, False)


@pytest.fixture
def left_out() -> Predicted:
    """Return the prediction of a figure whose family was left out."""
    figure = next(each for each in shipped() if each.family == "intel p4510" and each.metric == "iops")
    load = load_of(figure)
    assert isinstance(load, Load)
    return Predicted(figure, load, class_of("iops", load), 2.0 * figure.middle)


def test_a_family_that_is_left_out_has_no_evidence_of_its_own(left_out: Predicted) -> None:
    without = shipped_others()
    wild = [each._replace(value=9.0) for each in shipped_residuals() if each.family == "intel p4510"]
    found = _width(left_out, Pools([*without, *wild]))
    tame = _width(left_out, Pools([*without, *(each._replace(value=0.0) for each in wild)]))
    assert found is not None
    assert tame is not None
    # Sums in another order differ in their last digit.
    assert found.factor == pytest.approx(tame.factor, rel=1e-12)
    assert replace(found, factor=1.0) == replace(tame, factor=1.0)
    assert found.of_line is None


@pytest.mark.parametrize("name", ["other loads", "other testers"])
def test_the_check_of_a_product_leaves_out_the_figure_itself(left_out: Predicted, name: Kept) -> None:
    figure, load = left_out.figure, left_out.load
    assert load is not None
    groups = groups_of(left_out.figure_class, load, "iops")
    at = at_of(load)
    other = at._replace(depth=4 * at.depth) if name == "other loads" else at
    apart = Residual("intel p4510", "another tester", groups, 0.3, other, 1)
    itself = [Residual("intel p4510", figure.tester, groups, error, at, 0) for error in (0.3, 9.0)]
    ours = [_line_judged(left_out, Pools([*shipped_others(), apart, each]), name) for each in itself]
    first, second = ours
    assert first is not None
    assert second is not None
    # Sums in another order differ in their last digit.
    assert first[0].factor == pytest.approx(second[0].factor, rel=1e-12)
    assert first[1].residual == pytest.approx(second[1].residual, rel=1e-12)
    alike = [[replace(each, factor=1.0, residual=0.0) for each in judged] for judged in (first, second)]
    assert alike[0] == alike[1]
    assert _line_judged(left_out, Pools([*shipped_others(), itself[0]]), name) is None


def test_a_corpus_without_predictions_has_no_check_of_products() -> None:
    assert _of_line([], Pools([])) == {}


def test_the_check_of_a_product_counts_figures_that_have_both_intervals(
    left_out: Predicted, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = Pools(shipped_residuals())
    assert _line_judged(left_out, pools, "other loads") is not None
    monkeypatch.setattr(asked, "_width", lambda *_: None)
    assert _line_judged(left_out, pools, "other loads") is None


def shipped_others() -> list[Residual]:
    return [each for each in shipped_residuals() if each.family != "intel p4510"]


def test_a_machine_of_two_products_has_no_figures_of_one() -> None:
    text = "".join(
        f'[drives.{name}]\nproduct = "{product}"\n' for name, product in (("a", "p4510-4tb"), ("b", "s4500-960"))
    )
    text += '[layouts.data]\nraid0 = { members = "a, b" }\n'
    spec = RunSpec("run", "mixed", "fio-randread", (("qd", "32"),), machine_text=text)
    width = bases_of(spec, record_of(), 90.0)["iops"].width
    assert width is not None
    assert width.of_line is None


def test_a_line_is_the_family_of_a_title_or_the_product_itself() -> None:
    assert line_of("p4510-4tb", "Intel SSD DC P4510 4 TB, NVMe, PCIe 3.0") == "intel p4510"
    assert line_of("contoso-1", "Contoso One") == "contoso-1"


def test_a_figure_outside_its_interval_is_named_with_the_product() -> None:
    known = Basis("", Width(1.2, "g", 20, OfLine("intel p4510", 8, -0.5)))
    plain = Basis("", Width(1.2, "g", 20))
    ends = {"iops": (100.0, 50.0, 70.0), "latency_p99_ns": (1.0, 0.9, 1.1), "read.iops": (100.0, 50.0, 70.0)}
    assert outside_of(ends, {"iops": known, "latency_p99_ns": known}) == [
        "IOPS: the interval excludes the prediction, which figures of intel p4510 contradict"
    ]
    assert outside_of(ends, {"iops": plain, "latency_p99_ns": plain}) == []


def add_own(folder: Path, monkeypatch: pytest.MonkeyPatch, slower: float) -> None:
    """Add results of a disk of the catalog that is so much slower than one of the corpus."""
    monkeypatch.setenv("HOTBAND_CORPUS", str(folder / "mine.csv"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    example = next(figure for figure in shipped() if figure.family == "wd gold" and figure.workload == "randread")
    own = replace(
        example, id="own-1", family="my disk", model="exos-x18-18tb", span="whole", data_type=OWN_RESULT,
        low=example.low / slower, high=example.high / slower,
    )  # fmt: skip
    (folder / "new.csv").write_text(as_csv([own]), encoding="utf-8")
    added(AddCorpusQuestion(path=folder / "new.csv"), Way(lambda _: nullcontext(), print))


def test_ones_own_results_move_the_interval_of_that_drive(
    hotband: Hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_own(tmp_path, monkeypatch, slower=10.0)
    (own,) = own_residuals()
    assert (own.family, own.tester) == ("exos-x18-18tb", USER)
    line = ("run", "fio-randread", "--on", "exos-x18-18tb", "--set", "qd=1", "--interval", "90", "--duration", "2 s")
    done = json.loads(hotband(*line, "--json").stdout)
    intervals = done["intervals"]
    iops = next(each for each in intervals["figures"] if each["figure"] == "iops")
    assert iops["high"] < 0.3 * iops["predicted"]
    assert iops["rests_on"].startswith("from 1 figure of exos-x18-18tb and 10 families: disk, random reads")
    assert any(note.endswith("the interval excludes the prediction, which figures of exos-x18-18tb contradict")
               for note in intervals["notes"])  # fmt: skip
    assert "exos-x18-18tb contradict" in hotband(*line).stdout.replace("\n  ", " ")
    assert not known_pools().of_line("exos-x18-12tb", own.groups, own.at.pattern)


CONTRADICTION = "the interval excludes the prediction, which figures of exos-x18-18tb contradict"


def test_an_answer_of_find_can_lie_outside_its_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_own(tmp_path, monkeypatch, slower=10.0)
    ask = {"on": "exos-x18-18tb", "interval": 90, "draws": 8, "ios": 1_000, "progress": False}
    (answer,) = hb.find("IOPS at mean < 20 ms", "fio-randread", **ask).answers
    assert answer.interval is not None
    assert answer.interval["high"] < answer.value
    assert answer.notes == [f"mean, IOPS: {CONTRADICTION}"]


def test_an_advice_names_products_that_contradict_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_own(tmp_path, monkeypatch, slower=10.0)
    monkeypatch.setattr(searching, "ROUNDS", (200, 600, 1_800))
    monkeypatch.setattr(advising, "FAILED_IOS", 900)
    ask = {"slo": "mean < 2 s", "capacity": "9 TB", "protect": "one failure", "progress": False}
    advice = hb.advise("fio-randread", candidates="drives=exos-x18-18tb,layouts=raid10,counts=4", **ask)
    assert [note for note in advice.notes if note.endswith(f"mean: {CONTRADICTION}")]


@pytest.mark.parametrize(("error", "is_of_studies"), [(0.1, True), (1.5, False)])
def test_a_disk_keeps_the_studies_where_these_hold_its_own_figures(
    error: float, is_of_studies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = ("disk, random reads", "disk, rates of any load", "rates of any drive")
    values = {"exos-x18-18tb": error, **{str(family): 1.5 if family < 2 else 0.1 for family in range(20)}}
    # Measured at another mix by another tester, it narrows the interval of the corpus too little.
    at = At(1.0, 4096, 32, "random")
    pools = Pools(Residual(family, "b", groups, value, at, 0) for family, value in values.items())
    monkeypatch.setattr(basis, "known_pools", lambda: pools)
    assert bases("exos-x18-18tb")["iops"].is_of_studies is is_of_studies


@pytest.mark.parametrize(
    "row",
    [
        "x,y,z,1.0",
        "x,y,z,nan,100,4096,1,random,0",
        "x,y,z,inf,100,4096,1,random,0",
        "x,y,z,1.0,nan,4096,1,random,0",
        "x,y,z,1.0,100,0,1,random,0",
        "x,y,z,1.0,100,4096,0,random,0",
        "x,y,z,1.0,100,4096,1,both,0",
    ],
)
def test_a_damaged_file_of_own_errors_is_named(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_errors(tmp_path, monkeypatch, f"{HEADING}\n{row}\n")
    words = r"mine.errors.csv: value: is damaged .*expected numbers; remove the file, or let `hotband corpus add` write"
    with pytest.raises(UserError, match=words):
        known_pools()


def test_blank_lines_of_own_errors_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_errors(tmp_path, monkeypatch, f"{HEADING}\n\nx,y,z,1.0,100,4096,1,random,0\n\n")
    assert [each.value for each in own_residuals()] == [1.0]


HEADING = "family,tester,groups,value,read_pct,block,depth,pattern,run"


def write_errors(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HOTBAND_CORPUS", str(folder / "mine.csv"))
    (folder / "mine.errors.csv").write_text(text, encoding="utf-8")


def test_the_state_of_a_drive_is_one_of_a_corpus(hotband: Hotband, tmp_path: Path) -> None:
    line = ("corpus", "add", str(tmp_path), "--model", "x", "--class", "hdd", "--state", "dirty")
    done = hotband(*line)
    assert done.returncode == 2
    assert done.stderr == (
        "hotband: error: --state = 'dirty': expected one of fob, filled, preconditioned, steady, unknown\n"
    )
