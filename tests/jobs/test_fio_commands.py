"""Command lines of fio, as people post them, as workloads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from job_files import Convert, Refused

from hotband.data.inputs.texts import is_command, text_of
from hotband.data.jobs.fio_command import job_file_text

COMMAND = "fio --name=a --filename=/dev/nvme0n1 --rw=randread --bs=4k --iodepth=32 --ioengine=libaio --direct=1"
SECTION = "[a]\nfilename=/dev/nvme0n1\nrw=randread\nbs=4k\niodepth=32\nioengine=libaio\ndirect=1\n"


@pytest.mark.parametrize(
    "text",
    [
        COMMAND,
        f"$ {COMMAND}",
        f"root@pve1:~# {COMMAND}",
        f"[root@host ~]# {COMMAND}",
        f"sudo {COMMAND}",
        f"sudo -u root {COMMAND} 2>&1 | tee out.txt",
        f"cd /mnt && sync; time {COMMAND} > out.txt",
        f"taskset -c 0-3 {COMMAND} --output-format=json --output=x.json --eta=never --minimal",
        f"LD_PRELOAD=/x.so /usr/local/bin/{COMMAND}",
        COMMAND.replace(" --", " \\\n    --"),
        COMMAND.replace(" --", " \\\n> --"),
        COMMAND.replace(" --", " ^\r\n--").replace("fio", "fio.exe", 1),
        COMMAND.replace(" --", " `\r\n  --"),
        COMMAND.replace(" --", " -").replace("=", " "),
        COMMAND.replace("=randread", "='randread'"),
    ],
)
def test_what_stands_around_a_command_is_dropped(text: str) -> None:
    assert is_command(text)
    assert job_file_text(text) == SECTION


def test_options_before_a_name_are_of_all_jobs_and_each_name_begins_one() -> None:
    text = job_file_text("fio --direct=1 --time_based --runtime 5 --name=a --rw=read --name=b --rw=write")
    shared = "direct=1\ntime_based\nruntime=5\n"
    assert text == f"[a]\n{shared}rw=read\n[b]\n{shared}rw=write\n"


def test_commands_of_a_script_run_one_after_the_other(convert: Convert) -> None:
    script = f"#!/bin/sh\n# {COMMAND} --bs=1m\nmount /dev/x /mnt\n{COMMAND}\n{COMMAND.replace('randread', 'write')}\n"
    job = convert(script, "test.sh")
    assert [phase["streams"] for phase in job.table["phases"]] == [["a"], ["a 2"]]
    assert [stream["read_pct"] for stream in job.table["streams"]] == [100, 0]


@pytest.mark.parametrize("between", ["; ", " && ", " > a.json; sleep 5; sudo "])
def test_commands_of_one_line_run_one_after_the_other(convert: Convert, between: str) -> None:
    job = convert(f"{COMMAND}{between}{COMMAND.replace('randread', 'write')}\n", "test.sh")
    assert [phase["streams"] for phase in job.table["phases"]] == [["a"], ["a 2"]]


def test_a_job_file_with_options_left_to_the_command(convert: Convert, tmp_path: Path) -> None:
    (tmp_path / "bench.fio").write_text("[global]\nbs=8k\n[a]\nrw=randread\n")
    job = convert("fio bench.fio --filename=/dev/sdx --size=30G --direct=1\n", "run.sh")
    assert (job.stream["size"], job.stream["range"]) == ("8 KiB", ["0 B", "30 GiB"])


def test_a_variable_of_the_shell_is_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BS", "16k")
    assert 'size = "16 KiB"' in (text_of("fio --name=a --bs=$BS --filename=$DEV --rw=read", "workload") or "")


@pytest.mark.parametrize("text", ["fio-randread", "fio", "fio and then", "./fio-results", "grep fio --name=a x", ""])
def test_what_is_no_command(text: str) -> None:
    assert not is_command(text) or job_file_text(text) is None


def test_a_mistake_in_a_command_is_named(refused: Refused, hotband: Callable[..., CompletedProcess[str]]) -> None:
    assert refused(COMMAND.replace("randread", "randraed"), "cmd.sh").startswith(
        "cmd.sh:3: rw = 'randraed': did you mean \"randread\"? "
    )
    answer = hotband("run", COMMAND.replace("bs=4k", "bs=4q"), "--on", "ent-10k")
    assert answer.returncode == 2
    assert answer.stderr.startswith("hotband: error: fio:4: bs = '4q': expected a size, such as 4k, 64k or 1g")


def test_a_command_runs(hotband: Callable[..., CompletedProcess[str]]) -> None:
    answer = hotband("run", f"{COMMAND} --size=1g", "--on", "ent-10k", "--duration", "0.2 s")
    assert answer.returncode == 0, answer.stderr
    assert "IOPS" in answer.stdout.splitlines()[0]
