"""Does a fleet lose data as often as theory says, where theory says it?"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fleets import DISK, fleet, group

from forms import sized
from hotband.data.documents.fleet import FigureDoc, PartDoc
from hotband.data.inputs.specify import Named
from hotband.inference.reliability.array import Array, Conditions
from hotband.inference.reliability.asked import ReliabilityQuestion
from hotband.inference.reliability.assess import assess
from hotband.inference.reliability.chain import build, loss_within, mean_time_to_loss
from hotband.questions.datasheet import described_text
from hotband.questions.fleet.failures import Events, Stock, spares_for_no_wait, waits_of
from hotband.questions.fleet.lives import Lives
from hotband.questions.fleet.loss import chance_of_loss, closed_form_losses, happened
from hotband.questions.fleet.plan import Drawn, Plan, months_of_service
from hotband.questions.fleet.repetition import COLUMNS, TOTALS, repeat
from hotband.questions.fleet.values import generator
from hotband.views.fleet.show import beyond_chance, losses_in_words

LOSSES = [COLUMNS.index("loss_failure"), COLUMNS.index("loss_sector")]
Z = 3.3
"""Standard errors: one in a thousand tests would fail by chance; the seeds are fixed."""


def plan(kind: str, width: int, machines: int = 500, parities: int | None = None, **keys: object) -> Plan:
    """Machines of one array each, of 10 TB drives, over ten years."""
    array = Array.of_layout(kind, width, width * 1e13, 1e13, 512, 1, parities)
    return Plan("g", array, *months_of_service(machines, 0, None, 0.0, 120), 120, **keys)  # type: ignore[arg-type]


def losses(of: Plan, drawn: Drawn, repetitions: int) -> tuple[float, float, float]:
    """Mean expected losses, their standard error, and the mean of losses that happened."""
    left = [repeat(of, drawn, generator(1, "test", number)) for number in range(1, repetitions + 1)]
    each = np.array([one.months[:, LOSSES].sum() for one in left], dtype=float)
    seen = np.array([one.totals[TOTALS.index("seen")] for one in left], dtype=float)
    return float(each.mean()), float(each.std(ddof=1)) / math.sqrt(repetitions), float(seen.mean())


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(
    ("kind", "width", "parities", "error"),
    [("raid10", 8, None, 0.0), ("raid5", 8, None, 0.02), ("raid6", 12, None, 0.1), ("raid1", 3, None, 0.0),
     ("raidz3", 11, None, 0.05), ("erasure", 12, 4, 0.0), ("raid0", 4, None, 0.0)],
)  # fmt: skip
def test_exponential_lives_lose_as_the_chain_of_reliability_says(
    kind: str, width: int, parities: int | None, error: float, constant: bool
) -> None:
    of = plan(kind, width, parities=parities, rebuild_constant=constant)
    mean, spread, _ = losses(of, Drawn(Lives(4e5), 60.0, error=error), 60)
    assert mean == pytest.approx(closed_form_losses(of, 4e5, 60.0, error), abs=Z * spread)
    assert spread < 0.02 * mean


def test_the_closed_form_is_that_of_the_command() -> None:
    """`hotband reliability` of the same machine: its chance of loss in the mission, by a machine."""
    data = assess(
        ReliabilityQuestion(
            on=Named(f"raid10:8x{DISK}"), afr="2 %", rebuild_time="30 h", error_rate="1e17", arrays=1000
        )
    )
    chance = data["mission"]["closed_form"]
    done = fleet(group(machine=f"raid10:8x{DISK}", afr="2 %", rebuild_time="30 h", error_rate="1e17", machines=500))
    loss = done.summary["fleet"]["loss"]
    assert chance is not None
    assert loss["is_exact"]
    assert loss["within_interval"]
    assert loss["independent"] == pytest.approx(500 * -math.log1p(-chance), rel=1e-3)


@pytest.mark.parametrize(
    ("machine", "machines", "rebuild", "errors"),
    [(f"raid0:4x{DISK}", 1, None, None), (f"raid5:5x{DISK}", 10, "40 h", "2e14")],
)
def test_the_chance_of_any_loss_is_that_of_the_machines_together(
    machine: str, machines: int, rebuild: str | None, errors: str | None
) -> None:
    """An episode that is likely to end in loss is one loss, not a rate of them."""
    data = assess(
        ReliabilityQuestion(on=Named(machine), afr="4 %", rebuild_time=rebuild, error_rate=errors, arrays=1000)
    )
    alone = data["mission"]["closed_form"]
    of = group(machine=machine, afr="4 %", rebuild_time=rebuild, error_rate=errors, machines=machines)
    chance = fleet(of, repetitions=sized(2000, 4000)).summary["fleet"]["loss"]["chance"]
    assert alone is not None
    assert chance == pytest.approx(1 - (1 - alone) ** machines, abs=0.02)
    assert chance > 0.5


def test_a_drive_without_a_rate_of_errors_is_told_and_a_number_is_a_rate(tmp_path: Path) -> None:
    """Losses of a drive from a data sheet without the rate look thousands of times fewer."""
    lines = {"capacity": "18 TB", "rpm": "7200 rpm", "interface": "sata", "bandwidth": "270 MB/s"}
    path = tmp_path / "sheet.toml"
    path.write_text(described_text("hdd", lines, title="x", source="its data sheet"), encoding="utf-8")

    def known(rate: object) -> tuple[bool, float]:
        data = fleet(group(machine=f"raid6:12x{path}", error_rate=rate)).summary
        told = any("the rate of unreadable sectors is assumed" in note for note in data["notes"])
        return told, data["fleet"]["loss"]["independent"]

    # Without a class the rate is that of client disks.
    told, assumed = known(None)
    assert told
    assert known("1e14") == (False, assumed)
    is_noted, without = known("none")
    assert not is_noted
    assert known(1e15) == known("1e15") == known(10**15)
    assert known(1e15)[1] > 100 * without
    assert not known(1e15)[0]


def test_the_chance_of_an_episode_is_that_of_the_chain() -> None:
    """Mean time to loss of a group = (time whole + time of an episode) / chance of an episode to end in loss."""
    array, life, repair = Array.of_layout("raid6", 10, 8e13, 1e13, 512), 2e5, 100.0
    conditions = Conditions(life, repair, 1e16)
    time, _ = mean_time_to_loss(build(array, conditions))
    found = chance_of_loss(10, 2, np.array([1 / life]), np.array([repair]), conditions.error_chance(array))
    # Episodes take hours of years: the mean time between them is nearly that of being whole.
    assert (life / 10) / float((found.failure + found.sector)[0]) == pytest.approx(time, rel=0.02)


@pytest.mark.parametrize(
    ("shape", "scale", "variance", "batch"), [(1.0, 3e5, 0.8, 80), (2.5, 1.5e5, 0.0, 1), (0.6, 3e5, 0.5, 40)]
)
def test_expected_losses_are_those_that_happen(shape: float, scale: float, variance: float, batch: int) -> None:
    """With age, batches and waits for spares, where no closed form is: losses counted one by one."""
    of = plan("raid5", 8, machines=400, batch=batch, stock=Stock(2))
    drawn = Drawn(Lives(scale, shape, variance), 80.0, delivery=300.0)
    mean, _, seen = losses(of, drawn, 60)
    # Losses that happen are Poisson.
    assert mean * 60 > 100
    assert seen == pytest.approx(mean, abs=Z * math.sqrt(mean / 60))


YEAR = 8760.0


@pytest.mark.parametrize("constant", sized([True], [True, False]))
def test_longer_repairs_lose_more_and_as_much_as_happens(constant: bool) -> None:
    """From 40 hours to more than the ten years: losses that a repair leaves no time for are few, not all of them."""
    last = 0.0
    for hours in (40.0, YEAR, 3 * YEAR, 8 * YEAR, 12 * YEAR, 50 * YEAR):
        of = plan("raid5", 6, machines=834, rebuild_constant=constant)
        mean, spread, seen = losses(of, Drawn(Lives.of_mean(YEAR / 0.0151), hours), 40)
        assert mean >= last, hours
        assert seen == pytest.approx(mean, abs=Z * math.sqrt(mean / 40)), hours
        last = mean
    # Nothing that fails comes back: two or more of six drives that fail in ten years.
    if constant:
        fails = -math.expm1(-10 * 0.0151)
        once = 6 * fails * (1 - fails) ** 5
        assert last == pytest.approx(834 * (1 - (1 - fails) ** 6 - once), abs=Z * spread)


@pytest.mark.parametrize("constant", sized([True], [True, False]))
def test_a_rare_loss_in_a_repair_of_years_is_that_until_the_end(constant: bool) -> None:
    """So few failures that none is counted: the chance of a second is over the time that is left."""
    of = plan("raid5", 8, machines=4000, rebuild_constant=constant)
    left = [repeat(of, Drawn(Lives(3e7), 5 * YEAR), generator(1, "test", number)) for number in range(1, 301)]
    totals = np.sum([one.totals for one in left], axis=0)
    mean = float(np.sum([one.months[:, LOSSES] for one in left]))
    seen = float(totals[TOTALS.index("seen")])
    assert totals[TOTALS.index("likely")] == 0
    assert mean > 150
    assert seen == pytest.approx(mean, abs=Z * math.sqrt(mean))


def test_a_wait_beyond_the_end_loses_as_a_drive_that_never_comes() -> None:
    """A spare that is delivered after the end, and a rebuild that takes longer than the time."""
    drawn = Drawn(Lives.of_mean(YEAR / 0.0151), 40.0, delivery=20 * YEAR)
    waits, spread, seen = losses(plan("raid5", 6, machines=834, stock=Stock(0)), drawn, 40)
    never, _, _ = losses(plan("raid5", 6, machines=834), Drawn(drawn.lives, 50 * YEAR), 40)
    assert waits == pytest.approx(never, abs=Z * spread)
    assert waits == pytest.approx(seen, rel=0.01)


def test_losses_and_rebuilds_without_redundancy_left_are_counted_by_drive() -> None:
    """Of RAID 6 with drives missing over these hours: one too many at 3, back without redundancy left at 20 and 25."""
    at, back = np.array([1.0, 2.0, 3.0, 22.0, 0.0]), np.array([10.0, 20.0, 30.0, 25.0, 5.0])
    none, five = np.zeros(5), np.arange(5)
    events = Events(five, at, back, none, none, none, none, five, none == 0)
    group = np.array([0, 0, 0, 0, 1])
    found = happened(2, group, events, np.full(5, 24.0))
    assert found.loss.tolist() == [False, False, True, False, False]
    assert found.bare.tolist() == [False, True, False, False, False]
    assert happened(2, group, events, np.full(5, 26.0)).bare.tolist() == [False, True, False, True, False]


def test_a_fleet_without_losses_has_failures_and_a_count_that_differs_is_told() -> None:
    whole = fleet(group(machines=50)).summary["fleet"]
    none: FigureDoc = {"mean": 0.0, "mean_low": 0.0, "mean_high": 0.0, "low": 0.0, "high": 0.0}
    lost_none: PartDoc = {**whole, "loss": {**whole["loss"], "events": none, "by_failure": none}}
    assert losses_in_words(lost_none).startswith("No data was lost in these repetitions")
    assert losses_in_words({**lost_none, "failures": none}).startswith("No drive failed in these repetitions")
    assert beyond_chance(whole["loss"], 100) == []
    [told] = beyond_chance({**lost_none["loss"], "seen": 200}, 100)
    assert "2 losses by a failure too many happened in a repetition, where 0 were expected" in told


def test_a_batch_fails_together_as_often_as_its_variance_says() -> None:
    """Two failures in one array come 1 + v times as often: E[z²] / E[z]² of a gamma factor (Hougaard 2000)."""
    short = Drawn(Lives(5e6), 50.0)
    plain, plain_error, _ = losses(plan("raid5", 8, machines=4000), short, 60)
    together = plan("raid5", 8, machines=4000, batch=80)
    found, error, _ = losses(together, Drawn(Lives(5e6, 1.0, 1.5), 50.0), 60)
    ratio = found / plain
    # Batches with a large factor lose it as their drives are replaced: 1.7 % of the drives fail in ten years.
    assert ratio == pytest.approx(
        2.5 * (1 - 0.02), abs=Z * ratio * math.hypot(error / found, plain_error / plain) + 0.05
    )
    # Of different batches, drives of a machine are as good as independent.
    mixed, error, _ = losses(
        plan("raid5", 8, machines=4000, batch=80, mixed=True), Drawn(Lives(5e6, 1.0, 1.5), 50.0), 60
    )
    assert mixed / plain == pytest.approx(1.0, abs=Z * math.hypot(error / mixed, plain_error / plain) + 0.02)


def test_drives_that_age_fail_as_the_integral_of_their_hazard_says() -> None:
    """Double failures of drives with Weibull lives: the integral of the squared hazard over ten years."""
    life, shape, repair, width = 4e5, 3.0, 40.0, 6
    of = plan("raid5", width, machines=2000)
    mean, spread, _ = losses(of, Drawn(Lives(life, shape), repair), 60)
    end = 87600.0
    squared = shape**2 / life**2 * (end / life) ** (2 * shape - 2) * end / (2 * shape - 1)
    expected = 2000 * width * (width - 1) * squared * repair
    # Replaced drives are young: a share of (end / life)^shape, 1 %, of them.
    assert mean == pytest.approx(expected, abs=Z * spread + 0.012 * expected)


def test_a_long_chain_is_summed_over_machines_of_different_age() -> None:
    growing = Plan("g", Array.of_layout("raid5", 5, 4e13, 1e13, 512), *months_of_service(100, 0, None, 0.5, 60), 60)
    chain = build(growing.array, Conditions(1e6, 20.0))
    by_machine = sum(-math.log1p(-float(loss_within(chain, hours).sum())) for hours in growing.gone - growing.born)
    assert growing.machines == math.floor(100 * 1.5 ** (59 / 12))
    assert closed_form_losses(growing, 1e6, 20.0, 0.0) == pytest.approx(by_machine, rel=1e-9)


def test_spares_go_to_failures_in_turn() -> None:
    at = np.array([0.0, 1.0, 2.0, 3.0, 50.0])
    # Two on site; each failure orders one, which is there 10 h later.
    assert waits_of(Stock(2), 10.0, at).tolist() == [0.0, 0.0, 8.0, 8.0, 0.0]
    # Orders of two: the first is made at the second failure, at 1 h.
    assert waits_of(Stock(2, 2), 10.0, at).tolist() == [0.0, 0.0, 9.0, 8.0, 0.0]
    assert waits_of(Stock(0), 10.0, at).tolist() == [10.0] * 5
    assert spares_for_no_wait(1, 10.0, at) == 4
    assert waits_of(Stock(4), 10.0, at).max() == 0.0
    assert waits_of(Stock(3), 10.0, at).max() > 0.0
    assert spares_for_no_wait(1, 10.0, np.array([])) == 0


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_stock_that_is_said_to_be_enough_is(order: int) -> None:
    at = np.sort(np.random.default_rng(order).uniform(0, 1000, 60))
    enough = spares_for_no_wait(order, 70.0, at)
    assert waits_of(Stock(enough, order), 70.0, at).max() == 0.0
    assert waits_of(Stock(enough - 1, order), 70.0, at).max() > 0.0
