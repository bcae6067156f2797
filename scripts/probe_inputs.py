"""Gives Hotband damaged inputs of every kind, and files what breaks it: `python scripts/probe_inputs.py --count 5000`.

Inputs are drawn from a seed: number 17 of a kind is the same every time. A fault is an exception that is no UserError,
a panic, a hang (10 s of the processor) or too much memory (2 GiB); the smallest input that still does it is put into
FOLDER/failures, with the command that repeats it. Interrupted, it goes on with the next input when it is started again.

    python scripts/probe_inputs.py --kind drive,trace --count 2000
    python scripts/probe_inputs.py --repeat out/probe/failures/drive-1a2b3c4d
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from probe.kinds import KINDS, chosen_way, form_of
from probe.mutate import Donors, Step, damaged, drawn
from probe.pool import Worker
from probe.smaller import smaller
from probe.worker import Asked, Outcome

ROOT = Path(__file__).resolve().parent.parent
LEAST_PAST = 0.4
"""Share of inputs of each kind that must get past the first check: below it the probing says little."""
SAVED_EVERY = 200
Counts = dict[str, Counter[str]]


class Inputs:
    """The damaged inputs of a kind by number."""

    def __init__(self, name: str, made: Path, seed: int) -> None:
        self.name, self.kind, self.seed = name, KINDS[name], seed
        self.bases = self.kind.bases(made)
        self.donors = Donors([(form_of(self.kind, one), data) for one, data in self.bases])

    def drawn(self, number: int) -> tuple[int, list[Step]]:
        """Which base it comes from, and its steps."""
        rng = random.Random(f"{self.seed}/{self.name}/{number}")
        base = rng.randrange(len(self.bases))
        return base, drawn(form_of(self.kind, self.bases[base][0]), rng)

    def asked(self, number: int) -> Asked:
        """The input."""
        base, steps = self.drawn(number)
        name, data = self.bases[base]
        return Asked(
            self.name, chosen_way(self.kind, number), name, damaged(form_of(self.kind, name), data, steps, self.donors)
        )


class Probe:
    """What was done, in a folder, from which it goes on."""

    def __init__(self, folder: Path, seed: int, kinds: list[str]) -> None:
        self.folder, self.seed = folder, seed
        self.state = folder / f"state-{seed}.json"
        found: dict[str, Any] = json.loads(self.state.read_text()) if self.state.is_file() else {}
        self.counts: Counts = {name: Counter(found.get(name, {})) for name in KINDS}
        self.worker = Worker(folder / "made", folder / f"work-{seed}")
        self.inputs = {name: Inputs(name, folder / "made", seed) for name in kinds}

    def next_kind(self) -> str:
        """The kind that is furthest behind its share."""
        return min(self.inputs, key=lambda name: (self.counts[name]["inputs"] + 1) / KINDS[name].weight)

    def one(self, name: str) -> None:
        """One input more of a kind."""
        counts = self.counts[name]
        number = counts["inputs"]
        asked = self.inputs[name].asked(number)
        begin = time.monotonic()
        outcome = self.worker.outcome(asked)
        counts["inputs"] += 1
        counts["past"] += outcome.past
        counts["taken"] += outcome.taken
        counts["ms"] += round(1000 * (time.monotonic() - begin))
        if outcome.fault:
            counts["faults"] += 1
            self.file(asked, number, outcome)

    def file(self, asked: Asked, number: int, outcome: Outcome) -> None:
        """Puts a fault into the folder of failures, small; one that is there already is only counted."""
        digest = hashlib.sha256(f"{asked.kind}/{outcome.fault}".encode()).hexdigest()[:8]
        place = self.folder / "failures" / f"{asked.kind}-{digest}"
        if (place / "case.json").is_file():
            return
        print(f"\n{asked.kind} {number}: {outcome.fault}", flush=True)
        inputs = self.inputs[asked.kind]
        base, steps = inputs.drawn(number)
        name, data = inputs.bases[base]

        def breaks(tried: bytes) -> bool:
            return self.worker.outcome(asked._replace(data=tried)).fault == outcome.fault

        tries = 8 if outcome.fault == "hang" else 150
        least = smaller(form_of(inputs.kind, name), data, steps, inputs.donors, breaks, tries)
        place.mkdir(parents=True, exist_ok=True)
        (place / "input").write_bytes(least)
        case = {
            "kind": asked.kind, "way": asked.way, "name": asked.name, "fault": outcome.fault, "words": outcome.words,
            "seed": self.seed, "number": number, "steps": [list(step) for step in steps],
            "command": f"python scripts/probe_inputs.py --repeat {place}",
        }  # fmt: skip
        (place / "case.json").write_text(json.dumps(case, indent=1) + "\n")

    def save(self) -> None:
        """Keeps how far it is."""
        new = self.state.with_suffix(".new")
        new.write_text(json.dumps(self.counts, indent=1) + "\n")
        new.replace(self.state)

    def table(self) -> str:
        """A line a kind."""
        lines = [f"{'kind':14} {'inputs':>8} {'past first check':>17} {'taken':>7} {'faults':>7} {'ms each':>8}"]
        whole = Counter[str]()
        for name in [*KINDS, "all"]:
            counts = whole if name == "all" else self.counts[name]
            whole.update(self.counts.get(name, {}))
            if inputs := counts["inputs"]:
                past, taken, each = counts["past"] / inputs, counts["taken"] / inputs, counts["ms"] / inputs
                few = "  few" if past < LEAST_PAST else ""
                lines.append(f"{name:14} {inputs:8,} {past:17.0%} {taken:7.0%} {counts['faults']:7} {each:8.1f}{few}")
        return "\n".join(lines)


def repeat(place: Path, folder: Path) -> int:
    """Says what comes of a filed case now."""
    case = json.loads((place / "case.json").read_text())
    worker = Worker(folder / "made", folder / "work-repeat")
    outcome = worker.outcome(Asked(case["kind"], case["way"], case["name"], (place / "input").read_bytes()))
    worker.end()
    print(outcome.words or "nothing is wrong", file=sys.stderr if outcome.fault else sys.stdout)
    return 1 if outcome.fault else 0


def main(given: list[str] | None = None) -> int:
    """Probes as much as asked; exit code 1 where a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000, help="inputs of all kinds, those of earlier starts included")
    parser.add_argument("--kind", default=",".join(KINDS), help="of these kinds alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "out/probe")
    parser.add_argument("--repeat", type=Path, metavar="FAILURE", help="one that was filed, again")
    asked = parser.parse_args(given)
    folder: Path = asked.folder.resolve()
    for number in (signal.SIGINT, signal.SIGTERM):
        # A shell starts what it puts into the background with SIGINT ignored.
        signal.signal(number, signal.default_int_handler)
    if asked.repeat is not None:
        return repeat(asked.repeat, folder)
    probe = Probe(folder, asked.seed, asked.kind.split(","))
    try:
        done = sum(probe.counts[name]["inputs"] for name in probe.inputs)
        for number in range(done, asked.count):
            probe.one(probe.next_kind())
            if number % SAVED_EVERY == 0:
                probe.save()
                faults = sum(counts["faults"] for counts in probe.counts.values())
                print(
                    f"\r{number:,} of {asked.count:,} inputs, {faults} with a fault",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
    finally:
        probe.save()
        probe.worker.end()
    print("\n" + probe.table())
    failures = sorted((folder / "failures").glob("*/case.json"))
    print(f"{len(failures)} faults that differ in {folder / 'failures'}" if failures else "no fault")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
