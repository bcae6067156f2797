"""What is said before a run on hardware, what stands beside it, and does its guide name what there is?"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.documents.run import RunSpec
from hotband.data.importers.fio.importer import read
from hotband.data.inputs.reports import products_by_model
from hotband.data.inputs.specify import Named
from hotband.data.record.expected import sentence_of
from hotband.execution.runs.sequence import in_sequence, settings_after
from hotband.execution.targets import real_target
from hotband.execution.targets.ahead import ahead
from hotband.execution.targets.fio_child import run_fio
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.on_device import Setup
from hotband.execution.targets.outlook import outlook_of
from hotband.execution.targets.real_target import RealTarget, real_target_of
from hotband.faces.cli import app
from hotband.questions.expect import predict, results
from hotband.questions.targets import expected
from hotband.questions.targets.expected import without_verdict
from hotband.views.expect import expected_views

fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
GIB = 1 << 30
PLACE = RealTarget("real:/dev/sdz", "block", Path("/dev/sdz"), None, 100 * GIB, 512)
SCALED = "SSDs are simulated at model size 1/512 (scale=N sets another)"
GUIDE = Path(__file__).parents[2] / "docs/guides/measure.md"


def asked(load: str, phase: str, state: str | None = None, **stream: object):
    """A load of one stream of 8 KiB I/Os, 25 % of them writes where nothing else is said."""
    keys = {"read_pct": 75, "random_pct": 100, "size": '"8 KiB"', **stream}
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    text = f"[load]\n{load}\n[[streams]]\n{lines}\n[[phases]]\n{phase}\nmeasure = true\n"
    pairs = (("state", state),) if state else ()
    return fio_run_of(RunSpec("run", PLACE.text, "own", pairs, workload_text=text))


CLOSED, OPEN = "closed = { threads = 1, depth = 4 }", 'open = { rate_iops = 100, arrival = "fixed" }'


@pytest.mark.parametrize(
    ("load", "phase", "seconds", "written"),
    [
        # Closed: the rate that was found out; 1000 I/Os a second for 10 s, a quarter of them writes of 8 KiB.
        (CLOSED, 'duration = "10 s"', 10.0, 1000 * 10 * 0.25 * 8192),
        # Open: the rate is said.
        (OPEN, 'duration = "10 s"', 10.0, 100 * 10 * 0.25 * 8192),
        # Counted: the time follows from the rate.
        (CLOSED, "ios = 5000", 5.0, 5000 * 0.25 * 8192),
    ],
)
def test_what_is_ahead(load: str, phase: str, seconds: float, written: float) -> None:
    found = outlook_of(PLACE, [asked(load, phase)], lambda _: (1000.0, "as found"))
    assert (found.seconds, found.written_bytes) == pytest.approx((seconds, written))
    assert found.rate_from == ("" if load == OPEN else "as found")


@pytest.mark.parametrize(("load", "phase", "writes"), [(OPEN, 'duration = "10 s"', 1000), (CLOSED, "ios = 1000", 500)])
def test_flushes_write_nothing(load: str, phase: str, writes: int) -> None:
    """A rate counts data I/Os alone; the number of I/Os of a phase includes flushes."""
    flushed = asked(load, phase, read_pct=0, flush_every=1)
    assert outlook_of(PLACE, [flushed], lambda _: (100.0, "")).written_bytes == pytest.approx(writes * 8192)


def test_nothing_is_found_out_for_what_only_reads() -> None:
    def rate(_: object) -> NoReturn:
        raise AssertionError("the place would have been read for seconds")

    found = outlook_of(PLACE, [asked(CLOSED, 'duration = "90 s"', read_pct=100)], rate)
    assert found.lines() == ["1 run on real:/dev/sdz: about 90 s, nothing is written"]


def test_a_state_before_is_said_with_what_it_writes() -> None:
    found = outlook_of(PLACE, [asked(OPEN, 'duration = "10 s"', "filled", read_pct=100)], lambda _: (None, ""))
    assert found.written_bytes == 2 * 100 * GIB
    assert any("filled: its data is lost" in line for line in found.lines())
    unknown = outlook_of(PLACE, [asked(CLOSED, 'duration = "1 s"')], lambda _: (None, ""))
    assert "not known in advance" in unknown.lines()[0]


def test_a_rate_that_is_not_predicted_says_why() -> None:
    """The range ends beyond the drive whose model is named; the target may be larger."""
    said: list[str] = []
    load = asked(CLOSED, 'duration = "1 s"', range='["0 GB", "3 TB"]')
    setup = Setup(product="ent-10k")
    found = ahead([load], replace(PLACE, kind="file"), None, setup, said.append, lambda: None)
    assert found.written_bytes is None
    assert found.rate_from == "the model of ent-10k refuses the load"
    assert said[0].startswith("no rate is predicted by the model of ent-10k: ")


def test_a_device_that_cannot_be_identified_is_no_unknown_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(path: str) -> NoReturn:
        raise UserError(path, "", "", "is a block device that sysfs does not list")

    monkeypatch.setattr(expected, "device_of", fails)
    workload = Named("own", "")
    assert expected.expected_of([], workload, PLACE, None, None) == (
        None,
        "no prediction: /dev/sdz: is a block device that sysfs does not list",
    )


def test_a_device_is_known_by_its_model_number() -> None:
    assert products_by_model("ATA      INTEL SSDSC2KB960G7") == ["s4500-960"]
    assert products_by_model("SEAGATE ST900MP0006") == ["exos-15e900-512n"]
    assert products_by_model("QEMU HARDDISK") == products_by_model("") == []


def test_every_model_number_of_the_catalog_finds_its_own() -> None:
    lost = []
    for path in (CATALOG_DIR / "drives").glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        model = re.search(r'^model = "([A-Z0-9-]{6,})"', text, re.MULTILINE)
        if model and "variant_of" not in text and path.stem not in products_by_model(f"VENDOR {model[1]}"):
            lost.append(path.stem)
    assert lost == []


@fio
def test_the_prediction_stands_beside_what_was_measured(hotband, tmp_path: Path) -> None:
    where = ("--on", f"real:{tmp_path}", "--size", "8 MiB", "--out", tmp_path / "out")
    length = ("--duration", "1 s", "--set", "warm_up=0 s")
    done = hotband("run", "fio-randread", *where, *length, "--expect", "exos-15e900-512n", "--details")
    assert done.returncode == 0, done.stderr
    expected = hb.load(tmp_path / "out").document["expected"]
    assert (expected["machine"], expected["chosen"]) == ("exos-15e900-512n", "as you named it")
    [row] = expected["rows"]
    first = next(one for one in row["figures"] if one["figure"].endswith("iops"))
    assert first["low"] < first["predicted"] < first["high"]
    assert "Measured beside exos-15e900-512n" in done.stdout
    page = (tmp_path / "out/report.html").read_text()
    assert "Measured beside predicted" in page
    assert "as it was found" in page


def test_what_was_asked_for_is_predicted_as_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workload, not a load rebuilt from fio's words; no drive is looked for where nobody asks."""
    sample = Path(__file__).parents[1] / "fio/samples/fio-2.1-usec.json"
    records = [one.record for one in read([sample])]
    workload = Named("fio-randread", str(entries.workload("fio-randread")["text"]))
    monkeypatch.setattr(results, "READERS", {})
    monkeypatch.setattr(expected, "IOS", 2000)
    of_disk, why_not = expected.expected_of(records, workload, PLACE, "exos-15e900-512n", None)
    assert (of_disk and of_disk["chosen"], why_not) == ("as you named it", "")
    image = replace(PLACE, path=sample)
    assert expected.expected_of(records, workload, image, None, None) == (None, expected.NOT_NAMED)


def test_a_drive_that_is_not_near_judges_nothing() -> None:
    figures = [{"figure": "iops", "measured": 9.0, "predicted": 1.0, "low": 0.9, "high": 1.1, "verdict": "better"}]
    near = {"machine": "ent-10k", "chosen": "the nearest", "verdict": "better", "explanations": ["x"], "level": 90.0}
    near["rows"] = [{"name": "a", "verdict": "better", "figures": figures}]
    assert sentence_of(near) == "Expected of ent-10k (the nearest): better"  # type: ignore[arg-type]
    far = without_verdict(near, "9")  # type: ignore[arg-type]
    assert sentence_of(far).startswith("Not judged: no drive of the catalog is similar; the nearest is ent-10k, 9")
    printed = [str(one) for one in expected_views({"expected": far})]  # type: ignore[typeddict-item]
    assert not any(word in line for line in printed for word in ("better", "worse", "inside"))
    assert [one["verdict"] for row in far["rows"] for one in (row, *row["figures"])] == [None, None]


def test_the_prediction_for_hardware_runs_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of uncertain values would take ten times the processor time of a measurement of two seconds."""
    monkeypatch.setattr(predict, "draw", lambda *_: pytest.fail("drew uncertain values"))
    records = [each.record for each in read([GUIDE.parents[2] / "tests/house/results/fio-qd4.json"])]
    workload = Named("fio-randread", entries.workload("fio-randread")["text"])
    found, why = expected.expected_of(records, workload, PLACE, "s4500-960", None)
    assert (why, found and found["notes"]) == ("", [SCALED])
    assert found is not None
    assert all(figure["low"] < figure["predicted"] < figure["high"] for figure in found["rows"][0]["figures"])


def test_hardware_is_brought_into_its_state_before_the_first_run_alone() -> None:
    pairs = (("state", "filled"), ("qd", "4"))
    assert settings_after(pairs, on_hardware=False) == pairs
    assert settings_after(pairs, on_hardware=True) == (("qd", "4"),)
    workloads = [Named("a"), Named("b"), Named("c")]
    folders = [Path("1"), Path("2"), Path("3")]
    runs = in_sequence(RunSpec("run", "real:/dev/sdz", "a", pairs, 7, events=("at 1 s: x",)), workloads, folders, True)
    assert [one.set for one in runs] == [pairs, pairs[1:], pairs[1:]]
    assert [(one.id, one.workload, one.seed, one.out) for one in runs] == [
        ("run 0", "a", 7, Path("1")),
        ("run 1", "b", 8, Path("2")),
        ("run 2", "c", 9, Path("3")),
    ]
    assert [one.events for one in runs] == [("at 1 s: x",), (), ()]
    assert [one.after for one in runs] == ["", "", ""], "hardware keeps by itself what a run leaves"
    on_model = in_sequence(RunSpec("run", "s4500-960", "a", pairs), workloads, folders, False)
    assert [(one.after, one.seed) for one in on_model] == [("", 1), ("run 0", 1), ("run 1", 1)]


@pytest.mark.long
@fio
def test_workloads_follow_each_other_on_hardware_from_python(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    how = {"on": f"real:{folder}", "size": "8 MiB", "duration": "1 s", "warm_up": "0 s", "expect": "none"}
    first, second = hb.sequence(["fio-randwrite", "fio-randread"], out=tmp_path / "out", **how)
    assert (first.read.iops, second.write.iops) == (0, 0)
    assert first.write.iops > 0 < second.read.iops
    assert second.document["target"]["kind"] == "real"
    written = (tmp_path / "out/1/record.json").stat().st_mtime_ns
    shutil.rmtree(tmp_path / "out/2")
    again = hb.sequence(["fio-randwrite", "fio-randread"], out=tmp_path / "out", **how)
    assert (tmp_path / "out/1/record.json").stat().st_mtime_ns == written, "what is there is not run again"
    assert again[0].document == first.document
    assert again[1].read.iops > 0
    with pytest.raises(hb.UserError, match=r"erase.*is for hardware: expected on real:PATH with it"):
        hb.sequence(["fio-randread"], on="ent-10k", erase="Z1")


def test_a_plain_file_where_a_device_should_be_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "rbd0").write_bytes(bytes(8192))
    monkeypatch.setattr(real_target, "real_path", lambda path: Path("/dev") / path.name)
    with pytest.raises(hb.UserError, match=r"is a plain file in memory.*is the device attached and mapped"):
        real_target_of(f"real:{tmp_path / 'rbd0'}")


@fio
def test_fio_ends_with_whoever_started_it(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(1 << 20))
    job = f"[j]\nfilename={tmp_path}/data\nrw=randread\nthread=1\ntime_based\nruntime=60s\nwrite_bw_log=x\n"
    program = (
        f"from pathlib import Path; from {run_fio.__module__} import run_fio; run_fio({job!r}, Path({str(tmp_path)!r}))"
    )
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed (apt install util-linux)")
    started = subprocess.Popen([sys.executable, "-c", program])
    try:
        children: list[int] = []
        for _ in range(200):
            found = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
            children = [int(one) for one in found if b"fio" in Path(f"/proc/{one}/comm").read_bytes()]
            if children and (tmp_path / "fio.txt").exists() and b"Jobs" in (tmp_path / "fio.txt").read_bytes():
                break
            time.sleep(0.05)
        assert children
        started.send_signal(signal.SIGKILL)
        started.wait()
        for _ in range(200):
            if not all(is_alive(one) for one in children):
                break
            time.sleep(0.05)
        assert not any(is_alive(one) for one in children)
    finally:
        started.kill()
        started.wait()


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that waits to be asked for its exit code does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_commands_of_the_guide_are_ones_that_there_are() -> None:
    import typer

    known, group = {}, typer.main.get_command(app)
    for command in ("run", "sweep"):
        params = group.get_command(typer.Context(group), command).params
        known[command] = {name for param in params for name in param.opts}
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL))
    lines = [line.partition("#")[0] for line in blocks.replace("\\\n", " ").splitlines()]
    looked_at = 0
    for words in (shlex.split(line) for line in lines):
        if words[:1] == ["hotband"] and words[1] in known:
            looked_at += 1
            assert (CATALOG_DIR / "workloads" / f"{words[2]}.toml").is_file(), words[2]
            assert [one for one in words if one.startswith("-") and one not in known[words[1]]] == []
            for place, word in enumerate(words):
                if word == "--then":
                    assert (CATALOG_DIR / "workloads" / f"{words[place + 1]}.toml").is_file(), words[place + 1]
    assert looked_at >= 5
