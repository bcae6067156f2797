"""Is every run in the results store, and is every run of the store on the page?"""

from __future__ import annotations

from urllib.parse import quote

import pytest
from served_page import Served

import hotband as hb

RUN = {"workload": "fio-randread", "on": ["ent-10k"], "duration": "2 s"}


def runs(served: Served, where: str) -> list[dict[str, object]]:
    found = served.get(f"/api/runs?where={quote(where)}")
    assert found["count"] == len(found["rows"])
    return list(found["rows"])


def test_runs_of_every_kind_are_added(served: Served) -> None:
    served.finish("run", {**RUN, "seed": "701", "settings": [["bs", "8 KiB"]]})
    served.finish("sweep", {**RUN, "seed": "702", "settings": [["qd", "1..4"]]})
    one = runs(served, "seed = 701")
    assert [(row["workload"], row["target"]) for row in one] == [("fio-randread", "ent-10k")]
    assert one[0]["factors"] == "bs=8 KiB"
    assert sorted(str(row["factors"]) for row in runs(served, "seed = 702")) == ["qd=1", "qd=2", "qd=4"]


def test_a_run_that_the_command_added_is_shown_and_reported(served: Served) -> None:
    record = hb.run("fio-randread", on="ent-15k", duration="2 s", seed=704)
    with hb.store(served.ui.kept.path) as store:
        key = store.append(record)
    [row] = runs(served, "seed = 704")
    assert row["run"] == key
    shown = served.get(f"/api/runs/{key}")
    assert (shown["title"], shown["shown"]["cards"][0][1]) == (record.name, "IOPS")
    token = {"x-hotband-token": served.ui.token}
    assert served.ask("GET", f"/api/runs/{key}/report", None, token)[0] == 200
    assert hb.load(served.store / "stored" / key).iops == record.iops


def test_runs_of_the_store_are_compared(served: Served) -> None:
    sides = [hb.run("fio-randread", on=one, duration="20 s", seed=705) for one in ("ent-10k", "ent-15k")]
    with hb.store(served.ui.kept.path) as store:
        keys = [store.append(one) for one in sides]
    done = served.finish("compare", {"results": keys})
    assert " is predicted to be 36.9 % faster than " in done["shown"]["lead"][0]


@pytest.mark.parametrize(
    "where",
    ["qd >>= 8", "no_such_column = 1", "1 = 1; drop table runs", "1 in (select 1 from '/etc/passwd')"],
)
def test_a_condition_that_is_none_is_a_mistake(served: Served, where: str) -> None:
    found = served.get(f"/api/runs?where={quote(where)}")
    assert "error" in found, found
    assert "root:" not in str(found)


@pytest.mark.parametrize("key", ["..", "%2e%2e%2fjobs", "0" * 64, "abc", "f" * 65, "A" * 32])
def test_no_key_leads_out_of_the_store(served: Served, key: str) -> None:
    for what in ("", "/report", "/record"):
        status, _, body = served.ask("GET", f"/api/runs/{key}{what}", None, {"x-hotband-token": served.ui.token})
        assert status == 404 or b'"error"' in body, (status, body[:200])
    assert not any(path.name == key for path in (served.store / "stored").glob("*"))
