"""The command line: its commands put together. Tables go to stdout, progress to stderr; under --json stdout carries
data only."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.text.numbers import rate, span
from hotband.execution.runs.signals import INTERRUPTED, notice_interrupts
from hotband.faces.commands import (
    advise,
    calibrate,
    catalog,
    device,
    drives,
    events,
    expect,
    find,
    fleet,
    intervals,
    keys,
    program,
    reliability,
    results,
    review,
    run,
    serve,
    store,
    studies,
    suites,
    sweep,
    trace,
    ui,
    workload,
)
from hotband.faces.commands.examples import RUN_EPILOG
from hotband.faces.commands.group import Commands
from hotband.faces.commands.on_demand import group_of
from hotband.faces.commands.output import (
    CacheOption,
    JsonFlag,
    MediaOption,
    OnOption,
    listed,
    print_json,
    print_rows,
    print_text,
    show,
    show_lines,
)


def print_version(wanted: bool) -> None:
    """Prints the version and ends."""
    from hotband.base.version import __version__

    if wanted:
        sys.stdout.write(f"hotband {__version__}\n")
        raise typer.Exit


app = typer.Typer(
    name="hotband",
    help="A storage evaluation lab: predict what a drive, a layout and a cache do for a workload.",
    no_args_is_help=True,
    cls=Commands,
    pretty_exceptions_enable=False,
)
app.add_typer(studies.study_app, name="study")
app.add_typer(results.import_app, name="import")
app.add_typer(results.plot_app, name="plot")
app.add_typer(drives.drives_app, name="drives")
app.add_typer(workload.workload_app, name="workload")
app.add_typer(trace.trace_app, name="trace")
app.add_typer(store.store_app, name="store")
for listing in (catalog.osds, catalog.workloads, catalog.studies):
    app.command()(listing)
for command in (keys.keys, events.events, review.review, reliability.reliability, intervals.why):
    app.command()(command)
app.command(epilog=RUN_EPILOG)(run.run)
app.command(epilog=sweep.SWEEP_EPILOG)(sweep.sweep)
app.command(epilog=find.EPILOG)(find.find)
app.command(epilog=advise.EPILOG)(advise.advise)
app.command(epilog=device.EPILOG)(device.device)
app.command(epilog=fleet.EPILOG)(fleet.fleet)
app.command(epilog=serve.SERVE_EPILOG)(serve.serve)
app.command(epilog=serve.SERVE_EPILOG)(serve.mount)
app.command(epilog=expect.EPILOG)(expect.expect)
app.command(epilog=calibrate.EPILOG)(calibrate.calibrate)
app.command(epilog=program.EPILOG)(program.program)
app.command(epilog=suites.PTS_EPILOG)(suites.pts)
app.command(epilog=suites.QUICK_EPILOG)(suites.quick)
app.command(epilog=store.QUERY_EPILOG)(store.query)
app.command(epilog=ui.EPILOG)(ui.ui)


class ChartFormat(StrEnum):
    """Of a chart's file."""

    svg = "svg"
    png = "png"


@app.callback()
def hotband(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=print_version)
    ] = False,
) -> None:
    """A storage evaluation lab: predict what a drive, a layout and a cache do for a workload."""


@app.command()
def steady(
    records: Annotated[list[Path], typer.Argument(metavar="RECORD...", help="record.json files or their folders.")],
    round_: Annotated[
        str | None, typer.Option("--round", metavar="TIME", help='Length of a round; "60 s", or as the run had it.')
    ] = None,
    track: Annotated[
        str | None, typer.Option(metavar="WHAT", help="iops, latency or bandwidth; iops, or as the run had it.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Say whether records reached steady state by the rule of the SNIA PTS, and whether they left it.

    Records without a series, such as most of fio's, are one round each, in the order given.
    """
    from hotband.base.text.formats import as_rows
    from hotband.data.record.incomplete import refusing_incomplete
    from hotband.data.record.rounds import judge_files
    from hotband.views.text.tables import steady_lines, steady_table

    with refusing_incomplete(records):
        verdicts = judge_files(records, round_, track)
        lines = [line for verdict in verdicts for line in steady_lines(verdict)]
    if as_json:
        return print_rows(verdicts)
    return show(steady_table(verdicts)) if as_rows() else show_lines(lines)


@app.command()
def audit(
    results: Annotated[
        list[Path] | None, typer.Argument(metavar="RECORD|FILE...", help="Records, results of other tools, CSV tables.")
    ] = None,
    study: Annotated[str | None, typer.Option(metavar="NAME", help="The published table of a study.")] = None,
    on: OnOption = None,
    media: MediaOption = None,
    cache: CacheOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say what results prove: rules of physics, arithmetic and statistics on yours or published ones.

    Exit code 1 if a finding is severe, so that it works in CI.
    """
    from hotband.inference.audit.command import audit_results

    views, data, severe = audit_results(list(results or []), study, on, media, cache)
    if as_json:
        print_json(data, "hotband-audit")
    else:
        show(*views)
    if severe:
        raise typer.Exit(1)


@app.command()
def compare(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="A... [vs] B...", help="Records or results of other tools; vs between repeats."),
    ],
    anyway: Annotated[bool, typer.Option("--anyway", help="Even if they were not asked the same.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of the resampling.")] = 1,
    as_json: JsonFlag = False,
) -> None:
    """Say whether B is faster than A, slower, or shows no difference: IOPS and percentiles with 95 % intervals.

    Every further result is compared with the first. Repeats of a side: A1 A2 A3 vs B1 B2 B3, or a folder of records.
    """
    from hotband.inference.audit.command import compare_results

    views, data = compare_results(results, seed, anyway)
    return print_json(data, "hotband-compare") if as_json else show(*views)


@app.command()
def report(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORD...", help="Records, folders of them, results of other tools, or the folder of a study run."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="The report: one file.")
    ] = None,
    charts: Annotated[
        Path | None, typer.Option("--charts", metavar="DIR", help="Folder for a file of every chart.")
    ] = None,
    chart_format: Annotated[ChartFormat | None, typer.Option(help="Of the charts; svg where not said.")] = None,
    title: Annotated[str | None, typer.Option(help="Its heading; what was run on what where not said.")] = None,
    with_audit: Annotated[bool, typer.Option("--audit", help="With what the auditor finds in them.")] = False,
    on: OnOption = None,
    media: MediaOption = None,
    cache: CacheOption = None,
) -> None:
    """Write one self-contained HTML report of records, and its charts as SVG or PNG.

    It says first which is faster and by how much; repeats (other seeds of the same) are taken together.
    """
    from hotband.base.text.pipes import with_pipes
    from hotband.base.text.write import expect_page
    from hotband.data.record.incomplete import refusing_incomplete
    from hotband.inference.audit.facts import of_options
    from hotband.views.report.kept import expect_fit, kept_study, places_of, report_of

    if output is None and charts is None:
        raise UserError("--output", "", "", "missing: expected -o FILE.html, --charts DIR or both")
    if chart_format is not None and charts is None:
        raise UserError("--chart-format", "", chart_format.value, "is of the files of charts: expected --charts DIR")
    machine = of_options(on, media, cache)
    expect_fit(records, title, with_audit, machine)
    is_study = kept_study(records) is not None
    given = records if is_study else [one for one in places_of(with_pipes(records)) if isinstance(one, Path)]
    if output is not None:
        expect_page("--output", output, [one for path in given for one in (path, path / "record.json")])
    with refusing_incomplete([] if is_study else given):
        found = report_of(given, title, audit=with_audit, machine=machine)
        if output is not None:
            show(f"Report: {found.save(output)}")
        if charts is not None:
            written = found.save_charts(charts, (chart_format or ChartFormat.svg).value)
            show(f"Charts: {len(written)} in {charts}")


@app.command()
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
    from hotband.questions.entropy import (
        Asked,
        chunks_table,
        entropy_progress,
        histogram_lines,
        measure,
        summary_lines,
    )

    asked = Asked(tuple(paths), tuple(listed(compressor)), tuple(listed(chunk)), sample, seed, jobs, one_file_system)
    with entropy_progress() as progress:
        measured = measure(asked, progress)
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


@app.command()
def version() -> None:
    """Print the version."""
    print_version(True)


def main() -> None:
    """Entry point; `hotband.faces.commands.group` says how a command ends."""
    from hotband import _core

    # In this order: a handler of Python's that comes later takes the place of the engine's.
    notice_interrupts()
    _core.end_on_second_interrupt()
    group_of(app)(prog_name="hotband")


if __name__ == "__main__":
    main()
