"""The runs of a study: machine, workload and settings of each pair of a configuration and a load."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hotband.base.text.regular import text_in
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.entries import workload
from hotband.data.documents.record import RecordDoc, known
from hotband.data.documents.run import Repair, RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment import Point, points_of
from hotband.execution.experiment.ranges import edited
from hotband.questions.study.data import DATA, toml_text
from hotband.questions.study.definition import PRODUCT, Config, Load, Measure, Settings, Study
from hotband.questions.study.measures import Reading, Value, read

Pair = tuple[Config, Load]


@dataclass(frozen=True)
class Cell:
    """One configuration under one load: its runs by queue depth (0 without a sweep)."""

    config: Config
    load: Load
    runs: dict[int, Reading]

    @property
    def records(self) -> dict[int, RecordDoc]:
        """Its records by queue depth."""
        return {depth: run.record for depth, run in self.runs.items()}

    def value(self, measure: Measure) -> Value:
        """Return a measure over the runs of the cell."""
        return read(measure.of, self.runs, measure.parameters)


@dataclass(frozen=True)
class Results:
    """All runs of a study, for its findings: cells by (config id, load id)."""

    study: Study
    cells: dict[tuple[str, str], Cell]

    def iops(self, config: str, load: str) -> float:
        """Return the IOPS of a cell (for a sweep, the highest)."""
        return max(known(record["summary"]["iops"]) for record in self.cells[config, load].records.values())

    def value(self, config: str, load: str, measure: str) -> float | None:
        """Return a measure of a cell, by the ids of configuration, load and measure."""
        return self.cells[config, load].value(self.study.measure(measure)).number


def run_id(config: Config, load: Load, depth: int) -> str:
    """Return the folder name of a run."""
    return run_id_of(config, load.id) + (f".qd{depth}" if depth else "")


def run_id_of(config: Config, load: str) -> str:
    """Return the folder name of the run of a load without a sweep."""
    return f"{config.id}.{load}"


def chosen(study: Study, only: Collection[str]) -> list[Pair]:
    """Return the pairs of the requested loads and of those before them in a sequence, by default all."""
    return with_sequences(study, [pair for pair in study.pairs() if not only or pair[1].id in only])


def with_sequences(study: Study, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs, and those that run before them on the same machine."""
    wanted = {(config.id, name) for config, load in pairs for name in (*before(config, load.id), load.id)}
    return [pair for pair in study.pairs() if (pair[0].id, pair[1].id) in wanted]


def before(config: Config, load: str) -> tuple[str, ...]:
    """Return the loads before one in the sequence of a configuration, in order."""
    return config.sequence[: config.sequence.index(load)] if load in config.sequence else ()


def specs(study: Study, pairs: Sequence[Pair], out: Path | None, seed: int, fresh: bool = False) -> list[RunSpec]:
    """Return the runs of pairs. With `fresh`, the runs of a sequence have different seeds: each has other random
    offsets than those before it."""
    seeds = [seed + (len(before(config, load.id)) if fresh else 0) for config, load in pairs]
    return [spec for pair, seed in zip(pairs, seeds, strict=True) for spec in specs_of(study, pair, out, seed)]


def points(study: Study, pairs: Sequence[Pair], out: Path | None, seed: int, fresh: bool = False) -> list[Point]:
    """Return the runs of pairs as points of an experiment, by configuration, load and queue depth (0 without a
    sweep)."""
    runs = specs(study, pairs, out, seed, fresh)
    places = [(config, load, depth) for config, load in pairs for depth in load.sweep or (0,)]
    return points_of(
        runs, [{"config": config.id, "load": load.id, "queue_depth": depth} for config, load, depth in places]
    )


def specs_of(study: Study, pair: Pair, out: Path | None, seed: int) -> list[RunSpec]:
    """Return the runs of one pair."""
    config, load = pair
    machine, machine_text = machine_of(study, config, load)
    workload_text = workload_of(study, config, load)
    if load.edit:
        workload_text = edited(workload_text or catalog_workload(load), load.workload, load.edit)
    listed = []
    earlier = before(config, load.id)
    for depth in load.sweep or (0,):
        name = run_id(config, load, depth)
        listed.append(
            RunSpec(
                id=name,
                machine=machine,
                workload=load.workload,
                set=merged(load.set, config.set, (("qd", str(depth)),) if depth else ()),
                seed=seed,
                duration=load.duration,
                out=None if out is None else out / "runs" / name,
                machine_text=machine_text,
                workload_text=workload_text,
                weight=load.weight,
                after=run_id_of(config, earlier[-1]) if earlier else "",
                repair=Repair(spares=load.spares if earlier else config.spares or load.spares),
                # Events of a configuration count from the first of the runs on its machine.
                events=(*(() if earlier else config.events), *load.events),
                # A published figure covers the whole time of its run.
                precision="off",
            )
        )
    return listed


def merged(*settings: Settings) -> Settings:
    """Merge settings; later ones replace earlier ones: load, configuration, queue depth."""
    return tuple(dict(pair for some in settings for pair in some).items())


def machine_of(study: Study, config: Config, load: Load) -> tuple[str, str | None]:
    """Return the name of the machine of a pair and, if it is a file, its text, with the product filled in."""
    machine = load.machine or config.machine
    if not machine.endswith(".toml"):
        return machine.replace(PRODUCT, config.product), None
    text = text_in(study.folder / machine, "machine")
    name = f"{Path(machine).name} of {config.product}" if config.product else Path(machine).name
    return name, filled(study, config, text.replace(PRODUCT, config.product))


def workload_of(study: Study, config: Config, load: Load) -> str | None:
    """Return the text of a load's workload if it is a file of the study; None if the catalog has it."""
    if not load.workload.endswith(".toml"):
        return None
    return filled(study, config, text_in(study.folder / load.workload, "workload"))


def filled(study: Study, config: Config, text: str) -> str:
    """Fill a text with the configuration's values and the folder of the study's data. Raises UserError if that folder
    is missing."""
    for key, value in config.fill:
        text = text.replace(f"{{{key}}}", value)
    if study.data is None or DATA not in text:
        return text
    return text.replace(DATA, toml_text(study.data.folder(study.name)))


def catalog_workload(load: Load) -> str:
    """Return the text of a workload of the catalog. Raises UserError for an unknown name."""
    return str(workload(load.workload)["text"])


def collect(study: Study, pairs: Iterable[Pair], finished: Sequence[Finished], prefix: str = "") -> Results:
    """Sort finished runs into cells."""
    by_id = {run.spec.id: Reading(run.record, run.columns("series"), run.columns("caches")) for run in finished}
    cells = {}
    for config, load in pairs:
        runs = {depth: by_id[prefix + run_id(config, load, depth)] for depth in load.sweep or (0,)}
        cells[config.id, load.id] = Cell(config, load, runs)
    return Results(study, cells)


def products(results: Results) -> dict[tuple[str, str], list[str]]:
    """Return the names of the catalog drives and daemons of every cell's machine, from its records."""
    by_cell = {}
    for key, cell in results.cells.items():
        names: dict[str, None] = {}
        for record in cell.records.values():
            names |= dict.fromkeys((record.get("spec") or {}).get("drives") or {})
        by_cell[key] = [name for name in names if in_catalog(name)]
    return by_cell


def in_catalog(name: str) -> bool:
    """Return whether a drive or a daemon of this name is in the catalog."""
    return any((CATALOG_DIR / folder / f"{name}.toml").is_file() for folder in ("drives", "osds"))
