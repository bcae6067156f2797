"""`hotband reliability`: what it takes from the machine and the catalog, what it prints, and what it refuses."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from command_line import run_hotband
from hotband.base.errors import UserError
from hotband.base.text.numbers import share, span
from hotband.data.catalog import entries as catalogue
from hotband.data.inputs.specify import Named
from hotband.inference.reliability.asked import ReliabilityQuestion
from hotband.inference.reliability.assess import assess
from hotband.views.reliability import notes, summary_lines

MACHINE = "raid5:5xsavvio-10k1"


def figures(machine: str = MACHINE, **options: Any) -> dict[str, Any]:
    return assess(ReliabilityQuestion(on=Named(machine), **{"arrays": 2000, **options}))


def test_the_command_prints_simulated_beside_closed_form(hotband) -> None:
    done = hotband("reliability", "raid1:2xsavvio-10k1", "--rebuild-time", "6 h", "--details")
    assert done.returncode == 0, done.stderr
    assert "MTTDL " in done.stdout
    assert "closed form" in done.stdout
    assert "100350598" in done.stdout, "the source of the MTBF"
    assert "MTTF² / (N·(G−1)·MTTR)" in done.stdout


def test_the_same_seed_gives_the_same_bytes(hotband) -> None:
    call = ("reliability", MACHINE, "--json", "--arrays", "2000")
    one, two, other = hotband(*call).stdout, hotband(*call).stdout, hotband(*call, "--seed", "2").stdout
    assert one == two
    assert json.loads(one)["mttdl"]["simulated"] != json.loads(other)["mttdl"]["simulated"]


def test_layout_count_and_life_come_from_the_machine_and_the_catalog() -> None:
    found = figures()
    assert found["layout"] == {
        "name": "data",
        "kind": "raid5",
        "drives": 5,
        "failures_tolerated": 1,
        "usable_bytes": pytest.approx(4 * 73.4e9, rel=1e-4),
        "member_bytes": pytest.approx(73.4e9, rel=1e-4),
    }
    given = found["given"]
    assert given["mtbf_hours"] == 1.4e6
    assert "Savvio SAS Product Manual" in given["sources"]["mtbf"]
    # 73.4 GB at the mean of 62 and 42 MB/s.
    assert given["rebuild_hours"] == pytest.approx(73.4e9 / 52e6 / 3600, rel=1e-3)
    assert given["rebuild_error_chance"] == pytest.approx(1 - (1 - 1e-15) ** (8 * 4 * 73.4e9), rel=0.1)


def test_a_rebuild_is_as_slow_as_its_limit_where_that_is_slower() -> None:
    assert figures(rebuild_rate="10 MB/s")["given"]["rebuild_hours"] == pytest.approx(73.4e9 / 10e6 / 3600, rel=1e-3)
    media = figures()["given"]["rebuild_hours"]
    assert figures(rebuild_rate="1 GB/s")["given"]["rebuild_hours"] == pytest.approx(media)
    # Between inner and outer rate: outer tracks wait for the limit, inner ones do not.
    between = figures(rebuild_rate="52 MB/s")["given"]["rebuild_hours"]
    assert media < between < 1.1 * media


LOGICAL_UNITS = """
[drives.d]
product = "st14000nm0001"
count = 2
[layouts.data]
raid1 = { members = "d0.lun0, d1.lun0" }
[volumes]
data = { on = "data" }
"""


def test_one_actuator_works_at_a_time_while_a_drive_is_rebuilt(tmp_path: Path) -> None:
    # The mean of 262 and 142 MB/s of one actuator, over both ranges of addresses or one of them.
    whole = figures("raid1:2xst14000nm0001", settings=(("exposes", "one"),))["given"]["rebuild_hours"]
    assert whole == pytest.approx(14e12 / 202e6 / 3600, rel=1e-3)
    machine = tmp_path / "units.toml"
    machine.write_text(LOGICAL_UNITS)
    assert figures(str(machine))["given"]["rebuild_hours"] == pytest.approx(7e12 / 202e6 / 3600, rel=1e-3)


@pytest.mark.parametrize("drive", [entry["name"] for entry in catalogue.drives()])
def test_every_drive_of_the_catalog_has_what_is_needed(drive: str) -> None:
    values = {value["key"] for value in catalogue.drive(drive)["values"]}
    one_address_space = (("exposes", "one"),) if "exposes" in values else ()
    # How long a rebuild onto a shingled disk takes, the user has to say (docs/guides/intervals.md, "smr-rebuild").
    of_shingled = {"rebuild_time": "200 h"} if "smr" in values else {}
    found = figures(f"raid1:2x{drive}", settings=one_address_space, **of_shingled)
    # Years: a mirror is rebuilt for a day and more, and reads a whole drive without an error to do so. Of 12 TB with an
    # error in 1e14 bits two rebuilds of three meet one, and of two drives of 1e6 h one fails within 57 years.
    least = 80 if drive == "wd-red-plus-12tb" else 100
    assert found["mttdl"]["simulated"]["value"] > least


@pytest.mark.parametrize("machine", ["raid0:4xsavvio-10k1", "savvio-10k1", "concat:2xsavvio-10k1"])
def test_machines_without_redundancy(machine: str) -> None:
    found = figures(machine, arrays=20_000)
    drives = found["layout"]["drives"]
    assert found["mttdl"]["closed_form"]["value"] == pytest.approx(1.4e6 / 8760 / drives)
    assert found["mttdl"]["simulated"]["value"] == pytest.approx(1.4e6 / 8760 / drives, rel=0.03)


def test_afr_is_another_way_to_say_mtbf() -> None:
    assert figures(afr="0.6238 %")["given"]["mtbf_hours"] == pytest.approx(1.4e6, rel=1e-3)


def test_afr_is_printed_as_it_was_given() -> None:
    for given in ("50 %", "0.9 %", "99.95 %"):
        assert f"({given} a year; given)" in "\n".join(summary_lines(figures(afr=given)))
    assert "(over 99.999 % a year; given)" in "\n".join(summary_lines(figures(mtbf="100 h", years=1)))


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (0.5, "50 %"),
        (0.0062, "0.62 %"),
        (0.9912, "99.1 %"),
        (0.9995, "99.95 %"),
        (0.9999999, "over 99.999 %"),
        (1, "100 %"),
    ],
)
def test_no_share_is_rounded_to_all(part: float, text: str) -> None:
    assert share(part) == text


@pytest.mark.parametrize(
    ("hours", "text"),
    [(1.4e6, "1,400,000 h"), (6, "6 h"), (0.392, "23 min 31 s"), (1 / 3600, "1 s"), (2.5e-3 / 3600, "2.5 ms")],
)
def test_a_short_time_has_a_short_unit(hours: float, text: str) -> None:
    assert span(hours * 3.6e12) == text


def test_lives_that_age_have_a_mission_and_no_mean_time() -> None:
    found = figures(distribution="weibull", shape=1.4)
    assert found["mttdl"]["simulated"] is None
    assert "age" in found["mttdl"]["reason"]
    assert 0 < found["mission"]["loss"]["value"] < 1e-2
    assert found["mission"]["closed_form"] is None
    assert notes(found) == [
        "No MTTDL: the chance of loss changes with age, see the mission",
        "Simulated: 1,000 arrays drive by drive over the mission, hazards raised",
    ]
    assert summary_lines(found)[-1] == "  lives Weibull of shape 1.4, rebuilds exponential"


def test_constant_rebuilds_have_a_mean_time_that_is_not_computed() -> None:
    found = figures(rebuild_distribution="constant")
    why, textbook, simulated = notes(found)
    assert why == "MTTDL not computed: a Markov chain has no constant rebuilds, see the mission"
    assert textbook.startswith("Textbook: MTTF²")
    assert simulated.startswith("Simulated: 1,000 arrays")
    assert summary_lines(found)[-1] == "  lives exponential, rebuilds constant"


def test_one_of_a_thing_is_one() -> None:
    lines = "\n".join(summary_lines(figures(spares=1, replacement="24 h")))
    assert "  1 spare, a new drive 24 h after a failure" in lines


def test_a_mission_of_one_year_is_one(hotband, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    printed = hotband("reliability", MACHINE, "--arrays", "2000", "--years", "1").stdout
    assert "loss within 1 year " in printed


WITHOUT_EFFECT = [
    ["--rebuild-time", "6 h"],
    ["--rebuild-rate", "50 MB/s"],
    ["--record", "out"],
    ["--replacement", "24 h"],
    ["--error-rate", "1e15"],
    ["--one-rebuild"],
    ["--rebuild-distribution", "constant"],
]


@pytest.mark.parametrize("options", WITHOUT_EFFECT)
def test_without_redundancy_nothing_is_rebuilt(hotband, options: list[str]) -> None:
    done = hotband("reliability", "savvio-10k1", "--arrays", "2000", *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{options[0]}" in done.stderr
    assert "has no effect: single has no redundancy" in done.stderr


def test_what_is_not_rare_is_not_biased() -> None:
    with pytest.raises(UserError, match="expected auto or direct: raid0 has no redundancy"):
        figures("raid0:4xsavvio-10k1", method="biased")
    assert figures("raid0:4xsavvio-10k1", method="direct")["given"]["rebuild_hours"] is None


def test_a_run_without_load_rebuilds_as_fast_as_the_media(hotband, tmp_path: Path) -> None:
    machine = "raid1:2xsavvio-10k1"
    call = ("run", "idle", "--on", machine, "--fail", "d0@1 s", "--spares", "1", "--duration", "40 min", "--out", "out")
    done = hotband(*call)
    assert done.returncode == 0, done.stderr
    found = figures(machine, record=tmp_path / "out")["given"]["rebuild_hours"]
    assert found == pytest.approx(figures(machine)["given"]["rebuild_hours"], rel=0.02)


TWO_LAYOUTS = """
[drives.d]
product = "savvio-10k1"
count = 5
[layouts.log]
raid1 = { members = "d0..d1" }
[layouts.data]
raid5 = { members = "d2..d4", size = "10 GB" }
[volumes]
log = { on = "log" }
data = { on = "data" }
"""


def test_one_layout_of_several(tmp_path: Path) -> None:
    machine = tmp_path / "two.toml"
    machine.write_text(TWO_LAYOUTS)
    found = figures(str(machine), layout="data")
    assert (found["layout"]["drives"], found["layout"]["member_bytes"]) == (3, 10_000_000_000)
    with pytest.raises(UserError, match="expected one of log, data"):
        figures(str(machine))
    with pytest.raises(UserError, match="expected one of log, data"):
        figures(str(machine), layout="lag")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--mtbf", "5"], "--mtbf = '5': expected a time with its unit"),
        (["--mtbf", "0 h"], "--mtbf = '0 h': expected a time above 0"),
        (["--rebuild-time", "0.0 h"], "--rebuild-time = '0.0 h': expected a time above 0"),
        (["--mtbf", "9" * 400 + " h"], "expected at most 1e+12 h"),
        (["--mtbf", "1 ns"], "--mtbf = '1 ns': 1.58e+18 failures in the mission"),
        (["--afr", "200 %"], "below 100 %"),
        (["--afr", "0 %"], "8.76e-07 % or more"),
        (["--afr", "0.9"], "--afr = '0.9': expected a share with its unit, such as \"0.9 %\""),
        (["--spares", "1"], "--spares = '1': has no effect without --replacement"),
        (["--mtbf", "1000 h", "--afr", "1 %"], "not together with --mtbf"),
        (["--rebuild-time", "soon"], "--rebuild-time = 'soon'"),
        (["--rebuild-rate", "50 MB"], "expected a rate"),
        (["--rebuild-time", "1 h", "--rebuild-rate", "50 MB/s"], "not together"),
        (["--error-rate", "often"], "expected bits read for one error"),
        (["--error-rate", "0.1"], "expected bits read for one error"),
        (["--shape", "2"], "--distribution weibull"),
        (["--distribution", "weibull"], "--shape: missing"),
        (["--distribution", "weibull", "--shape", "99"], "expected 0.3 to 10"),
        (["--distribution", "weibull", "--shape", "2", "--method", "direct"], "expected auto"),
        (["--method", "direct", "--error-rate", "none"], "expected biased"),
        (["--years", "0"], "--years"),
        (["--years", "nan"], "--years"),
        (["--mtbf", "1 s", "--rebuild-time", "1 ms"], "failures in the mission"),
        (["--replacement", "-3 h"], "--replacement"),
        (["--record", "nowhere"], "cannot be read"),
        (["--set", "rpms=3"], "rpms"),
        (["--layout", "x"], "expected one of data"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(hotband, options: list[str], words: str) -> None:
    done = hotband("reliability", MACHINE, "--arrays", "2000", *options)
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ("replicated:6xmg06sca-10tb", "is a replicated pool, whose chance of losing data is not modelled"),
        ("raid5:2xsavvio-10k1", "at least 3"),
        ("raid7:4xsavvio-10k1", "raid7"),
        ("raid10:2000xsavvio-10k1", "at most 600 states"),
        ("nothing", "nothing"),
        ("real:/tmp", "reliability is of models: expected a machine without real:"),
        ("emulated:ent-15k", "expected a machine without emulated:"),
    ],
)
def test_a_machine_that_is_none(hotband, machine: str, words: str) -> None:
    done = hotband("reliability", machine)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_keys_of_workloads_are_none_of_its_machine(hotband) -> None:
    """Nor are they named among those that are taken."""
    done = hotband("reliability", "raid1:2xent-15k", "--set", "qd=3")
    assert (
        "--set: qd = '3': belongs to a workload, and nothing runs here: expected a value of the drives" in done.stderr
    )
    done = hotband("reliability", "raid1:2xent-15k", "--set", "nonsense=3")
    assert "expected one of 69 names" in done.stderr


def guide_commands() -> list[str]:
    text = (Path(__file__).parents[2] / "docs" / "guides" / "reliability.md").read_text(encoding="utf-8")
    block = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)[0]
    return [line.partition("#")[0].strip() for line in block.splitlines()]


@pytest.mark.parametrize("command", guide_commands())
def test_the_commands_of_the_guide_run(hotband, command: str) -> None:
    done = hotband(*shlex.split(command)[1:], "--arrays", "2000")
    assert done.returncode == 0, done.stderr
    assert "loss within" in done.stdout


def test_a_rebuild_onto_a_shingled_disk_is_not_at_its_media_rate(hotband) -> None:
    """It was 189.9 MB/s: no rebuild onto a drive-managed disk is like that."""
    done = hotband("reliability", "raid1:2xst8000as0002")
    assert done.returncode == 2
    assert "--rebuild-time: missing: st8000as0002 is a shingled disk (SMR); rebuilds" in done.stderr
    assert figures("raid1:2xst8000as0002", rebuild_time="200 h")["given"]["rebuild_hours"] == 200
    assert figures("raid1:2xst8000as0002", rebuild_rate="10 MB/s")["given"]["rebuild_hours"] > 200
    assert figures("raid1:2xst8000as0002", settings=(("smr", "off"),))["given"]["rebuild_hours"] < 24


@pytest.mark.parametrize(("drive", "is_known"), [("5400-pro-1920", False), ("pm9a3-3840", True)])
def test_an_unknown_rate_of_sector_errors_is_not_taken_for_none(drive: str, is_known: bool) -> None:
    said = " ".join(run_hotband("reliability", f"raid5:3x{drive}", "--arrays", "1000").stdout.split())
    words = "One unreadable sector in 1e+17 bits is assumed, as makers' data sheets state for this class: "
    assert (words in said) is not is_known
    details = run_hotband("reliability", f"raid5:3x{drive}", "--arrays", "1000", "--details").stdout
    assert ("(assumed, as makers' data sheets" in " ".join(details.split())) is not is_known
    without = ("--arrays", "1000", "--error-rate", "none", "--details")
    given = run_hotband("reliability", f"raid5:3x{drive}", *without).stdout
    assert "no sector errors (given)" in given
    assert "assumed" not in given


def test_losses_of_single_blocks_are_told_from_the_loss_of_the_array(hotband) -> None:  # type: ignore[no-untyped-def]
    """Nearly all losses of large drives are blocks that cannot be read; without them, drives alone cause a loss."""
    shown = " ".join(hotband("reliability", "raid10:6xironwolf-8tb").stdout.split())
    assert "of the losses are blocks that cannot be read during a rebuild; the array itself is lost with a" in shown
    assert "the array itself" not in hotband("reliability", "raid10:6xironwolf-8tb", "--error-rate", "none").stdout


@pytest.mark.parametrize(
    ("machine", "survival"),
    [
        ("raid6:6xent-10k", "survives any 2 failures"),
        ("raid10:4xent-10k", "survives 1 failure per pair"),
        ("ent-10k", "nothing is redundant"),
    ],
)
def test_an_array_states_which_failures_it_survives(hotband, machine: str, survival: str) -> None:
    done = hotband("reliability", machine, "--arrays", "2000", "--details")
    assert " ".join(done.stdout.split()).count(survival) == 2, done.stdout
