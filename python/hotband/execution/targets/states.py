"""The state of a device before a run: purged, filled, preconditioned, on real hardware.

As SNIA's PTS (2.0.2) has it: a purge first; filled is written over twice in sequence with 128 KiB (workload
independent preconditioning), preconditioned is then written at random with 4 KiB until the rule of steady state holds
of five rounds of a minute, at most 25. Left out: between two rounds fio is started anew, a pause of less
than a second; a drive that reclaims flash in so short a time gains by it.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotband.base.errors import UserError
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.numbers import about, percent, whole_percent
from hotband.data.documents.states import State, StateKeptDoc
from hotband.data.record.steady import is_steady, rule
from hotband.execution.devices.held import Held
from hotband.execution.devices.host import Host
from hotband.execution.devices.safety import Permission
from hotband.execution.targets import fio_child
from hotband.execution.targets.purge import expect_writes, opened, purge, way_of, ways, ways_to_purge

if TYPE_CHECKING:
    from hotband.data.documents.record import SteadyRule

__all__ = ["STATES", "Data", "StateKept", "Step", "expect_state", "prepare", "ways_to_purge"]

STATES: tuple[State, ...] = ("purged", "filled", "preconditioned")

# SNIA SSS PTS 2.0.2: twice the capacity, 128 KiB in sequence; rounds of a minute, 25 at most.
FILLS, FILL_BLOCK = 2, 128 << 10
ROUND_S, MOST_ROUNDS = 60.0, 25
RANDOM_BLOCK, RANDOM_DEPTH, RANDOM_JOBS = 4 << 10, 32, 2
# What is read back of what was written: pieces over the whole range, and by how much (points of a hundred) the share
# that compresses away may differ. fio's zeros are within 1 of what is asked; the bound is an estimate.
PIECES, PIECE, MOST_OFF = 64, 64 << 10, 10.0


@dataclass(frozen=True)
class Data:
    """Written data: compression saves `compressed_pct` of it, `duplicate_pct` of its blocks are copies of others (fio's
    buffer_compress_percentage, dedupe_percentage), by `seed`."""

    compressed_pct: int = 0
    duplicate_pct: int = 0
    seed: int = 1


@dataclass(frozen=True)
class Step:
    """Progress of a preparation: its current step, the share done (0 to 1), and seconds left; None if unknown, an upper
    bound if it ends by a rule (`is_most`)."""

    what: str
    share: float
    left_s: float | None
    is_most: bool = False

    def words(self) -> str:
        """Return it in words."""
        if self.left_s is None:
            return f"{self.what} {whole_percent(self.share)}"
        left = about(self.left_s)
        return f"{self.what} {whole_percent(self.share)}, {'at most ' if self.is_most else ''}{left} left"


@dataclass(frozen=True)
class StateKept:
    """The state a device was left in, and its history: `by` is the method, such as "discard"; `steady` are rounds of
    the preconditioning as the rule of steady state judges them; `compressed_pct` was measured by reading the data
    back."""

    state: State
    by: tuple[str, ...]
    seconds: float
    written_bytes: int
    steady: SteadyRule | None = None
    compressed_pct: float | None = None
    notes: tuple[str, ...] = ()

    def document(self) -> StateKeptDoc:
        """Return it as a record has it."""
        from dataclasses import asdict

        return cast("StateKeptDoc", {**asdict(self), "by": list(self.by), "notes": list(self.notes)})


@dataclass(frozen=True)
class Rounds:
    """Rounds of preconditioning: seconds per round and their maximum number."""

    round_s: float = ROUND_S
    most: int = MOST_ROUNDS


Told = Callable[[Step], None]


def prepare(
    held: Held,
    state: State,
    *,
    size_bytes: int,
    data: Data | None = None,
    progress: Told | None = None,
    stop: Callable[[], bool] | None = None,
    purge_by: str | None = None,
    rounds: Rounds | None = None,
) -> StateKept:
    """Bring what is held into `state`; `size_bytes` of it are used, from its beginning (a purge covers all). `purge_by`
    names a method of `ways_to_purge`; default: the best one."""
    permission = held.permission
    expect_writes(permission)
    if state not in STATES:
        raise UserError("state", "", state, f"expected one of {', '.join(STATES)}")
    work = _Work(held, size_bytes, data or Data(), progress or _silent, stop or _never)
    begin = time.monotonic()
    notes: list[str] = []
    by: list[str] = []
    if state == "purged" or purge_by is not None or _can_purge(permission):
        by.append(purge(held, lambda share: work.tell("purging", share, begin), purge_by))
    else:
        notes.append("cannot be purged here: its earlier content may still have an effect")
    if state == "purged":
        return StateKept(state, tuple(by), time.monotonic() - begin, 0, notes=(*notes, *_holes(permission)))
    written = work.fill(by)
    compressed = work.read_back()
    steady = None
    if state == "preconditioned":
        steady, more = work.until_steady(rounds or Rounds(), by)
        written += more
        if not steady["reached"]:
            notes.append(f"not steady after {len(steady['rounds'])} rounds")
    return StateKept(state, tuple(by), time.monotonic() - begin, written, steady, compressed, tuple(notes))


def expect_state(path: str, kind: str, host: Host, state: str, purge_by: str | None = None) -> None:
    """Raise UserError, before anything is written, if a target (`kind` is block, file or uri) cannot be brought into a
    state, or not by the named purge."""
    if path.startswith("rbd:"):
        accepted = "needs the size of the image, which only its cluster reports: map it (rbd map) and measure /dev/rbdN"
        raise UserError("question.settings", "state", state, accepted)
    if state == "purged" or purge_by is not None:
        way_of(path, kind, host, purge_by)


def _can_purge(permission: Permission) -> bool:
    return any(way.is_usual for way in ways(permission.path, permission.kind, permission.host))


def _silent(_: Step) -> None:
    return None


def _never() -> bool:
    return False


def _holes(permission: Permission) -> list[str]:
    if permission.kind != "file":
        return []
    return ["the file system completes reads of holes: they never reach the drive"]


@dataclass
class _Work:
    """One preparation."""

    held: Held
    size: int
    data: Data
    progress: Told
    stop: Callable[[], bool]

    @property
    def permission(self) -> Permission:
        return self.held.permission

    def __post_init__(self) -> None:
        if self.size < FILL_BLOCK:
            raise UserError(self.permission.path, "", f"{self.size} B", f"expected {FILL_BLOCK} bytes or more to fill")

    def tell(self, what: str, share: float, begin: float, *, is_most: bool = False) -> None:
        """Report progress, and stop if requested."""
        if self.stop():
            raise KeyboardInterrupt
        spent = time.monotonic() - begin
        # The first hundredth says little of the rest.
        left = spent / share - spent if share > 0.01 else None
        self.progress(Step(what, share, left, is_most))

    def fill(self, by: list[str]) -> int:
        """Write all in sequence, twice; return the bytes written."""
        self._expect_size()
        by.append(f"filled {FILLS} times, {FILL_BLOCK >> 10} KiB in sequence")
        wrote = 0
        begin = time.monotonic()
        for turn in range(FILLS):

            def look(share: float, turn: int = turn) -> None:
                self.tell(f"filling ({turn + 1} of {FILLS})", (turn + share) / FILLS, begin)

            lines = ["rw=write", f"bs={FILL_BLOCK}", "iodepth=32", f"randseed={self.data.seed + turn}"]
            wrote += self.run([*lines, "end_fsync=1"], look).written_bytes
        return wrote

    def _expect_size(self) -> None:
        """Extend a file that is shorter than its used range: fio cannot lay out a file that it got as an open
        descriptor."""
        if self.permission.kind == "file" and (self.permission.host.size(self.held.path) or 0) < self.size:
            with opened(self.held) as descriptor:
                os.ftruncate(descriptor, self.size)

    def until_steady(self, rounds: Rounds, by: list[str]) -> tuple[SteadyRule, int]:
        """Write at random until steady; return the rule's verdict and the bytes written."""
        by.append(f"written at random, {RANDOM_BLOCK >> 10} KiB, rounds of {rounds.round_s:g} s")
        values: list[float] = []
        wrote = 0
        begin = time.monotonic()
        for number in range(1, rounds.most + 1):

            def look(share: float, number: int = number) -> None:
                done = (number - 1 + share) / rounds.most
                self.tell(f"preconditioning, round {number}", done, begin, is_most=True)

            done = self.run(self._random_lines(rounds, number), look)
            values.append(done.iops)
            wrote += done.written_bytes
            if is_steady(values):
                break
        return rule(values), wrote

    def _random_lines(self, rounds: Rounds, number: int) -> list[str]:
        """Return lines that give every round different offsets."""
        lines = ["rw=randwrite", f"bs={RANDOM_BLOCK}", f"iodepth={RANDOM_DEPTH}", f"numjobs={RANDOM_JOBS}"]
        lines += ["norandommap=1", "random_generator=tausworthe64", f"randseed={self.data.seed + 1000 * number}"]
        return [*lines, "time_based=1", f"runtime={rounds.round_s:g}", "group_reporting=1"]

    def run(self, lines: list[str], look: Callable[[float], None]) -> _Done:
        """Run one job of fio. Raises UserError if it fails, or its I/Os do."""
        job = "\n".join(["[global]", *self._place_lines(), *self._data_lines(), "[prepare]", *lines]) + "\n"
        begin = time.monotonic()

        def looked(*status: object) -> None:
            share = getattr(status[0], "share", None) if status else None
            look(share if isinstance(share, float) else 0.0)

        with TemporaryFolder("state") as folder:
            text = fio_child.run_fio(job, Path(folder), looked, held=self.held).read_text(errors="replace")
        return _done(text, self.permission.path, time.monotonic() - begin)

    def _place_lines(self) -> list[str]:
        path = self.permission.path
        size = f"size={self.size // FILL_BLOCK * FILL_BLOCK}"
        if path.startswith("nbd"):
            return ["ioengine=nbd", f"uri={path}", "thread=1", size]
        if path.startswith("rbd:"):
            pool, _, image = path.removeprefix("rbd:").partition("/")
            return ["ioengine=rbd", "clientname=admin", f"pool={pool}", f"rbdname={image}", "thread=1", size]
        return [f"filename={self.held.name}", "allow_file_create=0", "ioengine=libaio", "direct=1", "thread=1", size]

    def _data_lines(self) -> list[str]:
        """Return lines for new data in every I/O: a drive that compresses or deduplicates would otherwise store next to
        nothing."""
        lines = ["refill_buffers=1", "scramble_buffers=0"]
        if self.data.compressed_pct:
            lines += [f"buffer_compress_percentage={self.data.compressed_pct}", "buffer_compress_chunk=4k"]
        if self.data.duplicate_pct:
            lines.append(f"dedupe_percentage={self.data.duplicate_pct}")
        return lines

    def read_back(self) -> float | None:
        """Return how far the stored data compresses, in percent, from samples over the whole range; None if it cannot
        be read here. Raises UserError if nothing is stored, or other data than was written."""
        if self.permission.kind == "uri":
            return None
        span = self.size // FILL_BLOCK * FILL_BLOCK
        pieces = [
            self.permission.host.read(self.held.path, at // PIECE * PIECE, min(PIECE, span))
            for at in (number * (span - min(PIECE, span)) // (PIECES - 1) for number in range(PIECES))
        ]
        empty = sum(not any(piece) for piece in pieces)
        if empty:
            accepted = f"reads back zeros in {empty} of {PIECES} written places: it does not store its data"
            raise UserError(self.permission.path, "", "", accepted)
        packed = sum(min(len(piece), len(zlib.compress(piece, 1))) for piece in pieces)
        compressed_pct = 100 * (1 - packed / sum(len(piece) for piece in pieces))
        if abs(compressed_pct - self.data.compressed_pct) > MOST_OFF:
            away = percent(compressed_pct, signed=False)
            accepted = f"reads back data of which {away} compress away, not the {self.data.compressed_pct} % written"
            raise UserError(self.permission.path, "", "", accepted)
        return round(compressed_pct, 1)


@dataclass(frozen=True)
class _Done:
    """The result of a fio job."""

    iops: float
    written_bytes: int


def _done(text: str, path: str, seconds: float) -> _Done:
    """Read fio's JSON, which other output may precede."""
    try:
        jobs = json.loads(text[text.index("{") :])["jobs"]
        errors = [job["error"] for job in jobs if job.get("error")]
        wrote = sum(int(job["write"]["io_bytes"]) for job in jobs)
        iops = sum(float(job["write"]["iops"]) for job in jobs)
    except (ValueError, RecursionError, KeyError, TypeError):
        raise UserError("fio", "", path, "left an unreadable result") from None
    if errors or not wrote:
        why = f"error {errors[0]}" if errors else f"nothing was written in {seconds:.0f} s"
        raise UserError("fio", "", path, f"could not write it: {why}")
    return _Done(iops, wrote)
