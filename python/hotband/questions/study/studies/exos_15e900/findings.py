"""What the published figures of the Exos study say about themselves, and what the model says about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.data.documents.record import known
from hotband.questions.study.answer import figures_of
from hotband.questions.study.measures import error_pct
from hotband.questions.study.runs import Results
from hotband.questions.study.studies.exos_15e900 import claims
from hotband.questions.study.studies.exos_15e900.answer import answer
from hotband.questions.study.studies.exos_15e900.cells import (
    AWC_OFF,
    AWC_ON,
    DRIVES,
    TURBO,
    VARIANTS,
    counters,
    number,
    published,
    short,
    summary,
)
from hotband.questions.study.study import Conclusion, figure

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc, FindingDoc, TableCell

DESKTOPS, SPACING_S = 60, 3
NETWORK_BYTES_PER_S = 1.25e9
MEAN_PAGE_BYTES = 1.67e6
PAYLOAD = 0.941
"""Share of the link that carries data, as in the workload's file."""


def write_through(results: Results) -> FindingDoc:
    """ "Advanced Write Cache off" is not write-through."""
    row = published(results, "-007")
    table = []
    for config, name in (("write-through", "write-through"), (AWC_OFF, "write-back, 16 extents")):
        predicted = results.iops(config, "write")
        error = error_pct(row.value, predicted)
        shown = None if error is None else f"{error:+.0f} %"
        table.append([name, row.value, round(predicted), round(predicted * 2 / DRIVES), shown])
    return {
        "id": "awc-off-is-not-write-through",
        "title": 'With "Advanced Write Cache off" the drives still acknowledge random writes from a cache',
        "text": (
            "At queue depth 64 each of the 24 drives has at most 64 x 2 / 24 = 5.3 writes outstanding. In positioning "
            "order a write-through disk of 15,000 rpm does not reach the published 383 writes/s from that few; it "
            "takes the choice among some 16 writes. The baseline is therefore predicted with a small write-back cache "
            "(8 to 32 extents), and write-through is shown beside it."
        ),
        "table": {
            "columns": ["drives", "published IOPS", "predicted IOPS", "writes/s a drive", "error"],
            "rows": table,
        },
    }


def forced_writes(results: Results) -> FindingDoc:
    """At 5 ms the baseline holds three I/Os, with the cache on thirteen: its RAID 5 writes reach the media."""
    rows: list[list[TableCell]] = []
    for config, number_of in ((AWC_OFF, "-048"), (AWC_ON, "-049"), (TURBO, "-050")):
        iops = number(results, config, "hot-band", "iops-at-5ms")
        row = published(results, number_of)
        rows.append([short(results, config), row.value, None if iops is None else round(iops * 0.005, 1)])
    return {
        "id": "raid5-writes-are-forced",
        "title": "On RAID 5 the baseline's writes reach the media, on RAID 10 they do not",
        "text": (
            "IOPS x 5 ms are the I/Os outstanding at that response time: 3.1 without Advanced Write Cache and 12.9 "
            "with it. A drive that acknowledges writes from memory, as the random writes on RAID 10 ask for, would "
            "not know the difference. So the array is predicted with a controller that forces every write of RAID 5 "
            "to the media, as one without a battery must to keep stripes whole; a protected cache satisfies it from "
            "memory. Without that assumption the two variants would be alike."
        ),
        "table": {"columns": ["variant", "published outstanding", "predicted outstanding"], "rows": rows},
    }


def shallow_queues(results: Results) -> FindingDoc:
    """How the published read maximum relates to the queue each drive sees."""
    cell = results.cells[AWC_OFF, "read"]
    rows = [
        [depth, round(iops), round(depth / DRIVES, 2), round(iops / DRIVES)]
        for depth, iops in ((at, known(one["summary"]["iops"])) for at, one in sorted(cell.records.items()))
    ]
    return {
        "id": "shallow-queues",
        "title": "Queue depth 64 leaves each drive with fewer than three reads",
        "text": (
            "The published maximum is not that of the drives: 64 reads over 24 drives are 2.7 each, where a drive has "
            "little to sort. The curve is still rising."
        ),
        "table": {"columns": ["queue depth", "IOPS", "outstanding a drive", "reads/s a drive"], "rows": rows},
    }


def part_numbers(results: Results) -> FindingDoc:
    """One part number stands for two of the three variants."""
    return {
        "id": "part-numbers",
        "title": "The part numbers do not tell the variants apart",
        "text": (
            "ST900MP0006 is published both with Advanced Write Cache off and with it on: the number names the 512n "
            "drive, not the state of the switch, so a reader who orders by number does not know which of the two rows "
            "was bought. The 10E2400 models are named and were not tested; ST1200MM0009 is the 512n standard model by "
            "Seagate's manual of that family. What else the document prints wrongly cannot be checked here: only its "
            "figures are at hand."
        ),
        "table": {
            "columns": ["part number", "published as"],
            "rows": [
                ["ST900MP0006", short(results, AWC_OFF)],
                ["ST900MP0006", short(results, AWC_ON)],
                ["ST900MP0146", short(results, TURBO)],
            ],
        },
    }


def mixes(results: Results) -> FindingDoc:
    """The published gain of mixed loads lies between two readings of the baseline."""
    rows: list[list[TableCell]] = []
    for load, name in (("half", "half reads"), ("mixed", "70 % reads")):
        on = results.iops(AWC_ON, load)
        gains = [f"{on / results.iops(config, load) - 1:+.0%}" for config in (AWC_OFF, "write-through")]
        rows.append([name, *gains])
    return {
        "id": "mixed-gain",
        "title": "What the baseline does with a few writes among reads decides the gain of mixed loads",
        "text": (
            "About 40 % is published for mixed loads. The table has the gain over the small write-back cache that "
            "random writes ask for, and over drives that write through. Which of them, or what between them, the "
            "drives do with a few writes among reads while Advanced Write Cache is off is not published."
        ),
        "table": {"columns": ["mix", "gain over the baseline", "gain over write-through"], "rows": rows},
    }


def unequal_concurrency(results: Results) -> FindingDoc:
    """The OLTP runs are not compared at equal concurrency."""
    rows: list[list[TableCell]] = []
    stated = [published(results, ending).value for ending in ("-045", "-046", "-047")]
    for config, value in zip(VARIANTS, stated, strict=True):
        record = summary(results, config, "oltp")
        iops, latency = known(record["iops"]), known(record["latency_mean_ns"]) / 1e6
        rows.append([short(results, config), round(iops), round(latency, 2), round(iops * latency / 1e3, 1), value])
    return {
        "id": "oltp-concurrency",
        "title": "The OLTP runs are not compared at equal concurrency",
        "text": (
            f"IOPS x response time is the number of I/Os outstanding: {stated[0]} for the published baseline (from "
            f"which the number of clients here is taken), {stated[1]} with Advanced Write Cache and {stated[2]} with "
            "TurboBoost, so the load was neither a fixed rate nor a fixed concurrency. Part of any difference in IOPS "
            "is a difference in load. Here all three run the same 41 clients; the I/Os outstanding differ because "
            "pages are written sooner."
        ),
        "table": {"columns": ["variant", "IOPS", "mean ms", "outstanding", "published outstanding"], "rows": rows},
    }


def short_stroked(results: Results) -> FindingDoc:
    """OLTP exceeds the array's full-span random-read maximum because its data is short-stroked."""
    rows: list[list[TableCell]] = []
    for name, load in (("random read, full span", "read"), ("OLTP, 900 GB of 17 TB", "oltp")):
        records = results.cells[AWC_OFF, load].records
        record = records[max(records)]
        seek, media = counters(record, "seek_ns"), counters(record, "media_reads") + counters(record, "media_writes")
        rate = media / (record["duration_ns"] / 1e9) / DRIVES
        rows.append([name, round(known(record["summary"]["iops"])), round(seek / media / 1e6, 2), round(rate)])
    return {
        "id": "oltp-is-short-stroked",
        "title": "An OLTP run exceeds the array's random-read maximum because its data is short-stroked",
        "text": (
            f"{published(results, '-001').value:.0f} IOPS on 20 + 4 drives, where random reads of all 24 reach nearly "
            "6,000: three volumes of 300 GB cover 5 % of the RAID 5, at the outer edge, so the arms hardly move. The "
            "figure says as much about the placement as about the drives; a full array would not reach it."
        ),
        "table": {"columns": ["load", "host IOPS", "mean seek, ms", "media I/Os a drive"], "rows": rows},
    }


def boot_floor(results: Results) -> FindingDoc:
    """Desktops are powered on 3 s apart: a floor under every boot time."""
    floor = (DESKTOPS - 1) * SPACING_S
    rows: list[list[TableCell]] = []
    for config in VARIANTS:
        row = published(results, "-019") if config == AWC_OFF else None
        predicted = number(results, config, "boot", "boot-time") or 0.0
        above = round(row.value - floor) if row and row.value else None
        rows.append(
            [short(results, config), row.value if row else None, above, round(predicted), round(predicted - floor)]
        )
    return {
        "id": "boot-floor",
        "title": f"{floor} s of every boot time are the spacing of the power-on",
        "text": (
            f"60 desktops powered on 3 s apart take 59 x 3 = {floor} s until the last begins. Drives can only change "
            "what comes on top; ratios of the printed times make the difference between drives look smaller than it is."
        ),
        "table": {
            "columns": ["variant", "published s", "above the floor", "predicted s", "above the floor"],
            "rows": rows,
        },
    }


def web_sizes(results: Results) -> FindingDoc:
    """The published web figures ask for two different I/O sizes."""
    most, extra = published(results, "-030").value or 0.0, published(results, "-033").value or 0.0
    gained = (published(results, "-012").value or 0.0) - (published(results, "-010").value or 0.0)
    by_pages = MEAN_PAGE_BYTES * extra / gained / 1e3
    by_network = NETWORK_BYTES_PER_S / most / 1e3
    filled = most * by_pages * 1e3 / NETWORK_BYTES_PER_S
    waiting = most * (published(results, "-031").value or 0.0) / 1e3
    record = results.cells[TURBO, "web"].records[0]
    last = record["steps"][-1]["summary"]
    volume = known(last["bandwidth_bytes_per_s"])
    predicted = volume / known(last["iops"]) / 1e3
    link = volume / (NETWORK_BYTES_PER_S * PAYLOAD)
    rows: list[list[TableCell]] = [
        ["10 GbE is full at 4,000 IOPS", round(by_network)],
        ["100 more pages of 1.67 MB are 1,669 more IOPS", round(by_pages)],
        ["this model (reads of 256 KiB, ends of files)", round(predicted)],
    ]
    return {
        "id": "web-sizes",
        "title": "The web server cannot both fill 10 GbE and serve only 100 pages a second more",
        "text": (
            f"If the network is the limit at 4,000 IOPS, an I/O carries {by_network:.0f} KB; if {gained:.0f} more IOPS "
            f"serve 100 more pages of 1.67 MB, it carries {by_pages:.0f} KB, and 4,000 of them fill {filled:.0%} of "
            f"the link. Nor does the response time fit a full network: 4,000 IOPS at just under 4 ms are {waiting:.0f} "
            f"of 20 users waiting for storage, which leaves {20 - waiting:.0f} for the link that is said to be the "
            f"limit. The prediction takes the network at its word: with 20 users it is {link:.0%} full, and response "
            f"times at the storage are {known(last['latency_mean_ns']) / 1e6:.1f} ms."
        ),
        "table": {"columns": ["follows from", "KB an I/O"], "rows": rows},
    }


def hotter_bands(results: Results) -> FindingDoc:
    """vdbench's hot bands are a thousand times hotter than their table says."""
    return {
        "id": "hot-bands-in-kb",
        "title": "The hot bands are a thousand times hotter than their definition says",
        "text": (
            "vdbench's table of the hot band is in MB; its program (Vdb/HotBand.java, get_rec_index) turns MB into kB "
            "and divides by bytes, so a third of a band's I/Os fall into its first MB, not its first GB. Such data "
            "fits into the memory of any drive, and a flash cache of gigabytes adds little to it. The predictions run "
            'what the program does; table_unit = "1 MB" in the workload runs what the table says.'
        ),
        "table": None,
    }


def more_figures(results: Results) -> list[FigureDoc]:
    """Figures that no single cell has, and those published a second time in other words."""
    values: dict[str, tuple[str, float | None, str]] = {
        "-041": ("device writes a drive", results.iops(AWC_OFF, "write") * 2 / DRIVES, "derived"),
        "-042": ("device writes a drive", results.iops(AWC_ON, "write") * 2 / DRIVES, "derived"),
        "-043": ("device writes a drive", results.iops(TURBO, "write") * 2 / DRIVES, "derived"),
        "-044": ("device reads a drive", results.iops(AWC_OFF, "read") / DRIVES, "derived"),
        "-039": ("peak IOPS", number(results, AWC_OFF, "boot", "peak-iops"), "boot storm"),
    }
    for config, oltp, hot_band in ((AWC_OFF, "-045", "-048"), (AWC_ON, "-046", "-049"), (TURBO, "-047", "-050")):
        at_5_ms = number(results, config, "hot-band", "iops-at-5ms")
        values[oltp] = ("outstanding = IOPS x time", number(results, config, "oltp", "outstanding"), "derived")
        values[hot_band] = ("outstanding = IOPS x 5 ms", None if at_5_ms is None else at_5_ms * 0.005, "derived")
    listed = []
    for ending, (metric, predicted, group) in values.items():
        row = published(results, ending)
        listed.append(
            figure(
                id=row.id,
                config=row.config,
                label=row.workload.split(",")[0],
                workload=row.workload,
                metric=metric,
                published=row.value,
                unit=row.unit,
                predicted=predicted,
                source=row.id,
                caveat=row.caveat,
                group=group,
            )
        )
    return listed


def conclude(results: Results) -> Conclusion:
    """Claims, findings and further figures of the study."""
    kinds = [
        write_through,
        forced_writes,
        shallow_queues,
        mixes,
        unequal_concurrency,
        short_stroked,
        boot_floor,
        web_sizes,
        hotter_bands,
        part_numbers,
    ]
    claimed, found = claims.all_of(results), [kind(results) for kind in kinds]
    return Conclusion(claimed, found, more_figures(results), answer(figures_of(results, claimed)))
