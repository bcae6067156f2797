"""Compressibility of data on a screen: the entropy, a row per chunk size and compressor, and its uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hotband.base.text.numbers import counted, rate, share, size, span
from hotband.base.text.table import BYTES, SHARE, Range, Table, View, column, interval, numeric
from hotband.questions.entropy import Entropy, EntropyDoc, EntropyQuestion
from hotband.views.text.screen import Screen, shortened

MOST_ROWS = 15


def terminal(result: Entropy, question: EntropyQuestion) -> Screen:
    """Return what the terminal shows of the compressibility of data."""
    report = result.to_dict()
    speed = rate(report["bytes_read"] / result.seconds) if result.seconds else "–"
    took = f"{span(1e9 * result.seconds)}, {speed} on {result.jobs} threads"
    table = chunks_table(report)
    evidence: list[View] = [*summary_lines(report), *([table] if report["chunks"] else [])]
    evidence += [*histogram_lines(report), "", took]
    body = shortened(replace(table, title="", borderless=True, rows=list(table.rows)), MOST_ROWS)
    return Screen(
        answer=_sentence(report),
        body=[body] if report["chunks"] else [],
        state=[*summary_lines(report)[1:2], took] if report["sample"] else [took],
        remarks=list(_remarks(report)),
        next=question,
        details=evidence,
    )


def _sentence(report: EntropyDoc) -> str:
    """Return the entropy of everything together; without an archive, that of the smallest chunks."""
    what = f"{size(report['bytes'])} in {counted(report['files'], 'file')}"
    known = [(name, ratio["entropy"], ratio["interval"]) for name, ratio in report["archive"].items()]
    known += [
        (f"{chunk['compressor']}, {size(chunk['size'])}", chunk["mean"], chunk["interval"])
        for chunk in report["chunks"]
    ]
    name, entropy, interval = next((chunk for chunk in known if chunk[1] is not None), ("", None, None))
    if entropy is None:
        return f"There is no data to compress in {what}."
    ends = ends_of(interval)
    between = "" if ends is None else f", 95 % interval {SHARE.ends(ends)}"
    return f"{what} compress to {share(entropy)} of their size ({name}{between})."


def _remarks(report: EntropyDoc) -> Iterator[str]:
    """Yield remarks on named data that was not measured."""
    if report["unreadable"]:
        yield f"{counted(report['unreadable'], 'file')} cannot be read, such as {report['unreadable_examples'][0]}"
    if report["changed"]:
        yield f"{counted(report['changed'], 'file')} became shorter meanwhile"
    if report["interrupted"]:
        yield f"Interrupted: {size(report['bytes_read'])} are measured; the intervals cover the remaining data."


def spark(histogram: Sequence[int], cells: int = 25) -> str:
    """Format a histogram as a line of blocks, the highest one full; a cell that is not empty is never blank."""
    width = len(histogram) // cells
    sums = [sum(histogram[cell * width : (cell + 1) * width]) for cell in range(cells)]
    highest = max(sums) or 1
    return "".join(" ▁▂▃▄▅▆▇█"[-(-8 * value // highest)] for value in sums)


def ends_of(interval: Sequence[float] | None) -> Range | None:
    """Return an interval as a range; None if it is a single value."""
    return None if interval is None or interval[0] == interval[1] else Range(*interval)


def chunks_table(report: EntropyDoc) -> Table:
    """Return one row per chunk size and compressor."""
    sampled = bool(report["sample"] or report["interrupted"])
    shares = [*([interval("95 % interval", SHARE)] if sampled else []), numeric("incompressible", SHARE)]
    columns = [numeric("chunk", BYTES), column("compressor"), numeric("entropy", SHARE), *shares]
    table = Table("Chunks, each compressed alone", [*columns, column("data by ratio, 0 to 100 %", width=25)])
    for chunks in report["chunks"]:
        data = sum(chunks["histogram_bytes"])
        ends = [ends_of(chunks["interval"])] if sampled else []
        # Share of the last bin, 99 % and above, where compression gains nothing.
        incompressible = chunks["histogram_bytes"][-1] / data if data else None
        table.add(
            chunks["size"],
            chunks["compressor"],
            chunks["mean"],
            *ends,
            incompressible,
            spark(chunks["histogram_bytes"]),
        )
    return table


def histogram_lines(report: EntropyDoc) -> list[str]:
    """Return the histogram of the smallest chunks with deflate, or of the nearest alternative, in ten bars."""
    if not report["chunks"]:
        return []
    smallest = report["chunks"][0]["size"]
    chunks = next(
        (chunk for chunk in report["chunks"] if (chunk["size"], chunk["compressor"]) == (smallest, "deflate")),
        report["chunks"][0],
    )
    data = sum(chunks["histogram_bytes"])
    if not data:
        return []
    shares = [sum(chunks["histogram_bytes"][ten : ten + 10]) / data for ten in range(0, 100, 10)]
    title = f"Data by ratio, {chunks['compressor']} in chunks of {size(smallest)}"
    bars = (
        f"  {ten:3} to {ten + 10:3} %  {share(part):>6}  " for ten, part in zip(range(0, 100, 10), shares, strict=True)
    )
    return ["", title, *(bar + "█" * round(60 * part) for bar, part in zip(bars, shares, strict=True))]


def summary_lines(report: EntropyDoc) -> list[str]:
    """Return the data, the part that was read and the archive ratio, in a few lines."""
    skipped, sample = report["skipped"], report["sample"]
    lines = [f"{size(report['bytes'])} in {counted(report['files'], 'file')}"]
    if sample:
        part = share(report["bytes_read"] / (report["bytes"] or 1))
        drawn = f"{sample['extents_read']:,} of {sample['extents']:,} extents, seed {sample['seed']}"
        lines.append(f"a sample of {size(report['bytes_read'])} was read ({part}: {drawn})")
    left_out = [
        counted(skipped["symbolic_links"], "symbolic link"),
        counted(skipped["hard_links"], "further name") + " of files",
        counted(skipped["special"], "special file"),
        counted(skipped["mounts"], "mounted file system"),
    ]
    left_out = [text for text in left_out if not text.startswith("0 ")]
    if skipped["holes_bytes"]:
        left_out.append(f"{size(skipped['holes_bytes'])} of holes")
    if left_out:
        lines.append(f"left out: {', '.join(left_out)}")
    if report["unreadable"]:
        lines.append(f"unreadable: {report['unreadable']:,}, such as {report['unreadable_examples'][0]}")
    if report["changed"]:
        lines.append(f"{counted(report['changed'], 'file')} became shorter meanwhile")
    if report["links_forgotten"]:
        lines.append(f"{counted(report['links_forgotten'], 'file')} with several names may count more than once")
    if report["interrupted"]:
        lines.append(f"interrupted: only {size(report['bytes_read'])} measured, intervals cover the remaining data")
    for compressor, ratio in report["archive"].items():
        ends = ends_of(ratio["interval"])
        between = "" if ends is None else f" (95 % interval {SHARE.ends(ends)})"
        lines += ["", f"Archive entropy: {share(ratio['entropy'])}{between} ({compressor}, as tgz and zip)", ""]
    return lines
