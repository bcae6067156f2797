"""Output of a suite: its document and its page in a folder, and a page anywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hotband.base.foreign import json_text
from hotband.base.text.write import write_file
from hotband.data.record.files import REPORT_FILE


def written(
    name: str, document: object, report: Callable[[Path], Path], out: Path | None, page: Path | None
) -> list[Path]:
    """Write the document and the pages; return their paths. Raises UserError, OSError."""
    pages = [] if page is None else [page]
    if out is None:
        return [report(one) for one in pages]
    write_file(out / name, json_text(document) + "\n")
    return [out / name, *(report(one) for one in (out / REPORT_FILE, *pages))]
