"""Display of a result on the page: sentences first, then large numbers, charts and tables, as JSON. Words and tables
are those of the commands, so that page and terminal agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from hotband.base.heavy import pl
from hotband.base.text.formats import plain
from hotband.base.text.numbers import number, rate, span
from hotband.base.text.table import Table, View
from hotband.data.record.frames import percentile_points
from hotband.data.record.pools import pool_lines
from hotband.data.record.remarks import remarks_of
from hotband.data.record.repair import repair_lines
from hotband.data.record.states import said_of
from hotband.data.record.steady import of_phases
from hotband.data.record.trace import trace_lines
from hotband.data.record.unmodelled import other_notes, unmodelled_notes
from hotband.inference.audit.headline import headline
from hotband.views.advise.show import advice_views
from hotband.views.audit import comparison_view, overview_table
from hotband.views.expect import views
from hotband.views.find import answer_views
from hotband.views.fleet.show import closing_lines, figures_table, group_lines, groups_table, years_table
from hotband.views.interval import interval_lines
from hotband.views.record.energy import energy_lines
from hotband.views.report import naming
from hotband.views.report.answer import answer
from hotband.views.review import comparison_views, review_views
from hotband.views.study.show import result_views
from hotband.views.sweeps.curves import LOADS, TITLES
from hotband.views.sweeps.show import said_below, sweep_table
from hotband.views.text.tables import app_tables, limits_lines, power_loss_lines, scripts_table, steady_lines
from hotband.views.text.tables import summary_table as summary
from hotband.views.text.wear import smart_lines

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.record.record import Record
    from hotband.questions.advise.advice import Advice
    from hotband.questions.calibrate.calibrated import Calibrated
    from hotband.questions.compare import Compared
    from hotband.questions.expect.expected import Expected
    from hotband.questions.find.found import Found
    from hotband.questions.fleet.result import Fleet
    from hotband.questions.review.many import Reviewed
    from hotband.questions.study.result import StudyResult
    from hotband.questions.sweeps.sweep import Sweep


class ColumnDoc(TypedDict):
    """A heading, and whether its column holds numbers."""

    name: str
    numeric: bool


class TableDoc(TypedDict):
    """A table of texts."""

    title: str
    columns: list[ColumnDoc]
    rows: list[list[str]]


class LineDoc(TypedDict):
    """A line of a chart: its name, and its points (x, y); y is None if nothing was measured."""

    name: str
    points: list[tuple[float, float | None]]


class ChartDoc(TypedDict):
    """A chart of lines; `x_log` if values double, `dots` if its points are not connected. With `y_log` the vertical
    axis is logarithmic; with `nines` the horizontal one counts nines (1 is the 90th percentile, 2 the 99th)."""

    title: str
    x: str
    x_log: bool
    dots: NotRequired[bool]
    y_log: NotRequired[bool]
    nines: NotRequired[bool]
    lines: list[LineDoc]


class Shown(TypedDict):
    """The display of a result: `lead` is the answer, `cards` are pairs of value and meaning."""

    lead: list[str]
    cards: list[tuple[str, str]]
    charts: list[ChartDoc]
    tables: list[TableDoc]
    notes: list[str]


MONTHS_A_YEAR = 12
DISTRIBUTION_POINTS = 80
"""Points of a latency distribution: more than the width of a chart on a phone can show."""
MOST_MACHINES_DRAWN = 6
"""Most machines whose distributions share a chart: reads and writes of six are twelve lines, as many as its legend
lists."""
MOST_ROWS = 400
"""Most rows of a table on the page; the report or the store has all."""


def table_doc(table: Table) -> TableDoc:
    """Return a table of the terminal; a line of a cell is a line on the page."""
    columns: list[ColumnDoc] = [
        {"name": plain(column.name), "numeric": column.kind != "text"} for column in table.columns
    ]
    return {"title": table.title, "columns": columns, "rows": table.texts()[:MOST_ROWS]}


def of_views(views: Iterable[View | None], lead: Sequence[str] = ()) -> Shown:
    """Return the output of a command: its tables, and its lines as notes. A single line before a table without a title
    becomes its title."""

    shown = Shown(lead=list(lead), cards=[], charts=[], tables=[], notes=[])
    for view in views:
        if isinstance(view, Table):
            made = table_doc(view)
            if not made["title"] and shown["notes"]:
                made["title"] = shown["notes"].pop()
            shown["tables"].append(made)
        elif view is not None and plain(view):
            shown["notes"].append(plain(view))
    return shown


# --- a run ------------------------------------------------------------------------------------------------------


def of_record(record: Record) -> Shown:
    """Return a run, or a result of another tool."""
    document = record.to_dict()
    shown = of_views(record_views(document))
    shown["lead"] = list(answer(naming.named([record.loaded()])).sentences)
    shown["cards"] = cards_of(document)
    shown["charts"] = [*charts_of(record), *distributions([("", record)])]
    return shown


def record_views(record: RecordDoc) -> list[View]:
    """Return the output of `hotband run`."""
    scripts: list[View] = [scripts_table(record["scripts"])] if "scripts" in record else []
    intervals: list[View] = [*interval_lines(record["intervals"])] if "intervals" in record else []
    steady: list[View] = [line for verdict in of_phases(record) for line in steady_lines(verdict)]
    lines: list[View] = [*smart_lines(record), *energy_lines(record), *limits_lines(record), *power_loss_lines(record)]
    return [
        *(f"! {note}." for note in unmodelled_notes(record)),
        summary(record),
        *app_tables(record),
        *scripts,
        *intervals,
        *said_of(record),
        *(f"pool: {line}" for line in pool_lines(record)),
        *(f"note: {note}" for note in (*remarks_of(record), *other_notes(record))),
        *steady,
        *lines,
        *repair_lines(record),
        *trace_lines(record),
    ]


def cards_of(record: RecordDoc) -> list[tuple[str, str]]:
    """Return the main figures."""
    summary = record["summary"]
    return [
        (number(summary.get("iops")), "IOPS"),
        (rate(summary.get("bandwidth_bytes_per_s")), "bandwidth"),
        (span(summary.get("latency_mean_ns")), "mean latency"),
        (span(summary.get("latency_p99_ns")), "p99 latency"),
    ]


def charts_of(record: Record) -> list[ChartDoc]:
    """Return IOPS and latency over time, of all streams together; none for results without a series."""
    series = record.series
    if series is None or series.height == 0 or "iops" not in series.columns:
        return []
    weighted = pl.col("latency_mean_ns").fill_null(0.0) * pl.col("iops")
    summed = series.group_by("time_ns", "direction", maintain_order=True).agg(
        pl.col("iops").sum(),
        (weighted.sum() / pl.col("iops").sum()).fill_nan(None).alias("mean"),
        pl.col("latency_p99_ns").max().alias("p99"),
    )
    directions = [name for name in ("read", "write") if name in summed["direction"].to_list()]
    if not directions:
        return []
    rates = [_line(f"{name}s", summed.filter(direction=name), "iops", 1.0) for name in directions]
    latencies = [
        _line(f"{words} of {name}s", summed.filter(direction=name), column, 1e6)
        for name in directions
        for column, words in (("mean", "mean"), ("p99", "p99"))
    ]
    return [
        {"title": "IOPS", "x": "measured time (s)", "x_log": False, "lines": rates},
        {"title": "Latency (ms)", "x": "measured time (s)", "x_log": False, "y_log": True, "lines": latencies},
    ]


def distributions(records: Sequence[tuple[str, Record]]) -> list[ChartDoc]:
    """Return the chart of latency by percentile: one line per direction of each named record; none without buckets."""
    lines: list[LineDoc] = []
    for name, record in records:
        for direction, figures in (("reads", record.read), ("writes", record.write)):
            buckets = [(float(latency), count) for latency, count in figures.histogram["buckets"]]
            points = percentile_points(buckets, DISTRIBUTION_POINTS)
            if points:
                label = f"{name}, {direction}" if name else direction
                lines.append({"name": label, "points": [(nines, latency / 1e6) for nines, latency in points]})
    if not lines:
        return []
    title = "Latency by percentile (ms)"
    return [{"title": title, "x": "percentile", "x_log": False, "nines": True, "y_log": True, "lines": lines}]


def _line(name: str, frame: pl.DataFrame, column: str, scale: float) -> LineDoc:
    pairs = zip(frame["time_ns"], frame[column], strict=True)
    return {"name": name, "points": [(time / 1e9, None if value is None else value / scale) for time, value in pairs]}


# --- many runs --------------------------------------------------------------------------------------------------


def of_sweep(sweep: Sweep) -> Shown:
    """Return the curves of a sweep and the answer in words."""
    if not len(sweep):
        return of_views([], ["No run ended before it was stopped."])
    shown = of_views([sweep_table(sweep), *said_below(sweep)], sweep.answers)
    shown["charts"] = curves_of(sweep)
    if sweep.missing:
        shown["lead"].insert(0, f"Stopped: {len(sweep)} of {len(sweep.points)} runs ended.")
    return shown


def of_machines(sweep: Sweep) -> Shown:
    """Return runs of a workload on several machines: the table of a sweep, and their latency distributions."""
    shown = of_sweep(sweep)
    machines = [
        (str(point["target"]), record)
        for point, record in zip(sweep.points, sweep.records, strict=True)
        if record is not None
    ]
    shown["charts"] += distributions(machines[:MOST_MACHINES_DRAWN])
    return shown


def curves_of(sweep: Sweep) -> list[ChartDoc]:
    """Return IOPS and p99 latency along the axis of the load, else the first numeric axis; none without one."""
    frame = sweep.means
    axes = [name for name in sweep.axes if name != "seed"]
    numbers = [name for name in axes if _numbers(frame, name) is not None]
    along = next((name for name in numbers if name in LOADS), next(iter(numbers), None))
    if along is None:
        return []
    column = _numbers(frame, along)
    assert column is not None, "it was chosen for that"
    others = [name for name in axes if name != along]
    frame = frame.with_columns(column.alias("along"))
    title = TITLES.get(along, along) + ("" if column.name == along else f" ({column.name.removeprefix(along + '_')})")
    charts: list[ChartDoc] = []
    for name, y, scale in (("IOPS", "iops", 1.0), ("p99 latency (ms)", "latency_p99_ns", 1e6)):
        groups = frame.group_by(others, maintain_order=True) if others else [((), frame)]
        lines: list[LineDoc] = []
        for values, rows in groups:
            label = ", ".join(
                str(value) if key in ("target", "workload") else f"{key} {value}"
                for key, value in zip(others, values, strict=True)
            )
            pairs = zip(rows["along"], rows[y], strict=True)
            points = sorted((float(x), None if label is None else float(label) / scale) for x, label in pairs)
            lines.append({"name": label or name, "points": points})
        is_latency = y.startswith("latency")
        charts.append({"title": name, "x": title, "x_log": _doubles(column), "y_log": is_latency, "lines": lines})
    return charts


def _numbers(frame: pl.DataFrame, axis: str) -> pl.Series | None:
    """Return the values of an axis as numbers; those with units have a separate column."""
    for name in (axis, f"{axis}_bytes", f"{axis}_s"):
        if name in frame.columns and frame[name].dtype.is_numeric():
            return frame[name]
    return None


LOG_FROM = 8.0
"""Ratio of largest to smallest value from which the axis of values that double is logarithmic, as in
`sweeps/curves.py`."""


def _doubles(column: pl.Series) -> bool:
    values: list[float] = sorted(set(column.drop_nulls().to_list()))
    if len(values) < 3 or values[0] <= 0 or values[-1] / values[0] < LOG_FROM:
        return False
    return values[-1] - values[-2] > 1.5 * (values[1] - values[0])


def of_found(answers: Found) -> Shown:
    """Return answers, with the search that led to them."""
    lead = [f"{answer.machine}: {answer.text}." for answer in answers.answers]
    shown = of_views([view for view in answer_views(answers)], lead)
    shown["notes"] = [line.strip() for line in shown["notes"]]
    return shown


def of_compared(compared: Compared, names: Mapping[str, str]) -> Shown:
    """Return differences with their intervals; `names` describes sides that are named by their ids."""
    comparisons = compared.comparisons
    overview = [overview_table(comparisons)] if len(comparisons) > 1 else []
    # The first view of each comparison is the verdict, which is the lead here.
    views = [*overview, *(view for comparison in comparisons for view in comparison_view(comparison)[1:])]
    return of_views(views, [headline(comparison, names) for comparison in comparisons])


def of_advice(advice: Advice) -> Shown:
    """Return the recommendation, and the Pareto front from which it was chosen."""
    printed = {*advice.answer, *advice.rests_on}
    shown = of_views([view for view in advice_views(advice, every=True) if str(view) not in printed], advice.answer)
    shown["notes"] = [*advice.rests_on, *shown["notes"]]
    chart = _front(advice)
    shown["charts"] = [] if chart is None else [chart]
    return shown


def _front(advice: Advice) -> ChartDoc | None:
    """Return latency over cost, or over watts without prices; None for fewer than two points."""
    priced = any(point.cost is not None for point in advice.front)
    places = {
        point.name: (candidate.value, 1e3 * point.latency.value)
        for point in advice.front
        if (candidate := point.cost if priced else point.watts) is not None
    }
    if len(places) < 2:
        return None
    chosen = advice.recommended.name if advice.recommended is not None else ""
    others: LineDoc = {"name": "front", "points": sorted(at for name, at in places.items() if name != chosen)}
    best: LineDoc = {"name": "recommended", "points": [at for name, at in places.items() if name == chosen]}
    along = f"cost ({advice.currency})" if priced else "watts"
    return {"title": f"{advice.figure} (ms)", "x": along, "x_log": False, "dots": True, "lines": [others, best]}


def of_fleet(fleet: Fleet) -> Shown:
    """Return the results of a fleet: figures over time, by group and by year."""
    from hotband.questions.fleet.result import WHOLE

    data = fleet.summary
    several = [groups_table(data)] if len(data["groups"]) > 1 else []
    tables: list[View] = [figures_table(data), *several, years_table(fleet)]
    shown = of_views([*tables, *group_lines(data), *closing_lines(data)], fleet.answers)
    if not fleet.complete:
        shown["lead"].insert(0, f"Stopped: {fleet.repetitions:,} of {fleet.spec.repetitions:,} repetitions ended.")
    # A fleet of one group has no rows of all groups together.
    months = fleet.frame.filter(group=WHOLE if several else data["groups"][0]["name"])
    for name, title in (("failures", "Drives that fail in a month"), ("rebuilds", "Rebuilds under way")):
        lines: list[LineDoc] = [
            {"name": line, "points": list(zip(months["month"] / MONTHS_A_YEAR, months[key], strict=True))}
            for line, key in (("mean", name), ("2.5 % of repetitions", f"{name}_low"), ("97.5 %", f"{name}_high"))
        ]
        shown["charts"].append({"title": title, "x": "years", "x_log": False, "lines": lines})
    return shown


def of_expected(expected: Expected) -> Shown:
    """Return measured next to predicted figures, the verdict first."""
    # The first line is the verdict, which is the lead here.
    first, *others = views(expected)
    shown = of_views(others, [str(first)])
    shown["notes"] = [line.strip() for line in shown["notes"]]
    return shown


def of_calibrated(fitted: Calibrated, file: str) -> Shown:
    """Return the fitted values; `file` is the name of the written product in forms."""
    from hotband.views.calibrate import views

    first, *others = views(fitted)
    shown = of_views(others, [str(first), f"It is the drive {file}: enter this name wherever a machine is expected."])
    shown["notes"] = [line.strip() for line in shown["notes"]]
    return shown


# --- reviews and studies ----------------------------------------------------------------------------------------


def of_review(done: Reviewed) -> Shown:
    """Return reviewed machines, and their comparison."""
    lead = ["Stopped before all parts were done."] if done.interrupted else []
    if not done.reviews:
        return of_views([], lead)
    each = [of_views(review_views(review)) for review in done.reviews]
    if done.comparison is None:
        whole = each[0]
        return {**whole, "lead": lead or whole["notes"][:1]}
    overall, baseline = done.comparison["overall"], done.comparison["baseline"]
    lead += [
        f"{name} is {number(ratio, 3)} times as fast as {baseline} (geometric mean of all figures)."
        for name, ratio in overall.items()
        if name != baseline and ratio is not None
    ]
    shown = of_views(comparison_views(done.reviews, done.comparison), lead)
    for review, item in zip(done.reviews, each, strict=True):
        name = review["machine"]["name"]
        shown["tables"] += [{**table, "title": f"{name}: {table['title']}"} for table in item["tables"]]
    return shown


def of_study(result: StudyResult) -> Shown:
    """Return predicted figures next to the published ones."""
    document = result.to_dict()
    answer = [result.answer] if result.answer else []
    title, question = str(document["title"]), str(document["question"])
    shown = of_views(
        [view for view in result_views(document) if str(view) not in (title, question)], [question, *answer]
    )
    errors = [("median error", result.median_error_pct), ("largest error", result.largest_error_pct)]
    shown["cards"] = [(f"{number(value, 3)} %", name) for name, value in errors if value is not None]
    return shown
