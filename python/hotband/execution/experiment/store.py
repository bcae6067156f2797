"""Finished runs of an experiment on disk: one folder per run, with the file that marks it as complete written last.

    OUT/experiment.json             what the folder holds: the experiment, the version, every run with its key
    OUT/runs/ID/record.json, ...    a record and its tables
    OUT/runs/ID/finished.json       written when they are: the run's key, and a digest of every file

A run without `finished.json`, with another key or with a file that is not as it was written is run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hotband.base.engine import version
from hotband.base.errors import UserError, refused
from hotband.base.folders import folder_name
from hotband.base.foreign import shortened
from hotband.base.text.quantities import span_ns
from hotband.base.text.regular import file_bytes, file_text
from hotband.base.text.values import read_json
from hotband.base.text.write import write_file
from hotband.data.documents.run import RunSpec
from hotband.data.record.files import RECORD_FILE, load_tables, table_files
from hotband.data.record.finished import Finished
from hotband.data.record.writable import check_writable
from hotband.data.results.manifest import (
    EXPERIMENT_FILE,
    FINISHED_FILE,
    SCHEMA,
    SCHEMA_VERSION,
    Entry,
    Manifest,
    _keys,
    expect_this_version,
    head,
    read_manifest,
)
from hotband.execution.experiment.point import Point
from hotband.execution.runs.run import save

OWN_FILES = (".json", ".parquet")


@dataclass
class Store:
    """The runs of one experiment in a folder that this process alone writes. `changed` are runs that were finished
    there with another spec, `others` those of the folder that are not among the points."""

    out: Path
    what: str
    entries: dict[str, Entry]
    changed: list[str] = field(default_factory=list)
    others: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def open(cls, out: Path, what: str, points: Sequence[Point], keys: Mapping[str, str], fresh: bool) -> Store:
        """Read what is there. Raises UserError if it is damaged, or of another experiment, seed or version, unless
        it is to be started over."""
        folders = folders_of(out, points)
        entries = {point.id: Entry(folders[point.id], keys[point.id], str(point.spec.seed)) for point in points}
        store = cls(out, what, entries)
        before = _found(out / EXPERIMENT_FILE, fresh)
        if fresh:
            for entry in (*before.entries.values(), *entries.values()):
                store._clear(entry)
        else:
            store._go_on(before)
        store._write_manifest()
        return store

    def _go_on(self, before: Manifest) -> None:
        """Reuse existing runs, and remove those made from another spec."""
        done = before.begun(self.out)
        if done and before.what != self.what:
            raise refused(self.out, f"holds {before.what}")
        if done:
            expect_this_version(self.out, before.version, "runs")
        for name, entry in done.items():
            now = self.entries.get(name)
            if now is None:
                self.others[name] = entry
            elif now.seed != entry.seed:
                raise refused(self.out, f"contains runs with seed {entry.seed}, not {now.seed}")
            elif now != entry:
                self._clear(entry)
                self.changed.append(name)

    def _clear(self, entry: Entry) -> None:
        """Remove a run, beginning with the file that marks it as complete. Files that are not its own stay."""
        folder = self.out / entry.folder
        mark = read_json(folder / FINISHED_FILE) or {}
        named = mark.get("files")
        names = list(named) if isinstance(named, dict) else []
        record = read_json(folder / RECORD_FILE) or {}
        named = record.get("series")
        tables = table_files(named).values() if isinstance(named, dict) else []
        for name in dict.fromkeys((FINISHED_FILE, RECORD_FILE, *names, *tables)):
            # The names are read from files: they reach nothing outside the folder.
            if Path(name).name == name and name.endswith(OWN_FILES):
                (folder / name).unlink(missing_ok=True)
        # What a writer that was killed left behind.
        for part in folder.glob(".*.part"):
            part.unlink(missing_ok=True)

    def _write_manifest(self) -> None:
        runs = {**self.others, **self.entries}
        table = {
            **head(SCHEMA, SCHEMA_VERSION),
            "experiment": self.what,
            "runs": {name: vars(entry) for name, entry in sorted(runs.items())},
        }
        write_file(self.out / EXPERIMENT_FILE, json.dumps(table, indent=1, ensure_ascii=False) + "\n")

    def folder(self, point: Point) -> Path:
        """Return the folder of a run."""
        return self.out / self.entries[point.id].folder

    def kept(self, point: Point) -> Finished | None:
        """An existing, complete run of the same spec; None if it has to be run."""
        folder = self.folder(point)
        mark = read_json(folder / FINISHED_FILE)
        if mark is None or mark.get("key") != self.entries[point.id].key:
            return None
        try:
            files, ios = _keys(mark["files"]), mark["ios"]
            if not isinstance(ios, int) or any(digest(folder / name) != was for name, was in files.items()):
                return None
            return load_finished(point.spec, folder, ios)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, point: Point, finished: Finished) -> None:
        """Write a run; from any thread. One of a sequence that was made again, for the machine that it leaves, and is
        as it was stays untouched: who is killed while it is written would lose it."""
        before = self.kept(point)
        if before is not None and before.text == finished.text:
            return
        folder = self.folder(point)
        check_writable(folder)
        self._clear(self.entries[point.id])
        save(finished, folder)
        files = [RECORD_FILE, *table_files(finished.record["series"] or {}).values()]
        mark = {
            "key": self.entries[point.id].key,
            "hotband": version(),
            "ios": finished.ios,
            "files": {name: digest(folder / name) for name in files},
        }
        write_file(folder / FINISHED_FILE, json.dumps(mark, indent=1, ensure_ascii=False) + "\n")


def expect_no_experiment(out: Path, option: str = "question.out") -> None:
    """Refuse a folder with the runs of an experiment, for a record that is none of them. Raises UserError."""
    before = read_manifest(out / EXPERIMENT_FILE)
    if before.begun(out):
        raise UserError(option, "", str(out), f"holds {before.what}: expected another folder")


def expect_same_run(out: Path, spec: RunSpec, texts: Mapping[str, str | None] = MappingProxyType({})) -> None:
    """Refuse a folder with the record of another run: of another workload or machine, with another seed, duration or
    settings. `texts` are a machine and a workload without a name of their own. An unreadable record is ignored. Raises
    UserError."""
    held: Any = read_json(out / RECORD_FILE)
    try:
        name, seed, duration = held["name"], held["seed"], held["spec"]["duration"]
        settings = {key: str(value) for key, value in held["spec"]["set"].items()}
        is_of_texts = all(held["spec"][key] == text for key, text in texts.items() if text is not None)
    except (KeyError, TypeError, AttributeError):
        return
    # A drive in use is brought into its state, as a smaller model, unless another is set.
    chosen = [key for key in ("state", "scale") if key in settings]
    # And warms up as long as it measures, or at least measures, where nothing has to fill.
    if "warm_up" in settings:
        is_chosen = "stopped" in held or (span_ns(settings["warm_up"]) or 0) == span_ns(str(duration))
        chosen += ["warm_up"] if is_chosen else []
    requested = {key: settings[key] for key in chosen} | dict(spec.set)
    precision = held["spec"].get("precision")
    of_this = (f"{spec.workload} on {spec.machine}", str(spec.seed), spec.duration, spec.precision, requested)
    if (name, seed, duration, precision, settings) != of_this or not is_of_texts:
        words = "".join(f" {key}={value}" for key, value in settings.items())
        raise refused(out, f"contains the record of another run, {shortened(name)}{shortened(words)}")


def other_version(out: Path) -> str | None:
    """The version of hotband that left the runs in a folder, if it differs from this one. None for an unreadable
    list of runs, which is reported when the folder is opened."""
    try:
        before = read_manifest(out / EXPERIMENT_FILE)
    except UserError:
        return None
    return before.version if before.begun(out) and before.version != version() else None


def _found(path: Path, fresh: bool) -> Manifest:
    """The manifest of a folder; one that cannot be read counts as empty if the folder is to be started over. Raises
    UserError."""
    try:
        return read_manifest(path, "another folder, or question.fresh to start over")
    except UserError:
        if not fresh:
            raise
        return Manifest()


def digest(path: Path) -> str:
    """Return a digest that detects a changed file. Raises OSError."""
    return hashlib.sha256(file_bytes(path)).hexdigest()


def folders_of(out: Path, points: Sequence[Point]) -> dict[str, str]:
    """The folder of every run within `out`, by its id: the path in its spec, else one under `runs` with its name."""
    folders: dict[str, str] = {}
    taken: set[str] = set()
    for point in points:
        folder = point.spec.out
        if folder is not None and folder.is_relative_to(out):
            name = str(folder.relative_to(out))
        else:
            # A file name has 255 bytes; half of that leaves room for a number.
            base = name = f"runs/{folder_name(point.id)[:120]}"
            number = 1
            while name in taken:
                number += 1
                name = f"{base}-{number}"
        taken.add(name)
        folders[point.id] = name
    return folders


def load_finished(spec: RunSpec, folder: Path, ios: int) -> Finished:
    """The run that `folder` holds. Raises OSError, ValueError, KeyError."""
    text = file_text(folder / RECORD_FILE).removesuffix("\n")
    record = json.loads(text)
    return Finished(spec, record, text, load_tables(folder, record), ios)
