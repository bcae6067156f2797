"""What does the text of a swept setting mean?"""

from __future__ import annotations

import pytest

from hotband.base.errors import UserError
from hotband.data.inputs.values import base_of, values_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1..256", (1, 2, 4, 8, 16, 32, 64, 128, 256)),
        ("3..12", (3, 6, 12)),
        ("7..7", (7,)),
        ("0..100/25", (0, 25, 50, 75, 100)),
        ("0.1..0.5/0.1", (0.1, 0.2, 0.3, 0.4, 0.5)),
        ("4, 8 ,16..64", (4, 8, 16, 32, 64)),
        ("256KiB..1MiB", ("256 KiB", "512 KiB", "1 MiB")),
        ("4k..16k", ("4 KiB", "8 KiB", "16 KiB")),
        ("1 GB..2 GB/500 MB", ("1 GB", "1.5 GB", "2 GB")),
        ("500us..1ms/250us", ("500 us", "750 us", "1 ms")),
        ("100 MB/s..400MB/s", ("100 MB/s", "200 MB/s", "400 MB/s")),
        ("100MB/s..300MB/s/100MB/s", ("100 MB/s", "200 MB/s", "300 MB/s")),
        ("0 %..100 %/50 %", ("0 %", "50 %", "100 %")),
        ("4KiB,64KiB", ("4 KiB", "64 KiB")),
        ("on,off", ("on", "off")),
        ("8", (8,)),
        ("007", ("007",)),
        ("{ mean = 0.4, low = 0.1 }", ("{ mean = 0.4, low = 0.1 }",)),
        ("{ histogram = [1, 2], mean = 0.4 },0.5", ("{ histogram = [1, 2], mean = 0.4 }", 0.5)),
        ("\"a, b\",'c..d'", ("a, b", "c..d")),
        ("../data.json", ("../data.json",)),
    ],
)
def test_a_text_is_the_values_that_it_asks_for(text: str, values: tuple[object, ...]) -> None:
    found = values_of("key", text)
    assert found.listed == values
    assert [type(one) for one in found.listed] == [type(one) for one in values]
    assert found.count == len(values)
    assert found.remark == ""


@pytest.mark.parametrize(
    ("text", "last", "remark"),
    [
        ("1..100", 64, "qd doubles: 1, 2, ... 64; 100 is not among them"),
        ("1..100/5", 96, "qd steps: 1, 6, ... 96; 100 is not among them"),
        ("1 ms..1 s", "512 ms", "qd doubles: 1 ms, 2 ms, ... 512 ms; 1 s is not among them"),
    ],
)
def test_a_range_that_does_not_meet_its_end_says_so(text: str, last: object, remark: str) -> None:
    found = values_of("qd", text)
    assert (found.listed[-1], found.remark) == (last, remark)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("1..", "the range '1..' lacks an end"),
        ("..9", "the range '..9' lacks an end"),
        ("1../5", "the range '1../5' lacks an end"),
        ("256..1", "the range '256..1' ends below its beginning"),
        ("1..10/0", "expected a step above 0"),
        ("1..10/-1", "expected a step above 0"),
        ("1..10/", "'' is not a number"),
        ("1,,2", "has an empty value"),
        (",", "has an empty value"),
        ("4KiB..1", "4KiB and 1 differ in their units; expected a unit at both ends"),
        ("1..4KiB", "1 and 4KiB differ in their units"),
        ("1ms..4KiB", "expected two of one kind"),
        ("4KiB..64KiB/4", "the step and the ends differ in their units"),
        ("0..8", "doubling begins above 0; expected a step"),
        ("low..high", "'low' is not a number"),
        ("1..2parsec", "'parsec' is not a unit"),
        ("1..1e999", "'1e999' is not a number"),
    ],
)
def test_what_is_no_range_is_refused(text: str, accepted: str) -> None:
    with pytest.raises(UserError) as refused:
        values_of("qd", text)
    assert accepted in refused.value.accepted
    assert (refused.value.key, refused.value.value) == ("qd", text)


def test_a_huge_range_is_counted_and_not_listed() -> None:
    found = values_of("qd", "1..1000000000/1,5")
    assert found.count == 1_000_000_001
    assert found.listed == (1, 2, 5)


@pytest.mark.parametrize(
    ("value", "base"),
    [(4, ("", 4.0)), ("4 KiB", ("size", 4096.0)), ("4k", ("size", 4096.0)), ("2 ms", ("time", 0.002)), ("on", None)],
)
def test_a_value_has_its_size_in_the_base_unit(value: object, base: tuple[str, float] | None) -> None:
    assert base_of(value) == (base if base is None else (base[0], pytest.approx(base[1])))
