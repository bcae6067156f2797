"""Are fleets simulated, results judged and products fitted from files that were dropped, and no other file read?"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dropped_files import FLEET, result_text
from served_page import Served

from hotband.faces.ui import calls_on_files


def token(served: Served) -> dict[str, str]:
    return {"x-hotband-token": served.ui.token}


def test_a_fleet_that_is_dropped_is_simulated_as_the_command_does(
    served: Served, hotband: Callable[..., Any], tmp_path: Path
) -> None:
    dropped = served.drop("two-halls.toml", FLEET.encode())
    assert (dropped["kind"], dropped["title"].startswith("two-halls")) == ("fleet", True)
    done = served.finish("fleet", {"fleet": dropped["name"]})
    assert done["state"] == "done", done
    assert [len(line["points"]) for line in done["shown"]["charts"][0]["lines"]] == [12] * 3
    assert b"raid5:4xent-10k" in served.ask("GET", f"/api/jobs/{done['id']}/report", None, token(served))[2]
    assert done["command"] == "hotband fleet two-halls.toml"
    (tmp_path / "two-halls.toml").write_text(FLEET)
    printed = " ".join(hotband(*shlex.split(done["command"])[1:], "--details").stdout.split())
    assert [sentence for sentence in done["shown"]["lead"] if sentence not in printed] == []


def test_a_result_is_judged_on_a_machine(served: Served) -> None:
    name = served.drop("disk.json", result_text())["name"]
    done = served.finish("expect", {"result": [name], "on": ["ent-10k"], "draws": "8", "duration": "2 s"})
    assert done["state"] == "done", done
    assert done["shown"]["lead"][0].startswith("On ent-10k: ")
    assert done["shown"]["tables"][0]["title"] == "Measured beside predicted"
    assert "--on ent-10k" in done["command"]


def test_a_product_that_was_fitted_is_a_drive_of_the_page(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit itself has its own tests: here a file is written as it would be."""
    said: list[Any] = []

    def answered(asked: Any, _: object) -> None:
        said.append(asked)
        asked.output.write_text('variant_of = "ent-10k"\ntitle = "fitted"\n[values]\nrpm = "9000 rpm"\n')

    monkeypatch.setattr(calls_on_files, "answered", answered)
    empty: dict[str, list[Any]] = {"cards": [], "charts": [], "tables": [], "notes": []}
    monkeypatch.setattr(calls_on_files.shown, "of_calibrated", lambda of, file: {**empty, "lead": [file]})
    name = served.drop("disk.json", result_text())["name"]
    done = served.finish("calibrate", {"result": [name], "like": "ent-10k", "seed": "5"})
    assert done["state"] == "done", done
    [file] = done["shown"]["lead"]
    assert (said[0].like.name, said[0].seed) == ("ent-10k", 5)
    assert "--output ent-10k-fitted.toml" in done["command"]
    ran = served.finish("run", {"workload": "fio-randread", "on": [file], "duration": "1 s"})
    assert ran["state"] == "done", ran


@pytest.mark.parametrize(
    ("kind", "form", "field", "said"),
    [
        ("fleet", {}, "fleet", "is missing"),
        ("fleet", {"fleet": "/etc/passwd"}, "fleet", "dropped"),
        ("fleet", {"fleet": "dropped/none.toml"}, "fleet", "dropped"),
        ("expect", {}, "result", "is missing"),
        ("expect", {"result": ["/etc/passwd"]}, "result", "expected a name"),
        ("expect", {"result": ["disk"]}, "result", "dropped on the page"),
        ("calibrate", {"result": [], "like": "ent-10k"}, "result", "is missing"),
    ],
)
def test_a_mistake_is_said_beside_its_field(
    served: Served, kind: str, form: dict[str, Any], field: str, said: str
) -> None:
    error = served.refused(kind, form)
    assert (error["field"], said in error["text"]) == (field, True), error


def test_mistakes_beside_a_result_are_said_of_their_field(served: Served) -> None:
    name = served.drop("disk.json", result_text())["name"]
    for kind, changed, field in (
        ("expect", {"on": ["ent-1ok"]}, "on"),
        ("expect", {"on": ["ent-10k", "ent-15k"]}, "on"),
        ("expect", {"on": ["ent-10k"], "draws": "2"}, "draws"),
        ("calibrate", {"like": "ent-1ok"}, "like"),
        ("calibrate", {"like": "/etc/passwd"}, "like"),
    ):
        error = served.refused(kind, {"result": [name], **changed})
        assert error["field"] == field, error


@pytest.mark.parametrize(
    "line",
    [
        'lifetimes = "/etc/passwd"', 'lifetimes = "../secret.csv"', 'rebuild_record = "/tmp/x"', 'lifetimes = "x.csv"',
        'workload = "/etc/passwd"', 'workload = "secret.toml"',
    ],
)  # fmt: skip
def test_a_fleet_names_no_file_of_this_computer(served: Served, line: str) -> None:
    answer = served.drop("evil.toml", (FLEET + line + "\n").encode())
    assert "was not dropped" in answer["error"]["text"], answer


def test_a_fleet_names_no_drive_of_this_computer(served: Served) -> None:
    machine = FLEET.replace("raid5:4xent-10k", "raid5:4x/etc/passwd")
    assert "was not dropped" in served.drop("evil.toml", machine.encode())["error"]["text"]
