"""Workloads of the catalog, and in other forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.data.catalog import entries
from hotband.data.inputs.convert import converted_to, text_named
from hotband.data.inputs.specify import Spec, named
from hotband.data.jobs.converted import Converted

if TYPE_CHECKING:
    pass


@public
def workload(name: str) -> str:
    """The TOML text of a workload of the catalog, to read or to change. Raises UserError for an unknown name."""
    return str(entries.workload(name)["text"])


@public
def convert(workload: Spec, to: str = "toml", *, target: str | None = None) -> Converted:
    """A workload or a job file in another form: `to` is "toml", "fio" or "vdbench". The result has the `text` and
    `losses`, what became of each option. `target` is the device or file that a written job runs on. Raises UserError
    for a mistake, and for a workload that is more than a job can say."""
    given = named(workload, "workload")
    return converted_to(given.name, given.text or text_named(given.name), to, target)
