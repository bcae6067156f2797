"""What the raw results of mach2-ceph prove, by the auditor, and what the pools of the model do beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hotband.data.catalog import CATALOG_DIR
from hotband.data.documents.record import known
from hotband.data.record.stats import whole
from hotband.questions.study.answer import figures_of
from hotband.questions.study.runs import Cell
from hotband.questions.study.studies.mach2_ceph.answer import DEPTHS, answer, load_at
from hotband.questions.study.study import Conclusion, Results, figure

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.study import ClaimDoc, FigureDoc, FindingDoc, TableCell
    from hotband.inference.audit.finding import AuditDoc

AUDIT_FILE = CATALOG_DIR / "studies/mach2_ceph/audit.json"
"""`hotband audit FILE... --json` on the fourteen raw results at hand, which are not shipped themselves."""
DISKS = 6
CACHE_SERVED_NS = 2_000_000
"""A 7,200 rpm disk turns once in 8.33 ms: what ends within 2 ms was in memory (the bound of the derived rows too)."""
POOLS = {"normal": "6 MG06SCA", "mach2": "6 MACH.2"}


def record_of(cell: Cell) -> RecordDoc:
    """The only record of a cell without a sweep."""
    return cell.records[0]


def counted(record: RecordDoc, kind: str, counter: str) -> int:
    """A counter of all parts of a kind together."""
    return sum(int(part["counters"][counter]) for part in record["parts"] if part["kind"] == kind)


def fast_share(record: RecordDoc) -> float:
    """Share of the I/Os that ended within 2 ms, in percent."""
    buckets = whole(record)["buckets"]
    every = sum(count for _, count in buckets)
    return 100.0 * sum(count for value, count in buckets if value < CACHE_SERVED_NS) / every if every else 0.0


def media_reads(record: RecordDoc) -> float:
    """Reads a second that the media of one disk served."""
    return counted(record, "disk", "media_reads") / (float(record["duration_ns"]) / 1e9) / DISKS


def memory_share(record: RecordDoc) -> float:
    """Share of the reads that daemons answered from memory, in percent."""
    return 100.0 * counted(record, "osd", "memory_hits") / max(1, counted(record, "osd", "reads"))


def published_media(results: Results) -> dict[int, str]:
    """The derived rows by depth: reads a second of a disk without those within 2 ms, lower to upper bound."""
    rows = {}
    for row in results.study.published:
        if row.kind == "derived":
            depth = next((depth for depth in DEPTHS if f"randread QD{depth}," in row.workload), None)
            if depth is not None:
                rows[depth] = row.text
    return rows


def media_finding(results: Results) -> FindingDoc:
    """What the disks did of what was published as reads, and what the model says they did."""
    published = published_media(results)
    rows: list[list[TableCell]] = []
    for depth in DEPTHS:
        row: list[TableCell] = [depth, published.get(depth)]
        for pool in POOLS:
            record = record_of(results.cells[pool, load_at(pool, "read", depth)])
            row += [round(known(record["summary"]["iops"])), round(memory_share(record)), round(media_reads(record), 1)]
        rows.append(row)
    columns = ["queue depth", "published, media alone, reads/s a disk"]
    for name in POOLS.values():
        columns += [f"{name}: IOPS", "from memory, %", "media reads/s a disk"]
    return {
        "id": "media-only",
        "title": "Without what came from memory a conventional disk serves 40 to 120 reads a second, not up to 290",
        "text": (
            "The published rate of reads counts those that daemons answered from memory: from queue depth 2 on every "
            "run repeats offsets that were read before. Leaving out what ended within 2 ms (published, lower to upper "
            "bound), or what the model's daemons answered from memory, leaves what the disks did."
        ),
        "table": {"columns": columns, "rows": rows},
    }


def bimodal_finding(results: Results, audit: AuditDoc) -> FindingDoc:
    """How many reads are faster than any disk, published and predicted."""
    shares = {one["subject"][0]: one["numbers"] for one in audit["findings"] if one["rule"] == "cache-served"}
    rows: list[list[TableCell]] = []
    for depth in DEPTHS:
        numbers = shares.get(f"read-normal-{depth}.json", {})
        record = record_of(results.cells["normal", f"read-{depth}"])
        rows.append([depth, numbers.get("cache_served_pct"), round(fast_share(record)), round(memory_share(record))])
    return {
        "id": "faster-than-disks",
        "title": 'Most of the "disk reads" never touched a disk',
        "text": (
            "Share of reads within 2 ms, in percent: of the raw results (by the auditor; none at queue depth 1), of "
            "the model, and the share that the model's daemons had in memory. The model has fewer fast ones at "
            "depth: there a read from memory waits behind reads of the disk in its shard, or for the client's one "
            "thread while everything comes from memory."
        ),
        "table": {"columns": ["queue depth", "raw results", "predicted", "predicted, in memory"], "rows": rows},
    }


def audit_findings(audit: AuditDoc) -> list[FindingDoc]:
    """What the auditor says of the raw results."""
    listed = []
    for number, one in enumerate(audit["findings"]):
        of = ", ".join(one["subject"][:3]) + (f" and {len(one['subject']) - 3} more" if len(one["subject"]) > 3 else "")
        finding: FindingDoc = {
            "id": f"audit-{one['rule']}-{number + 1}",
            "title": f"Auditor, {one['severity']}: {one['title']}",
            "text": f"{of}. {one['advice']}",
        }
        if "table" in one:
            finding["table"] = {"columns": one["table"]["columns"], "rows": one["table"]["rows"]}
        listed.append(finding)
    return listed


def hidden_run_finding() -> FindingDoc:
    """The reads at queue depth 2 hit what only a run that is not among the results can have left."""
    return {
        "id": "hidden-run",
        "title": "A run at queue depth 1 must have come before the reads at depth 2 that were published",
        "text": (
            "The last writes (403,847 offsets) made everything stale that the reads at depth 2 ask for (219,704 "
            "offsets): none of it could be in memory. Yet 38 % of them, 83,500, were. That is what a run at depth 1 "
            "reads in 15 minutes (75,000 to 84,000), and the time stamps leave room for one. The sequence of the "
            "model has it; without it there would be no hit at depth 2."
        ),
    }


def claims(results: Results) -> list[ClaimDoc]:
    """What was published, or follows from it, as checks."""

    def iops(pool: str, operation: str, depth: int) -> float:
        return results.iops(pool, load_at(pool, operation, depth))

    def media(pool: str, depth: int) -> float:
        return media_reads(record_of(results.cells[pool, load_at(pool, "read", depth)]))

    gains = [media("mach2", depth) / media("normal", depth) for depth in (16, 32, 64, 128, 256)]
    first = media("mach2", 1) / media("normal", 1)
    writes = [iops("mach2", "write", depth) / iops("normal", "write", depth) for depth in DEPTHS]
    recycled = results.iops("normal", "write-1-recycled") / results.iops("normal", "write-1")
    sums = 35 * 900 + 10.003
    return [
        {
            "id": "actuators-double-reads",
            "text": "Dual-actuator disks nearly double random reads (rated 304/s, others about 170, at depth 16)",
            "holds": all(gain > 1.7 for gain in gains),
            "measured": f"media reads/s a disk x {min(gains):.2f} to {max(gains):.2f} at depths 16 to 256, "
            f"x {first:.2f} at depth 1",
            "source": "Tom's Hardware on the Exos 2X14 (rating); our reading of the question",
        },
        {
            "id": "actuators-help-writes",
            "text": "Dual-actuator disks help replicated writes at every queue depth",
            "holds": all(gain > 1.0 for gain in writes),
            "measured": f"x {writes[0]:.1f} at depth 1, x {writes[-1]:.1f} at depth 256; "
            "most of it is the protected write cache",
            "source": results.study.question,
        },
        {
            "id": "log-recycling",
            "text": "Recycling log files doubles writes at queue depth 1 (33 to 66 IOPS)",
            "holds": 1.5 < recycled < 2.5,
            "measured": f"x {recycled:.2f}: {results.iops('normal', 'write-1'):.0f} to "
            f"{results.iops('normal', 'write-1-recycled'):.0f} IOPS",
            "source": "Ceph tracker 38559",
        },
        {
            "id": "run-time",
            "text": "Every test ran for 900 s, nine hours in all",
            "holds": False,
            "measured": f"35 runs of 900 s and one of 10.003 s: {sums / 3600:.2f} h",
            "source": "croit_mach2-006",
        },
    ]


def sequential_figures(results: Results) -> list[FigureDoc]:
    """The rate that is published of sequential writes of the dual-actuator pool, in its words and its unit."""
    rate = results.value("mach2", "sequential-write", "bandwidth")
    return [
        figure(
            id=row.id,
            config=next(one.label for one in results.study.configs if one.id == "mach2"),
            label=results.study.load("sequential-write").label,
            workload=results.study.load("sequential-write").label,
            metric=row.metric,
            published=row.value,
            unit=row.unit,
            predicted=None if rate is None else rate * 2**20 / 1e6,
            source=row.id,
            caveat=row.caveat,
            group="sequential",
        )
        for row in results.study.published
        if row.metric == "RBD sequential write (MACH.2 pool)"
    ]


def conclude(results: Results) -> Conclusion:
    """Claims, findings and further figures of the study."""
    audit = json.loads(AUDIT_FILE.read_text(encoding="utf-8"))
    findings = [media_finding(results), bimodal_finding(results, audit), hidden_run_finding(), *audit_findings(audit)]
    claimed = claims(results)
    return Conclusion(claimed, findings, sequential_figures(results), answer(figures_of(results, claimed)))
