"""Does `hotband measure entropy` say of real data what Python's own zlib and tarfile say?"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import tarfile
import zlib
from pathlib import Path
from typing import Any

import pytest

CHUNKS = [4096, 8192, 16384, 32768, 65536]
# Where Python was built with another deflate than zlib's own, its sizes are a few percent off.
SIZES_TOLERANCE = 0.06 if "ng" in zlib.ZLIB_RUNTIME_VERSION else 1e-9


def deflated(data: bytes) -> int:
    """Length of a raw deflate stream, level 6."""
    stream = zlib.compressobj(6, zlib.DEFLATED, -15)
    return len(stream.compress(data)) + len(stream.flush())


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of Python's standard library: real text of many sizes, in folders."""
    folder = tmp_path_factory.mktemp("sources") / "lib"
    library = Path(os.__file__).parent
    for name in ("asyncio", "email", "json"):
        shutil.copytree(library / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in sorted(library.glob("[a-d]*.py")):
        shutil.copy(path, folder)
    return folder


def contents(folder: Path) -> list[bytes]:
    """Files in the order of a walk by names."""
    found: list[bytes] = []
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        found += contents(path) if path.is_dir() else [path.read_bytes()]
    return found


@pytest.fixture(scope="module")
def report(sources: Path) -> dict[str, Any]:
    """The report of the whole tree."""
    from hotband.questions.entropy import EntropyQuestion, measure

    measured = measure(EntropyQuestion(paths=(sources,), sample="all"))
    assert measured is not None
    return dict(measured.to_dict())


def test_everything_is_read(sources: Path, report: dict[str, Any]) -> None:
    files = contents(sources)
    total = sum(map(len, files))
    assert (report["files"], report["bytes"], report["bytes_read"]) == (len(files), total, total)
    assert total > 1_000_000
    assert report["schema"] == "hotband-entropy"
    assert report["unreadable"] == 0


def test_the_archive_is_one_deflate_stream(sources: Path, report: dict[str, Any]) -> None:
    data = b"".join(contents(sources))
    assert report["archive"]["deflate"]["entropy"] == pytest.approx(deflated(data) / len(data), rel=0.001)


def test_a_tgz_has_the_same_ratio_but_for_its_headers(sources: Path, report: dict[str, Any]) -> None:
    files, tgz = contents(sources), io.BytesIO()
    with (
        gzip.GzipFile(fileobj=tgz, mode="wb", compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        archive.add(sources, "lib")
    total = sum(map(len, files))
    # A header and the rest of its last block are up to a kilobyte a file, which deflate makes some 60 bytes.
    headers = 100 * len(files) / total
    ratio = len(tgz.getvalue()) / total
    assert report["archive"]["deflate"]["entropy"] == pytest.approx(ratio - headers / 2, abs=headers / 2 + 0.002)


@pytest.mark.parametrize("size", CHUNKS)
def test_chunks_are_as_long_as_zlib_makes_them(sources: Path, report: dict[str, Any], size: int) -> None:
    pieces = [file[at : at + size] for file in contents(sources) for at in range(0, len(file), size)]
    lengths = [min(deflated(piece), len(piece)) for piece in pieces]
    (of,) = (of for of in report["chunks"] if (of["size"], of["compressor"]) == (size, "deflate"))
    assert of["mean"] == pytest.approx(sum(lengths) / sum(map(len, pieces)), rel=SIZES_TOLERANCE)
    assert sum(of["histogram"]) == len(pieces)
    if SIZES_TOLERANCE < 1e-6:
        histogram = [0] * 100
        for length, piece in zip(lengths, pieces, strict=True):
            histogram[min(99, 100 * length // len(piece))] += 1
        assert of["histogram"] == histogram


def test_histograms_add_up(report: dict[str, Any]) -> None:
    assert [(of["size"], of["compressor"]) for of in report["chunks"]] == [
        (size, compressor) for size in CHUNKS for compressor in ("lz4", "zstd", "deflate")
    ]
    for of in report["chunks"]:
        assert len(of["histogram"]) == len(of["histogram_bytes"]) == 100
        assert sum(of["histogram_bytes"]) == report["bytes_read"]
        # The mean lies between the lower and the upper ends of the bins.
        low = sum(share * bin_ for bin_, share in enumerate(of["histogram_bytes"])) / report["bytes_read"] / 100
        assert low <= of["mean"] <= low + 0.01


def test_larger_chunks_and_slower_compressors_leave_less(report: dict[str, Any]) -> None:
    mean = {(of["size"], of["compressor"]): of["mean"] for of in report["chunks"]}
    for size in CHUNKS:
        assert mean[size, "lz4"] > mean[size, "zstd"] > mean[size, "deflate"] > report["archive"]["deflate"]["entropy"]
    for compressor in ("lz4", "zstd", "deflate"):
        means = [mean[size, compressor] for size in CHUNKS]
        assert means == sorted(means, reverse=True)


def test_only_what_is_asked_for_is_measured(hotband, sources: Path) -> None:
    call = ("measure", "entropy", str(sources), "--json", "--sample", "all")
    one = json.loads(hotband(*call, "--compressor", "lz4", "--chunk", "16 KiB").stdout)
    assert [(of["size"], of["compressor"]) for of in one["chunks"]] == [(16384, "lz4")]
    assert one["archive"] == {}
    archive = json.loads(hotband(*call, "--compressor", "deflate", "--chunk", "none").stdout)
    assert archive["chunks"] == []
    assert 0.1 < archive["archive"]["deflate"]["entropy"] < 0.5


def test_the_same_tree_and_seed_give_the_same_report(hotband, tmp_path: Path) -> None:
    data = b"".join(os.urandom(size) + bytes(90_000) for size in range(0, 60_000, 400))
    for number in range(4):
        (tmp_path / "tree" / str(number)).mkdir(parents=True)
        (tmp_path / "tree" / str(number) / "data").write_bytes(data[number:])
    call = (
        "measure",
        "entropy",
        str(tmp_path / "tree"),
        "--json",
        "--sample",
        "1 MB",
        "--chunk",
        "4k",
        "--compressor",
        "lz4",
    )
    first = hotband(*call, "--jobs", "1")
    assert first.returncode == 0, first.stderr
    assert hotband(*call, "--jobs", "5").stdout == first.stdout
    assert json.loads(first.stdout)["sample"]["seed"] == "1"
    other = json.loads(hotband(*call, "--seed", "2").stdout)
    assert other["sample"]["seed"] == "2"
    assert other["chunks"] != json.loads(first.stdout)["chunks"]


def test_the_terminal_shows_the_same(hotband, sources: Path, report: dict[str, Any]) -> None:
    done = hotband("measure", "entropy", str(sources))
    assert done.returncode == 0, done.stderr
    whole = f"{100 * report['archive']['deflate']['entropy']:.1f} %"
    assert done.stdout.splitlines()[0].endswith(f" compress to {whole} of their size (deflate).")
    for of in report["chunks"]:
        head = [f"{of['size'] // 1024}", "KiB", of["compressor"]]
        row = [line for line in done.stdout.splitlines() if line.split()[:3] == head]
        assert len(row) == 1, done.stdout
        assert f" {100 * of['mean']:.1f} % " in row[0]
