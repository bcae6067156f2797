"""Is everything that is no result refused in one line, whatever importer it is given to, and recognised by content?"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import fio_documents as fio_build
import pytest
import result_documents as build
from hypothesis import given, settings
from hypothesis import strategies as st

from forms import sized
from hotband.base.errors import UserError
from hotband.data.importers import Imported, files, hdr, load, loaded, tools
from hotband.data.record.files import save_imported
from hotband.data.record.load import load_record

GOOD: dict[str, tuple[str, bytes]] = {
    "fio": ("x.json", fio_build.text(fio_build.job(read=fio_build.reads({1000: 4})))),
    "vdbench": ("flatfile.html", build.flatfile(*build.run_rows()).encode()),
    "diskspd": ("x.xml", build.diskspd().encode()),
    "iometer": ("x.csv", build.iometer(*build.iometer_test(30, 10)).encode()),
    "hdr": ("x.hlog", build.hlog(f"0.0,1.0,0.1,{build.histogram([5])}")),
}
LOG = ("a_lat.1.log", b"1, 100, 0, 4096, 0\n2, 100, 1, 4096, 0\n")
FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
SEEDS = sorted((FUZZ / "corpus" / "results").glob("*"))


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("tool", GOOD)
def test_a_result_is_recognised_and_survives_the_disk(tmp_path: Path, tool: str) -> None:
    path = put(tmp_path, *GOOD[tool])
    imported = load(path)
    assert imported[0].record["target"]["kind"] in (tool, "hdrhistogram")
    saved = save_imported(tmp_path / "out", imported)
    for file, one in zip(saved, imported, strict=True):
        again = load_record(file)
        assert again.record == one.record
        assert (again.series is None) == (one.series is None)
        here = loaded(one).series
        assert here is None or again.series is None or here.equals(again.series.select(here.columns))


@pytest.mark.parametrize("tool", GOOD)
def test_the_files_of_a_folder_are_taken_one_by_one(tmp_path: Path, tool: str) -> None:
    [alone, *_] = load(put(tmp_path, *GOOD[tool]))
    put(tmp_path, "notes.txt", b"hello")
    [one, *_] = load(tmp_path)
    assert one.record == alone.record


@pytest.mark.parametrize(("name", "data"), [*GOOD.values(), LOG, ("t.txt", build.terse().encode())])
def test_a_byte_order_mark_is_read_over(tmp_path: Path, name: str, data: bytes) -> None:
    [plain, *_] = load(put(tmp_path, name, data))
    [one, *_] = load(put(tmp_path, name, b"\xef\xbb\xbf" + data))
    assert one == plain
    # PowerShell 5 writes this with `>`.
    for encoding in ("utf-16", "utf-16-be"):
        mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
        [one, *_] = load(put(tmp_path, name, mark + data.decode().replace("\n", "\r\n").encode(encoding)))
        assert one.record["summary"] == plain.record["summary"]


def test_a_document_of_xml_may_declare_the_encoding_that_it_had(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?>\n' + build.diskspd()
    [one] = load(put(tmp_path, "x.xml", text.encode("utf-16")))
    assert one.record["summary"]["count"] == 4000


def test_a_result_may_follow_hours_of_progress(tmp_path: Path) -> None:
    progress = b"Jobs: 4 (f=4): [r(4)][9.0%][r=80MiB/s,w=0KiB/s][r=20k,w=0 IOPS][eta 00m:30s]\r" * 3000
    [one] = load(put(tmp_path, "x.json", progress + GOOD["fio"][1] + b"\n" + progress))
    [plain] = load(put(tmp_path, *GOOD["fio"]))
    assert one.record["summary"] == plain.record["summary"]


def test_a_log_with_a_mark_names_its_own_file(tmp_path: Path) -> None:
    path = put(tmp_path, "a_lat.1.log", b"\xef\xbb\xbf" + LOG[1] + b"hello\n3, 100, 0, 4096, 0\n")
    with pytest.raises(UserError, match=r"a_lat\.1\.log: line 3") as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_folder_of_several_tools_has_the_records_of_all(tmp_path: Path) -> None:
    for name, data in GOOD.values():
        put(tmp_path, name, data)
    put(tmp_path, "y.xml", GOOD["diskspd"][1])
    found = [one.record["source"]["tool"] for one in load(tmp_path)]
    assert sorted(found) == ["diskspd", "diskspd", "fio", "hdrhistogram", "iometer", "vdbench"]


def test_a_folder_without_results_says_what_is_accepted(tmp_path: Path) -> None:
    put(tmp_path, "notes.txt", b"hello")
    with pytest.raises(UserError, match=r"none of its files.*accepted: .* fio, vdbench, diskspd, iometer, hdr"):
        load(tmp_path)
    out = tmp_path / "records"
    save_imported(out, load(put(tmp_path, *GOOD["diskspd"])))
    for folder in (out, *(path for path in out.iterdir() if path.is_dir())):
        with pytest.raises(UserError, match="contains Hotband records, which need no import; accepted: "):
            load(folder)


def test_an_assumed_unit_is_a_guess_that_names_no_option(tmp_path: Path) -> None:
    path = put(tmp_path, *GOOD["hdr"])
    for [one] in (load(path), hdr.read([path])):
        [guess] = one.record["source"]["guesses"]
        assert guess["reading"].endswith("does not name its unit, and its values are read in ns")
        assert guess["choice"] == "set unit us when it is imported as hdr"
    [one] = hdr.read([path], "us")
    assert "guesses" not in one.record["source"]


@pytest.mark.parametrize("tool", GOOD)
def test_source_has_every_key(tmp_path: Path, tool: str) -> None:
    [one, *_] = load(put(tmp_path, *GOOD[tool]))
    source = one.record["source"]
    assert {"tool", "version", "file", "began", "ended", "asked", "target", "host"} <= set(source)
    assert len(source["asked"]) == 15


@pytest.mark.parametrize("reader", GOOD)
@pytest.mark.parametrize("written", GOOD)
def test_results_of_other_tools_are_refused(tmp_path: Path, reader: str, written: str) -> None:
    if reader != written:
        with pytest.raises(UserError) as caught:
            tools()[reader].read([put(tmp_path, *GOOD[written])])
        assert len(str(caught.value).splitlines()) == 1


BAD = {
    "empty": b"",
    "blank": b"\n \n",
    "not-utf8": b"\xff\xfe\x00\x81" * 50,
    "binary": bytes(range(256)) * 40,
    "text": b"hello\nworld\n",
    "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "one-line": b"1" * 700_000,
    "blank-lines": b"\n" * 700_000,
    "one-name": b"Linux 1" + b"_" * 700_000,
}


@pytest.mark.parametrize("reader", ["auto", *GOOD])
@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_result_is_refused_in_one_line(tmp_path: Path, reader: str, bad: str) -> None:
    path = put(tmp_path, GOOD.get(reader, ("x", b""))[0], BAD[bad])
    with pytest.raises(UserError) as caught:
        load(path) if reader == "auto" else tools()[reader].read([path])
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    assert str(path) in line
    assert len(line) < 600


@pytest.mark.parametrize("reader", GOOD)
def test_a_missing_file_and_an_empty_folder(tmp_path: Path, reader: str) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(UserError):
            tools()[reader].read([path])


def test_a_huge_document_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_DOCUMENT_BYTES", 100)
    monkeypatch.setattr(files, "LARGEST_TABLE_BYTES", 100)
    for tool, (name, data) in GOOD.items():
        with pytest.raises(UserError, match="is larger than"):
            tools()[tool].read([put(tmp_path, name, data)])


HUGE = "1" * 70_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("histogram.html", f"<pre>\nTotal response time histogram.\n12:00:00.000 Starting RD=rd1; x=1\n{HUGE}\n"),
        ("summary.html", f"<pre>\nVdbench summary report\n\n{HUGE}\n"),
        ("flatfile.html", build.flatfile(*build.run_rows()).rstrip() + f"\n{HUGE}\n"),
    ],
)
def test_a_line_too_long_for_vdbench_is_named(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(
        UserError, match=r"line \d+ = '1{40}': a line of more than 65536 characters; accepted: "
    ) as caught:
        load(put(tmp_path, name, text.encode()))
    assert len(str(caught.value).splitlines()) == 1


def attempt(path: Path) -> tuple[list[Imported], str]:
    try:
        return load(path), ""
    except UserError as error:
        return [], str(error)


@settings(max_examples=sized(40, 150))
@given(data=st.data())
def test_cut_and_changed_results_give_records_or_a_refusal(tmp_path: Path, data: st.DataObject) -> None:
    name, good = data.draw(st.sampled_from([*GOOD.values(), LOG]))
    changed = bytearray(good[: data.draw(st.integers(0, len(good)))])
    for _ in range(data.draw(st.integers(0, 4))):
        if changed:
            changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    found, refusal = attempt(put(tmp_path, name, bytes(changed)))
    assert len(refusal.splitlines()) <= 1
    for one in found:
        json.dumps(one.record, allow_nan=False)
        loaded(one)


@pytest.fixture(scope="module")
def one_input(fuzz_target: Callable[[str], Callable[[bytes], None]]) -> Callable[[bytes], None]:
    return fuzz_target("result_readers")


def test_the_corpus_is_there() -> None:
    assert len(SEEDS) >= 15


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_seed(seed: Path, one_input: Callable[[bytes], None]) -> None:
    one_input(seed.read_bytes())


@pytest.mark.parametrize("kind", ["zip", "tar", "gztar", "bztar", "xztar"])
def test_an_archive_is_named(tmp_path: Path, kind: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "flatfile.html").write_text("<pre>\n")
    archive = Path(shutil.make_archive(str(tmp_path / "out"), kind, tmp_path / "out"))
    with pytest.raises(UserError, match=r"is an archive .*: expected its files"):
        load(archive)
