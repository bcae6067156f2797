"""Slips: words of fio, of other tools or languages, and their equivalents here. Options and commands are in tables;
`hotband.data.inputs.meant` refuses confused names of drives and workloads."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint, unknown_name
from hotband.data.catalog import JOB_ENDINGS, SHORT_FORM, TRACE_ENDINGS
from hotband.data.catalog.named import is_real
from hotband.data.catalog.names import drive_names, workload_names

DURATION = ('--duration "{} s"', "60")
OUTPUT = (("--out {}", "DIR"), ("-o {}", "FILE"))
OPTIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "-o": OUTPUT,
    "-v": (("--details", ""),),
    "--bs": (("--set bs={}", "8k"),),
    "--block-size": (("--set bs={}", "8k"),),
    "--blocksize": (("--set bs={}", "8k"),),
    "--clients": (("--set clients={}", "16"),),
    "--csv": (("--format csv", ""),),
    "--depth": (("--set qd={}", "32"),),
    "--device": (("--on real:{}", "PATH"),),
    "--drive": (("--on {}", "DRIVE"),),
    "--duration-s": (DURATION,),
    "--filename": (("--on real:{}", "PATH"),),
    "--iodepth": (("--set qd={}", "32"),),
    "--iops": (("--rate {}", "60000"),),
    "--machine": (("--on {}", "DRIVE"),),
    "--markdown": (("--format md", ""),),
    "--numjobs": (("--set threads={}", "4"),),
    "--output": OUTPUT,
    "--percentage-random": (("--set random_pct={}", "100"),),
    "--qd": (("--set qd={}", "32"),),
    "--queue-depth": (("--set qd={}", "32"),),
    "--ramp-time": (('--set "warm_up={} s"', "10"),),
    "--random": (("--set random_pct={}", "100"),),
    "--rate-iops": (("--rate {}", "60000"),),
    "--read-pct": (("--set read_pct={}", "70"),),
    "--reads": (("--set read_pct={}", "70"),),
    "--runtime": (DURATION,),
    "--rwmixread": (("--set read_pct={}", "70"),),
    "--seconds": (DURATION,),
    "--span": (('--set span="{}"', "100 GB"),),
    "--target": (("--on {}", "DRIVE"),),
    "--thinktime": (('--set think="{} us"', "100"),),
    "--threads": (("--set threads={}", "4"),),
    "--time": (DURATION,),
    "--verbose": (("--details", ""),),
}
"""Options that people try, and what to type: the first one that the command has. `{}` is the typed value, or the
example in the table."""
WORKLOADS: Mapping[str, str] = {
    "read": "seqread",
    "write": "seqwrite",
    "randread": "randread",
    "randwrite": "randwrite",
    "randrw": "randrw",
    "rw": "randrw",
}
"""Values of fio's `rw`, and the equivalent workloads."""
OF_WORKLOAD = ("-w", "--rw", "--readwrite", "--workload", "--pattern", "--job")
"""Options of other tools for an argument here."""
NOT_NEEDED = ("--direct", "--group-reporting", "--ioengine", "--name", "--time-based")
"""Options of fio without a counterpart: a model has no page cache, one engine, and its own duration."""
COMMANDS: Mapping[str, str] = {
    "list": "drives or workloads",
    "ls": "drives or workloads",
    "predict": "run",
    "simulate": "run",
    "benchmark": "run or measure",
    "test": "run or measure",
    "fio": "run",
    "search": "find",
    "recommend": "advise",
    "buy": "advise",
    "size": "find or advise",
    "disks": "drives",
    "ssds": "drives ssd",
    "raid": "layouts",
    "convert": "workloads convert",
    "diff": "compare",
    "export": "workloads convert",
}
"""Commands that people try, and their equivalents."""
SEVERAL = re.compile(r"[^\[\]{}\"]+(?:,[^\[\]{}\"]+)+|\d\S*\.\.\S+")
"""Several values of a setting: `1,2` or `1..64`."""


def spelled(arguments: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the arguments with `-` for `_` in options that exist with `-`: `--rebuild_rate` becomes
    `--rebuild-rate`."""
    options = set(known)
    return [_spelled(word, options) for word in arguments]


def _spelled(word: str, known: set[str]) -> str:
    name, equals, value = word.partition("=")
    right = name.replace("_", "-")
    return f"{right}{equals}{value}" if name.startswith("--") and name not in known and right in known else word


def expect_options(command: str, arguments: Sequence[str], known: Sequence[str], takes_workload: bool) -> None:
    """Raise UserError for the first option in a table above that the command does not have."""
    for at, word in enumerate(arguments):
        if word == "--":
            return
        name, equals, value = word.partition("=")
        if not re.fullmatch(r"--?[A-Za-z][\w-]*", name) or name in known:
            continue
        follows = arguments[at + 1] if at + 1 < len(arguments) else ""
        value = value if equals else "" if follows.startswith("-") else follows
        meant = instead(command, name.replace("_", "-"), value, known, takes_workload)
        if meant:
            raise UserError(name, "", "", f"no such option; {meant}")


def instead(command: str, name: str, value: str, known: Sequence[str], takes_workload: bool) -> str:
    """Return the replacement of an option; nothing for an option in no table."""
    if name in OF_WORKLOAD and takes_workload:
        workload = WORKLOADS.get(value, value) or "randread"
        return f"use {command} {shlex.quote(workload)} {'--on DRIVE' if '--on' in known else ''}".rstrip()
    if name in NOT_NEEDED and takes_workload:
        return "leave it out: a workload and --on are enough"
    for template, example in OPTIONS.get(name, ()):
        if template.split()[0] in known:
            shown = value or example
            is_timed = template.endswith(' s"') and value and not re.fullmatch(r"[\d.]+", value)
            return f"use {template.replace('{} s', '{}') if is_timed else template}".replace("{}", shown)
    return ""


def expect_plain(arguments: Sequence[str], settings: Sequence[str]) -> None:
    """Raise UserError for several values of a setting of a command that runs one."""
    for pair in settings:
        if SEVERAL.fullmatch(pair.partition("=")[2].strip()):
            accepted = f"several values make a sweep; use {shlex.join(['hotband', 'sweep', *arguments])}"
            raise UserError("--set", "", pair, accepted)


def several_machines(arguments: Sequence[str]) -> str:
    """Return the error for a run on two machines."""
    return f"is given twice; a run is on one machine: use {shlex.join(['hotband', 'sweep', *arguments])}"


def expect_no_file(arguments: Sequence[str], left: Sequence[str]) -> None:
    """Raise UserError for a file after `--json`, which prints to standard output."""
    if "--json" in arguments and left and left[0].endswith((".json", ".jsonl")):
        raise UserError("--json", "", "", f"prints to standard output; use --json > {shlex.quote(left[0])}")


def unknown_command(path: str, word: str, known: Sequence[str], is_first: bool) -> UserError:
    """Return the error for a word that is not a command, with the intended one: another command, or a command for the
    named object."""
    meant = COMMANDS.get(word) or _command_for(word) if is_first else ""
    if not meant:
        return unknown_name(path, word, known)
    shown = " or ".join(f"hotband {choice}" for choice in meant.split(" or "))
    return UserError(path, "", word, f"no such command; use {shown}")


def _command_for(word: str) -> str:
    """Return the command for a drive, a workload, a job file, a folder of results or a question."""
    quoted, path = shlex.quote(word), Path(word)
    if word in drive_names():
        return f"drives {quoted}"
    if word in workload_names() or word.lower().endswith((*JOB_ENDINGS, *TRACE_ENDINGS)):
        return f"run {quoted} --on DRIVE"
    if is_real(word):
        return f"measure quick {quoted}"
    if SHORT_FORM.match(word):
        return f"run randread --on {quoted}"
    if " " in word and re.search(r"\b(?:at|for)\b", word):
        return f"find {quoted} -w randread --on DRIVE"
    if path.is_dir() or word.endswith(".json"):
        return f"report {quoted}"
    return ""


def missing(path: str, epilog: str | None, position: str, what: str) -> str:
    """Return the error for a missing argument or option, with the first example of the command's help."""
    lines = (line.strip() for line in (epilog or "").splitlines())
    example = next((line.partition("   ")[0] for line in lines if line.startswith(f"{path} ")), "")
    return f"{position}: missing{what}{f'; such as: {example}' if example else ''}"


def unknown_option(path: str, name: str, known: Sequence[str]) -> str:
    """Return the error for an option in no table: the nearest one, and the command that lists all."""
    near = hint(name, known, 0.6)
    accepted = f"one of {len(known)} options" if known else "no option"
    return f"{name}: no such option; {near}expected {accepted} ({path} --help)"
