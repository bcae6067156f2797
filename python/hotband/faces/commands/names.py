"""Names on the command line: a unique beginning stands for the whole name, and the shell completes names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypedDict

import typer

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.data.catalog import is_file
from hotband.data.catalog.filters import filter_words
from hotband.data.catalog.named import EMULATED, is_emulated, is_real
from hotband.data.catalog.names import daemon_names, drive_names, workload_names
from hotband.data.inputs.words import FIO_WORDS


def completed(where: str, name: str, known: Sequence[str]) -> str:
    """Return the only name of `known` that begins with `name`. Return `name` if none does (its reader reports it), or
    if it is one of them. Raises UserError if several do."""
    begin = [candidate for candidate in known if candidate.startswith(name)]
    if not name or name in known or not begin:
        return name
    if len(begin) > 1:
        raise UserError(where, "", name, f"is the beginning of several names: {', '.join(begin)}")
    return begin[0]


def machine_names(where: str, name: str) -> str:
    """Return a machine with its drive's name completed, also within LAYOUT:COUNTxDRIVE[:CHUNK] and if it is served;
    files and hardware are unchanged."""
    if is_file(name) or is_real(name):
        return name
    if is_emulated(name):
        return f"{EMULATED}{machine_names(where, name.removeprefix(EMULATED))}"
    kind, colon, rest = name.partition(":")
    if not colon:
        return completed(where, name, drive_names())
    count, times, drive = rest.partition("x")
    drive, chunk_colon, chunk = drive.partition(":")
    if not times or not drive or is_file(drive):
        return name
    return f"{kind}:{count}x{completed(where, drive, drive_names())}{chunk_colon}{chunk}"


def study_names() -> list[str]:
    """Return the names of the catalog's studies."""
    from hotband.questions.study.file import names

    return names()


def callback(complete: Callable[[str, str], str]) -> Callable[[Any, Any, Any], Any]:
    """Return a callback of typer that completes one or several arguments before the command receives them."""

    def called(ctx: Any, param: Any, value: Any) -> Any:
        from hotband.faces.commands.group import place_of

        if value is None or ctx.resilient_parsing:
            return value
        where = place_of(param)
        return complete(where, value) if isinstance(value, str) else [complete(where, item) for item in value]

    return called


def whole(names: Callable[[], list[str]]) -> Callable[[Any, Any, Any], Any]:
    """Complete an argument from `names`; paths of files stay unchanged."""
    return callback(lambda where, name: name if is_file(name) else completed(where, name, names()))


def study_name(where: str, name: str) -> str:
    """Complete the name of a study; a folder stays unchanged."""
    from pathlib import Path

    return name if "/" in name or Path(name).is_dir() else completed(where, name, study_names())


def machines(incomplete: str) -> list[str]:
    """Return completions for the shell: drives, and layouts of them once a layout is begun."""
    kind, colon, rest = incomplete.partition(":")
    if not colon:
        return [name for name in [*drive_names(), *(f"{layout}:" for layout in _core.LAYOUTS)] if name.startswith(kind)]
    count, times, drive = rest.partition("x")
    begin = f"{kind}:{count}{times}"
    return [f"{begin}{drive_name}" for drive_name in drive_names() if times and drive_name.startswith(drive)]


def set_keys(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return completions for the shell: keys of `--set`; those of the workload and the machine if the line already
    names them."""
    from hotband.data.inputs.keys import set_keys as keys_of

    # Without this, an option that still lacks its value would shift the arguments of the command.
    first = ctx.args[0] if ctx.args else None
    takes_workload = any(param.name == "workload" for param in ctx.command.params)
    workload = ctx.params.get("workload") or (first if takes_workload else "fio-randread")
    machine = ctx.params.get("on") if takes_workload else ctx.params.get("machine") or first
    # Of several machines only the keys of the first.
    machine = next(iter(machine), None) if isinstance(machine, list | tuple) else machine
    known = list(_core.SET_KEYS) if takes_workload else ["data", "state"]
    if machine and workload:
        with suppress(UserError):
            keys = keys_of(completed("", workload, workload_names()), machine_names("", machine))
            of_drives = [key.key for key in keys if key.part.startswith(("drive ", "daemon "))]
            known = [key.key for key in keys] if takes_workload else [*known, *of_drives]
    return [f"{key}=" for key in [*known, *(FIO_WORDS if takes_workload else ())] if key.startswith(incomplete)]


def beginning(names: Callable[[], list[str]]) -> Callable[[str], Iterator[str]]:
    """Return a completion for the shell: the names that begin with the typed text."""

    def called(incomplete: str) -> Iterator[str]:
        return (name for name in names() if name.startswith(incomplete))

    return called


def drive_words(incomplete: str) -> list[str]:
    """Return completions for the shell: drives, and words that filter them."""
    return [word for word in [*drive_names(), *filter_words()] if word.startswith(incomplete)]


def program_place(where: str, name: str) -> str:
    """Complete the name of a machine; a folder of the host stays unchanged."""
    return name if is_real(name) else machine_names(where, name.removeprefix(EMULATED))


def program_names() -> list[str]:
    """Return the names of all programs."""
    from hotband.execution.programs import PROGRAMS

    return list(PROGRAMS)


def program_settings(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Yield completions for the shell: settings of the program that the line names."""
    from hotband.execution.programs import PROGRAMS, find_program

    name = ctx.params.get("name_") or (ctx.args[0] if ctx.args else "")
    known = find_program(name).settings if name in PROGRAMS else {}
    return (f"{key}=" for key in known if key.startswith(incomplete))


class Completion(TypedDict):
    """Settings of typer for a parameter that is a name: conversion of the name, and completion in the shell."""

    callback: Callable[[Any, Any, Any], Any]
    autocompletion: Callable[[str], Iterable[str]]


MACHINE: Completion = {"callback": callback(machine_names), "autocompletion": machines}
"""Conversion of typed text for a parameter that names a machine, for typer."""

WORKLOAD: Completion = {"callback": whole(workload_names), "autocompletion": beginning(workload_names)}
DRIVE: Completion = {"callback": whole(drive_names), "autocompletion": beginning(drive_names)}
PROGRAM: Completion = {
    "callback": callback(lambda where, name: completed(where, name, program_names())),
    "autocompletion": beginning(program_names),
}
PROGRAM_PLACE: Completion = {"callback": callback(program_place), "autocompletion": machines}
DAEMON: Completion = {"callback": whole(daemon_names), "autocompletion": beginning(daemon_names)}
STUDY: Completion = {"callback": callback(study_name), "autocompletion": beginning(study_names)}
