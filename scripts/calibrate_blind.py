"""Calibrations of drives of which the truth is known: products with values drawn inside their ranges by a seed.

`python scripts/calibrate_blind.py --out out/blind` measures on models; with `--emulated` through fio on served drives.
What is there already is not done again. The table at the end stands in docs/guides/calibrate.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hotband.base.text.quantities import size_bytes
from hotband.base.text.write import write_file
from hotband.data.catalog.entries import product
from hotband.questions.calibrate.calibrated import Calibrated
from hotband.questions.calibrate.model import Model, Product
from hotband.questions.calibrate.run import Wanted, run
from hotband.questions.calibrate.unknowns import Unknowns, number_of, unknowns_of

PRODUCTS = ("toshiba-mg08-16tb", "exos-15e900-512n", "s4500-960", "pm893-3840", "p4510-4tb", "980-pro-1tb")
TRIES = 100
ROUNDING = 1e-5
"""Values are written with six digits."""
SIMULATED_BYTES = 1.2e11
"""Of a solid-state drive so much is simulated: all that a calibration writes is then, as on a whole one, a small part.
At the 30 GB that one run chooses its own writes moved what it measured by 4 % from the first pass to the last."""


@contextmanager
def watch(_: str) -> Iterator[None]:
    yield None


def truth_of(like: str, seed: int) -> dict[str, str]:
    """Every uncertain value of a product, drawn from its prior, and the scale of a solid-state drive; what the product
    refuses is drawn again."""
    unknowns, model = unknowns_of(like, {}), Model(Product(like), [], watch)
    random = np.random.default_rng([seed, *like.encode()])
    for _ in range(TRIES):
        places = random.standard_normal(len(unknowns.numbers))
        options = [int(random.choice(len(one.prior), p=one.prior)) for one in unknowns.choices]
        drawn = dict(unknowns.settings(places, options))
        if model.refusal(tuple(drawn.items())) is None:
            chosen = {one.name: one.options[n] for one, n in zip(unknowns.choices, options, strict=True)}
            return drawn | chosen | scale_of(like)
    raise SystemExit(f"{like}: refuses all of {TRIES} draws")


def scale_of(like: str) -> dict[str, str]:
    """The scale at which the drive is simulated, if it has one."""
    values = {one["key"]: one["value"] for one in product(like)["values"]}
    if "scale" not in values:
        return {}
    return {"scale": str(max(1, round((size_bytes(values["capacity"]) or 0.0) / SIMULATED_BYTES)))}


def product_file(like: str, truth: dict[str, str]) -> str:
    quoted = {key: value if value.isdigit() else f'"{value}"' for key, value in truth.items()}
    values = "\n".join(f"{key} = {value}" for key, value in quoted.items())
    return f'variant_of = "{like}"\ntitle = "drawn"\n\n[values]\n{values}\n'


def judged(found: Calibrated, truth: dict[str, str], unknowns: Unknowns) -> dict[str, Any]:
    """How many true values lie in the intervals, of values that move together one, and how far predictions are off."""
    first = {number.keys[0] for number in unknowns.numbers} | {choice.name for choice in unknowns.choices}
    inside = {state: [0, 0] for state in ("told", "narrowed", "unknown")}
    outside = []
    for one in found.values:
        if one.key not in first:
            continue
        if one.options:
            holds = truth[one.key] in one.options
        else:
            low, high, true = (number_of(text) for text in (one.low, one.high, truth[one.key]))
            holds = low * (1 - ROUNDING) <= true <= high * (1 + ROUNDING)
        inside[one.state][0] += holds
        inside[one.state][1] += 1
        if not holds:
            outside.append(f"{one.key} ({one.state}): {truth[one.key]}, found {one.value}, {one.low} to {one.high}")
    checks = [(one.load, one.figure, one.error_pct, one.before_pct) for one in found.checks]
    return {"inside": inside, "outside": outside, "checks": checks, "misfit": found.misfit, "notes": found.notes}


def worst(checks: Sequence[Sequence[Any]], figure: str, place: int) -> float:
    """The largest error of a figure, in percent; `place` 2 is with the fit, 3 before it."""
    return max((abs(one[place]) for one in checks if one[1] == figure), default=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("products", nargs="*", default=PRODUCTS)
    parser.add_argument("--out", type=Path, default=Path("out/blind"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--emulated", action="store_true")
    asked = parser.parse_args()
    rows = []
    for like in asked.products:
        way = "fio" if asked.emulated else "model"
        folder = asked.out / f"{like}-{way}-{asked.seed}"
        folder.mkdir(parents=True, exist_ok=True)
        result = folder / "result.json"
        if not result.exists():
            truth = truth_of(like, asked.seed)
            write_file(folder / "truth.toml", product_file(like, truth))
            target = f"{'emulated:' if asked.emulated else ''}{folder / 'truth.toml'}"
            files = folder / "found.toml", folder / "runs"
            wanted = Wanted([target], Product(like), *files, asked.seconds, seed=asked.seed)
            found = run(wanted, lambda _: None, lambda text: print(text, file=sys.stderr), watch)
            write_file(result, json.dumps(judged(found, truth, unknowns_of(like, {})), indent=1))
        rows.append((like, json.loads(result.read_text())))
        show(like, rows[-1][1])
    total = np.sum([[of["inside"][state] for state in ("told", "narrowed", "unknown")] for _, of in rows], axis=0)
    print("all: told, narrowed, unknown inside:", ", ".join(f"{a} of {b}" for a, b in total))


def show(like: str, of: dict[str, Any]) -> None:
    inside = " | ".join(f"{a} of {b}" for a, b in of["inside"].values())
    off = [(worst(of["checks"], name, 2), worst(of["checks"], name, 3)) for name in ("IOPS", "p99")]
    errors = " | ".join(f"{now:.1f} ({before:.1f})" for now, before in off)
    print(f"| {like} | {errors} | {inside} |", flush=True)
    for line in of["outside"]:
        print(f"    outside: {line}", flush=True)


if __name__ == "__main__":
    main()
