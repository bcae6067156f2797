"""Is a trace of every format a workload wherever one can be given, is what is said of it done, and is what is wrong
said in one line?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import hotband as hb
from hotband import _core
from hotband.data.catalog import CATALOG_DIR

DISK = "ent-15k"
CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus" / "traces"
FILES = {
    "validate": 3,
    "ascii": 3,
    "mqsim": 2,
    "msr": 3,
    "spc": 3,
    "whole.gz": 3,
    "whole.zst": 3,
    "alibaba": 2,
    "tencent": 3,
    "systor": 2,
    "fio-v2": 4,
    "fio-v3": 3,
    "io-log-csv": 2,
}
"""I/Os of a file of the corpus."""


def spc(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def refused(hotband: Any, *args: str) -> str:
    done = hotband(*args)
    said = done.stderr.strip().splitlines()
    assert (done.returncode, len(said)) == (2, 1), done.stderr
    return str(said[0])


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_a_workload(name: str) -> None:
    on = "s4500-960" if name == "fio-v2" else DISK
    trace = hb.run(CORPUS / name, on=on, beyond="scale", volume="d0").trace
    assert trace is not None
    # Of the log, the I/O that was not measured in the recording is not counted.
    assert trace["ios"] == FILES[name] - (name == "io-log-csv")


def test_keys_of_a_trace_take_some_of_it(tmp_path: Path) -> None:
    spc(tmp_path / "t.spc", [f"{at % 2},{at * 64},4096,{'RW'[at % 2]},{at}.5" for at in range(40)])
    text = '[trace]\nfile = "t.spc"\nfrom = "10 s"\nfor = "20 s"\nmap = { "0" = "d0" }\ndevice = 0\n'
    (tmp_path / "w.toml").write_text(text, encoding="utf-8")
    record = hb.run(tmp_path / "w.toml", on=DISK)
    assert record.trace is not None
    assert record.trace["ios"] == 10
    assert any("20 of 40 I/Os of the trace are selected" in note for note in record.document["notes"])


def test_addresses_beyond_the_volume_are_refused_wrapped_or_scaled(hotband: Any, tmp_path: Path) -> None:
    path = spc(tmp_path / "t.spc", ["0,0,4096,R,0.0", "0,8000000000,4096,R,1.0", "0,16000000000,4096,R,2.0"])
    said = refused(hotband, "run", str(path), "--on", DISK)
    assert all(part in said for part in ("row 2", "ends beyond volume", 'beyond = "wrap"')), said
    offsets = {}
    for how in ("wrap", "scale"):
        log = tmp_path / f"{how}.csv"
        done = hotband("run", str(path), "--on", DISK, "--set", f"beyond={how}", "--io-log", str(log), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["trace"]["beyond"] == {"how": how, "moved": 2}
        head, *rows = (line.split(",") for line in log.read_text(encoding="utf-8").replace('"', "").splitlines())
        offsets[how] = sorted(int(row[head.index("offset_bytes")]) for row in rows)
    size = next(size for _, size in _core.machine_offer(CATALOG_DIR, DISK, None, [])["volumes"])
    assert offsets["wrap"] == sorted(block * 512 % size for block in (0, 8_000_000_000, 16_000_000_000))
    assert offsets["scale"][1] == pytest.approx(size / 2, rel=1e-6)
    assert offsets["scale"][2] == pytest.approx(size, rel=1e-6)


def test_several_traces_run_at_once_each_on_its_volume(tmp_path: Path) -> None:
    spc(tmp_path / "a.spc", [f"0,{at},512,R,{at}.0" for at in range(5)])
    spc(tmp_path / "b.spc", [f"0,{at},512,W,{at}.0" for at in range(7)])
    text = '[[trace]]\nfile = "a.spc"\nvolume = "one"\n[[trace]]\nfile = "b.spc"\nvolume = "two"\nspeed = 2.0\n'
    machine = (
        f'[drives.d]\nproduct = "{DISK}"\n'
        '[volumes]\none = { on = "d", from = "0 GB", size = "1 GB" }\n'
        'two = { on = "d", from = "1 GB", size = "1 GB" }\n'
    )
    (tmp_path / "w.toml").write_text(text, encoding="utf-8")
    record = hb.run(tmp_path / "w.toml", on=machine)
    first, second = record.document["traces"]
    assert (first["ios"], second["ios"]) == (5, 7)
    assert first["replayed_ns"] == pytest.approx(4e9, rel=0.01)
    assert second["replayed_ns"] == pytest.approx(3e9, rel=0.01)
    assert sorted(stream["name"] for stream in record.document["streams"]) == ["0", "0 of trace[1]"]


def test_devices_that_are_no_volumes_are_told_with_the_way_out(hotband: Any) -> None:
    said = refused(hotband, "run", str(CORPUS / "spc"), "--on", DISK)
    assert all(part in said for part in ("map = {", "--set volume=VOLUME", "expected one of d0")), said


def test_lines_that_are_wrong_are_named_or_left_out(hotband: Any, tmp_path: Path) -> None:
    lines = [f"0,{at},512,R,{at}.0" for at in range(30)]
    path = spc(tmp_path / "t.spc", [*lines[:20], "0,x,512,R,19.5", *lines[20:]])
    said = refused(hotband, "run", str(path), "--on", DISK)
    assert all(part in said for part in ("t.spc", "line 21", "'x'", "SPC: ASU,LBA")), said
    (tmp_path / "w.toml").write_text('[trace]\nfile = "t.spc"\nskip_bad = 1\n', encoding="utf-8")
    record = hb.run(tmp_path / "w.toml", on=DISK)
    assert record.trace is not None
    assert record.trace["ios"] == 30
    assert any("1 wrong lines" in note and "line 21" in note for note in record.document["notes"])


def test_a_file_that_is_cut_off_is_told(hotband: Any, tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"0,{at * 7919 % 100_000},512,R,{at}.0\n" for at in range(50_000)).encode(), mtime=0)
    (tmp_path / "t.spc.gz").write_bytes(whole[: len(whole) // 2])
    said = refused(hotband, "run", str(tmp_path / "t.spc.gz"), "--on", DISK)
    assert "the compressed data ends here, or is damaged" in said
    assert "line " in said


def test_a_trace_is_converted_with_its_losses(hotband: Any, tmp_path: Path) -> None:
    out = tmp_path / "t.parquet"
    done = hotband("trace", "convert", str(CORPUS / "blkparse"), str(out), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["ios"], told["written"], told["lost"], told["output_format"]) == (4, 4, {}, "io-log")
    again = hb.convert_trace(out, tmp_path / "t.blkparse.zst")
    assert (again.source_format, again.ios, dict(again.lost)) == ("io-log", 4, {})
    lost = hb.convert_trace(tmp_path / "t.blkparse.zst", tmp_path / "t.iolog").lost
    assert lost["latencies"] == 4
    few = hb.convert_trace(out, tmp_path / "few.txt", to="msr", device="8,0", direction=["read", "write"])
    assert (few.ios, few.written, few.lost["failures"]) == (2, 2, 1)


def test_latencies_that_nobody_recorded_stay_unknown(tmp_path: Path) -> None:
    hb.convert_trace(CORPUS / "whole.gz", tmp_path / "t.parquet")
    trace = hb.run(tmp_path / "t.parquet", on=DISK, volume="d0", beyond="scale").trace
    assert trace is not None
    assert (trace["ios"], trace["recorded_ns"]) == (3, None)


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["out.xyz"], "expected a name that ends in .parquet"),
        (["out", "--to", "mrs"], 'did you mean "msr"'),
        (["out.spc", "--for", "7"], "--for = '7'"),
        (["out.spc", "--columns", "time"], "time=1:us"),
        (["out.spc", "--columns", "when=1"], "expected time, offset"),
        (["out.spc", "--device", "9"], "expected some of its devices 0, 1"),
        (["out.parquet.gz"], "Parquet is already compressed"),
    ],
)
def test_what_cannot_be_converted_is_said(hotband: Any, tmp_path: Path, args: list[str], part: str) -> None:
    said = refused(hotband, "trace", "convert", str(CORPUS / "spc"), str(tmp_path / args[0]), *args[1:])
    assert part in said


def test_real_disks_are_read(real_disks: Path) -> None:
    for path in sorted(real_disks.glob("*.trace")):
        assert _core.trace_format(path) == "disksim-validate"


def test_samples_of_others_are_read(samples: Path) -> None:
    known = {
        "blktrace/btrace_issue_excerpt.blkparse.txt": "blkparse",
        "msr/mds_0_excerpt.csv": "msr",
        "spc/spc_spec_example.spc": "spc",
        "fio/iolog_v3.log": "fio-v3",
        "misc/mqsim_tpcc-small_head2000.trace": "mqsim",
    }
    assert {name: _core.trace_format(samples / name) for name in known} == known


@pytest.mark.parametrize(
    ("heading", "first", "second"),
    [
        (
            "timestamp,pid,command,sector,operation,io_size,latency_ms",
            "2025-11-03 10:15:30.5,1,postgres,2048,READ,8192,0.2",
            "2025-11-03 10:15:30.6,1,postgres,4096,WRITE|SYNC,8192,0.1",
        ),
        ("Time (ms);Op;Offset (bytes);Size (bytes);Latency (us)", "0,5;R;1048576;8192;200", "100,5;W;2097152;8192;100"),
        ("device,op,offset,size,time_ms", "7,R,1048576,8192,100", "7,W,2097152,8192,200"),
        ("end_ms,latency_ms,rw,start_sector,sectors", "100,0.2,R,2048,16", "199.9,0.1,W,4096,16"),
    ],
)
def test_headings_that_leave_no_doubt_are_columns(tmp_path: Path, heading: str, first: str, second: str) -> None:
    path = spc(tmp_path / "a.csv", [heading, first, second])
    properties = hb.show_trace(path).properties
    assert (properties.ios, properties.span_ns) == (2, 100_000_000)
    assert hb.run(path, on=DISK).trace["ios"] == 2


@pytest.mark.parametrize("heading", ["time,op,offset,size", "time_s,op,offset", "time_s,time_ms,op,offset,size"])
def test_headings_in_doubt_are_no_columns(tmp_path: Path, hotband: Any, heading: str) -> None:
    path = spc(tmp_path / "a.csv", [heading, "0.5,R,0,4096,1.5", "1.5,W,0,4096,1.5"])
    assert "set --columns" in refused(hotband, "trace", "show", str(path))
