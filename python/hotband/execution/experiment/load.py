"""A finished run from its folder, as it was in memory."""

from __future__ import annotations

import json
from pathlib import Path

from hotband.base.text.regular import file_text
from hotband.data.documents.run import RunSpec
from hotband.data.record.files import RECORD_FILE, load_tables
from hotband.data.record.finished import Finished


def load_finished(spec: RunSpec, folder: Path, ios: int) -> Finished:
    """The run that `folder` holds. Raises OSError, ValueError, KeyError."""
    text = file_text(folder / RECORD_FILE).removesuffix("\n")
    record = json.loads(text)
    return Finished(spec, record, text, load_tables(folder, record), ios)
