"""Reviews on a screen: the figures of a machine by group of tests, or the speed of others relative to the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, number, rate, size, span
from hotband.base.text.table import MBS, OF_ROW, TIMES, Table, Unit, View, Whole, column, estimate, numeric
from hotband.base.text.words import cut
from hotband.data.record.states import state_lines, states_of
from hotband.views.interval import with_ends
from hotband.views.review import ends_of, sparkline, views
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, screen_table, shortened, with_hidden

if TYPE_CHECKING:
    from hotband.data.documents.review import ComparisonDoc, ReviewDoc
    from hotband.questions.review.many import Reviewed
    from hotband.questions.review.reviewed import ReviewQuestion

BAR = 20
CURVE = 20
NAME = 16
"""Most characters of a machine's name above its column."""
MOST_BESIDE = 3
"""Most machines with one column each; with more, each has a row."""
MOST_ROWS = 10
MOST_REMARKS = 3


def terminal(done: Reviewed, question: ReviewQuestion) -> Screen:
    """Return what the terminal shows of a review, or of a comparison of several machines."""
    names = list(done.comparison["machines"]) if done.comparison is not None else []
    notes = [note for review in done.reviews for note in review["notes"]]
    remarks = list(dict.fromkeys([*_unequal(done.comparison), *notes]))
    return Screen(
        answer=_compared(done.comparison) if done.comparison is not None else _reviewed(done.reviews),
        body=[_machines(done.comparison) if len(names) > MOST_BESIDE else _groups(done.comparison)]
        if done.comparison is not None
        else [table for review in done.reviews[:1] for table in (_curves(review), _summary(review)) if table.rows],
        state=_state(done),
        remarks=with_hidden(remarks, MOST_REMARKS),
        next=question,
        details=views(done.reviews, done.comparison),
    )


def _reviewed(reviews: Sequence[ReviewDoc]) -> str:
    """Return the transfer rate and the access time of a machine, if they were tested."""
    if not reviews:
        return "No review was finished."
    review = reviews[0]
    facts = []
    if review["linear"] is not None:
        facts.append(f"reads at {rate(review['linear']['mean']['read'])} on average")
    if review["access"] is not None:
        block = review["access"]["read"]["block_bytes"]
        facts.append(f"takes {span(review['access']['read']['mean_ns'])} for a random read of {size(block)}")
    if not facts and review["summary"]:
        group = review["summary"][0]
        unit = MBS if group["unit"] == "B/s" else Unit(group["unit"])
        facts.append(f"has a mean of {unit.shown(group['geometric_mean'])} in {group['title']}")
    name = review["machine"]["name"]
    return f"{name} {' and '.join(facts)}." if facts else f"{name} is reviewed in the parts below."


def _compared(comparison: ComparisonDoc) -> str:
    """Return which machine is fastest over all groups of tests."""
    ratios = {name: ratio for name, ratio in comparison["overall"].items() if ratio is not None}
    if not ratios:
        return f"The machines have no test in common with {comparison['baseline']}."
    best = max(ratios, key=lambda name: ratios[name])
    first = comparison["baseline"]
    others = [name for name in ratios if name != first]
    if best != first:
        return f"{best} is fastest: {number(ratios[best])} times as fast as {first} over all tests."
    if not others:
        return f"{first} has no test in common with the others."
    near = max(others, key=lambda name: ratios[name])
    return f"{first} is fastest: {near} is {number(ratios[near])} times as fast over all tests."


def _unequal(comparison: ComparisonDoc | None) -> list[str]:
    return [] if comparison is None else comparison.get("unequal_state", [])


def _groups(comparison: ComparisonDoc) -> Table:
    """Return a row per group of tests with the speed of each machine relative to the first."""
    names = list(comparison["machines"])
    others = [name for name in names if name != comparison["baseline"]]
    alone = others[0] if len(others) == 1 else None
    drawn_in = [bar_column(BAR)] if alone is not None else []
    table = screen_table([column(""), *(numeric(cut(name, NAME), TIMES) for name in names), *drawn_in])
    rows = [(group["title"], group["ratios"]) for group in comparison["groups"]]
    rows.append(("Overall", comparison["overall"]))
    drawn = bars([None if alone is None else ratios[alone] for _, ratios in rows], BAR)
    for (title, ratios), shown in zip(rows, drawn, strict=True):
        table.add(title, *(ratios[name] for name in names), *([shown] if drawn_in else []))
    return table


def _machines(comparison: ComparisonDoc) -> Table:
    """Return a row per machine with its speed relative to the first over all tests."""
    table = screen_table([column("machine"), numeric("overall", TIMES), bar_column(BAR)])
    names = list(comparison["machines"])
    ratios = [comparison["overall"][name] for name in names]
    for name, ratio, shown in zip(names, ratios, bars(ratios, BAR), strict=True):
        table.add(name, ratio, shown)
    return shortened(table, MOST_ROWS, "more machine")


def _curves(review: ReviewDoc) -> Table:
    """Return the transfer curves, a row per direction."""
    names = [numeric(name, MBS) for name in ("first MB/s", "mean MB/s", "last MB/s")]
    table = screen_table([column("whole surface"), *names, column("", wrap=False, width=CURVE)])
    linear = review["linear"]
    for op in ("read", "write") if linear is not None else ():
        assert linear is not None, "a review without this part has no directions"
        rates = [position["bandwidth_bytes_per_s"] for position in linear[op]]
        known = [rate for rate in rates if rate is not None]
        table.add(op, rates[0], linear["mean"][op], rates[-1], sparkline(known, CURVE))
    return table


def _summary(review: ReviewDoc) -> Table:
    """Return the geometric mean of each group of tests."""
    table = screen_table([column("group"), estimate("geometric mean", OF_ROW), numeric("tests")])
    for row in review["summary"][:MOST_ROWS]:
        unit = MBS if row["unit"] == "B/s" else Unit(row["unit"])
        value = with_ends(row["geometric_mean"], ends_of(row, "geometric_mean"))
        table.add(row["title"], value, row["of"], unit=unit)
    return table


def _state(done: Reviewed) -> list[View]:
    """Return the reviewed machine, the settings of its drives, and the paths of the pages."""
    lines: list[str] = []
    for review in done.reviews:
        machine = review["machine"]
        parts = [size(machine["capacity_bytes"]), counted(len(machine["drives"]), "drive")]
        parts += [f"{key} = {value}" for key, value in machine["set"].items()]
        parts += [*state_lines(states_of(machine))[:1], *(["quick"] if review["quick"] else [])]
        lines.append(f"{machine['name']}: {', '.join(parts)}")
    pages = [path for path in done.files if path.suffix in (".json", ".html")]
    return [*with_hidden(lines, MOST_BESIDE, "more machine"), *(Whole(f"Written: {path}") for path in pages)]
