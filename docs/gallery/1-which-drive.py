# %% [markdown]
# # Which drive for this workload?
#
# A shop's database reads and writes 8 KiB at random, two reads for each write, and no more than one request in a
# hundred may take longer than 40 ms. How much of that does each of four drives take, and at what power?

# %%
import altair as alt
import polars as pl

import hotband as hb

alt.renderers.enable("svg")
drives = ["ent-10k", "exos-15e900-512n", "mg06sca-10tb", "s4500-960"]
hb.drives().filter(pl.col("name").is_in(drives)).select("name", "title", "kind", "capacity_bytes")

# %% [markdown]
# The question is an inverse one: not what a load gives, but which load still keeps the promise. `hb.find` searches an
# open loop (requests come whether or not the ones before were answered) for the highest rate.

# %%
shop = """
title = "shop"

[load]
closed = { threads = 1, depth = 8 }

[[streams]]
read_pct = 67
random_pct = 100
size = "8 KiB"

[[phases]]
name = "measure"
duration = "10 s"
measure = true
"""
found = hb.find("IOPS at p99 < 40 ms", shop, on=drives, ios=5_000)
found

# %% [markdown]
# Watts are those of the run at the answer, with the ends that the ranges of the catalog's values allow.

# %%
rows = []
for answer in found.answers:
    energy = answer.record.energy
    rows.append(
        {
            "drive": answer.machine,
            "IOPS": answer.record.iops,
            "watts": energy["mean_w"],
            "IOPS a watt": answer.record.iops / energy["mean_w"],
            "drives for 3,000 IOPS": -(-3_000 // answer.record.iops),
        }
    )
answers = pl.DataFrame(rows).sort("IOPS")
answers

# %%
bars = (
    alt.Chart(answers)
    .mark_bar()
    .encode(x=alt.X("IOPS:Q", scale=alt.Scale(type="symlog")), y=alt.Y("drive:N", sort=None))
)
bars.properties(width=420, height=120, title="IOPS with p99 below 40 ms")
