"""Does `hb.why` give what `hotband run --explain` prints?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hotband as hb
from hotband.data.catalog import entries

LOAD, MACHINE = "fio-randread", "ent-10k"


@pytest.fixture
def found() -> hb.Why:
    return hb.explain(LOAD, on=MACHINE, figure="p99", interval=80, draws=8, duration="2 s", qd=4, progress=False)


@pytest.mark.long
def test_it_is_what_the_command_prints(hotband, found: hb.Why) -> None:
    options = ("--figure", "p99", "--interval", "80", "--draws", "8", "--duration", "2 s", "--set", "qd=4")
    done = hotband("run", "--explain", LOAD, "--on", MACHINE, *options, "--json")
    assert json.loads(json.dumps(found.to_dict())) == json.loads(done.stdout)


def test_its_attributes_are_those_of_the_document(found: hb.Why) -> None:
    assert (found.figure, found.unit, found.level) == ("latency_p99_ns", "ns", 80.0)
    assert found.low < found.predicted < found.high
    assert found.of_values + found.of_seed + found.of_model == pytest.approx(1.0)
    assert found.frame.height == len(found.to_dict()["values"]) > 0
    assert found.advice in found._repr_html_()


def test_texts_are_run_as_what_they_are_named_by_in_the_catalog(found: hb.Why, tmp_path: Path) -> None:
    text = str(entries.workload(LOAD)["text"])
    of_text = hb.explain(text, on=MACHINE, figure="p99", interval=80, draws=8, duration="2 s", qd=4, progress=False)
    assert (of_text.predicted, of_text.low, of_text.high) == (found.predicted, found.low, found.high)


@pytest.mark.parametrize(
    ("options", "file", "value"),
    [
        ({"figure": "p98"}, "figure", "p98"),
        ({"figure": "write.p99"}, "figure", "write.p99"),
        ({"interval": 100}, "interval", "100"),
        ({"draws": 2}, "draws", "2"),
        ({"seed": -1}, "seed", "-1"),
        ({"on": "ent"}, "on", "ent"),
        ({"workload": "fio"}, "workload", "fio"),
        ({"duration": "5"}, "duration", "5"),
        ({"executor": "cloud"}, "executor", "cloud"),
        ({"on": "real:/tmp"}, "on", "real:/tmp"),
    ],
)
def test_a_mistake_names_the_argument(options: dict[str, object], file: str, value: str) -> None:
    with pytest.raises(hb.UserError) as caught:
        hb.explain(**{"workload": LOAD, "on": MACHINE, "draws": 8, **options})
    assert (caught.value.file, caught.value.value) == (file, value)
    assert "--" not in str(caught.value)


def test_it_explains_the_prediction_of_a_run() -> None:
    """Of a solid-state drive that is worn in: a new one does 2.5 times as many reads."""
    run = hb.run("fio-randread", on="pm9a3-3840", qd=1, seed=7, duration="200 ms", precision="off")
    why = hb.explain("fio-randread", on="pm9a3-3840", qd=1, seed=7, duration="200 ms", draws=8, progress=False)
    assert why.predicted == pytest.approx(run.iops, rel=0.05)
