"""What the model says about why the ratios of the DuraWrite study do not follow entropy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.runs import Results
from hotband.questions.study.studies.durawrite.cells import (
    COMMON,
    DRIVES,
    LOADS,
    NYTRO,
    OTHERS,
    PLAIN,
    amplified,
    entropy,
    host_rate_mb,
    mean_of,
    over,
    percent,
    rate,
    record,
    rounded,
    short,
    stated,
    write_share,
)

if TYPE_CHECKING:
    from hotband.data.documents.study import FindingDoc

TRIMS = {"swbuild-trim": "swbuild", "oltp-no-trim": "oltp", "jetstress-no-trim": "jetstress"}
"""What-ifs that change TRIM alone, and the load that they change."""

FEW = 0.02
"""Rates that differ by less are the same here: runs of seconds on scaled drives."""


def others(results: Results, load: str) -> float | None:
    """Mean write amplification of the drives that do not compress."""
    return mean_of([amplified(results, name, load) for name in OTHERS])


def ratios(results: Results) -> FindingDoc:
    """The ratio of each load, taken apart: what compression does, and what the drive would be without it."""
    rows, order = [], {}
    for load in sorted(LOADS, key=lambda name: entropy(results, name)):
        ours, theirs = amplified(results, NYTRO, load), others(results, load)
        plain = amplified(results, PLAIN, load)
        order[load] = over(ours, theirs)
        rows.append(
            [
                results.study.load(load).group,
                entropy(results, load),
                rounded(order[load], 3),
                rounded(over(ours, plain), 3),
                rounded(over(plain, theirs), 3),
                rounded(over(amplified(results, COMMON, load), theirs), 3),
                *(rounded(amplified(results, name, load)) for name in (NYTRO, PLAIN, *OTHERS)),
                percent(write_share(results, NYTRO, load)),
                round(host_rate_mb(results, NYTRO, load), 1),
            ]
        )
    return {
        "id": "ratios-against-entropy",
        "title": "The ratio of write amplification follows entropy, spare capacity and pattern together",
        "text": _ratio_text(results, order),
        "table": {
            "columns": [
                "load", "entropy", "ratio", "from compression", "without it", "ratio at 0.37",
                *(f"WA {short(results, name)}" for name in (NYTRO, PLAIN, *OTHERS)),
                "writes", "host MB/s",
            ],
            "rows": rows,
        },
    }  # fmt: skip


def _ratio_text(results: Results, order: dict[str, float | None]) -> str:
    by_entropy = list(order)
    known = {name: value for name, value in order.items() if value is not None}
    by_ratio = sorted(known, key=lambda name: known[name])
    names = {load: results.study.load(load).group for load in LOADS}
    same = "the same" if by_ratio == by_entropy else "not the same"
    common = [over(amplified(results, COMMON, load), others(results, load)) for load in LOADS]
    alike = [value for value in common if value is not None]
    return (
        f"Loads by entropy: {', '.join(names[name] for name in by_entropy)}. By predicted ratio: "
        f"{', '.join(names[name] for name in by_ratio)}, which is {same} order. With the same data (entropy 0.37) in "
        f"all the ratio still goes from {min(alike):.2f} to {max(alike):.2f}: that is the part of pattern and spare "
        "capacity. Compression lowers write amplification twice, by fewer bytes and by the spare capacity that they "
        "leave. Where collection already costs little (sequential logs, trimmed space, a small part of the drive that "
        "is written), only the first is left, and the ratio does not fall below what a 4 KiB chunk keeps; where "
        "every page is as likely to be overwritten, the second counts most. Under very compressible data the "
        "granularity of packing is what is left."
    )


def trim(results: Results) -> FindingDoc | None:
    """What TRIM alone does to both kinds of drives."""
    rows, most = [], 0.0
    for changed, load in TRIMS.items():
        for config in DRIVES:
            if (config, changed) not in results.cells:
                continue
            before, after = amplified(results, config, load), amplified(results, config, changed)
            change = over(after, before)
            shown = None if change is None else percent(change - 1, signed=True)
            most = max(most, 0.0 if change is None else abs(change - 1))
            label = results.study.load(changed).label
            rows.append([label, short(results, config), rounded(before), rounded(after), shown])
    if not rows:
        return None
    return {
        "id": "trim",
        "title": f"TRIM moves write amplification by up to {percent(most)}, and with it the ratio",
        "text": (
            "ext4 was mounted without TRIM, Windows trims. What a file system has freed, or never used, stays valid "
            "for a drive that is not told, and every collection moves it. A drive that compresses has spare capacity "
            "of its own and needs TRIM less. The table changes TRIM alone."
        ),
        "table": {"columns": ["change", "drive", "WA before", "WA after", "change"], "rows": rows},
    }


def footprint(results: Results) -> FindingDoc | None:
    """The ratio of VDI depends on how long it was run, and on how much of the drive it writes to."""
    rows, found = [], []
    for load in ("vdi-short", "vdi", "vdi-all", "swbuild-short", "swbuild"):
        if (NYTRO, load) not in results.cells:
            return None
        ours, theirs = amplified(results, NYTRO, load), others(results, load)
        ratio = over(ours, theirs)
        found.append("–" if ratio is None else f"{ratio:.2f}")
        each = (rounded(amplified(results, one, load)) for one in (NYTRO, *OTHERS))
        rows.append([results.study.load(load).label, *each, rounded(ratio)])
    printed = stated(results, "-007")
    return {
        "id": "vdi-footprint",
        "title": "One workload, one entropy, three ratios: how long it ran and how much it writes to decide",
        "text": (
            "A run of SPECsfs lasts ten minutes by default, five of them measured, which is too short to wear in a "
            "drive of 960 GB: compression has its effect from the first byte, the others' amplification has yet to "
            "rise. Worn in, the spare capacity serves the files that are written; here these are two of a process's "
            f"twelve sets, which is derived, not published. The ratios are {', '.join(found[:3])}; {printed:.2f} is "
            "printed, and how the drives were worn in, or which files were written, is not visible here. For "
            f"SWBUILD, which writes new blocks all the time, it is {found[3]} or {found[4]}."
        ),
        "table": {
            "columns": ["run", *(f"WA {short(results, name)}" for name in (NYTRO, *OTHERS)), "ratio"],
            "rows": rows,
        },
    }


def throughput(results: Results) -> FindingDoc:
    """What compression itself buys in rate: the same drive with it and without."""
    rows, gains = [], {}
    for load in LOADS:
        ours, plain = rate(results, NYTRO, load), rate(results, PLAIN, load)
        theirs = mean_of([rate(results, name, load) for name in OTHERS])
        gain, other = over(ours, plain), over(ours, theirs)
        gains[load] = gain or 1.0
        shown = (None if one is None else percent(one - 1, signed=True) for one in (gain, other))
        rows.append([results.study.load(load).group, rounded(ours, 0), rounded(plain, 0), rounded(theirs, 0), *shown])
    unmoved = [results.study.load(load).group for load, gain in gains.items() if abs(gain - 1) < FEW]
    return {
        "id": "what-compression-buys",
        "title": "What of the gain is compression: the same drive with it and without",
        "text": (
            "Less written to flash is more throughput only where the flash is what limits. Under "
            f"{', '.join(unmoved) or 'none of the loads'} the model's rate does not change by "
            f"{percent(FEW)} when compression is switched off: the link, the clients or the rate asked for limit it, "
            "and what is gained over the others there is the drive, not what it does to data."
        ),
        "table": {
            "columns": ["load", "rate", "compression off", "mean of the others", "gain of compression", "of the drive"],
            "rows": rows,
        },
    }


def lifetime(results: Results) -> FindingDoc:
    """What a reader wants to know and no ratio says: how much can be written until a drive is worn out."""
    rows = []
    for load in LOADS:
        for config in DRIVES:
            smart = record(results, config, load).get("smart") or []
            ends = [float(bytes_) for one in smart if (bytes_ := one.get("endurance_bytes")) is not None]
            amount = round(sum(ends) / 1e12) if ends else None
            rows.append(
                [
                    results.study.load(load).group,
                    short(results, config),
                    rounded(amplified(results, config, load)),
                    amount,
                ]
            )
    return {
        "id": "lifetime",
        "title": "What the ratios mean in years: how much a host can write until a drive is worn out",
        "text": (
            "Projected from the erases that the model's flash is rated for (an estimate with a wide range: see the "
            "drives), at the wear of each load, for a drive of full size."
        ),
        "table": {"columns": ["load", "drive", "write amplification", "TB until worn out"], "rows": rows},
    }


def all_of(results: Results) -> list[FindingDoc]:
    """Every finding of the model."""
    found = [ratios(results), trim(results), throughput(results), footprint(results), lifetime(results)]
    return [one for one in found if one is not None]
