"""Are the intervals of a review those of its draws, and does every figure have one?"""

from __future__ import annotations

import copy
import math
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.base.text.numbers import number
from hotband.execution.experiment import Experiment
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.inference.interval.conformal import ARRAYS, Kind, Spread
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.of_run import Asked
from hotband.inference.interval.residuals import model_term
from hotband.questions.review import compare, intervals, many, plan, review
from hotband.questions.review.draws import Drawn, Draws, draws_of, run_draws
from hotband.questions.review.target import targets_of
from hotband.questions.study.intervals.lines import SEEDS
from hotband.views.report import review_comparison, review_machine, review_rows
from hotband.views.review import comparison_views, review_views

FIRST, MIRROR = "savvio-10k1", "raid1:2xsavvio-10k1"
ONLY = ["access", "defragmentation"]
ASKED = Asked(90.0, 8)


def draws_for(*machines: str, only: list[str] = ONLY) -> Draws:
    return draws_of([plan(of, only) for of in targets_of(machines, [], None, 1, True)], ASKED)


@pytest.fixture(scope="module")
def draws() -> Draws:
    """Of a disk and a mirror of two of them."""
    return draws_for(FIRST, MIRROR)


@pytest.fixture(scope="module")
def drawn(draws: Draws) -> list[Drawn]:
    return [run_draws(draws, machine) for machine in draws.machines]


@pytest.fixture(scope="module")
def plain(draws: Draws) -> list[Any]:
    """The two reviews without intervals."""
    return [review(name, quick=True, only=ONLY) for name in (FIRST, MIRROR)]


@pytest.fixture(scope="module")
def reviewed(plain: list[Any], drawn: list[Drawn], draws: Draws) -> tuple[list[Any], Any]:
    """The reviews and their comparison with intervals."""
    reviews = copy.deepcopy(plain)
    comparison = compare(reviews)
    intervals.add(reviews, drawn, draws, ASKED)
    intervals.add_to_comparison(comparison, drawn, draws, ASKED)
    return reviews, comparison


def test_a_draw_is_the_review_of_a_machine_with_these_values(draws: Draws, drawn: list[Drawn]) -> None:
    again, values = draws.again[SEEDS + 2], {one.name: one for one in draws.values}
    said = [(values[name].range.key, str(values[name].at(share))) for name, share in again.shares.items()]
    changed = [pair for pair in said if pair[1] != "as it is"]
    assert len(changed) > 4
    alone = review(FIRST, set=changed, quick=True, only=ONLY)
    of_draw = drawn[0].draws[2]
    assert intervals.figures_of(alone["access"]) == intervals.figures_of(of_draw["access"])
    assert intervals.figures_of(alone["defragmentation"]) == intervals.figures_of(of_draw["defragmentation"])


def test_another_seed_is_the_review_with_that_seed(drawn: list[Drawn]) -> None:
    alone = review(FIRST, seed=2, quick=True, only=ONLY)
    assert alone["access"] == drawn[0].seeds[0]["access"]
    assert alone["access"] != drawn[0].seeds[1]["access"]


def test_machines_share_the_draws_of_a_drive(draws: Draws) -> None:
    alone, mirror = draws.machines
    for again in draws.again:
        of_both = [dict(machine.run_again(again)[0].set) for machine in (alone, mirror)]
        assert of_both[0] == of_both[1]
    assert draws.names_of(alone) == draws.names_of(mirror) == [one.name for one in draws.values]


def test_write_caches_are_as_the_review_says() -> None:
    found = draws_for("cheetah-15k4", only=["access"])
    assert found.values
    assert not [one.name for one in found.values if one.range.key == "wce"]


def test_every_figure_lies_in_an_interval(reviewed: tuple[list[Any], Any]) -> None:
    for made in reviewed[0]:
        rows = [*made["access"].values(), made["defragmentation"], *made["summary"]]
        for row in rows:
            figures = {key for key in row if intervals.is_figure(key)}
            assert set(row["intervals"]) == figures
            assert "max_ns" not in figures
            for key, ends in row["intervals"].items():
                assert 0 < ends["low"] < row[key] < ends["high"]
        assert made["intervals"]["overall"]["low"] < made["overall"] < made["intervals"]["overall"]["high"]
        assert (made["intervals"]["level"], made["intervals"]["draws"]) == (90.0, 8)


def test_an_interval_is_the_spread_of_draws_and_seeds_with_the_models(
    reviewed: tuple[list[Any], Any], drawn: list[Drawn]
) -> None:
    row = reviewed[0][0]["access"]["read"]
    logs, seeds = (
        [math.log(one["access"]["read"]["mean_ns"] / row["mean_ns"]) for one in of]
        for of in (drawn[0].draws, drawn[0].seeds)
    )
    mean = sum(seeds) / 3
    by_seed = math.sqrt((mean**2 + sum((one - mean) ** 2 for one in seeds)) / 2)
    spread, farthest = Spread.of(logs, by_seed), Spread.farthest(logs, by_seed)
    low, high = model_term().bounds(Kind(FigureClass.RANDOM, ARRAYS), spread, 90.0, farthest)
    assert row["intervals"]["mean_ns"]["low"] == pytest.approx(row["mean_ns"] * math.exp(low))
    assert row["intervals"]["mean_ns"]["high"] == pytest.approx(row["mean_ns"] * math.exp(high))


def test_a_ratio_is_of_machines_in_the_same_draw(reviewed: tuple[list[Any], Any], drawn: list[Drawn]) -> None:
    comparison = reviewed[1]
    group = next(one for one in comparison["groups"] if one["group"] == "access")
    assert set(group["intervals"]["ratios"]) == {MIRROR}
    compared = [compare(list(both)) for both in zip(drawn[0].draws, drawn[1].draws, strict=True)]
    ratios = [next(of["ratios"][MIRROR] for of in one["groups"] if of["group"] == "access") for one in compared]
    logs = [math.log(ratio / group["ratios"][MIRROR]) for ratio in ratios]
    alone = [math.log(one["access"]["read"]["mean_ns"] / drawn[0].draws[0]["access"]["read"]["mean_ns"]) for one in
             drawn[0].draws]  # fmt: skip
    # What moves the disk moves the mirror: their ratio hardly moves.
    assert max(map(abs, logs)) < max(map(abs, alone)) / 2
    ends = comparison["intervals"]["overall"][MIRROR]
    assert ends["low"] < comparison["overall"][MIRROR] < ends["high"]


def test_a_review_without_intervals_has_no_such_key(plain: list[Any]) -> None:
    assert "intervals" not in str(plain)
    assert "intervals" not in compare(plain)


@pytest.mark.parametrize(
    ("place", "of"),
    [
        (("linear", "mean", "read"), FigureClass.SEQUENTIAL),
        (("linear", "read", 3, "bandwidth_bytes_per_s"), FigureClass.SEQUENTIAL),
        (("access", "read", "mean_ns"), FigureClass.RANDOM),
        (("access", "read", "p50_ns"), FigureClass.P50),
        (("patterns", 7, "latency_p99_ns"), FigureClass.P99),
        (("summary", "blocks", "geometric_mean"), FigureClass.SEQUENTIAL),
        (("summary", "server", "geometric_mean"), FigureClass.RANDOM),
    ],
)
def test_a_figure_has_the_class_of_its_ios(place: intervals.Place, of: FigureClass) -> None:
    assert intervals.class_of(place) == of


def test_figures_are_known_by_their_keys() -> None:
    row = {"pattern": "web", "queue_depth": 4, "iops": 5.0, "latency_mean_ns": 7, "max_ns": 9, "low_bytes_per_s": 3.0}
    document = {"patterns": [row, {"iops": None}], "summary": [{"group": "server", "of": 2, "geometric_mean": 1.5}]}
    assert intervals.figures_of(document) == {
        ("patterns", 0, "iops"): 5.0,
        ("patterns", 0, "latency_mean_ns"): 7.0,
        ("summary", "server", "geometric_mean"): 1.5,
    }


def test_what_a_draw_has_not_is_left_out() -> None:
    nominal = {"summary": [{"group": "a", "geometric_mean": 4.0}, {"group": "b", "geometric_mean": 2.0}]}
    draw = {"summary": [{"group": "b", "geometric_mean": 2.0 * math.e}]}
    found = intervals.spreads_of(nominal, [draw], [])
    assert found["summary", "a", "geometric_mean"].spread == Spread()
    assert found["summary", "b", "geometric_mean"].spread == Spread(0.0, pytest.approx(math.sqrt(2)))


def test_energy_alone_has_no_intervals() -> None:
    with pytest.raises(UserError, match="has ranges instead of intervals"):
        draws_for(FIRST, only=["energy"])


def test_draws_that_are_kept_are_not_run_again(
    draws: Draws, drawn: list[Drawn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, said = draws.machines[0], []
    run_draws(draws, machine, folder=tmp_path)
    (tmp_path / "draws" / "draw 3.json").write_text("{}", encoding="utf-8")
    ran: list[int] = []
    before = Experiment.run
    monkeypatch.setattr(Experiment, "run", lambda self, **_: ran.append(len(self.points)) or before(self))
    again = run_draws(draws, machine, folder=tmp_path, say=said.append)
    assert again.draws == drawn[0].draws
    assert ran == [len(machine.specs)]
    assert said == ["9 of 10 samples of savvio-10k1 were there already"]


def test_an_interrupt_keeps_the_reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hotband.questions.review import draws as draws_module

    def stopped(*_: object, **__: object) -> None:
        raise RunsInterrupted([])

    monkeypatch.setattr(draws_module, "run_draws", stopped)
    monkeypatch.setattr("hotband.views.report.review_page.write_review", lambda *_: [])
    said: list[str] = []
    done = many.review_all(
        [FIRST], quick=True, only=["access"], out=tmp_path, say=said.append, intervals=ASKED,
        progress=lambda _: nullcontext(lambda _: None),
    )  # fmt: skip
    assert done.interrupted
    assert "intervals" not in done.reviews[0]
    assert (tmp_path / FIRST / "review.json").is_file()
    assert said[-2:] == ["interrupted: stored without intervals", "drawing the charts ..."]
    assert "8 samples" in said[0]


def cells_of(views: list[Any]) -> list[str]:
    tables = [view for view in views if hasattr(view, "columns")]
    return [text for table in tables for row in table.texts() for text in row]


def test_the_terminal_shows_them(reviewed: tuple[list[Any], Any], plain: list[Any]) -> None:
    reviews, comparison = reviewed
    row = reviews[0]["access"]["read"]
    ends = row["intervals"]["mean_ns"]
    cells = cells_of(review_views(reviews[0]))
    assert (
        f"{number(row['mean_ns'] / 1e6)} ms ({number(ends['low'] / 1e6)} to {number(ends['high'] / 1e6)} ms)" in cells
    )
    assert any(cell.startswith(f"{number(comparison['overall'][MIRROR])} (") for cell in
               cells_of(comparison_views(reviews, comparison)))  # fmt: skip
    assert not [cell for cell in cells_of(review_views(plain[0])) if " to " in cell]


def test_the_page_shows_them(reviewed: tuple[list[Any], Any]) -> None:
    reviews, comparison = reviewed
    everyone = review_rows.machines(reviews)
    ends = reviews[0]["access"]["read"]["intervals"]["p99_ns"]
    words = f"(90 % interval {number(ends['low'] / 1e6)} to {number(ends['high'] / 1e6)})"
    [table] = review_machine.access(everyone[0]).tables
    assert table.groups[0].rows[0][5].text.endswith(words)
    lines = review_comparison.machine_lines(everyone)
    topic = review_comparison.ratios(everyone, comparison, lines)
    assert "90 % interval" in topic.figures[0].caption
    last = topic.tables[0].groups[0].rows[-1]
    assert last[1].text == "1"
    assert "(90 % interval " in last[2].text


def test_in_csv_the_ends_are_columns(reviewed: tuple[list[Any], Any]) -> None:
    table = next(view for view in review_views(reviewed[0][0]) if hasattr(view, "columns"))
    headings, rows = table.values()
    at = headings.index("mean (ms)")
    assert headings[at + 1 : at + 3] == ["mean, from (ms)", "mean, to (ms)"]
    ends = reviewed[0][0]["access"]["read"]["intervals"]["mean_ns"]
    assert rows[0][at + 1 : at + 3] == [ends["low"] / 1e6, ends["high"] / 1e6]
