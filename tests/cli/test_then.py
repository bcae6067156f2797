"""Do runs that follow each other go on with the machine of the one before?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forms import sized

POOL = """[drives.d]
product = "mg06sca-10tb"
count = 3
[layouts.pool]
replicated = { members = "d0..d2", image = "1 GB" }
"""
READS = """title = "t"
source = "t"
confidence = "high"
[load]
closed = { threads = 1, depth = 4 }
[[streams]]
read_pct = 100
random_pct = 100
size = "4 KiB"
[[phases]]
name = "measure"
duration = "20 s"
measure = true
"""


def arguments(tmp_path: Path) -> list[str]:
    (tmp_path / "pool.toml").write_text(POOL)
    (tmp_path / "reads.toml").write_text(READS)
    reads = str(tmp_path / "reads.toml")
    return ["run", reads, "--on", str(tmp_path / "pool.toml"), "--then", reads]


def from_memory(hotband, *more: str) -> list[float]:
    """Share of the reads of every run that daemons had in memory."""
    done = hotband(*more, "--json")
    assert done.returncode == 0, done.stderr
    shares = []
    for record in json.loads(done.stdout):
        daemons = [part["counters"] for part in record["parts"] if part["kind"] == "osd"]
        shares.append(sum(one["memory_hits"] for one in daemons) / sum(one["reads"] for one in daemons))
    return shares


def test_the_second_run_finds_in_memory_what_the_first_read(hotband, tmp_path: Path) -> None:
    first, again = from_memory(hotband, *arguments(tmp_path))
    assert first < 0.1
    assert again > 0.4, "it gets further in its time, so not all of it was read before"


def test_fresh_seeds_ask_for_other_offsets(hotband, tmp_path: Path) -> None:
    first, again = from_memory(hotband, *arguments(tmp_path), "--fresh-seeds")
    assert max(first, again) < 0.15, "blocks met by chance"


def test_each_run_leaves_its_record(hotband, tmp_path: Path) -> None:
    done = hotband(*arguments(tmp_path), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / "out" / name / "record.json").is_file() for name in ("1", "2")] == [True, True]


def test_a_log_and_a_power_loss_are_of_one_run(hotband, tmp_path: Path) -> None:
    log, power = ["--io-log", str(tmp_path / "log.parquet")], ["--power-loss", "5 s"]
    for more, said in ((log, "--then"), (power, "power-off is not supported with layout replicated")):
        done = hotband(*arguments(tmp_path), *more)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_mistake_in_the_second_is_told_before_the_first_runs(hotband, tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text(READS.replace("read_pct = 100", "read_pct = 101"))
    done = hotband(*arguments(tmp_path)[:4], "--then", str(broken), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "broken.toml" in done.stderr
    assert not list((tmp_path / "out").rglob("record.json"))


def test_records_say_what_came_before_and_the_auditor_reads_it(hotband, tmp_path: Path) -> None:
    more = arguments(tmp_path)
    for name, option in (("repeated", []), ("fresh", ["--fresh-seeds"])):
        out = tmp_path / name
        done = hotband(*more, "--then", more[1], "--out", str(out), *option)
        assert done.returncode == 0, done.stderr
        record = json.loads((out / "3" / "record.json").read_text())
        assert (record["sequence"]["place"], len(record["sequence"]["before"])) == (3, 2)
        audited = hotband("audit", str(out), "--media", "7200rpm", "--json")
        rules = {one["rule"] for one in json.loads(audited.stdout)["findings"]}
        assert ("replayed-offsets" in rules) == (name == "repeated"), audited.stdout


def test_fresh_seeds_alone_are_refused(hotband, tmp_path: Path) -> None:
    done = hotband(*arguments(tmp_path)[:4], "--fresh-seeds")
    assert done.returncode == 2
    assert "--then" in done.stderr


def runs_of_flash(hotband, *call: str) -> list[dict[str, Any]]:
    """Records of runs that follow each other."""
    done = hotband("run", *call, "--duration", "0.2 s", "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def held(record: dict[str, Any]) -> tuple[str, int, int]:
    """What the first drive held, and what hosts had written to it when time began and when it ended."""
    smart = record["smart"][0]
    return record["drive_state"]["drives"][0]["holds"], smart["at_begin"]["host_bytes"], smart["at_end"]["host_bytes"]


def test_a_state_is_that_of_drives_before_the_first_run(hotband) -> None:
    call = ("fio-randwrite", "--on", "s4500-960", "--then", "fio-randread", "--set", "scale=512")
    for state in ("preconditioned", "trimmed"):
        first, then = [held(one) for one in runs_of_flash(hotband, *call, "--set", f"state={state}")]
        assert (first[0], then[0]) == (state, "as left")
        assert then[1] == first[2], "nothing was written between them"


def test_a_workload_that_has_drives_written_over_says_so_where_it_follows(hotband, tmp_path: Path) -> None:
    (tmp_path / "over.toml").write_text(READS + "[precondition]\nsequential = 1.0\n")
    call = ("fio-randwrite", "--on", "s4500-960", "--then", str(tmp_path / "over.toml"), "--set", "scale=512")
    first, then = [held(one) for one in runs_of_flash(hotband, *call)]
    assert (first[0], then[0]) == ("preconditioned", "filled")
    assert then[1] - first[2] > 1.8e9


def test_runs_that_follow_have_the_scale_of_the_first(hotband, tmp_path: Path) -> None:
    """Alone one would be whole: drives fail in it, or it says what they hold."""
    (tmp_path / "fails.toml").write_text(READS + '[[events]]\nat = "0.1 s"\nfail = "d0"\n')
    (tmp_path / "over.toml").write_text(READS + "[precondition]\nsequential = 0.001\n")
    fails, over = str(tmp_path / "fails.toml"), str(tmp_path / "over.toml")
    mirror = "raid1:2xs4500-960"
    calls: list[tuple[tuple[str, ...], int]] = [
        (("fio-randwrite", "--on", mirror, "--then", over), 64),
        (("fio-randread", "--on", mirror, "--then", fails), 64),
        (("fio-randread", "--on", mirror, "--then", "fio-randread", "--fail", "d0@0.1 s"), 1),
        ((over, "--on", mirror, "--then", "fio-randread"), 1),
    ]
    for call, scale in sized(calls[::2], calls):
        scales = [one["drive_state"]["drives"][0]["scale"] for one in runs_of_flash(hotband, *call)]
        assert scales == [scale, scale], call
