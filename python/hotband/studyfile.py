"""A study as its folder states it: configurations, loads, measures, published figures (docs/guides/studies.md)."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hotband.catalog import CATALOG_DIR

STUDIES_DIR = CATALOG_DIR / "studies"


@dataclass(frozen=True)
class Published:
    """One row of `published.csv`: a figure as it was published. `value` is None where it is no plain number."""

    id: str
    config: str
    workload: str
    metric: str
    text: str
    value: float | None
    unit: str
    kind: str
    caveat: str


@dataclass(frozen=True)
class Config:
    """A machine of the study. `label` is the published name; `ids` maps load ids to the number of their first
    figure; a `what_if` is run and shown but compared with nothing."""

    id: str
    label: str
    machine: str
    drives: int
    set: tuple[tuple[str, str], ...] = ()
    ids: dict[str, int] = field(default_factory=dict)
    loads: tuple[str, ...] = ()
    what_if: bool = False


@dataclass(frozen=True)
class Load:
    """A workload of the study, or a sweep of one: `sweep` lists the queue depths. `published_config` is the name
    under which its figures are published, where that is not the configuration's own."""

    id: str
    label: str
    published: str
    workload: str
    set: tuple[tuple[str, str], ...] = ()
    duration: str | None = None
    sweep: tuple[int, ...] = ()
    measures: tuple[str, ...] = ()
    group: str = ""
    what_if: bool = False
    published_config: str = ""


@dataclass(frozen=True)
class Measure:
    """What is read from a record: `of` names it in `hotband.measures`, `pick` chooses among the runs of a sweep."""

    id: str
    metric: str
    of: str
    unit: str
    pick: str = "only"


@dataclass(frozen=True)
class Study:
    """A published evaluation."""

    name: str
    title: str
    question: str
    source: str
    folder: Path
    package: str
    id_format: str
    seed: int
    configs: tuple[Config, ...]
    loads: tuple[Load, ...]
    measures: tuple[Measure, ...]
    published: tuple[Published, ...]
    explanations: tuple[dict[str, str], ...]
    assumptions: tuple[dict[str, Any], ...]


def _folders() -> dict[str, Path]:
    folders = {}
    for path in sorted(STUDIES_DIR.glob("*/study.toml")):
        with path.open("rb") as file:
            folders[str(tomllib.load(file)["name"])] = path.parent
    return folders


def names() -> list[str]:
    """Names of the studies."""
    return sorted(_folders())


def load(name: str) -> Study:
    """Reads a study. Raises UserError for an unknown name."""
    from hotband.catalogue import unknown

    folders = _folders()
    if name not in folders:
        raise unknown("STUDY", name, sorted(folders))
    folder = folders[name]
    table = tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))
    readings = {str(key): float(value) for key, value in table.get("readings", {}).items()}
    return Study(
        name=name,
        title=table["title"],
        question=table["question"],
        source=table["source"],
        folder=folder,
        package=f"hotband.catalog.studies.{folder.name}",
        id_format=table["id_format"],
        seed=int(table["seed"]),
        configs=tuple(_config(entry) for entry in table["configs"]),
        loads=tuple(_load(entry) for entry in table["loads"]),
        measures=tuple(Measure(**entry) for entry in table["measures"]),
        published=read_published(folder / "published.csv", readings),
        explanations=tuple(table.get("explanations", [])),
        assumptions=tuple(table.get("assumptions", [])),
    )


def _pairs(table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((key, str(value)) for key, value in table.items())


def _config(entry: dict[str, Any]) -> Config:
    known = {**entry, "set": _pairs(entry.get("set", {})), "loads": tuple(entry.get("loads", []))}
    return Config(**known)


def _load(entry: dict[str, Any]) -> Load:
    known = {**entry, "set": _pairs(entry.get("set", {}))}
    return Load(**{**known, "sweep": tuple(entry.get("sweep", [])), "measures": tuple(entry["measures"])})


def read_published(path: Path, readings: dict[str, float]) -> tuple[Published, ...]:
    """Reads the figures as published; `readings` are numbers for values printed as words ("nearly 6000")."""
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            try:
                value: float | None = float(row["value"])
            except ValueError:
                value = readings.get(row["id"])
            rows.append(
                Published(
                    id=row["id"],
                    config=row["config"],
                    workload=row["workload"],
                    metric=row["metric"],
                    text=row["value"],
                    value=value,
                    unit=row["unit"],
                    kind=row["kind"],
                    caveat=row["caveat"],
                )
            )
    return tuple(rows)


def describe(name: str) -> dict[str, Any]:
    """A study's outline as plain data."""
    study = load(name)
    return {
        "name": study.name,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "configs": [{"id": c.id, "label": c.label, "machine": c.machine} for c in study.configs],
        "loads": [{"id": one.id, "label": one.label, "workload": one.workload} for one in study.loads],
        "published": [vars(row) for row in study.published],
    }
