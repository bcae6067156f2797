"""Map names in forms to contents of the store, and errors about these back to fields of the form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.faces.ui import command_line
from hotband.faces.ui.portable import portable_words, with_labels
from hotband.faces.ui.uploads import PREFIX

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.faces.ui.jobs import ErrorDoc
    from hotband.faces.ui.kept import Kept

FIELDS = (
    "workload", "on", "settings", "duration", "seed", "events", "interval", "repeat", "question", "range", "within",
    "ios", "only", "quick", "study", "results", "anyway", "file", "slo", "capacity", "protect", "drives", "layouts",
    "counts", "prices", "power", "grow", "years", "duty", "slo_degraded", "draws",
    "fleet", "repetitions", "result", "like",
)  # fmt: skip
"""Fields of the forms; arguments of the API have the same names."""
CANDIDATES = ("layouts", "counts")
"""Keys of the argument `candidates` that have separate fields in addition to `drives`."""
OTHER_NAMES = {
    "name": "study",
    "others": "results",
    "compare": "results",
    "candidates": "drives",
    "target": "result",
}
"""Arguments and commands in mistakes, and the field with their value."""


class Places:
    """The store with the names that forms use."""

    def __init__(self, store: Kept) -> None:
        self.kept = store

    def place(self, field: str, given: str) -> str:
        """Return the argument of the API for a name: a result by its id, a dropped file, or the name unchanged. Raises
        UserError for an unknown result or file."""
        if field == "results":
            folder = self.kept.find(given) or self.kept.stored.folder(given)
            if folder is None or not (folder / "record.json").is_file():
                raise UserError("results", "", given, "has no record in the store: expected a run or a result")
            return str(folder)
        before, prefix, rest = given.partition(PREFIX)
        if not prefix:
            return given
        names = sorted((path.name for path in self.kept.dropped.iterdir()), key=len, reverse=True)
        name = next((name for name in names if rest == name or rest.startswith(f"{name}:")), None)
        if name is None or (before and not before.endswith("x")):
            accepted = f"expected {PREFIX}NAME of a file that was dropped on the page"
            raise UserError(field, "", given, accepted)
        return f"{before}{self.kept.dropped / name}{rest[len(name) :]}"

    def explain(self, error: UserError, form: Json) -> ErrorDoc:
        """Return a mistake for the page, with the field to which it belongs."""
        field = self._field(error.where, form if isinstance(form, dict) else {})
        if field == OTHER_NAMES["candidates"] and error.key in CANDIDATES:
            field = error.key
        value = f"'{error.value[:200]}': " if error.value and not error.key else ""
        key = f"{error.key}{f' = {error.value[:200]!r}' if error.value else ''}: " if error.key else ""
        known = error.where.partition("[")[0]
        about = "" if field in (known, OTHER_NAMES.get(known)) else f"{error.where}: "
        return {"field": field, "key": error.key, "text": self.in_words(f"{about}{key}{value}{error.accepted}")}

    def command(self, words: Sequence[str]) -> str:
        """Return the line for a shell, with the users' names of dropped files: it works in the folder of those
        files."""
        return command_line.line(portable_words(words, self.kept.portable_paths()))

    def title(self, text: str) -> str:
        """Return a title with the users' names of dropped files."""
        return with_labels(text, self.kept.portable_paths())

    def in_words(self, text: str) -> str:
        """Return a text with files named as in forms."""
        named = text.replace(f"{self.kept.dropped}/", PREFIX).replace(f"{self.kept.jobs}/", "")
        return " ".join(named.split())

    def _field(self, where: str, form: dict[str, Json]) -> str:
        """Return the field with the value that a mistake names; empty if there is none."""
        if where.startswith("candidates: "):
            return where.partition(": ")[2]
        part = where.partition("[")[0]  # an item of a list: events[0]
        part = OTHER_NAMES.get(part, re.sub(r" \d+$", "", part))  # one of several: workload 2
        if part in FIELDS:
            return part
        named = self.in_words(where)
        for field, value in form.items():
            texts = value if isinstance(value, list) else [value]
            if field in FIELDS and any(isinstance(text, str) and text and text in named for text in texts):
                return field
        return ""
