"""Is a mistake in a study's folder named by file, key, value and what is accepted?"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.execution.experiment.ranges import Range, at_end, edited
from hotband.questions.study.file import load
from hotband.questions.study.runs import machine_of, merged, specs_of

TINY = Path(__file__).parent / "tiny"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


def replace(folder: Path, old: str, new: str) -> UserError:
    file = folder / "study.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        load(str(folder))
    assert caught.value.where == str(file)
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('title = "Two', 'titel = "Two', "title", "is missing"),
        ("seed = 1", 'seed = "1"', "seed", "expected a whole number"),
        ("seed = 1", "seed = 18446744073709551616", "seed", "from 0 to 2^64 - 1"),
        ("seed = 1", "seeds = 1", "seeds", 'did you mean "seed"?'),
        ('label = "15K"', 'lable = "15K"', "configs[0].label", "is missing"),
        ('product = "exos-15e900-512n"', "", "configs[0].product", '"mixed" is built from it'),
        ('machine = "mirror.toml"', "", "configs[0].machine", "names no machine"),
        ('machine = "mirror.toml"', 'machine = "miror.toml"', "loads[0].machine", "no such file"),
        ('machine = "mirror.toml"', 'machine = "../test_measures.toml"', "loads[0].machine", "no such file"),
        ('workload = "mixed.toml"', 'workload = "mixt.toml"', "loads[0].workload", "no such file"),
        ('workload = "mixed.toml"', 'workload = "mixed"', "loads[0].workload", "expected one of backup, boot-storm"),
        ('machine = "mirror.toml"', 'machine = "ent-1k"', "loads[0].machine", 'did you mean "ent-15k"?'),
        ('label = "10K"', 'label = "15K"', "configs[1].label", "is given twice"),
        ('unit = "IOPS"\nat', 'unit = "op/s"\nat', "measures[1].unit", 'expected "IOPS", as tiny-1 is published'),
        ('unit = "IOPS"', 'unit = "MB/s"', "measures[0].unit", 'expected "IOPS", or a count per second'),
        ('unit = "IOPS"', 'unit = "kIOPS"', "measures[0].unit", 'the unit of "iops"'),
        ('unit = "ms"', 'unit = "IOPS"', "measures[3].unit", 'expected "ms", the unit of "latency_mean_ms"'),
        ('unit = "ms"', 'unit = "us"', "measures[3].unit", 'expected "ms"'),
        ('of = "latency_mean_ms"', 'of = "latency_percentile_ms"\npercent = 999', "measures[3].percent", "at most 100"),
        ('as = "gain_pct"', 'as = "gain_pct"\nunit = "x"', "comparisons[1].unit", 'expected "%"'),
        ('as = "gain_pct"', 'as = "gain_pct"\nreading = 5', "comparisons[1].reading", 'has the id "tiny-own"'),
        ('as = "inverse_ratio"', 'as = "ratio"\nreading = 5', "comparisons[0].reading", "published as a number, 1.4"),
        ('"most", "quick", "peak"', '"most", "quik"', "loads[0].measures", 'did you mean "quick"?'),
        ("sweep = [1, 8]", "sweep = [1, 0]", "loads[0].sweep", "above 0"),
        ("sweep = [1, 8]", "sweep = [8, 8]", "loads[0].sweep", "each once"),
        ("sweep = [1, 8]", "sweep = [1, 8]\nset = { qd = 4 }", "loads[0].set.qd", 'the load "mixed" has a sweep'),
        ('label = "15K"', 'label = "15K"\nset = { qd = 4 }', "configs[0].set.qd", 'the load "mixed" has a sweep'),
        ('duration = "2 s"', 'duration = "0 s"', "loads[0].duration", "a time above zero with its unit"),
        ('duration = "2 s"', 'duration = "2"', "loads[0].duration", "a time above zero with its unit"),
        ("weight = 2", "weight = 0", "loads[0].weight", "a number above 0"),
        ('of = "iops"', 'of = "iopss"', "measures[0].of", 'did you mean "iops"?'),
        ('at = "12 ms"', 'at = "12"', "measures[1].at", "a time with its unit"),
        ('at = "12 ms"', "at = 12", "measures[1].at", "expected a text"),
        ('at = "12 ms"', "", "measures[1].at", 'the measure "iops_at_latency" needs it'),
        ('at = "12 ms"', 'at = "12 ms"\nscript = "boot"', "measures[1].script", "accepts at"),
        ('id = "quick"', 'id = "most"', "measures[1].id", "is given twice"),
        ('pick = "last"', 'pick = "best"', "measures[2].pick", "expected one of"),
        ('as = "inverse_ratio"', 'as = "quotient"', "comparisons[0].as", "expected one of ratio"),
        ('over = "ten"', 'over = "tenn"', "comparisons[0].over", 'did you mean "ten"?'),
        ('weight = 2', 'skip = ["ten"]', "comparisons[1].over", "does not run the load"),
        ('swing = { set = "queue_tags",', "swing = {", "assumptions[2].swing", "exactly one of set"),
        ('low = "1", ', "", "assumptions[2].swing.low", "is missing"),
        ('loads = ["read"] }', 'loads = ["reed"] }', "assumptions[2].swing.loads", 'did you mean "read"?'),
        ('label = "15K"', 'label = "15K"\nsequence = ["reed"]', "configs[0].sequence", 'did you mean "read"?'),
        ('label = "15K"', 'label = "15K"\nsequence = ["mixed"]', "configs[0].sequence", "name each depth as a load"),
        ('label = "15K"', 'label = "15K"\nsequence = ["read", "read"]', "configs[0].sequence", "is listed twice"),
        ('swing_loads = ["mixed"]', 'swing_loads = ["mixt"]', "swing_loads", 'did you mean "mixed"?'),
        ('swing_loads = ["mixed"]', 'repeats = { tiny-9 = "tiny-1" }', "repeats.tiny-9", "expected one of tiny-1"),
        ('swing_loads = ["mixed"]', 'repeats = { tiny-2 = "tiny-9" }', "repeats.tiny-2", "expected one of tiny-1"),
        ('swing_loads = ["mixed"]', 'repeats = { tiny-2 = "tiny-2" }', "repeats.tiny-2", "expected one of tiny-1"),
        ("seed = 1", 'seed = 1\nid_format = "tiny-{n}"', "id_format", "the place of one number"),
        ("seed = 1", 'seed = 1\nid_format = "tiny"', "id_format", "the place of one number"),
        ('label = "15K"', 'label = "15K"\nids = { mixed = 1, read = 3 }', "configs[0].ids.read", '3 is one of "mixed"'),
        ('label = "15K"', 'label = "15K"\nfill = { bus = "1" }', "configs[0].fill.bus", "expected {bus} in mirror"),
        ('over = "ten"', 'over = "fifteen"', "comparisons[0].over", "expected another configuration"),
        ('swing_loads = ["mixed"]', 'readings = { tiny-9 = 1 }', "readings.tiny-9", "expected one of tiny-1"),
        ('swing_loads = ["mixed"]', 'readings = { tiny-1 = 1 }', "readings.tiny-1", "published as a number, 400"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(folder: Path, old: str, new: str, key: str, words: str) -> None:
    error = replace(folder, old, new)
    assert error.key == key
    assert words in error.accepted


def test_no_toml_is_a_mistake(folder: Path) -> None:
    assert "not TOML" in replace(folder, "seed = 1", "seed =").accepted


def test_a_published_file_without_its_columns(folder: Path) -> None:
    (folder / "published.csv").write_text("id,value\n")
    with pytest.raises(UserError, match="config, workload, metric"):
        load(str(folder))


def test_a_published_row_has_an_id_of_its_own(folder: Path) -> None:
    file = folder / "published.csv"
    rows = file.read_text().splitlines()
    file.write_text("\n".join([*rows, rows[1]]) + "\n")
    with pytest.raises(UserError, match="row 3: id = 'tiny-1': is given twice"):
        load(str(folder))


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("400,IOPS", "-400,IOPS", "tiny-1: value", "expected a number, 0 or more"),
        ("400,IOPS", "400,MB/s", "tiny-1: unit", 'expected "IOPS", the unit of the measure "quick": convert the value'),
        ("400,IOPS", '"1,400",IOPS', "row 1: value", "expected a plain number, such as 1400, or words"),
        ("400,IOPS", "400 IOPS,IOPS", "row 1: value", "expected the number alone, 400: its unit has a column"),
        ("1.4,x", "-1.4,x", "tiny-2: value", "expected a ratio, 0 or more"),
        ("1.4,x", "40,%", "tiny-2: unit", 'expected "x"'),
        ("1.4,x", "1.4,x,derived,\nown,15K,scan,mean latency,-2,ms", "own: value", "expected a number, 0 or more"),
        ("tiny-2,15K against 10K", "tiny-own,", "tiny-own: unit", 'expected "%"'),
        ("kind,caveat", "kind,value,caveat", "columns", "occurs twice"),
        ("IOPS,measured", "IOPS,mesured", "row 1: kind", "expected one of measured, derived"),
        ("tiny-2", "tiny-3,15K,mixed,IOPS at 12 ms,500,IOPS,measured,\ntiny-2", "tiny-3: metric", "metric of tiny-1"),
    ],
)  # fmt: skip
def test_a_published_figure_that_cannot_be_is_named(folder: Path, old: str, new: str, key: str, words: str) -> None:
    file = folder / "published.csv"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        load(str(folder))
    assert (caught.value.where, caught.value.key) == (str(file), key)
    assert words in caught.value.accepted


@pytest.mark.parametrize(
    ("named", "key", "words"),
    [
        ('label = "gain of the faster drive"', None, ""),
        ('config = "15K"', None, ""),
        ('config = "10K"\nlabel = "mixed on"', None, ""),
        ('label = "gains"', "label", '"mixed on a file\'s machine", "read on a short form"'),
        ('config = "7K"', "config", 'the configs of figures: "15K", "10K"'),
        ('config = "10K"\nlabel = "gains"', "label", 'the labels of figures of "10K": "mixed on a file'),
    ],
)
def test_an_explanation_that_no_figure_has_is_named(folder: Path, named: str, key: str | None, words: str) -> None:
    file = folder / "study.toml"
    file.write_text(f'{file.read_text()}\n[[explanations]]\n{named}\ntext = "Why."\n')
    if key is None:
        assert len(load(str(folder)).explanations) == 1
        return
    with pytest.raises(UserError) as caught:
        load(str(folder))
    assert (caught.value.key, caught.value.where) == (f"explanations[0].{key}", str(file))
    assert words in caught.value.accepted
    conclusions = folder / "conclusions.toml"
    conclusions.write_text("[let]\na = 1\n")
    with pytest.raises(UserError):
        load(str(folder))
    # Figures that conclusions or a program add are not known before the runs.
    conclusions.write_text("[[figures]]\nlabel = 'gains'\n")
    assert len(load(str(folder)).explanations) == 1
    conclusions.unlink()
    (folder / "findings.py").write_text("")
    assert len(load(str(folder)).explanations) == 1


@pytest.mark.parametrize(
    "row",
    [
        "tiny-own,15K against 10K,mixed,IOPS gain,-12,%,derived,",
        "background,15K,mixed,change of the mean latency,-2,ms,measured,",
        "background,15K,room,temperature,-5,C,measured,",
    ],
)
def test_a_figure_may_be_below_zero_where_it_is_a_change(folder: Path, row: str) -> None:
    file = folder / "published.csv"
    file.write_text(file.read_text() + row + "\n")
    assert load(str(folder)).published[-1].value < 0  # type: ignore[operator]


def test_spaces_around_cells_do_not_keep_a_row_from_its_figure(folder: Path) -> None:
    plain = load(str(folder)).published
    file = folder / "published.csv"
    file.write_text(file.read_text().replace(",", " , "))
    assert load(str(folder)).published == plain


def test_a_reading_of_words_is_checked_as_a_figure_is(folder: Path) -> None:
    file = folder / "published.csv"
    file.write_text(file.read_text().replace("400,IOPS", "around 400,IOPS"))
    error = replace(folder, 'swing_loads = ["mixed"]', "readings = { tiny-1 = -400 }")
    assert (error.key, error.value) == ("readings.tiny-1", "-400")


def test_files_of_an_editor_that_marks_utf_8_are_read(folder: Path) -> None:
    plain = load(str(folder))
    for name in ("study.toml", "published.csv"):
        (folder / name).write_bytes("\ufeff".encode() + (folder / name).read_bytes())
    assert load(str(folder)) == plain


def test_the_product_stands_in_the_machine_of_the_load() -> None:
    study = load(str(TINY))
    ten = study.configs[1]
    name, text = machine_of(study, ten, study.load("mixed"))
    assert name == "mirror.toml of exos-10e2400-512n"
    assert text is not None
    assert 'product = "exos-10e2400-512n"' in text
    assert machine_of(study, ten, study.load("read")) == ("raid1:2xexos-10e2400-512n", None)


def test_what_is_said_later_counts() -> None:
    assert merged((("a", "1"), ("b", "1")), (("b", "2"),)) == (("a", "1"), ("b", "2"))


def test_a_change_reaches_the_text_of_the_workload() -> None:
    study = load(str(TINY))
    tags, reads = Range("t", "queue_tags", "1", "9"), Range("r", "streams.0.read_pct", 5, 95, of="workload")
    plain = specs_of(study, (study.configs[0], study.load("mixed")), None, 1)
    specs = [at_end(at_end(spec, tags, "low"), reads, "low", "low.") for spec in plain]
    assert [spec.id for spec in specs] == ["low.fifteen.mixed.qd1", "low.fifteen.mixed.qd8"]
    assert all("read_pct = 5\n" in (spec.workload_text or "") for spec in specs)
    assert specs[1].set == (("qd", "8"), ("queue_tags", "1"))


def test_a_load_edits_the_text_of_its_workload_before_a_change_does(folder: Path) -> None:
    file = folder / "study.toml"
    edit = 'weight = 2\nedit = { "streams.0.read_pct" = 40, "streams.0.size" = "16 KiB" }'
    file.write_text(file.read_text().replace("weight = 2", edit, 1))
    study = load(str(folder))
    plain, _ = specs_of(study, study.pairs()[0], None, 1)
    changed = at_end(plain, Range("r", "streams.0.read_pct", 5, 95, of="workload"), "low")
    assert "read_pct = 40\n" in (plain.workload_text or "")
    assert "read_pct = 5\n" in (changed.workload_text or "")
    assert all('size = "16 KiB"' in (spec.workload_text or "") for spec in (plain, changed))


def test_phases_as_a_whole_are_tables_of_their_own() -> None:
    text = 'title = "t"\n[app]\nkind = "btree"\n[[phases]]\nname = "run"\n'
    phases = [{"name": "warm-up", "duration": "1 s"}, {"name": "run", "measure": True}]
    found = tomllib.loads(edited(text, "w.toml", {"phases": phases}))
    assert found == {"title": "t", "app": {"kind": "btree"}, "phases": phases}


@pytest.mark.parametrize("key", ["streams.1.read_pct", "streams.0.reads", "title.0", "streams.x"])
def test_a_key_that_is_not_in_the_text_is_a_mistake(key: str) -> None:
    with pytest.raises(UserError, match="no such key"):
        edited((TINY / "mixed.toml").read_text(), "mixed.toml", {key: 1})


def test_a_short_form_has_no_keys() -> None:
    with pytest.raises(UserError, match="not a file"):
        edited(None, "raid1:2xd", {"volumes": 1})
