"""Can a study state its conclusions as data, and is every mistake in them named before anything runs?"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from forms import sized
from hotband.base.errors import UserError
from hotband.base.text.numbers import number
from hotband.questions.study.conclusions import values
from hotband.questions.study.conclusions.conclude import Conclusions
from hotband.questions.study.conclusions.expressions import Language, Place
from hotband.questions.study.conclusions.values import MOST_STEPS, Steps
from hotband.questions.study.conclusions.vocabulary import Vocabulary
from hotband.questions.study.file import load

DOCS = Path(__file__).parents[2] / "docs"
GUIDE, TUTORIAL = DOCS / "guides" / "studies.md", DOCS / "tutorial" / "tutorial.md"
TINY = Path(__file__).parent / "tiny"
PLACE = Path("conclusions.toml")


def write_blocks(page: Path, folder: Path) -> None:
    """Write the files that the blocks of a page begin with the names of."""
    for name, text in re.findall(r"^```(?:toml|csv)\n# (\S+)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of the tutorial with the conclusions of the guide."""
    folder = tmp_path_factory.mktemp("guide")
    write_blocks(TUTORIAL, folder)
    write_blocks(GUIDE, folder)
    file = folder / "mirrors" / "study.toml"
    file.write_text(file.read_text().replace("30 s", "5 s"))
    return folder / "mirrors"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    shutil.copytree(TINY, tmp_path / "tiny")
    return tmp_path / "tiny"


def language(steps: Steps | None = None) -> Language:
    """Compiler of expressions over the tiny study, without runs."""
    counter = steps or Steps()
    words = Vocabulary(load(str(TINY)), counter)
    return Language(words.functions(), words.constants(), words.ids(), counter)


def value(source: str, **names: Any) -> Any:
    return language().expression(Place("file", "key"), source, tuple(names)).value(names)


def text(source: str, **names: Any) -> Any:
    return language().template(Place("file", "key"), source, tuple(names)).value(names)


def test_the_example_of_the_guide_runs(mirrors: Path, call: Any, tmp_path: Path) -> None:
    done = call("study", "run", str(mirrors), "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    rates = [row["predicted"] for row in result["figures"][:2]]
    [claim] = result["claims"]
    assert claim["holds"] is (rates[1] > rates[0])
    faster = number(rates[1] / rates[0])
    assert claim["measured"] == f"{faster} times as many"
    assert claim["source"] == "m-2"
    own = next(row for row in result["figures"] if row["id"] == "reads-per-drive")
    assert (own["published"], own["predicted"]) == (375, pytest.approx(rates[1] / 2))
    [finding] = result["findings"]
    assert finding["table"]["rows"] == [
        ["one disk", 400, round(rates[0]), round(rates[0])],
        ["mirror of two", 750, round(rates[1]), round(rates[1] / 2)],
    ]
    assert f"1.88 times (predicted {faster}) the random reads of one disk" in result["answer"]["text"]
    assert [point["machine"] for point in result["answer"]["chart"]["points"]] == ["one disk", "mirror of two"]
    assert "one disk" in (tmp_path / "out" / "report.html").read_text()


def test_the_guide_has_every_function_and_no_other() -> None:
    words = Vocabulary(load(str(TINY)), Steps())
    section = GUIDE.read_text().partition("### Expressions")[2].partition("### Mistakes")[0]
    entries = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    named = {name for entry in entries for name in re.findall(r"`(\w+)", entry)}
    assert set(words.functions()) | set(words.constants()) <= named
    assert named - set(words.functions()) - set(words.constants()) <= {"published_row"}


def test_the_error_of_the_guide_is_printed(mirrors: Path, call: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mirrors"
    shutil.copytree(mirrors, folder)
    file = folder / PLACE
    file.write_text(file.read_text().replace("'faster[1] > 1'", '\'iops("miror", "random") > 1\''))
    done = call("study", "run", "./mirrors", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip() in GUIDE.read_text()
    assert not (tmp_path / "out").exists()


def test_lists_work_item_by_item() -> None:
    assert value("[1, 2] * 2 + [3, 4]") == [5, 8]
    assert value("[[1, 2], [3]] / 2") == [[0.5, 1.0], [1.5]]
    assert value("abs([1, -2] - 1)") == [0, 3]
    assert value("[1, 3] > 2") == [False, True]
    assert value("-a", a=[1, None]) == [-1, None]
    assert value("a.b.c", a=[{"b": {"c": 1}}, {"b": {"c": 2}}]) == [1, 2]
    assert value("load(loads).label") == ["mixed on a file's machine", "read on a short form"]
    assert value('row("tiny-1").value / [2, 4]') == [200, 100]
    assert value("m[k]", m={"a": 1, "b": 2}, k=["b", "a"]) == [2, 1]


def test_what_is_missing_stays_missing() -> None:
    assert [value(source, a=None) for source in ("a + 1", "1 / 0", "a > 1", "a * [1, 2]", "-a")] == [
        None, None, None, [None, None], None,
    ]  # fmt: skip
    assert value("mean([1, a])", a=None) is None
    assert value("mean(known([1, a, 3]))", a=None) == 2
    assert value("max([])") is None
    assert value("sum([])") == 0
    assert [value("all(a)", a=flags) for flags in ([True, None], [False, None], [True], [])] == [
        None,
        False,
        True,
        True,
    ]
    assert value("default([1, a], 0)", a=None) == [1, 0]
    assert text("{{ a }} {{ format(a, '.1f') }} {{ quantity(a) }}", a=None) == "– – unknown"


def test_comparisons_chain_and_lists_are_compared_as_a_whole() -> None:
    assert value("1 < 2 < 3") is True
    assert value("1 < 2 < 2") is False
    assert value("[1, 2] == sorted([2, 1])") is True
    assert value('"a" in ["a"] and "b" not in ["a"]') is True
    assert value("a is none", a=None) is True


def test_functions_of_lists() -> None:
    assert value('sorted(["a", "b", "c"], [2, 3, 1])') == ["c", "a", "b"]
    assert value("sorted([1, 2, 1], none, true)") == [2, 1, 1]
    assert value('zip([1, 2], ["a", "b"])') == [[1, "a"], [2, "b"]]
    assert value('numbered(["a"])') == [[1, "a"]]
    assert value("select([1, 2, 3], [true, false, true])") == [1, 3]
    assert value('first(where(rows, id="tiny-2")).value') == 1.4
    assert value('first(where(rows, id="tiny-3"))') is None
    assert value('values(mapping(["a"], [1]))') == [1]
    assert value("flat([1, [2, [3]]])") == [1, 2, 3]
    assert value("geometric_mean([[1, 4], [2]])") == pytest.approx(2)
    assert value("sqrt(4) + count([1, 2])") == 4
    assert value("sqrt(0 - 1)") is None


def test_texts_have_single_spaces_conditions_and_loops() -> None:
    assert text("a\n  {% if n > 1 %}b{% else %}c{% endif %}\n", n=2) == "a b"
    loop = "{% for a, b in pairs %}{{ a }}{{ b }}{% if not loop.last %}, {% endif %}{% endfor %}"
    assert text(loop, pairs=[[1, "x"], [2, "y"]]) == "1x, 2y"
    assert text("{{ [1.26, 2.0] | format('.1f') | join(' > ') }}") == "1.3 > 2.0"
    assert text("{% set n = 2 %}{{ n * 2 }}") == "4"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("iops(", "is not an expression"),
        ("1 +", "is not an expression"),
        ("1 2", "expected an operator"),
        ("a + 1", '"a" is not defined'),
        ('iopps("ten", "read")', 'did you mean "iops"'),
        ('iops("teen", "read")', 'there is no config "teen"; did you mean "ten"'),
        ('iops(["ten", "nine"], "read")', 'there is no config "nine"'),
        ('iops("ten", load="reed")', 'did you mean "read"'),
        ('published("ten", "read", "resp")', "expected one of most, quick, peak, response"),
        ('iops("ten")', "missing a required argument: 'load'; expected iops(config, load)"),
        ("abs(*[1])", "expected each by itself"),
        ("2 ** 9", "Pow is not accepted"),
        ('"%d" % 1', "Mod is not accepted"),
        ("[].append(1)", "calls something that is not a function"),
        ("1 | tojson", '"tojson" is not a function'),
        ("range(3)", '"range" is not a function'),
        ("1 is callable", "expected one of none"),
        ("(" * 500 + "1" + ")" * 500, "nested too deeply"),
        ("1" + " + 1" * 4000, "expected at most 10,000"),
    ],
)
def test_a_mistake_in_an_expression_is_named(source: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        language().expression(Place("file", "claims[0].holds"), source, ())
    assert (caught.value.where, caught.value.key) == ("file", "claims[0].holds")
    assert caught.value.value == source
    assert words in caught.value.accepted


@pytest.mark.parametrize(
    "source",
    [
        "{% include 'x' %}", "{% import 'x' as y %}", "{% extends 'x' %}", "{% macro f() %}{% endmacro %}",
        "{% block a %}{% endblock %}", "{% filter lower %}A{% endfilter %}", "{% set a %}x{% endset %}",
        "{% call f() %}{% endcall %}", "{{ caller() }}", "{{ self.a }}",
        "{% for a in [1] recursive %}{{ loop(1) }}{% endfor %}",
        "{% if %}", "{{ a }", "{{ 1",
    ],
)  # fmt: skip
def test_a_template_has_text_conditions_and_loops_alone(source: str) -> None:
    with pytest.raises(UserError):
        language().template(Place("file", "claims[0].text"), source, ())


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('"a" * 3', "a text * a number; expected numbers"),
        ("[1, 2] + [1]", "lists of 1 and 2 items"),
        ('1 < "a"', "compares a number with a text"),
        ('row("tiny-9")', 'there is no published row "tiny-9"'),
        ("rows[7]", "item 7 of a list of 2"),
        ("rows[0].valu", 'there is no key "valu"; did you mean "value"'),
        ("study.__class__", 'there is no key "__class__"'),
        ('"a".upper', "reads 'upper' of a text"),
        ("iops.__globals__", "reads '__globals__' of no value"),
        ('mean(["a"])', "has a text among numbers"),
        ('format(1, ">1000000000")', "expected"),
        ('format("a", ".1f")', "cannot be evaluated"),
        ('audit("../study.toml")', "there is no file"),
        ('audit("study.toml")', "is not JSON"),
        ("sorted([1, none])", "cannot be evaluated"),
        ("zip([1], [])", "cannot be evaluated"),
        ("claim(1)", "there is no claim"),
    ],
)
def test_what_values_do_not_allow_is_named(source: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        value(source)
    assert caught.value.key == "key"
    assert words in caught.value.accepted


def test_a_list_is_not_printed() -> None:
    with pytest.raises(UserError, match="use join or listed"):
        text("{{ loads }}")


def test_steps_and_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    most = sized(200_000, MOST_STEPS)
    monkeypatch.setattr(values, "MOST_STEPS", most)
    names = {"many": [1.0] * 1000}
    nested = "{% for a in many %}{% for b in many %}{% for c in many %}{% endfor %}{% endfor %}{% endfor %}"
    doubled = "{% set a = 'xxxxxxxxxx' %}" + "{% set a = a ~ a %}" * 60
    twice = "{% set a = [1, 1] %}" + "{% set a = [a, a] %}" * 60
    for source in (nested, doubled, twice + "{{ sum(a) }}", twice + "{{ a == [] }}", twice + "{{ count(a + 1) }}"):
        with pytest.raises(UserError, match=f"{most:,} steps|longer than 100,000"):
            text(source, **names)
    long = "{% set a = 'x' %}" + "{% set a = a ~ a %}" * 16
    printed = "{% for b in many %}{% for c in many %}{{ a }}{% endfor %}{% endfor %}"
    spelled = "{% for b in many %}{% for c in many %}" + "x" * 9000 + "{% endfor %}{% endfor %}"
    joined = "{{ join(flat([texts, texts, texts])) }}"
    texts = "{% set texts = zip(many, many) %}{% set texts = [a, a, a, a, a, a, a, a, a, a] %}"
    texts += "{% set texts = flat([texts, texts, texts, texts, texts, texts]) %}" * 4
    for source in (long + printed, spelled, long + texts + joined, long + "{{ count(many_texts + a) }}"):
        with pytest.raises(UserError, match=f"{most:,} steps"):
            text(source, many_texts=["x"] * 90_000, **names)
    large = "{% set a = 3 %}" + "{% set a = a * a %}" * 200 + "{{ a }}"
    with pytest.raises(UserError, match="expected a finite number"):
        text(large)


CLAIM = "[[claims]]\nid = 'a'\ntext = 'b'\nmeasured = 'c'\n"
FINDING = "[[findings]]\nid = 'a'\ntitle = 'b'\ntext = 'c'\ncolumns = ['d']\n"
ROW = "[[findings.rows]]\n"
FIGURE = "[[figures]]\nlabel = 'a'\npredicted = '1'\n"
ANSWER = "[answer]\ntext = 'a'\nfurther = 'b'\n[answer.chart]\ntitle = 'c'\nquantity = 'd'\n"


@pytest.mark.parametrize(
    ("conclusions", "key", "words"),
    [
        (CLAIM, "claims[0].holds", "is missing"),
        (CLAIM + "holds = 'true'\nhold = 1\n", "claims[0].hold", "did you mean"),
        ("[[claim]]\nid = 'a'\n", "claim", 'did you mean "claims"'),
        ("[let]\nrows = 1\n", "let.rows", "is already used here"),
        ("[let]\nresult = 1\n", "let.result", "is already used here"),
        ("[let]\nA = 1\n", "let.A", "small letters"),
        ("[let]\na = 'b'\nb = 1\n", "let.a", '"b" is not defined'),
        ("[let]\na.each = { x = [1] }\na.value = 'y'\n", "let.a.value", 'did you mean'),
        ("[let]\na.each = { x = [1], x2 = 'z' }\na.value = 'x'\n", "let.a.each.x2", "is not defined"),
        ("[[findings]]\nid = 'a'\ntitle = 'b'\ntext = '{{ c }}'\n", "findings[0].text", '"c" is not defined'),
        (FINDING, "findings[0].rows", "is missing"),
        (
            FINDING + ROW + "cells = ['1', 'x']\n",
            "findings[0].rows[0].cells[1]",
            '"x" is not defined',
        ),
        (FIGURE, "figures[0].id", "is missing"),
        (FIGURE + "published_row = 'rows['\n", "figures[0].published_row", "is not an"),
        (ANSWER, "answer.chart.points", "is missing"),
        ("[answer\n", "", "not TOML"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_named_by_its_key(tiny: Path, conclusions: str, key: str, words: str) -> None:
    (tiny / PLACE).write_text(conclusions)
    with pytest.raises(UserError) as caught:
        Conclusions(load(str(tiny)))
    assert (caught.value.where, caught.value.key) == (str(tiny / PLACE), key)
    assert words in caught.value.accepted


@pytest.mark.parametrize(
    ("conclusions", "key", "words"),
    [
        (CLAIM + "holds = '1'\n", "claims[0].holds", "expected true or false"),
        (FIGURE + "published_row = '\"x\"'\n", "figures[0].published_row", "no published row"),
        (FIGURE.replace("'1'", "'rows'") + "published_row = '\"tiny-1\"'\n", "figures[0].predicted", "a number"),
        (
            FINDING + ROW + "cells = ['1', '2']\n",
            "findings[0].rows[0].cells",
            "a row of 2 cells; expected 1",
        ),
        (
            FINDING + ROW + "each = { 'a, b' = [[1, 2, 3]] }\ncells = ['a']\n",
            "findings[0].rows[0].each.a, b",
            "a list of 2 for a, b",
        ),
    ],
)  # fmt: skip
def test_a_mistake_that_shows_after_the_runs_keeps_them(
    tiny: Path, call: Any, conclusions: str, key: str, words: str
) -> None:
    (tiny / PLACE).write_text(conclusions)
    done = call("study", "run", "tiny", "--out", "out", cwd=tiny.parent)
    assert done.returncode == 2
    [line] = [line for line in done.stderr.splitlines() if line.startswith("hotband: error")]
    assert line.startswith(f"hotband: error: tiny/conclusions.toml: {key}")
    assert words in line
    assert "Traceback" not in done.stderr
    assert (tiny.parent / "out" / "runs").is_dir()
