"""Predictions of a corpus: classes from columns alone, families left out, intervals that cover, files of one's own."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.data.corpus.files import as_csv, shipped
from hotband.data.corpus.loads import CLASSES, Load, class_of, load_of
from hotband.data.corpus.sheets import read_sheets, sheet_of, shipped_sheets
from hotband.inference.corpus.bootstrap import compared
from hotband.inference.corpus.conformal import At, Pools, Residual
from hotband.inference.corpus.errors import Judged, counted, errors
from hotband.inference.corpus.observed import observed
from hotband.inference.corpus.residuals import groups_of, shipped_pools, shipped_residuals
from hotband.inference.corpus.shrinkage import fitted
from hotband.inference.corpus.testers import disagreements
from hotband.questions.datasheet import described_text
from hotband.questions.datasheet.expected import expected
from hotband.questions.datasheet.learned import (
    SHIPPED_EVIDENCE,
    SSD_RULES,
    evidence_text,
    shipped_evidence,
    shipped_rules,
)
from hotband.questions.predictions.drives import Makers, evidence_of
from hotband.questions.predictions.setup import Size, settings_of, workload_text

Hotband = Callable[..., CompletedProcess[str]]
READS = At(100.0, 4096, 32, "random")


def test_the_class_and_the_load_of_a_row_do_not_depend_on_its_value() -> None:
    for figure in shipped()[::7]:
        other = dataclasses.replace(figure, value="1", low=1.0, high=1.0)
        assert load_of(other) == load_of(figure)


def test_every_load_has_a_class_of_the_table() -> None:
    loads = [(figure, load_of(figure)) for figure in shipped()]
    classes = {class_of(figure.metric, load) for figure, load in loads if isinstance(load, Load)}
    assert classes == set(CLASSES)


def test_the_note_of_a_row_says_which_side_of_a_mix_its_figure_is_of() -> None:
    figure = dataclasses.replace(shipped()[0], workload="randrw", note="reads achieved, sum of threads")
    assert figure.side == "read"
    assert dataclasses.replace(figure, note="write side; median of 14 windows").side == "write"
    assert dataclasses.replace(figure, note="median of all reads").side == ""


def test_direct_writes_through_a_journal_are_left_out_and_reads_are_not() -> None:
    rows = [figure for figure in shipped() if figure.id.startswith("fs-")]
    usable = [figure for figure in rows if isinstance(load_of(figure), Load)]
    assert rows
    assert all((figure.read_pct or 0.0) == 100.0 for figure in usable)


def test_the_rate_beside_a_probe_follows_from_the_share_of_reads() -> None:
    load = _open_loop(read_pct=33.7, rate=10_000.0)
    workload = tomllib.loads(workload_text(load, Size(960e9, 128)))
    bulk, probe = (stream["load"]["open"]["rate_iops"] for stream in workload["streams"])
    assert probe == 10_000
    assert (0.01 * bulk + 0.5 * probe) / (bulk + probe) == pytest.approx(0.337, abs=1e-3)


def test_only_the_span_is_written_where_the_source_says_that_the_rest_is_unused() -> None:
    load = dataclasses.replace(_open_loop(0.0, None), direction="write", span=400_000_000_000, is_rest_empty=True)
    size = Size(800e9, 128)
    workload = tomllib.loads(workload_text(load, size))
    fill, overwrite = workload["phases"][:2]
    assert (fill["streams"], overwrite["streams"]) == (["fill"], ["load"])
    assert overwrite["ios"] * 4096 == pytest.approx(3 * fill["ios"] * (1 << 20), rel=0.01)
    assert settings_of(load, size, {})["state"] == "fob"
    assert settings_of(dataclasses.replace(load, is_rest_empty=False), size, {})["state"] == "preconditioned"


def _open_loop(read_pct: float, rate: float | None) -> Load:
    return Load("ssd", "mix", read_pct, True, 4096, 4, 32, "steady", "", rate=rate)


def test_a_regression_without_families_of_a_class_stays_at_the_mean_of_all() -> None:
    fit = fitted(10.0, {"sata": 0.3}, [({}, math.log(100.0)), ({}, math.log(100.0)), ({}, math.log(100.0))])
    mean, deviation = fit.at({"sata": 1.0})
    assert math.exp(mean) == pytest.approx(100.0, rel=0.01)
    assert deviation > 0.3


def test_a_regression_learns_a_class_and_one_wild_family_hardly_moves_it() -> None:
    rows = [({"sata": 1.0}, 2.0)] * 8 + [({}, 1.0)] * 8
    assert fitted(10.0, {"sata": 0.5}, rows).at({"sata": 1.0})[0] == pytest.approx(2.0, abs=0.1)
    assert fitted(10.0, {"sata": 0.5}, [*rows, ({}, 9.0)]).at({})[0] == pytest.approx(1.0, abs=0.35)


def test_drives_of_one_family_share_its_weight() -> None:
    rows = [({}, 0.0), *[({}, 1.0)] * 9]
    families = ["a", *["b"] * 9]
    assert fitted(10.0, {}, rows, families).at({})[0] == pytest.approx(0.5, abs=0.02)
    assert fitted(10.0, {}, rows).at({})[0] > 0.85


def test_sizes_of_a_family_have_ratings_and_rates_of_their_own() -> None:
    sizes = {each.stated["capacity"]: each for each in shipped_evidence() if each.family == "wd sn720"}
    assert sizes.keys() == {256e9, 512e9}
    for quantity, line in (("read_rate", "read-iops"), ("read_stream", "read-bandwidth")):
        small, large = (sizes[capacity] for capacity in (256e9, 512e9))
        assert small.stated[line] < large.stated[line]
        if quantity == "read_rate":
            assert small.observed[quantity] < large.observed[quantity]


def test_what_a_host_or_a_controller_limits_is_no_quantity_of_a_drive() -> None:
    figures = [figure for figure in shipped() if figure.family == "intel d3-s4610"]
    limited = [figure for figure in figures if re.search(r"HBA|Smart Array|3 Gb/s", figure.host)]
    assert len(limited) == len(figures) > 0
    assert not observed(limited).keys() & {"read_rate", "write_rate_new"}


@pytest.mark.parametrize(
    ("host", "path", "controller"),
    [
        ("HPE DL380 G8, Smart Array P420i in HBA mode; Linux, fio-3.1 libaio direct=1", "libaio", "raid"),
        ("IBM M1015 (SAS2008 HBA); Linux, fio-3.1 libaio direct=1", "libaio", "hba"),
        ("Windows, one thread of 1 MB blocks", "windows", ""),
        ("Linux, fio 3.28 libaio direct=1", "libaio", ""),
    ],
)
def test_the_host_says_what_lies_between_a_thread_and_the_drive(host: str, path: str, controller: str) -> None:
    load = load_of(dataclasses.replace(shipped()[0], host=host))
    assert isinstance(load, Load)
    assert (load.path, load.controller) == (path, controller)


def load_with(**columns: str) -> Load:
    """Return the load of a random read of a disk with other columns."""
    load = load_of(dataclasses.replace(shipped()[0], **columns))  # type: ignore[arg-type]
    assert isinstance(load, Load)
    return load


@pytest.mark.parametrize(
    ("threads", "depth", "outstanding"),
    [("4", "not stated", 128), ("unknown", "unknown", 32), ("32", "128 in the settings", 128), ("4", "16", 16)],
)
def test_threads_of_unknown_depth_are_as_deep_as_usual(threads: str, depth: str, outstanding: int) -> None:
    assert load_with(threads=threads, depth=depth).depth == outstanding


def test_a_block_of_one_sector_has_its_size() -> None:
    assert load_with(bs="one sector").block == 512


@pytest.mark.parametrize(
    ("span", "where"),
    [
        ("100 MiB at the middle", "middle"),
        ("whole surface, fastest", "outer"),
        ("whole surface, average", "middle"),
        ("sampled; slowest place", "inner"),
    ],
)
def test_the_span_says_where_on_a_disk_it_lies(span: str, where: str) -> None:
    assert load_with(span=span).where == where


def test_a_cable_of_usb_passes_one_command_at_a_time() -> None:
    for interface, settings in (("SATA behind a USB 3 cable", {"queue_tags": "1"}), ("SATA 6 Gb/s", {})):
        assert settings_of(load_with(interface=interface), Size(4e12), {}) == settings


def test_a_write_cache_that_was_off_is_off() -> None:
    load = dataclasses.replace(_open_loop(0.0, None), direction="write", sync="force")
    settings = [
        settings_of(dataclasses.replace(load, cache=cache), Size(480e9, 64), {}).get("wce") for cache in ("off", "on")
    ]
    assert settings == ["off", None]


def test_a_disk_that_was_tested_on_sata_is_that_of_its_line(tmp_path: Path) -> None:
    figure = next(each for each in shipped() if each.family == "wd ultrastar hc590")
    makers = Makers(shipped_sheets(), shipped_rules(), tmp_path)
    files = [
        makers.drive_of(dataclasses.replace(figure, interface=interface)).path.read_text(encoding="utf-8")
        for interface in ("SATA 6 Gb/s", "SAS 12 Gb/s")
    ]
    assert ['[values.wce]\nvalue = "on"' in text for text in files] == [True, False]


@pytest.mark.parametrize(
    ("note", "part"),
    [("150 GB to 600 GB written; state: past the SLC cache", "beyond"), ("average of filling the drive", "fill")],
)
def test_the_note_says_which_part_of_a_fill_a_row_is_of(note: str, part: str) -> None:
    row = next(figure for figure in shipped() if figure.family == "kingston a2000" and "SLC cache" in figure.note)
    load = load_of(dataclasses.replace(row, note=note))
    assert isinstance(load, Load)
    assert load.part == part


def test_random_writes_over_a_filled_drive_are_late_once_its_spare_blocks_are_used() -> None:
    row = next(figure for figure in shipped() if "around 0.10 x capacity written at random" in figure.note)
    late = dataclasses.replace(row, note=row.note.replace("around 0.10", "around 0.50"))
    loads = [load_of(row), load_of(late)]
    assert [load.part for load in loads if isinstance(load, Load)] == ["", "beyond"]


def test_a_slower_port_carries_half_the_commands() -> None:
    load = Load("ssd", "read", 100.0, True, 4096, 1, 32, "unknown", "", port=300e6)
    text = settings_of(load, Size(480e9, 64), {"link_rate": 600e6})["link_rate"]
    assert float(text.removesuffix(" B/s")) / 4096 == pytest.approx(99_000 / 2, rel=0.01)


def test_a_stream_of_stated_duration_is_written_as_long_on_its_scale() -> None:
    load = Load("ssd", "write", 0.0, False, 131_072, 1, 8, "new", "", seconds=45.0)
    phases = tomllib.loads(workload_text(load, Size(480e9, 64)))["phases"]
    assert [phase["name"] for phase in phases] == ["measure"]
    assert phases[0]["until"][1] == f"{45 / 64:.6g} s"


def test_no_load_is_over_before_its_first_commands_are() -> None:
    load = Load("ssd", "write", 0.0, False, 4096, 8, 2048, "unknown", "", part="beyond")
    for phase in tomllib.loads(workload_text(load, Size(2e12, 512)))["phases"]:
        assert int(phase["until"][0].removesuffix(" I/Os")) >= 4 * 2048


def test_a_drive_is_expected_without_its_own_figures() -> None:
    rules = shipped_rules()
    one = next(each for each in rules.families if each.observed.get("read_rate") and each.kind == "nvme")
    others = rules.without(one.family)
    rule = next(rule for rule in SSD_RULES if rule.quantity == "read_rate")
    assert one.family not in {each.family for each in others.families}
    wild = dataclasses.replace(
        rules, families=(*others.families, dataclasses.replace(one, observed={"read_rate": 1.0}))
    )
    assert wild.without(one.family).value(rule, one.kind, one.stated) == others.value(rule, one.kind, one.stated)


def test_the_evidence_that_ships_is_that_of_the_figures_that_ship() -> None:
    assert evidence_text(evidence_of(shipped(), shipped_sheets())) == SHIPPED_EVIDENCE.read_text(encoding="utf-8")
    assert len({each.family for each in shipped_evidence()}) == 133


def test_quantities_come_from_the_loads_that_show_them() -> None:
    figures = [figure for figure in shipped() if figure.family == "samsung 850 evo"]
    values = observed(figures)
    assert values["read_rate"] == pytest.approx(70_947, rel=0.001)
    assert "write_rate_steady" not in values


def test_the_spread_of_single_writes_comes_from_their_percentiles_alone() -> None:
    figures = [figure for figure in shipped() if figure.family == "intel p4510"]
    values = observed(figures)
    assert values["write_tail"] == pytest.approx(48 / 9)
    assert "write_tail" not in observed(figure for figure in figures if figure.metric != "lat_p50")


def test_writes_of_a_drive_are_spread_where_families_show_it_and_admitted_as_all_dies_are_filled() -> None:
    stated = {"capacity": "960 GB", "flash": "TLC", "class": "enterprise", "pcie": "4x4"}
    made = {}
    for name, expect in (("learned", shipped_rules().expected), ("usual", expected)):
        text = described_text("nvme", stated, title=name, source="a test", expect=expect)
        made[name] = {key: value["value"] for key, value in tomllib.loads(text)["values"].items()}
    spread = float(made["learned"]["write_spread"].removesuffix(" %"))
    assert math.log(1.2) / 2.326 < spread / 100 < math.log(5.3) / 2.326
    assert made["usual"]["write_spread"] == "0 %"
    for values in made.values():
        filled = (
            int(values["dies"])
            * _core.quantity("size", values["program_pass"])
            / _core.quantity("rate", values["program_rate"])
        )
        assert _core.quantity("time", values["buffer_release"]) == pytest.approx(max(filled, 2e-3), rel=0.15)


def test_an_interval_covers_nine_families_of_ten() -> None:
    draw = random.Random(5)
    covered = 0
    for _ in range(400):
        drives = [draw.gauss(0.0, 0.4) for _ in range(25)]
        known = [
            Residual(str(family), "", ("g",), drive + draw.gauss(0.0, 0.1), READS, 0)
            for family, drive in enumerate(drives[:-1])
            for _ in range(4)
        ]
        found = Pools(known).width(("g",))
        assert found is not None
        covered += abs(drives[-1] + draw.gauss(0.0, 0.1)) <= math.log(found.factor)
    assert 0.86 <= covered / 400 <= 0.96


def _known(narrow: int, error: float) -> Pools:
    """Return pools of a wide group: `narrow` families of a narrow group, all with this error, and twenty others."""
    few = [Residual(f"few {family}", "", ("narrow", "wide"), error, READS, 0) for family in range(narrow)]
    return Pools([*few, *(Residual(str(family), "", ("others", "wide"), 0.1, READS, 0) for family in range(20))])


def _half(pools: Pools, *groups: str) -> float:
    found = pools.width(groups)
    assert found is not None
    return math.log(found.factor)


def test_an_interval_of_few_families_names_a_wider_group() -> None:
    pools = _known(5, 0.1)
    found = pools.width(("narrow", "wide"))
    assert found is not None
    assert (found.group, found.families) == ("wide", 25)
    assert pools.width(("narrow",)) is None


def test_a_group_with_larger_errors_has_a_wider_interval_the_more_families_show_them() -> None:
    halves = [_half(_known(families, 0.8), "narrow", "wide") for families in (1, 4, 12)]
    assert all(half > 2 * _half(_known(12, 0.1), "narrow", "wide") for half in halves[1:])
    assert _half(_known(12, 0.8), "others", "wide") < 0.5 * halves[-1]


def test_a_group_that_nobody_measured_is_wider_than_all_together() -> None:
    pools = _known(0, 0.0)
    assert _half(pools, "never seen", "wide") == pytest.approx(2.0 * _half(pools, "wide"), rel=0.15)


def test_the_worst_of_ten_families_does_not_set_the_interval_of_its_class_alone() -> None:
    of_class = [
        Residual(f"c{family}", "", ("class", "all"), 3.0 if family == 0 else 0.1, READS, 0) for family in range(10)
    ]
    others = [Residual(f"o{family}", "", ("other class", "all"), 0.1, READS, 0) for family in range(60)]
    assert 0.1 < _half(Pools([*of_class, *others]), "class", "all") < 1.5


def test_a_family_counts_once_and_low_guesses_pay_as_high_ones() -> None:
    judged = [Judged("a", number, "iops", "sequential", math.log(2.0)) for number in range(9)]
    judged.append(Judged("b", 0, "iops", "sequential", -math.log(1.5)))
    row = errors("sequential", judged)
    assert (row.families, row.figures) == (2, 10)
    assert row.median == pytest.approx(0.75)


def test_figures_without_an_interval_are_counted_by_family() -> None:
    judged = [Judged("a", number, "iops", "sequential", 0.1, 2.0 if number else None) for number in range(4)]
    judged += [Judged("b", 0, "iops", "sequential", 0.1, 2.0), Judged("c", 0, "iops", "sequential", None, 2.0)]
    row = errors("sequential", judged)
    assert (row.left_out, row.without_interval) == pytest.approx((1 / 3, (0.25 + 0 + 1) / 3))


def test_rate_bytes_and_mean_of_a_load_count_once() -> None:
    judged = [Judged("a", 0, metric, "sequential", 0.1) for metric in ("lat_mean", "mb_s", "iops", "lat_p50")]
    assert [one.metric for one in counted(judged)] == ["iops", "lat_p50"]


def test_nine_of_ten_figures_that_ship_lie_inside() -> None:
    residuals, pools = shipped_residuals(), shipped_pools()
    families: dict[str, list[bool]] = {}
    for each in residuals[::5]:
        found = pools.width(each.groups, without=each.family)
        if found is None:
            continue
        families.setdefault(each.family, []).append(abs(each.value) <= math.log(found.factor))
    share = sum(sum(inside) / len(inside) for inside in families.values()) / len(families)
    assert 0.86 <= share <= 0.97


def test_testers_of_one_family_differ_by_a_factor_either_way() -> None:
    figure = next(each for each in shipped() if each.family == "intel p4510" and each.metric == "iops")
    assert disagreements([figure, dataclasses.replace(figure, low=figure.low / 2, high=figure.high / 2)]) == {}
    other = dataclasses.replace(figure, low=figure.low / 2, high=figure.high / 2, source="https://www.b.org/x")
    (found,) = disagreements([figure, other, dataclasses.replace(other, source="https://b.org/y")]).values()
    assert (found.products, found.pairs) == (1, 1)
    assert found.median == pytest.approx(1.0)


def test_a_model_is_better_only_beyond_the_choice_of_families() -> None:
    ours = {str(family): 0.1 + 0.01 * family for family in range(20)}
    assert compared("c", "b", ours, {family: error + 0.3 for family, error in ours.items()}).verdict == "better"
    assert compared("c", "b", {family: error + 0.3 for family, error in ours.items()}, ours).verdict == "worse"
    assert compared("c", "b", ours, dict(zip(ours, reversed(ours.values()), strict=True))).verdict == "alike"


def test_a_sheet_is_that_of_the_model_and_of_the_capacity() -> None:
    lines = [
        "family,model,capacity_gb,key,value,unit,how,source",
        "f,A,500,class,consumer,,read,x",
        "f,A,2000,class,consumer,,read,x",
        "f,B,1000,class,consumer,,read,x",
    ]
    sheets = read_sheets(lines, "sheets.csv")
    chosen = [sheet_of(sheets, "f", "A", "", capacity) for capacity in ("1.92 TB", "480 GB")]
    assert [sheet.capacity_gb for sheet in chosen if sheet] == ["2000", "500"]


SHEET = (("class", "consumer"), ("protocol", "nvme"), ("link", "PCIe 4.0 x4"), ("nand", "TLC"), ("seq_read", "7000"))


def files(folder: Path, sheet: tuple[tuple[str, str], ...] = SHEET) -> tuple[str, str]:
    """Return a file with figures of a made-up drive and one with its sheet."""
    base = next(f for f in shipped() if f.workload == "randread" and f.metric == "iops" and f.depth == "1")
    loads = (("1", "a"), ("32", "b"))
    rows = [
        dataclasses.replace(base, id=name, device_class="ssd-cons-nvme4-tlc-dram", family="contoso", device="Contoso X",
                            model="X", capacity="1 TB", interface="PCIe 4.0 x4", depth=depth, low=1e5, high=1e5)
        for depth, name in loads
    ]  # fmt: skip
    figures, sheets = folder / "figures.csv", folder / "sheets.csv"
    figures.write_text(as_csv([*rows, dataclasses.replace(rows[0], id="c", family="nobody")]), encoding="utf-8")
    with sheets.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("family", "model", "capacity_gb", "key", "value", "unit", "how", "source"))
        writer.writerows(("contoso", "X", "1000", key, value, "", "read", "its sheet") for key, value in sheet)
    return str(figures), str(sheets)


def test_figures_of_ones_own_are_predicted_from_their_sheet(hotband: Hotband, tmp_path: Path) -> None:
    figures, sheets = files(tmp_path)
    out = str(tmp_path / "runs")
    answer = json.loads(hotband("corpus", "predict", figures, "--sheets", sheets, "--out", out, "--json").stdout)
    by_id = {row["id"]: row for row in answer["figures"]}
    single, deep = by_id["a"], by_id["b"]
    assert 5_000 < single["predicted"] < 40_000 < deep["predicted"]
    assert single["low"] < single["predicted"] < single["high"]
    # A port of PCIe 4.0 x4 carries 7.5 GB/s.
    assert deep["high"] <= 7.6e9 / 4096
    assert single["figure_class"] == "SSD, reads at depth 1"
    assert single["rests_on"].endswith("families: SSD, reads at depth 1")
    assert by_id["c"]["predicted"] is None
    assert "has no data sheet" in by_id["c"]["reason"]


def test_a_run_that_is_there_is_not_run_again(hotband: Hotband, tmp_path: Path) -> None:
    figures, sheets = files(tmp_path)
    arguments = ("corpus", "predict", figures, "--sheets", sheets, "--out", str(tmp_path / "runs"), "--json")
    first = hotband(*arguments)
    journal = (tmp_path / "runs" / "runs.jsonl").read_bytes()
    assert hotband(*arguments).stdout == first.stdout
    assert (tmp_path / "runs" / "runs.jsonl").read_bytes() == journal


def test_only_a_class_is_needed_of_a_sheet(hotband: Hotband, tmp_path: Path) -> None:
    figures, sheets = files(tmp_path, (("class", "consumer"),))
    answer = json.loads(
        hotband("corpus", "predict", figures, "--sheets", sheets, "--out", str(tmp_path / "runs"), "--json").stdout
    )
    assert answer["figures"][0]["predicted"] is not None


def test_a_file_of_sheets_without_a_column_is_refused(hotband: Hotband, tmp_path: Path) -> None:
    figures, _ = files(tmp_path)
    bad = tmp_path / "bad.csv"
    bad.write_text("family,model\nf,A\n", encoding="utf-8")
    answer = hotband("corpus", "predict", figures, "--sheets", str(bad))
    assert answer.returncode == 2
    assert "capacity_gb" in answer.stderr
    with pytest.raises(UserError):
        read_sheets(["family,model"], "bad.csv")


def test_groups_are_the_narrowest_first() -> None:
    figure = next(f for f in shipped() if f.metric == "lat_p99" and f.workload == "randread")
    load = load_of(figure)
    assert isinstance(load, Load)
    groups = groups_of(class_of("lat_p99", load), load, "lat_p99")
    assert groups[0].endswith("of reads")
    assert groups[-1] == "latencies of reads of any drive"


def test_a_damaged_journal_is_made_again(hotband: Hotband, tmp_path: Path) -> None:
    figures, sheets = files(tmp_path)
    arguments = ("corpus", "predict", figures, "--sheets", sheets, "--out", str(tmp_path / "runs"), "--json")
    first = hotband(*arguments)
    (tmp_path / "runs" / "runs.jsonl").write_text('{"cut', encoding="utf-8")
    assert hotband(*arguments).stdout == first.stdout
