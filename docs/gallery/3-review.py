# %% [markdown]
# # A review
#
# What testers measure of a drive, here of two: the time of an access and the server patterns at several queue depths.
# `quick` asks a quarter of the I/Os; without `only` it is all of it.

# %%
import altair as alt
import polars as pl

import hotband as hb

alt.renderers.enable("svg")
review = hb.review(["exos-15e900-512n", "ent-10k"], only=["access", "patterns"], quick=True)
review

# %% [markdown]
# The documents of the reviews are plain data, as `hotband review --json` prints them.

# %%
names = ("exos-15e900-512n", "ent-10k")
rows = [
    {
        "drive": name,
        **{key: row[key] for key in ("pattern", "queue_depth", "iops", "latency_p99_ns")},
    }
    for name, one in zip(names, review.reviews, strict=True)
    for row in one["patterns"]
]
frame = pl.DataFrame(rows)
frame.filter(pl.col("queue_depth") == pl.col("queue_depth").max())

# %%
chart = (
    alt.Chart(frame)
    .mark_line(point=True)
    .encode(
        x=alt.X("queue_depth:Q", scale=alt.Scale(type="log", base=2)),
        y="iops:Q",
        color="pattern:N",
        strokeDash="drive:N",
    )
)
chart.properties(width=420, height=240)
