"""A calibration end to end, on a model of which the values are known: what can be told is found, what cannot stays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.catalog.entries import product
from hotband.execution.runs.run import prepare, sequences
from hotband.questions.calibrate import screen
from hotband.questions.calibrate.calibrate import CalibrationTask, Planned, of_plan, plan
from hotband.questions.calibrate.calibrated import Calibrated
from hotband.questions.calibrate.design import Design
from hotband.questions.calibrate.figures import Figure, Seen
from hotband.questions.calibrate.loads import candidates, held_out
from hotband.questions.calibrate.measure import measure, passes
from hotband.questions.calibrate.measured import Measured, data_of
from hotband.questions.calibrate.model import Product, at_own_scale, at_scale, own_scale, specs_of
from hotband.questions.calibrate.product_file import file_text
from hotband.questions.calibrate.screen import jumping
from hotband.questions.calibrate.target import span_of_model
from hotband.questions.calibrate.unknowns import number_of, unknowns_of

Hotband = Callable[..., CompletedProcess[str]]
COUNTS = {"read": 5_000, "write": 5_000}
LIKE = "exos-15e900-512n"
OPEN = ("seek", "cache_overhead", "write_cache_extents", "age_bound")
"""What the test does not say; all else is held, which saves runs."""
TRUTH = (
    ("seek_read_average", "2.65 ms"),
    ("seek_read_full", "4.93 ms"),
    ("seek_write_average", "3.03 ms"),
    ("seek_write_full", "5.53 ms"),
    ("cache_overhead", "0.02 ms"),
    ("write_cache_extents", "25"),
    ("age_bound", "1.8 s"),
)


@contextmanager
def watch(_: str) -> Iterator[None]:
    yield None


def held() -> tuple[tuple[str, str], ...]:
    """The values that are known, as the catalog has them."""
    of = unknowns_of(LIKE, {})
    numbers = [one for number in of.numbers if number.name not in OPEN for one in number.values]
    return tuple((one.range.key, one.range.nominal) for one in [*numbers, *(choice.value for choice in of.choices)])


@pytest.fixture(scope="module")
def planned() -> Planned:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "SEEDS", 6)
        target = Product(LIKE, None, TRUTH)
        return plan(CalibrationTask(Product(LIKE, None, held()), target, seconds=240.0, ios=3_000), watch)


@pytest.fixture(scope="module")
def found(planned: Planned) -> Calibrated:
    measured = measure(planned.task.target, planned.loads, planned.counts, (None, None, 1), lambda _: None, watch)
    return of_plan(planned, measured, watch)


def test_the_plan_keeps_to_its_time_and_holds_two_loads_back(planned: Planned) -> None:
    seconds = sum(count * load.time for count, load in zip(planned.counts, planned.loads, strict=True))
    assert seconds <= 240.0
    assert [load.held_out for load, count in zip(planned.loads, planned.counts, strict=True) if count][-2:] == [
        True
    ] * 2


def test_values_of_a_disk_are_found(found: Calibrated) -> None:
    values = {one.key: one for one in found.values}
    told = {one.key for one in found.values if one.state == "told"}
    assert {"seek_read_average", "write_cache_extents", "cache_overhead"} <= told
    for key, truth in TRUTH[:1]:
        prior = values[key]
        off = abs(number_of(prior.value) - number_of(truth))
        assert off < 0.2 * abs(number_of(prior.prior) - number_of(truth))
    assert abs(int(values["write_cache_extents"].value) - 25) <= 1


def test_what_no_load_tells_stays_unknown(found: Calibrated) -> None:
    # Its true value is not the catalog's: a calibration that moved it would have made that up.
    [age] = [one for one in found.values if one.key == "age_bound"]
    assert age.state == "unknown"
    assert age.value == age.prior == "1 s"
    assert "age_bound" not in {one.key for one in found.told}


def test_loads_that_were_not_used_are_predicted(found: Calibrated) -> None:
    errors = {(one.load, one.figure): one for one in found.checks}
    mix = errors["70 % reads, 16 at once", "IOPS"]
    assert abs(mix.error_pct) < 2.0
    assert abs(mix.before_pct) > 2 * abs(mix.error_pct)


def test_the_file_runs_as_a_product(found: Calibrated, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(file_text(LIKE, "mine", "a test", found.values, ["mine"], path))
    own = {one["key"]: one["source"] for one in product(str(path))["values"]}
    assert own["seek_read_average"] == "a test"
    assert own["age_bound"] != "a test"
    assert hb.run("fio-randread", on=path, duration="2 s").iops > 0


def test_repeats_lie_in_passes_and_held_out_loads_come_last(planned: Planned) -> None:
    loads = [planned.loads[0], planned.loads[1], replace(planned.loads[2], held_out=True)]
    assert passes(loads, [2, 1, 1]) == [0, 1, 0, 2]


def test_loads_that_change_the_drive_are_measured_once_after_all_others(planned: Planned) -> None:
    loads = [replace(planned.loads[0], changes=True), planned.loads[1], replace(planned.loads[2], held_out=True)]
    assert passes(loads, [1, 2, 1]) == [1, 1, 2, 0]
    many = Design(planned.screened, [replace(load, changes=True) for load in planned.design.loads])
    assert max(many.plan(2_000.0, 0.0).counts) == 1
    assert max(planned.design.plan(2_000.0, 0.0).counts) > 1


def test_a_percentile_that_jumps_between_two_latencies_is_not_used() -> None:
    figures = [Figure(0, "write", name) for name in ("mean", "p50")]

    def seen(mean: float, p50: float) -> list[Seen]:
        return [Seen({("write", "mean"): mean, ("write", "p50"): p50}, COUNTS, 1.0)]

    smooth = [(seen(-0.1, -0.1), seen(0.1, 0.1))] * 3
    jumps = [(seen(-0.1, 0.0), seen(0.1, 0.2)), (seen(-0.02, -0.2), seen(0.02, 0.0))]
    assert jumping(figures, seen(0.0, 0.0), smooth) == [False, False]
    assert jumping(figures, seen(0.0, 0.0), jumps) == [False, True]


def test_one_load_that_comes_out_otherwise_says_nothing_of_the_repeats_of_others(planned: Planned) -> None:
    measured = [
        Measured(load, tuple(Seen(_logs(planned, place, moved), COUNTS, 100.0) for moved in moves))
        for place, (load, moves) in enumerate(
            zip(planned.design.loads, [(0.0, 0.2), *[(0.0, 0.001)] * len(planned.loads)], strict=False)
        )
    ]
    _, spread = data_of(planned.screened, measured, range(len(measured)))
    assert spread < 1.0


def test_another_kind_of_drive_is_refused(planned: Planned) -> None:
    # Everything fifty times as fast.
    faster = [
        Measured(load, () if not count else (Seen(_logs(planned, place, -math.log(50.0)), COUNTS, 10_000.0),))
        for place, (load, count) in enumerate(zip(planned.loads, planned.counts, strict=True))
    ]
    with pytest.raises(UserError, match="does not fit: no values in its ranges explain"):
        of_plan(planned, faster, watch)


def _logs(planned: Planned, load: int, moved: float) -> dict[tuple[str, str], float]:
    pairs = zip(planned.screened.figures, planned.screened.base, strict=True)
    return {(one.side, one.name): float(base) + moved for one, base in pairs if one.load == load}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["exos-15e900-512n", "--like", "nothing"], "nothing"),
        (["exos-15e900-512n", "--like", LIKE, "--for", "5 s"], "is too short"),
        (["exos-15e900-512n", "--like", LIKE, "--for", "soon"], "expected a time with its unit"),
        (["exos-15e900-512n", "--like", LIKE, "-o", "mine.txt"], "expected a file that ends in .toml"),
        (["emulated:", "--like", LIKE], "expected emulated:MACHINE"),
        (["a", "b", "--like", LIKE], "a"),
        (["no-such-machine", "--like", LIKE], "no-such-machine"),
        (["emulated:no-such-machine", "--like", LIKE, "--plan"], "no-such-machine"),
        ([__file__, __file__, "--like", LIKE, "--plan"], "is a result: nothing is measured; omit --plan"),
        (
            [str(Path(__file__).parent), "--like", LIKE, "--plan"],
            "is a folder of results: nothing is measured; omit --plan",
        ),
        (["a", "b", "--like", LIKE, "--plan"], "a, b': expected one target"),
        (["gone.json", "--like", LIKE], "gone.json: cannot be read"),
        (["exos-15e900-512n", "--like", LIKE, "--size", "large"], "expected a size"),
    ],
)
def test_mistakes_are_one_line(hotband: Hotband, arguments: list[str], said: str) -> None:
    done = hotband("measure", "calibrate", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("scale", [1, 8])
def test_all_loads_on_a_solid_state_drive_run_on_one_machine(scale: int, tmp_path: Path) -> None:
    """Each alone would choose a scale of its own, and also where the drive's own file says one: a drive that was
    measured could then not go from one to the next."""
    own = tmp_path / "own.toml"
    own.write_text(f'variant_of = "s4500-960"\ntitle = "t"\n[values]\nscale = {scale}\n')
    loads = [*candidates("ssd", 32), *held_out("ssd", 1_000.0)]
    target, scaled_loads = at_scale(at_own_scale(Product(str(own), own.read_text())), loads)
    specs = specs_of("load", target, scaled_loads, ((), 1), None)
    prepared = [prepare(spec, is_followed=spec is not specs[-1]) for spec in specs]
    assert [len(line) for line in sequences(prepared)] == [len(loads) + 1]


@pytest.mark.parametrize("machine", ["raid5:4xs4500-960", "s4500-960"])
def test_what_says_no_scale_of_its_own_stays(machine: str) -> None:
    assert at_own_scale(Product(machine)) == Product(machine)


@pytest.mark.parametrize("way", ["", "emulated:"])
def test_a_drive_of_which_a_part_is_simulated_is_used_as_a_whole(way: str, tmp_path: Path) -> None:
    """An eighth of its bytes is all of it: on an eighth of its addresses the fit would have too much room to spare."""
    own = tmp_path / "own.toml"
    own.write_text('variant_of = "s4500-960"\ntitle = "t"\n[values]\nscale = 8\n')
    target = Product(f"{way}{own}", own.read_text())
    assert own_scale(target) == 8
    assert span_of_model(target, Product("s4500-960")) is None
    # Beside a larger product as much of that as there is.
    assert span_of_model(target, Product("7450-pro-3840")) == pytest.approx(960_197_124_096, rel=0.001)


def test_a_machine_has_no_scale() -> None:
    loads = candidates("ssd", 32)
    assert at_scale(Product("raid5:4xs4500-960"), loads) == (Product("raid5:4xs4500-960"), loads)
