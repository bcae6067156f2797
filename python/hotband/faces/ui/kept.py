"""Data that remains when the server ends: a results store, to which every run is added (docs/guides/import.md), and in
its folder `ui` the dropped files and a folder for every job (`job.json`, its display, its record and report).

No part of a request becomes a path: an id or a name is looked up among the existing ones, and its folder is used.
"""

from __future__ import annotations

import json
import re
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

import hotband as hb
from hotband.base.errors import UserError
from hotband.base.text.regular import file_text
from hotband.base.text.write import make_folder, write_file
from hotband.execution.experiment import Lock
from hotband.faces.ui.portable import Labels, with_labels
from hotband.faces.ui.stored import Stored

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.faces.ui.shown import Shown

OWN = "ui"
"""Name of the page's folder within that of the store."""
JOB_FILE, SHOWN_FILE = "job.json", "shown.json"
ID = re.compile(r"[a-z]{1,12}-[0-9]{1,9}")
UNDER_WAY = ("waiting", "running")


class KeptDoc(TypedDict):
    """A stored job; `at` is the time of its last change, in seconds since 1970. `file` is the dropped file of which it
    is the only result."""

    id: str
    kind: str
    title: str
    command: str
    state: str
    form: Json
    error: str | None
    at: int
    file: NotRequired[str]


class Kept:
    """A results store, and the page's data in its folder `ui`, which only one server writes at a time.

    Raises UserError for a folder with other content.
    """

    def __init__(self, folder: Path) -> None:
        self.path, folders = folder, folder / OWN
        self.results = hb.store(folder)
        with self.results.taking():  # Creates the store now, because afterwards the folder would not be empty any more.
            pass
        self.jobs, self.dropped = folders / "jobs", folders / "dropped"
        for subfolder in (self.jobs, self.dropped):
            make_folder(subfolder)
        self._stored_folder = folders / "stored"
        self.stored = Stored(self.results, self._stored_folder)
        self.labels = Labels(folders / "labels.json")
        self.lock = Lock(folders, "--store")
        self._found: dict[str, KeptDoc] = {}
        self._guard = threading.Lock()

    def open(self) -> None:
        """Lock the folder for this process, and read the data of an earlier one: jobs that ran then have ended with it.
        Raises UserError if another process has the folder."""
        self.lock.__enter__()
        for folder in sorted(self.jobs.iterdir(), key=lambda path: path.name):
            doc = _read(folder / JOB_FILE)
            if not ID.fullmatch(folder.name) or not _is_kept(doc):
                continue
            stored = cast("KeptDoc", doc)
            if stored["state"] in UNDER_WAY:
                stored["state"], stored["error"] = "stopped", "The server ended before it was done."
            self._found[folder.name] = {**stored, "id": folder.name}

    def close(self) -> None:
        """Release the folder; data added to the store is then in its files."""
        self.results.close()
        self.lock.__exit__(None, None, None)

    def new_id(self, kind: str) -> str:
        """Return the id of a new job: its kind and a unique number."""
        with self._guard:
            number = 1 + max((int(path.rpartition("-")[2]) for path in self._found), default=0)
            name = f"{kind}-{number}"
            self._found[name] = {
                "id": name, "kind": kind, "title": "", "command": "", "state": "waiting", "form": None, "error": None,
                "at": 0,
            }  # fmt: skip
            make_folder(self.jobs / name)
            return name

    def find(self, job: str) -> Path | None:
        """Return the folder of a job; None for an unknown id."""
        return self.jobs / job if job in self._found else None

    def folder(self, job: str) -> Path:
        """Return the folder of a job. Raises UserError for an unknown id."""
        path = self.find(job)
        if path is None:
            raise UserError("id", "", job, "is not in the store")
        return path

    def keep(self, doc: KeptDoc) -> None:
        """Store the state of a job."""
        with self._guard:
            self._found[doc["id"]] = doc
        write_file(self.folder(doc["id"]) / JOB_FILE, json.dumps(doc, indent=2, ensure_ascii=False))

    def drop(self, job: str) -> None:
        """Remove a job and its results."""
        shutil.rmtree(self.folder(job))
        with self._guard:
            del self._found[job]

    def keep_shown(self, job: str, shown: Shown) -> None:
        """Store the display of a job's result; it names dropped files as their users do."""
        labels = {path: json.dumps(label, ensure_ascii=False)[1:-1] for path, label in self.dropped_paths().items()}
        write_file(self.folder(job) / SHOWN_FILE, with_labels(json.dumps(shown, ensure_ascii=False), labels))

    def dropped_paths(self) -> dict[str, str]:
        """Return the labels of all dropped files by their paths."""
        return {str(path): self.labels.label(path.name) for path in self.dropped.iterdir()}

    def file_label(self, job: str) -> str | None:
        """Return the label of the file whose only result a job is; None for any other."""
        doc = self._found.get(job)
        return self.labels.label(doc["file"]) if doc is not None and "file" in doc else None

    def portable_paths(self) -> dict[str, str]:
        """Return the names of dropped files and results in commands: a result is the file that *Record* saves."""
        with self._guard:
            results = {
                str(self.jobs / job): self.labels.label(doc["file"]) if "file" in doc else f"{job}.json"
                for job, doc in self._found.items()
            }
        if self._stored_folder.is_dir():
            results |= {str(path): f"{path.name}.json" for path in self._stored_folder.iterdir()}
        return {**results, **self.dropped_paths()}

    def shown(self, job: str) -> Json:
        """Return the display of a job's result; None if it has none."""
        return _read(self.folder(job) / SHOWN_FILE)

    def doc(self, job: str) -> KeptDoc:
        """Return a job. Raises UserError for an unknown id."""
        self.folder(job)
        return self._found[job]

    def listing(self) -> list[KeptDoc]:
        """Return all jobs, the newest first."""
        with self._guard:
            return sorted(self._found.values(), key=lambda stored: -int(stored["id"].rpartition("-")[2]))


def _read(path: Path) -> Json:
    """Read a JSON file; return None if it is missing or incomplete."""
    try:
        return cast("Json", json.loads(file_text(path)))
    except (OSError, ValueError, RecursionError):
        return None


def _is_kept(doc: Json) -> bool:
    """Return whether a document describes a job of any version."""
    texts = ("id", "kind", "title", "command", "state")
    return isinstance(doc, dict) and all(isinstance(doc.get(name), str) for name in texts) and "form" in doc
