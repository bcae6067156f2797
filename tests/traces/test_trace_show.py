"""Does `trace show` say what is in a trace, in words, as data and as a page, and refuse what is wrong in one line?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hotband as hb
from hotband.data.record.trace import trace_lines
from hotband.inference.traces.properties import CountClass, Properties
from hotband.inference.traces.zipf import zipf_of

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus" / "traces"
FORMATS = [
    "validate",
    "ascii",
    "mqsim",
    "msr",
    "spc",
    "whole.gz",
    "alibaba",
    "tencent",
    "systor",
    "fio-v2",
    "io-log-csv",
]


def spc(path: Path, blocks: list[int], *, every: float = 0.001, writes: int = 3) -> Path:
    """A trace of 4 KiB, one after so many seconds; one in `writes` writes."""
    lines = (
        f"0,{block * 8},4096,{'W' if at % writes == writes - 1 else 'R'},{at * every:.6f}\n"
        for at, block in enumerate(blocks)
    )
    path.write_text("".join(lines), encoding="utf-8")
    return path


def exact_misses(blocks: list[int], cache: int) -> float:
    """Of an LRU cache, block by block."""
    kept: dict[int, None] = {}
    misses = 0
    for block in blocks:
        if block in kept:
            del kept[block]
        else:
            misses += 1
            if len(kept) == cache:
                del kept[next(iter(kept))]
        kept[block] = None
    return misses / len(blocks)


def test_failed_ios_follow_the_answer_of_a_trace_and_of_its_replay(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    head = "submit_ns,direction,offset_bytes,size_bytes,latency_ns,error\n"
    rows = (f"{n}000000,read,{4096 * n},4096,90000,{'EIO' if n % 3 == 0 else ''}\n" for n in range(30))
    log.write_text(head + "".join(rows))
    assert hb.show_trace(log).answer[1] == "! 10 of them failed when they were recorded (33.3 %)."
    lines = [str(line) for line in trace_lines(hb.run(log, on="ent-15k").to_dict())]
    assert any("20 I/Os (10 others failed when they were recorded" in line for line in lines)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_shown(name: str) -> None:
    shown = hb.show_trace(CORPUS / name)
    assert shown.properties.ios == sum(one.ios for one in shown.properties.directions) > 0
    assert shown.answer
    assert shown.properties.is_exact


def test_the_curve_is_that_of_lru(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    blocks = [int(one) for one in np.concatenate((rng.integers(0, 400, 3000), np.arange(2000) % 700))]
    found = hb.show_trace(spc(tmp_path / "t.spc", blocks)).properties
    curve = found.reuse.curve
    for cache in (1, 10, 100, 399, 400, 650, 699, 700, 900):
        # Points of the curve are left out where they differ by less than this.
        assert curve.at(4096 * cache) == pytest.approx(exact_misses(blocks, cache), abs=0.0011)
    assert set(curve.error) == {0.0}
    assert found.footprint.bytes == 4096 * len(set(blocks))


def test_samples_have_the_misses_of_lru(samples: Path, real_disks: Path) -> None:
    traces = [samples / "misc" / "mqsim_tpcc-small_head2000.trace", *sorted(real_disks.glob("*.trace"))]
    for path in traces:
        exact = hb.show_trace(path).properties
        # As many as SHARDS's authors follow; where nothing is said all of these are exact.
        sampled = hb.show_trace(path, sample=8192).properties
        sizes = np.linspace(0, exact.footprint.bytes, 101)[1:]
        errors = [abs(sampled.reuse.curve.at(size) - exact.reuse.curve.at(size)) for size in sizes]
        assert exact.is_exact
        assert float(np.mean(errors)) <= 0.01, path.name


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.9, 1.2])
@pytest.mark.parametrize("rate", [1, 8])
def test_zipfs_exponent_is_found_within_its_error(theta: float, rate: int) -> None:
    rng = np.random.default_rng(3)
    weights = np.arange(1, 40_001) ** -theta
    counts = rng.multinomial(200_000, weights / weights.sum())
    # A sample of the blocks, as their hash chooses it.
    counts = rng.permutation(counts)[::rate]
    values, blocks = np.unique(counts[counts > 0], return_counts=True)
    found = zipf_of([CountClass(int(one), int(one), int(many)) for one, many in zip(values, blocks, strict=True)])
    assert found is not None
    assert abs(found.theta - theta) < 3 * found.error
    assert found.error < 0.1
    assert found.misfit < 0.03


def test_counts_that_are_no_law_have_a_misfit() -> None:
    found = zipf_of([CountClass(1, 1, 1000), CountClass(100, 100, 1000)])
    assert found is not None
    assert found.misfit > 0.1
    assert zipf_of([CountClass(1, 1, 1000)]) is None
    assert zipf_of([CountClass(1, 1, 50), CountClass(2, 2, 49)]) is None


def test_what_is_taken_is_said_as_of_a_replay(tmp_path: Path, hotband: Any) -> None:
    path = spc(tmp_path / "t.spc", list(range(100)), every=1.0)
    done = hotband("trace", "show", str(path), "--direction", "read", "--from", "30 s", "--for", "30 s", "--json")
    data = json.loads(done.stdout)
    assert (data["ios"], data["directions"][0]["direction"], len(data["directions"])) == (20, "read", 1)
    assert data["schema"] == "hotband-trace-properties"
    table = tmp_path / "own.csv"
    table.write_text("5,7,512\n6,x,512\n7,9,512\n", encoding="utf-8")
    shown = hb.show_trace(table, columns={"time": "1 ms", "offset": 2, "size": 3}, skip_bad=1)
    assert shown.properties.ios == 2
    assert any("1 wrong line" in note for note in shown.properties.notes)


def test_far_out_of_order_is_the_same(tmp_path: Path) -> None:
    # MSR's lines may stand anywhere: beyond what is kept to be sorted, they are sorted in a file.
    lines = [f"{128166372003061629 + at * 1000},h,0,Read,{at % 5000 * 4096},4096,500\n" for at in range(270_000)]
    ordered, late = tmp_path / "a.csv", tmp_path / "b.csv"
    ordered.write_text("".join(lines), encoding="utf-8")
    late.write_text("".join([*lines[1:], lines[0]]), encoding="utf-8")
    one, other = (hb.show_trace(path).properties for path in (ordered, late))
    assert one.reuse == other.reuse
    assert one.time == other.time
    assert one.runs.ios == other.runs.ios == 270_000


def test_our_own_log_has_its_latencies(tmp_path: Path) -> None:
    record = hb.run("fio-randread", on="ent-15k", qd=4, duration="2 s", io_log=tmp_path / "log.parquet")
    found = hb.show_trace(tmp_path / "log.parquet").properties
    latency = found.latency_of("read")
    assert latency is not None
    assert latency.mean / 1e9 == pytest.approx(record.read.mean, rel=0.02)
    assert found.depth is not None
    assert found.depth.at_issue.max == 4
    assert found.depth.mean == pytest.approx(4, rel=0.05)


def test_text_fits_and_pages_are_written(tmp_path: Path, hotband: Any) -> None:
    rng = np.random.default_rng(5)
    path = spc(tmp_path / "one.spc", [int(one) for one in (5000 * rng.random(3000) ** 5).astype(int)])
    other = spc(tmp_path / "other.spc", list(range(1000)))
    done = hotband("trace", "show", str(path), "-o", "one.html")
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Next: ")) <= 80
    assert "At scattered places" in done.stdout
    page = (tmp_path / "one.html").read_text(encoding="utf-8")
    for title in ("Summary", "LRU cache", "Popularity", "Burstiness", "Working set over time", "Jumps", "Runs"):
        assert title in page
    both = hotband("trace", "show", str(path), str(other), "-o", str(tmp_path / "both.html"), "--details")
    assert both.stdout.startswith("2 traces have 4,000 I/Os.\n")
    assert "Mostly sequential" in both.stdout
    assert "one.spc" in (tmp_path / "both.html").read_text(encoding="utf-8")
    first, second = hb.show_trace(path), hb.show_trace(other)
    first.write_html(tmp_path / "python.html", beside=[second])
    assert (tmp_path / "python.html").read_bytes() == (tmp_path / "both.html").read_bytes()
    data = json.loads(hotband("trace", "show", str(path), str(other), "--json").stdout)
    assert [one["ios"] for one in data] == [3000, 1000]


def test_nearly_nothing_is_shown_as_well(tmp_path: Path, hotband: Any) -> None:
    one = spc(tmp_path / "one.spc", [7])
    assert hotband("trace", "show", str(one), "-o", str(tmp_path / "one.html")).returncode == 0
    flushes = tmp_path / "f.csv"
    flushes.write_text("time,op\n0,flush\n1,flush\n", encoding="utf-8")
    log = (CORPUS / "io-log-csv").read_text(encoding="utf-8").splitlines()[0]
    flushes.write_text(f"{log}\n1,5,main,flush,0,0,,,true,false,\n", encoding="utf-8")
    shown = hotband("trace", "show", str(one), "--direction", "write")
    assert shown.returncode == 2


def test_the_next_command_replays_a_trace(tmp_path: Path, hotband: Any) -> None:
    spc(tmp_path / "a.spc", [1, 2, 3])
    last = hotband("trace", "show", str(tmp_path / "a.spc")).stdout.splitlines()[-1]
    assert last == f"Next: hotband run {tmp_path}/a.spc --on exos-15e900-512n"
    chosen = hotband("trace", "show", str(tmp_path / "a.spc"), "--direction", "read").stdout.splitlines()[-1]
    assert chosen.endswith("--direction read --details"), "a run has no such option"


@pytest.mark.parametrize(
    ("beginning", "tool"),
    [
        ("Attaching 3 probes...\nsda R 8 4096 12\n", "bpftrace"),
        ("COMM         PID    TYPE DEV      BLOCK        BYTES     LATms\n", "iosnoop"),
        ("STARTs         ENDs           COMM     PID    TYPE DEV      BLOCK        BYTES     LATms\n", "iosnoop"),
        ('\ufeff"Time of Day","Process Name","PID","Operation"\n', "Process Monitor"),
    ],
)
def test_the_output_of_a_tool_that_no_reader_knows_is_named(tmp_path: Path, beginning: str, tool: str) -> None:
    (tmp_path / "a.txt").write_text(beginning, encoding="utf-8")
    with pytest.raises(
        hb.UserError, match=f"is the output of {tool}, which hotband does not read: .*hotband reads them"
    ):
        hb.show_trace(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.spc"], "is not there"),
        (["."], "is a folder"),
        (["rubbish"], "is not a trace of a known format"),
        (["bad.spc"], "line 21"),
        (["good.spc", "--block", "4 kg"], "expected a size from 512 B"),
        (["good.spc", "--block", "1 B"], "expected a size from 512 B"),
        (["good.spc", "--columns", "time"], "--columns"),
        (["good.spc", "--device", "9"], "expected some of its devices"),
        (["good.spc", "--from", "1 parsec"], "from"),
        (["good.spc", "-o", "good.spc"], "--output"),
        (["good.spc", "--format", "spx"], "spc"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, hotband: Any, arguments: list[str], said: str) -> None:
    spc(tmp_path / "good.spc", [1, 2, 3])
    (tmp_path / "bad.spc").write_text("0,8,4096,R,0.1\n" * 20 + "0,8,4096,R\n", encoding="utf-8")
    (tmp_path / "rubbish").write_bytes(bytes(range(256)) * 8)
    paths = [str(tmp_path / one) if "." in one[-4:] and not one.startswith("-") else one for one in arguments]
    paths[0] = str(tmp_path / arguments[0])
    done = hotband("trace", "show", *paths)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr
    assert said in done.stderr


def test_properties_are_typed(tmp_path: Path) -> None:
    found = hb.show_trace(spc(tmp_path / "t.spc", [1, 2, 3, 1])).properties
    assert isinstance(found, Properties)
    assert (found.read_share, found.of("flush")) == (3 / 4, None)
    assert found.rate == pytest.approx(4 / 0.003)
    assert found.time.ios == [2, 2]
    frame = hb.show_trace(tmp_path / "t.spc").frame
    assert frame.columns == ["cache_bytes", "miss_ratio", "read_miss_ratio", "error"]
