"""Does `hb.reliability` give what `hotband reliability` prints?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hotband as hb

MACHINE = "raid5:5xsavvio-10k1"


def test_it_is_what_the_command_prints(hotband) -> None:
    options = ("--spares", "1", "--replacement", "24 h", "--afr", "2 %", "--set", "capacity=50 GB", "--arrays", "2000")
    done = hotband("reliability", MACHINE, *options, "--json")
    found = hb.reliability(MACHINE, spares=1, replacement="24 h", afr="2 %", capacity="50 GB", arrays=2000)
    assert json.loads(json.dumps(found.to_dict())) == json.loads(done.stdout)
    by_name = {row["figure"]: row for row in found.frame.to_dicts()}
    assert by_name["loss"]["simulated"] == found.loss.value
    assert found.loss.low < found.loss.value < found.loss.high
    assert by_name["mttdl_years"]["closed_form"] == found.exact_mttdl_years


def test_lives_that_age_have_no_mean_time_to_loss() -> None:
    found = hb.reliability(MACHINE, distribution="weibull", shape=1.3, arrays=1000)
    assert (found.mttdl_years, found.exact_mttdl_years) == (None, None)
    assert found.reason
    assert found.frame["simulated"].null_count() == 1


def test_a_machine_of_ones_own_is_as_its_file(tmp_path: Path) -> None:
    text = '[drives.d]\nproduct = "ent-10k"\ncount = 2\n\n[layouts.data]\nraid1 = { members = "d*" }\n'
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    of_text, of_file = hb.reliability(text, arrays=1000), hb.reliability(tmp_path / "m.toml", arrays=1000)
    assert of_text.to_dict()["mttdl"] == of_file.to_dict()["mttdl"]


def test_a_rebuild_in_memory_is_as_the_one_on_disk(tmp_path: Path) -> None:
    """Where it is from is named by the record, not by a path."""
    run = hb.run(
        "idle", on="raid1:2xent-10k", fail="d0@1 s", spares=1, capacity="1 GiB", duration="30 s", progress=False
    )
    run.save(tmp_path / "rebuild")
    in_memory, on_disk = (
        hb.reliability("raid1:2xent-10k", record=one, arrays=1000) for one in (run, tmp_path / "rebuild")
    )
    assert in_memory.rebuild_hours == on_disk.rebuild_hours
    assert in_memory.loss == on_disk.loss
    assert in_memory.sources["rebuild"].startswith(run.name)
    assert on_disk.sources["rebuild"].startswith(str(tmp_path / "rebuild"))


@pytest.mark.parametrize(
    ("options", "file", "value"),
    [
        ({"on": "ent"}, "on", "ent"),
        ({"mtbf": "3"}, "mtbf", "3"),
        ({"spares": 65}, "spares", "65"),
        ({"arrays": 3}, "arrays", "3"),
        ({"seed": -1}, "seed", "-1"),
        ({"distribution": "normal"}, "distribution", "normal"),
        ({"rebuild_distribution": "weibull"}, "rebuild_distribution", "weibull"),
        ({"method": "fast"}, "method", "fast"),
        ({"record": "/nowhere"}, "record", "/nowhere"),
        ({"nope": 1}, "settings", "nope"),
        ({"years": "10"}, "years", "10"),
    ],
)
def test_a_mistake_names_the_argument(options: dict[str, object], file: str, value: str) -> None:
    with pytest.raises(hb.UserError) as caught:
        hb.reliability(**{"on": MACHINE, **options})
    assert (caught.value.file, caught.value.value) == (file, value)
    assert "--" not in str(caught.value)
