"""Results whose jobs ran one after the other: one record per stage, so that each is compared with its own run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hotband.data.documents.record import RecordDoc
from hotband.data.importers.files import name_of, read_bytes
from hotband.data.importers.fio.documents import ALL_CLIENTS, record_of
from hotband.data.importers.fio.importer import ACCEPTED
from hotband.data.importers.fio.jobs import read_job
from hotband.data.importers.fio.text import Fields, read_documents
from hotband.data.importers.fio.time import spell_of

IN_TURN = "the jobs did not run at the same time"


def in_turn(record: RecordDoc, file: Path) -> list[RecordDoc]:
    """Return the record; if its jobs ran in stages, one record per stage, read from the result again."""
    staged = any(IN_TURN in note for note in record["notes"])
    if not staged or record["source"]["tool"] != "fio" or not file.is_file():
        return [record]
    records = []
    for document, _ in read_documents(read_bytes(file, ACCEPTED), name_of(file)):
        records += _stages(document)
    return records or [record]


def _stages(document: Fields) -> list[RecordDoc]:
    entries = [job for job in document.children("jobs") if job.text("jobname") != ALL_CLIENTS]
    jobs = [read_job(entry, _global(document)) for entry in entries]
    places = {id(job): index for index, job in enumerate(jobs)}
    stages = spell_of(jobs).stages
    records = []
    for stage in stages:
        values = {**document.values, "jobs": [entries[places[id(job)]].values for job in stage]}
        records.append(record_of(replace(document, values=values), []))
    return records


def _global(document: Fields) -> dict[str, str]:
    merged: dict[str, str] = {}
    for options in document.children("global options"):
        merged |= options.options()
    return merged
