"""Is a drive that is described by lines of its data sheet the drive that the data sheet speaks of?"""

from __future__ import annotations

import re
import shlex
import statistics
import tomllib
from pathlib import Path

import pytest

import hotband as hb
from forms import sized
from hotband import _core
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.faces.commands.epilogs import DRIVES_NEW
from hotband.inference.amplification import uniform
from hotband.questions.datasheet import KINDS, blamed, described, described_text
from hotband.questions.datasheet.assumed import with_class
from hotband.questions.datasheet.flash import over_provisioning_of
from hotband.questions.datasheet.lines import read_lines
from hotband.questions.datasheet.new import prompted

DISKS = ["exos-15e900-512n", "exos-10e2400-512n", "ent-10k", "ent-15k", "ent-cap-2tb", "mg06sca-10tb"]
SSDS = ["s4500-960", "5200-eco-960", "p4510-4tb", "pm9a3-3840", "p5520-3840", "ps1010-7680"]
"""Two of SATA, and of NVMe one of PCIe 3.0, two of 4.0, one of 5.0: those whose sheets state latencies, too."""
SHORT = ["exos-10e2400-512n", "mg06sca-10tb", "s4500-960", "p4510-4tb"]
"""What `make test` tries of both."""
DISK = ["--kind", "hdd", "--capacity", "18 TB", "--rpm", "7200 rpm", "--interface", "sata", "--bandwidth", "270 MB/s"]
NVME = ["--kind", "nvme", "--capacity", "3.84 TB", "--pcie", "4x4", "--read-bandwidth", "6.5 GB/s"]
NVME += ["--write-bandwidth", "3.5 GB/s", "--read-iops", "900000"]
LOADS = [
    (100, 100, "4 KiB", 1),
    (100, 100, "4 KiB", 32),
    (0, 100, "4 KiB", 32),
    (100, 0, "64 KiB", 32),
    (0, 0, "64 KiB", 32),
]
"""Reads and random I/Os in percent, size, depth. Without write cache: whether it is on is a switch of the host's, and
no line of a data sheet."""
LOAD = """
[load]
closed = {{ threads = 1, depth = {depth} }}
[[streams]]
read_pct = {reads}
random_pct = {random}
size = "{size}"
[[phases]]
name = "warm-up"
duration = "{warm_up}"
[[phases]]
name = "measure"
duration = "{measured}"
measure = true
"""
TIMES = {"hdd": ("5 s", "20 s"), "ssd": ("0.2 s", "1 s"), "nvme": ("20 ms", "0.1 s")}
SHORT_TIMES = {"hdd": ("2 s", "10 s"), "ssd": ("0.1 s", "0.4 s"), "nvme": ("10 ms", "40 ms")}
STATED = {"seek": "seek_read_average", "power-idle": "power_idle", "power-active": "power_active"}


def sheet_of(name: str) -> tuple[str, dict[str, str]]:
    """Lines of the data sheet of a drive of the catalog, from its values and references."""
    drive = _core.drive(CATALOG_DIR, name)
    values = {value["key"]: value["value"] for value in drive["values"]}
    if drive["kind"] == "disk":
        interface = {"0.6 GB/s": "sata", "1.2 GB/s": "sas12"}[values["port_rate"]]
        lines = {"capacity": "capacity", "rpm": "rpm", "bandwidth": "sustained_outer", "cache": "cache_size"} | STATED
        return "hdd", {"interface": interface} | {line: values[key] for line, key in lines.items()}
    lines = {
        "read-bandwidth": ["sequential_read"],
        "write-bandwidth": ["sequential_write"],
        "read-iops": ["random_read_qd32", "random_read_qd256", "random_read_qd512"],
        "write-iops": ["random_write_steady", "random_write_qd128"],
        "read-latency": ["latency_read_qd1"],
        "write-latency": ["latency_write_qd1"],
    }
    found = {
        line: [values[f"reference.{key}"] for key in keys if f"reference.{key}" in values]
        for line, keys in lines.items()
    }
    stated = {line: text[0].removesuffix(" IOPS") for line, text in found.items() if text}
    if "pcie_generation" in values:
        return "nvme", {
            "pcie": f"{values['pcie_generation']}x{values['pcie_lanes']}",
            "capacity": values["capacity"],
        } | stated
    return "ssd", {"interface": "sata", "capacity": values["capacity"]} | stated


def errors_of(name: str, folder: Path) -> list[float]:
    """By how much the described drive is off the one of the catalog, as a share, load by load."""
    kind, lines = sheet_of(name)
    path = folder / "described.toml"
    path.write_text(described_text(kind, lines, title=name, source="its data sheet"), encoding="utf-8")
    # A worn-in drive: a new one answers reads of what was never written from memory.
    state = {"wce": "off"} if kind == "hdd" else {"scale": 256, "state": "preconditioned"}
    warm_up, measured = sized(SHORT_TIMES, TIMES)[kind]
    errors = []
    for number, (reads, random, size, depth) in enumerate(LOADS):
        load = folder / f"{number}.toml"
        text = LOAD.format(reads=reads, random=random, size=size, depth=depth, warm_up=warm_up, measured=measured)
        load.write_text(text, encoding="utf-8")
        made, known = (hb.run(str(load), on=on, progress=False, **state) for on in (str(path), name))
        errors.append(made.iops / known.iops - 1.0)
    return errors


@pytest.mark.parametrize(
    "names", [pytest.param(SHORT, id="four"), pytest.param(DISKS + SSDS, id="all twelve", marks=pytest.mark.long)]
)
def test_drives_of_the_catalog_come_out_as_they_were_made_by_hand(names: list[str], tmp_path: Path) -> None:
    errors = {name: errors_of(name, tmp_path) for name in names}
    shares = [abs(error) for of_drive in errors.values() for error in of_drive]
    assert max(shares) <= 0.15, errors
    assert statistics.median(shares) <= 0.08, errors


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_has_a_source_and_every_estimate_a_range(kind: str, tmp_path: Path) -> None:
    lines = {line.key: line.example for line in KINDS[kind].lines}
    path = tmp_path / "x.toml"
    path.write_text(described_text(kind, lines, title='a "b"', source="sheet rev. 3"), encoding="utf-8")
    drive = _core.drive(CATALOG_DIR, str(path))
    assert drive["warnings"] == []
    assert drive["title"] == 'a "b"'
    for value in drive["values"]:
        assert value["source"]
        assert (value["range"] is not None) == value["estimate"]
    rules = (Path(__file__).parents[2] / "docs" / "models" / "data-sheets.md").read_text(encoding="utf-8")
    assert [value.key for value in described(kind, lines) if f"`{value.key}`" not in rules] == []


def test_a_file_is_written_shown_and_run(tmp_path: Path, hotband) -> None:
    made = hotband("drives", "new", "x18", *DISK, "--title", "X18", "--source", "DS1, p. 2")
    assert made.returncode == 0, made.stderr
    table = tomllib.loads((tmp_path / "x18.toml").read_text(encoding="utf-8"))
    assert (table["title"], table["values"]["capacity"]["source"]) == ("X18", "DS1, p. 2")
    assert "hotband drives show ./x18.toml" in made.stderr
    for command in (["drives", "./x18.toml"], ["run", "fio-randread", "--on", "./x18.toml", "--duration", "1 s"]):
        assert hotband(*command).returncode == 0
    again = hotband("drives", "new", "x18", *DISK)
    assert again.returncode == 2
    assert "x18.toml exists" in again.stderr
    assert hotband("drives", "new", "x18", *DISK, "--force").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--kind", "tape"], "--kind = 'tape': expected one of hdd, ssd, nvme, cloud"),
        ([*DISK, "--capcity", "1 TB"], '--capcity: is not a line of this kind of drive; did you mean "capacity"?'),
        ([*DISK, "--mtbf", "2,5 million hours"], "--mtbf = '2,5 million hours': expected a number, such as"),
        ([*DISK, "--seek", "8.5"], "--seek = '8.5': expected a time with its unit"),
        ([*DISK, "--seek", "0.79 ms"], "--seek = '0.79 ms': expected 2 ms to 20 ms: the fastest disks seek in 2.6 ms"),
        ([*DISK, "--seek", "9 ms", "--seek-write", "8 ms"], "--seek-write = '8 ms': expected at least the average"),
        ([*DISK, "--seek", "7.9 s"], "--seek = '7.9 s': expected 2 ms to 20 ms"),
        ([*DISK, "--cache", "512 GB"], "--cache = '512 GB': expected 150 kB to 2 GB"),
        (
            [*DISK, "--read-iops-qd1", "230"],
            "--read-iops-qd1 = '230': impossible: half a revolution alone takes 4.167 ms",
        ),
        (
            [*DISK, "--seek", "7.9 ms", "--read-iops-qd1", "400"],
            "--read-iops-qd1 = '400': contradicts --seek 7.9 ms, which with half a revolution of 4.167 ms gives 82",
        ),
        ([*DISK, "--read-iops-qd1", "fast"], "--read-iops-qd1 = 'fast': expected a number, such as \"80\""),
        ([*DISK, "--heads", "2.5"], "--heads = '2.5': expected a whole number"),
        ([*DISK, "--rpm", "7200 rpm"], "--rpm: is given twice"),
        ([*DISK, "--cache"], "--cache: expected a value after it"),
        ([*DISK, "cache"], 'expected one name, then lines of the data sheet, such as --capacity "16 TB"'),
        ([*DISK[:-1], "700 MB/s"], "--bandwidth = '700 MB/s': expected 3 MB/s to 600 MB/s"),
        (
            [*DISK[:-1], "298 Mb/s"],
            "--bandwidth = '298 Mb/s': is too low for --capacity 18 TB: reading the whole disk would take 134",
        ),
        ([*DISK[:3], "24 MB", *DISK[4:]], "--capacity = '24 MB': expected 1 GB to 100 TB"),
        ([*DISK[:5], "72000rpm", *DISK[6:]], "--rpm = '72000rpm': expected 3600 rpm to 16000 rpm"),
        (
            [*DISK[:7], "SATA 9 Gb/s", *DISK[8:]],
            "--interface = 'SATA 9 Gb/s': expected sata to ata100, such as",
        ),
        ([*NVME, "--read-latency", "75 ms"], "--read-latency = '75 ms': expected 3 us to 1 ms"),
        ([*NVME, "--write-latency", "20 s"], "--write-latency = '20 s': expected 3 us to 5 ms"),
        ([*NVME, "--write-iops", "20"], "--write-iops = '20': expected 500 to 20,000,000: "),
        ([*DISK, "--mtbf", "2500000"], "--mtbf = '2500000': expected hours, such as \"2000000 h\""),
        ([*DISK, "--mtbf", "2.5 h"], "--mtbf = '2.5 h': expected 50,000 h to 20,000,000 h"),
        ([*DISK, "--error-rate", "1e-15"], "--error-rate = '1e-15': expected "),
        ([*DISK, "--error-rate", "10^15"], "--error-rate = '10^15': expected a number, such as \"1e15\""),
        ([*NVME, "--dwpd", "300"], "--dwpd = '300': expected 0.02 to 100"),
        ([*DISK, "--power-idle", "9 W", "--power-active", "5 W"], "--power-active = '5 W': expected at least"),
    ],
)
def test_a_mistake_names_the_line_and_what_is_accepted(
    tmp_path: Path, hotband, arguments: list[str], error: str
) -> None:
    done = hotband("drives", "new", "mine", *arguments)
    assert done.returncode == 2
    assert error in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "error"), [("s4500-960", "is a drive of the catalog"), ("a b", "expected letters")])
def test_a_name_that_cannot_be_is_refused(hotband, name: str, error: str) -> None:
    done = hotband("drives", "new", name, *DISK)
    assert done.returncode == 2
    assert error in done.stderr


def test_what_contradicts_itself_on_the_sheet_of_a_solid_state_drive_is_refused() -> None:
    lines = {line.key: line.example for line in KINDS["nvme"].lines}
    cases = [
        ("read-bandwidth", "9 GB/s", "at most 7.524 GB/s, what the port of 4x4 carries"),
        ("write-bandwidth", "9000MB/s", "at most 7.524 GB/s, what the port of 4x4 carries"),
        ("read-iops", "3000000", "12.29 GB/s in reads of 4 KiB, more than 7.524 GB/s, what the port"),
        ("read-iops", "150000", "614.4 MB/s in reads of 4 KiB, more than 550 MB/s, question.lines.read_bandwidth"),
        ("read-iops", "5000", "contradicts question.lines.read_latency: one at a time already gives 9,091"),
        ("write-iops", "900000", "more than 520 MB/s, question.lines.write_bandwidth_after_cache"),
        ("read-latency", "20 us", "less than flash, channel and link"),
    ]
    for line, value, accepted in cases:
        with pytest.raises(UserError) as refused:
            described("nvme", lines | {line: value})
        assert (refused.value.where, refused.value.value) == (f"question.lines.{line.replace('-', '_')}", value)
        assert accepted in refused.value.accepted


@pytest.mark.parametrize(
    ("kind", "line", "said", "meant"),
    [
        ("hdd", "interface", "SATA", "sata"),
        ("hdd", "interface", "SATA 6 Gb/s", "sata"),
        ("hdd", "interface", "SAS 12Gb/s", "sas12"),
        ("hdd", "interface", "SATA 3 Gb/s", "sata300"),
        ("hdd", "interface", "FC-AL 4 Gb/s", "fc4"),
        ("hdd", "interface", "Ultra320 SCSI", "ultra320"),
        ("hdd", "interface", "Fast SCSI-2", "scsi-fast"),
        ("hdd", "interface", "ATA-133", "ata133"),
        ("nvme", "flash", "3D NAND TLC", "TLC"),
        ("nvme", "flash", "3D XPoint", "XPoint"),
        ("hdd", "rpm", "7200", "7200 rpm"),
        ("hdd", "rpm", "7,200 RPM", "7200 rpm"),
        ("nvme", "pcie", "PCIe 4.0 x4", "4x4"),
        ("nvme", "pcie", "Gen4 x4", "4x4"),
    ],
)
def test_what_sheets_call_it_is_taken_as_what_it_plainly_means(kind: str, line: str, said: str, meant: str) -> None:
    lines = {line.key: line.example for line in KINDS[kind].lines}
    known = KINDS[kind].lines
    assert read_lines(known, lines | {line: said}) == read_lines(known, lines | {line: meant})


def test_the_lanes_of_a_port_are_in_the_file_and_limit_what_is_put_in_later(tmp_path: Path) -> None:
    lines = {line.key: line.example for line in KINDS["nvme"].lines}
    text = described_text("nvme", lines, title="t", source="its data sheet")
    values = tomllib.loads(text)["values"]
    assert (values["pcie_generation"]["value"], values["pcie_lanes"]["value"]) == (4, 4)
    path = tmp_path / "t.toml"
    path.write_text(text.replace('[values.link_rate]\nvalue = "550 MB/s"', '[values.link_rate]\nvalue = "9 GB/s"'))
    with pytest.raises(_core.SpecError, match=r"rate above the port's: .* what PCI Express 4\.0 x4 carries"):
        _core.drive(CATALOG_DIR, str(path))


def test_what_only_the_file_shows_is_blamed_on_the_line_it_follows_from() -> None:
    error = _core.SpecError("t.toml:70", "values.seek_read_full", "14.85 s", "expected at most 1 s")
    assert str(blamed(error, {"seek": "7.9 s"})).startswith(
        "question.lines.seek = '7.9 s': expected at most 1 s (seek_read_full"
    )
    assert (
        str(blamed(error, {}))
        == "data sheet: does not describe a possible drive: seek_read_full = '14.85 s': expected at most 1 s"
    )


def test_help_lists_every_line_of_every_kind(hotband) -> None:
    shown = hotband("drives", "new", "--help").stdout
    for kind in KINDS.values():
        for line in kind.lines:
            assert f"--{line.key} " in shown
    assert max(len(line) for line in DRIVES_NEW.splitlines()) <= 78


@pytest.mark.long
def test_flash_is_tried_worn_in(tmp_path: Path, hotband) -> None:
    made = hotband("drives", "new", "n", *NVME)
    command = made.stderr.partition("run it: hotband ")[2].strip()
    assert "--set state=preconditioned" in command
    done = hotband(*shlex.split(command))
    assert done.returncode == 0, done.stderr


def test_deep_reads_queue_on_the_cores_of_the_controller(tmp_path: Path) -> None:
    """The rate hardly falls and the slowest hundredth waits longer: measured drives have 1.1 to 3.6 times the mean."""
    sheet = {"pcie": "3x4", "capacity": "2 TB", "read-bandwidth": "3.2 GB/s", "write-bandwidth": "2 GB/s"}
    path = tmp_path / "n.toml"
    text = described_text("nvme", sheet | {"read-iops": "400000", "write-iops": "60000"}, title="n", source="a test")
    (cores,) = re.findall(r"\[values\.controller_cores\]\nvalue = (.*)\n", text)
    tails, rates = {}, {}
    for count in (cores, "1"):
        path.write_text(
            text.replace(f"[values.controller_cores]\nvalue = {cores}", f"[values.controller_cores]\nvalue = {count}")
        )
        run = hb.run("randread", on=path, set={"qd": 256}, duration="200 ms", precision="off")
        tails[count], rates[count] = run.p99 / run.mean, run.iops
    assert cores == "4"
    assert rates["4"] == pytest.approx(rates["1"], rel=0.05)
    assert tails["1"] < 1.5 < tails["4"] < 3.6


@pytest.mark.parametrize(("memory", "order", "least"), [("16 MB", "clook", 150), ("64 MB", "positioning", 500)])
def test_old_disks_write_their_cache_in_order_of_address(tmp_path: Path, memory: str, order: str, least: int) -> None:
    """Disks of 2009 write 150 to 240 times a second within 1 GiB, those of 2014 and later 600 and more."""
    sheet = {"class": "desktop", "capacity": "500 GB", "rpm": "7200", "interface": "sata", "cache": memory}
    path = tmp_path / "d.toml"
    path.write_text(described_text("hdd", sheet, title="d", source="a test"))
    assert tomllib.loads(path.read_text())["values"]["destage_order"]["value"] == order
    run = hb.run("randwrite", on=path, set={"qd": 1, "size": "1 GiB"}, duration="20 s", precision="off")
    assert least <= run.iops <= 1.6 * least


def test_over_provisioning_is_found_from_write_amplification() -> None:
    """physics.md: 28 % gives 2.6 or so; the way there and back agrees."""
    for share in (0.07, 0.28, 0.5):
        assert over_provisioning_of(uniform(share)) == pytest.approx(share, rel=1e-3)


def test_the_most_telling_lines_are_asked_for_on_a_terminal() -> None:
    answers = {"Capacity": ["16", "16 TB"], "Speed": ["7200 rpm"], "Interface": ["sata"], "Sustained": ["261 MB/s"]}
    said: list[str] = []
    questions: list[str] = []

    def prompt(question: str) -> str:
        questions.append(question)
        replies = next((replies for key, replies in answers.items() if question.startswith(key)), [])
        return replies.pop(0) if replies else ""

    asked = prompted(KINDS["hdd"], prompt, said.append)
    assert asked == {"capacity": "16 TB", "rpm": "7200 rpm", "interface": "sata", "bandwidth": "261 MB/s"}
    assert len(questions) == 11, "ten, one of them twice"
    assert len(said) == 1


@pytest.mark.parametrize(
    ("drive_class", "wanted", "left_out"),
    [
        ("consumer", "SLC cache", "steady state"),
        ("enterprise", "steady state", "SLC cache"),
        ("", "SLC cache", "years"),
    ],
)
def test_the_class_decides_what_else_is_asked_for(drive_class: str, wanted: str, left_out: str) -> None:
    questions: list[str] = []

    def prompt(question: str) -> str:
        questions.append(question)
        return drive_class if question.startswith("Class") else ""

    assert prompted(KINDS["nvme"], prompt, print) == ({"class": drive_class} if drive_class else {})
    assert len(questions) == 12
    assert any(wanted in question for question in questions)
    assert not any(f"{left_out} (" in question or f", {left_out}" in question for question in questions)


def test_what_is_assumed_is_said_the_most_telling_first(hotband) -> None:
    made = hotband("drives", "new", "q", "--kind", "nvme", "--class", "consumer", "--flash", "QLC")
    assert made.returncode == 0, made.stderr
    lines = made.stderr.splitlines()
    assert lines[1:7] == [
        "not stated, so assumed:",
        "  pcie                         4x4: usual for its class and year",
        "  dram                         full",
        "  power-loss-protection        off: not promised by the data sheet, so assumed to be absent",
        "  slc-cache                    200 GB (50 GB to 333 GB): typical of consumer drives with QLC",
        "  write-bandwidth-after-cache  177 MB/s (59 MB/s to 530 MB/s): 30 measured families",
    ]


def test_a_burst_rating_is_never_taken_for_a_steady_one() -> None:
    """The sheet of HP's FX700: 47 % over-provisioning, where QLC drives write 130 MB/s after their cache."""
    sheet = {"capacity": "2 TB", "pcie": "4x4", "read-bandwidth": "7.2 GB/s", "write-bandwidth": "6.2 GB/s"}
    with pytest.raises(UserError) as refused:
        described("nvme", sheet | {"write-iops": "850000", "dwpd": "0.3"})
    assert str(refused.value) == (
        "question.lines.write_iops = '850000': implies over-provisioning of 47% with question.lines.write_bandwidth "
        "6.2 GB/s; expected at most 30% at 0.3 drive writes per day; if the sheet states it of a new drive or of the "
        "SLC cache, give question.lines.write_iops_burst in its place"
    )
    burst = {"flash": "QLC", "class": "consumer", "write-iops-burst": "850000"}
    values = {value.key: value for value in described("nvme", sheet | burst)}
    assert (values["program_rate"].value, values["pslc_program_rate"].value) == ("161.6 MB/s", "6.2 GB/s")
    assert (values["write_interval"].value, values["write_interval"].given) == ("1.176 us", True)


def test_a_volume_is_made_in_one_line(tmp_path: Path, hotband) -> None:
    words = ("--kind", "cloud", "--iops", "16000", "--throughput", "250 MB/s", "--latency", "1 ms")
    assert hotband("drives", "new", "gp3", *words).returncode == 0
    volume = str(tmp_path / "gp3.toml")
    runs = {depth: hb.run("fio-randread", on=volume, progress=False, qd=depth, duration="2 s") for depth in (1, 64)}
    assert runs[1].iops == pytest.approx(1000, rel=0.03)
    assert runs[64].iops == pytest.approx(16_000, rel=0.01)
    large = hb.run("fio-read", on=volume, progress=False, qd=32, bs="1 MiB", duration="2 s")
    assert large.bandwidth == pytest.approx(250e6, rel=0.02)
    missing = hotband("drives", "new", "gp2", "--kind", "cloud", "--iops", "16000")
    assert (missing.returncode, missing.stderr) == (
        2,
        'hotband: error: --throughput: missing: Throughput, such as "250 MB/s"\n',
    )


@pytest.mark.parametrize("lines", [DISK, NVME])
def test_mtbf_and_error_rate_of_the_sheet_are_what_reliability_asks(hotband, lines: list[str]) -> None:
    for name, more in (("plain", []), ("known", ["--mtbf", "2.5 million hours", "--error-rate", "1e15"])):
        made = hotband("drives", "new", name, *lines, *more, "--source", "a sheet")
        assert made.returncode == 0, made.stderr
    plain = hotband("reliability", "raid5:4x./plain.toml")
    assert plain.returncode == 2
    assert "--mtbf" in plain.stderr
    said = hotband("reliability", "raid5:4x./known.toml", "--details")
    assert said.returncode == 0, said.stderr
    assert "MTBF 2,500,000 h" in said.stdout
    assert "one sector error in 1e+15 bits" in said.stdout


@pytest.mark.parametrize(("dwpd", "expected"), [("0.3", "consumer"), ("0.5", "enterprise"), ("1", "enterprise")])
def test_a_consumer_warranty_is_no_sign_of_an_enterprise_drive(dwpd: str, expected: str) -> None:
    assert with_class("nvme", {"pcie": "4x4", "dwpd": float(dwpd)})[1]["class"].value == expected
