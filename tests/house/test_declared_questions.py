"""Do the faces of every question agree: its command, its function, and the words that are copied from the page?"""

from __future__ import annotations

import contextlib
import inspect
import json
import pickle
import pydoc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import hotband as hb
from hotband.base.errors import UserError
from hotband.base.question import Field, Question, fields_of, given, in_words_of, shown, summary, terminal_fields_of
from hotband.base.text.schema import with_schema
from hotband.data.corpus.files import as_csv, shipped
from hotband.faces.asked import function
from hotband.faces.asked.ask import ask
from hotband.faces.asked.kinds import arguments_of, is_lines
from hotband.faces.asked.methods import StudyMethods
from hotband.faces.asked.words import words
from hotband.faces.cli import app
from hotband.faces.commands import question as commands
from hotband.faces.questions import QUESTIONS, declared, function_name, has_function
from hotband.faces.ui.asked import in_fields

MACHINE = "raid1:2xent-10k"
TINY = str(Path(__file__).parents[1] / "study" / "tiny")
FIGURE = "storageio_part6-001"
FLEET = """[[group]]
name = "g"
machines = 10
machine = "raid6:12xmg06sca-10tb"
afr = "2 %"
rebuild_time = "40 h"
"""
RESULTS = [str(Path(__file__).parent / f"results/fio-qd{depth}.json") for depth in (1, 4, 16)]
KNOWN = {
    "age_bound": "1 s", "cache_overhead": "0.02 ms", "cache_segments": 32, "cache_size": "128 MB",
    "command_overhead": "0.1 ms", "head_skew": "0.5 ms", "heads": 8, "look_ahead": "1 MB", "port_rate": "1 GB/s",
    "queue_tags": 128, "recovery_time": "67 ms", "scan_burst": "800 ms", "scan_delay": "1 ms", "scan_idle": "500 ms",
    "sector_format": "512n", "sustained_inner": "120 MB/s", "track_skew": "0.7 ms", "write_cache_extents": 64,
    "write_cache_size": "32 MB", "zones": 24,
}  # fmt: skip
"""Values of a disk that a fit leaves alone: of the others it takes seconds."""
RESULT = str(Path(__file__).parents[1] / "fio/samples/fio-2.1-usec.json")
ASKED: dict[str, dict[str, Any]] = {
    "advise": {"workloads": "fio-randread", "slo": "p99 < 80 ms", "capacity": "900 GB", "protect": "one failure",
               "candidates": {"drives": ["ent-10k"], "layouts": ["raid10"], "counts": [4]}, "draws": 8},
    "audit": {"study": "content-hdd", "media": "hdd", "cache": "64 MiB"},
    "calibrate": {"target": RESULTS, "like": "ent-10k", "set": KNOWN, "seed": 2},
    "compare": {"first": ["a", "b"], "others": (["c", "d"],), "anyway": True},
    "corpus add": {"path": "figures.csv"},
    "corpus check": {"path": "figures.csv"},
    "corpus predict": {"path": "measured.csv", "out": "predictions"},
    "corpus list": {"words": ["nvme4", "qlc"]},
    "corpus show": {"drive": "samsung 970"},
    "device": {"path": RESULT},
    "drives new": {"name": "x18", "kind": "hdd",
                   "lines": {"capacity": "18 TB", "rpm": "7200 rpm", "interface": "sata", "bandwidth": "270 MB/s"}},
    "drives show": {"words": ("nvme", "enterprise"), "min": "3 TB", "sort": "read-iops"},
    "entropy": {"paths": [str(Path(__file__))], "compressor": ["lz4", "deflate"], "chunk": "4 KiB", "jobs": 2},
    "events": {},
    "expect": {"result": RESULT, "on": MACHINE, "workload": "fio-randread", "duration": "100 ms", "draws": 8,
               "set": {"command_overhead": "0.1 ms"}},
    "find": {"question": "IOPS at mean < 10 ms", "workload": "fio-randread", "on": ["ent-10k", "raid1:2xent-15k"],
             "ios": 1000, "within": 20, "interval": 90, "draws": 8, "set": {"command_overhead": "0.1 ms"}},
    "fleet": {"fleet": Path("fleet.toml"), "repetitions": 4, "seed": 2},
    "import auto": {"files": RESULT},
    "import diskspd": {"files": "results.xml"},
    "import fio": {"files": [RESULT, *RESULTS]},
    "import hdr": {"files": "latency.hlog", "unit": "us"},
    "import iometer": {"files": "results.csv"},
    "import vdbench": {"files": "flatfile.html"},
    "keys": {"workload": "fio-randread", "on": MACHINE, "set": {"qd": 4}},
    "layouts": {},
    "osds": {},
    "plot": {"files": RESULTS, "out": "latency.svg", "op": "read", "title": "Reads"},
    "program": {"name": "sysbench", "on": "real:.", "set": {"total": "1 MiB"}},
    "pts": {"on": "980-pro-1tb", "tests": "latency", "quick": True, "minute": "50 ms", "drive_class": "client"},
    "quick": {"on": "s4500-960", "duration": "1 min", "set": {"scale": 512}, "seed": 2},
    "reliability": {"on": MACHINE, "spares": 1, "replacement": "24 h", "afr": "2 %", "arrays": 1000,
                    "set": {"command_overhead": "0.1 ms"}},
    "mount": {"on": MACHINE, "fuse": Path("mounted"), "events": ["at 1 s: power-off"], "awake": False},
    "review": {"on": ["ent-10k", "raid1:2xent-15k"], "quick": True, "only": ["access", "patterns"], "jobs": 2,
               "set": {"wce": "off"}},
    "store query": {"sql": "select run, seed from runs order by all", "from_": "store"},
    "report": {"records": ["a", "b"], "title": "Two runs", "audit": True, "media": "hdd"},
    "run": {"workload": "fio-randread", "on": MACHINE, "duration": "1 s", "seed": 3, "set": {"qd": 2},
            "events": "at 0.2 s: fail d1", "spares": 1, "rebuild_rate": "50 MB/s", "rebuild_after": "100 ms",
            "interval": 90, "draws": 8},
    "serve": {"on": MACHINE, "set": {"command_overhead": "0.1 ms"}, "store": "kept", "priority": False, "seed": 2},
    "steady": {"records": "a", "round": "1 s", "track": "latency"},
    "store add": {"path": "store", "results": ["a", "b"], "experiment": "again"},
    "measure selftest": {"path": RESULT, "duration": "1 s"},
    "store check": {"path": "store"},
    "store compact": {"path": "store"},
    "store list": {"path": "store", "where": "seed > 0", "limit": 1},
    "store show": {"path": "store", "run": "0"},
    "studies": {},
    "study accuracy": {"studies": [TINY]},
    "study blind": {},
    "study emulate": {"study": "exos-15e900", "scale": 0.001, "only": "oltp"},
    "study intervals": {"study": TINY, "only": ["mixed", "read"], "jobs": 1},
    "study run": {"study": TINY, "only": "read", "seed": 3},
    "study swings": {"study": TINY, "only": "study: share of the reads", "jobs": 1},
    "study why": {"study": "content-hdd", "figure": FIGURE, "interval": 80},
    "sweep": {"workload": "fio-randread", "on": ["ent-10k", "raid1:2xent-15k"], "duration": "100 ms", "repeat": 2,
              "seed": 3, "events": "at 50 ms: power-off", "interval": 90, "draws": 8, "set": {"qd": "1,4"}},
    "trace compare": {"a": "log.parquet", "b": "again.parquet", "direction": ["read", "write"]},
    "trace convert": {"source": "log.parquet", "output": "log.spc", "for_": "1 s"},
    "trace fit": {"source": "log.parquet", "output": "log.toml", "from_": "1 s", "seed": 3},
    "trace show": {"source": "log.csv", "columns": {"time": "1:us", "offset": "2:sectors", "size": "3"},
                   "block": "8 KiB", "sample": 2048, "skip_bad": 1},
    "workloads convert": {"workload": "fio-randread", "target": "/dev/sdx"},
    "workloads show": {},
    "why": {"workload": "fio-randread", "on": "ent-10k", "figure": "p99", "interval": 80, "draws": 8,
            "duration": "1 s", "set": {"qd": 4}},
}  # fmt: skip
"""A short question of each kind, as Python asks it."""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stay in a folder with records and a fleet."""
    place = tmp_path_factory.mktemp("asked")
    for seed, run in enumerate("abcd"):
        hb.run("fio-randread", on="ent-10k", duration="5 s", seed=seed, progress=False).save(place / run)
    with hb.store(place / "store") as store:
        for run in "ab":
            ASKED["store show"]["run"] = store.append(hb.load(place / run))
    for seed, log in enumerate(("log", "again")):
        to = place / f"{log}.parquet"
        hb.run("fio-randread", on="ent-10k", duration="2 s", seed=seed, io_log=to, progress=False)
    (place / "log.csv").write_text("".join(f"{at * 1000},{at % 7 * 8},4096\n" for at in range(50)) + "no row\n")
    (place / "fleet.toml").write_text(FLEET)
    (place / "figures.csv").write_text(as_csv(shipped()[:5]))
    (place / "measured.csv").write_text(as_csv([each for each in shipped() if each.family == "samsung 850 evo"][:6]))
    with contextlib.chdir(place), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOTBAND_CORPUS", str(place / "mine.csv"))
        yield


CODES = {"audit": 1}
"""Exit codes of the questions whose example finds something severe."""
SLOW = ("advise", "calibrate", "find", "pts", "study intervals", "sweep", "why")
"""Their answers take 1 to 10 s of the processor twice: `make test-long` compares them."""
WALL_CLOCK = ("measure selftest", "mount", "program", "serve", "study emulate")
"""Real programs take part in them, which measure another figure each time."""
OF_FILES = ("import diskspd", "import hdr", "import iometer", "import vdbench")
"""Their example names a file of a tool that is not here: tests/import compares what they read."""
COLUMNS = ("drives show", "events", "keys", "layouts", "osds", "studies", "workloads show")
"""Lists of which Python gives some columns as a frame, or the names alone."""


def of_python(name: str) -> Question:
    return function._question_of(declared(name), ASKED[name])


def test_each_has_an_example() -> None:
    assert sorted(ASKED) == sorted(QUESTIONS)


def public(name: str, subject: str | None = None) -> Any:
    """The function of a question, or its method: of the subject where that is given."""
    function, _, method = function_name(name).partition(".")
    if not method:
        return getattr(hb, function)
    return getattr(StudyMethods if subject is None else hb.study(subject), method)


def called(name: str, **changed: Any) -> Any:
    """What the function gives for the example with some changes."""
    if not has_function(name):
        with in_fields():
            return ask(function._question_of(declared(name), {**ASKED[name], **changed}))
    arguments = {**ASKED[name], **changed}
    is_method = "." in function_name(name)
    of_python = public(name, arguments.pop(fields_of(declared(name))[0].name) if is_method else None)
    bound = inspect.signature(of_python).bind_partial()
    bound.arguments.update(arguments)
    return of_python(*bound.args, **bound.kwargs)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_says_in_lists_what_it_says_of_itself(name: str) -> None:
    assert QUESTIONS[name].summary == summary(declared(name))
    assert declared(name).name == name


def command_of(name: str) -> Any:
    """Return the command of a question."""
    command: Any = typer.main.get_command(app)
    context, arguments = typer.Context(command), words(of_python(name))
    while hasattr(command, "resolve_command"):
        _, command, arguments = command.resolve_command(context, arguments)
        context = typer.Context(command, parent=context)
    return command


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_field_is_an_option_and_an_argument_with_the_same_words(name: str) -> None:
    helps = {param.name: getattr(param, "help", None) for param in command_of(name).params}
    for one in (one for one in terminal_fields_of(declared(name)) if not is_lines(one)):
        assert helps[one.name] == in_words_of(declared(name), one, commands.option_of)


@pytest.mark.parametrize("name", [name for name in QUESTIONS if has_function(name)])
def test_every_argument_is_explained(name: str) -> None:
    arguments = inspect.signature(public(name)).parameters
    for one in function.shown_fields(declared(name)):
        for argument in arguments_of(one):
            assert argument in arguments
            assert f"    {argument}: " in public(name).__doc__


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_copied_asks_the_same(name: str) -> None:
    """The words of the question, read by its command, are the question."""
    asked, found = of_python(name), []

    def caught(question: Question, _: object) -> None:
        found.append(question)
        raise UserError("caught", "", "", "")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(commands, "answer", caught)
        CliRunner().invoke(app, words(asked))
    assert found == [asked]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] if name in SLOW else [])
        for name in QUESTIONS
        if name not in (*WALL_CLOCK, *OF_FILES) and declared(name).has_json
    ],
)
def test_the_command_prints_what_python_gives(name: str, tmp_path: Path) -> None:
    asked = of_python(name)
    done = CliRunner().invoke(app, [*words(asked), "--json"])
    assert done.exit_code == CODES.get(name, 0), done.output
    document = json.loads(done.stdout)
    if schema := declared(name).schema:
        assert next(iter(document.items())) == ("schema", schema)
    mine = {"progress": False} if declared(name).runs else {}
    found = ask(asked) if name in COLUMNS else called(name, **mine)
    # Another process gets the same result.
    for result in (found, pickle.loads(pickle.dumps(found))):
        given, schema = (result.to_dicts(), "") if isinstance(result, pl.DataFrame) else asked.document(result)
        answer = json.loads(json.dumps(with_schema(given, schema) if schema else given))
        assert without_words(answer) == without_words(document)


def without_words(document: Any) -> Any:
    """A document without the words of its face that ask the same again; a list has none."""
    if isinstance(document, list):
        return document
    return {key: value for key, value in document.items() if key != "command"}


def test_a_report_is_what_python_saves(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*words(of_python("report")), "-o", str(tmp_path / "printed.html")])
    assert (done.exit_code, f" Report: {tmp_path / 'printed.html'} " in " ".join(done.stdout.split())) == (0, True)
    called("report").save(tmp_path / "saved.html")
    assert (tmp_path / "saved.html").read_bytes() == (tmp_path / "printed.html").read_bytes()


def bounded() -> list[tuple[str, Field]]:
    return [(name, one) for name in QUESTIONS for one in fields_of(declared(name)) if one.says.least is not None]


@pytest.mark.parametrize(("name", "one"), bounded(), ids=lambda of: of if isinstance(of, str) else of.name)
def test_a_number_beyond_its_ends_is_refused_by_its_name(name: str, one: Field) -> None:
    with pytest.raises(UserError) as error:
        called(name, **{one.name: one.says.least - 1})  # type: ignore[operator]
    assert (error.value.where, error.value.value) == (one.name, shown(one.says.least - 1))  # type: ignore[operator]
    assert "expected " in error.value.accepted


def test_each_answer_that_python_gives_as_a_frame_has_one() -> None:
    frames = [question for question in map(declared, QUESTIONS) if question.as_frame]
    # A function without arguments returns the list alone: an entry in detail is for the command line.
    shown_by = [[*each.shown, each.answers] if [*function.parameters(each)] else [each.answers] for each in frames]
    types = {each for answers in shown_by for each in answers}
    assert len(types) > 3
    assert [each for each in types if not hasattr(pydoc.locate(each.replace(":", ".")), "frame")] == []


def test_only_what_differs_is_given() -> None:
    names = [one.name for one, _ in given(of_python("reliability"))]
    assert names == [
        "on",
        "settings",
        "afr",
        "spares",
        "replacement",
        "arrays",
    ]
