"""Results of other tools in their own formats, written by hand for the tests: numbers small enough to compute with."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

V1, V1_COMPRESSED = 0x1C849301, 0x1C849302
V2, V2_COMPRESSED = 0x1C849303, 0x1C849304


def counts_of(values: Sequence[int]) -> list[int]:
    """The counts array of an HdrHistogram of 3 digits for values below 2048: one place a value."""
    counts = [0] * (max(values, default=0) + 1)
    for value in values:
        counts[value] += 1
    return counts


def zig_zag(number: int) -> bytes:
    """LEB128 of a count as HdrHistogram V2 has it; runs of zeros are negative counts."""
    left = number << 1 if number >= 0 else ((-number) << 1) - 1
    written = bytearray()
    while left >= 0x80:
        written.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*written, left])


def histogram(values: Sequence[int], version: int = 2, digits: int = 3) -> str:
    """A compressed histogram as a log line has it."""
    counts = counts_of(values)
    if version == 1:
        payload, cookie, outer = struct.pack(f">{len(counts)}q", *counts), V1 | 0x80, V1_COMPRESSED | 0x80
    else:
        payload = b"".join(zig_zag(count) if count else zig_zag(-1) for count in counts)
        cookie, outer = V2 | 0x10, V2_COMPRESSED | 0x10
    header = struct.pack(">IIIIQQd", cookie, len(payload), 0, digits, 1, 3_600_000_000_000, 1.0)
    packed = zlib.compress(header + payload)
    return base64.b64encode(struct.pack(">II", outer, len(packed)) + packed).decode()


def hlog(*lines: str, start: float | None = 1_500_000_000.0) -> bytes:
    head = ["#[Histogram log format version 1.3]"]
    if start is not None:
        head.append(f"#[StartTime: {start:.3f} (seconds since epoch), Fri Jul 14 02:40:00 UTC 2017]")
    head.append('"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"')
    return ("\n".join([*head, *lines]) + "\n").encode()


FLAT = "tod Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max resp_std xfersize "
FLAT += "threads rdpct rhpct whpct seekpct lunsize version compratio dedupratio queue_depth cpu_used"


def flat_row(
    moment: str, run: str, interval: str, rate: float, read_pct: float, read_ms: float, write_ms: float
) -> str:
    mean = (read_pct * read_ms + (100 - read_pct) * write_ms) / 100
    numbers = [999988.0, rate, rate * 8192 / 2**20, 8192, read_pct, mean, read_ms, write_ms, 90.0, 1.0]
    text = " ".join(f"{number:.4f}" for number in numbers)
    return f"{moment} {run} {interval} {text} 8192 8.0000 75.0000 0.0000 0.0000 100.0000 10.0000 n/a n/a n/a 4.0 5.0"


def flatfile(*rows: str) -> str:
    return "\n".join(["<pre>", "* 'flatfile.html' contains Vdbench generated information", FLAT, *rows, ""])


def run_rows(run: str = "rd1", rate: float = 100.0) -> list[str]:
    """Four intervals of a second, the first slower; vdbench averages the last three."""
    rows = [flat_row("10:00:01.000", run, "1", rate / 2, 75.0, 20.0, 1.0)]
    rows += [flat_row(f"10:00:0{n}.000", run, str(n), rate, 75.0, 4.0, 1.0) for n in (2, 3, 4)]
    return [*rows, flat_row("10:00:04.010", run, "avg_2-4", rate, 75.0, 4.0, 1.0)]


SUMMARY = """<pre>
Copyright (c) 2000, 2015, Oracle and/or its affiliates. All rights reserved.
Vdbench summary report, created 10:00:00 Dec 01 2016 PST

<a name="_1"></a><i><b>10:00:00.001 Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=8; For loops: threads=8</b></i>

Dec 01, 2016  interval        i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue  cpu%  cpu%
                             rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth sys+u   sys
10:00:02.067         1      50.00     0.39    8192  75.00   15.250   20.000    1.000   90.000    1.000   1.0   5.9   1.5
10:00:04.018         2     100.00     0.78    8192  75.00    3.250    4.000    1.000   90.000    1.000   0.3  11.6   4.7
10:00:06.018         3     100.00     0.78    8192  75.00    3.250    4.000    1.000   90.000    1.000   0.3  11.6   4.7
10:00:08.018         4     100.00     0.78    8192  75.00    3.250    4.000    1.000   90.000    1.000   0.3  11.6   4.7
10:00:08.100   avg_2-4     100.00     0.78    8192  75.00    3.250    4.000    1.000   90.000    1.000   0.3   3.2   1.8
10:00:09.445 Vdbench execution completed successfully
"""

HISTOGRAM = """<pre>
Total response time histogram.

<a name="_1"></a><i><b>10:00:00.001 Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=8; For loops: threads=8</b></i>

Reads and writes:
  min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

    0.000 <       2.000        1,090  90.0000  90.0000  +++
    2.000 <      10.000          100   9.0000  99.0000  +
   10.000 <         max           10   1.0000 100.0000

Reads:
  min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

    0.000 <       2.000          790  90.0000  90.0000  +++
    2.000 <      10.000          100   9.0000  99.0000  +
   10.000 <         max           10   1.0000 100.0000

Writes:
  min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

    0.000 <       2.000          300 100.0000 100.0000  +++
"""

PARAMETERS = """<pre>
* Contents of parameter file: /tmp/x
sd=sd1,lun=/dev/sdb,openflags=o_direct
wd=wd1,sd=sd1,xfersize=8192,rdpct=75,seekpct=100
rd=rd1,wd=wd1,iorate=max,interval=2,elapsed=8,threads=8
"""


def diskspd(targets: str | None = None, profile: str = "", latency: str | None = None) -> str:
    """DiskSpd's XML: 10 s, 3000 reads of 2 ms and 1000 writes of 4 ms of 4 KiB, on two threads."""
    one = """<Thread><Id>{id}</Id><Target><Path>D:\\t.dat</Path><BytesCount>8192000</BytesCount>
    <FileSize>1048576</FileSize><IOCount>2000</IOCount><ReadBytes>6144000</ReadBytes><ReadCount>1500</ReadCount><WriteBytes>2048000</WriteBytes>
    <WriteCount>500</WriteCount><AverageReadLatencyMilliseconds>2.000</AverageReadLatencyMilliseconds>
    <AverageWriteLatencyMilliseconds>4.000</AverageWriteLatencyMilliseconds></Target></Thread>"""
    buckets = """<Latency><Bucket><Percentile>0</Percentile><ReadMilliseconds>0.500</ReadMilliseconds>
    <WriteMilliseconds>1.000</WriteMilliseconds><TotalMilliseconds>0.500</TotalMilliseconds></Bucket>
    <Bucket><Percentile>50</Percentile><ReadMilliseconds>1.900</ReadMilliseconds>
    <WriteMilliseconds>3.900</WriteMilliseconds><TotalMilliseconds>2.100</TotalMilliseconds></Bucket>
    <Bucket><Percentile>100</Percentile><ReadMilliseconds>9.000</ReadMilliseconds>
    <WriteMilliseconds>8.000</WriteMilliseconds><TotalMilliseconds>9.000</TotalMilliseconds></Bucket></Latency>"""
    threads = targets if targets is not None else one.format(id=0) + one.format(id=1)
    return f"""<Results><System><ComputerName>HOST</ComputerName><Tool><Version>2.0.21a</Version></Tool>
    <RunTime>2021/04/14 23:25:42 UTC</RunTime></System>
    <Profile><TimeSpans><TimeSpan><Duration>10</Duration><Warmup>5</Warmup><ThreadCount>0</ThreadCount>
    <IoBucketDuration>5000</IoBucketDuration><RandSeed>0</RandSeed><Targets><Target><Path>D:\\t.dat</Path>
    <BlockSize>4096</BlockSize><BaseFileOffset>0</BaseFileOffset><DisableOSCache>true</DisableOSCache>
    <FileSize>1048576</FileSize><Random>4096</Random><MaxFileSize>0</MaxFileSize><RequestCount>4</RequestCount>
    <WriteRatio>25</WriteRatio><Throughput>0</Throughput><ThreadsPerFile>2</ThreadsPerFile>{profile}</Target></Targets>
    </TimeSpan></TimeSpans></Profile>
    <TimeSpan><TestTimeSeconds>10.00</TestTimeSeconds>{buckets if latency is None else latency}
    <Iops><Bucket SampleMillisecond="5000" Read="320" Write="110" ReadAvgLatencyMilliseconds="2.100"
    WriteAvgLatencyMilliseconds="4.000"/><Bucket SampleMillisecond="10000" Read="280" Write="90"/></Iops>{threads}
    </TimeSpan></Results>"""


COLUMNS = (
    "'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,"
    "MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal),Read MBps (Decimal),Write MBps (Decimal),"
    "Transactions per Second,Connections per Second,Average Response Time,Average Read Response Time,"
    "Average Write Response Time,Average Transaction Time,Average Connection Time,Maximum Response Time,"
    "Maximum Read Response Time,Maximum Write Response Time,Maximum Transaction Time,Maximum Connection Time,Errors,"
    "Read Errors,Write Errors,Bytes Read,Bytes Written,Read I/Os,Write I/Os,Starting Sector,Maximum Size,Queue Depth,"
    "0 to 50 uS,50 to 100 uS,1 to 2 mS,0.5 to 1 S, >= 10 s"
)


def iometer_row(kind: str, name: str, reads: int, writes: int, *, depth: str = "", seconds: int = 10) -> str:
    values = {
        "Target Type": kind,
        "Target Name": name,
        "Access Specification Name": "4K",
        "# Managers": "1",
        "# Workers": "2",
        "# Disks": "1",
        "IOps": str((reads + writes) / seconds),
        "Read IOps": str(reads / seconds),
        "Write IOps": str(writes / seconds),
        "Average Read Response Time": "1.5" if reads else "0",
        "Average Write Response Time": "2.5" if writes else "0",
        "Maximum Read Response Time": "12000" if reads else "0",
        "Maximum Write Response Time": "30" if writes else "0",
        "Read Errors": "1",
        "Write Errors": "0",
        "Bytes Read": str(reads * 4096),
        "Bytes Written": str(writes * 4096),
        "Read I/Os": str(reads),
        "Write I/Os": str(writes),
        "Starting Sector": "8",
        "Maximum Size": "2048",
        "Queue Depth": depth,
        "50 to 100 uS": str((reads + writes) // 2),
        "1 to 2 mS": str(reads + writes - (reads + writes) // 2 - 1),
        ">= 10 s": "1",
    }
    return ",".join(values.get(column.strip().lstrip("'"), "") for column in COLUMNS.split(","))


def iometer(*rows: str) -> str:
    head = [
        "'Test Type,Test Description",
        "0,",
        "'Version",
        "1.1.0 ",
        "'Time Stamp",
        "2014-12-10 17:15:48:375",
        "'Access specifications",
        "'Access specification name,default assignment",
        "4K,0",
        "'size,% of size,% reads,% random,delay,burst,align,reply",
        "4096,100,75,100,0,1,0,0",
        "'End access specifications",
        "'Results",
        COLUMNS,
    ]
    return "\n".join([*head, *rows, "'Time Stamp", "2014-12-10 17:16:58:375", ""])


def iometer_test(reads: int, writes: int) -> list[str]:
    half = (reads // 2, writes // 2)
    workers = [iometer_row("WORKER", "Worker 1", *half, depth="4"), iometer_row("WORKER", "Worker 1", *half, depth="4")]
    return [iometer_row("ALL", "All", reads, writes), iometer_row("MANAGER", "PC", reads, writes), *workers]


def terse(version: int = 5) -> str:
    """A line of fio's terse output: 100 reads in 10 s."""
    percentiles = [f"{q}.000000%={v}" for q, v in ((50, 90), (99, 190))] + ["0%=0"] * 18
    block = ["400", "40", "10", "10000", *"1233", "5", "200", "100.5", "1", *percentiles, "6", "210", "110.5", "1"]
    block += ["0", "0", "0.000000%", "0.0", "0.0"] + (["0"] * 6 if version == 5 else [])
    idle = (
        ["0"] * 12
        + ["0%=0"] * 20
        + ["0"] * 4
        + ["0", "0", "0.000000%", "0.0", "0.0"]
        + ["0"] * (6 if version == 5 else 0)
    )
    blocks = [*block, *idle, *(idle if version > 3 else [])]
    return ";".join([str(version), "fio-3.33", "tr", "0", "0", *blocks, "1%", "2%", "3", "0", "1"]) + "\n"
