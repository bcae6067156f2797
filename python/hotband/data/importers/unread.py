"""Output that people have and no importer reads: the tool's name, and how to get a result that is read."""

from __future__ import annotations

import re

_FIO = "fio with --output-format=json measures the same, and hotband reads it"
_RBD = "fio with ioengine=rbd and --output-format=json measures more, and hotband reads it"
_NO_TEST = "it shows a device's load, not a test's: save the result of the tool that ran the test"
_DEVICE = "it describes a device: `hotband measure device FILE` shows what `{}` prints"

_EACH = "blktrace, biosnoop or perf record the I/Os of a device, and hotband reads them"
_TOOLS: tuple[tuple[str, str, str], ...] = (
    ("fio in terse version 2", r"\A2;[^;\n]{1,60};\d+;\d+;\d+;", _FIO),
    ("dd", r"\d bytes.{0,60} copied, [\d.]+ s", f"one stream through the page cache; {_FIO}"),
    ("dd", r"\d bytes transferred in [\d.]+ secs", f"one stream through the page cache; {_FIO}"),
    ("hdparm", r"Timing (buffered disk|cached|O_DIRECT disk) reads:", f"two sequential reads; {_FIO}"),
    ("CrystalDiskMark", r"CrystalDiskMark \d", "it runs DiskSpd: run DiskSpd itself with -L -Rxml"),
    ("ioping", r"ioping statistics|requests completed in .{0,80}iops", f"one I/O at a time; {_FIO}"),
    ("Bonnie++", r"------Sequential (Output|Input)------|^1\.9\d[a-z]?,1\.9\d[a-z]?,", f"file system calls; {_FIO}"),
    ("IOzone", r"Iozone: Performance Test of File I/O", f"file system calls; {_FIO}"),
    ("sysbench fileio", r"^sysbench \d[\s\S]{0,4000}?^File operations:", _FIO),
    ("iostat", r"^avg-cpu:|^Device:?\s.*(tps|r/s)", _NO_TEST),
    ("elbencho", r"^OPERATION +RESULT TYPE +FIRST DONE|\A(?i:ISO date),", _FIO),
    ("kubestr", r"^FIO version - fio-\d", f"it runs fio and rounds its figures; {_FIO}"),
    ("dbench", r"^= Dbench Summary =", f"it runs fio and rounds its figures; {_FIO}"),
    ("yabs.sh", r"^fio Disk Speed Tests \(Mixed", f"it runs fio and rounds its figures; {_FIO}"),
    ("smartctl", r"^smartctl \d[\s\S]{0,400}?^=== START OF", _DEVICE.format("smartctl -j -x")),
    ("nvme", r"^Smart Log for NVME device:|^NVME Identify Controller:", _DEVICE.format("nvme smart-log -o json")),
    ("rados bench", r"^Total time run: [\s\S]{0,300}?^(Bandwidth|Object size)", f"objects of a pool; {_RBD}"),
    ("rbd bench", r"^bench +type (read|write|rw|readwrite) io_size", f"one client of a pool; {_RBD}"),
    ("bpftrace", r"^Attaching \d+ probes?\.\.\.", f"its columns are those of its script; {_EACH}"),
    ("iosnoop", r"^(STARTs +ENDs +)?COMM +PID +TYPE +DEV +BLOCK +BYTES +LATms", _EACH),
    (
        "Process Monitor",
        r"^[^\w\n]*Time of Day[^\w\n]+Process Name\W",
        "calls of files; xperf -a dumper prints I/Os, and hotband reads them",
    ),
    ("vmstat", r"^procs -+memory-+", _NO_TEST),
    ("sar", r"^Linux \d.{0,200}_\w{1,20}_\s{1,8}\(\d+ CPU\)", _NO_TEST),
    (
        "gnuplot",
        r"^[ \t]*set (terminal|output|xlabel|title) ",
        "it draws fio's logs: name those (*_lat.1.log)",
    ),
    ("ATTO", r"ATTO (Disk Benchmark|DiskBenchmark)", "run DiskSpd with -L -Rxml"),
    ("AS SSD", r"AS SSD Benchmark", "run DiskSpd with -L -Rxml"),
    ("KDiskMark", r"KDiskMark \(?\d?", "it runs fio: run fio itself with --output-format=json"),
)
_ARCHIVES = {
    "x\ufffd": "zlib: fio --inflate-log unpacks its logs",
    "PK\x03\x04": "zip",
    "7z\ufffd\ufffd": "7z",
    "\x1f\ufffd": "gzip",
    "BZh": "bzip2",
    "\ufffd7zXZ": "xz",
}
_PATTERNS = [(tool, re.compile(pattern, re.MULTILINE), advice) for tool, pattern, advice in _TOOLS]


def unread(beginning: str) -> str:
    """Return what the beginning of a file is the output of, and what to do; empty for what no pattern fits."""
    archive = next((name for mark, name in _ARCHIVES.items() if beginning.startswith(mark)), None)
    if archive or beginning[257:262] == "ustar":
        return f"is an archive ({archive or 'tar'}), which hotband does not unpack: expected its files"
    known = next(((tool, advice) for tool, pattern, advice in _PATTERNS if pattern.search(beginning)), None)
    if known is None:
        return ""
    tool, advice = known
    return f"is the output of {tool}, which hotband does not read: {advice}"
