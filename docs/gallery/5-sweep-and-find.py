# %% [markdown]
# # A sweep with intervals, and the way back
#
# Nobody knows every value of a drive. Values with a range are drawn, each run is repeated with the draws, and every
# figure has an interval. Then the inverse question: which queue depth is deep enough?

# %%
import altair as alt

import hotband as hb

alt.renderers.enable("svg")
record = hb.run("fio-randread", on="ent-10k", qd=8, duration="1 s", interval=90, draws=8)
record

# %%
for name, interval in record.intervals.items():
    print(f"{name}: {interval.predicted} ({interval.low} to {interval.high})")

# %%
sweep = hb.sweep(
    "fio-randread", on="ent-10k", qd=[1, 4, 16, 64], duration="1 s", interval=90, draws=8
)
frame = sweep.frame.select("qd", "iops", "iops_interval_low", "iops_interval_high")
frame

# %%
base = alt.Chart(frame).encode(x=alt.X("qd:Q", scale=alt.Scale(type="log", base=2)))
band = base.mark_area(opacity=0.2).encode(y="iops_interval_low:Q", y2="iops_interval_high:Q")
(band + base.mark_line(point=True).encode(y="iops:Q")).properties(width=420, height=220)

# %%
hb.find("queue depth for 90 % of the most", "fio-randread", on="ent-10k", ios=4_000)

# %%
hb.find("IOPS at p99 < 40 ms", "fio-randread", on="ent-10k", ios=4_000)
