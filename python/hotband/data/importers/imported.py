"""The result of an importer: a record and, if the tool left samples over time, its series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.data.record.imported import Imported

if TYPE_CHECKING:
    from hotband.data.record.load import LoadedRecord


def loaded(imported: Imported) -> LoadedRecord:
    """Return a record as if it had been written and read back, for reports, charts and the auditor."""
    from hotband.data.record.load import loaded_import

    return loaded_import(imported.record, imported.series)
