"""Does a fit find what a workload was, does it say what it keeps, and is what it keeps what a machine does?"""

import json
import re
import shlex
import shutil
import tomllib
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import hotband as hb
from forms import sized
from hotband import _core
from hotband.faces.cli import app
from hotband.inference.traces.fit import made as made_module
from hotband.inference.traces.fit.fit import TraceFit
from hotband.inference.traces.fit.made import made

SERVICE = (400_000.0, 200_000.0)
"""Of reads and writes in ns, where a trace has latencies."""
DOCS = Path(__file__).parents[2] / "docs"
DISKS = Path("/work/shared/traces/real-disks")
SAMPLES = Path("/work/shared/samples")


def trace_of(folder: Path, load: str, streams: str, ios: int, service: tuple[float, float] | None = None) -> Path:
    """A trace of a known workload."""
    text = f"{load}\n{streams}\n[[phases]]\nios = {ios}\nmeasure = true\n"
    out = folder / "known.csv"
    _core.write_trace(made(text, 1 << 40, service, 7, folder), "io-log-csv", out, "csv")
    return out


def stream(keys: str, name: str = "main") -> str:
    return f'[[streams]]\nname = "{name}"\n{keys}\n'


def fitted(trace: Path) -> tuple[TraceFit, dict[str, Any]]:
    fit = hb.fit_trace(trace)
    return fit, tomllib.loads(fit.workload)


def row(fit: TraceFit, name: str) -> Any:
    return next(one for one in fit.rows if one.property == name)


RANDOM = 'size = "8 KiB"\nrandom_pct = 100\nread_pct = 70\nrange = ["1 GiB", "2024 MiB"]\n'


def test_read_share_sizes_exponent_and_rate_come_back(tmp_path: Path) -> None:
    keys = RANDOM + "offsets = { zipf = { exponent = 0.9 } }"
    load = '[load]\nopen = { rate_iops = 2000, arrival = "poisson" }'
    fit, found = fitted(trace_of(tmp_path, load, stream(keys), 40_000))
    (one,) = found["streams"]
    # Standard errors of 40,000 I/Os: 0.25 points of the share, 0.5 % of the rate, 0.01 of the exponent (Properties).
    assert abs(one["read_pct"] - 70) < 1
    assert one["size"] == "8 KiB"
    assert one["random_pct"] > 99.9
    assert abs(one["offsets"]["zipf"]["exponent"] - 0.9) < 0.03
    assert found["load"]["open"]["arrival"] == "poisson"
    assert abs(found["load"]["open"]["rate_iops"] / 2000 - 1) < 0.02
    assert not fit.lost, [(one.property, one.error_text()) for one in fit.rows if not one.kept]


def test_sizes_come_back_by_their_weights(tmp_path: Path) -> None:
    keys = 'sizes = { "4 KiB" = 60, "16 KiB" = 30, "128 KiB" = 10 }\nalign = "4 KiB"\nrandom_pct = 100\nread_pct = 0'
    load = '[load]\nopen = { rate_iops = 500, arrival = "fixed" }'
    _, found = fitted(trace_of(tmp_path, load, stream(keys), 20_000))
    sizes = found["streams"][0]["sizes"]
    assert sizes.keys() == {"4 KiB", "16 KiB", "128 KiB"}
    assert all(abs(sizes[size] - asked) < 1.5 for size, asked in (("4 KiB", 60), ("16 KiB", 30), ("128 KiB", 10)))
    assert found["load"]["open"] == {"rate_iops": pytest.approx(500, rel=1e-4), "arrival": "fixed"}


def test_gaps_of_two_lengths_and_changing_rates_come_back(tmp_path: Path) -> None:
    load = '[load.arrivals]\ngaps = { "100 us" = 90, "20 ms" = 10 }\nevery = "20 s"\nrates = [2, 0.5, 0.5]'
    fit, found = fitted(trace_of(tmp_path, load, stream(RANDOM), 30_000))
    arrivals = found["load"]["arrivals"]
    gaps = {float(text.split()[0]): share for text, share in arrivals["gaps"].items()}
    short, long = (sum(share for gap, share in gaps.items() if low <= gap < low * 100) for low in (1e4, 1e6))
    assert (short, long) == (pytest.approx(90, abs=1), pytest.approx(10, abs=1)), gaps
    rates = arrivals["rates"]
    assert max(rates) / min(rates) > 3
    names = [one.property for one in fit.rows if one.property.startswith(("dispersion", "I/Os a second", "gaps"))]
    assert len(names) >= 5
    assert not set(names) & set(fit.lost), fit.lost


@pytest.mark.parametrize(("threads", "think"), [(1, 3_000_000), (8, 0)])
def test_a_closed_loop_comes_back(tmp_path: Path, threads: int, think: int) -> None:
    load = f'[load]\nclosed = {{ threads = {threads}, depth = 1, think = "{think} ns" }}'
    fit, found = fitted(trace_of(tmp_path, load, stream(RANDOM), 5_000, SERVICE))
    closed = found["load"]["closed"]
    assert closed["threads"] == threads
    assert int(closed.get("think", "0 ns").split()[0]) == think
    assert row(fit, "I/Os a second").kept
    assert row(fit, "in flight at issue").kept


@pytest.mark.parametrize("service", [SERVICE, (400_000.0, 400_000.0)])
def test_a_fixed_rate_is_no_closed_loop_though_each_finds_nothing_in_flight(
    tmp_path: Path, service: tuple[float, float]
) -> None:
    # 10/6 ms, of which the latency leaves a pause that varies as the latency does, or not at all.
    load = '[load]\nopen = { rate_iops = 600, arrival = "fixed" }'
    fit, found = fitted(trace_of(tmp_path, load, stream(RANDOM), 5_000, service))
    assert found["load"] == {"open": {"rate_iops": pytest.approx(600, rel=1e-4), "arrival": "fixed"}}
    spread = row(fit, "gaps, squared spread")
    assert (spread.trace, spread.synthetic, spread.error, spread.kept) == (0.0, 0.0, 0.0, True), "rounding is no spread"


def test_a_fixed_rate_of_one_drive_is_that_rate_on_another(tmp_path: Path) -> None:
    text = '[load]\nopen = { rate_iops = 60, arrival = "fixed" }\n' + stream(
        'read_pct = 0\nrandom_pct = 100\nsize = "4 KiB"'
    )
    (tmp_path / "fixed.toml").write_text(f'{text}[[phases]]\nduration = "10 s"\nmeasure = true\n')
    hb.run(tmp_path / "fixed.toml", on="savvio-10k1", io_log=tmp_path / "fixed.parquet")
    fit = hb.fit_trace(tmp_path / "fixed.parquet", tmp_path / "fit.toml")
    assert "gaps, squared spread" in fit.kept
    assert hb.run(tmp_path / "fit.toml", on="s4500-960", set={"state": "fob"}).iops == pytest.approx(60, rel=0.01)


def flushed(folder: Path, rows: list[tuple[int, str]], drive: str = "s4500-960") -> tuple[dict[str, Any], Any]:
    """The workload fitted to a trace of times in ms with W or F, and the summary of its run."""
    trace, fit = folder / "flushed.csv", folder / "fit.toml"
    lines = [
        f"{ms},{n * 7919 % 4001 * 4096 * (op == 'W')},{4096 * (op == 'W')},{op}\n" for n, (ms, op) in enumerate(rows)
    ]
    trace.write_text("time,offset,size,op\n" + "".join(lines))
    hb.fit_trace(trace, fit, columns={"time": "1 ms", "offset": "2", "size": "3", "op": "4"})
    return tomllib.loads(fit.read_text()), hb.run(fit, on=drive, set={"state": "fob"}, progress=False).summary


@pytest.mark.parametrize("ops", ["WFF", "WF", "WWWFF", "W"])
def test_a_rate_with_flushes_lasts_as_long_as_the_trace(tmp_path: Path, ops: str) -> None:
    rows = [(10 * n + at, op) for n in range(500) for at, op in enumerate(ops)]
    writes = 500 * ops.count("W")
    _, summary = flushed(tmp_path, rows)
    assert summary.write.count == pytest.approx(writes, abs=1)
    # The first write comes one gap after the begin.
    assert summary.write.count / summary.write.iops == pytest.approx(5, rel=0.01)


def test_one_write_among_flushes_has_their_time(tmp_path: Path) -> None:
    table, summary = flushed(tmp_path, [(5 * n, "W" if n == 50 else "F") for n in range(101)])
    assert table["load"] == {"open": {"rate_iops": 2, "arrival": "fixed"}}
    assert (summary.write.count, summary.flush.count) == (1, 1)


def test_areas_directions_and_runs_come_back(tmp_path: Path) -> None:
    data = 'share_pct = 60\nread_pct = 100\nsize = "8 KiB"\nrandom_pct = 100\nrange = ["0 B", "1000 MiB"]'
    log = 'share_pct = 40\nread_pct = 0\nsize = "16 KiB"\nrandom_pct = 5\nrandom_mode = "run"\nfua = true\n'
    log += 'range = ["20 GiB", "21 GiB"]'
    load = '[load]\nin_a_row = 1.5\nopen = { rate_iops = 500, arrival = "poisson" }'
    fit, found = fitted(trace_of(tmp_path, load, stream(data, "data") + stream(log, "log"), 20_000))
    one, other = sorted(found["streams"], key=lambda stream: -stream["read_pct"])
    assert one["random_pct"] == pytest.approx(100, abs=0.2)
    assert other["random_pct"] == pytest.approx(5, abs=0.2)
    assert other["random_mode"] == "run"
    assert other["fua"]
    assert abs(one["share_pct"] - 60) < 3
    assert abs(found["load"]["in_a_row"] - 1.5) < 0.2
    for name in ("continue the last one", "writes that continue", "I/Os of a run, mean", "bytes touched"):
        assert row(fit, name).kept, name


def test_near_jumps_come_back(tmp_path: Path) -> None:
    keys = 'read_pct = 100\nsize = "4 KiB"\nrandom_pct = 80\nrandom_mode = "coin"\nrange = ["0 B", "100 GB"]\n'
    keys += 'offsets = { near = { ios = "40 %", within = "4 MiB" } }'
    load = '[load]\nopen = { rate_iops = 500, arrival = "poisson" }'
    fit, found = fitted(trace_of(tmp_path, load, stream(keys), 20_000))
    near = found["streams"][0]["offsets"]["near"]
    assert near["within"] == "4 MiB"
    assert abs(float(near["ios"].split()[0]) - 40) < 2
    for name in ("jumps within 1 MiB", "jump distance, p25", "jump distance, p50", "continue the last one"):
        assert row(fit, name).kept, name


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    # Each place once, in an order that is none: no workload of ours asks so.
    lines = [f"{n * 1000},{n * 7919 % 4001 * 4096},4096,{n % 2}\n" for n in range(4001)]
    trace = tmp_path / "permuted.csv"
    trace.write_text("time,offset,size,op\n" + "".join(lines))
    fit = hb.fit_trace(trace, columns={"time": "1 us", "offset": "2", "size": "3", "op": "4"})
    assert {"bytes touched", "misses, cache half"} <= set(fit.lost)
    assert len(fit.kept) + len(fit.lost) == len(fit.rows)
    lost = row(fit, "bytes touched")
    assert lost.trace == 4001 * 4096
    assert lost.error == pytest.approx(100 * (lost.synthetic / lost.trace - 1))


def test_both_do_alike_on_a_machine(tmp_path: Path) -> None:
    keys = RANDOM.replace("2024 MiB", "100 GiB")
    load = '[load]\nopen = { rate_iops = 60, arrival = "poisson" }'
    trace = trace_of(tmp_path, load, stream(keys), 6_000)
    fit = hb.fit_trace(trace, on="ent-15k")
    assert fit.replayed is not None
    sides = {(side.direction, side.figure): side for side in fit.replayed.sides}
    assert {direction for direction, _ in sides} == {"all", "read", "write"}
    # Two samples of 6,000 I/Os of one workload: 5 % of the mean is three standard errors where a queue forms.
    mean, tail = sides["all", "mean"].error, sides["all", "p99"].error
    assert mean is not None
    assert tail is not None
    assert abs(mean) < 5
    assert abs(tail) < 15


def test_the_command_prints_table_and_verdict_and_writes_the_workload(tmp_path: Path) -> None:
    load = '[load]\nopen = { rate_iops = 500, arrival = "poisson" }'
    trace, out = trace_of(tmp_path, load, stream(RANDOM), 3_000), tmp_path / "like.toml"
    asked = ["trace", "fit", str(trace), "-o", str(out), "--on", "ent-15k"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    text = done.stdout.replace(str(out), "").replace(str(trace), "")
    assert max(len(line) for line in text.splitlines() if not line.startswith("Next: ")) <= 80
    assert "properties of the trace are preserved by the workload." in text
    assert "Both on ent-15k" in text
    text = CliRunner().invoke(app, [*asked, "--details"]).stdout
    assert "preserved" in text
    assert "Preserved: " in text
    assert "Never preserved: " in text
    assert "Both on ent-15k" in text
    assert "# " in out.read_text()
    assert hb.run(out, on="ent-15k").summary.count == 3_000
    doc = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert doc["kept"] + doc["not_kept"] == len(doc["properties"])
    assert doc["workload"] == out.read_text()
    assert {side["figure"] for side in doc["replayed"]["sides"]} == {"IOPS", "mean", "p50", "p99"}


def test_the_same_trace_gives_the_same_workload(tmp_path: Path) -> None:
    load = '[load]\nopen = { rate_iops = 500, arrival = "poisson" }'
    trace = trace_of(tmp_path, load, stream(RANDOM), 2_000)
    assert hb.fit_trace(trace).to_json() == hb.fit_trace(trace).to_json()


def test_in_python_a_trace_of_several_devices_asks_for_the_argument(tmp_path: Path) -> None:
    """Not for an option."""
    spc = tmp_path / "two.spc"
    spc.write_text("0,20941264,8192,W,0.551706\n1,20939840,8192,W,0.554041\n")
    with pytest.raises(hb.UserError, match="expected one; device chooses it"):
        hb.fit_trace(spc)


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    spc = tmp_path / "two.spc"
    spc.write_text("0,20941264,8192,W,0.551706\n1,20939840,8192,W,0.554041\n")
    other = tmp_path / "none.txt"
    other.write_text("nothing of the kind\n")
    one = ["--device", "0"]
    cases = [
        ([str(spc)], "--device"),
        ([str(other)], "is not a trace of a known format"),
        ([str(tmp_path)], "is a folder"),
        ([str(tmp_path / "missing")], "not there"),
        ([str(spc), *one, "-o", str(spc)], "two.spc"),
        ([str(spc), *one, "--issue", "recorded"], "--on"),
        ([str(spc), *one, "--on", "ent-15k", "--issue", "never"], "after-completion"),
        ([str(spc), *one, "--on", "real:/dev/null"], "hardware"),
        ([str(spc), *one, "--on", "no-such-drive"], "no-such-drive"),
    ]
    for arguments, named in cases:
        done = CliRunner().invoke(app, ["trace", "fit", *arguments])
        assert done.exit_code == 2, (arguments, done.output)
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert named in done.stderr, done.stderr


@pytest.mark.skipif(not DISKS.is_dir(), reason=f"{DISKS} is not there")
@pytest.mark.parametrize("disk", ["atlas_III", "cheetah9LP", "dec_rz26"])
def test_real_disks(disk: str) -> None:
    fit = hb.fit_trace(DISKS / f"{disk}.trace", on=DISKS / f"{disk}.datasheet.toml")
    assert fit.replayed is not None
    assert "closed" in fit.workload
    for name in ("reads", "I/Os a second", "continue the last one", "I/Os of a run, mean", "bytes touched"):
        assert row(fit, name).kept, (name, row(fit, name))
    mean = next(side for side in fit.replayed.sides if (side.direction, side.figure) == ("all", "mean"))
    assert mean.error is not None
    assert abs(mean.error) < 20


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"{SAMPLES} is not there")
def test_samples() -> None:
    files = ["fio/iolog_v3.log", "msr/mds_0_excerpt.csv", "blktrace/btrace_issue_excerpt.blkparse.txt"]
    for file in files:
        assert row(hb.fit_trace(SAMPLES / file), "I/Os").kept, file
    fit = hb.fit_trace(SAMPLES / "misc/mqsim_tpcc-small_head2000.trace", device="0")
    assert row(fit, "reads").kept


@pytest.mark.long
def test_the_commands_of_the_guide_run(tmp_path: Path, hotband: Any) -> None:
    guide = (DOCS / "guides" / "traces.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"## Fit\n.*?```sh\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "docs").mkdir()
    shutil.copytree(DOCS / "examples", tmp_path / "docs" / "examples")
    for line in block.splitlines():
        _, *words = shlex.split(line.replace("60 s", sized("5 s", "10 s")), comments=True)
        done = hotband(*words)
        assert done.returncode == 0, (line, done.stderr)


UNEVEN = """{load}
[[streams]]
name = "s"
read_pct = 100
size = "4 KiB"
random_pct = 100
offsets = {{ near = {{ ios = "30 %", within = "1 MiB" }} }}
[[phases]]
duration = "10 s"
measure = true
"""


def test_the_uneven_load_of_the_guide_runs(tmp_path: Path, hotband: Any) -> None:
    guide = (DOCS / "guides" / "workloads.md").read_text(encoding="utf-8")
    (load,) = re.findall(r"\*\*Uneven arrivals.\*\*.*?```\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "w.toml").write_text(UNEVEN.format(load=load))
    done = hotband("run", "w.toml", "--on", "ent-15k", "--json")
    assert done.returncode == 0, done.stderr
    # 4.04 ms between I/Os, half of the time at 1.5 times the rate: 10 s of 1.5.
    assert json.loads(done.stdout)["summary"]["count"] > 1000


@pytest.mark.parametrize("tool", ["fio", "vdb"])
def test_other_tools_cannot_say_it(tmp_path: Path, hotband: Any, tool: str) -> None:
    loads = {
        "uneven": '[load]\narrivals = { gaps = { "1 ms" = 1 } }',
        "even": "[load]\nin_a_row = 2\nclosed = { threads = 1 }",
    }
    for name, load in loads.items():
        (tmp_path / f"{name}.toml").write_text(UNEVEN.format(load=load))
    done = hotband("workloads", "convert", "uneven.toml", "-o", f"uneven.{tool}")
    assert (done.returncode, "arrivals" in done.stderr) == (2, True), done.stderr
    done = hotband("workloads", "convert", "even.toml", "-o", f"even.{tool}")
    assert done.returncode == 0, done.stderr
    assert "in_a_row" in done.stdout + done.stderr
    assert "no nearby jumps" in done.stdout + done.stderr


def test_the_log_of_a_workload_is_read_in_order_of_issue_and_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ios, log = 50_000, tmp_path / "made.log"
    random = np.random.default_rng(1)
    rows = np.zeros((ios, len(_core.LOG_COLUMNS)), "<u8")
    column = {name: rows[:, at] for at, name in enumerate(_core.LOG_COLUMNS)}
    column["number"][:], column["submit_ns"][:] = np.arange(ios), np.arange(ios) // 2
    column["offset_bytes"][:], column["fua"][:] = np.arange(ios) * 512, np.arange(ios) % 2
    # In order of completion.
    rows[np.argsort(np.arange(ios) + random.integers(0, 100, ios), kind="stable")].tofile(log)
    monkeypatch.setattr(made_module, "AT_ONCE", 1000)
    tracemalloc.start()
    numbers = []
    for block in made_module.rows_of(log, ios, has_latencies=False):
        assert (block[:, 0] * 2 + (block[:, 2] >> 8) == block[:, 3] // 512).all()
        numbers += [int(block[0, 3]) // 512, int(block[-1, 3]) // 512]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert numbers == sorted(numbers)
    # Two keys, and the order that sorts them with its own memory; the log itself has 144 bytes an I/O.
    assert most / ios < 50
