"""Machines, loads and events that nobody would put together, drawn by Hypothesis."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

Spec = dict[str, Any]
DISKS = ("savvio-10k1", "exos-15e900-512n", "exos-x18-18tb", "cheetah-15k4", "st14000nm0001")
SEVERAL_ACTUATORS = ("st14000nm0001",)
SOLID = ("s4500-960", "nytro-1351-960-plain", "pm9a3-3840")
NEEDS = {"raid0": 2, "concat": 2, "raid1": 2, "raid10": 4, "raid5": 3, "raid6": 4, "raidz1": 3, "raidz2": 4}
"""Members that a layout needs."""
POOL = "replicated"
NO_POWER_LOSS = (POOL, "raidz1", "raidz2")
DEPTHS = (1, 2, 3, 8, 32, 64)
LARGEST = 256 << 10
OPEN = 10**6
"""What may be outstanding at most in a load that does not wait for answers."""
SHARES = ((100,), (60, 40), (50, 30, 20))
PLACES = (
    {"zipf": {"exponent": 0.99}},
    {"hotspot": {"data": "20 %", "ios": "80 %"}},
    {"near": {"ios": "30 %", "within": "1 MiB"}},
)


class Happening(NamedTuple):
    """Events of a run whose measured time is 300 ms or more, and spares; and whether no other run may follow."""

    events: tuple[str, ...] = ()
    spares: int = 0
    needs_one_run: bool = False


def often(draw: st.DrawFn, one_in: int) -> bool:
    """True once in so many times."""
    return draw(st.integers(1, one_in)) == one_in


@st.composite
def stacked(draw: st.DrawFn) -> tuple[int, Spec]:
    """Layouts upon one another, the last on top, and the drives that they need; none where there is a drive alone."""
    kind = draw(st.sampled_from(("", *NEEDS, "controller", POOL)))
    if kind == POOL:
        return 4, {"data": {kind: {"members": "d*", "replicas": draw(st.integers(2, 3)), "image": "1 GiB"}}}
    layouts: Spec = {}
    drives = 1
    if kind in NEEDS:
        each = "" if kind.startswith("raidz") else draw(st.sampled_from(("", "", "controller", "raid1", "raid0")))
        wide, parts = NEEDS.get(each, 1), NEEDS[kind] + 2 * draw(st.integers(0, 1))
        drives = parts * wide
        if each:
            for part in range(parts):
                layouts[f"m{part}"] = {each: {"members": f"d{part * wide}..d{part * wide + wide - 1}"}}
        layouts["data"] = {kind: {"members": ",".join(layouts) or "d*"}}
    if kind == "controller" or (layouts and draw(st.booleans())):
        cached = "md" if kind in ("raid5", "raid6") and draw(st.booleans()) else "controller"
        options = {"cache": draw(st.sampled_from(("16 MiB", "1 GiB")))} if cached == "controller" else {}
        layouts["top"] = {cached: {"members": "data" if layouts else "d0", **options}}
    return drives, layouts


@st.composite
def machines(draw: st.DrawFn) -> Spec:
    """A machine of one volume, with a queue, cores or a wire where it comes so."""
    product = draw(st.sampled_from(DISKS + SOLID))
    drives, layouts = draw(stacked())
    own = {"scale": 256} if product in SOLID else {"wce": draw(st.sampled_from(("on", "off")))}
    if product in SEVERAL_ACTUATORS:
        own["exposes"] = "one"
    volume: Spec = {"on": [*layouts, "d0"][max(len(layouts) - 1, 0)]}
    if draw(st.booleans()):
        volume["queue"] = draw(st.sampled_from((1, 2, 8)))
    machine: Spec = {"drives": {"d": {"product": product, "count": drives, "set": own}}}
    machine |= {"layouts": layouts} if layouts else {}
    machine["volumes"] = {"v": volume}
    if often(draw, 4):
        machine["host"] = {"cores": draw(st.integers(1, 3)), "submit": "3 us", "complete": "5 us"}
    if often(draw, 4):
        machine["links"] = {"wire": {"lanes": 1, "rate": "600 MB/s", "per_command": "2 us", "carries": "d*"}}
    return machine


def drives_of(machine: Spec) -> Spec:
    """The one line of drives."""
    return machine["drives"]["d"]


def kinds_of(machine: Spec) -> set[str]:
    """What its layouts are."""
    return {kind for layout in machine.get("layouts", {}).values() for kind in layout}


@st.composite
def streams(draw: st.DrawFn, name: str) -> Spec:
    """A stream without its share."""
    kib = draw(st.sampled_from((4, 16, 64, 256)))
    stream = {
        "name": name,
        "read_pct": draw(st.sampled_from((0, 50, 100))),
        "random_pct": draw(st.sampled_from((0, 30, 100))),
    }
    stream |= {"sizes": {f"{kib} KiB": 50, "8 KiB": 50}} if often(draw, 3) else {"size": f"{kib} KiB"}
    if stream["random_pct"]:
        stream["random_mode"] = draw(st.sampled_from(("coin", "run")))
        if often(draw, 3):
            stream["offsets"] = draw(st.sampled_from(PLACES))
    if stream["random_pct"] < 100 and often(draw, 4):
        stream["cursor"] = "per-thread"
    if stream["read_pct"] < 100:
        if often(draw, 4):
            stream["flush_every"] = draw(st.sampled_from((1, 8)))
        if often(draw, 5):
            stream["fua"] = True
    if often(draw, 2):
        stream["range"] = draw(st.sampled_from((["0 GB", "1 GB"], ["50 %", "100 %"])))
    return stream


@st.composite
def askers(draw: st.DrawFn) -> tuple[Spec, int]:
    """A loop, a rate or bursts, and what is outstanding at most."""
    of = draw(st.sampled_from(("closed", "closed", "closed", "closed", "open", "bursts")))
    if of == "open":
        arrival = draw(st.sampled_from(("fixed", "poisson")))
        return {of: {"rate_iops": draw(st.sampled_from((20, 500, 3000))), "arrival": arrival}}, OPEN
    if of == "bursts":
        return {of: {"ios": draw(st.sampled_from((1, 32))), "every": "50 ms"}}, OPEN
    closed: Spec = {"threads": draw(st.sampled_from((1, 2, 4))), "depth": draw(st.sampled_from(DEPTHS))}
    if often(draw, 4):
        closed["think"] = "1 ms"
    return {of: closed}, closed["threads"] * closed["depth"]


@st.composite
def loads(draw: st.DrawFn) -> tuple[Spec, int]:
    """A workload of one to three streams, and its I/Os outstanding at most."""
    shares = draw(st.sampled_from(SHARES))
    made = [draw(streams(f"s{number}")) for number in range(len(shares))]
    load, most = draw(askers())
    workload: Spec = {"title": "made", "source": "made"}
    if len(made) > 1 and often(draw, 4):
        made = [{**stream, "load": load} for stream in made]
        most *= len(made)
    else:
        workload["load"] = load
        made = [{**stream, "share_pct": share} for stream, share in zip(made, shares, strict=True)]
    phases: list[Spec] = [{"name": "measured", "duration": "300 ms", "measure": True}]
    if draw(st.booleans()):
        phases.append({"name": "again", "duration": "300 ms", "measure": True})
    if draw(st.booleans()):
        phases[0]["drain"] = True
    if draw(st.booleans()):
        phases.insert(0, {"name": "before", "duration": "200 ms"})
    return {**workload, "streams": made, "phases": phases}, most


@st.composite
def happenings(draw: st.DrawFn, machine: Spec) -> Happening:
    """What happens to that machine, of what its layouts and drives take."""
    count, has = drives_of(machine)["count"], kinds_of(machine)
    takes = ["", "fail"]
    takes += ["osd-out"] if POOL in has else []
    takes += [] if has & set(NO_POWER_LOSS) else ["power-off"]
    takes += ["set"] if "wce" in drives_of(machine)["set"] else []
    kind = draw(st.sampled_from(takes))
    at = draw(st.sampled_from(("50 ms", "100 ms", "299 ms")))
    if kind == "fail":
        one = draw(st.integers(0, count - 1))
        events = [f"at {at}: fail d{one}"]
        if count > 1 and POOL not in has and often(draw, 3):
            events.append(f"at 200 ms: fail d{(one + draw(st.integers(1, count - 1))) % count}")
        return Happening(tuple(events), spares=draw(st.integers(0, 1)))
    if kind == "osd-out":
        return Happening((f"at {at}: osd-out data.1",))
    if kind == "power-off":
        return Happening((f"at {at}: power-off",), needs_one_run=True)
    if kind == "set":
        turns = [draw(st.sampled_from(("on", "off"))) for _ in range(2)]
        return Happening((f"at {at}: set d0.wce={turns[0]}", f"at 250 ms: set d0.wce={turns[1]}"))
    return Happening()


@st.composite
def cases(draw: st.DrawFn) -> tuple[Spec, tuple[Spec, int], Happening]:
    """A machine, a load, and what happens."""
    machine = draw(machines())
    return machine, draw(loads()), draw(happenings(machine))
