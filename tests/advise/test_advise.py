"""Does the search find the front that running everything finds, and does the advice say what it rests on?"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hotband as hb
from hotband.data.inputs.loads import Load
from hotband.data.inputs.specify import Named
from hotband.execution.experiment.watch import watch
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.questions.advise import advise as advising
from hotband.questions.advise import front
from hotband.questions.advise import measure as measuring
from hotband.questions.advise import search as searching
from hotband.questions.advise.advice import Between
from hotband.questions.advise.asked import AdviseQuestion, needs_of
from hotband.questions.advise.candidates import candidates_of, space_of
from hotband.questions.advise.finalists import Finalist
from hotband.questions.advise.front import Tried, front_of, is_better, read_figures, shown_figure
from hotband.questions.advise.measure import Bench, loads_from
from hotband.questions.advise.objective import misses
from hotband.questions.advise.prices import Prices
from hotband.questions.advise.search import search
from hotband.questions.advise.small import less_outstanding, shared, stand_of
from hotband.views.advise.show import advice_views

if TYPE_CHECKING:
    from hotband.questions.advise.advice import Advice
    from hotband.questions.advise.measure import Measured

SPACE = "drives=exos-x18-18tb,ent-10k,layouts=raid5,raid6,raid10,counts=6,8,12"
ASK = {"slo": "p99 < 80 ms", "capacity": "9 TB", "protect": "one failure", "progress": False}
FEW = "drives=exos-x18-18tb,toshiba-mg08-16tb,layouts=raid6,raid10,counts=8,12,caches=off,protected"


@pytest.fixture(scope="module", autouse=True)
def short_runs() -> Iterator[None]:
    """What is asked is the search, not the third digit."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(searching, "ROUNDS", (200, 600, 1_800))
        patched.setattr(advising, "FAILED_IOS", 900)
        yield


@pytest.fixture
def without_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn once: the others are about what is searched."""
    monkeypatch.setattr(advising, "drawn", lambda point, *_: Finalist(point, [], 1.0))


@pytest.fixture(scope="module")
def advice() -> Advice:
    return hb.advise("vdbench-8k-random", candidates=FEW, draws=8, **ASK)


def bench_of(needs, workloads: list[Named], machine: str) -> Bench:
    quiet = {"watch": lambda title: watch(title, False), "say": lambda _: None}
    return Bench(loads_from(workloads, machine), figures=read_figures(needs), duty=1.0, seed=1, **quiet)


@pytest.mark.long
def test_the_front_is_that_of_running_everything() -> None:
    workloads = [Named("vdbench-8k-random"), Named("iometer-database")]
    needs = needs_of(AdviseQuestion(workloads=workloads, slo="p99 < 80 ms", capacity="9 TB", protect="one failure"))
    candidates = candidates_of(space_of(SPACE, 1), needs, Prices()).candidates
    bench = bench_of(needs, workloads, candidates[0].machine)
    found = search(candidates, needs, bench)
    every = bench.measure(
        [(one, name.name) for one in candidates for name in workloads], searching.ROUNDS[-1], "everything"
    )
    tried = [Tried(one, {name.name: every[one.name, name.name] for name in workloads}) for one in candidates]
    good = [one for one in tried if not any(misses(one, needs, needs.slo, surely=False))]
    wanted = front_of(good, shown_figure(needs))
    assert {one.name for one in found.front} == {one.name for one in wanted}
    assert 3 <= len(wanted) < len(good) < len(candidates)
    # Left out early: fewer are run at their full length than were begun with.
    # The first round has the largest array of each family alone, of which none surely misses.
    families = Counter((one.drive.name, one.layout, one.cache) for one in candidates)
    assert found.rounds[0][1] == sum(members > 1 for members in families.values())
    assert found.rounds[-1][1] < found.rounds[1][1] == len(candidates)


def test_nobody_on_a_front_is_better_than_another() -> None:
    needs = needs_of(
        AdviseQuestion(workloads=[Named("fio-randread")], slo="p99 < 80 ms", capacity="9 TB", protect="one failure")
    )
    candidates = candidates_of(space_of(FEW, 1), needs, Prices()).candidates
    bench = bench_of(needs, [Named("fio-randread")], candidates[0].machine)
    found = search(candidates, needs, bench)
    values = [one.values(shown_figure(needs)) for one in found.front]
    assert not any(is_better(one, other) for one, other in itertools.permutations(values, 2))
    out = [one for one in found.good if one not in found.front]
    assert all(any(is_better(of, one.values(shown_figure(needs))) for of in values) for one in out)


@pytest.mark.long
def test_the_recommended_point_is_the_smallest_that_holds(advice: Advice) -> None:
    assert advice.recommended is not None
    assert advice.recommended.latency.value < 0.080
    assert advice.recommended.drives == min(one.drives for one in advice.front)
    assert advice.answer[0].startswith(f"Buy {advice.recommended.drives} drives ")
    assert advice.recommended.machine in advice.answer[0]
    assert len(advice.answer) == 2
    assert advice.recommended.interval_from == "draws"
    assert advice.priced_by_class
    assert advice.currency == "EUR"
    assert advice.recommended.cost.low < advice.recommended.cost.value < advice.recommended.cost.high


def test_it_says_what_it_rests_on_and_which_value_could_overturn_it(advice: Advice) -> None:
    assert advice.runner_up is not None
    assert "It rests on p99 of vdbench-8k-random staying below 80 ms" in advice.why
    assert "could overturn it first" in advice.why
    assert f"Next is {advice.runner_up.name}: " in advice.why
    shares = [one["total"] for one in advice.values]
    assert shares == sorted(shares, reverse=True)


def test_every_figure_has_its_interval_around_it(advice: Advice) -> None:
    for one in advice.front:
        for of in (one.watts, one.latency, one.rebuild, one.loss):
            assert of is not None
            assert of.low <= of.value <= of.high
        # A failed drive makes the others work more, and its rebuild beside the load takes longer than at rest.
        assert one.degraded > one.latency.value
        assert one.rebuild.high > one.rebuild.value


def test_the_result_is_a_frame_a_document_and_a_page(advice: Advice, tmp_path: Path) -> None:
    assert len(advice.frame) == len(advice.front)
    assert advice.frame["recommended"].sum() == 1
    document = json.loads(json.dumps(advice.to_dict()))
    assert document["schema"] == "hotband-advice"
    assert document["recommended"] == advice.recommended.name
    page = advice.write_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert all(one.name in page for one in advice.front)
    assert advice.answer[0] in page.replace("&lt;", "<")


def adds_up(advice: Advice) -> bool:
    """Whether every candidate is on the front or counted as left out."""
    return advice.candidates == len(advice.front) + sum(advice.left_out.values())


def test_every_candidate_is_on_the_front_or_counted_as_left_out(without_draws, tmp_path: Path) -> None:
    found = hb.advise("vdbench-8k-random", candidates=SPACE, **ASK)
    assert adds_up(found), (found.candidates, len(found.front), found.left_out)
    # Most are worse than another only at the end of the search, which counts as much as before it.
    worse = f"{found.left_out[searching.WORSE]} {searching.WORSE}"
    assert found.left_out[searching.WORSE] >= 2
    assert worse in " ".join(map(str, advice_views(found)))
    assert worse in found.write_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert found.to_dict()["left_out"] == dict(found.left_out)


def test_candidates_that_figures_of_their_product_exclude_are_counted(
    without_draws, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = hb.advise("vdbench-8k-random", candidates=SPACE, **ASK).recommended.drive

    def bounds(measured: Measured, *_: object) -> tuple[float, float]:
        return (100.0, 200.0) if drive in measured.finished.spec.machine else (0.9, 1.1)

    monkeypatch.setattr(advising, "model_bounds", bounds)
    found = hb.advise("vdbench-8k-random", candidates=SPACE, **ASK)
    assert drive not in set(found.frame["drive"])
    assert found.front, "the other drive takes its place"
    assert found.left_out[advising.OUTSIDE] >= 1
    assert adds_up(found), (found.candidates, len(found.front), found.left_out)


@pytest.mark.long
def test_runs_that_are_kept_are_not_run_again(tmp_path: Path, without_draws, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = {**ASK, "candidates": FEW}
    first = hb.advise("vdbench-8k-random", out=tmp_path / "kept", **ask)
    assert first.to_dict() == hb.advise("vdbench-8k-random", jobs=1, **ask).to_dict()
    from hotband.execution.experiment.executor import Local

    executed: list[int] = []
    execute = Local.execute

    def counted(self, points, done, tick):
        executed.append(len(points))
        return execute(self, points, done, tick)

    monkeypatch.setattr(Local, "execute", counted)
    assert hb.advise("vdbench-8k-random", out=tmp_path / "kept", **ask).to_dict() == first.to_dict()
    folders = sorted(path.name for path in (tmp_path / "kept").iterdir())
    # How many short rounds precede the last depends on the figures of these drives.
    assert {"disks", "largest-arrays-of-disks", "with-a-drive-failed"} < set(folders)
    assert executed == [0] * len(folders)
    assert not any("," in name for name in folders), folders
    assert all((tmp_path / "kept" / name / "experiment.json").is_file() for name in folders), "none in another"


def test_prices_decide_where_there_are_some(tmp_path: Path, without_draws) -> None:
    (tmp_path / "prices.csv").write_text(
        "drive,price,currency,watts\nexos-x18-18tb,100,EUR,9\ntoshiba-mg08-16tb,900,EUR,\n"
    )
    found = hb.advise("fio-randread", candidates=FEW, prices=tmp_path / "prices.csv", **ASK)
    assert found.recommended.drive == "exos-x18-18tb"
    assert found.recommended.cost.value == 100 * found.recommended.drives
    assert found.recommended.watts.value == 9 * found.recommended.drives
    assert "EUR" in found.answer[0]
    assert not any("no prices" in note for note in found.notes)


def test_an_objective_may_be_of_reads_and_a_rate() -> None:
    few = "drives=toshiba-mg08-16tb,layouts=raid10,counts=8,caches=off"
    ask = {**ASK, "slo": "read.p99 < 80 ms and IOPS > 20", "candidates": few, "draws": 8}
    found = hb.advise(["fio-randread", "iometer-database"], **ask)
    assert found.figure == "read.p99"
    assert found.recommended.interval_from == "corpus"
    none = hb.advise("fio-randread", **{**ask, "slo": "p99 < 80 ms and IOPS > 1000000"})
    assert none.recommended is None
    # What it says is what was missed, not the latency, which holds.
    assert none.answer[1].endswith("IOPS under fio-randread, where IOPS > 1000000 was required.")
    assert dict(none.left_out) == {"not IOPS > 1000000": 1}


def test_a_drive_without_a_rate_of_sector_errors_is_not_compared_in_silence(without_draws) -> None:
    ask = {**ASK, "slo": "p99 < 80 ms", "capacity": "3 TB"}
    for drive, is_known in (("5400-pro-1920", False), ("pm9a3-3840", True), ("exos-x18-18tb", True)):
        found = hb.advise("fio-randread", candidates=f"drives={drive},layouts=raid5,counts=3", **ask)
        words = f"rate of unreadable sectors assumed by drive class: {drive}"
        assert any(note.startswith(words) for note in found.notes) is not is_known


def test_the_nearest_is_the_one_whose_worst_miss_is_the_smallest() -> None:
    few = "drives=exos-x18-18tb,layouts=raid10,counts=8,12,caches=off"
    said = hb.advise("vdbench-8k-random", candidates=few, **{**ASK, "slo": "p99 < 60 ms and IOPS > 10000"})
    # A p99 that is a little too long is less of a miss than a tenth of the rate.
    assert said.nearest.drives == 12
    assert 0.06 < said.nearest.latency.value < 0.12
    assert "IOPS > 10000 was required" in said.answer[1]


def test_what_misses_the_objective_with_a_drive_failed_alone_is_the_nearest(without_draws) -> None:
    few = "drives=exos-x18-18tb,layouts=raid10,counts=8,12,caches=off"
    said = hb.advise("vdbench-8k-random", candidates=few, slo_degraded="p99 < 20 ms", **ASK)
    assert said.answer[1].startswith(
        "The nearest is raid10:12xexos-x18-18tb, write cache off: with a drive failed, p99 "
    )
    assert dict(said.left_out) == {"not p99 < 80 ms": 1, "not p99 < 20 ms with a drive failed": 1}


def test_that_nothing_meets_it_is_an_answer(hotband) -> None:
    done = hotband(
        "advise", "vdbench-8k-random", "--slo", "p99 < 1 ms", "--capacity", "9 TB", "--protect", "one failure",
        "--candidates", FEW,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No candidate meets the requirements: ")
    assert "The nearest is raid10:12x" in done.stdout


def test_the_table_fits_and_csv_has_plain_numbers(advice: Advice, tmp_path: Path) -> None:
    from hotband.base.foreign import console
    from hotband.base.text.layout import fitted
    from hotband.views.advise.show import front_table

    advice_views(advice)
    priced = replace(advice.front[0], cost=Between(12_500.0, 11_000.0, 14_000.0))
    table = front_table(advice, [priced, *advice.front[1:]])
    assert len(fitted(table, console(width=80))) == 2, "a title and a table"
    headings, rows = table.values()
    assert {"cost", "cost, from", "cost, to", "drives"} <= {name.partition(" (")[0] for name in headings}
    assert rows[0][1:4] == [12_500.0, 11_000.0, 14_000.0]


def test_a_condition_with_a_drive_failed_leaves_out_what_misses_it(advice: Advice, without_draws) -> None:
    ends = sorted(one.degraded for one in advice.front)
    bound = (ends[0] + ends[-1]) / 2
    found = hb.advise(
        "vdbench-8k-random", candidates=FEW, slo_degraded=f"p99 < {1e3 * bound:.3f} ms", **ASK
    )  # fmt: skip
    assert found.front
    assert all(one.degraded < bound for one in found.front if one.degraded is not None)
    assert any("with a drive failed" in why for why in found.left_out)
    assert adds_up(found), (found.candidates, len(found.front), found.left_out)


def test_every_drive_of_a_smaller_array_is_asked_as_much() -> None:
    (whole,) = candidates_of(
        space_of("drives=pm9a3-3840,layouts=raid60,counts=28", 1), needs_of(
            AdviseQuestion(workloads=[Named("x")], slo="p99 < 5 ms", capacity="5 TB", protect="two failures")
        ), Prices()).candidates  # fmt: skip
    text = '[load]\nopen = { rate_iops = 2800 }\n[[streams]]\nsize = "4 KiB"\n[[phases]]\nios = 9\nmeasure = true\n'
    load = Load(text, "x")
    stand = stand_of(whole, load)
    assert (stand.layout, stand.count, stand.times) == ("raid6", 7, 4.0)
    assert shared(load, stand.times).table["load"] == {"open": {"rate_iops": 700.0}}
    # Of 16 outstanding 15 others are on 12 drives, or 5 on 4.
    assert less_outstanding(16, 3.0) == 6
    assert less_outstanding(1, 6.0) == 1
    assert stand_of(whole, Load(text.replace("size", 'range = ["0 GB", "9 GB"]\nsize'), "x")).times == 1.0


def test_a_smaller_array_of_flash_stands_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    workloads = [Named("fio-randread")]
    needs = needs_of(AdviseQuestion(workloads=workloads, slo="p99 < 5 ms", capacity="5 TB", protect="one failure"))
    candidates = candidates_of(space_of("drives=s4500-960,layouts=raid10,counts=12", 1), needs, Prices()).candidates
    bench = bench_of(needs, workloads, candidates[0].machine)
    small = bench.measure([(candidates[0], "fio-randread")], 4_000, "small")
    bench.whole = True
    whole = bench.measure([(candidates[0], "fio-randread")], 4_000, "whole")
    (one,), (other,) = small.values(), whole.values()
    of = shown_figure(needs)
    low, high = one.chance[of]
    assert low <= other.figures[of] <= high
    assert one.watts[0] == pytest.approx(other.watts[0], rel=0.02)
    assert one.finished.record["spec"]["machine"] != other.finished.record["spec"]["machine"]


def test_drives_that_would_be_worn_out_are_left_out() -> None:
    found = hb.advise(
        "fio-randwrite", candidates="drives=s4500-960,layouts=raid10,counts=12", slo="p99 < 500 ms", capacity="5 TB",
        protect="one failure", progress=False,
    )  # fmt: skip
    assert found.recommended is None
    assert found.left_out["worn out before the years are over"] == 1


def test_volatile_caches_are_not_recommended_unless_asked_for(without_draws) -> None:
    one = "drives=toshiba-mg08-16tb,layouts=raid10,counts=12,caches={}"
    both = hb.advise("vdbench-8k-random", candidates=one.format("off,on"), **ASK)
    assert both.recommended.cache == "off"
    assert {point.cache for point in both.front} == {"off", "on"}
    alone = hb.advise("vdbench-8k-random", candidates=one.format("on"), **ASK)
    assert alone.recommended.cache == "on"
    assert "lost with power" in alone.answer[0]


def test_a_volatile_cache_is_never_better_than_one_that_keeps_its_writes() -> None:
    assert front.FIGURES == ("cost", "watts", "drives", "latency", "rebuild", "loss", "volatile")
    kept = dict.fromkeys(front.FIGURES, 2.0) | {"volatile": 0.0}
    faster = {**kept, "latency": 1.0, "volatile": 1.0}
    assert not is_better(faster, kept)
    assert is_better({**kept, "latency": 1.0}, kept)


def test_a_refused_run_with_a_failed_drive_loses_no_advice(
    monkeypatch: pytest.MonkeyPatch, without_draws: None
) -> None:
    """Of memory such a run may need more than there is."""

    def refused(specs, **_: object) -> str | None:
        return "needs 33.8 GB of memory" if any(spec.repair.fail for spec in specs) else None

    monkeypatch.setattr(measuring, "refusal", refused)
    answer = hb.advise("vdbench-8k-random", candidates=FEW, **ASK)
    assert answer.recommended is not None
    assert any(note.startswith("No run with a failed drive") for note in answer.to_dict()["notes"])


def test_an_interrupted_advice_says_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    measure = Bench.measure

    def stopped(bench: Bench, *given: object, **more: object) -> dict[object, object]:
        bench.partial = measure(bench, *given, **more)  # type: ignore[arg-type]
        raise RunsInterrupted([])

    monkeypatch.setattr(Bench, "measure", stopped)
    question = AdviseQuestion(
        workloads=[Named("fio-randread")], slo="p99 < 80 ms", capacity="9 TB", protect="1", candidates=FEW
    )
    with pytest.raises(RunsInterrupted):
        advising.advise(question, lambda title: watch(title, False), said.append)
    assert said[0] == "12 of 12 candidates hold the data and survive the failures"
    assert re.fullmatch(
        r"stopped after \d+ runs for \d+ candidates: the best so far, raid.* meets the objective", said[-1]
    )


def test_families_whose_largest_array_misses_are_not_run_further() -> None:
    needs = needs_of(
        AdviseQuestion(workloads=[Named("fio-randread")], slo="p99 < 1 ms", capacity="9 TB", protect="one failure")
    )
    candidates = candidates_of(space_of(FEW, 1), needs, Prices()).candidates
    bench = bench_of(needs, [Named("fio-randread")], candidates[0].machine)
    found = search(candidates, needs, bench)
    families = {(one.drive.name, one.layout, one.cache) for one in candidates}
    assert not found.good
    # One run per family, and every candidate is counted.
    assert bench.runs == len(families) < len(candidates)
    assert sum(found.left_out.values()) == len(candidates)
    assert found.nearest is not None


def test_fewer_drives_are_tried_where_the_largest_array_draws_too_much() -> None:
    # Twelve draw 104 W, eight 73 W.
    workloads = [Named("vdbench-8k-random")]
    ask = {"slo": "p99 < 10 s", "capacity": "9 TB", "protect": "2", "power": "90 W"}
    needs = needs_of(AdviseQuestion(workloads=workloads, **ask))
    space = space_of("drives=exos-x18-18tb,layouts=raid6,counts=8,12,caches=off", 2)
    candidates = candidates_of(space, needs, Prices()).candidates
    assert [candidate.count for candidate in candidates] == [8, 12]
    found = search(candidates, needs, bench_of(needs, workloads, candidates[0].machine))
    assert [entry.candidate.count for entry in found.good] == [8]
    assert found.left_out["over the power"] == 1


@pytest.mark.usefixtures("without_draws")
def test_a_priced_drive_that_is_too_small_is_not_called_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text('variant_of = "ent-10k"\ntitle = "t"\n')
    Path("p.csv").write_text("drive,price\nent-cap-2tb,100\nent-capp,90\n./own.toml,50\n")
    space = "drives=ent-cap-2tb,./own.toml,layouts=raid1,counts=2"
    advice = hb.advise(
        "fio-randread", candidates=space, prices="p.csv", **ASK | {"capacity": "1.9 TB", "slo": "p99 < 800 ms"}
    )
    assert advice.frame["drive"].unique().to_list() == ["ent-cap-2tb"]
    assert "prices of no known drive, and not used: ent-capp" in advice.notes
