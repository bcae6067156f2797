"""Is each study's answer written from its figures, and does it read right?"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.mark import ParameterSet

from forms import SHORT_LOADS
from hotband.faces.commands.question import Form, _print
from hotband.questions.study import file
from hotband.questions.study.asked import StudyRunQuestion
from hotband.questions.study.conclusions.conclude import conclusions_of
from hotband.questions.study.conclusions.functions import change, listed, more, quantity, times, with_prediction
from hotband.questions.study.conclusions.known_figures import KnownFigures
from hotband.questions.study.result import StudyResult
from hotband.questions.study.study import by_reason
from hotband.views.study.show import result_views
from hotband.views.text.screen import LINES

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc

FIXTURES = {
    "content-hdd": "content_hdd",
    "durawrite": "durawrite",
    "exos-15e900": "exos",
    "full-sata-ssd": "full_ssd",
    "mach2-ceph": "mach2",
    "real-disks": "real_disks_study",
    "savvio-raid": "savvio",
}
DEPTHS = (1, 16, 256)
"""Queue depths that the answer of mach2-ceph names."""
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class Drawn(Mapping[Any, Any]):
    """A figure for every key, its numbers drawn from the key and a seed: none where `empty`."""

    def __init__(self, seed: str, empty: bool = False) -> None:
        self.seed, self.empty = seed, empty

    def __getitem__(self, key: Any) -> Any:
        if self.empty:
            return {"published": None, "predicted": None, "error_pct": None}
        published, predicted = (self._number(key, of) for of in ("published", "predicted"))
        return {"published": published, "predicted": predicted, "error_pct": (predicted / published - 1) * 100}

    def _number(self, key: Any, of: str) -> float:
        """20 to 95: a rate, a time, and a percentage of less than all."""
        return 20 + zlib.crc32(f"{self.seed} {key} {of}".encode()) % 75_000 / 1000

    def __iter__(self) -> Iterator[Any]:
        study = file.load(self.seed.partition(" ")[0])
        return iter([(config.id, load.id, name) for config, load in study.pairs() for name in load.measures])

    def __len__(self) -> int:
        return len(list(iter(self)))


@cache
def conclusions_by_name(name: str) -> Any:
    """Return the conclusions of a study, compiled once."""
    return conclusions_of(file.load(name))


def answer_of(name: str, seed: str, empty: bool = False) -> Any:
    """The answer of a study from drawn figures."""
    conclusions = conclusions_by_name(name)
    assert conclusions is not None
    drawn = Drawn(f"{name} {seed}", empty)
    claim: ClaimDoc = {"id": "", "text": "", "holds": True, "measured": "", "source": ""}
    return conclusions.answer_of(KnownFigures(drawn, drawn, {"actuators-double-reads": claim}))


def test_every_study_of_the_catalog_has_its_answer() -> None:
    assert sorted(FIXTURES) == file.names()
    for name in file.names():
        conclusions = conclusions_by_name(name)
        assert conclusions is not None
        assert conclusions.document.answer is not None


@pytest.mark.parametrize("name", sorted(FIXTURES))
def test_numbers_of_an_answer_are_of_its_figures(name: str) -> None:
    """With other figures every number is another, but those that name what was run."""
    study = file.load(name)
    labels = [*(one.label for one in study.configs), *(one.label for one in study.loads)]
    spoken = " ".join([study.question, *labels, *map(str, DEPTHS)])
    texts = [NUMBER.findall(f"{one['text']} {one['further']}") for one in map(lambda n: answer_of(name, n), "abc")]
    kept = set.intersection(*map(set, texts)) - set(NUMBER.findall(spoken))
    assert len(texts[0]) > 5
    assert not kept
    assert len(set(map(tuple, texts))) == 3


@pytest.mark.parametrize("name", sorted(FIXTURES))
def test_an_answer_of_nothing_is_still_text(name: str) -> None:
    found = answer_of(name, "a", empty=True)
    assert not re.search(r"\bNone\b|\bnan\b", found["text"] + found["further"])
    assert all(point["published"] is None for point in found["chart"]["points"])


def whole(name: str) -> ParameterSet:
    """Return the name of a study as a parameter, long where `make test` does not run all of it."""
    return pytest.param(name, marks=[pytest.mark.long] if name in SHORT_LOADS else [])


READS = {
    "content-hdd": ["Four 10K disks in RAID 10 did the most random I/O: 979 IOPS", "disks count, not revolutions"],
    "durawrite": ["writes less flash, the less the better its data compress", "0.33 (predicted", "47 % more"],
    "exos-15e900": ["buys writes: random ones go from 4,591 to 7,828 IOPS", "no gain in web serving, the OLTP rate"],
    "full-sata-ssd": ["should turn this drive's write cache off: queue depth 1 gives 288", "from 8,600", "to 50,000"],
    "mach2-ceph": ["For writes yes, most of all at shallow queues: 260 against 33.3 IOPS", "For reads hardly"],
    "real-disks": ["15.7 % (18.6 %) from its data sheet alone", "7.93 % (10.4 %) reading ahead"],
    "savvio-raid": ["In servers yes, as published", "On a desk no"],
}
"""What a reviewer would have said, of figures as they are published and predicted today."""


@pytest.mark.parametrize("name", [whole(name) for name in sorted(FIXTURES)])
def test_an_answer_reads_right(name: str, request: pytest.FixtureRequest) -> None:
    result = request.getfixturevalue(FIXTURES[name])[0]
    text = f"{result['answer']['text']} {result['answer']['further']}"
    assert not [words for words in READS[name] if words not in text]
    assert len(result["answer"]["text"].split()) < 100
    drawn = [one for one in result["answer"]["chart"]["points"] if one["predicted"] is not None]
    assert len(drawn) == len(result["answer"]["chart"]["points"]) > 3


def test_the_bound_of_content_hdd_is_that_of_the_loads_that_it_names(
    content_hdd: tuple[dict[str, Any], Path],
) -> None:
    rates = [one for one in content_hdd[0]["figures"] if one["metric"] == "IOPS" and one["error_pct"] is not None]
    other = [abs(one["error_pct"]) for one in rates if "8 KB sequential" not in one["label"]]
    text = " ".join(content_hdd[0]["answer"]["further"].split())
    assert f"Predicted IOPS of all layouts and loads are within {quantity(max(other))} %, except for 8 KB mixes" in text


def test_an_answer_has_what_its_figures_have(full_ssd: tuple[dict[str, Any], Path]) -> None:
    figures = {one["label"]: one for one in full_ssd[0]["figures"]}
    for label in ("4 KiB random read, QD 1", "4 KiB random read, QD 32", "4 KiB write and flush, QD 1, write cache on"):
        assert quantity(figures[label]["predicted"]) in full_ssd[0]["answer"]["text"]


def test_the_terminal_says_the_answer_first_and_each_explanation_once(full_ssd: tuple[dict[str, Any], Path]) -> None:
    result = full_ssd[0]
    text = "\n".join(str(getattr(part, "plain", part)) for part in result_views(result))  # type: ignore[arg-type]
    places = [text.index(words) for words in (result["question"], result["answer"]["text"], "median error", "Missed:")]
    assert places == sorted(places)
    reasons = by_reason(result["misses"])
    assert len(reasons) < len(result["misses"])
    assert [text.count(why) for why in reasons] == [1] * len(reasons)
    assert text.count("Missed:") == len(result["misses"])


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", [whole(name) for name in sorted(FIXTURES)])
def test_a_study_is_one_screen(
    name: str,
    width: int,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = request.getfixturevalue(FIXTURES[name])[0]
    monkeypatch.setenv("COLUMNS", str(width))
    asked, found = StudyRunQuestion(study=name), StudyResult({}, result)  # type: ignore[arg-type]
    _print(asked, found, Form(as_json=False, details=False), [])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= LINES, "\n".join(lines)
    assert max(map(len, lines[:-1])) <= width
    assert result["answer"]["text"].startswith(lines[0])
    assert lines[-1].startswith("Next: hotband study run ")
    _print(asked, found, Form(as_json=False, details=True), [])
    assert capsys.readouterr().out.count("\n") > LINES


def test_machines_say_how_their_drives_were_set(full_ssd: tuple[dict[str, Any], Path]) -> None:
    [machine] = full_ssd[0]["machines"]
    assert machine["built"] == "nytro-1351-3840"
    assert "write cache on (protected" in "; ".join([machine["state"], *(one["text"] for one in machine["varying"])])


def test_python_has_the_answer(full_ssd: tuple[dict[str, Any], Path]) -> None:
    result = StudyResult({}, full_ssd[0])  # type: ignore[arg-type]
    assert result.answer == f"{full_ssd[0]['answer']['text']} {full_ssd[0]['answer']['further']}"
    assert "write cache off" in result._repr_html_()
    assert StudyResult({}, {**full_ssd[0], "answer": None}).answer is None  # type: ignore[typeddict-item]


def test_words() -> None:
    assert [quantity(value) for value in (None, 0.2391, 4.063, 36.52, 979.4, 4591.2, 21948.0)] == [
        "unknown", "0.239", "4.06", "36.5", "979", "4,591", "21,948",
    ]  # fmt: skip
    assert [times(value) for value in (0.968, 1.05, 2.93, 62.8)] == [
        "0.968 times",
        "1.05 times",
        "2.93 times",
        "62.8 times",
    ]
    assert [change(value) for value in (0.998, 1.7, 0.93)] == ["0 %", "+70 %", "-7 %"]
    assert [more(value) for value in (1.15, 0.93, 1.0)] == ["15 % more", "7 % less", "as much"]
    assert with_prediction(979.0, 818.0, "IOPS") == "979 IOPS (predicted 818)"
    assert with_prediction(None, 818.0, "IOPS") == "818 IOPS predicted"
    assert listed(["a", "b", "c"]) == "a, b and c"
