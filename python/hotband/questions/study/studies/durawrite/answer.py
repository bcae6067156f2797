"""The answer to the question of durawrite: what compression inside an SSD does, by how compressible the data is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.answer import beside, both_times, change, more, named, of_percent, said

if TYPE_CHECKING:
    from hotband.data.documents.study_answer import AnswerDoc, AnswerPointDoc
    from hotband.questions.study.answer import Figures

NYTRO, CLOSEST = "nytro", "s4500"
RATIOS = {
    "ycsb": "durawrite/ycsb/wa-ratio",
    "vdi": "demartek_durawrite-007",
    "oltp": "demartek_durawrite-014",
    "swbuild": "demartek_durawrite-012",
    "jetstress": "durawrite/jetstress/wa-ratio",
}
"""Figures of the compressing drive's write amplification over the others', by load."""
ROWS = {
    "ycsb": "YCSB A (entropy 0.79)",
    "vdi": "SPECsfs VDI (0.37)",
    "oltp": "OLTP (0.19)",
    "swbuild": "SPECsfs SWBUILD (0.17)",
    "jetstress": "Exchange Jetstress (0.013)",
}
"""Loads from data that hardly compress to data that nearly vanish; the entropies are published."""


def answer(of: Figures) -> AnswerDoc:
    """The answer, and the ratio of write amplification of every workload below it."""
    return {
        "text": f"{_amplification(of)} {_throughput(of)}",
        "further": _further(of),
        "chart": {
            "title": "Write amplification of the compressing drive over that of the others",
            "quantity": "Times the others' write amplification (less is better)",
            "caption": "Entropy is the share of the data that an archive keeps.",
            "points": [_point(of, load, row) for load, row in ROWS.items()],
            "rule": {"at": 1.0, "text": "the others"},
        },
    }


def _point(of: Figures, load: str, row: str) -> AnswerPointDoc:
    one = of.compared[RATIOS[load]]
    return {
        "machine": of.names[NYTRO],
        "row": row,
        "qd": None,
        "published": one["published"],
        "predicted": one["predicted"],
    }


def _amplification(of: Figures) -> str:
    """What it does to write amplification."""
    found = {load: of.compared[name] for load, name in RATIOS.items()}
    names = (("vdi", "VDI"), ("oltp", "OLTP"), ("swbuild", "SWBUILD"))
    pairs = [f"{beside(found[load]['published'], found[load]['predicted'])} under {name}" for load, name in names]
    falls = (found["ycsb"]["predicted"] or 0) > (found["jetstress"]["predicted"] or 0)
    how = ", the less the better its data compress" if falls else ""
    return f"The drive writes less flash{how}: of the other drives' write amplification it has {named(pairs)}."


def _throughput(of: Figures) -> str:
    """What it does to throughput and latency."""
    ycsb, build = of.compared["demartek_durawrite-001"], of.compared["demartek_durawrite-009"]
    latency = of.compared["demartek_durawrite-002"]
    rates = [more(of_percent(ycsb[one])) for one in ("published", "predicted")]
    less = [more(of_percent(None if (value := latency[one]) is None else -value)) for one in ("published", "predicted")]
    return (
        f"Throughput follows only where flash is the limit: {both_times((build['published'], build['predicted']))} "
        "the "
        f"operations of the closest drive under SWBUILD, {change(of.gain(NYTRO, CLOSEST, 'vdi', 'ops')[0])} under "
        "VDI, and "
        f"{rates[0]} at {less[0]} latency under YCSB A, where the model, whose SATA links are full there, has "
        f"{rates[1]} at "
        f"{less[1]}."
    )


def _further(of: Figures) -> str:
    """What is predicted alone, and how far it may be trusted."""
    first, last = (of.compared[RATIOS[load]]["predicted"] for load in ("ycsb", "jetstress"))
    build = of.compared["demartek_durawrite-010"]["error_pct"]
    return (
        f"Predicted only: {said(first)} of the others' write amplification with data that hardly compress (YCSB A), "
        f"{said(last)} with data that nearly vanish (Jetstress). Latencies of overloaded drives are not to be "
        "relied on: "
        f"under SWBUILD the model's ratio is {said(None if build is None else abs(build))} % off."
    )
