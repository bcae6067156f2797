"""What people paste: fio's normal output, DiskSpd's text, and output of tools that no importer reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from hotband.base.errors import UserError
from hotband.data.importers import load
from hotband.data.importers.unread import unread
from hotband.inference.audit.load import load_results
from hotband.inference.audit.rules import findings

NEW = """rand: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4
...
fio-3.33
Starting 2 processes
Jobs: 2 (f=2): [m(2)][100.0%][r=9485KiB/s,w=9966KiB/s][eta 00m:00s]
rand: (groupid=0, jobs=2): err= 0: pid=13758: Sun Nov 29 00:57:35 2026
  read: IOPS=2371, BW=9485KiB/s (9713kB/s)(18.6MiB/2004msec)
    slat (nsec): min=1864, max=11140k, avg=3380.87, stdev=936516.07
    clat (usec): min=4, max=32574, avg=1489.00, stdev=2737.06
     lat (usec): min=13, max=32579, avg=1492.38, stdev=3078.84
    clat percentiles (usec):
     |  1.00th=[   14], 50.00th=[  202], 99.00th=[13829],
     | 99.90th=[23987], 99.99th=[32637]
   bw (  KiB/s): min= 5361, max=18336, per=100.00%, avg=10859.00, stdev=3050.63, samples=6
   iops        : min= 1340, max= 4584, avg=2714.67, stdev=762.70, samples=6
  write: IOPS=2491, BW=9966KiB/s (10.2MB/s)(19.5MiB/2004msec); 0 zone resets
    clat (usec): min=10, max=30822, avg=1306.36, stdev=2840.74
     lat (usec): min=13, max=30827, avg=1328.67, stdev=2850.30
    clat percentiles (usec):
     | 50.00th=[  221], 99.00th=[14615], 99.90th=[22938]
  lat (usec)   : 10=0.01%, 500=97.00%, 1000=1.94%
  lat (msec)   : 50=1.05%
  cpu          : usr=0.92%, sys=7.92%, ctx=4799, majf=0, minf=28
     issued rwts: total=4752,4993,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=9485KiB/s (9713kB/s), 9485KiB/s-9485KiB/s (9713kB/s-9713kB/s), io=18.6MiB (19.5MB), run=2004-2004msec
"""
OLD = """w: (g=0): rw=randwrite, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=32
fio-2.1.11
w: (groupid=0, jobs=1): err= 5 (file:io_u.c:1, func=io_u error): pid=1: Mon Jun  1 10:00:00 2015
  write: io=4096.0MB, bw=27343KB/s, iops=6835, runt=153399msec
    clat (msec): min=1, max=512, avg= 4.67, stdev=11.00
     lat (msec): min=1, max=512, avg= 4.68, stdev=11.00
    clat percentiles (msec):
     |  1.00th=[    3],  5.00th=[    5], 50.00th=[    4], 99.00th=[   60],
     | 99.90th=[  120]
    lat (msec) : 2=0.10%, 4=2.00%, 10=97.00%
    lat (msec) : 100=0.90%
  cpu          : usr=1.26%, sys=3.94%, ctx=900000, majf=0, minf=30
     issued    : total=r=0/w=1048576/d=0, short=r=0/w=0/d=0
"""
DISKSPD = """Command Line: diskspd.exe -b8K -d10 -o4 -t2 -r -w25 -Sh -L c:\\x.dat

Input parameters:

\ttimespan:   1
\t-------------
\tduration: 10s
\twarm up time: 5s
\trandom seed: 0
\tpath: 'c:\\x.dat'
\t\tthink time: 0ms
\t\tsoftware cache disabled
\t\tperforming mix test (read/write ratio: 75/25)
\t\tblock size: 8KiB
\t\tusing random I/O (alignment: 8KiB)
\t\tnumber of outstanding I/O operations per thread: 4
\t\tthreads per file: 2

Results for timespan 1:
*******************************************************************************

actual test time:\t10.00s

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
     0 |        32768000 |         4000 |       3.13 |     400.00 |   10.000 |     1.051 | c:\\x.dat (10GiB)
     1 |        32768000 |         4000 |       3.13 |     400.00 |   10.000 |     1.051 | c:\\x.dat (10GiB)
-----------------------------------------------------------------------------------------------------
total:          65536000 |         8000 |       6.25 |     800.00 |   10.000 |     1.051

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
     0 |        24576000 |         3000 |       2.34 |     300.00 |   10.000 |     0.185 | c:\\x.dat (10GiB)
     1 |        24576000 |         3000 |       2.34 |     300.00 |   12.000 |     0.185 | c:\\x.dat (10GiB)
-----------------------------------------------------------------------------------------------------
total:          49152000 |         6000 |       4.69 |     600.00 |   11.000 |     0.185

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-----------------------------------------------------------------------------------------------------
     0 |         8192000 |         1000 |       0.78 |     100.00 |    7.000 |     1.037 | c:\\x.dat (10GiB)
     1 |         8192000 |         1000 |       0.78 |     100.00 |    7.000 |     1.037 | c:\\x.dat (10GiB)
-----------------------------------------------------------------------------------------------------
total:          16384000 |         2000 |       1.56 |     200.00 |    7.000 |     1.037

total:
  %-ile |  Read (ms) | Write (ms) | Total (ms)
----------------------------------------------
    min |      0.036 |      1.209 |      0.036
   50th |      9.500 |      6.500 |      9.000
   99th |     40.000 |     20.000 |     35.000
3-nines |     60.000 |     30.000 |     55.000
    max |     70.000 |     35.257 |     70.000
"""


def record_of(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "pasted.txt"
    path.write_text(text)
    (imported,) = load(path)
    return cast("dict[str, Any]", imported.record)


@pytest.mark.parametrize(
    "text", [NEW, NEW.replace("\n", "\n  "), f"$ fio --name=rand\n{NEW}", NEW.replace("\n", "\r\n")]
)
def test_normal_output_of_today(tmp_path: Path, text: str) -> None:
    record = record_of(tmp_path, text)
    summary = record["summary"]
    assert (summary["read"]["count"], summary["write"]["count"]) == (4752, 4993)
    assert summary["read"]["bytes"] == 4752 * 4096
    assert summary["read"]["latency_mean_ns"] == 1_489_000
    assert (summary["read"]["latency_p99_ns"], summary["read"]["latency_max_ns"]) == (13_829_000, 32_574_000)
    assert summary["write"]["latency_p999_ns"] == 22_938_000
    assert record["concurrency"] == 8
    assert record["source"]["version"] == "3.33"
    assert record["source"]["asked"]["pattern"] == "random"
    assert record["duration_ns"] == 2_004_000_000


def test_normal_output_of_fio_2(tmp_path: Path) -> None:
    record = record_of(tmp_path, OLD)
    write = record["summary"]["write"]
    assert (write["count"], write["bytes"], round(write["iops"])) == (1_048_576, 1 << 32, 6836)
    assert (write["latency_mean_ns"], write["latency_p99_ns"]) == (4_670_000, 60_000_000)
    assert "w ended with error 5 (EIO)" in record["notes"]


def test_normal_output_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"rand: the line of its reads has no time; accepted: the whole output"):
        record_of(tmp_path, NEW.replace("(18.6MiB/2004msec)", ""))


def test_normal_output_does_not_tell_whether_it_was_direct(tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(NEW)
    rules = [finding.rule for finding in findings(load_results([path]), None)]
    assert "buffered" not in rules


def test_diskspds_text(tmp_path: Path) -> None:
    record = record_of(tmp_path, DISKSPD)
    read = record["summary"]["read"]
    assert (read["count"], read["bytes"], read["latency_mean_ns"]) == (6000, 49_152_000, 11_000_000)
    assert (read["latency_p50_ns"], read["latency_p999_ns"], read["latency_max_ns"]) == (
        9_500_000,
        60_000_000,
        70_000_000,
    )
    asked = record["source"]["asked"]
    assert (asked["block_bytes"], asked["read_pct"], asked["pattern"], asked["direct"]) == (8192, 75.0, "random", True)
    assert (record["concurrency"], asked["duration_ns"]) == (8, 10_000_000_000)


def test_diskspds_text_is_its_xml(real_samples: Path) -> None:
    (record,) = load(real_samples / "diskspd" / "Results_DiskSpd.txt")
    assert record.record["summary"]["read"]["count"] == 25060
    assert record.record["summary"]["latency_p99_ns"] == 4_713_000


VDBENCH = """16:30:05.101 Starting slave: /root/vdbench SlaveJvm -m localhost
16:30:07.002 Starting RD=run1; I/O rate: Uncontrolled MAX; elapsed=3; For loops: None

Jan 05, 2021   interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue
                              rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth
16:30:08.066          1    20000.0   156.25    8192  70.00    1.600    1.500    1.800    20.11    19.91    0.912   32.0
16:30:09.066          2    21000.0   164.06    8192  70.00    1.500    1.400    1.700    18.22    19.11    0.880   32.0
16:30:10.066          3    22000.0   171.88    8192  70.00    1.500    1.400    1.700    18.02    18.71    0.880   32.0
16:30:10.070    avg_2-3    21500.0   167.97    8192  70.00    1.500    1.400    1.700    18.22    19.11    0.880   32.0
16:30:11.000 Vdbench execution completed successfully. Output directory: /root/vdbench/output
"""


@pytest.mark.parametrize(
    ("text", "name"), [(VDBENCH, "run1"), (VDBENCH[VDBENCH.index("Jan") :], "run"), (f"$ ./vdbench\n{VDBENCH}", "run1")]
)
def test_what_vdbench_prints_to_the_terminal(tmp_path: Path, text: str, name: str) -> None:
    record = record_of(tmp_path, text)
    assert (record["name"], record["summary"]["iops"]) == (name, 21_500.0)
    assert record["summary"]["read"]["latency_mean_ns"] == 1_400_000


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("1+0 records in\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.5 s, 2.1 GB/s\n", "dd"),
        ("/dev/sda:\n Timing buffered disk reads: 512 MB in  3.01 seconds = 170.10 MB/sec\n", "hdparm"),
        ("OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n=========== ====\n", "elbencho"),
        ("ISO date,label,path type\n", "elbencho"),
        ("Total time run:         10.1\nTotal writes made:      99\nObject size:            4194304\n", "rados bench"),
        ("bench  type write io_size 4096 io_threads 16 bytes 1073741824 pattern random\n", "rbd bench"),
        ("-----\nCrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n", "CrystalDiskMark"),
        ("--- /dev/sda (block device 1 TiB) ioping statistics ---\n", "ioping"),
        ("Version  1.97       ------Sequential Output------ --Sequential Input-\n", "Bonnie++"),
        ("\tIozone: Performance Test of File I/O\n", "IOzone"),
        ("Linux 6.1 (host)\n\navg-cpu:  %user   %nice\n", "iostat"),
        ("sysbench 1.0.20 (using LuaJIT)\n\nFile operations:\n    reads/s: 1\n", "sysbench fileio"),
        ("set terminal png\nplot 'x_bw.log'\n", "gnuplot"),
        ("FIO test results:\n\nFIO version - fio-3.36\nGlobal options - ioengine=libaio\n", "kubestr"),
        ("==================\n= Dbench Summary =\n==================\n", "dbench"),
        ("fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda1):\n", "yabs.sh"),
        ("smartctl 7.2 2020-12-30 r5155\n\n=== START OF INFORMATION SECTION ===\n", "smartctl"),
        ("Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\n", "nvme"),
        ("100+0 Datensätze ein\n100+0 Datensätze aus\n409600 Bytes (410 kB, 400 KiB) kopiert, 0,1 s, 4,1 MB/s\n", "dd"),
        ("[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3500.1 MB/s [   3338.0 IOPS] <  2394.1 us>\n", "CrystalDiskMark"),
        ("4 KiB <<< /tmp (ext4 /dev/sda1 100 GiB): request=1 time=200.1 us (warmup)\n", "ioping"),
        ("2.00,2.00,host,1,1612345678,16G,,8192,5,500,99\n", "Bonnie++"),
        ("\tChildren see throughput for  4 initial writers \t=  100000.12 kB/sec\n", "IOzone"),
        ("sysbench 0.4.12:  multi-threaded\n\nOperations performed:  6 Read, 4 Write\n", "sysbench fileio"),
        ("sysbench 1.0.20\n\nSQL statistics:\n    queries performed:\n", "sysbench"),
        ("pgbench (15.4)\ntransaction type: <builtin: TPC-B (sort of)>\n", "pgbench"),
        ("5 seconds per test\n\nCompare file sync methods using one 8kB write:\n", "pg_test_fsync"),
        ('{"ISO date":"2026-01-01T10:00:00","label":""}', "elbencho"),
        ("IOR-3.3.0: MPI Coordinated Test of Parallel I/O\n", "IOR"),
        ("Device Information                     :       IOPS      MiB/s    Average\n", "SPDK's perf or bdevperf"),
        ("Total IO\nthread |       bytes     |     I/Os     |    MiB/s\n", "DiskSpd without its settings"),
        ("HD Tune Pro: ST4000DM004 Benchmark\n", "HD Tune"),
        ("Jobs: 1 (f=1): [r(1)][50.0%][r=100MiB/s][r=25.6k IOPS][eta 00m:30s]\n", "fio"),
        ("hints = 1\nMaintaining 16 concurrent writes of 4194304 bytes\n", "rados bench"),
        ("bench-write  io_size 4096 io_threads 16 bytes 1073741824 pattern sequential\n", "rbd bench"),
        ("Attached 4 probes\nTracing block device I/O...\n", "bpftrace"),
        ("@usecs[259,0]: \n[64, 128)              3 |@@@@|\n", "bpftrace"),
        ("     usecs               : count     distribution\n", "biolatency or bitesize"),
        ("  UID   PID D     BLOCK   SIZE       COMM PATHNAME\n", "iosnoop"),
        ("==================== All Devices ====================\n", "btt"),
        ("\x07tae\x00\x00", "blktrace"),
        ("pread64(3, ..., 4096, 8192) = 4096 <0.000120>\n", "strace"),
        ("0 4892 syslogd 904265560 8 W 6 0 531e779f8bb4a4a1b0a5e5ac4f3ad1ae\n", "FIU's tracer"),
        ("Line #,Process,IO Type,Complete Time (s),Init Time (s),Size (B)\n", "Windows Performance Analyzer"),
        ('{"smartctl": {"version": [7, 4]}}', "smartctl"),
        ('{"Devices": [{"ModelNumber": "X"}]}', "nvme"),
        ('{"blockdevices": [{"name": "sda"}]}', "lsblk"),
    ],
)
def test_output_that_no_importer_reads_is_named(tmp_path: Path, text: str, tool: str) -> None:
    with pytest.raises(UserError) as error:
        record_of(tmp_path, text)
    assert f"pasted.txt: is the output of {tool}, which hotband does not read: " in str(error.value)
    assert ": but " not in str(error.value)


def test_a_heading_is_looked_for_within_lines() -> None:
    # What runs over line ends takes the square of the blank lines at a file's beginning: a minute for 64 KiB of them.
    assert "smartctl" in unread('{\n "device": {"name": "/dev/sdg", "type": "scsi", "protocol": "SCSI"},')
    assert "Process Monitor" in unread('\n\n"Time of Day","Process Name","PID"\n')
    assert unread('"Time of Day",\n"Process Name","PID"\n') == ""
    assert "bpftrace" in unread("@[kworker]: \n[64, 128)\n")
    assert unread("@[kworker\n]: \n[64, 128)\n") == ""


def test_the_version_of_sysbench_is_among_the_first_lines() -> None:
    text = "sysbench 1.0.20 (using LuaJIT 2.1.0)\n\nFile operations:\n"
    assert "sysbench fileio" in unread("$ sysbench fileio run\n" + text)
    assert unread("notes\n" * 20 + text) == ""


def snapshots(text: str, *runtimes_ms: int) -> str:
    """Return fio's normal output with a job printed every second (--status-interval), at 1,000 reads per second."""
    head, job = text.split("rand: (groupid", 1)
    job = f"rand: (groupid{job}"
    printed = [
        job.replace("2004msec", f"{runtime}msec").replace("total=4752,4993", f"total={runtime},{runtime}")
        for runtime in runtimes_ms
    ]
    return head + "".join(printed)


def test_a_result_that_is_printed_again_is_one_run(tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(snapshots(NEW, 1000, 2000, 2500))
    (imported,) = load(path)
    summary = imported.record["summary"]
    assert (summary["read"]["count"], summary["read"]["iops"]) == (2500, 1000)
    assert imported.series is not None
    assert sorted(set(imported.series["time_ns"])) == [0, 10**9, 2 * 10**9]


def test_two_runs_in_one_text_are_two_results(tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(NEW + NEW.replace("2371", "3371").replace("pid=13758", "pid=9"))
    assert [imported.record["summary"]["read"]["count"] for imported in load(path)] == [4752, 4752]


@pytest.mark.parametrize(("head", "depths"), [("rand: (g=0)", [8, 14]), ("rand: (groupid", [None, 14])])
def test_each_of_two_runs_has_its_own_options(tmp_path: Path, head: str, depths: list[int | None]) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(NEW[NEW.index(head) :] + NEW.replace("iodepth=4", "iodepth=7").replace("pid=13758", "pid=9"))
    assert [imported.record["concurrency"] for imported in load(path)] == depths


def test_reads_and_writes_as_one_number_are_refused(tmp_path: Path) -> None:
    text = NEW.partition("  write:")[0].replace("  read:", "  mixed:") + "     issued rwts: total=9745,0,0,0\n"
    with pytest.raises(UserError, match="reported as one number"):
        record_of(tmp_path, text)


def test_a_sum_of_reads_and_writes_is_not_that_of_writes(tmp_path: Path) -> None:
    both = NEW.replace(
        "  lat (usec)   :", "  mixed: IOPS=0, BW=0 (0)(0B/35msec)\n    clat (usec): min=1, avg=9\n  lat (usec)   :"
    )
    assert record_of(tmp_path, both)["summary"] == record_of(tmp_path, NEW)["summary"]


def test_percentiles_of_a_priority_are_not_those_of_all(tmp_path: Path) -> None:
    priority = "    clat prio 0/4 (20.00% of IOs) percentiles (usec):\n     | 99.00th=[    1], 99.90th=[    2]\n"
    text = NEW.replace("   bw (  KiB/s)", f"{priority}   bw (  KiB/s)", 1)
    assert record_of(tmp_path, text)["summary"] == record_of(tmp_path, NEW)["summary"]


def test_failed_ios_of_normal_output_are_counted(tmp_path: Path) -> None:
    text = f"{NEW.rstrip()}".replace(
        "\nRun status", "     errors    : total=7, first_error=5/<Input/output error>\nRun status"
    )
    assert record_of(tmp_path, text)["summary"]["errors"] == 7


def terse(*runs: tuple[int, int]) -> str:
    """Return lines of terse output of one job, by (reads, milliseconds)."""
    side = "{kib};{bw};{iops};{ms}" + ";0" * 8 + ";0%=0" * 20 + ";0" * 9
    empty = side.format(kib=0, bw=0, iops=0, ms=0)
    lines = []
    for ios, ms in runs:
        read = side.format(kib=ios * 4, bw=ios * 4000 // ms, iops=ios * 1000 // ms, ms=ms)
        lines.append(f"3;fio-3.33;a;0;0;{read};{empty}\n")
    return "".join(lines)


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        (((1000, 1000), (2000, 2001), (2500, 2500)), 2500),  # printed every second
        (((1000, 1000), (1100, 1001), (1200, 1002)), 3300),  # clones
    ],
)
def test_terse_lines_at_an_interval_are_one_run(tmp_path: Path, runs: tuple[tuple[int, int], ...], count: int) -> None:
    record = record_of(tmp_path, terse(*runs))
    assert record["summary"]["read"]["count"] == pytest.approx(count, rel=2e-3)


@pytest.mark.parametrize(
    ("text", "name"), [("2;a;0;0;32640;1483636;1;2\n", "fio in terse version 2"), ("x\x9c", "zlib")]
)
def test_old_terse_output_and_compressed_logs_are_named(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / "a_lat.1.log.fz"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match=name):
        load(path)


def test_percentiles_of_several_targets_are_those_of_all(tmp_path: Path) -> None:
    head, _, chart = DISKSPD.rpartition("total:\n")
    text = f"{head}c:\\x.dat\n{chart.replace('40.000', '41.000')}\ntotal:\n{chart}"
    assert record_of(tmp_path, text)["summary"] == record_of(tmp_path, DISKSPD)["summary"]


@pytest.mark.parametrize(
    ("before", "after", "key", "value"),
    [
        ("software cache disabled", "local software cache disabled, remote cache enabled", "direct", False),
        ("software cache disabled", "software and hardware write caches disabled", "direct", True),
        ("random seed: 0", "random seed: 0\n\ttotal threads: 9", "concurrency", 8),
    ],
)
def test_settings_of_diskspds_text(tmp_path: Path, before: str, after: str, key: str, value: object) -> None:
    assert record_of(tmp_path, DISKSPD.replace(before, after))["source"]["asked"][key] == value


def test_threads_that_share_targets_are_those_of_the_result(tmp_path: Path) -> None:
    lines = ("threads per file: 2", "number of outstanding I/O operations per thread: 4")
    text = DISKSPD.replace("10.00s", "10.00s\nthread count:\t\t3\nrequest count:\t\t5")
    for line in lines:
        text = text.replace(f"\t\t{line}\n", "")
    assert record_of(tmp_path, text)["concurrency"] == 15


def test_diskspds_text_after_a_prompt(tmp_path: Path) -> None:
    assert record_of(tmp_path, f"C:\\> diskspd x.dat\n\n{DISKSPD}")["summary"]["count"] == 8000


def test_a_time_span_that_was_interrupted(tmp_path: Path) -> None:
    head, _, _ = DISKSPD.partition("actual test time")
    stopped = "The test was interrupted before the measurements began. No results are displayed.\n"
    with pytest.raises(UserError, match="was interrupted before it measured"):
        record_of(tmp_path, head + stopped)
    second = f"\nResults for timespan 2:\n***\n{stopped}"
    assert record_of(tmp_path, DISKSPD + second)["summary"]["count"] == 8000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(W) 4096B-4096B", "(W) 64.0KiB-64.0KiB"),
        ("(R) 4096B-4096B, (W) 4096B-4096B", "(R) 4096B-64.0KiB, (W) 4096B-64.0KiB"),
    ],
)
def test_several_sizes_of_normal_output_are_no_size(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(NEW.replace(before, after).replace("19.5MiB", "312MiB"))
    (imported,) = load(path)
    assert imported.record["source"]["asked"]["block_bytes"] is None
    assert "mixed-jobs" not in [finding.rule for finding in findings(load_results([path]), None)]


def test_reads_of_a_job_of_writes_verify_them(tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(NEW.replace("rw=randrw", "rw=randwrite").replace("jobs=2", "jobs=1"))
    (imported,) = load(path)
    assert imported.record["concurrency"] is None
    assert any("reads what it wrote only after it (verify)" in note for note in imported.record["notes"])
    rules = [finding.rule for finding in findings(load_results([path]), None)]
    assert not {"mixed-jobs", "littles-law"} & set(rules)


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: Could not set privileges for setting valid file size; will use a slower method of preparing the file",
        "t[0:3] error during read error code: 1117)",
        "There has been an error during threads execution",
    ],
)
@pytest.mark.parametrize("end", [False, True])
def test_trouble_that_diskspd_prints_is_a_warning(tmp_path: Path, line: str, end: bool) -> None:
    xml = "<Results>\n<TimeSpan><TestTimeSeconds>3.00</TestTimeSeconds>\n<Thread><Target><Path>a</Path>\n"
    xml += "<ReadBytes>4096</ReadBytes><ReadCount>1</ReadCount>\n</Target></Thread></TimeSpan>\n</Results>\n"
    for output in (DISKSPD, xml):
        notes = record_of(tmp_path, f"{output}{line}\n" if end else f"{line}\n{output}")["notes"]
        assert f"warning of diskspd: {line}" in notes
        assert not any("warning of" in note for note in record_of(tmp_path, output)["notes"])


def test_a_second_result_of_diskspd_behind_its_warnings_is_refused(tmp_path: Path) -> None:
    xml = "<Results>\n<TimeSpan><TestTimeSeconds>3.00</TestTimeSeconds>\n<Thread><Target><Path>a</Path>\n"
    xml += "<ReadBytes>4096</ReadBytes><ReadCount>1</ReadCount>\n</Target></Thread></TimeSpan>\n</Results>\n"
    with pytest.raises(UserError, match=r"pasted.txt: Results: has 2 results; accepted: .* of one run in a file"):
        record_of(tmp_path, f"WARNING: x\n{xml}WARNING: y\n{xml}")
