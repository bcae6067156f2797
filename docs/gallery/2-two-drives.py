# %% [markdown]
# # Two drives compared
#
# Is a disk of 15,000 rpm faster than one of 10,000 rpm by more than chance? Each point of the curves is run with three
# seeds, and the table has the interval in which the mean lies.

# %%
import altair as alt
import polars as pl

import hotband as hb

alt.renderers.enable("svg")
sweep = hb.sweep(
    "iometer-database", on=["ent-10k", "ent-15k"], qd=[1, 2, 4, 8, 16, 32], repeat=3, duration="3 s"
)
sweep.plot("iops")

# %%
for line in sweep.answers:
    print(line)

# %%
means = sweep.means.select(
    "target", "qd", "runs", "iops", "iops_low", "iops_high", "latency_p99_ns"
)
means

# %% [markdown]
# Of every queue depth: how many times as fast, and whether the intervals are apart.

# %%
slow, fast = (means.filter(pl.col("target") == name) for name in ("ent-10k", "ent-15k"))
beside = slow.join(fast, on="qd", suffix="_15k")
beside.select(
    "qd",
    times=pl.col("iops_15k") / pl.col("iops"),
    apart=pl.col("iops_low_15k") > pl.col("iops_high"),
)

# %% [markdown]
# Where the time of an I/O goes says why.

# %%
one, other = (sweep.select(target=name, qd=8)[0] for name in ("ent-10k", "ent-15k"))
pl.DataFrame(
    [
        {
            "drive": record.target,
            **{part: took.ms for part, took in vars(record.read.times).items()},
        }
        for record in (one, other)
    ]
)

# %%
other
