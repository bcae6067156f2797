"""Do failures and loss of power happen in studies and reviews, and is a program of a stranger's folder left alone?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.events import check_events
from hotband.execution.experiment.experiment import execute

CONCLUDE = """
from pathlib import Path
from hotband.questions.study.study import Conclusion
Path(__file__).with_name("executed").touch()
def conclude(results):
    return Conclusion(claims=[{"text": "a claim", "holds": True, "source": "tiny-1"}])
"""


def test_events_of_every_kind_are_taken() -> None:
    check_events(["at 60 s: fail d3", "at  2 min : power-off", "at 0 s: osd-out data.1", "at 1 s: set d0.wce=off"])


@pytest.mark.parametrize(
    "text", ["", "fail d3", "at 5 s: fail", "at 5 s: explode d3", "at 5 s: power-off d1", "at: fail d"]
)
def test_what_is_no_event_is_told(text: str) -> None:
    with pytest.raises(UserError, match=r"question\.events"):
        check_events([text])


def test_a_run_with_events_is_that_with_the_options() -> None:
    from hotband.data.documents.run import Repair

    named = RunSpec("a", "raid1:2xsavvio-10k1", "fio-randread", duration="3 s", events=("at 1 s: fail d1",))
    options = RunSpec("b", named.machine, named.workload, duration="3 s", repair=Repair(("d1@1 s",)))
    one, other = execute([named, options])
    assert one.record == other.record
    assert one.record["repair"]


def test_a_study_has_configurations_that_fail(tiny: Path) -> None:
    file = tiny / "study.toml"
    degraded = '[[configs]]\nid = "degraded"\nlabel = "one failed"\nproduct = "exos-15e900-512n"\n'
    degraded += 'events = ["at 0 s: fail d1"]\nloads = ["mixed"]\n\n[[loads]]'
    file.write_text(file.read_text().replace("[[loads]]", degraded, 1))
    figures = {row["id"]: row["predicted"] for row in hb.study(str(tiny)).run(progress=False).to_dict()["figures"]}
    whole, failed = (figures[f"tiny/{config}/mixed/most"] for config in ("fifteen", "degraded"))
    assert 0 < failed < 0.9 * whole


def test_an_event_of_a_study_is_checked_with_the_file(tiny: Path, hotband) -> None:
    file = tiny / "study.toml"
    file.write_text(file.read_text().replace('label = "10K"', 'label = "10K"\nevents = ["fail d1"]'))
    done = hotband("study", "run", str(tiny))
    assert done.returncode == 2
    assert "study.toml: configs[1].events = 'fail d1'" in done.stderr


def test_a_degraded_review(hotband) -> None:
    arguments = ("review", "raid5:3xsavvio-10k1", "--quick", "--only", "access,streams", "--json")
    whole, degraded = (json.loads(hotband(*arguments, *more).stdout) for more in ((), ("--event", "at 0 s: fail d1")))
    assert degraded["machine"]["events"] == ["at 0 s: fail d1"]
    assert "in every run: at 0 s: fail d1" in degraded["notes"]
    assert degraded["access"]["read"]["mean_ns"] > whole["access"]["read"]["mean_ns"]


def test_a_program_of_a_strangers_folder_is_executed_with_trust_only(tiny: Path, hotband) -> None:
    (tiny / "findings.py").write_text(CONCLUDE)
    arguments = ("study", "run", str(tiny), "--json")
    done = hotband(*arguments)
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert "--trust" in done.stderr
    assert "findings.py was not executed" in result["untrusted"]
    assert result["claims"] == []
    assert not (tiny / "executed").exists()
    result = json.loads(hotband(*arguments, "--trust").stdout)
    assert [one["text"] for one in result["claims"]] == ["a claim"]
    assert "untrusted" not in result
    assert "--trust" in result["command"]


def test_a_study_of_the_catalog_is_trusted_by_its_path_too() -> None:
    from hotband.data.catalog import STUDIES_DIR
    from hotband.questions.study.file import load
    from hotband.questions.study.study import not_trusted

    for name in ("content-hdd", str(STUDIES_DIR / "content_hdd"), f"{STUDIES_DIR}/../studies/content_hdd"):
        assert not_trusted(load(name), trust=False) is None
