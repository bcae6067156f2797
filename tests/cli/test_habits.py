"""Does the command line do what fingers expect: versions, short names, slips of the pen, one line for each mistake?"""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from rich.cells import cell_len

from hotband import _core
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.keys import set_keys
from hotband.data.inputs.specify import rate_text
from hotband.data.inputs.words import FIO_WORDS
from hotband.execution.experiment.executor import phase_of
from hotband.execution.experiment.experiment import execute
from hotband.execution.runs.run import prepare
from hotband.faces.commands.epilogs import RUN
from hotband.faces.commands.names import machine_names

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
QUICK = ["--duration", "1 s", "--json"]


def error_of(done) -> str:
    """The one line of a refused call."""
    assert (done.returncode, done.stdout) == (2, ""), (done.returncode, done.stdout, done.stderr)
    line = done.stderr.rstrip("\n")
    assert line.startswith("hotband: error: "), done.stderr
    assert "\n" not in line, done.stderr
    return line.removeprefix("hotband: error: ")


@pytest.mark.parametrize("arguments", [["--version"], ["version"]])
def test_the_version_is_printed(hotband, arguments: list[str]) -> None:
    done = hotband(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("hotband 0.")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["run", "fio-read", "--on", "ent-15k", "--spares", "-1"],
            "--spares = '-1': expected a whole number, 0 or more",
        ),
        (["run", "fio-read", "--on", "ent-15k", "--spares", "x"], "--spares = 'x': expected a whole number, 0 or more"),
        (["measure", "entropy", ".", "--jobs", "0"], "--jobs = '0': expected a whole number from 1 to 1024"),
        (["reliability", "ent-15k", "--years", "x"], "--years = 'x': expected a number"),
        (
            ["reliability", "ent-15k", "--method", "exact"],
            "--method = 'exact': expected one of auto, biased, direct",
        ),
        (["run"], "WORKLOAD: missing: a catalog name, a TOML file, a job file or an I/O log"),
        (["run", "fio-read"], "--on: missing: a drive, LAYOUT:COUNTxDRIVE, or a TOML file"),
        (["run", "fio-read", "--on"], "--on: expected a value after it"),
        (["keys", "fio-read", "ent-15k", "--on", "ent-10k"], "got unexpected extra argument"),
        (["run", "fio-read", "--on", "ent-15k", "--seed", "1", "--seed", "2"], "--seed: is given twice"),
        (["run", "fio-read", "--on", "ent-15k", "--on", "ent-10k"], "--on: is given twice; a run is on one machine"),
        (["study", "swings", "durawrite", "--out", "a", "--out", "b"], "--out: is given twice"),
    ],
)
def test_what_typer_refuses_is_one_line_like_ours(hotband, arguments: list[str], expected: str) -> None:
    assert error_of(hotband(*arguments)).startswith(expected)


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["rum"], "run"),
        (["study", "rum"], "run"),
        (["run", "fio-read", "--on", "ent-15k", "--duratoin", "1 s"], "--duration"),
        (["run", "fio-randred", "--on", "ent-15k"], "fio-randread"),
        (["run", "fio-read", "--on", "ent-51k"], "ent-15k"),
        (["drives", "savio-10k1"], 'savvio-10k1" or "savvio-10k1-performance'),
        (["study", "run", "content-hhd"], "content-hdd"),
        (["study", "run", "content-hdd", "--only", "128k-reed"], "128k-read"),
        (["review", "ent-15k", "--only", "linaer"], "linear"),
        (["run", "fio-read", "--on", "ent-15k", "--set", "reed_pct=5"], "read_pct"),
    ],
)
def test_what_was_meant_is_said_before_the_list(hotband, arguments: list[str], near: str) -> None:
    error = error_of(hotband(*arguments))
    assert f'did you mean "{near}"? expected ' in error


@pytest.mark.parametrize(
    ("workload", "machine", "names"),
    [
        ("fio-randr", "ent-15", ("fio-randread", "ent-15k")),
        ("fio-read", "raid0:2xmg06", ("fio-read", "raid0:2xmg06sca-10tb")),
        ("fio-read", "raid0:2xmg06:64KiB", ("fio-read", "raid0:2xmg06sca-10tb:64KiB")),
        ("fio-read", "savvio-10k1", ("fio-read", "savvio-10k1")),
    ],
)
def test_a_unique_beginning_is_a_name_and_the_record_has_it_whole(
    hotband, workload: str, machine: str, names: tuple[str, str]
) -> None:
    record = json.loads(hotband("run", workload, "--on", machine, *QUICK).stdout)
    assert (record["name"], record["target"]["machine"]) == (f"{names[0]} on {names[1]}", names[1])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["run", "fio-read", "--on", "exos-15e900"],
            "--on = 'exos-15e900': is the beginning of several names: exos-15e900-512e, exos-15e900-512n",
        ),
        (["run", "fio-rand", "--on", "ent-15k"], "is the beginning of several names: fio-randread, fio-randwrite"),
        (["review", "ent"], "is the beginning of several names: ent-10k, ent-15k, ent-cap-2tb"),
        (["review", "ent-15k", "--against", "ent-1"], "--against = 'ent-1': is the beginning of several"),
    ],
)
def test_an_ambiguous_beginning_is_answered_with_the_names(hotband, arguments: list[str], expected: str) -> None:
    assert expected in error_of(hotband(*arguments))


def test_words_of_fio_are_words_of_ours(hotband) -> None:
    theirs = ["iodepth=4", "numjobs=2", "rwmixread=70", "percentage_random=30", "blocksize=8k", "size=50 %"]
    ours = ["depth=4", "threads=2", "read_pct=70", "random_pct=30", "bs=8k", "span=50 %"]

    def text(pairs: list[str]) -> str:
        return hotband("run", "fio-read", "--on", "ent-15k", *QUICK, *(f"--set={pair}" for pair in pairs)).stdout

    assert text(theirs) == text(ours)
    assert json.loads(text(theirs))["summary"]["queue_depth_mean"] == pytest.approx(8, rel=0.02)


def test_a_value_set_in_two_words_is_refused(hotband) -> None:
    done = hotband("run", "fio-read", "--on", "ent-15k", "--set", "bs=4k", "--set", "blocksize=8k")
    assert "--set: blocksize = '8k': is the same as bs, which is also given: bs=4k" in error_of(done)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hotband run fio-randr", {"fio-randread"}),
        ("hotband run fio-randread --on ent-1", {"ent-10k", "ent-15k"}),
        ("hotband run fio-randread --on raid5:4xent-1", {"raid5:4xent-10k", "raid5:4xent-15k"}),
        (
            "hotband run fio-randread --on rai",
            {f"raid{level}:" for level in ("0", "1", "10", "5", "6", "50", "60", "z1", "z2", "z3")},
        ),
        ("hotband study run cont", {"content-hdd"}),
        ("hotband drives savvio", {"savvio-10k1", "savvio-10k1-performance"}),
        ("hotband drives --kind osd blue", {"bluestore-14"}),
    ],
)
def test_the_shell_completes_names(hotband, monkeypatch, words: str, expected: set[str]) -> None:
    monkeypatch.setenv("_HOTBAND_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert set(hotband().stdout.split()) == expected


def test_a_log_named_csv_is_one_and_says_what_the_parquet_says(hotband, tmp_path: Path) -> None:
    for name in ("log.csv", "log.parquet"):
        done = hotband("run", "fio-randwrite", "--on", "ent-15k", "--duration", "1 s", "--io-log", name)
        assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "log.csv").open()))
    log = pl.read_parquet(tmp_path / "log.parquet")
    assert (list(rows[0]), len(rows)) == (log.columns, len(log))
    assert [int(row["latency_ns"]) for row in rows] == log["latency_ns"].to_list()
    assert {row["direction"] for row in rows} == {"write"}


@pytest.mark.parametrize("name", ["log.txt", "log", "log.csv.gz"])
def test_a_log_of_no_known_format_is_refused(hotband, name: str) -> None:
    done = hotband("run", "fio-randwrite", "--on", "ent-15k", "--io-log", name)
    assert error_of(done) == f"--io-log = '{name}': expected a name that ends in .parquet or .csv"


def tables_of(hotband, *arguments: str) -> str:
    """What a command prints without a terminal, checked: no line of a table is wider than 80 columns."""
    done = hotband(*arguments)
    assert done.returncode in (0, 1), done.stderr
    rows = [line for line in done.stdout.splitlines() if any(mark in line for mark in "│┃━─")]
    assert rows, done.stdout
    assert all(cell_len(line) <= 80 for line in rows), [line for line in rows if cell_len(line) > 80]
    assert "…" not in done.stdout
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["drives", "exos-15e900-512n"],
        ["drives", "--kind", "osd", "bluestore-14"],
        ["studies", "mach2-ceph"],
        ["audit", "--study", "content-hdd", "--details"],
        ["run", "iometer-fileserver", "--on", "raid10:4xent-15k", "--duration", "1 s", "--details"],
        ["reliability", "raid6:8xent-15k", "--arrays", "1000", "--details"],
        ["review", "ent-15k", "--quick", "--only", "linear,access,streams", "--details"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_tables_fit_80_columns_when_piped(hotband, arguments: list[str]) -> None:
    tables_of(hotband, *arguments)


def test_tables_of_records_fit_80_columns_when_piped(hotband) -> None:
    # An audit has more to say of short runs; a comparison has intervals from twenty samples on.
    for out, drive, duration in (("a", "ent-15k", "2 s"), ("b", "ent-15k", "30 s"), ("c", "ent-10k", "30 s")):
        done = hotband("run", "fio-randwrite", "--on", drive, "--duration", duration, "--out", out)
        assert done.returncode == 0, done.stderr
    assert "p99.9" in tables_of(hotband, "audit", "a", "--details")
    assert "95 % interval" in tables_of(hotband, "compare", "b", "c", "--details")


def test_a_summary_shows_all_its_numbers_in_80_columns(hotband) -> None:
    out = tables_of(hotband, "run", "iometer-fileserver", "--on", "ent-15k", "--duration", "1 s", "--details")
    row = next(line for line in out.splitlines() if line.startswith("all ") and "▁" not in line)
    assert len(row.replace("│", " ").split()) == 10, "all and nine numbers"


def test_keys_lists_what_set_takes_with_words_of_fio(hotband) -> None:
    keys = {
        one["key"]: one for one in json.loads(hotband("keys", "fio-randwrite", "--on", "s4500-960", "--json").stdout)
    }
    assert keys["bs"] == {
        "key": "bs", "part": "workload", "value": "4 KiB", "accepted": keys["bs"]["accepted"],
        "meaning": "size of every I/O", "fio": "blocksize",
    }  # fmt: skip
    assert keys["gc_victims"]["accepted"] == "one of greedy, windowed-greedy, cost-benefit"
    assert "a size" in keys["bs"]["accepted"]
    assert (keys["scale"]["part"], keys["scale"]["value"]) == ("drive s4500-960", "1")


@pytest.mark.parametrize(("workload", "machine"), [("fio-randwrite", "ent-15k"), ("fio-read", "s4500-960")])
def test_every_listed_key_takes_its_own_value(workload: str, machine: str) -> None:
    for one in set_keys(workload, machine):
        if one.value is not None:
            prepare(RunSpec("a", machine, workload, set=((one.key, one.value),)))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("read_pct", "0.7", "--set: read_pct = '0.7': 0.7 % or 70 %?"),
        ("rwmixread", "0.35", "--set: read_pct = '0.35': 0.35 % or 35 %?"),
        ("random_pct", ".5", "--set: random_pct = '.5': 0.5 % or 50 %?"),
    ],
)
def test_a_share_in_the_place_of_a_percentage_is_asked_about(hotband, key: str, value: str, expected: str) -> None:
    done = hotband("run", "fio-randwrite", "--on", "ent-15k", "--set", f"{key}={value}")
    assert error_of(done).startswith(expected)


@pytest.mark.parametrize("value", ["0.7 %", "0", "1", "100", "55.5"])
def test_a_percentage_that_can_only_be_one_is_taken(value: str) -> None:
    prepare(RunSpec("a", "ent-15k", "fio-randwrite", set=(("read_pct", value),)))


def test_a_share_in_a_file_is_asked_about_with_its_key(hotband, tmp_path: Path) -> None:
    stream = '[[streams]]\nread_pct = {}\nrandom_pct = 100\nsize = "4 KiB"\n'
    phase = '[load]\nclosed = {{ threads = 1 }}\n[[phases]]\nduration = "1 s"\nmeasure = true\n'
    (tmp_path / "w.toml").write_text((phase + stream).format(0.7))
    error = error_of(hotband("run", "w.toml", "--on", "ent-15k"))
    assert error.startswith("w.toml: streams[0].read_pct = '0.7': 0.7 % or 70 %?")
    (tmp_path / "w.toml").write_text((phase + stream).format('"0.7 %"'))
    assert hotband("run", "w.toml", "--on", "ent-15k").returncode == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hotband run fio-read --on ent-15k --set rea", {"read_pct=", "read_ahead=", "read_overlap="}),
        ("hotband run fio-read --on ent-15k --set gc_v", set()),
        ("hotband run fio-read --on s4500-960 --set gc_v", {"gc_victims="}),
        ("hotband run ycsb-a --set iod", {"iodepth="}),
        ("hotband review ent-15k --set wce", {"wce="}),
    ],
)
def test_the_shell_completes_keys(hotband, monkeypatch, words: str, expected: set[str]) -> None:
    monkeypatch.setenv("_HOTBAND_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert set(hotband().stdout.split()) == expected


def test_the_help_of_run_names_every_key_and_every_word_of_fio() -> None:
    words = set(re.findall(r"[a-z_]+", RUN.replace("\n", " ")))
    assert set(_core.SET_KEYS) | set(FIO_WORDS) <= words


@pytest.mark.parametrize("line", [line for line in RUN.splitlines() if line.startswith("hotband run")])
def test_the_examples_of_the_help_run(hotband, line: str) -> None:
    arguments = shlex.split(line)[1:]
    done = hotband(*arguments, *([] if "--duration" in arguments else ["--duration", "1 s"]))
    assert (done.returncode, done.stdout != "") == (0, True), done.stderr
    assert hotband("run", "--help").stdout.count("hotband run ") >= 3


def test_the_guide_names_every_word_of_fio() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", GUIDE.read_text().partition("## Words of fio")[2], flags=re.M)
    assert dict(rows) == FIO_WORDS


def test_progress_names_the_phase() -> None:
    run = prepare(RunSpec("a", "s4500-960", "fio-randwrite", set=(("state", "preconditioned"), ("scale", "64"))))
    phases = [run.run.phase()]
    assert phases == ["preconditioning"]
    assert phase_of([run]) == "preconditioning"
    execute([RunSpec("b", "ent-15k", "fio-randwrite", duration="1 s")], lambda told: phases.append(told.phase))
    assert phases[-1] == "writing"


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("real:text", "real:text"),
        ("real:/mnt/fix7450-pro-38", "real:/mnt/fix7450-pro-38"),
        ("raid5:4x7450-pro-38", "raid5:4x7450-pro-3840"),
        ("emulated:7450-pro-38", "emulated:7450-pro-3840"),
        ("emulated:raid5:4x7450-pro-38", "emulated:raid5:4x7450-pro-3840"),
    ],
)
def test_names_of_drives_are_completed_and_paths_of_hardware_are_not(name: str, whole: str) -> None:
    assert machine_names("--on", name) == whole


def test_a_rate_with_a_point_between_thousands_is_refused() -> None:
    for text, plain in {"60k": "60000", "0.500": "0.5", "1.5": "1.5", "1.500k": "1500", "100,200": "100,200"}.items():
        assert rate_text(text) == plain
    with pytest.raises(
        UserError, match=r"'1.500': is 1500 or 1.5: expected an unambiguous number, such as 1500 or 1.5000"
    ):
        rate_text("1.500")
    assert rate_text("1.5000") == "1.5"
