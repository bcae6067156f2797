"""Drives of the catalog and your own: list, filter and show them, describe a new one from its data sheet."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.foreign import console
from hotband.base.text.formats import as_rows
from hotband.data.catalog import entries
from hotband.data.catalog.filters import SORT_KEYS, product_of, select_drives
from hotband.data.catalog.products import catalog_drives
from hotband.faces.commands import names
from hotband.faces.commands.catalog import print_product
from hotband.faces.commands.group import Listing
from hotband.faces.commands.output import JsonFlag, print_rows, say, show
from hotband.views.drives import MOST_ROWS, all_values, facts, listing_views

if TYPE_CHECKING:
    from hotband.questions.datasheet.lines import Line

drives_app = typer.Typer(
    cls=Listing, help="List and filter drives of the catalog, and describe your own from its data sheet."
)

WORDS_HELP = "A drive in detail, or words that filter: nvme, sata, hdd, smr, 15k, tlc, enterprise, seagate ..."
SORT_HELP = f"Sort by {', '.join(SORT_KEYS)}; drives without the value come last."

NEW_EPILOG = """Lines of the data sheet are options, such as --capacity "16 TB"; those
with * are needed. On a terminal, without any, each is asked for.

hdd: --capacity "16 TB" *  --rpm "7200 rpm" *  --interface sata *
     --bandwidth "261 MB/s" *  --cache "256 MB"  --seek "8.5 ms"
     --seek-write "9.5 ms"  --read-iops-qd1 80  --sector-format 512e
     --heads 18  --power-idle "5 W"  --power-active "10 W"
     --mtbf "2000000 h"  --error-rate 1e15

ssd (SATA, SAS): --capacity "3.84 TB" *  --interface sata *
     --read-bandwidth "550 MB/s" *  --write-bandwidth "520 MB/s" *
     --read-iops 98000 *  --write-iops 30000  --read-latency "110 us"
     --write-latency "40 us"  --dwpd 1  --power-loss-protection on
     --power-idle "1.3 W"  --power-active "4 W"
     --mtbf "2000000 h"  --error-rate 1e15

nvme: as ssd, with --pcie 4x4 * in place of --interface

What a line leaves open follows by rules, with a range:
docs/models/data-sheets.md."""

RUN = {
    "disk": '--set qd=32 --duration "5 s"',
    "ssd": '--set qd=32 --set state=preconditioned --set scale=256 --duration "0.2 s"',
}
"""What a new drive is tried with, by mechanism. Flash that was never written is answered from memory and flatters
2 to 2.5 times, so it is worn in first, a 256th of it: 2 s for 240 GB, 9 s for 61 TB."""


@drives_app.command("show")
def show_drives(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help=WORDS_HELP, autocompletion=names.drive_words)
    ] = None,
    least: Annotated[str | None, typer.Option("--min", metavar="SIZE", help='Least capacity, such as "3 TB".')] = None,
    most: Annotated[str | None, typer.Option("--max", metavar="SIZE", help="Largest capacity.")] = None,
    sort: Annotated[str | None, typer.Option("--sort", metavar="KEY", help=SORT_HELP)] = None,
    whole: Annotated[bool, typer.Option("--all", help="All of a long list on a terminal.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """List the drives of the catalog; with NAME show every value of a drive, with its source.

    Words filter the list: hdd, ssd, nvme, sata, sas, smr, 15k, tlc, u.2, enterprise, nearline, consumer, makers, years,
    or a part of a name. NAME may be the path of a drive's file of your own. `hotband drives WORD` is the same.
    """
    words = name or []
    product = product_of(words)
    if product is not None:
        about = [line for drive in catalog_drives() if drive.name == product for line in facts(drive)]
        return print_product(entries.drive(product), "hotband-drive", as_json, about)
    fields = ("NAME", "--min", "--max", "--sort")
    selection = select_drives(words, least=least, most=most, sort=sort, fields=fields)
    if as_json:
        return print_rows([drive.to_dict() for drive in selection.drives])
    if as_rows():
        return show(all_values(selection))
    out = console()
    rows = MOST_ROWS if out.is_terminal and not whole else None
    show(*listing_views(selection, out.width, rows))
    if rows is not None and len(selection.drives) > rows:
        show(f"and {len(selection.drives) - rows} more: --all")


@drives_app.command(
    "new", epilog=NEW_EPILOG, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def new_drive(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the drive; its file is NAME.toml.")],
    kind: Annotated[str, typer.Option("--kind", help="hdd, ssd (SATA or SAS) or nvme.")],
    title: Annotated[
        str | None, typer.Option("--title", help="What reports call it; NAME where nothing is said.")
    ] = None,
    source: Annotated[
        str, typer.Option("--source", help="The data sheet: document, revision, page.")
    ] = "its data sheet",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Describe a drive of your own in ten lines of its data sheet; write a file that `--on` and `drives` accept.

    Every value of the file has a source, or is an estimate with a range that follows by a rule.
    """
    from hotband.questions.datasheet import KINDS
    from hotband.questions.datasheet.own import describe, file_of

    path = file_of(name, force)
    given = given_lines(ctx.args)
    if kind in KINDS and not given and sys.stdin.isatty():
        given = asked_lines(KINDS[kind].lines)
    try:
        drive = describe(path, kind, given, title=title, source=source)
    except UserError as error:
        if error.where != "question.lines":
            raise
        # A line is an option here.
        raise UserError(f"--{error.key}" if error.key else "LINES", "", "", error.accepted) from None
    estimates = [value["key"] for value in drive["values"] if value["estimate"]]
    say(f"{path}: {len(drive['values'])} values, of them {len(estimates)} estimates with ranges")
    say(f"look at it: hotband drives ./{path}")
    say(f"run it: hotband run fio-randread --on ./{path} {RUN[drive['kind']]}")


def given_lines(arguments: Sequence[str]) -> dict[str, str]:
    """`--key value` and `--key=value` pairs, by key. Raises UserError for what is none, and for one given twice."""
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        if not option.startswith("--") or len(option) == 2:
            raise UserError("LINE", "", option, 'expected a line of the data sheet, such as --capacity "16 TB"')
        if not equals and not rest:
            raise UserError(option, "", "", "expected a value after it")
        if option[2:] in given:
            raise UserError(option, "", "", "is given twice; expected it once")
        given[option[2:]] = value if equals else rest.pop(0)
    return given


def asked_lines(lines: Sequence[Line]) -> dict[str, str]:
    """Asks for every line; nothing is an answer where the line need not be given. A wrong answer is asked for again."""
    from hotband.questions.datasheet.lines import answer

    given: dict[str, str] = {}
    for line in lines:
        choices = f", one of {', '.join(line.choices)}" if line.choices else ""
        more = "" if line.needed else "; Enter if it is not stated"
        while line.key not in given:
            found = typer.prompt(
                f"{line.question} (such as {line.example}{choices}{more})", default="", show_default=False
            )
            if not found.strip() and not line.needed:
                break
            try:
                answer(line, found)
            except UserError as error:
                typer.echo(f"  {error.accepted}")
                continue
            given[line.key] = found
    return given
