"""`hotband trace`: traces of I/Os, of ours and of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.text.write import expect_other_file, expect_page
from hotband.data.inputs.specify import Named
from hotband.faces.commands.group import Commands
from hotband.faces.commands.output import (
    JsonFlag,
    OnOption,
    print_after,
    print_json,
    print_rows,
    show_lines,
    show_views,
)
from hotband.faces.commands.trace_keys import NOTHING, Keys, reads_traces
from hotband.inference.traces.compare import compare_traces
from hotband.inference.traces.convert import columns_of, convert_trace
from hotband.inference.traces.fit.fit import fit_trace
from hotband.inference.traces.properties import SAMPLE
from hotband.views.traces.compare import compared_views
from hotband.views.traces.show import block_of, closing_of, show_trace, table_of, write_page

trace_app = typer.Typer(cls=Commands, no_args_is_help=True, help="Traces of I/Os, of ours and of other tools.")

CONVERT_EPILOG = """\
[bold]Examples[/]

hotband trace convert financial1.spc financial1.parquet

hotband trace convert mine.csv.gz mine.iolog --columns time=1:ms,op=2,offset=3:sectors,size=4

hotband trace convert io_traces.csv disk7.spc --device 7 --from "1 h" --for "10 min\""""


@trace_app.callback()
def trace() -> None:
    """Traces of I/Os, of ours and of other tools."""


SHOW_EPILOG = """\
[bold]Examples[/]

hotband trace show financial1.spc

hotband trace show usr_0.csv.gz src1_2.csv.gz -o traces.html

hotband trace show mine.csv --columns time=1:ms,op=2,offset=3:sectors,size=4 --json"""


@trace_app.command(epilog=SHOW_EPILOG)
@reads_traces
def show(
    source: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Traces, plain or compressed by gzip or zstd.")
    ],
    keys: Keys = NOTHING,
    block: Annotated[str, typer.Option(metavar="SIZE", help="Of what is counted as touched.")] = "4 KiB",
    sample: Annotated[
        int | None, typer.Option(min=1024, max=2**26, metavar="N", help="Blocks followed at most.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Its page.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Say what traces are like: sizes, bursts, sequentiality, working set, popularity, what a cache would do."""
    if output is not None:
        expect_page("--output", output)
        expect_other_file("--output", output, source)
    size = block_of(block)
    shown = [show_trace(file, keys, size, sample or SAMPLE) for file in source]

    def printed(page: Path | None) -> None:
        if as_json:
            found = [one.to_dict() for one in shown]
            return print_rows(found) if len(found) > 1 else print_json(found[0], "hotband-trace-properties")
        for one in shown:
            head = "" if len(shown) == 1 else f"{one.source}: "
            show_lines([f"{head}{one.answer[0]}", *one.answer[1:]])
        show_views([table_of(shown)])
        for one in shown:
            head = "" if len(shown) == 1 else f"{one.source.name}: "
            show_lines(f"{head}{line}" for line in closing_of(one))
        return show_lines([f"Page: {page}"] if page else [])

    return print_after(lambda: None if output is None else write_page(shown, output), printed)


@trace_app.command(epilog=CONVERT_EPILOG)
@reads_traces
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A trace, plain or compressed by gzip or zstd.")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The new file; its ending says the format.")],
    to: Annotated[str | None, typer.Option(metavar="FORMAT", help="The new format.")] = None,
    keys: Keys = NOTHING,
    as_json: JsonFlag = False,
) -> None:
    """Write a trace in another format, and say what that cannot say of it."""
    done = convert_trace(source, output, to, keys)
    if not as_json:
        return show_lines(done.lines())
    return print_json(done.to_dict(), "hotband-trace-convert")


COMPARE_EPILOG = """\
[bold]Examples[/]

hotband trace compare measured.trace replayed.parquet -o page.html

hotband trace compare before.blkparse.gz after.blkparse.gz --direction read

hotband trace compare mine.csv log.parquet --columns time=1:us,offset=2:sectors,size=3,latency=4:us --format-b io-log"""


@trace_app.command(epilog=COMPARE_EPILOG)
@reads_traces
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="What was measured: a trace with latencies.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="What is compared with it.")],
    page: Annotated[Path | None, typer.Option("-o", "--page", metavar="FILE", help="Write a page, .html.")] = None,
    keys: Keys = NOTHING,
    format_b: Annotated[str | None, typer.Option(metavar="NAME", help="The format of B, if another.")] = None,
    columns_b: Annotated[
        str | None, typer.Option(metavar="KEY=COLUMN,...", help="The columns of B, if others.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare the latencies of two traces: means, demerit, percentiles, and single I/Os where both hold the same."""
    is_other = format_b is not None or columns_b is not None
    of_second = {"format": format_b, "columns": columns_of(columns_b)} if is_other else {}
    found = compare_traces(first, second, keys, of_second)

    def printed(written: Path | None) -> None:
        if as_json:
            return print_json(found.to_dict(), "hotband-trace-compare")
        show_views(compared_views(found.document))
        return show_lines([f"Page: {written}"] if written is not None else [])

    return print_after(lambda: None if page is None else found.write_html(page), printed)


FIT_EPILOG = """\
[bold]Examples[/]

hotband trace fit financial1.spc -o like-financial1.toml --device 0

hotband trace fit oltp.parquet --on exos-15e900-512n

hotband run like-financial1.toml --on exos-15e900-512n"""


@trace_app.command(epilog=FIT_EPILOG)
@reads_traces
def fit(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A trace, plain or compressed by gzip or zstd.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the workload here, as TOML.")
    ] = None,
    on: OnOption = None,
    issue: Annotated[
        str | None, typer.Option(metavar="WHEN", help="With --on: the trace's I/Os, recorded or after-completion.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    keys: Keys = NOTHING,
    as_json: JsonFlag = False,
) -> None:
    """Write a workload that is like a trace, and say what it keeps of it."""
    if issue is not None and on is None:
        raise UserError("--issue", "", issue, "is for both on a machine: expected --on MACHINE with it")
    fitted = fit_trace(source, output, keys, None if on is None else Named(on), issue, seed)
    return print_json(fitted.to_dict(), "hotband-trace-fit") if as_json else show_views(fitted.views())
