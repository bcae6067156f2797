"""The command line. Tables go to stdout, progress to stderr; under --json stdout carries data only."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotband.errors import UserError

if TYPE_CHECKING:
    from hotband.importers import Imported
    from hotband.run import Finished

app = typer.Typer(
    name="hotband",
    help="A storage evaluation lab: predict what a drive, a layout and a cache do for a workload.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
study_app = typer.Typer(no_args_is_help=True, help="Published evaluations, predicted.")
import_app = typer.Typer(no_args_is_help=True, help="Results of other tools, as records.")
app.add_typer(study_app, name="study")
plot_app = typer.Typer(no_args_is_help=True, help="Charts of records and of other tools' results.")
app.add_typer(import_app, name="import")
app.add_typer(plot_app, name="plot")

JsonFlag = Annotated[bool, typer.Option("--json", help="Print data as JSON to stdout, and nothing else.")]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for what is produced.")]
NameArgument = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One entry in detail.")]
StudyArgument = Annotated[str, typer.Argument(metavar="NAME", help="A study of the catalog, or a study's folder.")]
OnOption = Annotated[
    str | None, typer.Option("--on", metavar="MACHINE", help="The target: a drive, LAYOUT:COUNTxDRIVE, or a TOML file.")
]
MediaOption = Annotated[
    str | None, typer.Option(metavar="KIND", help="What the target stores on: hdd, ssd, or a speed such as 7200rpm.")
]
CacheOption = Annotated[
    str | None, typer.Option(metavar="SIZE", help='Memory that may answer reads (host, servers), such as "8 GiB".')
]
SeedOption = Annotated[int | None, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")]


def show(*renderables: Any) -> None:
    """Prints to stdout; without a terminal, wide enough that nothing is folded away."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 150)
    for renderable in renderables:
        console.print(renderable)


def print_json(data: Any) -> None:
    """Data to stdout."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def print_listing(title: str, rows: Sequence[tuple[str, ...]], names: tuple[str, ...]) -> None:
    """A table of catalog entries."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    show(table)


@app.command()
def drives(name: NameArgument = None, as_json: JsonFlag = False) -> None:
    """What drives the catalog holds; with NAME every value of one, with its source."""
    from hotband import catalogue

    if name is None:
        return print_products("Drives", "drive", catalogue.drives(), as_json)
    return print_product(catalogue.drive(name), as_json)


@app.command()
def osds(name: NameArgument = None, as_json: JsonFlag = False) -> None:
    """What object storage daemons the catalog holds, for replicated pools; with NAME every value of one."""
    from hotband import catalogue

    if name is None:
        return print_products("Object storage daemons", "daemon", catalogue.osds(), as_json)
    return print_product(catalogue.osd(name), as_json)


def print_products(title: str, what: str, entries: list[dict[str, Any]], as_json: bool) -> None:
    """Prints what the catalog holds of a kind."""
    if as_json:
        return print_json(entries)
    rows = [tuple(str(entry[key]) for key in ("name", "title", "model", "kind")) for entry in entries]
    return print_listing(title, rows, ("name", what, "model", "kind"))


def print_product(product: dict[str, Any], as_json: bool) -> None:
    """Prints every value of a drive or a daemon."""
    from hotband.tables import values_table

    if as_json:
        return print_json(product)
    values = [
        (v["key"], v["value"], v["range"], v["source"], v["confidence"], v["estimate"], v["note"])
        for v in product["values"]
    ]
    return show(values_table(f"{product['name']}: {product['title']} ({product['model']})", values))


@app.command()
def workloads(name: NameArgument = None, as_json: JsonFlag = False) -> None:
    """What workloads the catalog holds; with NAME the text of one, to copy and change."""
    from hotband import catalogue

    if name is None:
        entries = catalogue.workloads()
        if as_json:
            return print_json(entries)
        rows = [(entry["name"], entry["title"], entry["source"]) for entry in entries]
        return print_listing("Workloads", rows, ("name", "workload", "source"))
    workload = catalogue.workload(name)
    if as_json:
        return print_json(workload)
    sys.stdout.write(workload["text"])


@app.command()
def studies(name: NameArgument = None, as_json: JsonFlag = False) -> None:
    """What studies the catalog holds; with NAME its configurations, loads and published figures."""
    from hotband import studyfile

    if name is None:
        entries = [studyfile.describe(known) for known in studyfile.names()]
        if as_json:
            return print_json(entries)
        rows = [(entry["name"], entry["title"], entry["source"]) for entry in entries]
        return print_listing("Studies", rows, ("name", "study", "source"))
    study = studyfile.load(name)
    if as_json:
        return print_json(studyfile.describe(name))
    show(f"[bold]{study.name}[/]: {study.title}", study.question, "")
    rows = [(config.id, config.label, config.machine or config.product) for config in study.configs]
    print_listing("Configurations", rows, ("id", "as published", "machine"))
    loads = [(load.id, load.label, load.workload) for load in study.loads]
    print_listing("Loads", loads, ("id", "as published", "workload"))
    published = [
        (row.id, row.config, row.workload, row.metric, f"{row.text} {row.unit}", row.caveat) for row in study.published
    ]
    return print_listing("Published", published, ("id", "configuration", "load", "metric", "value", "caveat"))


def listed(arguments: list[str] | None) -> list[str]:
    """Names from arguments that may hold several, separated by commas; each once."""
    names = (name.strip() for argument in arguments or [] for name in argument.split(","))
    return list(dict.fromkeys(name for name in names if name))


def parse_set(pairs: list[str]) -> tuple[tuple[str, str], ...]:
    """`KEY=VALUE` arguments."""
    parsed: list[tuple[str, str]] = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or not value:
            raise UserError("--set", "", pair, "expected KEY=VALUE, such as --set qd=16")
        if any(key.strip() == known for known, _ in parsed):
            raise UserError("--set", key.strip(), pair, "is given twice")
        parsed.append((key.strip(), value.strip()))
    return tuple(parsed)


@app.command()
def run(
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD", help="A catalog name or a TOML file.")],
    on: Annotated[str, typer.Option("--on", metavar="MACHINE", help="A drive, LAYOUT:COUNTxDRIVE, or a TOML file.")],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a value.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help='Measured time of a step, as "60 s".')] = None,
    out: OutOption = None,
    io_log: Annotated[Path | None, typer.Option(metavar="FILE.parquet", help="Log every I/O.")] = None,
    power_loss: Annotated[
        str | None, typer.Option(metavar="TIME", help='Cut power at this measured time, such as "30 s".')
    ] = None,
    then: Annotated[
        list[str] | None, typer.Option("--then", metavar="WORKLOAD", help="Run this after it, on the machine as left.")
    ] = None,
    fresh_seeds: Annotated[bool, typer.Option("--fresh-seeds", help="Runs of --then ask for other offsets.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run a workload on a machine in virtual time; with --then several, one after the other on the same machine."""
    from hotband.progress import run_progress
    from hotband.run import RunSpec, execute

    names = [workload, *(then or [])]
    if fresh_seeds and len(names) == 1:
        raise UserError("--fresh-seeds", "", "", "is for runs that follow each other: expected --then WORKLOAD")
    if len(names) > 1 and (io_log or power_loss):
        raise UserError("--then", "", names[1], "an I/O log and a loss of power are of one run: leave out --then")
    folders = [out if out is None or len(names) == 1 else out / f"{n}" for n in range(1, len(names) + 1)]
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
            power_loss,
            after=f"run {n - 1}" if n else "",
        )
        for n, name in enumerate(names)
    ]
    with run_progress(f"{', '.join(names)} on {on}") as progress:
        finished = execute(specs, progress)
    if as_json:
        texts = [one.text for one in finished]
        sys.stdout.write((texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]") + "\n")
        return
    for one in finished:
        show_run(one)
    if io_log is not None:
        show(f"I/O log: {io_log}")


def show_run(finished: Finished) -> None:
    """Prints what a run left."""
    from hotband.steady import of_phases
    from hotband.tables import (
        app_tables,
        limits_lines,
        power_loss_lines,
        scripts_table,
        smart_lines,
        steady_lines,
        summary_table,
    )

    record = finished.record
    scripts = [scripts_table(record["scripts"])] if "scripts" in record else []
    show(summary_table(record), *app_tables(record), *scripts, *(f"  note: {note}" for note in record["notes"]))
    show(*(line for verdict in of_phases(record) for line in steady_lines(verdict)))
    show(*smart_lines(record), *limits_lines(record), *power_loss_lines(record))
    if finished.spec.out is not None:
        show(f"Record: {finished.spec.out / 'record.json'}")


@study_app.command("run")
def study_run(
    name: StudyArgument,
    out: OutOption = None,
    seed: SeedOption = None,
    only: Annotated[list[str] | None, typer.Option(metavar="LOAD[,LOAD]", help="Run these loads alone.")] = None,
    fresh_seeds: Annotated[
        bool, typer.Option("--fresh-seeds", help="Runs that follow others on one machine ask for offsets of their own.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Predict a study's figures; print them beside the published ones."""
    from hotband.study import run_study
    from hotband.studyprint import print_result

    result = run_study(name, out, seed, listed(only), fresh_seeds)
    if as_json:
        return print_json(result)
    return print_result(result, show)


@study_app.command("swings")
def study_swings(
    name: StudyArgument,
    out: OutOption = None,
    seed: SeedOption = None,
    only: Annotated[list[str] | None, typer.Option(metavar="KEY[,KEY]", help="Swing these assumptions alone.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time; all cores where not said.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Keep them in the study's folder, as what it ships.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run each assumption at both ends of its range; print which of them move a prediction."""
    from dataclasses import asdict

    from hotband.swingfile import summary
    from hotband.swings import run_swings
    from hotband.tables import swings_table

    def say(text: str) -> None:
        sys.stderr.write(f"{text}\n")

    swings = run_swings(name, out, save, seed, listed(only), jobs, say)
    if as_json:
        return print_json(asdict(swings))
    found = summary(swings)
    refused = (f"[yellow]Refused:[/] {row['name']} at its {row['end']} end: {row['text']}" for row in found["refused"])
    return show(swings_table(found), found["text"], *refused)


@study_app.command("accuracy")
def study_accuracy(as_json: JsonFlag = False) -> None:
    """Run every study and print how large its errors are: of rates, ratios and gains, by group."""
    from hotband import studyfile
    from hotband.study import run_study

    summaries = {name: run_study(name, None, None)["summary"] for name in studyfile.names()}
    if as_json:
        return print_json(summaries)
    rows = []
    for name, summary in summaries.items():
        for of in summary["scored"]:
            median, largest = (of[key] for key in ("median_abs_error_pct", "max_abs_error_pct"))
            errors = (f"{median:.1f} %", f"{largest:.1f} %") if of["compared"] else ("–", "–")
            rows.append((name, of["figure"], of["group"], str(of["figures"]), str(of["compared"]), *errors))
    names = ("study", "figures", "of", "predicted", "published", "median error", "largest error")
    return print_listing("Accuracy", rows, names)


def import_with(
    read: Callable[[Sequence[Path]], list[Imported]], files: list[Path], out: Path | None, as_json: bool
) -> None:
    """Reads, saves where `out` says, and prints."""
    from hotband.records import save_imported
    from hotband.run import check_writable
    from hotband.tables import summary_table

    if out is not None:
        check_writable(out)
    imported = read(files)
    saved = [] if out is None else save_imported(out, imported)
    if as_json:
        return print_json([record for record, _ in imported])
    for record, _ in imported:
        show(summary_table(record), *(f"  note: {note}" for note in record["notes"]))
    return show(*(f"Record: {path}" for path in saved))


ResultFiles = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files or folders that the tool wrote.")]


@import_app.command("auto")
def import_auto(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Recognise by content which tool wrote each file, and turn it into records."""
    from hotband.importers import load

    import_with(lambda paths: [one for path in paths for one in load(path)], files, out, as_json)


@import_app.command("fio")
def import_fio(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn fio's output (JSON, JSON+, terse, logs) into records; logs beside their JSON become its series."""
    from hotband.importers import fio

    import_with(fio.read, files, out, as_json)


@import_app.command("vdbench")
def import_vdbench(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn vdbench's flatfile, summary, totals and histogram into records, one a run definition."""
    from hotband.importers import vdbench

    import_with(vdbench.read, files, out, as_json)


@import_app.command("diskspd")
def import_diskspd(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn DiskSpd's XML (-Rxml) into records, one a time span."""
    from hotband.importers import diskspd

    import_with(diskspd.read, files, out, as_json)


@import_app.command("iometer")
def import_iometer(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn Iometer's results CSV into records, one a test."""
    from hotband.importers import iometer

    import_with(iometer.read, files, out, as_json)


@import_app.command("hdr")
def import_hdr(
    files: ResultFiles,
    out: OutOption = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="Of the values: ns, us, ms or s.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Turn HdrHistogram logs (.hlog) into records, one a tag."""
    from hotband.importers import hdr

    import_with(lambda paths: hdr.read(paths, unit), files, out, as_json)


@plot_app.command("latency")
def plot_latency(
    files: Annotated[list[Path], typer.Argument(metavar="RECORD|FILE...", help="Records, or results of other tools.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The chart: .html, .png or .svg.")],
    op: Annotated[str | None, typer.Option(metavar="OP", help="read or write; both where not said.")] = None,
    title: Annotated[str, typer.Option(help="Its heading.")] = "Latency by percentile",
) -> None:
    """Draw the latency of several runs by percentile, as far out as their samples support."""
    from hotband.latency_plot import check_out, latency_chart, load_any, write_chart

    if op not in (None, "read", "write"):
        raise UserError("--op", "", op, "accepted: read, write")
    check_out(out)
    records = [one for path in files for one in load_any(path)]
    write_chart(latency_chart(records, title, op), out)
    show(f"Chart: {out}")


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
    from hotband.rounds import judge_files
    from hotband.tables import steady_lines

    verdicts = judge_files(records, round_, track)
    if as_json:
        return print_json(verdicts)
    return show(*(line for verdict in verdicts for line in steady_lines(verdict)))


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
    a: Annotated[Path, typer.Argument(metavar="A", help="A record or a result of another tool.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="What is compared with it.")],
    anyway: Annotated[bool, typer.Option("--anyway", help="Even if they were not asked the same.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of the resampling.")] = 1,
    as_json: JsonFlag = False,
) -> None:
    """Say whether B is faster than A, slower, or shows no difference: IOPS and percentiles with 95 % intervals."""
    from hotband.audit.command import compare_results

    views, data = compare_results(a, b, seed, anyway)
    return print_json(data) if as_json else show(*views)


@app.command()
def report(
    records: Annotated[list[Path], typer.Argument(metavar="RECORD...", help="record.json files or their folders.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.html", help="The report.")],
    title: Annotated[str, typer.Option(help="Its heading.")] = "Hotband report",
    with_audit: Annotated[bool, typer.Option("--audit", help="With what the auditor finds in them.")] = False,
    on: OnOption = None,
    media: MediaOption = None,
    cache: CacheOption = None,
) -> None:
    """Write one self-contained HTML report of records."""
    from hotband.audit.facts import of_options
    from hotband.report import load_record, record_page, write_report

    machine = of_options(on, media, cache)
    if machine is not None and not with_audit:
        raise UserError("--on, --media, --cache", "", "", "say what the auditor is to know; expected --audit with them")
    page = record_page([load_record(path) for path in records], title, audit=with_audit, machine=machine)
    show(f"Report: {write_report(output, page)}")


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
    from rich.text import Text

    from hotband.entropy import Asked, chunks_table, decimal_size, entropy_progress, histogram_lines, measure
    from hotband.entropy import summary_lines as lines

    asked = Asked(tuple(paths), tuple(listed(compressor)), tuple(listed(chunk)), sample, seed, jobs, one_file_system)
    with entropy_progress() as progress:
        measured = measure(asked, progress)
    if measured is None:
        raise KeyboardInterrupt
    report = measured.report
    if as_json:
        sys.stdout.write(measured.text + "\n")
    else:
        rate = decimal_size(report["bytes_read"] / measured.seconds) if measured.seconds else "–"
        table = [chunks_table(report)] if report["chunks"] else []
        took = f"{measured.seconds:.1f} s, {rate}/s on {measured.jobs} threads"
        show(*(Text(line) for line in lines(report)), *table, *histogram_lines(report), "", took)
    if report["interrupted"]:
        sys.stderr.write("hotband: interrupted; what was measured so far is kept\n")
        raise typer.Exit(130)


@app.command()
def version() -> None:
    """Print the version."""
    from hotband import __version__

    sys.stdout.write(f"hotband {__version__}\n")


def main() -> None:
    """Entry point: the user's mistakes become one line and exit code 2, an interruption exit code 130."""
    from hotband.run import RunsInterrupted

    try:
        app()
    except UserError as error:
        sys.stderr.write(f"hotband: error: {error}\n")
        sys.exit(2)
    except RunsInterrupted as stop:
        kept = [str(one.spec.out) for one in stop.finished if one.spec.out is not None]
        where = f"; kept in {Path(kept[0]).parent}" if kept else ""
        sys.stderr.write(f"hotband: interrupted; {len(stop.finished)} runs were finished{where}\n")
        sys.exit(130)
    except KeyboardInterrupt:
        sys.stderr.write("hotband: interrupted\n")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        sys.stderr.write(f"hotband: error: {error.filename or 'file'}: {error.strerror or error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
