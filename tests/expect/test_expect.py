"""Is a result judged: inside, better, worse, by the figure that decides, and is said what could explain it?"""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fio_results import job

import hotband as hb
from forms import sized
from hotband.data.catalog.names import drive_names
from hotband.data.inputs.specify import Named
from hotband.inference.audit.facts import of_machine
from hotband.inference.interval.of_run import Drawn, figures_of
from hotband.questions.expect import nearest, predict
from hotband.questions.expect.judge import Judged, distance, whole_verdict
from hotband.questions.expect.results import Row, read_rows
from hotband.questions.expect.trials import tried

if TYPE_CHECKING:
    from hotband.data.record.finished import Finished
    from hotband.questions.expect.expected import Expected

DISK = "exos-15e900-512n"
SSD = "7450-pro-3840"


def undrawn(spec: object, whole: Finished, *_: object) -> Drawn:
    """No draws: what remains of an interval is what the models leave out."""
    return Drawn(figures_of(whole.record))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Predictions of fewer I/Os, without draws: these have their own tests, and the guide's runs make them."""
    monkeypatch.setattr(predict, "draw", undrawn)
    monkeypatch.setattr(predict, "IOS", 4_000)
    monkeypatch.setattr(nearest, "FIRST_IOS", 500)
    monkeypatch.setattr(nearest, "THEN_IOS", 500)


def expected(path: Path, **options: object) -> Expected:
    return hb.expect(path, draws=8, progress=False, **options)


def test_a_result_that_is_far_too_good_is_better_and_says_what_could_explain_it(fio) -> None:
    options = {"rw": "randread", "iodepth": "16"}
    found = expected(fio(job("a", options, reads=1_500_000, mean_ms=0.64), direct="0"), on=DISK)
    assert found.verdict == "better than expected"
    said = " ".join(found.explanations)
    assert "page cache" in said
    (row,) = found.rows
    first = found.figures(row)[0]
    assert first.figure == "iops"
    assert first.low < first.predicted < first.high < first.measured


def test_writes_that_only_a_write_cache_explains_name_it(fio) -> None:
    found = expected(fio(job("a", {"rw": "randwrite", "iodepth": "1"}, writes=40_000, mean_ms=1.5)), on=DISK, wce=False)
    assert found.verdict == "better than expected"
    # What is set is known, and not tried otherwise.
    assert not any("wce" in text for text in found.explanations)


def limited(fio, reads: int, **more: float) -> str:
    """What explains a result of 60 s at depth 256 on an SSD of 1,000,000 reads a second."""
    options = {"rw": "randread", "iodepth": "256", "filename": "/dev/nvme0n1"}
    found = expected(fio({**job("a", options, reads=reads, mean_ms=256 * 60e3 / reads), **more}), on=SSD)
    assert found.verdict.startswith("worse than expected")
    return " ".join(found.explanations)


def test_the_processor_is_named_only_where_the_result_shows_it(fio) -> None:
    # A cloud volume held to 3,000 IOPS: its job used 15 % of a processor, though a core would not do what is predicted.
    assert "processor" not in limited(fio, 180_000, usr_cpu=5.0, sys_cpu=10.0)
    assert "processor" not in limited(fio, 180_000), "3,000 IOPS are no work for a core"
    assert "its only job used 98 % of a processor" in limited(fio, 6_000_000, usr_cpu=20.0, sys_cpu=78.0)
    assert "processor may have been the limit" in limited(fio, 15_600_000)
    assert "processor" not in limited(fio, 15_600_000, usr_cpu=30.0, sys_cpu=30.0)


def even(fio, iops: float, depth: int, **more: str) -> Path:
    """A result of 60 s whose latencies are all depth / rate, within 1 %."""
    options = {"rw": "randread", "iodepth": str(depth), "filename": "/dev/nvme0n1", **more}
    mean_ms = depth / iops * 1e3
    entry = job("a", options, reads=round(iops * 60), mean_ms=mean_ms)
    for figure in ("io_bytes", "io_kbytes"):
        entry["read"][figure] *= 256 if more.get("bs") == "1m" else 1
    entry["read"]["clat_ns"]["percentile"] = {"50.000000": round(mean_ms * 1e6), "99.000000": round(mean_ms * 1.01e6)}
    entry["read"]["clat_ns"]["max"] = round(mean_ms * 1.05e6)
    return fio(entry)


def test_a_rate_limit_is_named_where_all_latencies_are_depth_over_rate(fio) -> None:
    said = " ".join(expected(even(fio, 3000, 64), on=SSD).explanations)
    assert "a rate limit of 3,000 IOPS" in said
    assert "every latency is 64 / 3,000 = 21.3 ms" in said
    assert "rate limit" not in " ".join(expected(even(fio, 3390, 64), on=SSD).explanations), "no round number"


def test_a_device_without_a_queue_is_named_where_its_model_comes_near(fio) -> None:
    said = " ".join(expected(even(fio, 11_770, 64), on=SSD).explanations)
    assert "no queueing (no NCQ, a controller in IDE mode)" in said
    assert "(queue_tags=1; " in said
    assert "queue_tags" not in " ".join(expected(even(fio, 117_700, 64), on=SSD).explanations), "far from depth 1"
    assert "queue_tags" not in " ".join(expected(even(fio, 22_000, 64), on=SSD).explanations), (
        "more than depth 1 allows"
    )


def test_a_narrower_link_is_named_by_its_lanes(fio) -> None:
    rows = read_rows([even(fio, 1700, 32, rw="read", bs="1m")], None)
    settings = predict.Settings(ios=4000)
    (prediction,) = predict.run(rows, Named(SSD, None), settings, lambda _: nullcontext(), "a link")
    said = " ".join(tried(prediction, "worse", None))
    assert "a link of 1 lane" in said
    assert "it moved 1,783 MB/s" in said
    assert "queue_tags" not in said
    (slow,) = predict.run(
        read_rows([even(fio, 240, 32, rw="read", bs="1m")], None),
        Named(SSD, None),
        settings,
        lambda _: nullcontext(),
        "",
    )
    assert "SATA" not in " ".join(tried(slow, "worse", of_machine(SSD))), "the drive has no SATA port"


def test_what_no_port_can_do_has_no_other_explanation(fio) -> None:
    (said,) = expected(even(fio, 5300, 32, rw="read", bs="1m"), on=DISK).explanations
    assert said.endswith("(faster-than-link)")


def test_json_says_all(fio, hotband) -> None:
    path = fio(job("a", {"rw": "randread", "iodepth": "16"}, reads=24_000))
    document = json.loads(hotband("expect", str(path), "--on", DISK, "--json").stdout)
    assert (document["schema"], document["machine"]) == ("hotband-expect", DISK)
    (row,) = document["rows"]
    assert row["verdict"] == "inside"
    assert {one["figure"] for one in row["figures"]} == {"iops", "latency_mean_ns", "latency_p50_ns", "latency_p99_ns"}
    assert "[[streams]]" in row["workload"]


def test_without_a_machine_drives_are_ranked(fio, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sized([*drive_names()[::3], DISK], drive_names())
    monkeypatch.setattr(nearest, "drive_names", lambda: names)
    path = fio(job("a", {"rw": "randread", "iodepth": "16", "size": "2t"}, reads=6_000, mean_ms=160.0))
    found = expected(path)
    drives = found.ranking.drives
    distances = [one.distance for one in drives]
    assert distances[: nearest.SHORT_LIST] == sorted(distances[: nearest.SHORT_LIST])
    # 100 reads a second are a 7,200 rpm disk's; those of less than 2 TiB are left out.
    assert drives[0].machine not in found.ranking.left_out
    assert DISK in found.ranking.left_out
    assert found.verdict.startswith("nearest is ")


def test_results_of_a_pool_are_not_ranked_among_drives(fio, hotband) -> None:
    pool = fio(job("a", {"rw": "randread", "iodepth": "16", "ioengine": "rbd"}, reads=6_000), name="rbd.json")
    client = [{**job("a", {"rw": "randread", "iodepth": "16"}, reads=6_000), "hostname": host} for host in ("b", "c")]
    document = {**json.loads(pool.read_text()), "client_stats": client}
    clients = pool.with_name("clients.json")
    clients.write_text(json.dumps({key: value for key, value in document.items() if key != "jobs"}))
    for path, why in ((pool, "ioengine=rbd measured a Ceph pool"), (clients, "several clients measured together")):
        done = hotband("expect", str(path))
        assert (done.returncode, why in done.stderr, "--on: missing" in done.stderr) == (2, True, True)


def test_two_jobs_of_one_client_are_no_pool(fio) -> None:
    client = [{**job("a", {"rw": "randread", "iodepth": "16"}, reads=6_000), "hostname": "b"} for _ in range(2)]
    path = fio(client[0])
    path.write_text(json.dumps({"fio version": "fio-3.33", "client_stats": client}))
    record = hb.load(path).document
    assert [stream["name"] for stream in record["streams"]] == ["a@b", "a@b#2"]
    nearest.expect_drives([Row("a", record, str(path))])


def test_a_ranking_states_its_order(fio, hotband) -> None:
    path = fio(job("a", {"rw": "randread", "iodepth": "16", "size": "2t"}, reads=6_000, mean_ms=160.0))
    out = hotband("expect", str(path)).stdout
    assert "Best match first, by that factor." in out
    rows = [line.split() for line in out.split("\ndrive ", 1)[1].splitlines()[1:]]
    factors = [float(row[2]) for row in rows[: rows.index([])]]
    assert factors == sorted(factors)
    assert len(factors) == nearest.SHORT_LIST


def judged(measured: float, figure: str = "iops", low: float = 80.0, high: float = 120.0) -> Judged:
    return Judged(figure, measured, 100.0, low, high)


def test_more_is_better_of_rates_and_worse_of_latencies() -> None:
    assert [judged(value).verdict for value in (79, 80, 120, 121)] == ["worse", "inside", "inside", "better"]
    assert [judged(value, "read.latency_p99_ns").verdict for value in (79, 121)] == ["better", "worse"]
    assert Judged("iops", 1.0, 2.0).verdict is None


def test_inside_an_interval_as_wide_as_a_class_of_drives_nothing_is_decided() -> None:
    """A figure outside it is still better or worse."""
    widths = [judged(100, low=low, high=high).verdict for low, high in ((34, 300), (33, 300), (0, 300))]
    assert widths == ["inside", "undecided", "undecided"]
    assert [judged(value, low=10, high=300).verdict for value in (9, 301)] == ["worse", "better"]
    wide, inside = [judged(100, low=10, high=300)], [judged(100)]
    assert whole_verdict([wide]) == "undecided"
    assert whole_verdict([wide, wide]) == "undecided in all 2 rows"
    assert whole_verdict([wide, inside]) == "of 2 rows 1 is inside, 1 is undecided"
    assert whole_verdict([[*wide, judged(500, "latency_p99_ns")]]) == "worse than expected"
    assert whole_verdict([wide, [*wide, judged(50, "latency_p99_ns")]]) == "of 2 rows 1 is undecided, 1 is better"


@pytest.mark.parametrize("count", [1, 2])
def test_a_figure_outside_decides_in_place_of_one_that_cannot_tell(count: int, fio, hotband) -> None:
    """The sentence names it, and with several rows the table shows it."""
    options = {"rw": "randwrite", "iodepth": "1", "fdatasync": "1"}
    results = [str(fio(job(name, options, writes=30_000, mean_ms=20.0), name=f"{name}.json")) for name in "ab"[:count]]
    shown = " ".join(hotband("expect", *results, "--on", "990-pro-2tb").stdout.split())
    assert "neither" not in shown, shown
    answer = "Worse than predicted for 990-pro-2tb: mean is worse; 0 of" if count == 1 else "of 2 rows 2 are worse"
    assert answer.lower() in shown.lower()
    document = json.loads(hotband("expect", *results, "--on", "990-pro-2tb", "--json").stdout)
    assert [row["verdict"] for row in document["rows"]] == ["worse"] * count
    assert document["verdict"] == ("worse than expected" if count == 1 else "of 2 rows 2 are worse")
    assert ("IOPS" in shown.partition("predicted 90 %")[2]) == (count == 1)


def test_the_answer_of_a_wide_interval_is_that_it_cannot_tell(fio, hotband) -> None:
    """Commits of a consumer SSD are predicted within a factor of five to either side."""
    options = {"rw": "randwrite", "iodepth": "1", "fdatasync": "1"}
    path = fio(job("a", options, writes=30_000, mean_ms=0.02))
    done = hotband("expect", str(path), "--on", "990-pro-2tb")
    assert done.stdout.startswith("Cannot tell for 990-pro-2tb: the 90 % interval of IOPS is "), done.stderr
    assert "neither confirms nor contradicts" in " ".join(done.stdout.split())
    assert "~ too wide" in done.stdout


def test_one_verdict_stands_for_all_rows() -> None:
    inside, better, worse = [judged(100)], [judged(200)], [judged(10)]
    assert whole_verdict([inside]) == "inside the interval"
    assert whole_verdict([worse]) == "worse than expected"
    assert whole_verdict([inside, inside]) == "inside the interval in all 2 rows"
    assert whole_verdict([inside, better, worse]) == "of 3 rows 1 is inside, 1 is better, 1 is worse"
    assert whole_verdict([[]]) == "no figure could be compared"
    assert whole_verdict([[judged(100), judged(500, "latency_p99_ns")]]) == "inside the interval; but p99 worse"


def test_the_distance_is_the_root_of_the_mean_square_of_logarithms() -> None:
    assert distance([judged(200), judged(50)]) == pytest.approx(math.log(2))
    assert distance([]) == math.inf


def test_mistakes_are_one_line(fio, hotband, tmp_path: Path) -> None:
    good = str(fio(job("a", {"rw": "randread", "size": "5t"}, reads=100)))
    cut = tmp_path / "cut.json"
    cut.write_text(Path(good).read_text()[:200])
    terse = tmp_path / "null.json"
    terse.write_text(Path(good).read_text().replace("libaio", "null"))
    hotband("run", "fio-randread", "--on", DISK, "--duration", "1 s", "--out", "own")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.toml").write_text("")
    (tmp_path / "table.csv").write_text("config,workload,metric,value,unit\na,b,IOPS,3,IOPS\n")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "job.fio").write_text("[a]\nrw=read\n")
    for arguments, said in [
        ([good, "--on", DISK], "expected a larger machine"),
        ([good, "--on", "nosuch"], "expected one of"),
        ([str(cut), "--on", DISK], "cut short"),
        ([str(terse), "--on", DISK], "its load cannot be rebuilt: ioengine=null"),
        (["own", "--on", DISK], "is a record of the model"),
        (["study", "--on", DISK], "is a study"),
        (["table.csv", "--on", DISK], "is a table of figures"),
        (["empty.json"], "the file is empty"),
        (["job.fio"], "not a result that Hotband recognises"),
        (["nothing.json"], "cannot be read"),
        ([good, "-w", "nosuch", "--on", DISK], "nosuch"),
        ([good, "--on", DISK, "--set", "span"], "expected KEY=VALUE"),
        ([good, "--on", DISK, "--interval", "100"], "expected a number from 1 to 99"),
        ([good, "--on", DISK, "--draws", "2"], "expected a whole number from 8 to 4096"),
        ([good, "--on", "st14000nm0001", "--set", "span=1 GB"], "volume"),
    ]:
        done = hotband("expect", *arguments)
        assert done.returncode == 2, (arguments, done.stdout, done.stderr)
        assert said in done.stderr, (arguments, done.stderr)
        assert done.stderr.count("\n") == 1, (arguments, done.stderr)
