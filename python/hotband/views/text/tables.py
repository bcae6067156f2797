"""Tables for the terminal: pure functions from records and study results to rich tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hotband.base.foreign import marked
from hotband.base.text.cells import binary_size, counted, in_unit, millis, number, seconds, significant
from hotband.base.text.formats import About, Between, Figure, Repeated

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hotband.data.documents.record import FiguresDoc, Percentile, RecordDoc, ScriptDoc, StepDoc, VerdictDoc
    from hotband.data.documents.study import (
        ClaimDoc,
        EntropyPointDoc,
        InputDoc,
        IntervalDoc,
        ListedFigureDoc,
        SwingsDoc,
    )
    from hotband.data.inputs.keys import SetKey

PERCENTILES: list[tuple[str, Percentile]] = [
    ("p50", "latency_p50_ns"),
    ("p99", "latency_p99_ns"),
    ("p99.9", "latency_p999_ns"),
    ("max", "latency_max_ns"),
]

DURATIONS: list[Literal["duration_mean_ns", "duration_p50_ns", "duration_p99_ns", "duration_max_ns"]] = [
    "duration_mean_ns",
    "duration_p50_ns",
    "duration_p99_ns",
    "duration_max_ns",
]


def power_loss_lines(record: RecordDoc) -> list[str]:
    """What a loss of power cost, in a line; and one more where mirrors disagree. Nothing where power was not cut."""
    loss = record.get("power_loss")
    if loss is None:
        return []
    at = f"Power cut at {loss['at_ns'] / 1e9:g} s:"
    if loss["lost_bytes"]:
        streams = counted(sum(1 for stream in loss["streams"] if stream["lost_writes"]), "stream")
        writes = counted(loss["lost_writes"], "write")
        lines = [f"{at} {binary_size(loss['lost_bytes'])} of acknowledged writes lost ({writes} of {streams})"]
    else:
        lines = [f"{at} nothing acknowledged was lost ({counted(loss['acknowledged_writes'], 'write')})"]
    if loss["stale_copy_bytes"]:
        lines.append(f"  mirrors disagree on {binary_size(loss['stale_copy_bytes'])}: one copy is good, another old")
    return lines


LIMIT_WORDS = {
    "latency_mean_ns": "mean latency",
    "latency_p99_ns": "p99 latency",
    "latency_max_ns": "longest latency",
    "latency_interval_max_ns": "largest mean latency of an interval",
    "iops": "IOPS",
    "bandwidth_bytes_per_s": "bandwidth",
}


def limits_lines(record: RecordDoc) -> list[Text]:
    """Whether the run kept its limits, and each of them. Nothing where it has none."""
    limits = record.get("limits", [])
    if not limits:
        return []
    lines = [marked("Limits: [green]passed[/]" if record["passed"] else "Limits: [red]failed[/]")]
    for limit in limits:
        op = "reads and writes" if limit["op"] == "all" else f"{limit['op']}s"
        streams = ", ".join(limit["streams"]) or "all streams"
        figure, bound = LIMIT_WORDS[limit["figure"]], limit["bound"].replace("_", " ")
        value, most = (in_unit(limit[key], limit["figure"]) for key in ("value", "limit"))
        verdict = "passed" if limit["passed"] else "[red]failed[/]" + (" (no I/O)" if limit["value"] is None else "")
        of = f"{figure} of {op} of {streams}: {value}, {bound} {most}"
        lines.append(marked(f"  {{of}}: {verdict}", of=of))
    return lines


STEADY_FIGURES = {"iops": "iops", "latency": "latency_mean_ns", "bandwidth": "bandwidth_bytes_per_s"}


def steady_lines(verdict: VerdictDoc) -> list[str | Text]:
    """What the rule of steady state says of some rounds, in lines; the first names them."""
    figure = STEADY_FIGURES[verdict["track"]]
    what = f"phase {verdict['phase']}" if verdict["phase"] is not None else "measured time"
    rounds = counted(len(verdict["rounds"]), "round")
    seconds_each = f"{verdict['round_ns'] / 1e9:g} s"
    lines: list[str | Text] = [f"{verdict['name']}: {what}, {LIMIT_WORDS[figure]} in {rounds} of {seconds_each}"]
    if verdict["reached"]:
        mean = in_unit(verdict["window_mean"], figure)
        lines.append(marked(f"  [green]reached[/] in round {verdict['round']}, mean {mean}"))
    else:
        lines.append(marked("  [yellow]not reached[/]"))
    lines.append(f"  {verdict['why']}")
    left = verdict["left"]
    if left is not None:
        level = f"{abs(left['level_pct']):.1f} % {'higher' if left['level_pct'] > 0 else 'lower'}"
        lines.append(marked(f"  [yellow]left[/] in round {left['round']}: since round {left['since']} it is {level}"))
    return lines + [f"  note: {note}" for note in verdict["notes"]]


def steady_table(verdicts: Sequence[VerdictDoc]) -> Table:
    """What the rule of steady state says, a line a verdict, where words are not asked for."""
    from rich.table import Table

    table = Table(title="Steady state", title_justify="left")
    for name in ("record", "phase", "tracked", "reached", "in round", "mean", "rounds", "round s", "why"):
        right = name in ("in round", "mean", "rounds", "round s")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for one in verdicts:
        figure = STEADY_FIGURES[one["track"]]
        length = one["round_ns"] / 1e9
        table.add_row(
            one["name"],
            one["phase"] or "",
            LIMIT_WORDS[figure],
            "yes" if one["reached"] else "no",
            "" if one["round"] is None else str(one["round"]),
            in_unit(one["window_mean"], figure),
            str(len(one["rounds"])),
            Figure(f"{length:g}", length),
            one["why"],
        )
    return table


def caches_line(record: RecordDoc) -> str | None:
    """How warm the flash read caches were and how often they answered; none where no drive has one."""
    caches = record.get("caches")
    if caches is None:
        return None
    begin, end, after = caches["state_begin"], caches["state_end"], caches["warm_after_ns"]
    when = f"from {after / 1e9:,.0f} s on" if after else "at the end"
    state = f"{end} throughout" if begin == end else f"{begin} at first, {end} {when}"
    ratio = caches["flash_hit_ratio"]
    answered = "was asked nothing" if ratio is None else f"answered {ratio:.1%} of random reads"
    return f"Flash read cache: {state}; {answered.replace('%', ' %')}"


def summary_table(record: RecordDoc) -> Table:
    """Rates and latencies of one record, by direction and step; with steps also what its scripts did in each."""
    from rich.table import Table

    title = About(record["name"], {"record": record["name"]})
    table = Table(title=title, title_justify="left", caption=caches_line(record), caption_justify="left")
    table.add_column("")
    steps: list[StepDoc] = record.get("steps", [])
    scripts: list[ScriptDoc] = record.get("scripts", []) if steps else []
    for name in [
        "IOPS",
        "MB/s",
        "mean ms",
        *(f"{name} ms" for name, _ in PERCENTILES),
        "outstanding",
        "errors",
        *(f"{script['unit']}s/s" for script in scripts),
    ]:
        table.add_column(name, justify="right")
    summary = record["summary"]
    for label, figures in (("read", summary["read"]), ("write", summary["write"])):
        if figures["count"] or figures["errors"]:
            table.add_row(label, *_figures(figures))
    table.add_row("all", *_figures(summary), *(number(script["per_second"], 2) for script in scripts))
    for step in steps:
        rates = {script["name"]: script["per_second"] for script in step.get("scripts", [])}
        cells = (number(rates.get(script["name"]), 2) for script in scripts)
        table.add_row(step["name"], *_figures(step["summary"]), *cells)
    return table


def _figures(figures: FiguresDoc) -> list[str]:
    """Rates and latencies, a cell each."""
    volume = figures["bandwidth_bytes_per_s"]
    return [
        number(figures["iops"]),
        number(None if volume is None else volume / 1e6),
        millis(figures["latency_mean_ns"]),
        *(millis(figures[key]) for _, key in PERCENTILES),
        number(figures["queue_depth_mean"], 2),
        str(figures["errors"]),
    ]


def scripts_table(scripts: Sequence[ScriptDoc]) -> Table:
    """How often scripts were run and how long a run took, one line a script; ends where clients run once."""
    from rich.table import Table

    table = Table(title="Scripts", title_justify="left")
    longest: int = max((script["duration_max_ns"] or 0 for script in scripts), default=0)
    unit, shown = ("s", seconds) if longest >= 1_000_000_000 else ("ms", millis)
    once = any("runs" in script for script in scripts)
    table.add_column("")
    table.add_column("unit")
    ends = ["first end s", "last end s"] if once else []
    durations = [f"{name} {unit}" for name in ("mean", "p50", "p99", "max")]
    for name in ("clients", "done", "a second", *durations, *ends):
        table.add_column(name, justify="right")
    for script in scripts:
        runs = script.get("runs", [])
        ends_of = [min((run["end_ns"] for run in runs), default=None), script["last_end_ns"] if runs else None]
        table.add_row(
            script["name"],
            script["unit"],
            str(script["clients"]),
            number(script["completed"], 0),
            number(script["per_second"], 2),
            *(shown(script[key]) for key in DURATIONS),
            *(seconds(end) for end in ends_of if once),
        )
    return table


def app_tables(record: RecordDoc) -> list[Table]:
    """Operations of an app: rate and latency of each kind, one line a kind, and of all in every step."""
    from rich.table import Table

    app = record.get("app")
    if app is None:
        return []
    requested = app["requested_ops_per_s"]
    asked = "" if requested is None else f" of {number(requested)} requested"
    title = f"Operations ({app['kind']}): {number(app['achieved_ops_per_s'])} a second{asked}"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for name in ("ops/s", "count", "mean ms", *(f"{name} ms" for name, _ in PERCENTILES)):
        table.add_column(name, justify="right")
    steps = [(step["name"], step["app"]["operations"]) for step in record.get("steps", []) if "app" in step]
    for step, operations in [("", app["operations"]), *steps]:
        for operation in operations:
            table.add_row(
                f"{step}: {operation['name']}" if step else operation["name"],
                number(operation["ops_per_s"]),
                number(operation["count"], 0),
                millis(operation["latency_mean_ns"]),
                *(millis(operation[key]) for _, key in PERCENTILES),
            )
    return [table]


def inputs_table(inputs: Sequence[InputDoc]) -> Table:
    """Published rows that nothing predicts, and what they are used for."""
    from rich.table import Table

    table = Table(title="Given, not predicted", title_justify="left")
    for name in ("of", "measure", "as published", "used"):
        table.add_column(name, overflow="fold")
    for row in inputs:
        of = row["config"] if row["config"] not in ("data", "all") else row["workload"]
        table.add_row(of, row["metric"], f"{row['value']} {row['unit']}", row["used"])
    return table


def figures_table(figures: Sequence[ListedFigureDoc]) -> Table:
    """Published beside predicted, with the error."""
    from rich.table import Table

    table = Table(title="Published and predicted", title_justify="left")
    for name in ("configuration", "load", "measure"):
        table.add_column(name, overflow="fold")
    intervals = [figure["interval"] for figure in figures]
    level = next((one["level"] for one in intervals if one is not None), None)
    between = [] if level is None else [f"{level:g} % interval"]
    for name in ("published", "predicted", *between, "error", "unit"):
        table.add_column(name, justify="left" if name == "unit" else "right", no_wrap=True)
    last: tuple[str, str] | None = None
    for figure in figures:
        place = (figure["config"], figure["label"])
        error = figure["error_pct"]
        if last is not None and place[0] != last[0]:
            table.add_section()
        table.add_row(
            # As CSV every row says what it is of.
            Repeated(place[0], last is not None and place[0] == last[0]),
            Repeated(place[1], place == last),
            figure["metric"],
            significant(figure["published"]),
            significant(figure["predicted"]),
            *([] if level is None else [ends(figure["interval"])]),
            "" if error is None else Figure(f"{error:+.1f} %", error, "%", error_colour(error)),
            figure["unit"],
        )
        last = place
    return table


def ends(interval: IntervalDoc | None) -> str:
    """The ends of an interval, three significant digits each; nothing for none."""
    from hotband.views.interval import rounded

    if interval is None:
        return ""
    low, high = interval["low"], interval["high"]
    return Between(f"{rounded(low)} to {rounded(high)}", low, high)


def entropy_table(points: Sequence[EntropyPointDoc]) -> Table:
    """Write amplification of 4 KiB random writes by entropy, beside what theory says."""
    from rich.table import Table

    table = Table(title="Write amplification against entropy", title_justify="left")
    for name in ("drive", "entropy", "model", "theory"):
        table.add_column(name, justify="left" if name == "drive" else "right")
    for row in points:
        values = (row["entropy"], row["write_amplification"], row.get("theory"))
        table.add_row(row["variant"], *map(significant, values))
    return table


def error_colour(error: float) -> str:
    """Green to 10 %, yellow to 25 %, red beyond: the bounds that the project sets itself."""
    return "green" if abs(error) <= 10 else "yellow" if abs(error) <= 25 else "red"


def claims_table(claims: Sequence[ClaimDoc]) -> Table:
    """Claims of a study and whether they hold in the model."""
    from rich.table import Table

    table = Table(title="Claims", title_justify="left")
    for name in ("claim", "holds", "measured"):
        table.add_column(name, overflow="fold")
    for claim in claims:
        mark = marked({True: "[green]yes[/]", False: "[red]no[/]", None: "–"}[claim["holds"]])
        table.add_row(claim["text"], mark, claim["measured"])
    return table


def swings_table(swings: SwingsDoc) -> Table:
    """Assumptions that move a prediction, with the figure that each moves most."""
    from rich.table import Table

    table = Table(title="Assumptions that move a prediction by more than 10 %", title_justify="left")
    for name in ("assumption", "from", "to"):
        table.add_column(name, overflow="fold")
    for name in ("at low", "at high", "figures"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("most of all", overflow="fold")
    for row in swings["moved"]:
        moves = (row["low_pct"], row["high_pct"])
        ends = [Figure("–" if moved is None else f"{moved:+.0f} %", moved, "%") for moved in moves]
        table.add_row(row["name"], row["low"], row["high"], *ends, str(row["figures_moved"]), row["label"])
    return table


def values_table(title: str, values: Sequence[tuple[str, str, tuple[str, str] | None, str, str, bool, str]]) -> Table:
    """Every value of a drive, with source."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in ("value", "used", "range", "source", "confidence", "note"):
        table.add_column(name, overflow="fold")
    for key, value, span, source, confidence, estimate, note in values:
        shown = f"{span[0]} .. {span[1]}" if span else ""
        table.add_row(key, value, shown, f"{source} (estimate)" if estimate else source, confidence, note)
    return table


def keys_table(part: str, keys: Sequence[SetKey]) -> Table:
    """What `--set` takes of a part."""
    from rich.table import Table

    table = Table(title=About(part if " " in part else part.capitalize(), {"part": part}), title_justify="left")
    table.add_column("key", no_wrap=True)
    for name in ("today", "takes", "meaning"):
        table.add_column(name, overflow="fold")
    for one in keys:
        meaning = f"{one.meaning} (fio: {one.fio})" if one.fio else one.meaning
        table.add_row(one.key, one.value or "–", one.accepted, meaning)
    return table
