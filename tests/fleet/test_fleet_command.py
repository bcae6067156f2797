"""Does `hotband fleet` do what its guide says: the example, the same bytes, going on, and mistakes in one line?"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from fleets import DISK, fleet, group

import hotband as hb
from hotband.questions.fleet import service, simulate
from hotband.questions.fleet.repetition import repeat

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "fleet.toml"
PLAIN = f"""
years = 2
repetitions = 40
[[group]]
name = "a"
machines = 40
machine = "raid6:12x{DISK}"
afr = ["1 %", "3 %"]
batches = {{ drives = 60, variance = 0.5 }}
rebuild_time = ["20 h", "40 h"]
spares = {{ on_site = 2, delivery = "7 d" }}
[[group]]
name = "b"
machines = 20
machine = "raid10:4x{DISK}"
weibull = {{ shape = [1.1, 1.5], scale = "40 years" }}
"""


def test_the_example_of_the_guide_is_answered(call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "DRAWS", 2)
    page, out = tmp_path / "fleet.html", tmp_path / "out"
    done = call("fleet", str(EXAMPLE), "--repetitions", "32", "--out", str(out), "-o", str(page), "--details")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Of 1,924 drives in 167 machines")
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if str(tmp_path) not in line)
    assert "runs of the model with its workload" in " ".join(done.stdout.split())
    assert "vegaEmbed" in page.read_text()
    # Runs and repetitions are there; nothing is run again, and more repetitions begin with the same ones.
    again = call("fleet", str(EXAMPLE), "--repetitions", "48", "--out", str(out), "--json")
    assert again.returncode == 0, again.stderr
    found = json.loads(again.stdout)
    assert found["repetitions"] == 48
    archive, catalog = found["groups"]
    assert archive["service"]["degraded"]["latency_p99_ns"] > archive["service"]["whole"]["latency_p99_ns"]
    assert 70 < archive["rebuild_hours"]["mean"] < 120
    assert catalog["endurance_left"]["low"] < catalog["endurance_left"]["high"]
    assert found["fleet"]["cost"]["total"]["mean"] == pytest.approx(
        sum(one["cost"]["total"]["mean"] for one in found["groups"])
    )
    assert json.loads((out / "summary.json").read_text()) == found


def test_the_keys_of_the_guide_are_those_of_the_file() -> None:
    """Every key that a file may have stands in the guide's tables."""
    guide = (DOCS / "guides" / "fleet.md").read_text()
    source = "".join(
        (Path(hb.__file__).parent / "questions" / "fleet" / name).read_text()
        for name in ("spec.py", "law.py", "prices.py")
    )
    keys = set(re.findall(r'\.(?:whole|text|flag|choice|part|parts|settings|positive)\("(\w+)"', source))
    keys |= set(re.findall(r'(?:value_of|numbers_of|priced)\(\w+, "(\w+)"', source))
    assert len(keys) > 30
    rows = [line for line in guide.splitlines() if line.startswith("| `")]
    said = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", " ".join(rows)))))
    assert keys - said == set()


def test_the_commands_of_the_guide_are_right(call, tmp_path: Path) -> None:
    """Those on the example have an option each; that on a fleet of 100,000 drives is run with few repetitions."""
    blocks = re.findall(
        r"^```(\w+) ?(\S*)\n(.*?)^```", (DOCS / "guides" / "fleet.md").read_text(), re.DOTALL | re.MULTILINE
    )
    for language, name, text in blocks:
        if language == "toml" and name:
            (tmp_path / name).write_text(text)
    lines = [line for language, _, text in blocks if language == "sh" for line in text.strip().splitlines()]
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        if words[1].startswith("docs/"):
            continue
        done = call(*words, "--repetitions", "4", "--details", cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
        assert "is inside the interval" in " ".join(done.stdout.split()) or "large" not in line


def test_the_same_bytes_however_many_threads(tmp_path: Path) -> None:
    one, two = (hb.fleet(PLAIN, jobs=jobs, progress=False) for jobs in (1, 2))
    assert json.dumps(one.summary) == json.dumps(two.summary)
    assert one.frame.equals(two.frame)
    other = hb.fleet(PLAIN, seed=2, progress=False)
    assert json.dumps(other.summary) != json.dumps(one.summary)


def test_another_group_shifts_nobody() -> None:
    alone = fleet(group("a"), repetitions=10)
    beside = fleet(group("b", machines=3), group("a"), repetitions=10)
    assert np.array_equal(alone.outcomes[0].months, beside.outcomes[1].months)


def test_an_interruption_keeps_what_is_finished(call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 repetitions in chunks of 16 the third chunk is interrupted; the same command continues from there."""
    (tmp_path / "fleet.toml").write_text(PLAIN)
    whole = call("fleet", "fleet.toml", "--json", cwd=tmp_path)
    begun = 0

    def stopping(*arguments):
        nonlocal begun
        begun += 1
        if begun > 2 * 32:
            raise KeyboardInterrupt
        return repeat(*arguments)

    monkeypatch.setattr(simulate, "repeat", stopping)
    first = call("fleet", "fleet.toml", "--out", "out", "--jobs", "1", cwd=tmp_path)
    assert first.returncode == 130
    assert "interrupted; 32 of 40 repetitions were finished; stored in out" in first.stderr
    assert first.stdout.startswith("Of ")
    monkeypatch.setattr(simulate, "repeat", repeat)
    calls = []
    monkeypatch.setattr(simulate, "repeat", lambda *arguments: calls.append(1) or repeat(*arguments))
    second = call("fleet", "fleet.toml", "--out", "out", "--json", cwd=tmp_path)
    assert second.stdout == whole.stdout
    assert len(calls) == 2 * 8


def test_a_folder_of_another_fleet_is_refused(call, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(PLAIN)
    (tmp_path / "b.toml").write_text(PLAIN.replace("2 years", "3 years").replace("machines = 20", "machines = 21"))
    assert call("fleet", "a.toml", "--out", "out", cwd=tmp_path).returncode == 0
    done = call("fleet", "b.toml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds another fleet" in done.stderr
    assert call("fleet", "b.toml", "--out", "out", "--fresh", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "hotband-fleet-repetitions", "key": 3}'])
def test_a_folder_with_a_damaged_list_is_refused_as_that(call, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_text(PLAIN)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/fleet.json").write_text(text)
    done = call("fleet", "a.toml", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "fleet.json: is damaged: expected" in done.stderr
    assert call("fleet", "a.toml", "--out", "out", "--fresh", cwd=tmp_path).returncode == 0


def test_tables_have_every_format(call, tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(PLAIN)
    done = call("fleet", "fleet.toml", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0
    assert any("failures" in row for row in csv.reader(io.StringIO(done.stdout)))
    assert "| failures |" in call("fleet", "fleet.toml", "--format", "markdown", cwd=tmp_path).stdout


def test_frames_say_each_month_and_add_up() -> None:
    done = fleet(
        group("a", **{"from": 3, "until": 21, "growth": "50 %/year", "machine_power": "100 W", "drive_power": "5 W"}),
        years=2,
        power={"pue": 1.5, "price": "0.2 EUR/kWh"},
        prices={"drives": {DISK: "200 EUR"}, "machine": "1000 EUR"},
    )
    frame, years = done.frame, done.years
    assert frame.height == 24
    assert years.height == 2
    assert frame["failures"].sum() == pytest.approx(done.summary["fleet"]["failures"]["mean"])
    assert frame["machines"].to_list()[:4] == [0.0, 0.0, 0.0, 10.0]
    # 10 * 1.5^(17/12) = 17.8 are due in the last month of service.
    assert frame["machines"].to_list()[20:22] == [17.0, 0.0]
    kwh = frame["machines"][10] * (12 * 5 + 100) * 1.5 * 730 / 1000
    assert frame["energy_kwh"][10] == pytest.approx(kwh)
    cost = done.summary["fleet"]["cost"]
    assert cost is not None
    bought = done.outcomes[0].group.plan.machines
    assert cost["machines"]["mean"] == 1000 * bought
    assert cost["drives"]["mean"] == 200 * 12 * bought
    assert cost["replacements"]["mean"] == pytest.approx(200 * frame["failures"].sum())
    assert cost["total"]["mean"] == pytest.approx(frame["cost"].sum())
    assert "<table>" in done._repr_html_()
    assert "<svg" in done._repr_html_() or "data:image/svg" in done._repr_html_()


def test_a_fleet_in_which_nothing_failed_says_so() -> None:
    done = fleet(group(afr="0.0001 %", machines=1), repetitions=2, years=1)
    assert done.summary["fleet"]["loss"]["chance"] == 0.0
    assert done.answers[1].startswith("No drive failed in these repetitions")
    assert done.summary["fleet"]["loss"]["independent"] > 0


def test_worn_drives_are_replaced_when_theory_says() -> None:
    """1 TB a day of 500 TB at 80 %: every 400 days, and at most 80 % is used."""
    done = fleet(group(writes="1 TB/day", endurance="500 TB", replace_at="80 %", afr="0.001 %"), repetitions=4, years=4)
    assert done.summary["fleet"]["worn"]["mean"] == pytest.approx(3 * 120, abs=1)
    left = done.frame["endurance_left"]
    assert left.min() >= 0.2
    assert left[0] == pytest.approx(1 - 730 / 24 / 500)


def test_words_without_effect_are_named() -> None:
    without = {"writes": "1 TB/day", "age": "2 years", "afr": None, "mtbf": "1000000 h"}
    notes = fleet(group(**without), repetitions=2, years=1).summary["notes"]
    assert any("writes has no effect" in note for note in notes)
    assert any("age has no effect" in note for note in notes)
    aged = fleet(group(age="2 years", afr=None, weibull={"shape": 1.3, "scale": "60 years"}), repetitions=2, years=1)
    assert not any("no effect" in note for note in aged.summary["notes"])


MISTAKES = [
    ({"machines": 0}, "group[0].machines = '0': expected a whole number, 1 or more"),
    ({"machines": "10"}, "group[0].machines = '10': expected a whole number"),
    ({"machine": "raid6:12xnothing"}, "group[0].machine"),
    ({"machine": "raid6:3xmg06sca-10tb"}, "group[0].machine"),
    ({"machine": None}, "group[0].machine: is missing"),
    ({"name": None}, "group[0].name: is missing"),
    ({"afr": "2"}, "group[0].afr = '2': expected a share of drives a year"),
    ({"afr": "100 %"}, "group[0].afr"),
    ({"afr": ["3 %", "2 %"]}, "expected the lower end first"),
    ({"afr": ["1 %", "2 %", "3 %"]}, "or its two ends"),
    ({"afr": 2}, "group[0].afr = '2'"),
    ({"mtbf": "1000000 h"}, "cannot be combined with afr"),
    (
        {"afr": None, "weibull": {"shape": 20, "scale": "9 years"}},
        "group[0].weibull.shape = '20': expected a number from",
    ),
    ({"afr": None, "weibull": {"shape": 1.2}}, "group[0].weibull.scale: is missing"),
    ({"afr": None, "lifetimes": "none.csv"}, "none.csv: the lifetimes cannot be read"),
    ({"model": "x"}, "has no effect without lifetimes"),
    ({"rebuild_time": "40"}, "group[0].rebuild_time = '40': expected a time with its unit"),
    ({"rebuild_rate": "9 MB/s"}, "cannot be combined with rebuild_time"),
    ({"rebuild_time": None, "rebuild_rate": "9"}, "group[0].rebuild_rate = '9'"),
    ({"rebuild_time": None, "rebuild_record": "none"}, "group[0].rebuild_record"),
    ({"machine": f"raid0:4x{DISK}"}, "has no effect: raid0 has no redundancy"),
    ({"growth": "20 %"}, "group[0].growth = '20 %': expected a share per year"),
    ({"growth": "1000 %/year"}, "group[0].growth"),
    ({"from": 120}, "expected a month before the end"),
    ({"until": 0}, "group[0].until"),
    ({"spares": {"on_site": 4}}, "group[0].spares.delivery: is missing"),
    ({"spares": {"on_site": 4, "delivery": "9 d", "order": 5}}, "expected at most the number on site"),
    ({"batches": {"drives": 50}}, "group[0].batches.variance: is missing"),
    ({"batches": {"drives": 1, "variance": 1}}, "group[0].batches.drives"),
    ({"replace_at": "90 %"}, "has no effect without writes or a workload"),
    ({"endurance": "9 PB"}, "has no effect without writes or a workload"),
    ({"writes": "2 TB"}, "group[0].writes = '2 TB'"),
    ({"error_rate": "many"}, "group[0].error_rate = 'many'"),
    ({"workload": "nothing"}, "nothing"),
    ({"spare": 3}, "group[0].spare = '3': is not known here; did you mean"),
]


@pytest.mark.parametrize(("keys", "said"), MISTAKES)
def test_a_mistake_in_a_group_is_one_line(keys: dict[str, object], said: str) -> None:
    with pytest.raises(hb.UserError) as error:
        fleet(group(**keys), repetitions=2)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


WHOLE = [
    ("years = 0.01\n", "years"),
    ("repetitions = 1\n", "repetitions = '1'"),
    ("seed = -1\n", "seed"),
    ("[power]\npue = 0.5\n", "power.pue = '0.5'"),
    ("[power]\nprice = '0.2 EUR'\n", "power.price"),
    ("[power]\nprice = '0.2 EUR/kWh'\n[prices]\nmachine = '9 USD'\n", "expected the currency of the other prices, USD"),
    (
        "[prices]\nmachine = '1.150 EUR'\n",
        "prices.machine = '1.150 EUR': is 1150 or 1.15: expected an unambiguous number",
    ),
    ("[prices]\nmachine = '9 USD'\nloss = '1 EUR'\n", "prices in one currency"),
    ("[prices.drives]\nother = '9 USD'\n", "is not a drive of the groups"),
    ("colour = 'red'\n", "colour = 'red': is not known here"),
    ("this is no TOML", "not TOML"),
]


@pytest.mark.parametrize(("text", "said"), WHOLE)
def test_a_mistake_in_the_file_is_one_line_and_exit_code_2(call, tmp_path: Path, text: str, said: str) -> None:
    own = f'[[group]]\nname = "a"\nmachines = 2\nmachine = "raid1:2x{DISK}"\n'
    (tmp_path / "fleet.toml").write_text(text + own)
    done = call("fleet", "fleet.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hotband: error: fleet.toml")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_line_of_toml_is_text_and_no_path() -> None:
    with pytest.raises(hb.UserError, match="fleet: x = '1': is not known here"):
        hb.fleet("x = 1")
    keys = f'name = "a", machines = 2, machine = "raid1:2x{DISK}", rebuild_time = "9 h"'
    found = hb.fleet(f"group = [{{ {keys} }}]", repetitions=2, progress=False)
    assert [one["name"] for one in found.summary["groups"]] == ["a"]
    with pytest.raises(hb.UserError, match="cannot be read"):
        hb.fleet("nothing.toml")


def test_other_mistakes_name_what_is_wrong(call, tmp_path: Path) -> None:
    assert "cannot be read" in call("fleet", "none.toml", cwd=tmp_path).stderr
    assert "is a folder" in call("fleet", ".", cwd=tmp_path).stderr
    (tmp_path / "fleet.toml").write_text("years = 2\n")
    assert "1 to 200 tables [[group]]" in call("fleet", "fleet.toml", cwd=tmp_path).stderr
    with pytest.raises(hb.UserError, match="is the name of two groups"):
        fleet(group(), group())
    with pytest.raises(hb.UserError, match="repetitions"):
        hb.fleet(PLAIN, repetitions=1)
    with pytest.raises(hb.UserError, match="expected at most"):
        fleet(group(machines=1_000_000), group("h", machines=1_000_000), repetitions=2)
    with pytest.raises(hb.UserError, match="repetitions of 1 groups"):
        fleet(group(), years=100, repetitions=1_000_000)
