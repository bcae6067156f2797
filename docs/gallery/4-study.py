# %% [markdown]
# # A study and its errors
#
# A study holds a published evaluation: machines, workloads, figures. It predicts each figure from data sheets and
# physics, without fitting, and prints published beside predicted.

# %%
import altair as alt
import polars as pl

import hotband as hb

alt.renderers.enable("svg")
hb.studies()

# %%
study = hb.study("content-hdd")
print(study.title)
print(", ".join(study.loads))

# %% [markdown]
# One of its loads is enough here; claims and findings need all of them.

# %%
result = study.run(only=["8k-random-75r"])
result

# %%
result.plot()

# %%
errors = result.figures.filter(pl.col("error_pct").is_not_null())
print(f"median error {result.median_error_pct:.1f} %, largest {result.largest_error_pct:.1f} %")
errors.select(
    "config", "metric", "published", "predicted", "interval_low", "interval_high", "error_pct"
).sort("error_pct")

# %% [markdown]
# Is the published figure inside the interval that the study gives for its prediction?

# %%
inside = pl.col("published").is_between(pl.col("interval_low"), pl.col("interval_high"))
errors.filter(pl.col("interval_low").is_not_null()).select(
    inside.mean().alias("share inside"), pl.len().alias("figures")
)
