"""Tables of records and studies, and lines next to them: pure functions of their documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, number, quantity, share, size, span
from hotband.base.text.table import (
    CHANGE,
    IOPS,
    MBS,
    MS,
    OF_ROW,
    SECONDS,
    Cell,
    Range,
    Table,
    column,
    interval,
    listing,
    numeric,
    unit_of,
)

if TYPE_CHECKING:
    from rich.text import Text

    from hotband.data.documents.record import FiguresDoc, Percentile, RecordDoc, ScriptDoc, StepDoc, VerdictDoc
    from hotband.data.documents.study import (
        ClaimDoc,
        EntropyPointDoc,
        InputDoc,
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

LATENCIES = [numeric("mean ms", MS), *(numeric(f"{name} ms", MS) for name, _ in PERCENTILES)]

DURATIONS: list[Literal["duration_mean_ns", "duration_p50_ns", "duration_p99_ns", "duration_max_ns"]] = [
    "duration_mean_ns",
    "duration_p50_ns",
    "duration_p99_ns",
    "duration_max_ns",
]


def power_loss_lines(record: RecordDoc) -> list[str]:
    """Return the losses of a power cut in one line, and a second line if mirrors disagree. Nothing if power was not
    cut."""
    loss = record.get("power_loss")
    if loss is None:
        return []
    at = f"Power cut at {span(loss['at_ns'])}:"
    if loss["lost_bytes"]:
        streams = counted(sum(1 for stream in loss["streams"] if stream["lost_writes"]), "stream")
        writes = counted(loss["lost_writes"], "write")
        lines = [f"{at} {size(loss['lost_bytes'])} of acknowledged writes lost ({writes} of {streams})"]
    else:
        lines = [f"{at} nothing acknowledged was lost ({counted(loss['acknowledged_writes'], 'write')})"]
    if loss["stale_copy_bytes"]:
        lines.append(f"  mirrors disagree on {size(loss['stale_copy_bytes'])}: one copy is good, another old")
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
    """Return whether the run met its limits, and each of them. Nothing if it has none."""
    limits = record.get("limits", [])
    if not limits:
        return []
    lines = [marked("Limits: [green]passed[/]" if record["passed"] else "Limits: [red]failed[/]")]
    for limit in limits:
        op = "reads and writes" if limit["op"] == "all" else f"{limit['op']}s"
        streams = ", ".join(limit["streams"]) or "all streams"
        figure, bound = LIMIT_WORDS[limit["figure"]], limit["bound"].replace("_", " ")
        value, most = (unit_of(limit["figure"]).shown(limit[key]) for key in ("value", "limit"))
        verdict = "passed" if limit["passed"] else "[red]failed[/]" + (" (no I/O)" if limit["value"] is None else "")
        text = f"{figure} of {op} of {streams}: {value}, {bound} {most}"
        lines.append(marked(f"  {{of}}: {verdict}", of=text))
    return lines


STEADY_WORDS = {True: "yes", False: "no", None: "too short"}
STEADY_FIGURES = {"iops": "iops", "latency": "latency_mean_ns", "bandwidth": "bandwidth_bytes_per_s"}


def steady_lines(verdict: VerdictDoc) -> list[str | Text]:
    """Return the verdict of the steady state rule on some rounds, in lines; the first names them."""
    figure = STEADY_FIGURES[verdict["track"]]
    what = f"phase {verdict['phase']}" if verdict["phase"] is not None else "measured time"
    rounds = counted(len(verdict["rounds"]), "round")
    each = span(verdict["round_ns"])
    lines: list[str | Text] = [f"{verdict['name']}: {what}, {LIMIT_WORDS[figure]} in {rounds} of {each}"]
    if verdict["reached"]:
        mean = unit_of(figure).shown(verdict["window_mean"])
        lines.append(marked(f"  [green]reached[/] in round {verdict['round']}, mean {mean}"))
    else:
        lines.append(marked("  [yellow]{words}[/]", words="too short" if verdict["reached"] is None else "not reached"))
    lines.append(f"  {verdict['why']}")
    left = verdict["left"]
    if left is not None:
        level = f"{quantity(abs(left['level_pct']), '%')} {'higher' if left['level_pct'] > 0 else 'lower'}"
        lines.append(marked(f"  [yellow]left[/] in round {left['round']}: since round {left['since']} it is {level}"))
    return lines + [f"  note: {note}" for note in verdict["notes"]]


def steady_table(verdicts: Sequence[VerdictDoc]) -> Table:
    """Return verdicts of the steady state rule, one row each, for output without words."""
    table = Table(
        "Steady state",
        [
            *map(column, ("record", "phase", "tracked", "reached")),
            numeric("in round"),
            numeric("mean", OF_ROW),
            numeric("rounds"),
            numeric("round s", SECONDS),
            column("why"),
        ],
    )
    for verdict in verdicts:
        figure = STEADY_FIGURES[verdict["track"]]
        table.add(
            verdict["name"],
            verdict["phase"] or "",
            LIMIT_WORDS[figure],
            STEADY_WORDS[verdict["reached"]],
            verdict["round"],
            verdict["window_mean"],
            len(verdict["rounds"]),
            verdict["round_ns"],
            verdict["why"],
            unit=unit_of(figure),
        )
    return table


def caches_line(record: RecordDoc) -> str | None:
    """Return the state and hit ratio of the flash read caches; None if no drive has one."""
    caches = record.get("caches")
    if caches is None:
        return None
    begin, end, after = caches["state_begin"], caches["state_end"], caches["warm_after_ns"]
    when = f"from {span(after)} on" if after else "at the end"
    state = f"{end} throughout" if begin == end else f"{begin} at first, {end} {when}"
    ratio = caches["flash_hit_ratio"]
    answered = "received no reads" if ratio is None else f"served {share(ratio)} of random reads"
    return f"Flash read cache: {state}; {answered}"


def summary_table(record: RecordDoc) -> Table:
    """Return rates and latencies of one record, by direction and step; with steps also the work of its scripts in
    each."""
    steps: list[StepDoc] = record.get("steps", [])
    scripts: list[ScriptDoc] = record.get("scripts", []) if steps else []
    columns = [numeric("IOPS", IOPS), numeric("MB/s", MBS), *LATENCIES, numeric("outstanding"), numeric("errors")]
    rates = [numeric(f"{script['unit']}s/s") for script in scripts]
    title, about = record["name"], {"record": record["name"]}
    table = Table(title, [column(""), *columns, *rates], about=about, caption=caches_line(record))
    summary = record["summary"]
    none = [None] * len(scripts)
    sides = [("read", summary["read"]), ("write", summary["write"]), ("flush", summary.get("flush"))]
    for label, figures in [*sides, ("trim", summary.get("trim"))]:
        if figures is not None and (figures["count"] or figures["errors"]):
            table.add(label, *_figures(figures), *none)
    table.add("all", *_figures(summary), *(script["per_second"] for script in scripts))
    for step in steps:
        of = {script["name"]: script["per_second"] for script in step.get("scripts", [])}
        table.add(step["name"], *_figures(step["summary"]), *(of.get(script["name"]) for script in scripts))
    return table


def summaries_table(records: Sequence[RecordDoc]) -> Table:
    """Return rates and latencies of records, one row each."""
    table = Table(
        counted(len(records), "record"), [column("record"), numeric("IOPS", IOPS), numeric("MB/s", MBS), *LATENCIES]
    )
    for record in records:
        table.add(record["name"], *_figures(record["summary"])[:-2])
    return table


def _figures(figures: FiguresDoc) -> list[float | None]:
    """Return rates and latencies, one cell each."""
    return [
        figures["iops"],
        figures["bandwidth_bytes_per_s"],
        figures["latency_mean_ns"],
        *(figures[key] for _, key in PERCENTILES),
        figures["queue_depth_mean"],
        figures["errors"],
    ]


def scripts_table(scripts: Sequence[ScriptDoc]) -> Table:
    """Return number and duration of script runs, one row per script; their ends if clients run once."""
    once = any("runs" in script for script in scripts)
    durations = [numeric(name, MS) for name in ("mean", "p50", "p99", "max")]
    ends = [numeric("first end", SECONDS), numeric("last end", SECONDS)] if once else []
    counts = [numeric("clients"), numeric("done"), numeric("a second")]
    table = Table("Scripts", [column(""), column("unit"), *counts, *durations, *ends])
    for script in scripts:
        runs = script.get("runs", [])
        ends_of = [min((run["end_ns"] for run in runs), default=None), script["last_end_ns"] if runs else None]
        table.add(
            script["name"],
            script["unit"],
            script["clients"],
            script["completed"],
            script["per_second"],
            *(script[key] for key in DURATIONS),
            *(ends_of if once else []),
        )
    return table


def app_tables(record: RecordDoc) -> list[Table]:
    """Return rate and latency of an app's operations, one row per kind, and of all operations in every step."""
    app = record.get("app")
    if app is None:
        return []
    requested = app["requested_ops_per_s"]
    target = "" if requested is None else f" of {number(requested)} requested"
    title = f"Operations ({app['kind']}): {number(app['achieved_ops_per_s'])} a second{target}"
    table = Table(title, [column(""), numeric("ops/s"), numeric("count"), *LATENCIES])
    steps = [(step["name"], step["app"]["operations"]) for step in record.get("steps", []) if "app" in step]
    for step, operations in [("", app["operations"]), *steps]:
        for operation in operations:
            table.add(
                f"{step}: {operation['name']}" if step else operation["name"],
                operation["ops_per_s"],
                operation["count"],
                operation["latency_mean_ns"],
                *(operation[key] for _, key in PERCENTILES),
            )
    return [table]


def inputs_table(inputs: Sequence[InputDoc]) -> Table:
    """Return published rows that nothing predicts, with their use."""
    return listing(
        "Given, not predicted",
        ("of", "measure", "as published", "used"),
        (
            (
                row["config"] if row["config"] not in ("data", "all") else row["workload"],
                row["metric"],
                f"{row['value']} {row['unit']}",
                row["used"],
            )
            for row in inputs
        ),
    )


def figures_table(figures: Sequence[ListedFigureDoc]) -> Table:
    """Return published next to predicted figures, with the error."""
    intervals = [figure["interval"] for figure in figures]
    level = next((interval["level"] for interval in intervals if interval is not None), None)
    table = Table(
        "Published and predicted",
        [
            column("configuration", once=True),
            column("load", once=True),
            column("measure"),
            numeric("published"),
            numeric("predicted"),
            *([] if level is None else [interval(f"{level:g} % interval")]),
            numeric("error", CHANGE),
            column("unit", wrap=False),
        ],
    )
    for figure, after in zip(figures, [*figures[1:], None], strict=True):
        error, of = figure["error_pct"], figure["interval"]
        table.add(
            figure["config"],
            figure["label"],
            figure["metric"],
            figure["published"],
            figure["predicted"],
            *([] if level is None else [None if of is None else Range(of["low"], of["high"])]),
            None if error is None else Cell(error, error_colour(error)),
            figure["unit"],
            ends=after is not None and after["config"] != figure["config"],
        )
    return table


def entropy_table(points: Sequence[EntropyPointDoc]) -> Table:
    """Return write amplification of 4 KiB random writes by entropy, next to theory."""
    columns = [column("drive"), *map(numeric, ("entropy", "model", "theory"))]
    table = Table("Write amplification against entropy", columns)
    for row in points:
        table.add(row["variant"], row["entropy"], row["write_amplification"], row.get("theory"))
    return table


def error_colour(error: float) -> str:
    """Return green up to 10 %, yellow up to 25 %, red beyond: the project's goals."""
    return "green" if abs(error) <= 10 else "yellow" if abs(error) <= 25 else "red"


def claims_table(claims: Sequence[ClaimDoc]) -> Table:
    """Return the claims of a study, and whether they hold in the model."""
    marks = {True: Cell("yes", "green"), False: Cell("no", "red"), None: None}
    rows = ((claim["text"], marks[claim["holds"]], claim["measured"]) for claim in claims)
    return listing("Claims", ("claim", "holds", "measured"), rows)


def swings_table(swings: SwingsDoc) -> Table:
    """Return the assumptions that change a prediction, with the figure that each changes most."""
    moves = [numeric("at low", CHANGE), numeric("at high", CHANGE), numeric("figures")]
    columns = [*map(column, ("assumption", "from", "to")), *moves, column("most of all")]
    table = Table("Assumptions that move a prediction by more than 10 %", columns)
    for row in swings["moved"]:
        values = (row["name"], row["low"], row["high"], row["low_pct"], row["high_pct"])
        table.add(*values, row["figures_moved"], row["label"])
    return table


def values_table(title: str, values: Sequence[tuple[str, str, tuple[str, str] | None, str, str, bool, str]]) -> Table:
    """Return every value of a drive, with its source."""
    rows = (
        (
            key,
            value,
            f"{ends[0]} .. {ends[1]}" if ends else "",
            f"{source} (estimate)" if estimate else source,
            confidence,
            note,
        )
        for key, value, ends, source, confidence, estimate, note in values
    )
    return listing(title, ("value", "used", "range", "source", "confidence", "note"), rows)


def keys_table(part: str, keys: Sequence[SetKey]) -> Table:
    """Return the keys of a part that `--set` accepts."""
    columns = [column("key", wrap=False), *map(column, ("current", "allowed", "meaning"))]
    table = Table(keys_heading(part), columns, about={"part": part})
    for key in keys:
        table.add(key.key, key.value or None, key.accepted, keys_meaning(key))
    return table


def keys_heading(part: str) -> str:
    """Return the heading of the keys of a part."""
    return part if " " in part else part.capitalize()


def keys_meaning(key: SetKey) -> str:
    """Return the meaning of a key, with its name in fio."""
    return f"{key.meaning} (fio: {key.fio})" if key.fio else key.meaning
