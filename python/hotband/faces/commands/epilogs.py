"""Further help of a question's command, after its summary: paragraphs, examples and the format of values."""

from __future__ import annotations

ADVISE = """\
[bold]Candidates[/]: drives=NAME,...,layouts=raid6,...,counts=12,24,caches=off,on,protected. A NAME may be a word \
such as nas. Default drives: those sold for arrays. Default counts: the fewest drives that fit the data, and 1.5, 2 \
and 3 times as many.

[bold]Prices[/]: a CSV table with drive,price,currency,watts, or TOML of drives with these keys; 280..320 is a \
price range.

[bold]Examples[/]

hotband advise oltp.fio --slo "p99 < 20 ms" --capacity "50 TB" --protect "two failures" --prices prices.csv

hotband advise iometer-database vdbench-8k-random --slo "p99 < 40 ms" --capacity "40 TB" --protect "one failure" \
--candidates drives=exos-x18-18tb,ent-10k,layouts=raid6,raid10 --grow "20 %/year" -o advice.html
"""
DRIVES_NEW = """Lines of the data sheet are options, such as --capacity "16 TB"; those
with * are required. Values not stated follow from the class, with wide
ranges. Without any, Hotband prompts for the most important ones.

hdd: --class nearline  --capacity "16 TB"  --rpm "7200 rpm"  --interface sata
     --bandwidth "261 MB/s"  --year 2021  --read-iops 170
     --read-iops-depth 16  --write-iops 440  --read-iops-qd1 80
     --seek "8.5 ms"  --seek-write "9.5 ms"  --recording CMR
     --cache "256 MB"  --sector-format 512e  --heads 18
     --power-idle "5 W"  --power-active "10 W"
     --mtbf "2000000 h"  --error-rate 1e15

ssd (SATA, SAS): --class enterprise (consumer)  --capacity "3.84 TB"
     --interface sata  --flash TLC  --dram full  --year 2021
     --read-bandwidth "550 MB/s"  --write-bandwidth "520 MB/s"
     --slc-cache "100 GB"  --write-bandwidth-after-cache "300 MB/s"
     --read-iops 98000  --write-iops 30000 (steady state)
     --write-iops-burst 90000 (new drive or SLC cache)
     --read-latency "110 us"  --write-latency "40 us"  --dwpd 1
     --power-loss-protection on  --power-idle "1.3 W"  --power-active "4 W"
     --mtbf "2000000 h"  --error-rate 1e15

nvme: as ssd, with --pcie 4x4 in place of --interface

cloud (a volume): --iops 16000 *  --throughput "250 MB/s" *
     --latency "1 ms" *  --capacity "1 TB"

Rules derive the other values, each with a range:
docs/models/data-sheets.md."""
EXPECT = """\
[bold]Examples[/]

hotband expect fio.json --on raid10:8xexos-15e900-512n

hotband expect vdbench-output/            (which drives come nearest?)

hotband expect terse.txt -w my.fio --on s4500-960
"""
FIND = """\
[bold]Questions[/]: "IOPS at p99 < 10 ms" (the highest rate of an open loop), "IOPS at p99 < 10 ms by queue depth", \
"drives for 50000 IOPS at p99 < 2 ms" (--on raid10:{n}xDRIVE), "queue depth for 90 % of the most", "bs for 500 MB/s", \
any key of --set that is a number. Figures: IOPS, MB/s, mean, p50, p99, p99.9, read.p99, \
write.p99, commit.p99 (a write with its flush).

[bold]Examples[/]

hotband find "IOPS at p99 < 20 ms" -w fio-randread --on exos-15e900-512n --on ent-10k

hotband find "drives for 3000 IOPS at p99 < 30 ms" -w iometer-database --on "raid10:{n}xexos-15e900-512n"
"""
CALIBRATE = """\
[bold]Examples[/]

hotband measure calibrate real:/dev/sdb --like pm893-3840 --erase S45PNA0M -o mine.toml

hotband measure calibrate fio-*.json --like exos-15e900-512n -o mine.toml    (results that are there)

hotband measure calibrate disk7.trace --like ./disk7.toml -o mine.toml    (a trace with latencies)

hotband measure calibrate real:/srv --size "8 GiB" --like black-box -o volume.toml

hotband run fio-randread --on ./mine.toml
"""
DEVICE = """\
[bold]Examples[/]

hotband measure device

hotband measure device /dev/nvme0n1

hotband measure device disk.img --json
"""
SELFTEST = """\
[bold]Examples[/]

hotband measure selftest /dev/nvme0n1

hotband measure selftest disk.img --for "1 s" --details"""
FLEET = """\
[bold]Example[/]

hotband fleet fleet.toml --repetitions 200 --out fleet -o fleet.html"""
PROGRAM = """\
[bold]Examples[/]

hotband program

hotband program pgbench

hotband program pgbench --on exos-15e900-512n --set clients=8 --set scale=50 --out pg

hotband program sysbench --on real:/mnt/disk --set total="1 GiB"
"""
PTS = """\
[bold]Examples[/]

hotband measure pts s4500-960 -o pts.html

hotband measure pts 980-pro-1tb --class client --test iops,latency --out pts

hotband measure pts real:/data --size "8 GiB" --quick --minute "1 s" --out look

hotband measure pts real:/dev/sdb --erase SERIAL --out pts   # a day and more; resumes after a stop"""
QUICK = """\
[bold]Examples[/]

hotband measure quick 980-pro-1tb --for "5 min"
hotband measure quick 980-pro-1tb --picture 980-pro.png   # four rows of MB/s, to paste into a post

hotband measure quick real:/dev/nvme1n1 --for "1 h" -o look.html   # reads only; --erase SERIAL adds writes"""
RUN_KEYS = (
    "[bold]Keys of --set[/]: qd, depth, threads, think, rate_iops, issue, speed, bs, read_pct, random_pct, span, "
    "clients, data, state, warm_up, volume, beyond, app.KEY, and values of the drives, such as wce=on. fio's iodepth, "
    "numjobs, rwmixread, percentage_random, blocksize, size, thinktime and ramp_time are accepted too. SSDs "
    "are preconditioned first, as a smaller model that a note names, unless state=fob."
)
RUN_LISTED = "[bold]hotband keys WORKLOAD --on MACHINE[/] lists every key, with its current value."
RUN_EXAMPLES = """\
[bold]Examples[/]

hotband run fio-randread --on exos-15e900-512n --set qd=32

hotband run web-server --on raid10:4xexos-15e900-512n --duration "5 s" --out results

hotband run fio-write --on s4500-960 --set bs=16k --io-log ios.csv"""

RUN = f"{RUN_KEYS}\n\n{RUN_LISTED}\n\n{RUN_EXAMPLES}"
SERVE = """\
[bold]Examples[/]

hotband serve exos-15e900-512n --run 'fio --name=r --ioengine=nbd --uri=$uri --rw=randread --bs=4k --runtime=10'

hotband serve raid10:8xent-15k --nbd /run/array.sock --store array.img --record out --live

hotband serve nytro-1351-960 --mount /mnt/drive --loop   # files in place of NBD"""
SWEEP = """\
[bold]Values[/]: --set qd=1,8,32 (a list), qd=1..256 (doubled), rwmixread=50..90/10 (in steps), --rate 1000..60000.

[bold]Examples[/]

hotband sweep randread --on exos-15e900-512n --on ent-10k --set qd=1..64

hotband sweep job.fio --on 7450-pro-3840 --on pm9a3-3840 --slo "p99 < 1 ms"
"""
TRACE_COMPARE = """\
[bold]Examples[/]

hotband trace compare measured.trace replayed.parquet -o page.html

hotband trace compare before.blkparse.gz after.blkparse.gz --direction read

hotband trace compare mine.csv log.parquet --columns time=1:us,offset=2:sectors,size=3,latency=4:us --format-b io-log"""
TRACE_CONVERT = """\
[bold]Examples[/]

hotband trace convert financial1.spc financial1.parquet

hotband trace convert mine.csv.gz mine.iolog --columns time=1:ms,op=2,offset=3:sectors,size=4

hotband trace convert io_traces.csv disk7.spc --device 7 --from "1 h" --for "10 min\""""
TRACE_FIT = """\
[bold]Examples[/]

hotband trace fit financial1.spc -o like-financial1.toml --device 0

hotband trace fit oltp.parquet --on exos-15e900-512n

hotband run like-financial1.toml --on exos-15e900-512n"""
TRACE_SHOW = """\
[bold]Examples[/]

hotband trace show financial1.spc

hotband trace show usr_0.csv.gz src1_2.csv.gz -o traces.html

hotband trace show mine.csv --columns time=1:ms,op=2,offset=3:sectors,size=4 --json"""
QUERY = """\
[bold]Views[/]

runs (one row per run: what ran, a column a factor, figures), summary, factors, histograms, records, and the tables over
time that runs left: series, caches, power, smart, operations. "show tables" lists them, "describe runs" their columns.

[bold]Examples[/]

hotband store query "select target, qd, avg(iops) from runs group by all order by all" --from results

hotband store query "from series where run = '1f03c5d0a7b2e4916d88'" --from results --format csv"""
EPILOGS = {
    "advise": ADVISE,
    "calibrate": CALIBRATE,
    "device": DEVICE,
    "drives new": DRIVES_NEW,
    "expect": EXPECT,
    "find": FIND,
    "fleet": FLEET,
    "measure selftest": SELFTEST,
    "mount": SERVE,
    "program": PROGRAM,
    "pts": PTS,
    "quick": QUICK,
    "run": RUN,
    "serve": SERVE,
    "store query": QUERY,
    "sweep": SWEEP,
    "trace compare": TRACE_COMPARE,
    "trace convert": TRACE_CONVERT,
    "trace fit": TRACE_FIT,
    "trace show": TRACE_SHOW,
}
INVALID = "Exit code 1 if this host could not serve an emulated drive (INVALID), so that it works in CI."
FURTHER = {
    **{key: [INVALID] for key in ("run", "sweep", "quick", "study emulate")},
    "calibrate": ["Writes a product's file with values, ranges and sources, for --on ./FILE."],
    "audit": [
        "Exit code 1 if a finding is severe, so that it works in CI.",
        'audit --steady RECORD... [--round "60 s"] [--track latency] reports whether results reached steady state.',
    ],
    "compare": [
        "Every further result is compared with the first. Repeats of a side: A1 A2 A3 vs B1 B2 B3, or a folder of "
        "records."
    ],
    "device": ["As root, smartctl and nvme report more, and Hotband can see which devices contain data."],
    "drives new": ["Every value of the file has a source, or is an estimate from a rule, with a range."],
    "drives show": [
        "Words filter the list: hdd, ssd, nvme, sata, sas, smr, 15k, tlc, u.2, enterprise, nearline, consumer, makers, "
        "years, or a part of a name. NAME may be the path of your own drive file. `hotband drives WORD` is the "
        "same."
    ],
    "expect": ["Without --on, the drives of the catalog are ranked by how well they match."],
    "program": ["Without NAME it lists the programs, without --on the settings of one.", INVALID],
    "pts": ["Tests: iops, throughput, latency, write-saturation, idle-recovery, cross-stimulus.", INVALID],
    "review": [
        "Parts: linear, access, block-sizes, streams, patterns, files, streaming, defragmentation, applications, "
        "energy.",
        INVALID,
    ],
    "report": [
        "The page begins with which is faster, and by how much. Runs that differ only in their seed count as repeats."
    ],
    "steady": ["Records without a series, such as most of fio's, are one round each, in the order given."],
    "workloads convert": [
        "Reads the catalog, TOML, and job files of fio, vdbench, Iometer and DiskSpd; writes TOML, fio and vdbench."
    ],
}
"""Paragraphs of the help after the first."""
