"""What the published tables of content-hdd say about themselves, and what the model says about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.answer import figures_of
from hotband.questions.study.audited import published_findings
from hotband.questions.study.measures import error_pct
from hotband.questions.study.studies.content_hdd.answer import answer
from hotband.questions.study.study import Conclusion, Results, figure

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc, FigureDoc, FindingDoc


def derived(results: Results, config: str, load: str, metric: str = "") -> float | None:
    """A derived row of the published table (device I/Os a drive)."""
    for row in results.study.published:
        if row.kind == "derived" and row.config == config and load in row.workload and metric in row.metric:
            return row.value
    return None


def level_finding(results: Results) -> FindingDoc:
    """Which level the five-drive software array fits."""
    array = next(config for config in results.study.configs if config.id == "ecap-raid0")
    rows = []
    for level in ("raid0", "concat", "raid5", "raid6"):
        for load, name in (("8k-random-75r", "75% read"), ("8k-random-25r", "25% read")):
            a_drive = derived(results, array.label, name, "plain stripe")
            published = None if a_drive is None else a_drive * array.drives
            predicted = results.iops(f"ecap-{level}", load)
            error = error_pct(published, predicted)
            shown = None if published is None else round(published)
            rows.append([level, name, shown, round(predicted), None if error is None else f"{error:+.0f} %"])
    grows = results.iops("ecap-raid0", "8k-random-25r") > results.iops("ecap-raid0", "8k-random-75r")
    falls = results.iops("ecap-raid5", "8k-random-25r") < results.iops("ecap-raid5", "8k-random-75r")
    trend = "In the model only levels without parity get faster with more writes. " if grows and falls else ""
    return {
        "id": "software-raid-level",
        "title": "The five-drive software array fits a layout without parity, not RAID 5 or 6",
        "text": (
            "The level is not stated. The published array gets faster with more writes; parity would make each of "
            f"them four or six device I/Os. {trend}A plain stripe and a concatenation cannot be told apart by random "
            "I/O. The published IOPS are the derived device I/Os a drive (plain stripe) times five."
        ),
        "table": {"columns": ["level", "load", "published", "predicted", "error"], "rows": rows},
    }


def write_cache_finding(results: Results) -> FindingDoc:
    """The drives answer writes from a cache."""
    rows = []
    for drive, config in (("15k", "ent-15k-raid1"), ("10k", "ent-10k-raid1"), ("cap", "ent-cap-raid1")):
        through = f"{config}-through"
        label = next(one.label for one in results.study.configs if one.id == config)
        for load, name in (("8k-random-75r", "75% read"), ("8k-random-25r", "25% read")):
            predicted = [
                results.iops(one, load) * (2 - (0.75 if "75" in name else 0.25)) / 2 for one in (through, config)
            ]
            rows.append([drive, name, derived(results, label, name), *(round(number) for number in predicted)])
    return {
        "id": "write-cache",
        "title": "The drives acknowledged writes from a cache",
        "text": (
            "Device I/Os a drive and second rise by a third to a half from 75 % to 25 % reads. With write-through they "
            "would hardly change: each drive has more queued, but a write seeks and settles longer than a read. The "
            "predictions are device I/Os a drive with write-through and with write-back."
        ),
        "table": {"columns": ["drive", "load", "published", "write-through", "write-back"], "rows": rows},
    }


def derived_figures(results: Results) -> list[FigureDoc]:
    """Device I/Os a drive, published as derived from the tables, beside the model's."""
    listed = []
    loads = {"8KB random 75% read": ("8k-random-75r", 0.75), "8KB random 25% read": ("8k-random-25r", 0.25)}
    for row in results.study.published:
        config = next((one for one in results.study.configs if one.label == row.config), None)
        if row.kind != "derived" or config is None or row.workload not in loads or "RAID5 RMW" in row.metric:
            continue
        load, read = loads[row.workload]
        per_drive = 1.0 if "plain stripe" in row.metric else read + 2 * (1 - read)
        predicted = results.iops(config.id, load) * per_drive / config.drives
        label = next(one.label for one in results.study.loads if one.id == load)
        listed.append(
            figure(
                id=row.id,
                config=row.config,
                label=label,
                workload=row.workload,
                metric="device I/Os a drive",
                published=row.value,
                unit=row.unit,
                predicted=predicted,
                source=row.id,
                caveat=row.caveat,
                note=f"derived: {row.metric}",
                group="derived",
            )
        )
    return listed


def claims(results: Results) -> list[ClaimDoc]:
    """Statements of the evaluation that the model can check."""
    ranks = [results.iops(f"ent-{drive}-raid1", "8k-random-75r") for drive in ("15k", "10k", "cap")]
    single = results.iops("ent-15k-raid1", "128k-read") * 131072 / 1e6
    mirror = results.iops("ent-15k-raid1", "8k-random-75r")
    four = results.iops("ent-10k-raid10", "8k-random-75r")
    through = [results.iops("ent-10k-raid1", load) for load in ("128k-read", "128k-write")]
    return [
        {
            "id": "faster-spindles",
            "text": "In a mirror of two, 15K disks do more random I/O than 10K, and 10K more than 7.2K",
            "holds": ranks == sorted(ranks, reverse=True),
            "measured": " > ".join(f"{rank:.0f}" for rank in ranks) + " IOPS at 75 % reads",
            "source": results.study.source,
        },
        {
            "id": "four-10k-beat-two-15k",
            "text": "Four 10K disks in RAID 10 do more random I/O than two 15K disks in RAID 1",
            "holds": four > mirror,
            "measured": f"{four:.0f} against {mirror:.0f} IOPS at 75 % reads",
            "source": results.study.source,
        },
        {
            "id": "mirror-reads-at-one-drive",
            "text": "A mirror reads a sequential stream at the rate of one drive (236 MB/s for the 15K)",
            "holds": abs(single / 236 - 1) < 0.05,
            "measured": f"{single:.0f} MB/s",
            "source": results.study.source,
        },
        {
            "id": "sequential-writes-as-reads",
            "text": "Sequential writes of 128 KB run within 2 % of sequential reads (10K mirror)",
            "holds": abs(through[1] / through[0] - 1) < 0.02,
            "measured": f"{through[0]:.0f} reads/s, {through[1]:.0f} writes/s",
            "source": results.study.source,
        },
    ]


def conclude(results: Results) -> Conclusion:
    """Claims, findings and derived figures of the study."""
    findings = [*published_findings(results.study.folder), level_finding(results), write_cache_finding(results)]
    claimed = claims(results)
    return Conclusion(claimed, findings, derived_figures(results), answer(figures_of(results, claimed)))
