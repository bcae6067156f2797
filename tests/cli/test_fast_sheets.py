"""Are the data sheets of drives of every PCIe generation and width accepted as their makers print them?"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import hotband as hb
from hotband import _core
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.questions.datasheet import described, described_text

# Family, port as the sheet calls it, capacity, sequential read and write in MB/s, random reads a second.
SHEETS = [
    ("Samsung 990 PRO", "PCIe Gen 4.0 x4, NVMe 2.0", "2 TB", 7450, 6900, 1_400_000),
    ("WD Black SN850X", "PCIe Gen4 x4", "2 TB", 7300, 6600, 1_200_000),
    ("Seagate FireCuda 530", "PCIe Gen4 x4, NVMe 1.4", "2 TB", 7300, 6900, 1_000_000),
    ("Lexar NM790", "PCIe 4.0 x4", "4 TB", 7400, 6500, 1_000_000),
    ("Crucial T500", "PCIe 4.0 x4", "2 TB", 7400, 7000, 1_180_000),
    ("Lexar NM800 Pro", "4x4", "2 TB", 7500, 6500, 1_000_000),
    ("Solidigm D7-PS1010", "PCIe 5.0 x4", "7.68 TB", 14_500, 10_000, 3_100_000),
    ("Kioxia CM9-R", "PCIe 5.0 x4", "15.36 TB", 14_800, 11_000, 3_400_000),
    ("Samsung 9100 PRO", "PCIe 5.0 x4", "4 TB", 14_800, 13_400, 2_200_000),
    ("WD Black SN8100", "PCIe Gen5 x4", "2 TB", 14_900, 14_000, 2_300_000),
    ("Micron 9650 PRO", "PCIe 6.0 x4", "7.68 TB", 28_000, 14_000, 5_500_000),
    ("Intel 910", "PCIe 2.0 x8", "800 GB", 2_000, 1_000, 180_000),
    ("Fusion-io ioDrive2", "PCIe 2.0 x4", "785 GB", 1_500, 1_100, 141_000),
    ("Intel P3608", "PCIe 3.0 x8", "1.6 TB", 5_000, 2_000, 850_000),
    ("Samsung PM1725b", "PCIe 3.0 x8", "6.4 TB", 6_300, 3_300, 1_000_000),
    ("Liqid LQD4500", "PCIe 4.0 x16", "30 TB", 24_000, 24_000, 4_000_000),
    ("SSD on one lane", "PCIe 3.0 x1", "512 GB", 900, 700, 120_000),
]


def lines_of(port: str, capacity: str, read: float, write: float, reads: int) -> dict[str, str]:
    rates = {"read-bandwidth": f"{read} MB/s", "write-bandwidth": f"{write} MB/s", "read-iops": f"{reads}"}
    return {"pcie": port, "capacity": capacity} | rates


@pytest.mark.parametrize(("family", "port", "capacity", "read", "write", "reads"), SHEETS)
def test_what_makers_print_is_accepted(
    tmp_path: Path, family: str, port: str, capacity: str, read: int, write: int, reads: int
) -> None:
    text = described_text("nvme", lines_of(port, capacity, read, write, reads), title=family, source="its sheet")
    path = tmp_path / "new.toml"
    path.write_text(text, encoding="utf-8")
    assert _core.drive(CATALOG_DIR, str(path))["warnings"] == []


@pytest.mark.parametrize(
    ("port", "most"), [("2x8", 3_818), ("3x4", 3_761), ("4x4", 7_524), ("5x4", 15_048), ("6x4", 28_179)]
)
def test_a_rate_that_no_payload_carries_is_refused(port: str, most: int) -> None:
    described("nvme", lines_of(port, "4 TB", most * 1.005, 1000, 100_000))
    with pytest.raises(UserError) as refused:
        described("nvme", lines_of(port, "4 TB", most * 1.02, 1000, 100_000))
    assert refused.value.where == "question.lines.read_bandwidth"
    assert f"what the port of {port} carries in packets of 512 B" in refused.value.accepted


@pytest.mark.parametrize(("read", "payload"), [(7000, "256 B"), (7450, "512 B")])
def test_packets_are_as_large_as_the_stated_rate_takes(read: int, payload: str) -> None:
    text = described_text("nvme", lines_of("4x4", "2 TB", read, 6900, 1_000_000), title="t", source="its sheet")
    assert tomllib.loads(text)["values"]["pcie_payload"]["value"] == payload


def test_a_port_that_does_not_exist_is_refused_with_the_first_and_the_last() -> None:
    with pytest.raises(UserError) as refused:
        described("nvme", lines_of("7x4", "4 TB", 7000, 1000, 100_000))
    assert str(refused.value) == "question.lines.pcie = '7x4': expected 2x1 to 6x16, such as \"4x4\""


def test_a_drive_of_a_sheet_reads_as_fast_as_the_sheet_says(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    lines = lines_of("4x4", "2 TB", 7450, 6900, 1_400_000)
    path.write_text(described_text("nvme", lines, title="t", source="its sheet"), encoding="utf-8")
    settings = {"qd": 32, "bs": "128 KiB", "scale": 256, "duration": "20 ms", "state": "preconditioned"}
    assert hb.run("fio-read", on=str(path), progress=False, **settings).bandwidth == pytest.approx(7450e6, rel=0.05)
