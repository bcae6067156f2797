"""Are events taken on the command line, is the table of what is supported printed, are mistakes named by the option?"""

from __future__ import annotations

import json
import re
from pathlib import Path

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "events.md").read_text(encoding="utf-8")


def test_the_table_fits_and_has_every_cell(hotband) -> None:
    done = hotband("keys", "--events")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    cells = json.loads(hotband("keys", "--events", "--json").stdout)
    assert len({(cell["event"], cell["group"], cell["on"]) for cell in cells}) == len(cells) == 5 * 22
    for cell in cells:
        assert cell["supported"] == (cell["why"] is None)
        assert cell["on"] in done.stdout
    flat = " ".join(done.stdout.split())
    assert all(cell["why"] in flat for cell in cells if cell["why"])


def test_an_event_is_the_short_form(hotband) -> None:
    run = ("run", "fio-randread", "--on", "raid1:2xsavvio-10k1", "--duration", "2 s", "--json")
    one, other = (hotband(*run, *more) for more in (("--event", "at 1 s: fail d1"), ("--fail", "d1@1 s")))
    assert one.returncode == 0, one.stderr
    assert one.stdout == other.stdout


def test_a_mistake_names_the_option_and_the_cell(hotband) -> None:
    run = ("run", "fio-randread", "--duration", "2 s", "--on")
    cases = [
        (("raid5:3xsavvio-10k1", "--event", "at 1 s: osd-out data.1"), "osd-out is not supported with layout raid5"),
        (("st8000as0002", "--event", "at 1 s: power-off"), "power-off is not supported with drive kind smr"),
        (("savvio-10k1", "--event", "at 1 s: explode d0"), "at TIME: fail DRIVE"),
        (
            ("savvio-10k1", "--event", "at 5 s: fail d0", "--then", "fio-randread"),
            "the measured time of all runs together",
        ),
        (("savvio-10k1", "--event", "at 1 s: power-off", "--then", "fio-randread"), "a sequence"),
        (("replicated:4xmg06sca-10tb", "--event", "at 1 s: fail d9"), "d3"),
        (("replicated:4xmg06sca-10tb", "--event", "at 1 s: fail d0", "--event", "at 1 s: fail d0"), "fails twice"),
        (("replicated:3xmg06sca-10tb", "--event", "at 1 s: fail d0", "--event", "at 1 s: fail d1"), "osd0 of the pool"),
    ]
    for more, said in cases:
        done = hotband(*run, *more)
        assert done.returncode == 2
        assert "--event = " in done.stderr
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_drive_of_a_pool_fails(hotband) -> None:
    run = ("run", "fio-randread", "--on", "replicated:4xmg06sca-10tb", "--duration", "2 s", "--json")
    done = hotband(*run, "--event", "at 1 s: fail d3")
    assert done.returncode == 0, done.stderr
    repair = json.loads(done.stdout)["repair"]
    assert repair["failures"] == [{"drive": "d3", "at_ns": 1_000_000_000}]
    assert [one["phase"] for one in repair["service"]] == ["before", "rebuilding"]
    assert (repair["bytes_lost"], repair["io_errors"]) == (0, 0)


def test_a_drive_that_failed_in_one_run_is_failed_in_the_next(hotband) -> None:
    run = ("run", "fio-randread", "--on", "raid1:2xsavvio-10k1", "--duration", "2 s", "--json")
    then = ("--then", "fio-randread", "--then", "fio-randread")
    done = hotband(*run, *then, "--event", "at 3 s: fail d1")
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    states = [[one["phase"] for one in record["repair"]["service"]] for record in records]
    assert states == [["before"], ["before", "degraded"], ["degraded"]]
    assert records[1]["repair"]["failures"] == [{"drive": "d1", "at_ns": 1_000_000_000}]
    assert "d1 failed in an earlier run" in records[2]["notes"]
    assert records[2]["sequence"]["before"][0]["events"] == ["at 3 s: fail d1"]


def test_the_machine_of_the_guide_loses_a_drive(hotband, tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "mirror.toml").write_text(block)
    done = hotband("run", "fio-randread", "--on", "mirror.toml", "--duration", "2 s", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["repair"]["failures"] == [{"drive": "d1", "at_ns": 1_000_000_000}]


def test_every_line_of_the_guide_is_an_event() -> None:
    from hotband.data.inputs.events import check_events

    lines = re.findall(r"\| `(at [^`]*)`", GUIDE)
    assert len(lines) == 4
    for line in lines:
        check_events([line])
