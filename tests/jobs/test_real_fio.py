"""fio itself takes the jobs that we write, and asks by them for what the workload says. Skipped where there is no fio
(`make test` installs it where it can)."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

import hotband as hb
from hotband.data.catalog import CATALOG_DIR
from hotband.data.jobs.job_file import written

FIO = shutil.which("fio")
pytestmark = pytest.mark.skipif(FIO is None, reason="fio is not installed")

FILE_BYTES = 64 << 20
IOS = 4000
# Draws of a share p of n: five standard deviations, beyond which one in two million tests would fail by chance; fio's
# seed is fixed (randrepeat), so that a test that passes once does so again.
DEVIATIONS = 5.0


class Io(NamedTuple):
    op: str
    offset: int
    size: int


def fio(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    assert FIO is not None
    return subprocess.run([FIO, *arguments], capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


def test_fio_takes_what_we_write_of_the_catalog(tmp_path: Path) -> None:
    names = sorted(path.stem for path in (CATALOG_DIR / "workloads").glob("*.toml"))
    files = []
    for name in names:
        text = hb.workload(name)
        if not {"app", "scripts"} & tomllib.loads(text).keys():
            files.append(f"{name}.fio")
            (tmp_path / files[-1]).write_text(written(name, text, "fio")[0])
    assert len(files) >= 20
    done = fio("--parse-only", *files, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_fio_says_what_is_wrong_with_one_of_several_files(tmp_path: Path) -> None:
    """Else the test above could not fail."""
    (tmp_path / "a.fio").write_text("[a]\nsize=1m\n")
    (tmp_path / "b.fio").write_text("[a]\nsize=1m\nbogus=1\n")
    assert fio("--parse-only", "a.fio", "b.fio", "a.fio", cwd=tmp_path).returncode != 0


def asked(folder: Path, stream: str) -> list[Io]:
    """What fio asks for by the job of a stream: its own log of I/Os on a small file. The engine is a synchronous one:
    it is the offsets that are looked at, and page cache and depth do not change them."""
    text = f"[load]\nclosed = {{ threads = 1 }}\n[[streams]]\n{stream}\n[[phases]]\nios = {IOS}\nmeasure = true\n"
    with (folder / "target.dat").open("wb") as file:
        file.truncate(FILE_BYTES)
    job, report = written("a", text, "fio", "target.dat")
    assert report.matters() == []
    job = job.replace("ioengine=libaio\ndirect=1", "ioengine=psync\nwrite_iolog=ios.log\nfallocate=none")
    (folder / "a.fio").write_text(job)
    done = fio("a.fio", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in (folder / "ios.log").read_text().splitlines()[1:]]
    # Version 3 has a time first: time, file, action, offset, length.
    found = [Io(row[-3], int(row[-2]), int(row[-1])) for row in rows if row[-3] in ("read", "write")]
    assert len(found) == IOS
    return found


def assert_share(found: int, of: int, share: float) -> None:
    deviation = (of * share * (1 - share)) ** 0.5
    assert abs(found - of * share) <= DEVIATIONS * deviation, (found, of, share)


def test_shares_sizes_and_where_offsets_go(tmp_path: Path) -> None:
    ios = asked(
        tmp_path,
        'read_pct = 70\nrandom_pct = 100\nsizes = { "4 KiB" = 60, "16 KiB" = 40 }\nalign = "4 KiB"\n'
        'range = ["25 %", "75 %"]',
    )
    assert_share(sum(one.op == "read" for one in ios), IOS, 0.7)
    assert_share(sum(one.size == 4096 for one in ios), IOS, 0.6)
    assert {one.size for one in ios} == {4096, 16384}
    low, high = FILE_BYTES // 4, FILE_BYTES * 3 // 4
    assert all(low <= one.offset and one.offset + one.size <= high and one.offset % 4096 == 0 for one in ios)
    for count in Counter((one.offset - low) * 8 // (high - low) for one in ios).values():
        assert_share(count, IOS, 1 / 8)


def test_a_hot_part(tmp_path: Path) -> None:
    ios = asked(
        tmp_path,
        'read_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\noffsets = { hotspot = { data = "20 %", ios = "80 %" } }',
    )
    assert_share(sum(one.offset < FILE_BYTES * 0.2 for one in ios), IOS, 0.8)


@pytest.mark.parametrize("mode", ["coin", "run"])
def test_a_coin_and_a_run_of_one_number(tmp_path: Path, mode: str) -> None:
    ios = asked(tmp_path, f'read_pct = 100\nrandom_pct = 20\nrandom_mode = "{mode}"\nsize = "4 KiB"')
    ends = [one.offset + one.size for one in ios]
    # A run that reaches the end of the file continues elsewhere: at a random place or at the beginning (fio 3.33).
    begins = [0, *(n for n in range(1, IOS) if ends[n - 1] != FILE_BYTES and ios[n].offset != ends[n - 1])]
    lengths = Counter(b - a for a, b in itertools.pairwise(begins))
    if mode == "run":
        # A run that chance puts at the end of the one before looks like one of twice the length.
        assert {length % 5 for length in lengths} == {0}
        assert lengths[5] >= 0.97 * len(begins)
    else:
        assert_share(len(begins), IOS, 0.2)
        # Gaps of a coin are geometric: one in five is a single I/O.
        assert_share(lengths[1], len(begins), 0.2)


def test_a_stride(tmp_path: Path) -> None:
    ios = asked(tmp_path, 'read_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\noffsets = { stride = "12 KiB" }')
    assert {b.offset - a.offset for a, b in itertools.pairwise(ios)} == {12288}


def test_zipf_is_as_skewed_as_asked(tmp_path: Path) -> None:
    ios = asked(tmp_path, 'read_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\noffsets = { zipf = { exponent = 1.2 } }')
    blocks = FILE_BYTES // 4096
    norm = sum(k**-1.2 for k in range(1, blocks + 1))
    (_, first), *_ = Counter(one.offset for one in ios).most_common(1)
    assert_share(first, IOS, 1 / norm)
