"""Rows of a study's machines: parts of each configuration, and the state of its drives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hotband.data.catalog import CATALOG_DIR
from hotband.data.record.states import state_words
from hotband.questions.study.definition import PRODUCT, Config
from hotband.questions.study.runs import Results, products

if TYPE_CHECKING:
    from hotband.data.documents.study_answer import MachineDoc, MachineStateDoc

# Separator of the parts of a state; not the comma of "write cache on (protected, called volatile)".
PIECES = re.compile(r", (?![^()]*\))")


def machine_rows(results: Results) -> list[MachineDoc]:
    """Return one row per configuration that was run."""
    run = {config for config, _ in results.cells}
    return [_row(results, config) for config in results.study.configs if config.id in run]


def _row(results: Results, config: Config) -> MachineDoc:
    state, varying = _states(results, config)
    return {
        "id": config.id,
        "name": config.name,
        "label": config.label,
        "what_if": config.what_if,
        "built": _built(results, config),
        "state": state,
        "varying": varying,
    }


def _built(results: Results, config: Config) -> str:
    """Return "raid1:2xent-15k", or the drives and daemons of a machine with a file."""
    if config.machine and not config.machine.endswith(".toml") and PRODUCT not in config.machine:
        return config.machine
    of_config = (names for (name, _), names in products(results).items() if name == config.id)
    names = list(dict.fromkeys(name for of_cell in of_config for name in of_cell))
    drives = [name for name in names if (CATALOG_DIR / "drives" / f"{name}.toml").is_file()]
    others = "".join(f", {name}" for name in names if name not in drives)
    if not names:
        # Drives of the study's own data.
        return "" if results.study.data is None else "descriptions in the data of the study"
    return f"{config.drives} x {' and '.join(drives)}{others}" if config.drives > 1 else ", ".join(names)


def _states(results: Results, config: Config) -> tuple[str, list[MachineStateDoc]]:
    """Return the state of the drives that the records of all loads share, and further states with their loads. Loads
    without measures count only if there are no others."""
    cells = [cell for (name, _), cell in results.cells.items() if name == config.id]
    cells = [cell for cell in cells if cell.load.measures] or cells
    loads_by_state: dict[tuple[str, ...], list[str]] = {}
    for cell in cells:
        for record in cell.records.values():
            loads = loads_by_state.setdefault(tuple(PIECES.split(state_words(record))), [])
            if cell.load.label not in loads:
                loads.append(cell.load.label)
    common = [piece for piece in next(iter(loads_by_state)) if all(piece in pieces for pieces in loads_by_state)]
    varying: list[MachineStateDoc] = [
        {"text": ", ".join(piece for piece in pieces if piece not in common), "loads": loads}
        for pieces, loads in loads_by_state.items()
    ]
    return ", ".join(common), varying if len(loads_by_state) > 1 else []
