"""Does a store lose nothing that was added, and stay whole, whatever ends its writers?"""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess as Process
from pathlib import Path

import duckdb
import pytest
import store_child

import hotband as hb
from forms import sized
from hotband.data.record.record import Record
from hotband.data.store import compact as compaction
from hotband.data.store import journal, manifest, same, writer
from hotband.data.store.check import check
from hotband.data.store.compact import compact
from hotband.data.store.journal import Entry, frame_of, frames
from hotband.data.store.manifest import snapshot
from hotband.data.store.store_folder import StoreFolder, made, opened
from hotband.data.store.writer import Writer

PROCESSES = multiprocessing.get_context("forkserver")
"""One process imports everything; writers are forked from it in milliseconds."""
PROCESSES.set_forkserver_preload(
    ["hotband.data.store.writer", "hotband.questions.sweeps.frames", "pyarrow.parquet", "numpy"]
)


def entry_of(record: Record, seed: int) -> Entry:
    """The record under another seed, as it is added; without tables, which take time."""
    return Entry(1_700_000_000_000_000, "", {"qd": seed % 4}, json.dumps({**record.document, "seed": str(seed)}))


def seeds(folder: Path) -> list[int]:
    """The seeds of all runs, by a tool that knows nothing of stores."""
    files = f"{folder}/summary/**/*.parquet"
    return [row[0] for row in duckdb.sql(f"select seed from '{files}' order by seed").fetchall()]


def begun(folder: Path, record: Record, log: Path, first: int, count: int) -> Process:
    """A writer in a process of its own, which writes to `log` what it has added."""
    text = folder.parent / "record.json"
    if not text.exists():
        text.write_text(json.dumps({**record.document, "streams": []}))
    child = PROCESSES.Process(target=store_child.add, args=(str(folder), str(text), str(log), first, count))
    child.start()
    return child


def said(log: Path) -> list[int]:
    """The seeds in a log."""
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def test_nothing_that_was_added_is_lost_where_writers_are_killed(tmp_path: Path, runs: list[Record]) -> None:
    chance, log, killed = random.Random(5), tmp_path / "log", 0
    kills = sized(6, 12)
    for _ in range(kills):
        before = len(said(log))
        child = begun(tmp_path / "s", runs[0], log, before, 1000)
        # At any place of a part: when a run is added, when the part is written, renamed, entered.
        least, deadline = before + chance.randint(0, 20), time.monotonic() + 60
        while len(said(log)) < least and time.monotonic() < deadline:
            time.sleep(chance.uniform(0, 0.004))
        child.kill()
        child.join()
        killed += child.exitcode == -signal.SIGKILL
    added = said(log)
    assert (killed, added) == (kills, list(range(len(added))))
    place = opened(tmp_path / "s")
    compact(place)
    kept = seeds(tmp_path / "s")
    # The last one may be there without having been logged.
    assert kept in (added, [*added, len(added)])
    assert not check(place).damaged
    assert not check(place).strange


@pytest.mark.parametrize("writers", sized([5], [2, 8]))
def test_several_writers_at_once(tmp_path: Path, runs: list[Record], writers: int) -> None:
    made(tmp_path / "s", None)
    # Neighbours share half of their runs.
    children = [begun(tmp_path / "s", runs[0], tmp_path / f"log{n}", 10 * n, 20) for n in range(writers)]
    for _ in range(3):
        # Readers and a compaction beside them.
        assert hb.store(tmp_path / "s").query("select count(*), count(distinct run) from summary").height == 1
        compact(opened(tmp_path / "s"))
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * writers
    assert seeds(tmp_path / "s") == list(range(10 * writers + 10))
    assert check(opened(tmp_path / "s")).damaged == check(opened(tmp_path / "s")).journals == []


@pytest.mark.parametrize(("module", "name"), [(same, "_rows"), (writer, "keys_in")])
def test_a_compaction_takes_no_part_away_that_a_writer_reads(
    tmp_path: Path, runs: list[Record], monkeypatch: pytest.MonkeyPatch, module: object, name: str
) -> None:
    place = made(tmp_path / "s", None)
    for seed in range(2):
        other = Writer(place)
        other.add(entry_of(runs[0], seed))
        other.close()
    inner, compactions = getattr(module, name), list[threading.Thread]()

    def read(*arguments: object) -> object:
        if not compactions:
            compactions.append(threading.Thread(target=compact, args=[place]))
            compactions[0].start()
            compactions[0].join(1)
        return inner(*arguments)

    monkeypatch.setattr(module, name, read)
    third = Writer(place)
    third.add(entry_of(runs[0], 2))
    third.close()
    compactions[0].join()
    assert seeds(tmp_path / "s") == [0, 1, 2]


class Killed(BaseException):
    """As `kill -9`: nothing is done any more."""


def killing(monkeypatch: pytest.MonkeyPatch, module: object, name: str, after: int) -> None:
    """Ends the process, so to speak, in the call of this number."""
    inner, calls = getattr(module, name), [0]

    def called(*arguments: object, **keys: object) -> object:
        calls[0] += 1
        if calls[0] == after:
            raise Killed
        return inner(*arguments, **keys)

    monkeypatch.setattr(module, name, called)


STEPS: list[tuple[object, str, int]] = [
    (manifest, "make_folder", 1),
    (manifest, "write_files", 1),
    (manifest, "flush_folder", 1),
    (manifest, "flush_folder", 4),
    (manifest, "write_file", 1),
    (journal.Journal, "remove", 1),
]


@pytest.mark.parametrize(("module", "name", "after"), STEPS)
def test_a_part_that_was_half_put_is_whole_with_the_next_writer(
    tmp_path: Path, runs: list[Record], monkeypatch: pytest.MonkeyPatch, module: object, name: str, after: int
) -> None:
    place = made(tmp_path / "s", None)
    store = Writer(place)
    for seed in range(3):
        store.add(entry_of(runs[0], seed))
    with monkeypatch.context() as patch:
        killing(patch, module, name, after)
        with pytest.raises(Killed):
            store.flush()
    abandoned(store)
    with writer.writing(place) as after_it:
        assert not after_it.add(entry_of(runs[0], 1))[1]
        assert after_it.add(entry_of(runs[0], 3))[1]
    assert seeds(tmp_path / "s") == [0, 1, 2, 3]
    assert check(place).strange == check(place).damaged == check(place).journals == []


def abandoned(store: Writer) -> None:
    """A writer's locks are let go of, as the system does when its process ends."""
    if store._journal is not None:
        store._journal.close()
        store._journal = None


COMPACTION: list[tuple[object, str, int]] = [
    (compaction, "_copy", 3),
    (compaction, "write_file", 1),
    (compaction.os, "replace", 1),
    (compaction.os, "replace", 4),
    (compaction, "enter", 1),
    (compaction, "tidy", 1),
    (manifest, "_remove", 1),
    (manifest, "_remove", 3),
]


@pytest.mark.parametrize(("module", "name", "after"), sized(COMPACTION[::2], COMPACTION))
def test_a_compaction_that_was_ended_leaves_every_run_once(
    tmp_path: Path, runs: list[Record], monkeypatch: pytest.MonkeyPatch, module: object, name: str, after: int
) -> None:
    place = made(tmp_path / "s", None)
    for seed in range(3):
        with writer.writing(place) as store:
            store.add(entry_of(runs[0], seed))
    with monkeypatch.context() as patch:
        killing(patch, module, name, after)
        with pytest.raises(Killed):
            compact(place)
    # Readers of ours see each run once at once, others when somebody has written.
    assert hb.store(tmp_path / "s").runs()["seed"].sort().to_list() == [0, 1, 2]
    writer.recover(place)
    assert seeds(tmp_path / "s") == [0, 1, 2]
    assert check(place).strange == check(place).damaged == []
    assert compact(place).after == 1
    assert seeds(tmp_path / "s") == [0, 1, 2]


def test_a_journal_is_read_as_far_as_it_was_written(runs: list[Record]) -> None:
    each = [frame_of(entry_of(runs[0], seed)) for seed in range(3)]
    data = b"".join(each)
    chance = random.Random(3)
    for length in [0, 3, 11, 12, *(chance.randrange(len(data)) for _ in range(20)), len(data)]:
        whole = sum(length >= len(b"".join(each[: n + 1])) for n in range(3))
        assert len(list(frames(data[:length]))) == whole
    for _ in range(20):
        at = chance.randrange(len(data))
        torn = data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]
        assert len(list(frames(torn))) == 2
    assert [json.loads(one.text)["seed"] for one in frames(b"noise\x00hbJ" + data)] == ["0", "1", "2"]


def put_off(place: StoreFolder, record: Record, count: int) -> Path:
    """The journal of a writer that was ended when it had added so many runs."""
    store = Writer(place)
    for seed in range(count):
        store.add(entry_of(record, seed))
    abandoned(store)
    (path,) = place.journal.glob("*.journal")
    return path


def beside(data: bytes, at: int) -> bytes:
    """Four bytes are others."""
    return data[:at] + bytes(one ^ 0x5A for one in data[at : at + 4]) + data[at + 4 :]


DAMAGE: dict[str, tuple[int, Callable[[bytes], bytes], list[int]]] = {
    "middle": (3, lambda data: beside(data, len(data) // 2), [0, 2]),
    "first mark": (3, lambda data: beside(data, 0), [1, 2]),
    "last mark": (3, lambda data: beside(data, data.rfind(journal.MARK)), [0, 1]),
    "last run": (3, lambda data: beside(data, len(data) - 100), [0, 1]),
    "only run": (1, lambda data: beside(data, len(data) // 2), []),
    "garbage": (1, lambda data: b"garbage\n" * 100, []),
}


@pytest.mark.parametrize("where", DAMAGE)
def test_a_damaged_journal_is_kept_and_named(
    tmp_path: Path, runs: list[Record], hotband: Callable[..., subprocess.CompletedProcess[str]], where: str
) -> None:
    count, damage, left = DAMAGE[where]
    place = made(tmp_path / "s", None)
    path = put_off(place, runs[0], count)
    data = damage(path.read_bytes())
    path.write_bytes(data)
    done = hotband("store", "check", "s")
    assert (done.returncode, f"journal/{path.name}: not all of it" in done.stdout) == (1, True), done.stdout
    done = hotband("store", "compact", "s")
    assert done.returncode == 0, done.stderr
    assert f"{path.name} is damaged: " in done.stderr
    assert f"kept as {path.name}.damaged" in done.stderr
    assert not path.exists()
    assert path.with_name(f"{path.name}.damaged").read_bytes() == data
    assert (seeds(tmp_path / "s") if left else []) == left
    done = hotband("store", "check", "s")
    assert (done.returncode, f"journal/{path.name}.damaged: kept" in done.stdout) == (1, True), done.stdout


@pytest.mark.parametrize("length", [0, 3, 11, 12, 200, -1])
def test_a_journal_whose_end_is_missing_is_not_damaged(tmp_path: Path, runs: list[Record], length: int) -> None:
    place = made(tmp_path / "s", None)
    for count in (1, 2):
        path = put_off(place, runs[0], count)
        data = path.read_bytes()
        begin = data.rfind(journal.MARK)
        path.write_bytes(data[:length] if length < 0 else data[: begin + length])
        assert check(place).damaged == []
        said: list[str] = []
        assert writer.recover(place, said.append) == count - 1
        assert (said, [one.name for one in place.journal.iterdir() if "part-" in one.name]) == ([], [])


def test_the_next_writer_says_that_a_journal_is_damaged(
    tmp_path: Path, runs: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    place = made(tmp_path / "s", None)
    path = put_off(place, runs[0], 2)
    path.write_bytes(beside(path.read_bytes(), 100))
    Writer(place).close()
    assert capsys.readouterr().err == (
        f"hotband: warning: {path} is damaged: 1 run of it could be read; kept as {path.name}.damaged\n"
    )


def test_a_full_disk_leaves_the_store_whole_and_the_journal_what_was_added(
    tmp_path: Path, runs: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = made(tmp_path / "s", None)
    store = Writer(place)
    for seed in range(3):
        store.add(entry_of(runs[0], seed))
    inner = os.write

    def full(file: int, data: bytes) -> int:
        if len(data) > 2000:
            return inner(file, bytes(data[:1000]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(journal.os, "write", full)
        with pytest.raises(OSError, match=r"\.journal"):
            store.add(entry_of(runs[0], 3))
    refusing(monkeypatch, store, place)
    store.close()
    assert seeds(tmp_path / "s") == [0, 1, 2]


def refusing(monkeypatch: pytest.MonkeyPatch, store: Writer, place: StoreFolder) -> None:
    """Makes no part while there is no room, and stays as it was."""
    with monkeypatch.context() as patch:

        def no_room(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        patch.setattr(manifest, "write_files", no_room)
        with pytest.raises(OSError, match="No space left"):
            store.flush()
    assert snapshot(place).runs == 0


def test_a_journal_of_a_writer_at_work_is_left_alone(tmp_path: Path, runs: list[Record]) -> None:
    place = made(tmp_path / "s", None)
    store = Writer(place)
    store.add(entry_of(runs[0], 0))
    assert writer.recover(place) == 0
    with writer.writing(place) as other:
        other.add(entry_of(runs[0], 0))
        other.add(entry_of(runs[0], 1))
    assert len(check(place).journals) == 1
    store.close()
    assert seeds(tmp_path / "s") == [0, 1]


def test_damage_is_found_and_told_in_a_line(
    tmp_path: Path, runs: list[Record], hotband: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    place = made(tmp_path / "s", None)
    with writer.writing(place) as store:
        for seed in range(2):
            store.add(entry_of(runs[0], seed))
    (summary,) = tmp_path.glob("s/summary/*/*.parquet")
    (records,) = tmp_path.glob("s/records/*/*.parquet")
    data = summary.read_bytes()
    summary.write_bytes(data[: len(data) // 2])
    records.unlink()
    (summary.parent / "part-x-00000.parquet").write_bytes(data)
    found = check(place)
    assert [line.partition(":")[2] for line in sorted(found.damaged)] == [
        " no such file or directory",
        " has changed since it was written",
    ]
    assert [Path(one).name for one in found.strange] == ["part-x-00000.parquet"]
    done = hotband("store", "check", "s")
    assert (done.returncode, done.stdout.partition(":")[0]) == (1, "2 files of the store are damaged")
    for arguments in (("list", "s"), ("add", "s", "s"), ("show", "s", "a")):
        done = hotband("store", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), (arguments, done.stderr)


def test_a_column_whose_name_is_no_text_is_told_in_a_line(
    tmp_path: Path, runs: list[Record], hotband: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    place = made(tmp_path / "s", None)
    for seed in range(2):
        with writer.writing(place) as store:
            store.add(entry_of(runs[0], seed))
    file = min(tmp_path.glob("s/records/*/*.parquet"))
    file.write_bytes(file.read_bytes().replace(b"\x03run", b"\x03r\xffn"))
    done = hotband("store", "compact", "s")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "UTF-8" in done.stderr.upper(), done.stderr


def test_a_factor_without_a_name_is_left_out(
    tmp_path: Path, runs: list[Record], hotband: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = made(tmp_path / "s", None)
    with writer.writing(place) as store:
        store.add(entry_of(runs[0], 0))
    (file,) = tmp_path.glob("s/factors/*/*.parquet")
    rows = pq.ParquetFile(file).read()
    names = pa.array([None] * len(rows), rows.schema.field("factor").type)
    pq.write_table(rows.set_column(rows.schema.get_field_index("factor"), "factor", names), file)
    done = hotband("store", "query", "select count(*) from runs", "--from", "s", "--json")
    assert done.returncode == 0, done.stderr
