"""What the help of a question's command says besides its summary: paragraphs that follow it, and what it ends with:
examples, and what its values are made of."""

from __future__ import annotations

from hotband.faces.commands.examples import RUN_EPILOG

ADVISE = """\
[bold]Candidates[/]: drives=NAME,...,layouts=raid6,...,counts=12,24,caches=off,on,protected. What is left out is \
searched whole; where counts are left out, the fewest drives that hold the data and 1.5, 2 and 3 times as many.

[bold]Prices[/]: a CSV table with drive,price,currency,watts, or TOML of drives with these keys; 280..320 is a price \
with its ends.

[bold]Examples[/]

hotband advise oltp.fio --slo "p99 < 20 ms" --capacity "50 TB" --protect "two failures" --cost prices.csv

hotband advise iometer-database vdbench-8k-random --slo "p99 < 40 ms" --capacity "40 TB" --protect "one failure" \
--candidates drives=exos-x18-18tb,ent-10k,layouts=raid6,raid10 --grow "20 %/year" -o advice.html
"""
EXPECT = """\
[bold]Examples[/]

hotband expect fio.json --on raid10:8xexos-15e900-512n

hotband expect vdbench-output/            (which drives come nearest?)

hotband expect terse.txt -w my.fio --on s4500-960
"""
FIND = """\
[bold]Questions[/]: "IOPS at p99 < 10 ms" (the highest rate of an open loop), "IOPS at p99 < 10 ms by queue depth", \
"drives for 50000 IOPS at p99 < 2 ms" (--on raid10:{n}xDRIVE), "queue depth for 90 % of the most", "bs for 500 MB/s", \
any key of --set that is a number. Figures: IOPS, MB/s, mean, p50, p99, p99.9, read.p99, write.p99.

[bold]Examples[/]

hotband find "IOPS at p99 < 20 ms" -w fio-randread --on exos-15e900-512n --on ent-10k

hotband find "drives for 3000 IOPS at p99 < 30 ms" -w iometer-database --on "raid10:{n}xexos-15e900-512n"
"""
CALIBRATE = """\
[bold]Examples[/]

hotband calibrate real:/dev/sdb --like pm893-3840 --erase S45PNA0M -o mine.toml

hotband calibrate fio-*.json --like exos-15e900-512n -o mine.toml    (results that are there)

hotband calibrate disk7.trace --like ./disk7.toml -o mine.toml    (a trace with latencies)

hotband calibrate real:/srv --size "8 GiB" --like black-box -o volume.toml

hotband run fio-randread --on ./mine.toml
"""
FLEET = """\
[bold]Example[/]

hotband fleet fleet.toml --repetitions 200 --out fleet -o fleet.html"""
PTS = """\
[bold]Examples[/]

hotband pts s4500-960 -o pts.html

hotband pts 980-pro-1tb --class client --test iops,latency --out pts

hotband pts real:/data --size "8 GiB" --quick --minute "1 s" --out look

hotband pts real:/dev/sdb --erase SERIAL --out pts       # a day and more; the same command goes on after a stop"""
QUICK = """\
[bold]Examples[/]

hotband quick 980-pro-1tb --for "5 min"

hotband quick real:/dev/nvme1n1 --for "1 h" -o look.html          # reads alone; with --erase SERIAL writes, too"""
SWEEP = """\
[bold]Ranges[/] of numbers, with units or without: 1..256 doubles, 1..100/5 steps, commas make lists: qd=1,4,16..64.
What stands in quotes, braces or brackets is one value.

[bold]Examples[/]

hotband sweep fio-randread --on exos-15e900-512n --on ent-10k --set qd=1..256 --duration "5 s" -o qd.html

hotband sweep fio-randread --on ent-15k --set qd=1..32 --set bs=4KiB,64KiB --repeat 3 --out bs"""
EPILOGS = {
    "advise": ADVISE,
    "calibrate": CALIBRATE,
    "expect": EXPECT,
    "find": FIND,
    "fleet": FLEET,
    "pts": PTS,
    "quick": QUICK,
    "run": RUN_EPILOG,
    "sweep": SWEEP,
}
FURTHER = {
    "calibrate": ["Writes a product's file with values, ranges and sources, for --on ./FILE."],
    "audit": ["Exit code 1 if a finding is severe, so that it works in CI."],
    "compare": [
        "Every further result is compared with the first. Repeats of a side: A1 A2 A3 vs B1 B2 B3, or a folder of "
        "records."
    ],
    "expect": ["Without --on the drives of the catalog are ranked by how near they come."],
    "pts": ["Tests: iops, throughput, latency, write-saturation, idle-recovery, cross-stimulus."],
    "review": [
        "Parts: linear, access, block-sizes, streams, patterns, files, streaming, defragmentation, applications, "
        "energy."
    ],
    "steady": ["Records without a series, such as most of fio's, are one round each, in the order given."],
}
"""Paragraphs that the help has beside the first."""
