"""Does an answer name what its figures rest on: values assumed of a pool, a client at its limit, a cache that a longer
run fills?"""

from __future__ import annotations

from pathlib import Path

import pytest

import hotband as hb
from command_line import run_hotband
from hotband.data.record.pools import pool_lines
from hotband.data.record.remarks import remarks_of

POOL = """
[drives.d]
product = "exos-x18-18tb"
count = 3
[layouts.pool]
replicated = { members = "d*", hosts = 3, failure_domain = "host", image = "1 TB", osd_set = { cpu_client = "5 ms" } }
"""


def test_a_short_form_of_a_pool_says_what_it_assumes() -> None:
    record = hb.run("fio-randread", on="replicated:26xexos-x18-18tb", duration="0.2 s", warm_up="0.1 s").document
    (line,) = pool_lines(record)
    assert line == ("3 copies on separate osds, 1 host and 256 placement groups by default, image 64 TiB (45.1 % full)")
    groups, image = remarks_of(record)
    assert groups.startswith("29.5 placement groups per daemon (Ceph warns below 30)")
    full = "so the pool is 45.1 % full: a full one has longer seeks and is slower"
    assert image == f"the image is the largest possible, 64 TiB, {full}"


def test_stated_values_of_a_pool_are_not_called_defaults() -> None:
    record = hb.run("fio-randread", on=POOL, duration="0.2 s", warm_up="0.1 s").document
    (line,) = pool_lines(record)
    assert (
        line == "3 hosts, 3 copies on separate hosts and 256 placement groups by default, image 1.00 TB (5.56 % full)"
    )
    assert remarks_of(record) == []


@pytest.mark.parametrize(("qd", "is_limit"), [(1, False), (64, True)])
def test_a_client_that_is_the_limit_is_named(qd: int, is_limit: bool) -> None:
    """A thread of 5 ms for each I/O does 200 per second."""
    record = hb.run("fio-randread", on=POOL, qd=qd, duration="3 s", warm_up="1 s").document
    sentences = [words for words in remarks_of(record) if words.startswith("the client's only thread is ")]
    assert bool(sentences) == is_limit
    assert all("at most 200 I/Os per second at 5 ms each" in words for words in sentences)


def test_the_client_is_named_by_every_answer(tmp_path: Path) -> None:
    machine = tmp_path / "pool.toml"
    machine.write_text(POOL, encoding="utf-8")
    load = ["--on", str(machine), "--set", "warm_up=1 s", "--duration", "2 s"]
    for command in (
        ["run", "fio-randread", *load, "--set", "qd=64"],
        ["sweep", "fio-randread", *load, "--set", "qd=64"],
        ["find", "IOPS at mean < 500 ms", "-w", "fio-randread", *load],
    ):
        shown = " ".join(run_hotband(*command).stdout.split())
        assert "limits the rate, not the drives: at most 200 I/Os per second" in shown, shown
        assert "placement groups by default, image 1.00 TB (5.56 % full)" in shown


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"duration": "1 s", "warm_up": "0.1 s"}, "which never filled ("),
        ({"duration": "5 s", "warm_up": "0.1 s"}, "of the writes came before it was full; sustained writes are slower"),
        ({"duration": "60 s", "warm_up": "20 s"}, ""),
    ],
)
def test_a_shingled_disk_says_whether_its_media_cache_filled(settings: dict[str, str], words: str) -> None:
    """The first 20,000 writes fill its map."""
    record = hb.run("fio-randwrite", on="st8000as0002", qd=8, smr_cache_extents=20_000, **settings).document
    notes = [note for note in remarks_of(record) if "media cache of shingled disks" in note]
    assert [words in note for note in notes] == ([True] if words else [])


def test_reads_of_a_shingled_disk_are_not_remarked() -> None:
    record = hb.run("fio-randread", on="st8000as0002", duration="1 s").document
    assert remarks_of(record) == []


def test_a_new_consumer_drive_says_that_its_cache_never_filled() -> None:
    shown = run_hotband("run", "seqwrite", "--on", "990-pro-1tb", "--set", "state=fob", "--duration", "0.5 s").stdout
    assert "! the writes ended in the pSLC cache, which never filled; sustained writes are" in shown


@pytest.mark.parametrize(
    ("duration", "settings", "ending"),
    [
        ("60 s", {}, "which never filled"),
        ("60 s", {"program_rate": "300 MB/s"}, "which never filled; sustained writes are slower"),
        ("72 s", {}, None),
        ("72 s", {"program_rate": "300 MB/s"}, None),
    ],
)
def test_a_flash_cache_is_judged_by_its_level(duration: str, settings: dict[str, str], ending: str | None) -> None:
    """At 530 MB/s the 42 GB are full after 69 s of the run and 10 s of warm-up. Its direct writes are as fast."""
    load = {"state": "fob", "bs": "128k", "qd": 8, **settings}
    record = hb.run("fio-write", on="870-evo-1tb", duration=duration, **load).document
    notes = [note for note in remarks_of(record) if "pSLC" in note]
    assert notes == ([] if ending is None else [f"the writes ended in the pSLC cache, {ending}"])


@pytest.mark.parametrize(("layout", "said"), [("", "80 % full by default"), (', filled = "10 %"', "10 % full")])
def test_raid_z_says_how_full_it_is(tmp_path: Path, layout: str, said: str) -> None:
    machine = tmp_path / "z.toml"
    drives = '[drives.d]\nproduct = "ent-10k"\ncount = 4\n'
    machine.write_text(f'{drives}[layouts.data]\nraidz1 = {{ members = "d0..d3"{layout} }}\n')
    record = hb.run("seqwrite", on=machine, duration="100 ms").to_dict()
    assert pool_lines(record) == [f"RAID-Z {said}"]
    (pool,) = (part for part in record["parts"] if part["kind"] == "raidz1")
    capacity = 4 * 1_800_360_124_416
    assert pool["at_end"]["allocated_bytes"] / capacity == pytest.approx(float(said.split()[0]) / 100, rel=0.02)
