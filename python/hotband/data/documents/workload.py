"""The tables of a workload's text that Python writes or reads, for mypy; the engine knows further keys and checks all
of them."""

from typing import NotRequired, TypedDict


class ClosedTable(TypedDict):
    """Number of threads, and I/Os outstanding per thread."""

    threads: int
    depth: int


class LoadTable(TypedDict):
    """A load, closed or open."""

    closed: ClosedTable


class StreamKeys(TypedDict, total=False):
    """Keys of a stream in addition to its size and direction: weights of sizes, its range of addresses, its start, its
    own load."""

    sizes: dict[str, float]
    range: list[str]
    start: str
    load: LoadTable


class StreamTable(StreamKeys, total=False):
    """A stream of I/Os."""

    name: str
    read_pct: int
    random_pct: int
    size: str


class PhaseKeys(TypedDict, total=False):
    """Keys of a phase in addition to its length: its streams, and the number of threads."""

    streams: list[str]
    threads: int
    clients: int


class PhaseTable(PhaseKeys, total=False):
    """A phase with a number of I/Os, a time, or another end."""

    name: str
    ios: int
    duration: str
    until: str
    measure: bool
    untimed: bool
    drain: bool


class ScriptStepTable(TypedDict):
    """A step of a script: a number of I/Os of a stream."""

    name: str
    stream: str
    ios: int


class ScriptTable(TypedDict):
    """A program that clients run."""

    name: str
    unit: str
    clients: int
    repeat: bool
    steps: list[ScriptStepTable]


class PreconditionTable(TypedDict):
    """Parts of the address space written before the run, in order of address, and at random after that."""

    sequential: float
    random: NotRequired[float]


class WorkloadKeys(TypedDict, total=False):
    """Keys of a workload in addition to streams and phases."""

    load: LoadTable
    scripts: list[ScriptTable]


class WorkloadTable(WorkloadKeys, total=False):
    """A workload; `uncertainty` has the two ends of its author's estimates, by key."""

    title: str
    source: str
    interval: str
    precondition: PreconditionTable
    streams: list[StreamTable]
    phases: list[PhaseTable]
    uncertainty: dict[str, list[str]]
