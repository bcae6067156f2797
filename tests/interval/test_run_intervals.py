"""What does `hotband run --interval` give, and at what price?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hotband as hb
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment.experiment import execute
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import prepare, refusal
from hotband.inference.interval import of_run, uncertain
from hotband.inference.interval.of_record import expect_figure, explained_intervals_of
from hotband.inference.interval.of_run import Asked
from hotband.inference.interval.short import shortened

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
SHORT = ("run", "fio-randread", "--on", "exos-15e900-512n", "--set", "qd=8", "--duration", "2 s")
FEW = ("--draws", "8")


@pytest.fixture(scope="module")
def whole() -> tuple[RunSpec, Finished]:
    """The run that intervals of which must come within ten seconds."""
    spec = RunSpec("run", "exos-15e900-512n", "fio-randread", (("qd", "32"),))
    return spec, execute([spec])[0]


@pytest.fixture(scope="module")
def small() -> tuple[RunSpec, Finished]:
    """A run of a second."""
    spec = RunSpec("run", "exos-15e900-512n", "fio-randread", (("qd", "8"),), duration="1 s")
    return spec, execute([spec])[0]


def no_watch(title: str) -> Any:
    from contextlib import nullcontext

    return nullcontext()


def made(whole: tuple[RunSpec, Finished], level: float = 90.0, draws: int = 8) -> Any:
    spec, finished = whole
    return explained_intervals_of(spec, finished, Asked(level, draws), None, lambda _: None, no_watch)


@pytest.fixture(scope="module")
def of_64(whole: tuple[RunSpec, Finished]) -> Any:
    return made(whole, 90.0, 64)


def test_the_price_of_intervals_is_bounded(of_64: Any) -> None:
    # 1.6 million I/Os are 3 CPU seconds; the bound of 10 s on two cores is far away.
    intervals, _ = of_64
    assert intervals["draws"] == 64
    assert intervals["runs"] <= 1 + of_run.SEEDS + 2 * 20 + 64
    assert intervals["ios"] <= 2_000_000


def test_every_figure_has_an_interval_around_its_prediction(of_64: Any, whole: tuple[RunSpec, Finished]) -> None:
    found = {one["figure"]: one for one in of_64[0]["figures"]}
    assert list(found) == list(of_run.FIGURES)
    for one in found.values():
        assert one["low"] < one["predicted"] < one["high"]
        assert one["values_low"] >= one["low"]
        assert one["values_high"] <= one["high"]
    assert found["iops"]["predicted"] == whole[1].record["summary"]["iops"]


def test_rate_and_mean_time_of_a_closed_loop_are_as_certain(of_64: Any) -> None:
    found = {one["figure"]: one for one in of_64[0]["figures"]}
    rate, mean = found["iops"], found["latency_mean_ns"]
    assert mean["figure_class"] == rate["figure_class"] == "random rate"
    assert rate["high"] / rate["predicted"] == pytest.approx(mean["predicted"] / mean["low"], rel=0.01)


def test_a_value_that_reads_do_not_use_is_not_drawn(of_64: Any) -> None:
    intervals, _ = of_64
    assert "exos-15e900-512n: seek_read_average" in intervals["values"]
    assert "exos-15e900-512n: write_cache_extents" in intervals["without_effect"]


def test_shares_add_up_and_name_what_to_measure(of_64: Any) -> None:
    iops = next(one for one in of_64[1] if one["figure"] == "iops")
    assert iops["of_values"] + iops["of_seed"] + iops["of_model"] == pytest.approx(1.0)
    assert iops["values"][0]["key"].startswith("seek_read_average")
    assert sum(one["first"] for one in iops["values"]) == pytest.approx(1.0, abs=0.1)
    assert "seek_read_average" in iops["advice"]


def test_the_same_seed_gives_the_same_interval(small: tuple[RunSpec, Finished]) -> None:
    assert made(small) == made(small)


@pytest.mark.long
def test_a_higher_level_is_wider(small: tuple[RunSpec, Finished]) -> None:
    levels = [made(small, level)[0]["figures"] for level in (50.0, 90.0)]
    for narrow, wide in zip(*levels, strict=True):
        assert wide["low"] <= narrow["low"] <= narrow["high"] <= wide["high"]


def test_the_terminal_the_json_and_the_folder_say_the_same(hotband: Hotband, tmp_path: Path) -> None:
    done = hotband(*SHORT, "--interval", "90", *FEW, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "(90 % interval " in done.stdout
    whole = ("Record: ", "Next: ", str(tmp_path))
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith(whole))
    assert "runs screen 20 uncertain values, then up to 8 sample those that matter" in done.stderr
    told = json.loads(hotband(*SHORT, "--interval", "90", *FEW, "--json").stdout)
    kept = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert told["intervals"] == kept["intervals"]
    assert hb.load(tmp_path / "out").intervals is not None


def test_python_has_units() -> None:
    r = hb.run("fio-randread", on="exos-15e900-512n", qd=8, duration="2 s", interval=90, draws=8)
    assert r.intervals is not None
    p99 = r.intervals["p99"]
    assert r.p99 in p99
    assert isinstance(p99.low, type(r.p99))
    assert r.intervals["iops"].level == 90
    assert hb.run("fio-randread", on="exos-15e900-512n", duration="1 s").intervals is None


def test_why_is_a_table_within_the_terminal(hotband: Hotband) -> None:
    arguments = ("run", "--explain", *SHORT[1:], *FEW)
    done = hotband(*arguments)
    assert done.returncode == 0, done.stderr
    assert "model error" in done.stdout
    assert "seek_read_average" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("Next: "))
    told = json.loads(hotband(*arguments, "--figure", "p99", "--json").stdout)
    assert told["figure"] == "latency_p99_ns"


@pytest.mark.parametrize("value", ["0", "100", "150", "-5", "abc", "nan", ""])
def test_a_level_that_is_none_is_named(hotband: Hotband, value: str) -> None:
    done = hotband(*SHORT, "--interval", value)
    assert done.returncode == 2
    assert "--interval" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--interval", "90", "--draws", "1"),
        ("--interval", "90", "--then", "fio-read"),
        ("--interval", "90", "--draws", "x"),
    ],
)
def test_what_does_not_go_with_intervals_is_named(hotband: Hotband, arguments: tuple[str, ...]) -> None:
    done = hotband(*SHORT, *arguments)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_figure_that_the_run_does_not_have_is_named(hotband: Hotband) -> None:
    done = hotband("run", "--explain", *SHORT[1:], *FEW, "--figure", "p42")
    assert done.returncode == 2
    assert "expected one of iops, bandwidth, mean, p50, p99, p999" in done.stderr


@pytest.mark.parametrize(
    ("workload", "said", "figure", "does"),
    [
        ("fio-randread", (), "write.p99", "reads only"),
        ("fio-randread", (), "read.p99", "reads only"),
        ("fio-randread", (("read_pct", "0"),), "read.iops", "writes only"),
        ("iometer-database", (("read_pct", "100"),), "write.mean", "reads only"),
    ],
)
def test_a_figure_of_a_direction_that_the_workload_has_not_is_named_before_it_runs(
    workload: str, said: tuple[tuple[str, str], ...], figure: str, does: str
) -> None:
    with pytest.raises(hb.UserError, match=does):
        expect_figure(RunSpec("run", "ent-15k", workload, said), figure)


def test_a_figure_of_one_direction_of_two_is_taken() -> None:
    expect_figure(RunSpec("run", "ent-15k", "iometer-database"), "write.p99")
    expect_figure(RunSpec("run", "ent-15k", "fio-randread"), "p99")


def test_counts_of_one_of_two_products_are_drawn() -> None:
    text = '[drives.a]\nproduct = "savvio-10k1"\n[drives.b]\nproduct = "cheetah-15k4"\n'
    spec = RunSpec("run", "two.toml", "fio-randread", machine_text=text + '[layouts.all]\nconcat = { members = "*" }\n')
    own = [one for one in uncertain.of_run(spec) if one.range.key in ("zones", "queue_tags", "wce")]
    assert len(own) == 6
    # The highest of each, and the switches the other way.
    drawn = uncertain.with_values(spec, [(one, one.at(0.99)) for one in own])
    assert refusal([drawn]) is None
    assert all(str(one.at(0.99)) in (drawn.machine_text or "") for one in own)


def test_python_refuses_draws_of_no_intervals() -> None:
    with pytest.raises(hb.UserError, match="is for intervals") as caught:
        hb.run("fio-randread", on="ent-15k", draws=16)
    assert (caught.value.where, caught.value.value) == ("draws", "16")


def test_python_names_its_own_arguments() -> None:
    with pytest.raises(hb.UserError) as error:
        hb.run("fio-randread", on="exos-15e900-512n", duration="1 s", interval=100)
    assert error.value.where == "interval"
    with pytest.raises(hb.UserError) as error:
        hb.run("fio-randread", on="exos-15e900-512n", duration="1 s", interval=90, draws=1)
    assert error.value.where == "draws"


def test_an_interrupt_keeps_the_draws_that_are_done(
    small: tuple[RunSpec, Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = of_run._Runner.run

    def stopped(self: Any, specs: Any, prepared: Any) -> Any:
        if not specs[0].id.startswith("draw"):
            return run(self, specs, prepared)
        raise RunsInterrupted(run(self, specs[:9], prepared))

    monkeypatch.setattr(of_run._Runner, "run", stopped)
    intervals, _ = made(small, draws=12)
    assert intervals["draws"] == 9
    assert intervals["notes"] == ["interrupted: 9 of 12 samples were run"]


def test_a_damaged_file_of_residuals_is_named(hotband: Hotband, known_residuals: Path) -> None:
    known_residuals.write_text('{"version": "1", "figures": [{}]}', encoding="utf-8")
    done = hotband(*SHORT, "--interval", "90", *FEW)
    assert done.returncode == 2
    assert "residuals" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_happens_to_the_machine_happens_in_draws_too() -> None:
    """A run that would be over before a drive fails is not that run."""
    spec = RunSpec("run", "raid1:2xsavvio-10k1", "fio-randread", (("qd", "4"),), duration="100 s")
    short, late = [replace(spec, events=events) for events in ((), ("at 90 s: fail d0",))]
    record = execute([spec])[0].record
    assert shortened(short, record).duration != "100 s"
    assert shortened(late, record) == late


def test_runs_on_drives_of_equal_contents_follow_one_another() -> None:
    # Only some contents are stored: values that do not change them find those of the nominal run.
    sets = [("read_time", "45 us"), ("over_provisioning", "10 %"), ("link_rate", "5 GB/s"), ("write_overhead", "6 us")]
    base = RunSpec("nominal", "990-pro-1tb", "fio-randread", (("scale", "64"),), duration="10 ms", in_use=True)
    specs = [base, *(replace(base, id=key, set=(*base.set, (key, value))) for key, value in sets)]
    prepared = {spec.id: prepare(spec) for spec in specs[1:]}
    order = [spec.id for spec in of_run.alike_first(specs, prepared)]
    assert order == ["nominal", "read_time", "link_rate", "write_overhead", "over_provisioning"]
