"""Are published tables read as they were printed, and are their faults found?"""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up import TABLE, table

from hotband.base.errors import UserError
from hotband.inference.audit import Finding, findings, load_results
from hotband.inference.audit.facts import of_media
from hotband.inference.audit.published import asked_of

WORDS = "vdbench 8KB 100% sequential, 16 threads, 75% read"


def audited(path: Path, text: str, media: str | None = None) -> list[Finding]:
    """The findings of a table."""
    path.write_text(text, encoding="utf-8")
    return findings(load_results([path]), of_media(media))


def study(name: str, media: str | None = None) -> list[Finding]:
    """The findings of a study's published table."""
    from hotband.questions.study.file import load

    return findings(load_results([load(name).folder / "published.csv"]), of_media(media))


def test_content_hdd_has_milliseconds_for_seconds() -> None:
    found = {one.rule: one for one in study("content-hdd")}
    unit = found["latency-unit"]
    assert unit.severity == "severe"
    assert unit.numbers["printed_unit"] == "s"
    assert unit.numbers["real_unit"] == "ms"
    assert unit.numbers["results"] == 22
    # 984 IOPS x 16.3: sixteen threads cannot keep 16,039 I/Os outstanding.
    assert unit.numbers["most_outstanding_as_printed"] == pytest.approx(16039.2)


def test_content_hdd_has_cells_short_of_concurrency() -> None:
    idle = next(one for one in study("content-hdd") if one.rule == "idle-concurrency")
    # Of the 22 cells that are not withheld four: 3,778 x 2.2, 3,414 x 3.1, 3,761 x 2.3 and 3,986 x 2.4 ms.
    assert idle.table is not None
    assert [row[2] for row in idle.table.rows] == pytest.approx([8.3116, 10.5834, 8.6503, 9.5664])
    assert all("8KB 100% sequential" in name for name in idle.subject)


def test_eight_cells_short_of_concurrency_are_one_finding(tmp_path: Path) -> None:
    """A table of ten cells like the published one, numbers of our own, two of which are full."""
    busy = [9.0, 10.0, 8.5, 12.0, 14.0, 7.0, 11.0, 13.0, 16.0, 15.6]
    cells = [
        (f"array {n}", WORDS, {"IOPS": (f"{own / 3e-3:.0f}", "IOPS", ""), "mean response time": ("3.00", "s", "")})
        for n, own in enumerate(busy)
    ]
    found = {one.rule: one for one in audited(tmp_path / "t.csv", table(*cells))}
    assert set(found) == {"latency-unit", "idle-concurrency"}
    assert found["idle-concurrency"].subject == tuple(f"array {n}: {WORDS}" for n in range(8))
    assert found["idle-concurrency"].title == "8 of 10 results kept fewer I/Os in flight than the 16 declared"


def test_a_cell_within_its_rounding_is_not_short(tmp_path: Path) -> None:
    # 1,500 x 10 ms is 15 of 16; printed to whole milliseconds it may be 15.75, which is 98 %.
    cell = {"IOPS": ("1500", "IOPS", ""), "mean response time": ("10", "ms", "")}
    assert audited(tmp_path / "t.csv", table(("a", WORDS, cell))) == []
    exact = {"IOPS": ("1500", "IOPS", ""), "mean response time": ("10.00", "ms", "")}
    assert [one.rule for one in audited(tmp_path / "t.csv", table(("a", WORDS, exact)))] == ["idle-concurrency"]


def test_the_printed_unit_is_taken_from_the_caveat(tmp_path: Path) -> None:
    cell = {"IOPS": ("1000", "IOPS", ""), "bandwidth": ("7.8", "MiB/s", "printed MB/sec")}
    found = audited(tmp_path / "t.csv", table(("a", WORDS, cell)))
    assert [one.rule for one in found] == ["bandwidth-unit"]
    assert found[0].numbers["printed_unit"] == "MB/sec"
    plain = {"IOPS": ("1000", "IOPS", ""), "bandwidth": ("7.8", "MiB/s", "")}
    assert audited(tmp_path / "t.csv", table(("a", WORDS, plain))) == []


def test_averaged_percentiles_of_a_table_are_named(tmp_path: Path) -> None:
    cell = {"IOPS": ("1000", "IOPS", ""), "avg p99 over clients": ("12", "ms", "")}
    assert [one.rule for one in audited(tmp_path / "t.csv", table(("a", WORDS, cell)))] == ["averaged-percentiles"]


@pytest.mark.parametrize("name", ["exos-15e900", "durawrite"])
def test_tables_of_other_studies_have_no_such_faults(name: str) -> None:
    assert study(name) == []


@pytest.mark.parametrize(
    ("words", "concurrency", "size", "reads", "pattern"),
    [
        ("vdbench 8KB 100% random, 16 threads, 75% read", 16, 8192, 75.0, "random"),
        ("fio 3.12 rbd 4KB randread QD32, 1TB image", 32, 4096, 100.0, "random"),
        ("128k sequential, iodepth=8, 100% write", 8, 131072, 0.0, "sequential"),
        ("4 KB random read, QD16", 16, 4096, 100.0, "random"),
        ("4KB random read/write, QD16", 16, 4096, None, "random"),
        ("an SQL load", None, None, None, None),
    ],
)
def test_the_words_of_a_workload(
    words: str, concurrency: int | None, size: int | None, reads: float | None, pattern: str | None
) -> None:
    asked = asked_of(words)
    assert (asked.concurrency, asked.block_bytes, asked.read_pct, asked.pattern) == (concurrency, size, reads, pattern)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        (TABLE, "has no row of measured figures"),
        (TABLE + "1,t,a,w,IOPS\n", "expected as many values as columns"),
        (TABLE + "1,t,a,w,IOPS,5,IOPS,measured,x,y\n", "expected as many values as columns"),
        (TABLE + "1,t,a,w,IOPS,nan,IOPS,measured,\n", r"line 2, value = 'nan'.*a number of 0 or more"),
        (TABLE + "1,t,a,w,IOPS,5..6,IOPS,measured,\n", "has no row of measured figures"),
    ],
)
def test_a_broken_table_is_one_line(tmp_path: Path, text: str, accepted: str) -> None:
    with pytest.raises(UserError, match=accepted) as error:
        audited(tmp_path / "t.csv", text)
    assert "\n" not in str(error.value)


def test_a_table_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE.encode() + b"1,t,a,\xff,IOPS,5,IOPS,measured,\n")
    with pytest.raises(UserError, match="not UTF-8 at byte 61; expected a table of figures"):
        load_results([path])


@pytest.mark.parametrize("words", ["4KB randread QD16", "4 KB random read, QD16"])
@pytest.mark.parametrize("metric", ["clat p50", "p50", "p50 latency", "median latency"])
def test_a_median_that_no_disk_has_is_found(tmp_path: Path, words: str, metric: str) -> None:
    cell = {"IOPS": ("1701", "IOPS", ""), metric: ("0.7", "ms", "")}
    text = table(("six disks of 7200 rpm", words, cell))
    assert audited(tmp_path / "t.csv", text) == []
    [one] = audited(tmp_path / "t.csv", text, "7200rpm")
    assert (one.rule, one.severity, one.numbers["direction"]) == ("below-half-revolution", "severe", "read")
    assert one.numbers["latency_p50_ms"] == pytest.approx(0.7)
    slow = table(("a", words, {"IOPS": ("170", "IOPS", ""), metric: ("7.0", "ms", "")}))
    assert audited(tmp_path / "t.csv", slow, "7200rpm") == []


def test_a_median_of_a_mix_is_of_no_direction(tmp_path: Path) -> None:
    cell = {"IOPS": ("1701", "IOPS", ""), "p50": ("0.7", "ms", "")}
    assert audited(tmp_path / "t.csv", table(("a", "4KB random, QD16, 70% read", cell)), "7200rpm") == []


def test_the_medians_of_the_ceph_study_that_no_disk_has_are_found() -> None:
    found = [one for one in study("mach2-ceph", "7200rpm") if one.rule == "below-half-revolution"]
    depths = {one.subject[0].partition(" QD")[2].partition(",")[0]: one.numbers["latency_p50_ms"] for one in found}
    # Half of the reads of these runs came from memory; QD2 has a median of 7.4 ms, QD1 of 11.7 ms.
    assert depths == pytest.approx({"4": 0.799, "16": 0.717, "32": 0.758, "128": 0.766, "256": 0.807})
    assert all("randread" in one.subject[0] for one in found)


@pytest.mark.parametrize(
    ("value", "unit", "metric", "named"),
    [
        ('"8,5"', "ms", "mean response time", "line 2, value = '8,5'"),
        ('"1,70"', "IOPS", "IOPS", "line 2, value = '1,70'"),
        ("xx", "IOPS", "IOPS", "line 2, value = 'xx'"),
        ("", "IOPS", "IOPS", "line 2, value"),
        ("-5", "IOPS", "IOPS", "line 2, value = '-5'"),
        ("inf", "IOPS", "IOPS", "line 2, value = 'inf'"),
        ("1e999", "IOPS", "IOPS", "line 2, value = '1e999'"),
        ("8.5", "parsec", "mean response time", "line 2, unit = 'parsec'.*ms"),
        ("8.5", "parsec", "clat p50", "line 2, unit = 'parsec'.*ms"),
        ("8.5", "parsec", "bandwidth", "line 2, unit = 'parsec'.*mib/s"),
        ("8.5", "parsec", "IOPS", "line 2, unit = 'parsec'.*iops"),
        ("8.5", "parsec", "runtime", "line 2, unit = 'parsec'.*h"),
    ],
)
def test_a_value_or_unit_that_is_none_is_named(tmp_path: Path, value: str, unit: str, metric: str, named: str) -> None:
    text = TABLE + f"1,t,a,w,{metric},{value},{unit},measured,\n2,t,b,w,IOPS,5,IOPS,measured,\n"
    with pytest.raises(UserError, match=rf"t\.csv.*{named}") as error:
        audited(tmp_path / "t.csv", text)
    assert "accepted: " in str(error.value)


def test_thousands_and_rough_figures_are_read(tmp_path: Path) -> None:
    cells = [('"1,701.5"', "p"), ("1.7e3", "q"), ("5..6", "r"), ("0.10-0.20", "s"), ("just under 4", "t")]
    rows = [f"1,t,{place},w,IOPS,{value},IOPS,measured,\n" for value, place in cells]
    (tmp_path / "t.csv").write_text(TABLE + "".join(rows))
    found = {one.record["target"]["machine"]: one for one in load_results([tmp_path / "t.csv"])}
    assert {place: one.summary()["iops"] for place, one in found.items()} == {"p": 1701.5, "q": 1700.0}
    assert {place: one.printed["iops"].step for place, one in found.items()} == pytest.approx({"p": 0.1, "q": 100.0})


def test_a_table_of_a_spreadsheet_has_a_byte_order_mark(tmp_path: Path) -> None:
    text = TABLE.replace("id,study,", "") + "a,w,IOPS,5,IOPS,measured,\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8-sig")
    [one] = load_results([tmp_path / "t.csv"])
    assert one.name == "a: w"


def test_the_missing_column_of_a_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 1: the column unit is missing; accepted: a table with config, workload"):
        audited(tmp_path / "t.csv", "config,workload,metric,value\na,w,IOPS,5\n")


def test_what_is_no_result_names_records_and_tables(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"accepted: results of fio,.*hotband's records.*tables.*config, workload"):
        audited(tmp_path / "t.csv", "a,b\n1,2\n")
