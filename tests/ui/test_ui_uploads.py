"""Are files that are dropped bounded, kept under names of the page's making, and known for what they are?"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from served_page import Served

from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.faces.ui import uploads

JOB = b"[global]\nioengine=libaio\nfilename=/dev/sdx\n[job]\nrw=randread\nbs=4k\niodepth=8\nruntime=5\ntime_based=1\n"
NAUGHTY = '<img src=x onerror="alert(1)">.fio'


def entry(folder: str, name: str) -> bytes:
    return (CATALOG_DIR / folder / f"{name}.toml").read_bytes()


LETTERS = "aZ7_+-. /\\:~\0\n\x7f'\"<$é漢\u202e\U0001f600"
"""Those that mean something to a shell, a file system or a browser: tables of all of Unicode take seconds to make."""


@given(st.text(st.sampled_from(LETTERS), max_size=100))
@example("../../etc/passwd")
@example("..")
@example("a" * 500 + ".toml")
@example("con.fio:stream")
@example("\0.toml")
def test_a_name_is_one_plain_name(given: str) -> None:
    name = uploads.safe_name(given)
    assert re.fullmatch(r"[\w+-][\w.+-]{0,79}", name), name
    assert Path("/store", name).resolve().parent == Path("/store")
    assert len(name.encode()) < 255


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("mine.toml", entry("drives", "ent-10k"), "drive"),
        ("variant.toml", b'variant_of = "ent-10k"\ntitle = "X"\nmodel = "X"\n', "drive"),
        ("load.toml", entry("workloads", "fio-randread"), "workload"),
        ("box.toml", b'[drives.d]\nproduct = "ent-10k"\ncount = 2\n[volumes]\na = { on = "d0" }\n', "machine"),
        ("job.fio", JOB, "workload"),
    ],
)
def test_what_was_dropped_is_known_and_can_be_used(served: Served, name: str, data: bytes, kind: str) -> None:
    found = served.drop(name, data)
    assert (found.get("kind"), found["name"]) == (kind, f"dropped/{name}"), found
    assert found["name"] in served.get("/api/dropped")
    form: dict[str, Any] = {"workload": "fio-randread", "on": ["ent-10k"], "duration": "1 s"}
    form |= {"workload": found["name"]} if kind == "workload" else {"on": [found["name"]]}
    done = served.finish("run", form)
    assert done["state"] == "done", done
    assert name in done["command"].split(), "the command reads the file where its user has it"
    assert str(served.store) not in str(done)


def test_a_trace_is_replayed(served: Served, tmp_path: Path) -> None:
    import hotband as hb

    hb.run("fio-randread", on="ent-15k", duration="1 s", io_log=tmp_path / "log.parquet")
    name = served.drop("log.parquet", (tmp_path / "log.parquet").read_bytes())["name"]
    done = served.finish("run", {"workload": name, "on": ["ent-10k"]})
    assert done["state"] == "done", done


def test_a_drive_that_was_dropped_lies_in_a_layout(served: Served) -> None:
    name = served.drop("in-layout.toml", entry("drives", "ent-10k"))["name"]
    done = served.finish("run", {"workload": "fio-randread", "on": [f"raid10:4x{name}:64KiB"], "duration": "1 s"})
    assert done["state"] == "done", done


def test_a_result_becomes_a_record_of_the_store(served: Served, tmp_path: Path) -> None:
    import hotband as hb

    record = hb.run("fio-randread", on="ent-15k", duration="2 s", out=tmp_path)
    found = served.drop("record.json", (tmp_path / "record.json").read_bytes())
    assert found["kind"] == "result", found
    kept = served.get(f"/api/jobs/{found['results'][0]}")
    assert kept["shown"]["cards"][0] == [f"{record.iops:.0f}", "IOPS"]
    assert (
        json.loads((served.store / "jobs" / kept["id"] / "record.json").read_text())["summary"]["iops"] == record.iops
    )


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("bad.toml", b"[load", "not valid TOML"),
        ("bad2.toml", b"x = 1\n", "unknown key"),
        ("drive.toml", b'kind = "disk"\n[values]\n', ""),
        ("bad.fio", b"[job]\nrw=banana\n", "banana"),
        ("x.json", b"{}", "is not a file type Hotband recognises"),
        ("x.bin", bytes(range(256)) * 40, "is not a file type Hotband recognises"),
        ("bad.parquet", b"PAR1nonsense", ""),
        ("empty.toml", b"", "is empty"),
        ("latin.toml", b'title = "\xe9"\n', "not valid TOML"),
        ("record.json", b'{"schema": "hotband-record", "schema_version": 1}', ""),
    ],
)
def test_a_bad_file_is_said_to_be_one_and_not_kept(served: Served, name: str, data: bytes, said: str) -> None:
    before = sorted((served.store / "dropped").iterdir())
    answer = served.drop(name, data)
    assert answer["error"]["field"] == "file", answer
    assert said in answer["error"]["text"]
    assert str(served.store) not in answer["error"]["text"]
    assert sorted((served.store / "dropped").iterdir()) == before


def test_a_name_with_tags_stays_text(served: Served) -> None:
    found = served.drop(NAUGHTY, JOB)
    assert "<" not in found["name"], found


def test_the_same_name_twice_is_two_files(served: Served) -> None:
    names = [served.drop("twice.fio", JOB)["name"] for _ in range(2)]
    assert names == ["dropped/twice.fio", "dropped/twice-2.fio"]


def received(folder: Path, name: str, body: AsyncIterator[bytes]) -> Path:
    """In a thread of its own: the main one has the loop of Playwright."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, uploads.receive(folder, name, body)).result()


async def pieces(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * 1000


def test_a_file_that_is_too_large_is_refused_while_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LARGEST_FILE", 5000)
    read = 0

    async def counted() -> AsyncIterator[bytes]:
        nonlocal read
        async for piece in pieces(1000):
            read += len(piece)
            yield piece

    with pytest.raises(UserError, match="larger than 5,000 bytes"):
        received(tmp_path, "big.toml", counted())
    assert (read, list(tmp_path.iterdir())) == (6000, [])
    assert received(tmp_path, "fits.toml", pieces(5)).stat().st_size == 5000


def test_all_files_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LARGEST_STORE", 3000)
    received(tmp_path, "a", pieces(2))
    with pytest.raises(UserError, match="larger than 1,000"):
        received(tmp_path, "b", pieces(2))
    monkeypatch.setattr(uploads, "MOST_FILES", 1)
    with pytest.raises(UserError, match="one too many"):
        received(tmp_path, "c", pieces(1))
