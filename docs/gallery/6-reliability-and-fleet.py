# %% [markdown]
# # How long data is kept: one array, and a fleet
#
# A Markov chain says how often independent drives with exponential lives lose data. A fleet is simulated: with the same
# assumptions it has to say the same, and then they are lifted one by one.

# %%
import altair as alt
import polars as pl

import hotband as hb

alt.renderers.enable("svg")


def fleet(**changed):
    """400 arrays over ten years; a key that is None is left out."""
    group = {
        "name": "archive",
        "machines": 400,
        "machine": "raid6:12xmg06sca-10tb",
        "afr": "1.5 %",
        "rebuild_time": "30 h",
        "error_rate": "none",
        "drive_power": "8 W",
    }
    given = {key: value for key, value in {**group, **changed}.items() if value is not None}
    return hb.fleet({"group": [given]}, repetitions=200, progress=False)


plain = fleet()
plain

# %%
loss = plain.summary["fleet"]["loss"]
print(
    f"simulated {loss['events']['mean']:.3g} ({loss['events']['mean_low']:.3g} to {loss['events']['mean_high']:.3g})"
)
print(f"chain     {loss['independent']:.3g}, inside: {loss['within_interval']}")

# %% [markdown]
# Batches, age, an AFR that is not known, spares that run out: how many times as often is data lost?

# %%
cases = {
    "independent": plain,
    "batches of 600 drives": fleet(batches={"drives": 600, "variance": 1.0}),
    "the same, mixed in each machine": fleet(
        batches={"drives": 600, "variance": 1.0, "mixed": True}
    ),
    "drives that wear out": fleet(afr=None, weibull={"shape": 2.0, "scale": "25 years"}),
    "AFR between 0.5 and 2.5 %": fleet(afr=["0.5 %", "2.5 %"]),
    "two spares, two weeks": fleet(spares={"on_site": 2, "delivery": "14 d"}),
}
rows = []
for name, one in cases.items():
    part = one.summary["fleet"]
    rows.append(
        {
            "case": name,
            "failures": part["failures"]["mean"],
            "losses": part["loss"]["events"]["mean"],
            "times independent": part["loss"]["events"]["mean"] / part["loss"]["independent"],
        }
    )
pl.DataFrame(rows)

# %% [markdown]
# And how many spares are enough?

# %%
spares = cases["two spares, two weeks"].summary["groups"][0]["spares"]
print(
    f"{100 * spares['waited_share']['mean']:.0f} % of the failures wait; with {spares['needed_95']} spares none does in"
)
print(f"95 of 100 fleets, with {spares['needed_99']} in 99")

# %% [markdown]
# Drives that wear out fail late, and all at once.

# %%
cases["drives that wear out"].plot("failures")
