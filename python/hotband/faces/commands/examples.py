"""What `hotband run --help` says below the options: keys and examples. Tests hold them against what is taken."""

from __future__ import annotations

_KEYS = (
    "[bold]Keys of --set[/]: qd, depth, threads, think, rate_iops, issue, speed, bs, read_pct, random_pct, span, "
    "clients, data, state, warm_up, volume, beyond, app.KEY, and values of the drives, such as wce=on. fio's iodepth, "
    "numjobs, rwmixread, percentage_random, blocksize, size, thinktime and ramp_time are taken too. SSDs are "
    "written over first, at a scale that is said, unless state=fob."
)
_LISTED = "[bold]hotband keys WORKLOAD --on MACHINE[/] lists every key, with its value today."
_EXAMPLES = """\
[bold]Examples[/]

hotband run fio-randread --on exos-15e900-512n --set qd=32

hotband run web-server --on raid10:4xexos-15e900-512n --duration "5 s" --out results

hotband run fio-write --on s4500-960 --set bs=16k --io-log ios.csv"""

RUN_EPILOG = f"{_KEYS}\n\n{_LISTED}\n\n{_EXAMPLES}"
