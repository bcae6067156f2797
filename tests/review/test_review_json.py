"""Does a review have every key that is promised, is it repeatable, and are its workloads what was meant?"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotband import __version__
from hotband.base.errors import UserError
from hotband.base.folders import folder_name
from hotband.base.text.tomltext import toml_text
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment import Experiment, Local, Point, Tick
from hotband.execution.experiment.executor import Done
from hotband.execution.experiment.experiment import execute
from hotband.questions.review import PARTS, applications, energy, many, plan, review
from hotband.questions.review import suite as suite_module
from hotband.questions.review.suite import ReviewInterrupted, run_plan, text_of
from hotband.questions.review.target import target, targets_of

Reviewed = Callable[[str], dict[str, Any]]
SAVVIO = "savvio-10k1"
KEYS = {
    "": {"schema", "version", "hotband", "seed", "quick", "machine", "summary", "overall", "notes"},
    "machine": {"name", "title", "spec", "capacity_bytes", "drives", "set"},
    "linear": {"read", "write", "block_bytes", "mean"},
    "access": {"read", "write"},
    "block_sizes": {"file_bytes", "op", "block_bytes", "bandwidth_bytes_per_s", "iops"},
    "streams": {"op", "streams", "bandwidth_bytes_per_s", "slowest_bytes_per_s"},
    "patterns": {"pattern", "queue_depth", "iops", "bandwidth_bytes_per_s", "latency_mean_ns", "latency_p99_ns"},
    "files": {"op", "size", "queue_depth", "files_per_s", "bandwidth_bytes_per_s"},
    "streaming": {"op", "blocks", "block_bytes", "bandwidth_bytes_per_s"},
    "defragmentation": {"extent_bytes", "extents_per_s", "bandwidth_bytes_per_s", "latency_mean_ns"},
    "applications": {
        "name",
        "title",
        "bandwidth_bytes_per_s",
        "iops",
        "low_bytes_per_s",
        "high_bytes_per_s",
        "uncertainty",
    },
    "energy": {
        "idle_w",
        "patterns_w",
        "patterns_low_w",
        "patterns_high_w",
        "joules_per_io",
        "joules_per_io_low",
        "joules_per_io_high",
    },
    "summary": {"group", "title", "geometric_mean", "unit", "of"},
}


def keys_of(part: Any) -> list[set[str]]:
    """Keys of a part, or of every row of one that is a list."""
    return [set(row) for row in part] if isinstance(part, list) else [set(part)]


@pytest.mark.parametrize("machine", [SAVVIO, "raid0:2xsavvio-10k1:256KiB", "s4500-960"])
def test_every_promised_key_is_there(reviewed: Reviewed, machine: str) -> None:
    made = reviewed(machine)
    assert set(made) >= KEYS[""] | set(KEYS) - {""}
    assert (made["schema"], made["version"], made["hotband"]) == ("hotband-review", 1, __version__)
    assert made["seed"] == "1"
    assert made["machine"]["name"] == machine
    for part, keys in KEYS.items():
        if part and made[part] is not None:
            assert all(have >= keys for have in keys_of(made[part])), part
    for op in ("read", "write"):
        assert set(made["access"][op]) >= {"block_bytes", "queue_depth", "count", "mean_ns", "p50_ns", "p99_ns"}
        assert keys_of(made["linear"][op])[0] == {"offset_bytes", "bandwidth_bytes_per_s"}


def test_all_sizes_files_streams_and_depths_are_there(reviewed: Reviewed) -> None:
    made = reviewed(SAVVIO)
    small = [row for row in made["block_sizes"] if row["file_bytes"] <= 32 << 20]
    assert {row["file_bytes"] for row in small} == {128 << 10, 512 << 10, 2 << 20, 8 << 20, 32 << 20}
    assert {row["block_bytes"] for row in small} == {512 << n for n in range(12)}
    assert max(row["block_bytes"] for row in made["block_sizes"]) == 64 << 20
    assert {(row["op"], row["streams"]) for row in made["streams"]} == {
        (op, n) for op in ("read", "write") for n in (1, 2, 3, 4)
    }
    assert len(made["patterns"]) == 4 * 9
    assert {(row["op"], row["size"]) for row in made["files"]} == {
        (op, size) for op in ("read", "write", "copy") for size in ("small", "large")
    }


def test_it_is_the_same_on_one_thread_and_on_two_and_for_a_seed() -> None:
    parts = ("access", "streams", "files", "defragmentation")
    one, two = (review(SAVVIO, only=parts, jobs=jobs, quick=True) for jobs in (1, 2))
    assert one == two
    other = review(SAVVIO, only=parts, seed=2, quick=True)
    assert other["access"]["read"]["mean_ns"] != one["access"]["read"]["mean_ns"]
    assert other["access"]["read"]["mean_ns"] == pytest.approx(one["access"]["read"]["mean_ns"], rel=0.05)


def test_a_quick_review_has_the_same_shape_and_nearly_the_same_figures(reviewed: Reviewed) -> None:
    whole, quick = reviewed(SAVVIO), review(SAVVIO, quick=True)
    assert quick["quick"] is True
    assert set(quick) == set(whole)
    assert quick["linear"]["mean"]["read"] == pytest.approx(whole["linear"]["mean"]["read"], rel=0.02)
    assert {row["queue_depth"] for row in quick["patterns"]} == {1, 4, 16, 64, 256}
    assert len(quick["linear"]["read"]) < len(whole["linear"]["read"])
    means = {row["group"]: row["geometric_mean"] for row in quick["summary"]}
    assert means["access"] == pytest.approx(
        {r["group"]: r["geometric_mean"] for r in whole["summary"]}["access"], rel=0.05
    )


def test_only_what_is_asked_for_is_there() -> None:
    made = review(SAVVIO, only=["access"])
    assert [part for part in PARTS if made[part.replace("-", "_")] is not None] == ["access"]
    assert [row["group"] for row in made["summary"]] == ["access"]


RATES = {"iops", "bandwidth_bytes_per_s", "latency_mean_ns"}


def without_rates(value: Any) -> Any:
    """A record in which nothing took any time: it has no rates and no mean latencies."""
    if isinstance(value, list):
        return [without_rates(one) for one in value]
    if isinstance(value, dict):
        return {key: None if key in RATES else without_rates(one) for key, one in value.items()}
    return value


def rates_of(part: Any) -> list[Any]:
    """All rates of a part."""
    if isinstance(part, list):
        return [rate for one in part for rate in rates_of(one)]
    own = [value for key, value in part.items() if key in RATES | {"files_per_s", "extents_per_s"}]
    return own + [rate for one in part.values() if isinstance(one, dict | list) for rate in rates_of(one)]


def test_a_rate_that_a_record_lacks_is_null_and_in_no_mean() -> None:
    names = [name for name in PARTS if name not in ("access", "applications", "energy")]
    of = plan(target(SAVVIO, quick=True), names)
    done = Experiment(suite_module.points(of), what="a test").run().finished
    made = suite_module.assemble(of, [replace(one, record=without_rates(one.record)) for one in done])
    for name in names:
        rates = rates_of(made[name.replace("-", "_")])
        assert rates, name
        assert set(rates) == {None}, name
    assert made["linear"]["mean"] == {"read": None, "write": None}
    assert (made["summary"], made["overall"]) == ([], None)
    json.dumps(made, allow_nan=False)


@pytest.mark.parametrize(
    ("rates", "ends"), [([2.0, 1.0, 3.0], (1.0, 3.0)), ([2.0, None], (None, None)), ([], (None, None))]
)
def test_ends_are_known_where_all_rates_are(rates: list[float | None], ends: tuple[float | None, float | None]) -> None:
    assert applications.ends_of(rates) == ends


@pytest.mark.parametrize("megabytes", [20, 100, 300])
def test_what_does_not_fit_is_left_out_and_said(tmp_path: Any, megabytes: int) -> None:
    machine = tmp_path / "small.toml"
    machine.write_text(
        f'[drives.d]\nproduct = "{SAVVIO}"\n[volumes]\nv = {{ on = "d", from = "1 GB", size = "{megabytes} MB" }}\n'
    )
    made = review(str(machine), quick=True)
    assert made["streams"] is None
    assert any(note.startswith("streams: left out") for note in made["notes"])
    assert made["linear"]["read"][-1]["offset_bytes"] < megabytes * 1e6
    assert max(row["file_bytes"] for row in made["block_sizes"]) <= megabytes * 1e6
    assert made["machine"]["name"] == "small"


def test_one_of_several_volumes_is_reviewed(tmp_path: Any) -> None:
    machine = tmp_path / "two.toml"
    volumes = 'a = { on = "d", size = "10 GB" }\nb = { on = "d", from = "60 GB", size = "10 GB" }\n'
    machine.write_text(f'[drives.d]\nproduct = "{SAVVIO}"\n[volumes]\n{volumes}')
    with pytest.raises(UserError, match=r"question\.volume with one of a, b"):
        target(str(machine))
    outer, inner = (review(str(machine), volume=name, only=["linear"])["linear"]["mean"]["read"] for name in "ab")
    assert outer > 1.2 * inner


def test_a_unit_of_a_disk_with_two_is_a_volume() -> None:
    unit = target("st14000nm0001", volume="d0.lun1")
    whole = target("st14000nm0001", [("exposes", "one")])
    assert 2 * unit.capacity_bytes == pytest.approx(whole.capacity_bytes, rel=1e-6)


def test_blocks_of_4kn_drives_are_at_least_their_sectors() -> None:
    made = review("exos-15e900-512e", set=[("sector_format", "4Kn")], quick=True)
    assert made["access"]["read"]["block_bytes"] == 4096
    assert min(row["block_bytes"] for row in made["block_sizes"]) == 4096
    assert len(made["patterns"]) == 4 * 5
    assert made["machine"]["set"] == {"sector_format": "4Kn"}


def test_a_drive_that_wears_is_filled_unless_a_state_is_asked_for() -> None:
    for pairs, filled in (((), True), ((("state", "fob"),), False)):
        of = plan(target("s4500-960", pairs), ["access", "block-sizes"])
        texts = [tomllib.loads(text_of(of.target, ask)) for asks in of.parts.values() for ask in asks]
        for text in texts:
            untimed = any(phase.get("untimed") for phase in text["phases"])
            assert ("precondition" in text or untimed) is filled


def test_steps_are_counted_in_ios_and_streams_are_named_once() -> None:
    of = plan(target("raid5:3xsavvio-10k1"))
    for part, asks in of.parts.items():
        for ask in asks:
            names = [stream.get("name", "main") for stream in ask.workload["streams"]]
            assert len(names) == len(set(names))
            if part != "applications":
                assert all(phase["ios"] >= 1 for phase in ask.workload["phases"])
                assert ask.ios == sum(phase["ios"] for phase in ask.workload["phases"])


WORDS = st.text("ab .é\"'\\\n\t\x7f😀", max_size=6)
PLAIN = st.booleans() | st.integers(-(10**9), 10**9) | st.floats(0.001, 1e6) | WORDS
TOML = PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(WORDS, PLAIN | st.lists(PLAIN, max_size=2), max_size=3)


@given(st.dictionaries(WORDS, TOML, max_size=4))
def test_text_says_what_the_table_says(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_what_is_interrupted_keeps_whole_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Local.execute

    def stopped(self: Local, points: list[Point], done: Done, tick: Tick) -> None:
        real(self, [point for point in points if point.id != "streams: write"], done, tick)
        raise KeyboardInterrupt

    monkeypatch.setattr(Local, "execute", stopped)
    with pytest.raises(ReviewInterrupted) as stop:
        run_plan(plan(target(SAVVIO, quick=True), ["access", "streams"]))
    assert stop.value.review["streams"] is None
    assert stop.value.review["access"]["read"]["count"] > 0
    assert "streams: left out, the review was interrupted" in stop.value.review["notes"]


def test_names_that_would_share_a_folder_are_refused() -> None:
    assert folder_name("raid0:2xsavvio-10k1:256KiB") == "raid0-2xsavvio-10k1-256KiB"
    assert folder_name("..") == "machine"
    with pytest.raises(UserError, match="is reviewed twice"):
        targets_of([SAVVIO, "cheetah-15k4", SAVVIO], [], None, 1, False)


def test_applications_lie_between_the_ends_of_their_uncertainty(reviewed: Reviewed) -> None:
    rows = reviewed(SAVVIO)["applications"]
    assert len(rows) == len(applications.names()) > 0
    for row in rows:
        assert row["low_bytes_per_s"] <= row["bandwidth_bytes_per_s"] <= row["high_bytes_per_s"]
        assert "synthetic" in row["uncertainty"]
    assert any(row["high_bytes_per_s"] > 1.2 * row["low_bytes_per_s"] for row in rows)


def test_an_application_is_the_run_of_the_catalogs_workload(reviewed: Reviewed) -> None:
    name = applications.names()[0]
    [alone] = execute([RunSpec("alone", SAVVIO, name)])
    row = next(row for row in reviewed(SAVVIO)["applications"] if row["name"] == name)
    assert row["bandwidth_bytes_per_s"] == alone.record["summary"]["bandwidth_bytes_per_s"]


def test_where_drives_wear_the_ends_follow_on_one_machine_that_holds_them() -> None:
    of = plan(target("s4500-960"), ["applications"])
    firsts = [ask for ask in of.parts["applications"] if not ask.after]
    assert [ask.name for ask in firsts] == applications.names()
    assert all(960e9 / int(dict(ask.set)["scale"]) > 40e9 for ask in firsts)
    assert not any("left out" in note for note in of.notes)
    assert all(not ask.after for ask in plan(target(SAVVIO), ["applications"]).parts["applications"])


def test_machines_that_were_done_are_kept_when_the_next_is_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = suite_module.run_plan

    def stopping(of: Any, *rest: Any, **named: Any) -> dict[str, Any]:
        if of.target.name == "cheetah-15k4":
            raise ReviewInterrupted(real(plan(of.target, ["access"]), *rest, **named))
        return real(of, *rest, **named)

    monkeypatch.setattr(many, "run_plan", stopping)
    machines = [SAVVIO, "cheetah-15k4", "cheetah-10k7"]
    show_nothing = nullcontext(lambda told: None)
    done = many.review_all(
        machines, only=["access", "streams"], quick=True, out=tmp_path, progress=lambda title: show_nothing
    )
    assert (done.interrupted, done.in_part, done.comparison) == (True, True, None)
    assert [one["machine"]["name"] for one in done.reviews] == machines[:2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cheetah-15k4", SAVVIO]
    kept = json.loads((tmp_path / SAVVIO / "review.json").read_text())
    assert kept == json.loads(json.dumps(done.reviews[0]))


def test_an_application_that_does_not_fit_is_left_out_and_said(tmp_path: Path) -> None:
    machine = tmp_path / "eighteen.toml"
    machine.write_text(f'[drives.d]\nproduct = "{SAVVIO}"\n[volumes]\nv = {{ on = "d", size = "18 GB" }}\n')
    made = review(str(machine), only=["applications"], quick=True)
    names = {row["name"] for row in made["applications"]}
    assert "desktop-boot" in names
    assert "desktop-copy" not in names
    assert any(note.startswith("desktop-copy: left out, ends beyond") for note in made["notes"])


@pytest.mark.parametrize("machine", [SAVVIO, "s4500-960"])
def test_as_many_accesses_are_counted_as_the_guide_says(reviewed: Reviewed, machine: str) -> None:
    made = reviewed(machine)["access"]
    for op in ("read", "write"):
        assert made[op]["count"] == sum(count for _, count in made[op]["bins"]) == 10_000


def test_a_load_that_does_not_fit_is_noted_once() -> None:
    of = target("raid0:2xsavvio-10k1:256KiB")
    small = plan(replace(of, text=f'{of.text}\n[volumes]\nv = {{ on = "data", size = "2 GiB" }}\n',
                         capacity_bytes=2 << 30), ["applications", "access"])  # fmt: skip
    loads = [note.partition(": left out, ")[0] for note in small.notes]
    assert loads
    assert set(loads) <= set(applications.names())
    assert len(loads) == len(set(loads))
    assert not {ask.name.partition(applications.END)[0] for ask in small.parts["applications"]} & set(loads)


def test_a_drive_that_does_not_state_its_power_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "states_power", lambda drive: drive != SAVVIO)
    made = plan(target(SAVVIO), ["access", "energy"])
    assert list(made.parts) == ["access"]
    assert [
        note
        for note in made.notes
        if note.startswith("energy: left out, the power that savvio-10k1 draws is not stated")
    ]
    with pytest.raises(UserError, match="no energy to review: the power that savvio-10k1 draws"):
        plan(target(SAVVIO), ["energy"])
    assert energy.asks(target("s4500-960"))
