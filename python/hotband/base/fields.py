"""The fields of questions. Errors write them as `question.capacity`, and each face renames them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

PREFIX = "question."
FIELDS = set(
    """
    afr against anyway arrival audit bandwidth base block cache candidates capacity chunk columns compressor
    data depth device direction distribution draws drive_class duration duty dwpd erase error_rate events
    executor expect fail figure fleet for force format fresh from fuse grow host hosts insecure_loopback interval
    io_log ios issue jobs keep kind layout like lines loop media method minute mtbf name on one_rebuild only op
    out output path paths plan power power_loss prices process protect purge_by question range rebuild_after
    rebuild_distribution rebuild_rate rebuild_time record repeat replacement result results round run sample save
    scale seed set_write_cache settings shape size skip_bad slo slo_degraded small socket source spares spin store
    study target tcp tests threads title tls to track unit unpack volume where within words workload years yes
    """.split()  # noqa: SIM905
)
"""Fields of questions without a class; `register` adds those of the others. In `question.toml`, a file, the word after
the dot is not a field and stays unchanged. In `question.lines.rpm`, a line of a data sheet, it may be any word."""
ENGINE = {
    "MACHINE": "on",
    "WORKLOAD": "workload",
    "DRIVE": "name",
    "OSD": "name",
    "PATH": "paths",
    "STUDY": "study",
    "set": "settings",
    "repair.fail": "fail",
    "repair.spares": "spares",
    "repair.rebuild_rate": "rebuild_rate",
    "repair.rebuild_after": "rebuild_after",
    "compressors": "compressor",
    "chunks": "chunk",
    **{name: name for name in ("duration", "precision", "power_loss", "events", "sample", "repeat", "seed")},
    **{
        f"trace.{name}": name
        for name in ("format", "columns", "skip_bad", "unpack", "device", "host", "process", "direction", "from", "for")
    },
}
"""The engine's names for fields of its request, and the fields of questions that fill them."""
_FIELD = re.compile(rf"\b{re.escape(PREFIX)}(lines\.)?(\w+)\b")


def register(names: Iterable[str]) -> None:
    """Register fields; each question registers its own."""
    FIELDS.update(name.rstrip("_") for name in names)


def in_words(text: str, word: Callable[[str], str]) -> str:
    """Return the text with `word` applied to each field."""
    return _FIELD.sub(lambda match: word(match[2]) if match[1] or match[2] in FIELDS else match[0], text)


def of_question(where: str) -> str:
    """Return the field of the question for a position that the engine names (`repair.fail`, `events[0]`); other
    positions, such as files, stay unchanged."""
    field = re.sub(r"\[\d+\]$|(?<=^trace\.columns)\..*$", "", where)
    return f"{PREFIX}{ENGINE[field]}" if field in ENGINE else where
