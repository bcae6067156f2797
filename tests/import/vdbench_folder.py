"""Output folders as vdbench 5.04.07 leaves them: every report begins with its title, and histograms of each storage and
workload definition and host lie next to that of the run (Report, Flat, Histogram and FwdStats of its source)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

FLAT = (
    "Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max read_max write_max resp_std "
    "read_std write_std xfersize threads rdpct rhpct whpct seekpct lunsize version compratio dedupratio queue_depth "
    "cpu_used cpu_user cpu_kernel cpu_wait cpu_idle"
)
FILES_FLAT = (
    "Run Interval reqrate rate resp MB/sec Read_rate Read_resp Write_rate Write_resp MB_read MB_write Xfersize "
    "Mkdir_rate Mkdir_resp Rmdir_rate Rmdir_resp Create_rate Create_resp Open_rate Open_resp Close_rate Close_resp "
    "Delete_rate Delete_resp compratio dedupratio cpu_used cpu_user cpu_kernel cpu_wait cpu_idle"
)
HEADS = (
    "    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  "
    "queue  cpu%  cpu%",
    "                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev "
    " depth sys+u   sys",
)
FILES_HEADS = (
    " .Interval. .ReqstdOps... ...cpu%...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir.... "
    "...rmdir.... ...create... ....open.... ...close.... ...delete...",
    "                          rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size  "
    "rate   resp  rate   resp  rate   resp  rate   resp  rate   resp  rate   resp",
)
EDGES = ("0.020", "0.040", "0.100", "0.200", "0.400", "0.600", "0.800", "1.000", "max")


@dataclass
class Definition:
    """One run definition: its rate by interval, what its I/Os are like, and its loop."""

    name: str
    rates: Sequence[float]
    loops: str = "None"
    read_pct: float = 50.0
    read_ms: float = 0.3
    write_ms: float = 0.5
    size: int = 8192
    mean_size: int = 0
    threads: int = 8
    warm: int = 1
    step_s: int = 1
    elapsed: str = ""
    of_files: bool = False
    opens: float = 0.0
    messages: dict[int, str] = field(default_factory=dict)

    @property
    def average(self) -> tuple[str, float]:
        """The label of vdbench's average, and the rate."""
        measured = self.rates[self.warm :]
        return f"avg_{self.warm + 1}-{len(self.rates)}", sum(measured) / len(measured) if measured else 0.0

    @property
    def mean_ms(self) -> float:
        return (self.read_pct * self.read_ms + (100 - self.read_pct) * self.write_ms) / 100

    @property
    def starting(self) -> str:
        if self.of_files:
            after = (
                "" if self.name.startswith("format_") else f"; elapsed={self.elapsed or len(self.rates)}; fwdrate=max. "
            )
            loops = "" if self.name.startswith("format_") else f"For loops: {self.loops}"
            return f"Starting RD={self.name}{after}{loops}"
        elapsed = self.elapsed or str(len(self.rates) * self.step_s)
        return f"Starting RD={self.name}; I/O rate: Uncontrolled MAX; elapsed={elapsed}; For loops: {self.loops}"


def clock(second: float) -> str:
    minutes, rest = divmod(second, 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{10 + hours:02d}:{minutes:02d}:{rest:06.3f}"


def title(folder: Path, name: str) -> str:
    return f"<title>Vdbench {folder.name}/{name}</title><pre>\n"


def flat_row(run: Definition, moment: str, label: str, rate: float) -> str:
    size = run.mean_size or run.size
    stamp = f"{moment} 01/02/2020-{moment[:8]}-UTC {run.name:>10} {label:>10} "
    if run.of_files:
        reads = rate * run.read_pct / 100
        numbers = [9999988, rate + run.opens, run.mean_ms, rate * size / 2**20, reads, run.read_ms, rate - reads]
        numbers += [run.write_ms, reads * size / 2**20, (rate - reads) * size / 2**20, size, 0, 0, 0, 0, 0, 0]
        numbers += [run.opens, 0.1, run.opens, 0.1, 0, 0]
        tail = "n/a n/a 5.0 3.0 2.0 0.0 0.0 "
    else:
        high = 9.5 if rate else 0.0
        read_high, write_high = (high if share else 0.0 for share in (run.read_pct, 100 - run.read_pct))
        numbers = [9999988, rate, rate * size / 2**20, size if rate else 0, run.read_pct if rate else 0, run.mean_ms]
        numbers += [run.read_ms, run.write_ms, high, read_high, write_high, 0.2, 0.2, 0.2, run.size, run.threads]
        numbers += [run.read_pct, 0, 0, 100, 200]
        tail = f"50407 n/a 1.0 {rate * run.mean_ms / 1000:.4f} 5.0 3.0 2.0 0.0 0.0 "
    return stamp + " ".join(f"{number:10.4f}" for number in numbers) + " " + tail


def report_row(run: Definition, moment: str, label: str, rate: float) -> str:
    size = run.mean_size or run.size
    mb = rate * size / 2**20
    if run.of_files:
        reads = rate * run.read_pct / 100
        shares = f"{reads * size / 2**20:5.2f} {(rate - reads) * size / 2**20:5.2f} {mb:6.2f} {size:7d}"
        return (
            f"{moment}{label:>10} {rate + run.opens:6.1f} {run.mean_ms:6.3f}   5.0 2.00 {run.read_pct:5.1f} "
            f"{reads:6.1f} {run.read_ms:6.3f} {rate - reads:6.1f} {run.write_ms:6.3f} {shares}   0.0  0.000   0.0"
            f"  0.000   0.0  0.000 {run.opens:5.1f}  0.100 {run.opens:5.1f}  0.100   0.0  0.000"
        )
    high = 9.5 if rate else 0.0
    return (
        f"{moment}{label:>10} {rate:10.1f} {mb:8.2f} {size if rate else 0:7d} {run.read_pct:6.2f} {run.mean_ms:8.3f} "
        f"{run.read_ms:8.3f} {run.write_ms:8.3f} {high:8.2f} {high:8.2f} {0.2:8.3f} "
        f"{rate * run.mean_ms / 1000:6.1f}   5.0   2.0"
    )


def histogram(run: Definition) -> str:
    """All I/Os between 0.2 and 0.4 ms, but one in a thousand above 1 s."""
    if run.of_files:
        parts = {"Total of all requested operations: ": 100_000}
    elif run.read_pct in (0, 100):
        parts = {f"Only {'reads' if run.read_pct else 'writes'} done for this workload:": 100_000}
    else:
        reads = round(1000 * run.read_pct) * 1
        parts = {"Reads and writes:": 100_000, "Reads:": reads, "Writes:": 100_000 - reads}
    text = ""
    for heading, count in parts.items():
        text += f"{heading}\n  min(ms) <     max(ms)         count       %%    cum%%  "
        text += "'+': Individual%; '+-': Cumulative%\n\n"
        counts = {"0.400": count - count // 1000, "max": count // 1000}
        for low, edge in zip(("0.000", *EDGES), EDGES, strict=False):
            text += f" {low:>8} < {edge:>11} {counts.get(edge, 0):>12,} {0:8.4f} {0:8.4f}  +++\n"
        text += "\n"
    return text


def write(folder: Path, *runs: Definition, title_line: bool = True) -> Path:
    """Write the folder that a session of these run definitions leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    of_files = any(run.of_files for run in runs)
    flat = [
        "*",
        "* 'flatfile.html' contains Vdbench generated information in a column by column ASCII format. ",
        "* ",
        f"{'tod':>12} {'timestamp':>23} "
        + " ".join(f"{name:>10}" for name in (FILES_FLAT if of_files else FLAT).split()),
    ]
    summary, totals, bins = [], [], []
    now = 0.0
    for number, run in enumerate(runs):
        heads = [f"\nJan 02, 2020{(FILES_HEADS if of_files else HEADS)[0]}", (FILES_HEADS if of_files else HEADS)[1]]
        start = f'\n<a name="_{number}"></a><i><b>{clock(now + 0.001)} {run.starting}</b></i>\n'
        summary.append(start)
        totals.append(start)
        bins.append(start)
        for interval, rate in enumerate(run.rates, 1):
            now += run.step_s
            if interval % 30 == 1:
                summary += heads
            flat.append(flat_row(run, clock(now), str(interval), rate))
            summary.append(report_row(run, clock(now), str(interval), rate))
            if interval in run.messages:
                summary.append(f"{clock(now + 0.004)} {run.messages[interval]}")
        label, rate = run.average
        flat.append(flat_row(run, clock(now + 0.01), label, rate))
        summary.append(report_row(run, clock(now + 0.01), label, rate))
        totals += [*(heads if number % 10 == 0 else []), report_row(run, clock(now + 0.01), label, rate)]
        bins.append(histogram(run))
        now += 1
    summary.append(f"{clock(now)} Vdbench execution completed successfully. Output directory: /opt/{folder.name} ")
    sides = {f"{kind}1": kind for kind in (("hd", "fsd", "fwd") if of_files else ("hd", "sd", "wd"))}
    links = '\n\nLink to Run Definitions:         <A HREF="#_0">rd1 For loops: None</A>\n\n'
    texts = {
        "flatfile.html": "\n".join(flat) + "\n",
        "summary.html": "Copyright (c) 2000, 2018, Oracle and/or its affiliates. All rights reserved.\n"
        "Vdbench summary report, created 10:00:00 Jan 02 2020 UTC\n" + links + "\n".join(summary) + "\n",
        "totals.html": "Run totals\n" + links + "\n".join(totals) + "\n",
        "histogram.html": "Total response time histogram.\n" + links + "\n".join(bins) + "\n",
        "parmfile.html": "\n* Contents of parameter file: /tmp/x\n\n"
        + ("fsd=fsd1,anchor=/mnt/x,depth=1\n" if of_files else "sd=sd1,lun=/dev/sdb,openflags=o_direct\n"),
        "logfile.html": "Copyright (c)\n" + "\n".join(summary) + "\n",
        "anchors.html": "Anchor report\n",
        "skew.html": "Workload skew report\n\n",
        "status.html": "* This file shows the status\n",
    }
    for name, kind in sides.items():
        texts[f"{name}.histogram.html"] = f"{kind}={name} response time histogram.\n" + links + "\n".join(bins) + "\n"
        texts[f"{name}.html"] = f"{kind}={name} report\n" + links + "\n".join(summary) + "\n"
    for name, text in texts.items():
        (folder / name).write_text((title(folder, name) if title_line else "<pre>\n") + text)
    (folder / "swat_mon_total.txt").write_text("")
    return folder
