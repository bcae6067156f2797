"""Are quantities, candidates and tables of prices read as they are said, and mistakes refused in one line?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.specify import Named
from hotband.execution.runs.run import refusal
from hotband.inference.reliability.asked import ReliabilityQuestion, subject_of
from hotband.questions.advise import finalists
from hotband.questions.advise.advice import Between, Point
from hotband.questions.advise.asked import AdviseQuestion, duty_of, growth_of, needs_of, tolerated_of
from hotband.questions.advise.candidates import (
    LAYOUTS,
    candidates_of,
    data_drives,
    is_legal,
    legal_counts,
    space_of,
    tolerates,
)
from hotband.questions.advise.finalists import Finalist
from hotband.questions.advise.offered import offered
from hotband.questions.advise.prices import Prices, expect_known, guesses_about, read_prices, unknown_in
from hotband.questions.advise.words import rests_on
from hotband.questions.slo import slo_of

ASKED = ("advise", "fio-randread", "--slo", "p99 < 5 ms", "--capacity", "5 TB", "--protect", "one failure")


def needs(capacity: str = "5 TB", protect: str = "one failure", **others: object):
    return needs_of(
        AdviseQuestion(
            workloads=[Named("fio-randread")], slo="p99 < 5 ms", capacity=capacity, protect=protect, **others
        )
    )


def test_quantities_are_read() -> None:
    said = ("none", "no failure", "one failure", "any two drives", "3 disk failures")
    assert [tolerated_of(one) for one in said] == [0, 0, 1, 2, 3]
    assert growth_of("30 %/year") == pytest.approx(0.3)
    assert duty_of("25 %") == 0.25
    assert [one.text for one in slo_of("p99 < 5 ms and IOPS > 2000", "--slo")] == ["p99 < 5 ms", "IOPS > 2000"]
    grown = needs(grow="30 % per year", years=5.0)
    assert grown.bytes_at_end == pytest.approx(5e12 * 1.3**5)


def test_candidates_are_read_with_commas_between_keys_and_between_values() -> None:
    space = space_of("drives=ent-10k,ent-15k,layouts=RAID-6,raid1+0,counts=8,4,caches=off", 1)
    assert [one.name for one in space.drives] == ["ent-10k", "ent-15k"]
    assert (space.layouts, space.counts, space.caches) == (["raid6", "raid10"], [4, 8], ["off"])
    assert [one.caches([]) for one in space.drives] == [["off", "on"]] * 2
    flash, protected = space_of("drives=pm9a3-3840,exos-x18-18tb", 2).drives
    assert (flash.caches([]), protected.caches([])) == (["own"], ["protected"])


def test_layouts_are_candidates_in_the_words_of_people() -> None:
    """With a space, which separates other candidates."""
    layouts = space_of("layouts=RAID 10 Raid Z2,raid_6,mirror drives=ent-10k", 1).layouts
    assert layouts == ["raid10", "raidz2", "raid6", "raid1"]
    with pytest.raises(UserError, match="layouts = 'mirror': is given twice, also as raid1"):
        space_of("layouts=raid-1,mirror", 1)


def test_layouts_are_searched_that_survive_what_is_asked() -> None:
    assert space_of("drives=ent-10k", 2).layouts == ["raid6", "raid60", "raidz2", "raidz3"]
    assert [tolerates(one, 8) for one in ("raid0", "raid10", "raid50", "raid60", "raid1")] == [0, 1, 1, 2, 7]


@pytest.mark.parametrize(
    "machine", ["raid5:7xent-10k", "raid6:9xmg06sca-10tb", "raid10:6xpm9a3-3840", "raid50:8xent-10k"]
)
def test_what_is_known_without_a_run_is_what_reliability_says(machine: str) -> None:
    layout, _, rest = machine.partition(":")
    count, _, drive = rest.partition("x")
    space = space_of(f"drives={drive},layouts={layout},counts={count},caches=off,own", 1)
    (candidate,) = candidates_of(space, needs("1 TB"), Prices()).candidates
    subject = subject_of(ReliabilityQuestion(on=Named(machine)))
    assert candidate.static.usable_bytes == subject.array.usable_bytes
    assert candidate.static.rebuild == subject.conditions.rebuild
    lost = subject.array.member_bytes - subject.array.usable_bytes / data_drives(layout, int(count))
    assert 0 <= lost < 64 * 1024


def test_without_counts_the_fewest_drives_that_hold_the_grown_data_come_first() -> None:
    space = space_of("drives=mg06sca-10tb,layouts=raid6,raid10", 1)
    listed = candidates_of(space, needs("40 TB", grow="20 %/year", years=1.0), Prices())
    counts = {
        layout: sorted({one.count for one in listed.candidates if one.layout == layout}) for layout in space.layouts
    }
    # 48 TB are five drives of data.
    assert counts == {"raid6": [7, 11, 14, 21], "raid10": [10, 16, 20, 30]}
    assert all(one.static.usable_bytes >= 48e12 for one in listed.candidates)


def test_what_cannot_be_is_left_out_with_its_reason() -> None:
    space = space_of("drives=ent-10k,layouts=raid10,raid6,counts=3,4,12,caches=off", 2)
    listed = candidates_of(space, needs("10 TB", "two failures"), Prices())
    assert [one.machine for one in listed.candidates] == ["raid6:12xent-10k"]
    assert listed.left_out == {
        "of a number of drives that raid10 does not take (4, 6, ...)": 1,
        "of a number of drives that raid6 does not take (4, 5, ...)": 1,
        "that do not survive 2 failures": 2,
        "too small": 1,
    }
    assert not is_legal("raid60", 9)


def test_the_engine_says_which_numbers_of_drives_a_layout_takes() -> None:
    """One with fewer drives than its first is refused, one with as many is built."""
    for layout in LAYOUTS:
        first, step = legal_counts(layout)
        assert step in (1, 2)
        for count in range(1, 10):
            takes = refusal([RunSpec("numbers", f"{layout}:{count}xent-10k", "fio-randread")]) is None
            assert takes == is_legal(layout, count), (layout, count, first)


def test_a_number_that_no_layout_takes_is_told_as_that() -> None:
    space = space_of("drives=ent-10k,layouts=raid0,counts=1", 0)
    with pytest.raises(UserError) as error:
        candidates_of(space, needs("1 TB", "no failure"), Prices())
    said = "question.candidates: counts = '1': leaves none of 2 candidates: 2 of a number of drives"
    assert said in str(error.value)
    assert "layouts.data" not in str(error.value)


@pytest.mark.parametrize(("price", "others"), [("15", ["per TB"]), ("280", []), ("0.01", [])])
def test_prices_that_may_be_per_tb_are_a_guess(price: str, others: list[str], tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text(f"drive,price\nexos-x18-18tb,{price}\nown-drive,3\n")
    assert [guess.other for guess in guesses_about(read_prices(table))] == others


def test_prices_are_read_from_csv_and_toml(tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("# of our dealer\ndrive;price;currency;watts\nent-10k;200..220;EUR;7 W\nent-15k;1 250;EUR;\n")
    found = read_prices(table)
    assert (found.currency, found.of["ent-10k"].low, found.of["ent-10k"].watts) == ("EUR", 200.0, 7.0)
    assert (found.of["ent-15k"].price, found.of["ent-15k"].watts) == (1250.0, None)
    other = tmp_path / "prices.toml"
    other.write_text('[[drives]]\ndrive = "ent-10k"\nprice = 210\n')
    assert read_prices(other).of["ent-10k"].high == 210.0


@pytest.mark.parametrize(
    ("mark", "text", "price"),
    [
        (";", "1150,50", 1150.5),
        (";", "1.150,50", 1150.5),
        (";", "1 150,50", 1150.5),
        (";", "1\u202f150", 1150.0),
        (";", "1.150.000", 1150000.0),
        (";", "0,150", 0.15),
        (";", "1.150,00..1.250,00", 1200.0),
        (";", "1150.5", 1150.5),
        ("\t", "1150,50", 1150.5),
        (",", "1'150.50", 1150.5),
        (",", '"1,150"', 1150.0),
        (",", '"1,150.50"', 1150.5),
        (",", '"1.150,50"', 1150.5),
        (",", "0.150", 0.15),
        (",", "1150.125", 1150.125),
    ],
)
def test_prices_are_read_as_spreadsheets_write_them(tmp_path: Path, mark: str, text: str, price: float) -> None:
    table = tmp_path / "prices.csv"
    table.write_text(f"drive{mark}price\nent-10k{mark}{text}\n")
    assert read_prices(table).of["ent-10k"].price == price


@pytest.mark.parametrize(
    ("mark", "text"), [(";", "1.150"), (";", "1,150"), (",", "1.150"), ("\t", "1,150"), (";", "1.150..1200")]
)
def test_a_price_with_two_readings_is_refused_with_both(tmp_path: Path, mark: str, text: str) -> None:
    (tmp_path / "prices.csv").write_text(f"drive{mark}price\nent-10k{mark}{text}\n")
    with pytest.raises(UserError) as error:
        read_prices(tmp_path / "prices.csv")
    said = f"prices.csv:2: price = {text!r}: is 1150 or 1.15: expected an unambiguous number, such as 1150"
    assert str(error.value).endswith(said)


def test_watts_have_decimal_commas_as_prices_have(tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("drive;price;watts\nent-10k;200,50;7,6\nent-15k;1;8,1 W\n")
    assert [one.watts for one in read_prices(table).of.values()] == [7.6, 8.1]


BAD_TABLES = {
    'drive,price\nent-10k,"1150,5"\n': "prices.csv:2: price = '1150,5': expected a number such as 280.50",
    "drive;price\nent-10k;1.15.0\n": "prices.csv:2: price = '1.15.0': expected a number such as 280,50",
    "price\n1\n": "prices.csv:1: drive: missing",
    "drive,price,colour\nent-10k,1,red\n": "'colour'",
    "drive,price\nent-10k,cheap\n": "prices.csv:2: price = 'cheap'",
    "drive,price\nent-10k,5..2\n": "prices.csv:2: price = '5..2'",
    "drive,price\nent-10k,1\nent-10k,2\n": "prices.csv:3: drive = 'ent-10k': is given twice",
    "drive,price,watts\nent-10k,1,much\n": "prices.csv:2: watts = 'much'",
    "drive,price,currency\nent-10k,1,EUR\nent-15k,2,USD\n": "prices.csv:3: currency = 'USD'",
    "drive,price\nent-10k\n": "prices.csv:2: expected 2 cells",
    "# a comment\n\ndrive,price\n# another\nent-10k,dear\n": "prices.csv:5: price = 'dear'",
    "drive,price\n": "has no prices",
    "drive,price\nent-10kk,1\n": "none of the table's drives is a candidate",
    "": "drive: missing",
}


@pytest.mark.parametrize("text", BAD_TABLES)
def test_a_mistake_in_a_table_of_prices_names_its_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.csv").write_text(text)
    with pytest.raises(hb.UserError) as caught:
        expect_known(read_prices(tmp_path / "prices.csv"), ["ent-10k", "ent-15k"])
    assert BAD_TABLES[text] in str(caught.value)


def test_rows_of_prices_that_name_no_drive_are_known(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("drive,price\nent-10k,1\nent-15kk,1\npm9a3-3840,1\nmine.toml,1\n")
    assert unknown_in(read_prices(tmp_path / "prices.csv"), ["ent-10k", "mine.toml"]) == ["ent-15kk"]


MISTAKES = [
    (("--slo", "p99 < 5"), "--slo"),
    (("--slo", "p99 > 5 ms"), "--slo"),
    (("--slo", "fast"), "--slo"),
    (("--slo", ""), "--slo: is empty"),
    (("--slo", "90 % of the most"), "a share of the maximum"),
    (("--slo", "TPS > 300 and transaction.p99 < 5 ms"), "--slo = 'TPS > 300': is of transactions"),
    (("--capacity", "50"), "--capacity = '50'"),
    (("--capacity", "-5 TB"), "--capacity"),
    (("--protect", "many failures"), "--protect"),
    (("--protect", "four failures"), "--protect"),
    (("--power", "500"), "--power = '500'"),
    (("--power", "1 W", "--candidates", "drives=ent-10k,layouts=raid6,counts=8"), "over the power at rest"),
    (("--grow", "30"), "--grow"),
    (("--grow", "30 %"), "--grow"),
    (("--years", "0"), "--years"),
    (("--duty", "0 %"), "--duty"),
    (("--duty", "half"), "--duty"),
    (("--slo-degraded", "p99 < 1"), "--slo-degraded"),
    (("--candidates", "drive=ent-10k"), 'did you mean "drives"?'),
    (("--candidates", "drives=ent-10kk"), "ent-10kk"),
    (("--candidates", "layouts=raid7"), "raid7"),
    (("--candidates", "counts=many"), "counts = 'many'"),
    (("--candidates", "counts=0"), "counts = '0'"),
    (("--candidates", "caches=maybe"), "maybe"),
    (("--candidates", "drives="), "is empty"),
    (("--candidates", "ent-10k"), "expected KEY=VALUES"),
    (("--candidates", "drives=ent-10k,drives=ent-15k"), "is given twice"),
    (("--candidates", "drives=ent-10k,layouts=raid6,counts=4"), "too small"),
    (("--candidates", "drives=st14000nm0001,layouts=raid1,counts=2"), "st14000nm0001': is no member of raid1"),
    (("--prices", "no-such.csv"), "no such file"),
    (("--interval", "100"), "--interval"),
    (("--draws", "1"), "--draws"),
    (("--fresh",), "--fresh"),
    (("-o", "page.txt"), "expected a file that ends in .html"),
    (("--capacity", "900 PB"), "leaves none"),
    (("--capacity", "900 PB"), "expected another --capacity, or other --candidates"),
    (("--power", "1 W", "--candidates", "drives=ent-10k,layouts=raid6,counts=8"), "expected another --power, or other"),
]


@pytest.mark.parametrize(("arguments", "said"), MISTAKES, ids=[" ".join(one) for one, _ in MISTAKES])
def test_a_mistake_is_one_line_and_exit_code_2(hotband, arguments: tuple[str, ...], said: str) -> None:
    given = [*ASKED, "--candidates", "drives=ent-10k,layouts=raid6,counts=12"]
    for option in {"--candidates", arguments[0]} & set(arguments) & set(given):
        place = given.index(option)
        del given[place : place + 2]
    done = hotband(*given, *arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_workload_that_needs_volumes_or_is_named_twice_is_refused(hotband) -> None:
    few = ("--candidates", "drives=ent-10k,layouts=raid6,counts=8,caches=off")
    done = hotband("advise", "oltp-one-ssd", *ASKED[2:], *few)
    assert done.returncode == 2
    assert "no candidate accepts it" in done.stderr
    assert hotband("advise", "fio-randread", "fio-randread", *ASKED[2:], *few).returncode == 2
    assert hotband("advise", "no-such-load", *ASKED[2:], *few).returncode == 2


def test_in_python_a_mistake_names_the_argument() -> None:
    with pytest.raises(hb.UserError) as caught:
        hb.advise("fio-randread", slo="p99 < 5 ms", capacity="much", protect="one failure")
    assert caught.value.where == "capacity"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-3.0, 10.0, "at its worse end p99 is 4.4 ms, which still holds"),
        (-3.0, 30.0, "at its worse end p99 is 5.2 ms, which no longer holds"),
        (None, -2.0, "whose worse end the model refuses alone"),
        (None, None, "whose worse end the model refuses alone"),
        (-3.0, -1.0, "no end of which makes p99 longer alone"),
    ],
)
def test_the_value_that_could_overturn_it_says_what_its_ends_do(
    low: float | None, high: float | None, said: str
) -> None:
    share = {"name": "Seek", "key": "seek_read_average", "part": "x", "low": "1 ms", "high": "2 ms", "total": 0.5}
    point = Point(
        "x", "x", "x", "raid1", 2, "own", (), 1e12, None, None, Between(0.004, 0.003, 0.005), None, None, None, {}, "w",
        interval_from="draws",
    )  # fmt: skip
    made = Finalist(point, [{**share, "low_pct": low, "high_pct": high}], 0.5)
    asked = needs()
    assert [one.text for one in asked.slo] == ["p99 < 5 ms"]
    assert said in rests_on(made, None, asked, asked.slo[0].figure, priced=False)[-1]


def test_without_names_drives_for_arrays_are_tried_that_no_other_exceeds() -> None:
    everything = space_of("", 1).drives
    tried = {drive.name for drive in offered(everything)}
    assert {"7450-pro-3840", "ent-10k", "exos-m-30tb", "pm9d3a-7680"} <= tried
    assert not tried & {"980-pro-1tb", "ironwolf-8tb"}, "they are sold for homes"
    assert not tried & {"cd8p-r-7680", "cheetah-10k7", "nytro-1351-960-plain"}, "another one exceeds them"
    assert len(tried) <= 47, "the search takes no longer than with the first 47 drives"
    nas = [drive.name for drive in space_of("drives=nas,ent-10k", 1).drives]
    assert nas[0] == "ironwolf-12tb"
    assert nas[-1] == "ent-10k"
    assert len(nas) == 10


def test_the_interval_of_a_tail_does_not_end_below_that_of_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    factors = {"latency_p99_ns": (0.9, 1.1), "latency_mean_ns": (0.5, 4.0)}
    monkeypatch.setattr(finalists, "_factors", lambda _, name, level: factors[name])
    summary = {"latency_p99_ns": 110.0, "latency_mean_ns": 100.0}
    measured: Any = SimpleNamespace(finished=SimpleNamespace(record={"summary": summary}))
    [condition] = slo_of("p99 < 5 ms")
    low, high = finalists.model_bounds(measured, condition.figure, 90.0)
    assert (low, high) == (pytest.approx(0.9), pytest.approx(400 / 110))
    factors["latency_mean_ns"] = finalists.UNKNOWN
    assert finalists.model_bounds(measured, condition.figure, 90.0) == (pytest.approx(0.9), pytest.approx(1.1))
