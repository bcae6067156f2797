"""`hotband entropy`: how far real data compresses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hotband.base.text.numbers import rate, span
from hotband.execution.runs.signals import INTERRUPTED
from hotband.faces.commands.output import JsonFlag, listed, print_text, show
from hotband.questions import entropy as questions
from hotband.questions.entropy import Asked, chunks_table, histogram_lines, summary_lines


def entropy(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.")],
    compressor: Annotated[
        list[str] | None, typer.Option(metavar="NAME[,NAME]", help="lz4, deflate, zstd; all where not said.")
    ] = None,
    chunk: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE[,SIZE]", help='"4 KiB" to "64 KiB", or none for the archive alone; all where not said.'
        ),
    ] = None,
    sample: Annotated[
        str | None, typer.Option(metavar="SIZE", help='Read about so much, at random, or "all"; 1 GB where not said.')
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of the sample's randomness.")] = 1,
    jobs: Annotated[int | None, typer.Option(min=1, max=1024, help="Threads; all cores where not said.")] = None,
    one_file_system: Annotated[
        bool, typer.Option("--one-file-system", "-x", help="Leave out what is mounted in the tree.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Measure how far real data compresses: the entropy that an SSD with compression would see."""
    asked = Asked(tuple(paths), tuple(listed(compressor)), tuple(listed(chunk)), sample, seed, jobs, one_file_system)
    with questions.entropy_progress() as progress:
        measured = questions.measure(asked, progress)
    if measured is None:
        raise KeyboardInterrupt
    report = measured.report
    if as_json:
        print_text(measured.text)
    else:
        speed = rate(report["bytes_read"] / measured.seconds) if measured.seconds else "–"
        table = [chunks_table(report)] if report["chunks"] else []
        took = f"{span(1e9 * measured.seconds)}, {speed} on {measured.jobs} threads"
        show(*summary_lines(report), *table, *histogram_lines(report), "", took)
    if report["interrupted"]:
        sys.stderr.write("hotband: interrupted; what was measured so far is kept\n")
        raise typer.Exit(INTERRUPTED)
