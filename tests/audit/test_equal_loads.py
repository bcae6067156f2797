"""Is every key of a workload part of what makes two loads equal?"""

from __future__ import annotations

import pytest
from made_up import SSD, changed, deep, result

import hotband as hb
import hotband._core as _core
from hotband.base.errors import UserError
from hotband.data.inputs.keys import set_keys
from hotband.inference.audit import Audited
from hotband.inference.audit.alike import check, unlike_words
from hotband.inference.audit.audited import Side
from hotband.inference.audit.compare import compare
from hotband.inference.audit.load import audited_record

WORKLOAD = (
    '[load]\nclosed = { threads = 4, depth = 1 }\n[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
)


def model(name: str, workload: str = WORKLOAD, machine: str = "ent-10k", **settings: str) -> Audited:
    """Return a record of a model with a workload and settings."""
    one = changed(result(name, deep(4), concurrency=4, target=machine), "target", "kind", to="model")
    return changed(one, "spec", to={"workload": workload, "set": settings})


KEYS = [key for key in set_keys("fio-randread", "ent-10k") if key.part == "workload"]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.key)
def test_a_key_of_the_workload_that_differs_is_named(key: object) -> None:
    name = str(getattr(key, "key"))  # noqa: B009
    words = unlike_words(model("a"), model("b", **{name: "7"}))
    judged = name in ("qd", "depth", "threads", "rate_iops", "bs", "read_pct", "random_pct")
    assert words or judged, "of these the records have the values that were used"


def test_keys_of_drives_are_of_the_target() -> None:
    assert unlike_words(model("a"), model("b", wce="off", queue_tags="1")) == []


@pytest.mark.parametrize("line", ['range = "0 to 10 %"', "offsets = { zipf = 1.2 }", "a_key_of_tomorrow = 3"])
def test_a_key_in_the_text_of_the_workload_counts(line: str) -> None:
    (words,) = unlike_words(model("a"), model("b", WORKLOAD + line))
    assert words.startswith("streams[0].")
    assert unlike_words(model("a"), model("b", f'title = "other"\n{WORKLOAD}')) == []


def test_unequal_loads_are_refused_with_what_is_equal() -> None:
    sides = [Side(run.name, [run]) for run in (model("a"), model("b", span="10GB"))]
    with pytest.raises(UserError) as error:
        compare(*sides)
    words = "span differs: not set and 10GB; equal: concurrency 4, size of an I/O 4096, share of reads 100.0"
    assert words in str(error.value)
    assert compare(*sides, anyway=True).unlike == ["span differs: not set and 10GB"]


def test_options_of_fio_count_by_their_value() -> None:
    texts = (("a", "1000"), ("b", "1ms"))
    runs = [result(name, SSD, spec={"global": {"thinktime": text}, "jobs": {}}) for name, text in texts]
    assert unlike_words(runs[0], result("c", SSD, spec={})) == ["thinktime differs: 1000 and not set"]
    assert unlike_words(runs[1], runs[1]) == []


def test_the_audit_names_targets_under_unequal_loads() -> None:
    (finding,) = check([model("a"), model("b", machine="ent-15k", think="1 ms")])
    assert finding.title == "Targets are compared under unequal loads (think): not set, 1 ms"
    assert check([model("a"), model("b", machine="ent-15k")]) == []


def test_one_run_each_is_faster_by_so_many_times() -> None:
    slow, fast = (result(name, SSD, concurrency=4, seconds=1, slower=by) for name, by in (("slow", 1.0), ("fast", 0.2)))
    found = compare(Side("slow", [slow]), Side("fast", [fast]))
    assert (found.verdict, found.differences[0].low_pct) == ("faster", None)
    assert "one run each, so how much runs differ is unknown" in found.differences[0].how


def test_the_headline_follows_the_figure_that_moved() -> None:
    base, other = result("a", SSD, concurrency=4, kind="json"), result("b", SSD, concurrency=4, kind="json")
    printed = other.record["streams"][0]["read"]["percentiles"]
    points = [[pct, 5 * value if pct >= 99 else value] for pct, value in printed]
    found = compare(Side("a", [base]), Side("b", [changed(other, "streams", 0, "read", "percentiles", to=points)]))
    assert found.verdict == "slower"
    assert found.deciding is not None
    assert found.deciding.metric in ("p99", "p99.9")


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (WORKLOAD + 'range = ["0 B", "64 MiB"]\n', {}),
        (WORKLOAD, {"random_pct": "50", "span": "10 %", "qd": "8"}),
        (WORKLOAD + '[[phases]]\nname = "warm-up"\nduration = "1 s"\n', {"warm_up": "0 s", "state": "fob"}),
    ],
    ids=["range", "settings", "phases and state"],
)
@pytest.mark.parametrize("kind", ["emulated", "real"])
def test_a_workload_is_one_load_on_all_targets(text: str, settings: dict[str, str], kind: str) -> None:
    """A record of fio has a workload whose text has the settings; its options name the engine, which differs."""
    text = f'title = "t"\nsource = "s"\n{text}[[phases]]\nname = "measure"\nduration = "1 s"\nmeasure = true\n'
    applied = [pair for pair in settings.items() if pair[0] != "state"]
    spec = {
        "global": {"ioengine": "nbd"} if kind == "emulated" else {"ioengine": "libaio", "direct": "1"},
        "jobs": {"j": {"rw": "randread", "bs": "4096", "offset": "0", "size": "67108864"}},
        "workload": _core.workload(text, "text", applied)["text"],
        "set": settings,
    }
    measured = changed(result("b", SSD, concurrency=4, working_set_bytes=2**26), "target", "kind", to=kind)
    measured = changed(measured, "spec", to=spec)
    of_model = model("a", text, wce="off", **settings)
    assert unlike_words(of_model, measured) == unlike_words(measured, of_model) == []
    other = model("a", text.replace("read_pct = 100", 'read_pct = 100\nalign = "8 KiB"'), **settings)
    assert unlike_words(other, measured) == ["streams[0].align differs: 8 KiB and not set"]
    direct = changed(measured, "spec", "global", to={"direct": "1"})
    assert unlike_words(direct, measured) == check([direct, changed(measured, "source", "target", to="sdb")]) == []


@pytest.mark.parametrize(("lines", "differs"), [('range = ["1 GiB", "2 GiB"]', False), ("", True)])
def test_a_range_is_the_span_of_a_workload(lines: str, differs: bool) -> None:
    record = hb.run("fio-randread", on="ent-10k", duration="0.1 s").to_dict()
    record["spec"]["workload"] = record["spec"]["workload"].replace("[[phases]]", f"{lines}\n[[phases]]", 1)
    of_model, measured = audited_record(record, None), result("b", SSD, working_set_bytes=2**30)
    assert any("span" in words for words in unlike_words(of_model, measured)) is differs


@pytest.mark.parametrize("kind", ["emulated", "real"])
def test_a_run_of_hotband_and_a_result_of_fio_are_compared_by_options(kind: str) -> None:
    """Only one of them has a workload; both have the options of fio."""
    jobs = {"j": {"rw": "randread", "bs": "4096"}}
    spec = {"global": {"ioengine": "libaio", "direct": "1"}, "jobs": jobs, "workload": WORKLOAD}
    ours = changed(changed(result("a", SSD, concurrency=4), "target", "kind", to=kind), "spec", to=spec)
    skewed = {"random_distribution": "zipf:1.2", "thinktime": "1"}
    other = changed(
        result("b", SSD, concurrency=4, target="/dev/sdc"),
        "spec",
        to={"global": spec["global"], "jobs": {"j": jobs["j"] | skewed}},
    )
    words = ["random_distribution differs: not set and zipf:1.2", "thinktime differs: not set and 1"]
    assert unlike_words(ours, other) == words
    assert [finding.numbers["what"] for finding in check([ours, other])] == list(skewed)
    alike = changed(other, "spec", "jobs", to=jobs)
    assert unlike_words(ours, alike) == check([ours, alike]) == []


def test_a_result_of_another_tool_has_no_workload_of_hotband() -> None:
    """vdbench's parameters are under the same key of a record."""
    spec = {"workload": "wd=w1,sd=*,hotband=(10,18)"}
    runs = [result(name, SSD, tool="vdbench", concurrency=4, spec=spec) for name in ("a", "b")]
    assert unlike_words(*runs) == check([*runs, model("m")]) == []
