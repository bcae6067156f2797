"""Is every mistake said beside its field, and nothing of this computer's files read that was not dropped?"""

from __future__ import annotations

from typing import Any

import pytest
from served_page import Served

from hotband.faces.ui import server
from hotband.faces.ui.calls import prepare
from hotband.faces.ui.form import Form

RUN: dict[str, Any] = {"workload": "fio-randread", "on": ["exos-15e900-512n"], "duration": "1 s"}


@pytest.mark.parametrize(
    ("kind", "changed", "field", "said"),
    [
        ("run", {"workload": ""}, "workload", "is missing"),
        ("run", {"workload": "fio-randred"}, "workload", 'did you mean "fio-randread"'),
        ("run", {"workload": 5}, "workload", "expected text"),
        ("run", {"workload": "a\nb"}, "workload", "one line"),
        ("run", {"workload": "a" * 3000}, "workload", "longer than 2000"),
        ("run", {"on": []}, "on", "is missing"),
        ("run", {"on": ["ent-1ok"]}, "on", "did you mean ent-1"),
        ("run", {"on": ["ent-10k", "ent-1ok"]}, "on", "did you mean ent-1"),
        ("run", {"on": "ent-10k"}, "on", "expected a list"),
        ("run", {"on": ["raid5:2xent-10k"]}, "on", "raid5"),
        ("run", {"on": ["ent-10k"] * 101}, "on", "at most 100"),
        ("run", {"duration": "fast"}, "duration", "expected a time"),
        ("run", {"seed": "-1"}, "seed", "whole number"),
        ("run", {"seed": "99999999999999999999"}, "seed", "whole number"),
        ("run", {"settings": [["qd", "many"]]}, "settings", "qd = 'many'"),
        ("run", {"settings": [["", "4"]]}, "settings", "has no key"),
        ("run", {"settings": [["qd", ""]]}, "settings", "has no value"),
        ("run", {"settings": [["qd", "1"], ["qd", "2"]]}, "settings", "given twice"),
        ("run", {"settings": [["data", "/tmp/x.json"]]}, "settings", "is a file"),
        ("run", {"settings": [["data", "/dev/stdin"]]}, "settings", "is a file"),
        ("run", {"settings": {"qd": 1}}, "settings", "expected a list"),
        ("run", {"settings": [["qdd", "4"]]}, "settings", "qdd"),
        ("run", {"events": ["at 5 s: explode d0"]}, "events", ""),
        ("run", {"interval": "200"}, "interval", "200"),
        ("run", {"interval": "a lot"}, "interval", "percentage"),
        ("sweep", {"settings": [["qd", "9..1"]]}, "settings", ""),
        ("sweep", {"repeat": "0"}, "repeat", "whole number"),
        ("find", {"question": ""}, "question", "is missing"),
        ("find", {"question": "why"}, "question", ""),
        ("find", {"question": "IOPS at p99 < 9 ms", "within": "99"}, "within", "0.1 to 50"),
        ("find", {"question": "IOPS at p99 < 9 ms", "range": "5"}, "range", "LOW..HIGH"),
        ("review", {"only": ["speed"], "quick": True}, "only", "speed"),
        ("review", {"quick": "yes"}, "quick", "true or false"),
        ("study", {"study": "nothing"}, "study", "expected one of"),
        ("study", {"study": "content-hdd", "only": ["nothing"]}, "only", "nothing"),
        ("compare", {"results": ["run-999999"]}, "results", "expected two"),
        ("compare", {"results": ["run-999999", "run-999998"]}, "results", "run-999999"),
    ],
)
def test_a_mistake_is_said_beside_its_field(
    served: Served, kind: str, changed: dict[str, Any], field: str, said: str
) -> None:
    error = served.refused(kind, {**RUN, **changed})
    assert (error["field"], said in error["text"]) == (field, True), error
    assert "Traceback" not in str(error)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"kind": 5}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_form_is_a_mistake(served: Served, body: bytes) -> None:
    status, _, answer = served.ask("POST", "/api/jobs", body, {"x-hotband-token": served.ui.token})
    assert (status, b"expected" in answer) == (200, True)


def test_what_is_refused_leaves_no_result_behind(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SETTLED_S", 60.0)
    before = [one["id"] for one in served.get("/api/jobs")]
    assert "error" in served.post("/api/jobs", {"kind": "run", "form": {**RUN, "on": ["ent-1ok"]}})
    assert [one["id"] for one in served.get("/api/jobs")] == before


PATHS = [
    "/etc/passwd", "../../secret.toml", "./drive.toml", "drive.toml", "~/drive.toml", "real:/dev/vda", "nbd:/run/x",
    "raid5:8x/etc/passwd", "raid5:8x../secret.toml", "dropped/../../secret.toml", "dropped/none.toml",
    "/tmp/dropped/x.toml", "..\\secret.toml", "x.parquet", "load = 5", "real:dropped/x",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("field", ["workload", "on"])
def test_no_field_names_a_file_of_this_computer(served: Served, field: str, path: str) -> None:
    value: object = path if field == "workload" else [path]
    error = served.refused("run", {**RUN, field: value})
    assert error["field"] == field, error
    assert "root:" not in str(error)
    # The same of the list of keys, which reads them, too.
    asked = {"workload": RUN["workload"], "on": RUN["on"][0], field: path}
    from urllib.parse import urlencode

    assert "error" in served.get(f"/api/keys?{urlencode(asked)}")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/guard.py", "/static/index.html",
        "/static//etc/passwd", "/api/jobs/..", "/api/jobs/..%2f..%2fjobs/record", "/api/jobs/%2e%2e/record",
        "/api/jobs/run-999999/report", "/api/jobs/%2fetc%2fpasswd/record", "/api/jobs/run-1%00/record",
    ],
)  # fmt: skip
def test_no_address_leads_out_of_the_store(served: Served, path: str) -> None:
    status, _, body = served.ask("GET", path, None, {"x-hotband-token": served.ui.token})
    assert status == 404 or b'"error"' in body, (status, body[:200])
    assert b"root:" not in body
    assert b"import" not in body


def test_results_in_fields_are_looked_up(served: Served) -> None:
    for name in ("..", "../jobs", "/etc", "run-1/../..", ""):
        answer = served.post("/api/jobs", {"kind": "compare", "form": {"results": [name, name]}})
        assert answer["error"]["field"] == "results", answer


ADVISE: dict[str, object] = {
    "workload": ["iometer-database"], "slo": "p99 < 40 ms", "capacity": "10 TB", "protect": "one failure",
    "drives": ["exos-x18-18tb,ent-10k"], "layouts": ["raid10"], "counts": ["8"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"workload": []}, "workload", "is missing"),
        ({"workload": ["fio-randred"]}, "workload", "did you mean"),
        ({"slo": ""}, "slo", "is missing"),
        ({"slo": "fast"}, "slo", ""),
        ({"capacity": "much"}, "capacity", ""),
        ({"protect": "all failures"}, "protect", "one failure"),
        ({"drives": ["ent-1ok"]}, "drives", "ent-1ok"),
        ({"layouts": ["raid99"]}, "layouts", "raid99"),
        ({"counts": ["many"]}, "counts", "many"),
        ({"power": "5"}, "power", "500 W"),
        ({"grow": "fast"}, "grow", "30 %/year"),
        ({"years": "0"}, "years", ""),
        ({"years": "ten"}, "years", "expected a number"),
        ({"prices": "/etc/passwd"}, "prices", "dropped"),
        ({"prices": "prices.csv"}, "prices", "dropped"),
    ],
)
def test_a_mistake_in_what_is_to_be_bought_is_said_beside_its_field(
    served: Served, changed: dict[str, object], field: str, said: str
) -> None:
    error = served.refused("advise", {**ADVISE, **changed})
    assert (error["field"], said in error["text"]) == (field, True), error


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_a_rate_is_read(served: Served, kind: str) -> None:
    fields = {"workload": "fio-randread", "on": ["ent-10k"], "rate": "100"}
    call = prepare(kind, Form(fields, served.ui.places.place, served.ui.kept.file_label))
    assert call.command == [kind, "fio-randread", "--on", "ent-10k", "--rate", "100"]
