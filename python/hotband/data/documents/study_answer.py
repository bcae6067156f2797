"""The JSON document of a study's result: its answer and its machines, key by key, for mypy."""

from typing import TypedDict


class AnswerPointDoc(TypedDict):
    """A value of an answer's chart: of a `machine`, in the `row` or the series that it names, and at `qd` in a chart
    over queue depth; None if nothing is published or predicted."""

    machine: str
    row: str
    qd: int | None
    published: float | None
    predicted: float | None


class AnswerRuleDoc(TypedDict):
    """A reference value for the others of a chart, with its text."""

    at: float
    text: str


class AnswerChartDoc(TypedDict):
    """The chart below an answer: its title, the quantity of its axis (with the unit), and a sentence below it."""

    title: str
    quantity: str
    caption: str
    points: list[AnswerPointDoc]
    rule: AnswerRuleDoc | None


class AnswerDoc(TypedDict):
    """The answer to a study's question: a sentence or two with its figures, further remarks (such as reliability),
    and one chart."""

    text: str
    further: str
    chart: AnswerChartDoc


class MachineStateDoc(TypedDict):
    """State of a configuration's drives under some loads only, in words."""

    text: str
    loads: list[str]


class MachineDoc(TypedDict):
    """A configuration of a study: its `name` on the page, the `label` in the publication, its parts, and the
    state of its drives as in its records: the properties that all loads share, and the others."""

    id: str
    name: str
    label: str
    what_if: bool
    built: str
    state: str
    varying: list[MachineStateDoc]
