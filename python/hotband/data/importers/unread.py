"""Output that people have and no importer reads: the tool's name, and how to get a result that is read."""

from __future__ import annotations

import re

_FIO = "fio with --output-format=json measures the same, and hotband reads it"
_RBD = "fio with ioengine=rbd and --output-format=json measures more, and hotband reads it"
_SPDK = "the maximum of a drive without the kernel"
_DATABASE = "transactions of a database: trace its I/Os with blktrace, biosnoop or perf, and hotband reads them"
_NO_TEST = "it shows a device's load, not a test's: save the result of the tool that ran the test"
_DEVICE = "it describes a device: `hotband measure device FILE` shows what `{}` prints"

_EACH = "blktrace, biosnoop or perf record the I/Os of a device, and hotband reads them"
_TOOLS: tuple[tuple[str, str, str], ...] = (
    ("fio in terse version 2", r"\A2;[^;\n]{1,60};\d+;\d+;\d+;", _FIO),
    ("dd", r"\d bytes.{0,60} copied, [\d.]+ s", f"one stream through the page cache; {_FIO}"),
    ("dd", r"\d bytes transferred in [\d.]+ secs", f"one stream through the page cache; {_FIO}"),
    ("dd", r"^\d+\+\d+ [^\d\n]{3,40}\n\d+\+\d+ [^\d\n]{3,40}\n\d+ \S", f"one stream through the page cache; {_FIO}"),
    ("hdparm", r"Timing (buffered disk|cached|O_DIRECT disk) reads:", f"two sequential reads; {_FIO}"),
    (
        "CrystalDiskMark",
        r"CrystalDiskMark \d|^ *(SEQ|RND) +\d+[KM]iB \(Q= *\d+, T= *\d+\):",
        "it runs DiskSpd: run DiskSpd itself with -L -Rxml",
    ),
    (
        "ioping",
        r"ioping statistics|requests completed in .{0,80}iops|<<< .{1,80}: request=\d+ time=",
        f"one I/O at a time; {_FIO}",
    ),
    (
        "Bonnie++",
        r"------Sequential (Output|Input)------|^(1\.9|2\.)\d\d?[a-z]?,(1\.9|2\.)\d\d?[a-z]?,",
        f"file system calls; {_FIO}",
    ),
    (
        "IOzone",
        r"Iozone: Performance Test of File I/O|Children see throughput for +\d+ |^\"(Writer|Reader) report\"",
        f"file system calls; {_FIO}",
    ),
    (
        "sysbench fileio",
        r"\A(?:.{0,200}\n){0,9}?sysbench \d[\s\S]{0,4000}?^(File operations:|Operations performed: +\d+ Read)",
        _FIO,
    ),
    ("sysbench", r"^SQL statistics:", _DATABASE),
    ("pgbench", r"^pgbench \(|^transaction type: .*(TPC-B|\.sql)", _DATABASE),
    (
        "pg_test_fsync",
        r"^Compare file sync methods using ",
        "fio with fdatasync=1 measures the same, and hotband reads it",
    ),
    ("iostat", r"^avg-cpu:|^Device:?\s.*(tps|r/s)", _NO_TEST),
    ("elbencho", r"^OPERATION +RESULT TYPE +FIRST DONE|\A\W{0,3}(?i:ISO date)\W", _FIO),
    ("IOR", r"^IOR-\d\S*: MPI Coordinated Test", f"file system calls; {_FIO}"),
    ("mdtest", r"^mdtest-\d\S* was launched with", f"file system calls; {_FIO}"),
    ("Filebench", r"^Filebench Version|IO Summary: +\d+ ops", f"file system calls; {_FIO}"),
    ("fs_mark", r"^# +\S*fs_mark ", f"file system calls; {_FIO}"),
    ("dbench", r"^dbench version \d", f"file system calls; {_FIO}"),
    ("SPDK's perf or bdevperf", r"^Device Information +: +(runtime\(s\) +)?IOPS +MiB/s", f"{_SPDK}; {_FIO}"),
    ("COSBench", r"\AStage,Op-Name,Op-Type,", f"objects of a store; {_FIO}"),
    ("warp", r"^Operation: \w+(, \d+%)?, Concurrency: \d+", f"objects of a store; {_FIO}"),
    ("HD Tune", r"^HD Tune (Pro)?", f"one I/O at a time; {_FIO}"),
    (
        "DiskSpd without its settings",
        r"^thread \| +bytes +\| +I/Os +\|",
        "its whole output, from the line 'Input parameters:', is read",
    ),
    ("winsat", r"^Windows System Assessment Tool", "run DiskSpd with -L -Rxml"),
    (
        "fio",
        r"\AJobs: \d+ \(f=\d+\): ",
        "these are its lines of progress, and the result follows them",
    ),
    ("kubestr", r"^FIO version - fio-\d", f"it runs fio and rounds its figures; {_FIO}"),
    ("dbench", r"^= Dbench Summary =", f"it runs fio and rounds its figures; {_FIO}"),
    ("yabs.sh", r"^fio Disk Speed Tests \(Mixed", f"it runs fio and rounds its figures; {_FIO}"),
    (
        "smartctl",
        r"^smartctl \d[\s\S]{0,400}?^=== START OF|\"smartctl\"\s*:\s*\{"
        r"|\A\s*\{\s*\"device\"\s*:\s*\{[^{}]{0,400}\"protocol\"\s*:",
        _DEVICE.format("smartctl -j -x"),
    ),
    (
        "nvme",
        r"^Smart Log for NVME device:|^NVME Identify Controller:|^Node +(Generic +)?SN +Model ",
        _DEVICE.format("nvme list -o json"),
    ),
    (
        "nvme",
        r"\A\{\s*\"Devices\"\s*:\s*\[|\A\{[\s\S]{0,2000}?\"(data_units_written|tnvmcap)\"\s*:",
        _DEVICE.format("nvme smart-log -o json"),
    ),
    ("lsblk", r"\A\{\s*\"blockdevices\"\s*:", "it lists devices, as `hotband measure device` does"),
    (
        "rados bench",
        r"^Total time run: [\s\S]{0,300}?^(Bandwidth|Object size)|^Maintaining \d+ concurrent ",
        f"objects of a pool; {_RBD}",
    ),
    ("rados bench", r"\"Total (writes|reads) made\":", f"objects of a pool; {_RBD}"),
    (
        "rbd bench",
        r"^bench-write +io_size|^bench +type (read|write|rw|readwrite) io_size",
        f"one client of a pool; {_RBD}",
    ),
    (
        "bpftrace",
        r"^Attach(ing|ed) \d+ probes?|^@\w*(\[[^\]\n]*\])?: *\n\[\d",
        f"its columns are those of its script; {_EACH}",
    ),
    ("iosnoop", r"^(STARTs +ENDs +)?COMM +PID +TYPE +DEV +BLOCK +BYTES +LATms|^ *UID +PID D +BLOCK +SIZE", _EACH),
    (
        "biolatency or bitesize",
        r"^ +(nsecs|usecs|msecs|Kbytes) +: count +distribution",
        f"it counts, without the I/Os; {_EACH}",
    ),
    ("btt", r"^=+ All Devices =+$", "hotband reads the output of blkparse for the same trace"),
    ("blktrace", r"\A\x07tae", "hotband reads the output of blkparse -i NAME"),
    (
        "FIU's tracer",
        r"\A\d+ \d+ \S+ \d+ \d+ [RW] \d+ \d+ [0-9a-f]{32}$",
        "for traces, set columns time=1:ns,op=6,offset=4:sectors,size=5:sectors",
    ),
    ("perf trace", r"block:block_rq_issue\(dev: ", "perf script prints the same events, and hotband reads them"),
    ("LTTng", r"block_rq_issue: \{ ", f"its text differs by its version; {_EACH}"),
    ("strace", r"^(\[pid +\d+\] +)?(\d+ +)?p?(read|write)(64|v)?\(\d+, ", f"calls of a program; {_EACH}"),
    (
        "vscsiStats",
        r"^Histogram: .{1,60},virtual machine worldGroupID",
        "it counts, without the I/Os: vscsiStats -t traces them",
    ),
    (
        "Windows Performance Analyzer",
        r"\ALine #,.*(IO Init Time|Init Time|Disk Service Time)",
        "xperf -a dumper prints I/Os, and hotband reads them",
    ),
    ("typeperf or Performance Monitor", r"\A\W{0,3}\(PDH-CSV ", _NO_TEST),
    ("zpool iostat", r"^ +capacity +operations +bandwidth", _NO_TEST),
    ("iotop", r"^Total DISK READ *:", _NO_TEST),
    ("dstat", r"\A\W?Dstat \d", _NO_TEST),
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
    ("ATTO", r"ATTO (Disk Benchmark|DiskBenchmark)|<AttoDiskBenchmark", "run DiskSpd with -L -Rxml"),
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
    "(\ufffd/\ufffd": "zstd",
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


def text_about_a_device(beginning: str) -> str | None:
    """Return the tool that printed a text about a device of which it also prints JSON; None for any other text."""
    tools = (tool for tool, pattern, _ in _PATTERNS if tool in ("smartctl", "nvme") and pattern.search(beginning))
    return next(tools, None)
