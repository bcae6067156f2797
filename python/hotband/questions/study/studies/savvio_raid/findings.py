"""What the Savvio study finds beside its cells: averages, the mirror's read policy, the bus, the firmware modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.data.documents.record import known
from hotband.questions.study.answer import figures_of
from hotband.questions.study.comparisons import error_of
from hotband.questions.study.definition import Published
from hotband.questions.study.runs import Results
from hotband.questions.study.studies.savvio_raid import claims, files
from hotband.questions.study.studies.savvio_raid.answer import answer
from hotband.questions.study.studies.savvio_raid.cells import (
    PATTERNS,
    POLICIES,
    access_ms,
    bandwidth,
    desktop,
    iops,
    published,
    ratio,
)
from hotband.questions.study.study import Conclusion, figure

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc, FindingDoc, TableCell

FAMILIES = {"savvio": "2x Savvio 10K.1", "cheetah10": "2x Cheetah 10K.7"}
MEAN = ("Mean of three patterns", "Server patterns")
LEVELS = {"raid0": "RAID 0", "raid1": "RAID 1"}


def _gain(
    row: Published | None, name: str, config: str, metric: str, place: tuple[str, str], gain: float, workload: str
) -> FigureDoc:
    """A gain in percent, beside its published row where it has one; scored by the ratio that it stands for. `place` is
    its label and its group."""
    label, group = place
    value = row.value if row else None
    return figure(
        id=f"{row.id if row else 'savvio-raid'}/{name}",
        config=config,
        label=label,
        workload=row.workload if row else workload,
        metric=metric,
        published=value,
        unit="%",
        predicted=gain,
        error=error_of("gain_pct", value, gain),
        source=row.id if row else "not published, or withheld",
        caveat=row.caveat if row else "",
        group=group,
    )


def server_gains(results: Results) -> list[FigureDoc]:
    """Average gains of two disks over one, and of two Savvio over one Cheetah 15K.4."""
    row = published(results, "-026")
    listed = []
    for family, name in FAMILIES.items():
        for level, layout in LEVELS.items():
            gain = (ratio(results, f"{family}-{level}", f"{family}-single") - 1) * 100
            config, of = f"{name}, {layout}, over one", row if family == "savvio" else None
            listed.append(_gain(of, f"{family}-{level}", config, "mean gain", MEAN, gain, "mean of three patterns"))
    for level, layout in LEVELS.items():
        gain = (ratio(results, f"savvio-{level}", "cheetah15-single") - 1) * 100
        config = f"2x Savvio 10K.1, {layout}, over a Cheetah 15K.4"
        name = f"savvio-{level}-over-15k"
        listed.append(_gain(None, name, config, "mean gain", MEAN, gain, "mean of three patterns"))
    for load in (*PATTERNS, "workstation"):
        for level, layout in LEVELS.items():
            gain = (ratio(results, f"savvio-{level}", "savvio-single", (load,)) - 1) * 100
            config = f"2x Savvio 10K.1, {layout}, over one"
            one = results.study.load(load)
            place = (one.label, one.group)
            listed.append(_gain(None, f"savvio-{level}/{load}", config, "mean gain", place, gain, one.published))
    return listed


def desktop_gains(results: Results) -> list[FigureDoc]:
    """Gains on the synthetic desktop loads: of a stripe, of a mirror, of the other firmware mode."""
    row = published(results, "-035")
    pairs = [
        (row, "savvio-raid0", "savvio-raid0", "savvio-single", "2x Savvio 10K.1, RAID 0, over one"),
        (None, "savvio-raid1", "savvio-raid1", "savvio-single", "2x Savvio 10K.1, RAID 1, over one"),
        (None, "cheetah10-raid0", "cheetah10-raid0", "cheetah10-single", "2x Cheetah 10K.7, RAID 0, over one"),
        (None, "performance", "performance-single", "savvio-single", "Savvio 10K.1, Performance over Server Mode"),
        (
            None,
            "performance-raid0",
            "performance-raid0",
            "performance-single",
            "2x Savvio 10K.1, RAID 0, over one, Performance Mode",
        ),
    ]
    return [
        _gain(
            of,
            f"desktop/{name}",
            config,
            "gain (geometric mean)",
            ("Mean of five synthetic loads", "Desktop"),
            (desktop(results, top, below) - 1) * 100,
            "five synthetic loads",
        )
        for of, name, top, below, config in pairs
    ]


def access_gains(results: Results) -> list[FigureDoc]:
    """How much shorter the access time of two disks is, in milliseconds."""
    listed = []
    for family, ending in (("savvio", "-001"), ("cheetah10", "-002")):
        row = published(results, ending)
        for level, layout in LEVELS.items():
            shorter = access_ms(results, f"{family}-single") - access_ms(results, f"{family}-{level}")
            # An error in percent of nothing, or of a tenth of a millisecond, says nothing: of the access time it does.
            error = (shorter - (row.value or 0.0)) / access_ms(results, f"{family}-single") * 100
            listed.append(
                figure(
                    id=f"{row.id}/{level}",
                    config=f"{FAMILIES[family]}, {layout}, against one",
                    label="Random access, 512 B reads",
                    workload=row.workload,
                    metric=row.metric,
                    published=row.value,
                    unit="ms",
                    predicted=shorter,
                    error=error,
                    source=row.id,
                    caveat=row.caveat,
                    note="the error is in percent of the access time of one disk",
                    group="Access time",
                )
            )
    return listed


def read_policy(results: Results) -> FindingDoc:
    """Which read policy the published mirror has."""
    rows: list[list[TableCell]] = []
    for config, name in POLICIES.items():
        shorter = access_ms(results, "savvio-single") - access_ms(results, config)
        linear = bandwidth(results, config, "linear-read") / bandwidth(results, "savvio-single", "linear-read")
        gain = ratio(results, config, "savvio-single") - 1
        web = ratio(results, config, "savvio-raid0", ("web-server",))
        rows.append([name, round(shorter, 2), round(linear, 2), f"{gain:+.0%}", round(web, 2)])
    return {
        "id": "read-policy",
        "title": "The mirror sends a read to an idle disk, and only under load to the nearer one",
        "text": (
            "Published: access time shorter by 0.1 to 0.2 ms with either array (0 on the Cheetah), linear reads at the "
            "rate of one disk, 36 to 41 % more on server mixes, clearly ahead of the stripe on the web server. "
            "Policies that look at where the heads are for every read (nearest-head, by-region) shorten the access "
            "time by over a millisecond; those that only count what is outstanding (least-pending, round-robin) are "
            "hardly ahead of the stripe on reads. What Linux md does, an idle disk first and else the nearest, does "
            "neither. It is the one that the study uses."
        ),
        "table": {
            "columns": [
                "policy",
                "access time shorter, ms",
                "linear read, x one",
                "server mixes",
                "web server, x stripe",
            ],
            "rows": [["published", "0.1-0.2", 1.0, "+36-41 %", "above 1"], *rows],
        },
    }


def where_the_mirror_loses(results: Results) -> FindingDoc:
    """Gains by pattern: the more is written, the less a mirror gains."""
    rows: list[list[TableCell]] = []
    for load, writes in (("web-server", "0 %"), ("file-server", "20 %"), ("workstation", "20 %"), ("database", "33 %")):
        gains = [ratio(results, f"savvio-{level}", "savvio-single", (load,)) - 1 for level in LEVELS]
        rows.append([results.study.load(load).label, writes, *(f"{gain:+.0%}" for gain in gains)])
    return {
        "id": "writes-decide",
        "title": "A mirror equals a stripe on average, not in each pattern",
        "text": (
            "Every write of a mirror is a write of both disks, and is as late as the later one. What the mirror gains "
            "on reads by short seeks it loses on writes; the published averages of both are equal because the three "
            "patterns have few enough writes."
        ),
        "table": {"columns": ["pattern", "writes", "stripe over one", "mirror over one"], "rows": rows},
    }


def modes(results: Results) -> FindingDoc:
    """Server Mode and Performance Mode."""
    rows: list[list[TableCell]] = []
    for level, name in (("single", "one disk"), ("raid0", "stripe"), ("raid1", "mirror")):
        server = ratio(results, f"performance-{level}", f"savvio-{level}") - 1
        rows.append([name, f"{server:+.0%}", f"{desktop(results, f'performance-{level}', f'savvio-{level}') - 1:+.0%}"])
    return {
        "id": "firmware-modes",
        "title": "The firmware mode is for the desk, not for the server",
        "text": (
            "Few large segments, a long look-ahead and a write cache that is on help runs of I/Os in few places; "
            "random I/O over the whole disk hardly knows the difference. The mode is said to change desktop scores by "
            "25 % and server scores little; no such figure is in the published table. Segments, look-ahead and write "
            "cache of the modes are our estimates (hotband drives savvio-10k1-performance), so this says what such a "
            "mode does, not what Seagate's does."
        ),
        "table": {"columns": ["machine", "server mixes", "desktop loads"], "rows": rows},
    }


def tag_limit(results: Results) -> FindingDoc:
    """What the host keeps outstanding."""
    rows: list[list[TableCell]] = []
    for depth in (64, 256):
        row: list[TableCell] = [depth]
        for config in ("savvio-single", "savvio-raid0", "savvio-raid1"):
            row.append(round(sum(iops(results, config, load)[depth] for load in PATTERNS) / len(PATTERNS)))
        rows.append(row)
    return {
        "id": "host-queue",
        "title": "Beyond 64 outstanding nothing changes, because the host keeps them",
        "text": (
            "Windows' SCSI port driver sends a logical unit so many commands at a time, an array as few as a disk. If "
            "it sent all 256, a stripe would have 128 places in its drives' queues where one disk has 64, and gain as "
            "much as at no other depth. The average gain is predicted with 64 (16 to 255, see the assumption)."
        ),
        "table": {"columns": ["queue depth", "one disk, IOPS", "stripe", "mirror"], "rows": rows},
    }


def bus(results: Results) -> FindingDoc:
    """What one disk and two get of the shared bus."""
    rows: list[list[TableCell]] = []
    for config, name in (("savvio-single", "one Savvio 10K.1"), ("savvio-raid0", "two, striped")):
        records = results.cells[config, "interface"].records
        rates = (known(record["summary"]["bandwidth_bytes_per_s"]) for _, record in sorted(records.items()))
        rows.append([name, *(round(rate / 1e6) for rate in rates)])
    return {
        "id": "bus",
        "title": "The bus is no limit for the media of two such disks; from their memory two fill it sooner than one",
        "text": (
            "The adapter was measured at 210 to 240 MB/s of 320 nominal, and the efficiency of the bus is taken from "
            "that. One disk with one command outstanding leaves it idle while its firmware works; two commands fill "
            "it, at one disk or at two."
        ),
        "table": {
            "columns": ["reads of 64 KiB from memory, MB/s", "1 outstanding", "2", "8"],
            "rows": [*rows, ["published, the adapter", None, None, "210-240"]],
        },
    }


def conclude(results: Results) -> Conclusion:
    """Claims, findings and further figures of the study."""
    kinds = [read_policy, bus, where_the_mirror_loses, modes, tag_limit]
    figures = [*access_gains(results), *server_gains(results), *desktop_gains(results)]
    figures += [*files.random_writes(results), *files.gains(results)]
    claimed, found = claims.all_of(results), [kind(results) for kind in kinds]
    return Conclusion(claimed, found, figures, answer(figures_of(results, claimed, figures)))
