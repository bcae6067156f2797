"""Words that people type: rates, objectives, options of other tools, names in the wrong place."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import hotband as hb
from command_line import run_hotband
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.layouts import LAYOUTS
from hotband.data.inputs.specify import rate_text
from hotband.faces.renamed import with_current_options
from hotband.questions.find.figures import Figure
from hotband.questions.slo import judge, met_text, slo_of, verdict_of

ON = ("--on", "ent-10k")
QUICK = ("--duration", "0.2 s")
TWO_JOBS = """
[a]
rw=randread
bs=4k
iodepth=3
ioengine=libaio
filename=/dev/sdx
runtime=1
time_based

[b]
rw=randwrite
bs=4k
iodepth=1
ioengine=libaio
filename=/dev/sdx
runtime=1
time_based
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "randread", *ON, "--qd", "32"), "--qd: no such option; use --set qd=32"),
        (("run", "randread", *ON, "--runtime", "3"), '--runtime: no such option; use --duration "3 s"'),
        (("run", "randread", *ON, "--runtime=3 min"), '--runtime: no such option; use --duration "3 min"'),
        (("run", "randread", *ON, "--bs", "8k"), "--bs: no such option; use --set bs=8k"),
        (("run", "randread", *ON, "--numjobs", "4"), "--numjobs: no such option; use --set threads=4"),
        (("run", *ON, "--rw", "randwrite"), "--rw: no such option; use hotband run randwrite --on DRIVE"),
        (("run", "randread", *ON, "--ioengine=libaio"), "--ioengine: no such option; leave it out: a workload and"),
        (("run", "randread", *ON, "--filename", "/dev/sdb"), "--filename: no such option; use --on real:/dev/sdb"),
        (("run", "randread", "--machine", "ent-10k"), "--machine: no such option; use --on ent-10k"),
        (("run", "randread", *ON, "--output", "out"), "--output: no such option; use --out out"),
        (("run", "randread", *ON, "-o", "out"), "-o: no such option; use --out out"),
        (("run", "randread", *ON, "--json", "out.json"), "--json: prints to standard output; use --json > out.json"),
        (
            ("run", "randread", *ON, "--set", "qd=1,2"),
            "--set = 'qd=1,2': several values make a sweep; use hotband sweep randread --on ent-10k --set qd=1,2",
        ),
        (
            ("run", "randread", *ON, "--on", "ent-15k"),
            "--on: is given twice; a run is on one machine: use hotband sweep randread --on ent-10k --on ent-15k",
        ),
        (("run", "randread", *ON, "--rate", "1000,2000"), "--rate = '1000,2000': several rates are for sweep"),
        (("run", "randread", *ON, "--rate", "1,000"), "--rate = '1,000': several rates are for sweep"),
        (("run", "randread", *ON, "--rate", "fast"), "--rate = 'fast': expected I/Os a second, such as 60000"),
        (("run", "randread", *ON, "--rate", "9", "--set", "qd=4"), "--set: qd = '4': cannot be combined with --rate"),
        (("run", "ycsb-a", *ON, "--rate", "9"), "--rate = '9': this workload has no [[streams]]"),
        (
            ("run", "boot-storm", *ON, "--rate", "9"),
            "--rate = '9': expected a workload with a single script",
        ),
        (
            ("run", "postgres-oltp", *ON, "--set", "qd=9"),
            "one outstanding run each: set clients",
        ),
        (("run", "randread", *ON, "--slo", "p99 <"), "--slo = 'p99 <': expected"),
        (("sweep", "randread", *ON, "--slo", "p95 < 1 ms"), "--slo = 'p95': is not a figure of a sweep"),
        (("run", "randread", "--on", "randwrite"), "--on = 'randwrite': is a workload, not a machine"),
        (("run", "ent-10k", *ON), "WORKLOAD = 'ent-10k': is a drive, not a workload; expected a workload, and --on"),
        (
            ("run", "randread", "--on", "/dev/sda"),
            "--on = '/dev/sda': is a device of this computer; expected --on real:",
        ),
        (
            ("run", "randread", "--on", "optane"),
            "--on = 'optane': is a kind of drive; expected one of 1, such as p4800x",
        ),
        (("run",), "or an I/O log; such as: hotband run fio-randread --on exos-15e900-512n --set qd=32"),
        (("list",), "hotband = 'list': no such command; use hotband drives or hotband workloads"),
        (("ent-10k",), "hotband = 'ent-10k': no such command; use hotband drives ent-10k"),
        (("job.fio",), "hotband = 'job.fio': no such command; use hotband run job.fio --on DRIVE"),
        (
            ("IOPS at p99 < 1 ms",),
            "no such command; use hotband find 'IOPS at p99 < 1 ms' -w randread --on DRIVE",
        ),
        (("drives", "--cheap"), "--cheap: no such option; expected one of 7 options (hotband drives show --help)"),
    ],
)
def test_a_slip_is_answered_with_what_to_type(typed, arguments: tuple[str, ...], said: str) -> None:  # type: ignore[no-untyped-def]
    code, out, err = typed(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert said in err


def test_an_option_with_a_line_below_is_meant(typed) -> None:  # type: ignore[no-untyped-def]
    code, _, err = typed("run", "randread", *ON, *QUICK, "--rebuild_rate", "5 MB/s")
    assert (code, "--rebuild-rate = '5 MB/s': is for drives that fail" in err) == (2, True)


def test_old_options_are_the_new_ones_with_a_notice(capsys: pytest.CaptureFixture[str]) -> None:
    known = ["--prices", "--set", "--rate"]
    given = ["--cost", "p.csv", "--cost=q.csv", "--set", "qd=1", "--set", "rate_iops=5", "--set=rate_iops=6"]
    assert with_current_options(given, known) == [
        "--prices", "p.csv", "--prices=q.csv", "--set", "qd=1", "--rate", "5", "--rate", "6",
    ]  # fmt: skip
    assert capsys.readouterr().err.splitlines()[0] == "hotband: `--cost` is `--prices` now"
    assert with_current_options(given, ["--set"]) == given


@pytest.mark.parametrize(
    ("text", "plain"), [("60k", "60000"), ("1.5M", "1500000"), ("60000 IOPS", "60000"), ("1k,2k", "1000,2000")]
)
def test_rates_are_numbers(text: str, plain: str) -> None:
    assert rate_text(text) == plain


def test_a_rate_makes_a_loop_open_and_keeps_the_mix() -> None:
    found = hb.run("randrw", on="7450-pro-3840", rate=5000, duration="0.5 s", scale=512)
    by_setting = hb.run("randrw", on="7450-pro-3840", rate_iops=5000, duration="0.5 s", scale=512)
    assert found.document["summary"] == by_setting.document["summary"]
    assert found.summary.iops == pytest.approx(5000, rel=0.1)
    assert found.read.iops / found.summary.iops == pytest.approx(0.7, abs=0.05)


def test_jobs_share_a_rate_by_what_they_have_in_flight(tmp_path: Path) -> None:
    (tmp_path / "two.fio").write_text(TWO_JOBS)
    found = hb.run(tmp_path / "two.fio", on="7450-pro-3840", rate="4k", duration="0.5 s", scale=512)
    assert found.read.iops == pytest.approx(3000, rel=0.1)
    assert found.write.iops == pytest.approx(1000, rel=0.15)


def test_a_run_says_whether_it_meets_an_objective(typed) -> None:  # type: ignore[no-untyped-def]
    asked = ("run", "randread", *ON, *QUICK, "--rate", "50", "--slo", "p99 < 1 s and IOPS > 5000")
    code, out, _ = typed(*asked)
    assert code == 0
    assert out.startswith("ent-10k does not meet p99 < 1 s and IOPS > 5000 at 50 IOPS: ")
    record = json.loads(typed(*asked, "--json")[1])
    assert [(one["figure"], one["met"]) for one in record["slo"]] == [("latency_p99_ns", True), ("iops", False)]


def test_a_sweep_says_which_machines_meet_an_objective(typed) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = typed("sweep", "randread", *ON, "--on", "ent-15k", *QUICK, "--rate", "50", "--slo", "p99 < 1 s")
    assert code == 0
    assert out.startswith("Both meet p99 < 1 s at 50 IOPS, with ")
    assert out.count("✓ yes") == 2


def test_a_rate_that_is_missed_meets_no_objective(typed) -> None:  # type: ignore[no-untyped-def]
    _, out, _ = typed("run", "randread", *ON, *QUICK, "--rate", "5000", "--slo", "p99 < 1000 s")
    assert out.startswith("ent-10k does not meet p99 < 1000 s and the requested rate at 5,000 IOPS:"), out
    done = hb.sweep("randread", on="ent-10k", rate=[40, 5000], duration="1 s", slo="p99 < 1000 s")
    assert done.answers[0] == "p99 < 1000 s holds up to requested rate 40 but not at 5000."
    assert done.means["p99 < 1000 s"].to_list() == ["yes", "no"]
    assert done.means["requested_iops"].to_list() == [None, 5000.0]


def test_the_next_command_of_a_rate_can_be_typed(typed) -> None:  # type: ignore[no-untyped-def]
    _, out, _ = typed("run", "randread", *ON, *QUICK, "--rate", "80.25")
    rates = re.search(r"--rate (\S+)", out.replace("\n", " "))
    assert rates is not None
    assert rate_text(rates[1]) == rates[1] == "40.1,80.2,120,160"


def test_a_sweep_says_up_to_where_an_objective_holds() -> None:
    done = hb.sweep("randread", on="ent-10k", qd=[1, 64], duration="1 s", slo="mean < 20 ms")
    assert done.answers[0] == "mean < 20 ms holds up to queue depth 1 but not at 64."
    assert done.means["mean < 20 ms"].to_list() == ["yes", "no"]


@pytest.mark.parametrize(
    ("value", "ends", "verdict", "said"),
    [
        (0.000125, None, "yes", "X meets p99 < 1 ms, with 8 times to spare."),
        (0.0008, None, "yes", "X meets p99 < 1 ms, with 25 % to spare."),
        (0.0008, (0.0005, 0.002), "likely", "X likely meets p99 < 1 ms, with 25 % to spare."),
        (0.002, (0.0005, 0.003), "no", "X does not meet p99 < 1 ms: p99 is 2 ms."),
    ],
)
def test_verdicts_in_words(value: float, ends: tuple[float, float] | None, verdict: str, said: str) -> None:
    def same(_: Figure) -> float:
        return value

    judged = judge(slo_of("p99 < 1 ms"), same, lambda _: ends)
    assert (verdict_of(judged), met_text("X", judged)) == (verdict, said)


def test_a_workload_of_a_file_may_be_a_variant(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('variant_of = "seqread"\ntitle = "mine"\n[load]\nclosed = { threads = 2 }\n')
    found = hb.run(tmp_path / "mine.toml", on="ent-10k", duration="0.2 s")
    assert found.document["summary"]["queue_depth_mean"] == pytest.approx(2, rel=0.1)
    (tmp_path / "mine.toml").write_text('variant_of = "seqraed"\n')
    with pytest.raises(UserError, match="did you mean"):
        hb.run(tmp_path / "mine.toml", on="ent-10k")


@pytest.mark.parametrize("name", ["randread", "randwrite", "fileserver"])
def test_variants_of_the_catalog_state_what_differs_alone(name: str) -> None:
    text = (CATALOG_DIR / "workloads" / f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("variant_of = ")
    assert "variant_of" not in str(entries.workload(name)["text"])


def test_old_names_of_python_go_on_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="hotband.why is hotband.explain now"):
        assert hb.why is hb.explain


def test_python_groups_and_selects_as_the_command_line_does() -> None:
    assert dir(hb.measure) == ["calibrate", "device", "entropy", "pts", "quick", "selftest"]
    assert hb.measure.quick.__doc__ == hb.quick.__doc__
    with pytest.raises(AttributeError, match=r"hotband\.measure has no attribute 'slow'; it has calibrate, device,"):
        _ = hb.measure.slow
    asked = {"on": "ent-10k", "duration": "0.1 s", "progress": False}
    why = hb.run("fio-randread", explain=True, draws=8, **asked)
    assert why.to_dict() == hb.explain("fio-randread", draws=8, **asked).to_dict()
    assert hb.run("fio-randread", explain=False, **asked).iops > 0


def test_a_rate_that_makes_an_open_loop_and_is_missed_leaves_a_note() -> None:
    run = hb.run("fio-randread", on="ent-10k", rate=60_000, duration="0.5 s", progress=False)
    (note,) = run.to_dict()["notes"]
    assert note.startswith("does not keep up: ")
    assert note.endswith(" of 60,000 IOPS; latencies grow throughout the run")


@pytest.mark.parametrize(
    ("word", "example"),
    [("raid5", "raid5:4xent-10k"), ("RAID-6", "raid6:6xent-10k"), ("mirror", "raid1:2xent-10k"),
     ("raid-z2", "raidz2:6xent-10k"), ("ceph", "replicated:3xent-10k"), ("jbod", "concat:2xent-10k")],
)  # fmt: skip
def test_a_layout_without_drives_is_refused_with_an_example(word: str, example: str) -> None:
    with pytest.raises(UserError, match=f"is a layout; expected it with drives, such as {example}"):
        hb.run("fio-randread", on=word)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gp3", "hotband drives new gp3 --kind cloud"),
        ("pd-ssd", "hotband drives new pd-ssd --kind cloud"),
        ("zfs", "raidz1..3, such as raidz2:6xent-10k"),
        ("zfs:6xent-10k", "raidz1..3, such as raidz2:6xent-10k"),
        ("lvm:4xent-10k", "expected concat, raid0"),
        ("vsan", "is not modelled; the nearest layout is replicated"),
        ("bluestore-14", "hotband drives --kind osd bluestore-14"),
        ("nvme-raid1", "expected raid1:2x"),
        ("ssd raid 10", "expected raid10:4x"),
        ("nvme0n1", "expected --on real:/dev/nvme0n1"),
        ("controller:raid10:8xent-15k", "expected a machine file"),
        ("controller:8xent-10k", "expected a machine file"),
        ("raidz2:6xironwolf-8tb+980-1tb", "expected a machine file"),
        ("raidz2:6", "such as raidz2:6xent-10k"),
        ("raid10:4x", "such as raid10:4xent-10k"),
        ("RAID10 of 6 ent-15k", "expected raid10:6xent-15k"),
        ("6x ent-15k in raid 6", "expected raid6:6xent-15k"),
        ("raid 6 ent-15k", "expected raid6:6xent-15k"),
        ("EBS gp3", "hotband drives new ebs-gp3 --kind cloud"),
        ("premium ssd v2", "hotband drives new premium-ssd-v2 --kind cloud"),
        ("raid5:ent-15k", "such as raid5:4xent-15k"),
        ("raid5:4*ent-10k", "expected raid5:4xent-10k"),
        ("RAID5(4xent-10k)", "expected raid5:4xent-10k"),
        ("4xent-10k", "such as raid10:4xent-10k"),
        ("raid1:2xnvme", "hotband drives nvme, such as raid1:2x"),
        ("raid0:2xgp3", "hotband drives new gp3 --kind cloud"),
    ],
)
def test_other_words_for_a_machine_are_refused_with_what_to_type(name: str, said: str) -> None:
    done = run_hotband("run", "fio-randread", "--on", name)
    assert (done.returncode, done.stderr.count("\n"), said in done.stderr) == (2, 1, True), done.stderr


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("gp3", "hotband drives new gp3 --kind cloud"),
        ("cloud", "hotband drives new cloud --kind cloud"),
        ("raid-10", "with drives it is raid10:4xent-10k"),
        ("ceph", "with drives it is replicated:3xent-10k"),
        ("zfs", "such as raidz2:6xent-10k"),
        ("bluestore-14", "hotband drives --kind osd bluestore-14"),
        ("nvme-raid1", "expected raid1:2x"),
    ],
)
def test_other_words_for_a_drive_are_refused_with_what_to_type(word: str, said: str) -> None:
    done = run_hotband("drives", word)
    assert (done.returncode, done.stderr.count("\n"), said in done.stderr) == (2, 1, True), done.stderr


def test_the_command_of_a_hint_makes_the_volume(tmp_path: Path) -> None:
    command = run_hotband("drives", "gp3").stderr.partition("describe yours: hotband ")[2]
    assert run_hotband(*shlex.split(command), cwd=tmp_path).returncode == 0
    assert hb.run("fio-randread", on=tmp_path / "gp3.toml", duration="0.1 s", progress=False).iops > 0


def test_every_layout_runs_as_its_example_says() -> None:
    assert [layout.name for layout in LAYOUTS if not layout.example] == ["md"]
    for layout in LAYOUTS:
        if layout.example:
            assert hb.run("fio-randread", on=layout.example, duration="0.1 s", progress=False).iops > 0
