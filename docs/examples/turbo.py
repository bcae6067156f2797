"""What a run on one drive with a flash read cache shows of its warming: `python docs/examples/turbo.py out/turbo`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl

folder = Path(sys.argv[1])
record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
reads = pl.read_parquet(folder / "series.parquet").filter(direction="read")
flash = pl.read_parquet(folder / "caches.parquet")
minute = 60_000_000_000 // record["series"]["interval_ns"]
promoted = flash.filter(pl.col("flash_promoted_bytes") > 0)["time_ns"]
begins = int(promoted[0])
full = int(flash.filter(pl.col("flash_used_bytes") >= 0.99 * flash["flash_used_bytes"][-1])["time_ns"][0])
before = reads.filter(pl.col("time_ns") < begins)["iops"].mean()
print(f"reads a second before promotion  {before:8,.0f}")
print(f"promotion begins after           {begins / 60e9:8.1f} min of the measured time")
print(f"99 % of it is in flash after     {(full - begins) / 60e9:8.1f} min more")
print(f"reads a second in the last minute{reads['iops'][-minute:].mean():8,.0f}")
