"""`hotband keys`: what `--set` takes."""

from __future__ import annotations

from typing import Any

from hotband.data.inputs.keys import set_keys
from hotband.faces.commands.output import (
    JsonFlag,
    MachineOption,
    SetOption,
    WorkloadArgument,
    parse_set,
    print_rows,
    show,
)
from hotband.views.text.tables import keys_table


def keys(
    workload: WorkloadArgument,
    on: MachineOption,
    settings: SetOption = None,
    as_json: JsonFlag = False,
) -> None:
    """List every key that --set takes for a workload on a machine: its value today, what it takes, what it means."""
    found = set_keys(workload, on, parse_set(settings or []))
    if as_json:
        return print_rows([one.data() for one in found])
    parts = list(dict.fromkeys(one.part for one in found))
    tables: list[Any] = [keys_table(part, [one for one in found if one.part == part]) for part in parts]
    return show(*tables)
