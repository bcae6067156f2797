"""Does a trace that can be read in two ways say so, and one that cannot say nothing?"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import run_hotband as hotband
from hotband.data.traces.files import trace_text
from hotband.data.traces.guesses import guesses_in, guesses_of

LINES = 20
CSV = "{head}_us,op,offset,size,latency_us"


def lines(form: Callable[[int], str], heading: str = "") -> str:
    return "".join(f"{line}\n" for line in ([heading] if heading else []) + [form(n) for n in range(LINES)])


def op(n: int) -> str:
    return "RW"[n % 2]


OPEN = {
    "spc in bytes": (lines(lambda n: f"0,{4096 * n},8192,{op(n)},{n / 100}"), "offset=2:B,size=3:B"),
    "spc in us": (lines(lambda n: f"0,{8 * n + 3},8192,{op(n)},{10_000_000 * n}"), "time=5:us"),
    "tencent in bytes": (lines(lambda n: f"{1538323200 + n},{4096 * n},8192,{n % 2},3"), "offset=2:B,size=3:B"),
    "tencent in ms": (lines(lambda n: f"{1000 * n},{8 * n},8,{n % 2},3"), "time=1:ms"),
    "alibaba in sectors": (
        lines(lambda n: f"3,{op(n)},{8 * n},8,{1577808000000000 + n}"),
        "offset=3:sectors,size=4:sectors",
    ),
    "alibaba in s": (lines(lambda n: f"3,{op(n)},{4096 * n},4096,{1577808000 + n}"), "time=5:s"),
    "mqsim in ms": (lines(lambda n: f"{2 * n} 0 {8 * n} 8 {n % 2}"), "time=1:100ns"),
    "operations": (
        lines(lambda n: f"{n},{n % 2},{4096 * n},4096,9", CSV.format(head="start")),
        "op=2:1",
    ),
    "ends": (lines(lambda n: f"{n},{op(n)},{4096 * n},4096,{n % 7}", CSV.format(head="time")), "end=1:us"),
    "headings in sectors": (
        lines(lambda n: f"{n},{op(n)},{8 * n},8,9", CSV.format(head="start")),
        "offset=3:sectors,size=4:sectors",
    ),
}
SHUT = {
    "spc": lines(lambda n: f"0,{8 * n + 3},8192,{op(n)},{n / 100}"),
    "tencent": lines(lambda n: f"{1538323200 + n},{8 * n},8,{n % 2},3"),
    "alibaba": lines(lambda n: f"3,{op(n)},{4096 * n},4096,{1577808000000000 + n}"),
    "msr": lines(lambda n: f"{128166372003061629 + n},usr,0,{'Read' if n % 2 else 'Write'},{4096 * n},4096,41286"),
    "mqsim": lines(lambda n: f"{2_000_000 * n} 0 {8 * n} 8 {n % 2}"),
    "disksim": lines(lambda n: f"{n}.5 0 {8 * n} 8 {n % 2}"),
    "headings": lines(lambda n: f"{n},{op(n)},{4096 * n},4096,9", CSV.format(head="start")),
    "one place": lines(lambda n: f"0,0,8192,{op(n)},{n / 100}"),
}


@pytest.mark.parametrize("name", OPEN)
def test_a_reading_that_another_fits_as_well_is_stated_with_the_choice(name: str, tmp_path: Path) -> None:
    text, choice = OPEN[name]
    path = tmp_path / "t.csv"
    path.write_text(text)
    [guess] = guesses_of(path)
    assert choice in guess.choice
    assert guess.sentence.startswith("t.csv")
    assert guesses_in("t.csv", trace_text(path)) == [guess], "also where a workload replays it"


@pytest.mark.parametrize("name", OPEN)
def test_the_choice_reads_the_trace_otherwise(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(OPEN[name][0])
    [guess] = guesses_of(path)
    chosen = guess.choice.removeprefix("set columns ").removesuffix(" (for a run, in its workload's [trace])")
    first = hotband("trace", "show", str(path), "--json")
    other = hotband("trace", "show", str(path), "--columns", chosen, "--json")
    assert (first.returncode, other.returncode) == (0, 0), first.stderr + other.stderr
    assert f"! {guess.sentence}." in first.stderr
    assert guess.reading not in other.stderr
    documents = [json.loads(done.stdout) for done in (first, other)]
    assert len({json.dumps({**document, "format": ""}) for document in documents}) == 2


def test_a_guess_follows_the_answer_in_its_first_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(OPEN["spc in bytes"][0])
    [guess] = guesses_of(path)
    for command in (("trace", "show"), ("run", "--on", "ent-15k")):
        shown = " ".join(hotband(*command, str(path)).stdout.split())
        assert shown.index(f"! {guess.sentence}.") < 150, shown


@pytest.mark.parametrize(
    ("head", "row", "reading", "other"),
    [
        ("start_s,op,offset,size", "{n}.5,R,{n}.096,4096", "offset 1.096 is read as 1", "1096"),
        ("start_ms;op;offset;size", "{n},500;R;4096;4096", "time 1,500 is read as 1.500", "1500"),
    ],
)
def test_numbers_with_separators_are_a_guess(head: str, row: str, reading: str, other: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join([head, *(row.format(n=n) for n in range(1, 9)), ""]))
    guesses = [guess for guess in guesses_of(path) if guess.reading == f"t.csv: {reading}"]
    assert [guess.other for guess in guesses] == [other]
    path.write_text(path.read_text().replace(",500;", ",5;").replace(".096,", "096,"))
    assert not [guess for guess in guesses_of(path) if "is read as" in guess.reading]


@pytest.mark.parametrize("name", SHUT)
def test_a_trace_with_one_reading_has_no_guess(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(SHUT[name])
    assert guesses_of(path) == []


def test_a_compressed_trace_has_the_guess_of_its_text(tmp_path: Path) -> None:
    text, choice = OPEN["spc in bytes"]
    path = tmp_path / "t.spc.gz"
    path.write_bytes(gzip.compress(text.encode()))
    [guess] = guesses_of(path)
    assert choice in guess.choice
    path.write_bytes(gzip.compress(text.encode())[:40])
    assert guesses_of(path) == [], "reading it reports the damage"


def test_a_stated_format_is_no_guess(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(OPEN["spc in bytes"][0])
    assert guesses_of(path, "spc") == []
    columns = {"device": "1", "offset": "2:sectors", "size": "3", "op": "4", "time": "5"}
    assert guesses_of(path, "csv", columns) == []


TABLE = "time_ms,op,offset_sectors,size_kb\n0.5,0,8,4\n1.5,1,16,4\n"
ROWS = {"time": "1", "op": "2", "offset": "3", "size": "4"}


@pytest.mark.parametrize(
    ("columns", "others"),
    [
        (ROWS, ["time=1:ms", "offset=3:sectors", "size=4:KiB", "op=2:1"]),
        ({"time": "1:ms", "op": "2:1", "offset": "3:sectors", "size": "4:KiB"}, []),
        ({"time": "1:ms", "offset": "3:sectors", "size": "4:KiB"}, ["op=2"]),
        ({"time": "1:ms", "op": "2:7", "offset": "3:sectors", "size": "4:KiB"}, ["op=2:0"]),
    ],
)
def test_a_heading_that_says_otherwise_is_a_guess(columns: dict[str, str], others: list[str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    guesses = guesses_of(path, None, columns)
    assert len(guesses) == len(others)
    assert all(other in guess.choice for other, guess in zip(others, guesses, strict=True))


def test_a_column_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    run = hotband("trace", "show", str(tmp_path / "t.csv"), "--columns", "time=1,time=2,offset=3,size=4")
    assert run.returncode == 2
    assert "time" in run.stderr
    assert "given twice" in run.stderr
