"""The command line: its commands put together. Tables go to stdout, progress to stderr; under --json stdout carries
data only."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.commands import (
    catalog,
    device,
    drives,
    events,
    expect,
    find,
    intervals,
    keys,
    names,
    program,
    reliability,
    results,
    review,
    serve,
    studies,
    sweep,
    targets,
    workload,
)
from hotband.commands.examples import RUN_EPILOG
from hotband.commands.group import INTERRUPTED, Commands
from hotband.commands.intervals import IntervalOption, RunDrawsOption, add_intervals, expect_one_run
from hotband.commands.output import (
    CacheOption,
    FreshOption,
    JsonFlag,
    MachineOption,
    MediaOption,
    OnOption,
    OutOption,
    SetOption,
    WorkloadArgument,
    listed,
    parse_set,
    print_json,
    say,
    show,
    show_lines,
)
from hotband.errors import UserError

if TYPE_CHECKING:
    from hotband.runs.run import Finished


def print_version(wanted: bool) -> None:
    """Prints the version and ends."""
    from hotband import __version__

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
for listing in (catalog.osds, catalog.workloads, catalog.studies):
    app.command()(listing)
for command in (keys.keys, events.events, review.review, reliability.reliability, intervals.why):
    app.command()(command)
app.command(epilog=sweep.SWEEP_EPILOG)(sweep.sweep)
app.command(epilog=find.EPILOG)(find.find)
app.command(epilog=device.EPILOG)(device.device)
app.command(epilog=serve.SERVE_EPILOG)(serve.serve)
app.command(epilog=serve.SERVE_EPILOG)(serve.mount)
app.command(epilog=expect.EPILOG)(expect.expect)
app.command(epilog=program.EPILOG)(program.program)


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


@app.command(epilog=RUN_EPILOG)
def run(
    workload: WorkloadArgument,
    on: MachineOption,
    set_: SetOption = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help='Measured time of a step, as "60 s".')] = None,
    out: OutOption = None,
    io_log: Annotated[Path | None, typer.Option(metavar="FILE", help="Log every I/O, to .parquet or .csv.")] = None,
    power_loss: Annotated[
        str | None, typer.Option(metavar="TIME", help='Cut power at this measured time, such as "30 s".')
    ] = None,
    fail: Annotated[
        list[str] | None, typer.Option(metavar="DRIVE@TIME", help='A drive fails, such as d3@"60 s". May be repeated.')
    ] = None,
    spare: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="COUNT", help="Drives that wait to replace failed ones.")
    ] = 0,
    rebuild_rate: Annotated[
        str | None, typer.Option(metavar="RATE", help='Most that a rebuild writes, such as "50 MB/s".')
    ] = None,
    rebuild_after: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long after a failure a spare is taken.")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(metavar="EVENT", help="What happens, such as 'at 60 s: fail d3'. May be repeated."),
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option("--then", metavar="WORKLOAD", help="Run this after it, on the machine as left.", **names.WORKLOAD),
    ] = None,
    fresh_seeds: Annotated[bool, typer.Option("--fresh-seeds", help="Runs of --then ask for other offsets.")] = False,
    fresh: FreshOption = False,
    interval: IntervalOption = None,
    draws: RunDrawsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Run a workload on a machine in virtual time; with --then several, one after the other on the same machine."""
    from hotband.experiment import Experiment, Lock, expect_no_experiment, points_of
    from hotband.runs.progress import run_progress
    from hotband.runs.run import Repair, RunSpec, execute
    from hotband.text.foreign import json_safe

    asked = [workload, *(then or [])]
    if fresh_seeds and len(asked) == 1:
        raise UserError("--fresh-seeds", "", "", "is for runs that follow each other: expected --then WORKLOAD")
    if len(asked) > 1 and io_log:
        accepted = "an I/O log is of one run: leave out --then"
        raise UserError("--then", "", asked[1], accepted)
    expect_one_run(interval, draws, len(asked))
    if targets.is_emulated(on):
        virtual = {"--then": then, "--io-log": io_log, "--power-loss": power_loss, "--fail": fail, "--spare": spare}
        spec = RunSpec("run", on, workload, parse_set(set_ or []), seed, duration, out, events=tuple(event or ()))
        return targets.run_emulated(spec, {**virtual, "--interval": interval}, as_json)
    repair = Repair(tuple(fail or ()), spare, rebuild_rate, rebuild_after)
    folders = [out if out is None or len(asked) == 1 else out / f"{n}" for n in range(1, len(asked) + 1)]
    specs = [
        RunSpec(
            f"run {n}",
            on,
            name,
            parse_set(set_ or []),
            seed + (n if fresh_seeds else 0),
            duration,
            folders[n],
            io_log,
            None if n else power_loss,
            after=f"run {n - 1}" if n else "",
            # What happens to the machine counts from the first run and is not said again to those that follow.
            repair=Repair() if n else repair,
            events=() if n else tuple(event or ()),
            in_use=True,
        )
        for n, name in enumerate(asked)
    ]
    title = f"{', '.join(asked)} on {on}"
    with run_progress(title) as progress:
        if len(specs) == 1:
            # One run is always run: there is nothing to go on from.
            with nullcontext() if out is None else Lock(out):
                if out is not None:
                    expect_no_experiment(out)
                finished = execute(specs, progress)
        else:
            experiment = Experiment(points_of(specs), what=f"the runs {title}")
            finished = experiment.run(out=out, fresh=fresh, progress=progress, say=say).finished
    is_whole = interval is None or add_intervals(specs[0], finished[0], interval, draws)
    if as_json:
        texts = [one.text for one in finished]
        sys.stdout.write(json_safe(texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]") + "\n")
    else:
        for one in finished:
            show_run(one)
        if io_log is not None:
            show(f"I/O log: {io_log}")
    if not is_whole:
        raise typer.Exit(INTERRUPTED)
    return None


def show_run(finished: Finished) -> None:
    """Prints what a run left."""
    from hotband.interval.show import interval_lines, intervals_table
    from hotband.record.energy import energy_lines
    from hotband.record.repair import repair_lines
    from hotband.record.states import said_of
    from hotband.record.steady import of_phases
    from hotband.record.trace import trace_lines
    from hotband.text.formats import as_rows
    from hotband.text.tables import (
        app_tables,
        limits_lines,
        power_loss_lines,
        scripts_table,
        steady_lines,
        summary_table,
    )
    from hotband.text.wear import smart_lines

    record = finished.record
    scripts = [scripts_table(record["scripts"])] if "scripts" in record else []
    show(summary_table(record), *app_tables(record), *scripts)
    if "intervals" in record:
        lines = interval_lines(record["intervals"])
        if as_rows():
            show(intervals_table(record["intervals"]))
            lines = lines[len(record["intervals"]["figures"]) :]
        show_lines(lines)
    show_lines(said_of(record))
    show_lines(f"  note: {note}" for note in record["notes"])
    show_lines(line for verdict in of_phases(record) for line in steady_lines(verdict))
    show_lines([*smart_lines(record), *energy_lines(record), *limits_lines(record), *power_loss_lines(record)])
    show_lines([*repair_lines(record), *trace_lines(record)])
    if finished.spec.out is not None:
        show(f"Record: {finished.spec.out / 'record.json'}")


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
    from hotband.record.incomplete import refusing_incomplete
    from hotband.record.rounds import judge_files
    from hotband.text.formats import as_rows
    from hotband.text.tables import steady_lines, steady_table

    with refusing_incomplete(records):
        verdicts = judge_files(records, round_, track)
        lines = [line for verdict in verdicts for line in steady_lines(verdict)]
    if as_json:
        return print_json(verdicts)
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
    from hotband.audit.command import audit_results

    views, data, severe = audit_results(list(results or []), study, on, media, cache)
    if as_json:
        print_json(data)
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
    from hotband.audit.command import compare_results

    views, data = compare_results(results, seed, anyway)
    return print_json(data) if as_json else show(*views)


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
    from hotband.audit.facts import of_options
    from hotband.audit.load import expect_once, records_in
    from hotband.record.incomplete import refusing_incomplete
    from hotband.report import record_page
    from hotband.report.kept import Report, kept_study, read_records, read_study
    from hotband.text.write import expect_page

    if output is None and charts is None:
        raise UserError("--output", "", "", "missing: expected -o FILE.html, --charts DIR or both")
    if chart_format is not None and charts is None:
        raise UserError("--chart-format", "", chart_format.value, "is of the files of charts: expected --charts DIR")
    machine = of_options(on, media, cache)
    if machine is not None and not with_audit:
        raise UserError("--on, --media, --cache", "", "", "say what the auditor is to know; expected --audit with them")
    study = kept_study(records)
    if study is not None and (with_audit or title is not None):
        raise UserError("--audit, --title", "", "", "are for records; expected neither with the folder of a study")
    records = [one for path in records for one in records_in(path)] if study is None else []
    expect_once(records)
    if output is not None:
        expect_page("--output", output, [one for path in records for one in (path, path / "record.json")])
    with refusing_incomplete(records):
        if study is not None:
            found = read_study(study)
        else:
            loaded = [one for path in records for one in read_records(path)]
            page = record_page(loaded, title, audit=with_audit, machine=machine)
            found = Report(page)
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
    from hotband.entropy import (
        Asked,
        chunks_table,
        decimal_size,
        entropy_progress,
        histogram_lines,
        measure,
        summary_lines,
    )
    from hotband.text.foreign import json_safe

    asked = Asked(tuple(paths), tuple(listed(compressor)), tuple(listed(chunk)), sample, seed, jobs, one_file_system)
    with entropy_progress() as progress:
        measured = measure(asked, progress)
    if measured is None:
        raise KeyboardInterrupt
    report = measured.report
    if as_json:
        sys.stdout.write(json_safe(measured.text) + "\n")
    else:
        rate = decimal_size(report["bytes_read"] / measured.seconds) if measured.seconds else "–"
        table = [chunks_table(report)] if report["chunks"] else []
        took = f"{measured.seconds:.1f} s, {rate}/s on {measured.jobs} threads"
        show(*summary_lines(report), *table, *histogram_lines(report), "", took)
    if report["interrupted"]:
        sys.stderr.write("hotband: interrupted; what was measured so far is kept\n")
        raise typer.Exit(INTERRUPTED)


@app.command()
def version() -> None:
    """Print the version."""
    print_version(True)


def main() -> None:
    """Entry point; `hotband.commands.group` says how a command ends."""
    from hotband import _core

    _core.end_on_second_interrupt()
    app(prog_name="hotband")


if __name__ == "__main__":
    main()
