"""Command lines of DiskSpd, as people post them, as workloads."""

from __future__ import annotations

import pytest
from job_files import Convert, Refused

from hotband.data.inputs.texts import is_command
from hotband.data.jobs.loss import Fate

COMMAND = "diskspd.exe -b8K -d60 -o16 -t4 -r -w25 -Sh -L -c20G C:\\io.dat"


@pytest.mark.parametrize(
    "text",
    [
        COMMAND,
        f"C:\\tools> {COMMAND} > result.txt",
        f"PS C:\\tools>.\\{COMMAND}",
        COMMAND.replace("diskspd.exe", "D:\\amd64\\DiskSpd64.exe"),
        COMMAND.replace("-Sh", "-h"),
        COMMAND.replace(" -", " /"),
        "diskspd -c20G -d60 -w25 -t4 -o16 -b8K -Sh -r io.dat",
    ],
)
def test_a_command_is_a_workload(convert: Convert, text: str) -> None:
    assert is_command(text)
    job = convert(f"{text}\n", "test.cmd")
    assert job.closed() == {"threads": 4, "depth": 16}
    stream = job.stream
    assert (stream["read_pct"], stream["random_pct"], stream["size"]) == (75, 100, "8 KiB")
    assert (stream["range"], stream["fua"]) == (["0 B", "20 GiB"], True)
    assert [phase["duration"] for phase in job.table["phases"]] == ["5 s", "60 s"]


def test_blocks_shares_strides_and_rates(convert: Convert) -> None:
    job = convert("diskspd -s2b -b4K -W0 #1\ndiskspd -rs30 -b16K -g200i -t2 \\\\.\\PhysicalDrive2\n", "test.cmd")
    first, second = job.table["streams"]
    assert (first["offsets"], first["size"], first["read_pct"]) == ({"stride": "8 KiB"}, "4 KiB", 100)
    assert (second["random_pct"], second["random_mode"], second["size"]) == (30, "coin", "16 KiB")
    assert second["load"]["open"] == {"rate_iops": 400, "arrival": "fixed", "outstanding": 4}
    assert job.fate("Throughput")[0] is Fate.KEPT
    slow = convert("diskspd -b512 -g1i io.dat\n", "test.cmd")
    assert slow.table["load"]["open"]["rate_iops"] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("diskspd -b4Q io.dat", "expected a size, such as 4K, 1M or 10G"),
        ("diskspd -k io.dat", "DiskSpd has no such option"),
        ("diskspd -b4K -d10", "names no target"),
    ],
)
def test_a_mistake_in_a_command_is_named(refused: Refused, text: str, words: str) -> None:
    said = refused(f"{text}\n", "test.cmd")
    assert said.startswith("test.cmd: diskspd = ")
    assert words in said
