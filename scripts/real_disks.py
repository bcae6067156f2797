"""Disks that were measured I/O by I/O, replayed on their models: the table of docs/models/real-disks.md.

`python scripts/real_disks.py ../shared/traces/real-disks` replays every `NAME.trace` of a folder (DiskSim's validation
format: read or write, what its cache did, first sector, sectors, response time and think time in us) on the drives that
`NAME.datasheet.toml` and `NAME.extracted.toml` describe, and prints demerit and error of the mean, in % of the measured
mean. The rig's bus is the `port_rate` of the extracted file.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

import polars as pl

import hotband as hb

READ_AHEAD = {"atlas_III": "streams"}
"""Nine of ten of these disks read ahead after any read; this one does not (the folder's README)."""
OVERLAP = {"read_overlap": "on", "write_overlap": "on"}


def log_of(trace: Path, out: Path) -> Path:
    """The trace as an I/O log: each I/O is issued its think time after the one before was answered."""
    now, rows = 0, []
    for line in trace.read_text().splitlines():
        kind, _, sector, count, response, think = line.split()
        latency = round(float(response) * 1000)
        rows.append((now, {"R": "read", "W": "write"}[kind], int(sector) * 512, int(count) * 512, latency))
        now += latency + round(float(think) * 1000)
    columns = ["submit_ns", "direction", "offset_bytes", "size_bytes", "latency_ns"]
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(out)
    return out


def product(like: Path, values: Mapping[str, str], out: Path) -> Path:
    """A drive like that of a file, with other values."""
    lines = [f'variant_of = "{like.resolve()}"', 'title = "of the validation set"']
    for key, value in values.items():
        lines += [f"[values.{key}]", f'value = "{value}"', 'source = "scripts/real_disks.py"']
    out.write_text("\n".join(lines) + "\n")
    return out


def variants(folder: Path, name: str) -> dict[str, tuple[Path, dict[str, str]]]:
    """What is asked: a file, and values beside it."""
    sheet, extracted = folder / f"{name}.datasheet.toml", folder / f"{name}.extracted.toml"
    bus = {"port_rate": tomllib.loads(extracted.read_text())["values"]["port_rate"]["value"]}
    ahead = {"read_ahead": READ_AHEAD.get(name, "always")}
    return {
        "data sheet": (sheet, {}),
        "+ bus": (sheet, bus),
        "+ bus + read-ahead": (sheet, bus | ahead),
        "extracted": (extracted, {}),
        "extracted + read-ahead": (extracted, ahead),
        "extracted + read-ahead + overlap": (extracted, ahead | OVERLAP),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    traces = sorted(asked.folder.glob("*.trace"))
    if not traces:
        raise SystemExit(f"{asked.folder}: no *.trace")
    rows = []
    with tempfile.TemporaryDirectory(prefix="hotband-real-disks-") as at:
        for trace in traces:
            log = log_of(trace, Path(at) / f"{trace.stem}.parquet")
            row: dict[str, str | float] = {"drive": trace.stem}
            for number, (title, (like, values)) in enumerate(variants(asked.folder, trace.stem).items()):
                drive = product(like, values, Path(at) / f"{trace.stem}-{number}.toml")
                found = hb.run(log, on=drive, set={"issue": "after-completion"}, progress=False).comparison
                assert found is not None
                row["mean ms"] = round(found["mean_measured_ns"] / 1e6, 2)
                row[title] = f"{found['demerit_pct']:.1f} ({found['mean_error_pct']:+.1f})"
            rows.append(row)
            print(" ".join(f"{key}: {value};" for key, value in row.items()), flush=True)
    frame = pl.DataFrame(rows)
    for title in frame.columns[2:]:
        demerits = frame[title].str.split(" ").list.first().cast(pl.Float64)
        print(f"{title}: median {demerits.median():.1f} %, largest {demerits.max():.1f} %")


if __name__ == "__main__":
    main()
