"""What an importer hands over: a record and, where the tool left samples over time, its series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.data.record.imported import Imported

if TYPE_CHECKING:
    from hotband.data.record.load import LoadedRecord


def loaded(imported: Imported) -> LoadedRecord:
    """As if it had been written and read back: what reports, charts and the auditor take."""
    from hotband.data.record.load import loaded_import

    return loaded_import(imported.record, imported.series)
