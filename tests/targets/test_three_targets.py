"""One experiment for three targets: what each command does on a model, an emulated machine and hardware."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import hotband as hb
import hotband._core as _core
from command_line import run_hotband
from forms import sized
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.data.documents.run import RunSpec
from hotband.execution.programs import find_program
from hotband.execution.programs.settings import values_of
from hotband.execution.runs.run import prepare
from hotband.execution.targets.emulated import OnServed, emulate
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_run import expect_real
from hotband.execution.targets.on_device import OnDevice
from hotband.execution.targets.on_served import OnServedMachine

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")

DRIVE = "ent-10k"
ROOT = Path(__file__).parents[2]
READ = ("fio-randread", "--set", "warm_up=0s", "--duration", "1 s")
MODEL, EMULATED, WORKS = DRIVE, f"emulated:{DRIVE}", ""
MACHINES = {"boot-storm": "raid0:2xent-10k", "oltp-one-ssd": str(ROOT / "docs/examples/oltp-one-ssd.toml")}
"""Machines of workloads that need more room, or more than one volume."""

MATRIX: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    "run": (("run", *READ), WORKS, WORKS, WORKS),
    "run --then": (("run", *READ, "--then", "fio-read"), WORKS, WORKS, WORKS),
    "run --io-log": (
        ("run", *READ, "--io-log", "log.csv"),
        WORKS,
        WORKS,
        "--io-log: is for runs in virtual time: run on",
    ),
    "run --interval": (
        ("run", *READ, "--interval", "90", "--draws", "8"),
        *(WORKS, WORKS, "applies to predictions: --expect PRODUCT has them"),
    ),
    "run --event": (
        ("run", *READ, "--event", "at 0.5 s: set d0.wce=off"),
        *("", "", "--event: is for runs in virtual time: remove it, or run on the model or on emulated:MACHINE"),
    ),
    "run --precision": (
        ("run", *READ, "--precision", "5 %"),
        WORKS,
        *2 * ("--precision = '5 %': is for runs in virtual",),
    ),
    "run --fail": (
        ("run", *READ, "--fail", "d0@0.5 s"),
        *(WORKS, *2 * ("--fail: is for runs in virtual time: on emulated:MACHINE expected --event",)),
    ),
    "sweep": (("sweep", *READ, "--set", "qd=1,2"), WORKS, WORKS, WORKS),
    "find": (
        ("find", "IOPS at p99 < 90 ms", "-w", "fio-randread", "--ios", "1000"),
        *(WORKS, *2 * ("or hotband sweep with --slo on it",)),
    ),
    "review": (("review", "--quick", "--only", "access"), WORKS, WORKS, WORKS),
    "measure quick": (("measure", "quick", "--for", "1 min"), WORKS, WORKS, WORKS),
    "measure pts": (
        ("measure", "pts", "--test", "latency", "--quick", "--minute", "50 ms"),
        *(WORKS, WORKS, WORKS),
    ),
}
"""What each command does on a model, on the machine emulated and in a folder: empty where it works, else words of the
reason, which names what to do instead."""


class PlannedError(Exception):
    """The command has planned its runs, and begins the first."""


@pytest.fixture
def plans_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop runs on the wall clock where the first begins: their plans are checked by then."""

    def begin(*_: object, **__: object) -> None:
        raise PlannedError

    monkeypatch.setattr(OnServed, "run", begin)
    monkeypatch.setattr(OnDevice, "execute", begin)
    monkeypatch.setattr(OnDevice, "standing", begin)
    monkeypatch.setattr(OnServedMachine, "standing", begin)


@needs_fio
@pytest.mark.usefixtures("plans_alone")
@pytest.mark.parametrize("target", range(3), ids=["model", "emulated", "real"])
@pytest.mark.parametrize("command", MATRIX)
def test_a_command_runs_on_a_target_or_says_what_to_use(tmp_path: Path, command: str, target: int) -> None:
    words, *cells = MATRIX[command]
    on, expected = (MODEL, EMULATED, f"real:{tmp_path}")[target], cells[target]
    named = (words[:2], words[2:]) if command.startswith("measure") else (words[:1], words[1:])
    given = [*named[0], on, *named[1]] if command.startswith(("review", "measure")) else [*words, "--on", on]
    hardware = ["--yes", "--size", "256 MiB"] if target == 2 and expected == WORKS else []
    done = run_hotband(*given, *hardware, cwd=tmp_path)
    if expected:
        assert expected in done.stderr, done.stderr
        assert done.returncode == 2
    elif target == 0:
        assert done.returncode == 0, done.stderr
    else:
        assert "PlannedError" in done.stderr, done.stderr


@needs_fio
@pytest.mark.usefixtures("plans_alone")
def test_python_runs_on_all_targets(tmp_path: Path) -> None:
    short = {"duration": "1 s", "set": {"warm_up": "0 s"}}
    assert hb.run("fio-randread", on=MODEL, **short).read.count
    for on, hardware in ((EMULATED, {}), (f"real:{tmp_path}", {"size": "64 MiB"})):
        with pytest.raises(PlannedError):
            hb.run("fio-randread", on=on, **short, **hardware)
    with pytest.raises(UserError, match="applies to predictions: run on ent-10k"):
        hb.run("fio-randread", on=EMULATED, interval=90, **short)


SERVING = (
    *("run", "sweep", "review", "measure quick", "measure pts", "measure calibrate", "program", "study emulate"),
    "serve",
)
"""Commands that serve a machine, and therefore refuse one that is faster than this host can serve."""


@pytest.mark.parametrize("command", SERVING)
def test_a_command_that_refuses_a_fast_machine_has_the_option_that_it_names(command: str) -> None:
    assert "--anyway" in run_hotband(*command.split(), "--help").stdout


@needs_fio
def test_an_interrupted_comparison_leaves_no_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(OnServed, "run", interrupted)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        emulate(RunSpec("run", MODEL, "fio-randread", (("warm_up", "0s"),), 1, "1 s", out))
    assert list(out.iterdir()) == []


WORKLOADS = _core.catalog_names(CATALOG_DIR, "workloads")


@pytest.mark.parametrize("name", sized(WORKLOADS[::3], WORKLOADS))
def test_a_workload_runs_on_all_targets_or_names_its_program(name: str) -> None:
    prepare(RunSpec("model", MACHINES.get(name, DRIVE), name, duration="1 ms"))
    refused = refusal(name)
    if refused is not None:
        program = re.search(r"hotband program (\S+)(?: --set (\S+)=(\S+))? replaces it", refused)
        assert program is not None, refused
        assert values_of(find_program(program[1]), {program[2]: program[3]} if program[2] else {})


def refusal(name: str) -> str | None:
    """Return why a workload does not run through fio; None if it runs on an emulated machine and on hardware."""
    try:
        OnServed().plan(RunSpec("emulated", EMULATED, name, duration="1 s"))
        expect_real(fio_run_of(RunSpec("real", "real:/dev/sdx", name, duration="1 s")))
    except UserError as error:
        return error.accepted
    return None


def sections() -> dict[str, set[str]]:
    """Read the table of docs/guides/records.md: the sections that a target fills, and those it does not."""
    guide = (ROOT / "docs/guides/records.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \| (\w+) \| (\w+) \| (\w+) \|", guide, re.M)
    filled: dict[str, set[str]] = {"model": set(), "emulated": set(), "real": set(), "any": set()}
    for names, *cells in rows:
        keys = set(re.findall(r"`(\w+)`", names))
        filled["any"] |= keys
        for target, cell in zip(("model", "emulated", "real"), cells, strict=True):
            filled[target] |= keys if cell == "yes" else set()
    return filled


@needs_fio
def test_each_target_fills_the_sections_that_the_guide_lists(tmp_path: Path) -> None:
    listed, short = sections(), {"duration": "1 s", "set": {"warm_up": "0 s"}}
    runs = {
        "model": hb.run("fio-randread", on=MODEL, **short),
        "emulated": hb.run("fio-randread", on=EMULATED, anyway=True, **short),
        "real": hb.run("fio-randread", on=f"real:{tmp_path}", size="16 MiB", expect="none", **short),
    }
    documents = {target: set(record.to_dict()) for target, record in runs.items()}
    for target, keys in documents.items():
        assert keys & listed["any"] == listed[target], target
    shared = [keys - listed["any"] for keys in documents.values()]
    assert shared[0] == shared[1] == shared[2]


@needs_fio
def test_runs_of_a_sequence_share_an_emulated_machine(tmp_path: Path) -> None:
    """A short write, and a read of what was written: one machine is served for both."""
    out = tmp_path / "out"
    words = ["run", "fio-randwrite", "--on", EMULATED, "--rate", "50", "--duration", "1 s", "--set", "warm_up=0s"]
    done = run_hotband(*words, "--then", "fio-randread", "--out", str(out), "--anyway", "--json")
    first, second = (hb.load(out / number).to_dict() for number in "12")
    # A host that is busy with other tests is too slow for the drive.
    is_invalid = any(note.startswith("INVALID") for record in (first, second) for note in record["notes"])
    assert done.returncode == int(is_invalid), done.stderr
    assert {record["target"]["kind"] for record in (first, second)} == {"emulated"}
    assert second["sequence"]["place"] == 2
    kinds = {kind["kind"]: kind["count"] for kind in second["serving"]["kinds"]}
    assert kinds["write"] >= first["summary"]["write"]["count"] > 0 < kinds["read"]
    assert "serving" not in first
