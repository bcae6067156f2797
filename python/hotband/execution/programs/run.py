"""One run of a program on a machine or a folder, and its stored results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hotband.base.child import Told
from hotband.base.errors import UserError
from hotband.base.foreign import json_text
from hotband.base.text.regular import file_text
from hotband.base.text.write import make_folder, write_file
from hotband.data.catalog.named import EMULATED
from hotband.data.documents.program import ProgramDoc
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.load import load_record
from hotband.execution.programs import find_program
from hotband.execution.programs.devices import IO_LOG, Devices, devices_on, keys_of
from hotband.execution.programs.needs import expect_needs
from hotband.execution.programs.predicted import expect_predictable, predicted
from hotband.execution.programs.settings import apart, as_texts, values_of
from hotband.execution.programs.work import Work
from hotband.execution.serve.ending import Ending

PROGRAM_FILE = "program.json"
"""File in the folder of `--out` if no record is written there."""


def run_program(
    name: str,
    on: str,
    requested: Mapping[str, str],
    out: Path | None,
    tell: Told,
    anyway: bool = False,
    predict: Sequence[str] = (),
) -> ProgramDoc:
    """Run a program; `tell` gets lines of progress. `anyway` serves a machine that is faster than this host can serve.
    `predict` are machines on whose models its I/Os are replayed afterwards, which needs `out`.

    Raises UserError for a mistake, before anything is started wherever that is possible, and `ProgramFailed` (an
    OSError) where a program fails. Nothing remains: processes, mounts and files are removed in every case.
    """
    program, on = find_program(name), on.removeprefix(EMULATED)
    requested, of_machine = apart(program, requested, keys_of(on))
    values = values_of(program, requested)
    expect_needs(program)
    expect_predictable(predict)
    if out is not None:
        make_folder(out)
    texts = {**as_texts(program, requested), **of_machine}
    ending = Ending()
    with ending.taken(), devices_on(on, out, tuple(of_machine.items()), anyway=anyway) as devices:
        # The first request ends the program; its processes, mounts and files are gone before another ends Hotband.
        ending.served()
        expect_settings_for(devices, requested)
        with Work(program.name, devices, values, tell, texts) as work:
            outcome = program.run(work)
            notes = [*outcome.notes, *work.notes]
    done: ProgramDoc = {
        "name": program.name,
        "version": outcome.version,
        "settings": texts,
        "figures": outcome.figures,
        "notes": [*notes, *devices.notes],
        "text": outcome.text,
    }
    if out is not None and predict:
        tell(f"replaying its I/Os on {on} and {', '.join(predict)}")
        recorded = load_record(out).record
        done["predicted"], lacks = predicted(out / IO_LOG, recorded, on, tuple(of_machine.items()), predict)
        done["notes"] += lacks
    if out is not None:
        keep(done, on, out, devices.served)
    return done


def expect_settings_for(devices: Devices, requested: Mapping[str, str]) -> None:
    """Raise UserError if a file system is requested for a folder, which already has one."""
    if "fs" in requested and not devices.served:
        raise UserError(
            "question.settings", "fs", requested["fs"], "applies to a machine: a folder already has a file system"
        )


def keep(done: ProgramDoc, on: str, out: Path, served: bool) -> None:
    """Put the section into the record of the machine that was served, or else into a file of its own."""
    record = out / RECORD_FILE
    if served and record.is_file():
        document = json.loads(file_text(record))
        write_file(record, json_text({**document, "program": done}) + "\n")
    else:
        write_file(out / PROGRAM_FILE, json_text({"target": on, "program": done}) + "\n")
