"""The users' names of files, so that commands on the page work in any folder with the same files."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from hotband.base.text.regular import file_text
from hotband.base.text.write import write_file
from hotband.data.catalog import is_file

LONGEST_LABEL = 200
"""Most characters of a path within a dropped folder."""
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
"""Control characters, and those that reverse the direction of a text."""


def label_of(given: str) -> str:
    """Return the path of a dropped file within the dropped folder, such as `driveA/randread.json`."""
    parts = [part for part in re.split(r"[/\\]", UNPRINTABLE.sub("", given)) if part not in ("", ".", "..")]
    return "/".join(parts)[-LONGEST_LABEL:].lstrip("/")


class Labels:
    """Labels of dropped files by their names in the store, stored in a file next to them."""

    def __init__(self, path: Path) -> None:
        self._path, self._guard = path, threading.Lock()
        try:
            stored = json.loads(file_text(path))
        except (OSError, ValueError, RecursionError):
            stored = {}
        self._labels: dict[str, str] = {}
        if isinstance(stored, dict):
            self._labels = {name: text for name, text in stored.items() if isinstance(text, str)}

    def add(self, name: str, given: str) -> None:
        """Label the file `name`; two files with the same label keep their names in the store."""
        label = label_of(given)
        with self._guard:
            if not label or label == name or label in self._labels.values() or label in self._labels:
                self._labels.pop(name, None)
            else:
                self._labels[name] = label
            write_file(self._path, json.dumps(self._labels, indent=2, ensure_ascii=False))

    def label(self, name: str) -> str:
        """Return the label of a file, by default its name in the store."""
        return self._labels.get(name, name)


def with_labels(text: str, paths: Mapping[str, str]) -> str:
    """Return a text with each path replaced by its label, longer paths first."""
    for path in sorted(paths, key=len, reverse=True):
        text = text.replace(path, paths[path])
    return text


def portable_words(words: Sequence[str], paths: Mapping[str, str]) -> list[str]:
    """Return the words of a command with labels for paths; a label that looks like something else begins with `./`."""
    return [_as_file(paths[word]) if word in paths else with_labels(word, paths) for word in words]


def _as_file(label: str) -> str:
    is_plain = is_file(label) or label.lower().endswith(".json")
    return label if is_plain and not label.startswith("-") else f"./{label}"
