"""Does a job end as it should: done, stopped, or with the server?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from served_page import Served

Hotband = Callable[..., Any]
LONG = {"workload": "fio-randread", "on": ["raid10:8xexos-15e900-512n"], "duration": "90000 s"}


def test_a_job_under_way_is_stopped(served: Served) -> None:
    name = served.post("/api/jobs", {"kind": "run", "form": LONG})["id"]
    served.post(f"/api/jobs/{name}/stop", {})
    assert served.ended(name)["state"] == "stopped"


def test_a_sweep_that_is_stopped_shows_what_ended(served: Served) -> None:
    form = {"workload": "fio-randread", "on": ["ent-10k"], "duration": "60 s", "settings": [["qd", "1..20/1"]]}
    job = served.ui.jobs.all[served.post("/api/jobs", {"kind": "sweep", "form": {**form, "repeat": "20"}})["id"]]
    while job.done < 2 and not job.ended.wait(0.02):
        pass
    served.post(f"/api/jobs/{job.id}/stop", {})
    done = served.ended(job.id)
    assert done["state"] == "stopped"
    assert done["shown"]["lead"][0].startswith("Stopped: ")
    assert done["shown"]["tables"][0]["rows"]


def test_jobs_wait_for_their_turn_and_are_stopped_before_it(served: Served) -> None:
    names = [served.post("/api/jobs", {"kind": "run", "form": LONG})["id"] for _ in range(3)]
    assert served.ui.jobs.all[names[2]].state == "waiting"
    for name in reversed(names):
        served.post(f"/api/jobs/{name}/stop", {})
    assert [served.ended(name)["state"] for name in names] == ["stopped"] * 3
    assert not served.ui.jobs.all[names[2]].points, "it never began"


def test_too_many_jobs_are_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from hotband.faces.ui import jobs

    monkeypatch.setattr(jobs, "MOST_WAITING", 0)
    answer = served.post("/api/jobs", {"kind": "run", "form": LONG})
    assert "waiting already" in answer["error"]["text"]


def test_the_live_series_is_that_of_the_record(served: Served) -> None:
    form = {"workload": "fio-randread", "on": ["ent-10k"], "duration": "20 s", "settings": [["qd", "4"]]}
    done = served.finish("run", form)
    record = served.store / "jobs" / done["id"]
    import hotband as hb

    series = hb.load(record).series
    points = served.ui.jobs.all[done["id"]].points
    assert [point[0] for point in points] == [at / 1e9 for at in series["time_ns"]]
    assert [point[1] for point in points] == series["iops"].to_list()
    assert [point[2] for point in points] == pytest.approx([ns / 1e6 for ns in series["latency_mean_ns"]])


def test_a_live_chart_never_stops_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine simulates hours in a second: after `FINE_POINTS` a point stands for two intervals, then for four."""
    from hotband.faces.ui import jobs

    monkeypatch.setattr(jobs, "FINE_POINTS", 4)
    job = jobs.Job("a", "run", "a", "", {}, call=None)  # type: ignore[arg-type]
    job.take((second * 10**9, float(second), None if second == 6 else 2e6) for second in range(18))
    assert [at for at, _, _ in job.points] == [0, 1, 2, 3, 4, 6, 8, 10, 12]
    assert [iops for _, iops, _ in job.points] == [0, 1, 2, 3, 4.5, 6.5, 8.5, 10.5, 13.5]
    assert {mean for _, _, mean in job.points} == {2.0}


def test_our_own_failure_is_a_line_on_the_page_and_the_whole_on_the_terminal(
    served: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from hotband.faces.ui import shown

    monkeypatch.setattr(shown, "of_record", lambda _: {}["gone"])
    done = served.finish("run", {"workload": "fio-randread", "on": ["ent-10k"], "duration": "1 s"})
    assert done["state"] == "failed"
    assert "Traceback" not in str(done)
    assert "KeyError" in done["error"]
    assert "Traceback" in capfd.readouterr().err


def test_a_server_that_begins_again_has_what_was_kept(serving: Callable[[Path], Served], tmp_path: Path) -> None:
    from hotband.faces.ui.kept import Kept

    first = serving(tmp_path / "store")
    done = first.finish("run", {"workload": "fio-randread", "on": ["ent-10k"], "duration": "1 s"})
    # What a server that was killed leaves: a job that never ended, half a file, and a folder that is none of ours.
    jobs = first.store / "jobs"
    for name, text in (("sweep-7", json.dumps({**done, "id": "sweep-7", "state": "running"})), ("run-8", '{"id": '),
                       ("../evil", "{}"), ("x" * 40, json.dumps(done))):  # fmt: skip
        (jobs / name).mkdir(exist_ok=True)
        (jobs / name / "job.json").write_text(text)
    again = Kept(first.ui.kept.path)
    again.lock = type("Free", (), {"__enter__": lambda self: self, "__exit__": lambda *_: None})()
    again.open()
    found = {one["id"]: one for one in again.listing()}
    assert sorted(found) == ["run-1", "sweep-7"]
    assert (found["run-1"]["state"], found["sweep-7"]["state"]) == ("done", "stopped")
    assert "server ended" in str(found["sweep-7"]["error"])
    assert again.new_id("run") == "run-8"


def test_two_servers_do_not_write_one_store(served: Served, hotband: Hotband) -> None:
    done = hotband("ui", "--no-browser", "--store", str(served.ui.kept.path))
    assert (done.returncode, "is writing there" in done.stderr) == (2, True), done.stderr


def test_a_port_that_is_taken_is_a_mistake(served: Served, hotband: Hotband) -> None:
    done = hotband("ui", "--no-browser", "--port", str(served.port))
    assert (done.returncode, "--port" in done.stderr) == (2, True), done.stderr


def strip(document: Any, names: tuple[str, ...]) -> Any:
    return {key: value for key, value in document.items() if key not in names}


def ran(hotband: Hotband, command: str) -> Any:
    """What the command that the page shows prints."""
    program, *words = shlex.split(command)
    assert program == "hotband"
    done = hotband(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "form",
    [
        {"on": ["exos-15e900-512n"]},
        {
            "on": ["raid5:4xent-10k"],
            "settings": [["qd", "16"], ["bs", "8 KiB"]],
            "seed": "7",
            "events": ["at 1 s: fail d1"],
        },
    ],
)
def test_the_command_of_a_run_leaves_the_same_record(served: Served, hotband: Hotband, form: dict[str, Any]) -> None:
    done = served.finish("run", {"workload": "fio-randread", "duration": "2 s", **form})
    record = json.loads((served.store / "jobs" / done["id"] / "record.json").read_text())
    assert ran(hotband, done["command"]) == record


def test_the_command_of_a_sweep_has_the_same_rows(served: Served, hotband: Hotband) -> None:
    import polars as pl

    form = {"workload": "fio-randread", "on": ["ent-10k", "ent-15k"], "duration": "1 s", "settings": [["qd", "1..4"]]}
    done = served.finish("sweep", {**form, "repeat": "2"})
    frame = pl.read_parquet(served.store / "jobs" / done["id"] / "runs" / "sweep.parquet")
    assert ran(hotband, done["command"])["runs"] == frame.to_dicts()


def test_the_command_of_a_question_has_the_same_answer(served: Served, hotband: Hotband) -> None:
    form = {"question": "IOPS at p99 < 30 ms", "workload": "fio-randread", "on": ["ent-10k"], "ios": "1000"}
    done = served.finish("find", {**form, "within": "20"})
    answer = ran(hotband, done["command"])["answers"][0]
    assert done["shown"]["lead"] == [f"ent-10k: {answer['text']}."]


@pytest.mark.long
def test_the_command_of_a_review_has_the_same_figures(served: Served, hotband: Hotband) -> None:
    done = served.finish("review", {"on": ["ent-10k", "ent-15k"], "quick": True, "only": ["access"]})
    kept = json.loads((served.store / "jobs" / done["id"] / "comparison.json").read_text())
    assert ran(hotband, done["command"])["comparison"] == kept


def test_the_command_of_a_comparison_has_the_same_verdict(served: Served, hotband: Hotband, tmp_path: Path) -> None:
    form = {"workload": "fio-randread", "duration": "20 s"}
    names = [served.finish("run", {**form, "on": [one]})["id"] for one in ("ent-10k", "ent-15k")]
    done = served.finish("compare", {"results": names})
    assert done["command"] == f"hotband compare {names[0]}.json {names[1]}.json"
    token = {"x-hotband-token": served.ui.token}
    for name in names:
        (tmp_path / f"{name}.json").write_bytes(served.ask("GET", f"/api/jobs/{name}/record", None, token)[2])
    comparison = ran(hotband, done["command"])["comparisons"][0]
    lead = done["shown"]["lead"][0]
    assert lead.startswith(f"{names[1]} (fio-randread on ent-15k) is ")
    assert f" {comparison['verdict']} than {names[0]} (fio-randread on ent-10k) (" in lead


def test_reports_are_made_when_they_are_asked_for_and_cannot_ask_the_server(served: Served) -> None:
    done = served.finish("run", {"workload": "fio-randread", "on": ["ent-10k"], "duration": "2 s"})
    token = {"x-hotband-token": served.ui.token}
    status, headers, body = served.ask("GET", f"/api/jobs/{done['id']}/report", None, token)
    assert (status, b"vegaEmbed" in body) == (200, True)
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in headers["content-security-policy"]
    headers = served.ask("GET", f"/api/jobs/{done['id']}/report?as=file", None, token)[1]
    assert headers["content-disposition"] == f'attachment; filename="{done["id"]}.html"'


def test_the_command_of_an_advice_recommends_the_same(served: Served, hotband: Hotband, tmp_path: Path) -> None:
    table = b"drive,price,currency\nent-10k,300,EUR\nent-15k,280..320,EUR\n"
    (tmp_path / "prices.csv").write_bytes(table)
    prices = served.drop("prices.csv", table)
    assert prices["kind"] == "prices", prices
    form = {"workload": ["fio-randread"], "slo": "p99 < 60 ms", "capacity": "1 TB", "protect": "one failure"}
    space = {"drives": ["ent-10k"], "layouts": ["raid1"], "counts": ["2"], "prices": prices["name"], "draws": "8"}
    done = served.finish("advise", {**form, **space})
    assert done["state"] == "done", done
    advice = ran(hotband, done["command"])
    assert done["shown"]["lead"] == advice["answer"]
    assert served.ask("GET", f"/api/jobs/{done['id']}/report", None, {"x-hotband-token": served.ui.token})[0] == 200


def test_the_command_of_a_study_is_that_of_the_form(served: Served) -> None:
    """Run it would take as long as everything else here together."""
    form = {"study": "content-hdd", "only": ["128k-read"], "seed": "7"}
    found = served.post("/api/command", {"kind": "study", "form": form})
    assert found == {"command": "hotband study run content-hdd --seed 7 --only 128k-read"}


def test_an_ambiguous_reading_of_a_dropped_trace_is_said_first(
    served: Served, hotband: Hotband, tmp_path: Path
) -> None:
    table = b"Time (ms);Op;Offset (bytes);Size (bytes);Latency (us)\n0,5;R;1048576;8192;200\n100,5;R;2097152;8192;100\n"
    (tmp_path / "a.csv").write_bytes(table)
    dropped = served.drop("a.csv", table)
    done = served.finish("run", {"workload": dropped["name"], "on": ["ent-10k"]})
    assert done["state"] == "done", done
    doubt = "Time (ms) is read as the time of issue; that of completion would fit as well"
    assert doubt in done["shown"]["lead"][0]
    # As the command says it; no other run inherits it.
    assert doubt in " ".join(hotband("run", str(tmp_path / "a.csv"), "--on", "ent-10k").stdout.split())
    other = served.finish("run", {"workload": "fio-randread", "on": ["ent-10k"], "duration": "1 s"})
    assert not [line for line in other["shown"]["lead"] if "would fit" in line]
