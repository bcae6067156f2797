"""Are the lives that a user's CSV was drawn from found again, whichever of its forms it has?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fleets import fleet, group

from hotband.base.errors import UserError
from hotband.questions.fleet.lifetimes import Watched, fit, fit_file, read_lifetimes

SCALE, SHAPE, VARIANCE = 2e5, 1.4, 0.5


def watched(seed: int, drives: int, batch: int = 1, entry: float = 0.0) -> Watched:
    """Drives that were watched from at most the age `entry`, for up to five years, with factors of their batches."""
    rng = np.random.default_rng(seed)
    count = drives // batch
    z = np.repeat(rng.gamma(1 / VARIANCE, VARIANCE, count), batch) if batch > 1 else np.ones(drives)
    begin = rng.uniform(0.0, entry, drives)
    # Drives that failed before they were watched are not in the table.
    met = (begin / SCALE) ** SHAPE + rng.standard_exponential(drives) / z
    life = SCALE * met ** (1 / SHAPE)
    until = begin + rng.uniform(2000.0, 43800.0, drives)
    return Watched(begin, np.minimum(life, until), life < until, np.repeat(np.arange(count), batch), batch > 1)


@pytest.mark.parametrize("entry", [0.0, 30000.0])
def test_scale_and_shape_are_found_in_their_intervals(entry: float) -> None:
    """95 % intervals of 24 tables hold what they were drawn from: 19 or more of them, with a chance of 99.8 %."""
    fits = [fit(watched(seed, 3000, entry=entry)) for seed in range(24)]
    for place, truth in ((0, SCALE), (1, SHAPE)):
        held = [low <= truth <= high for low, high in (one.interval(place) for one in fits)]
        assert sum(held) >= 19
    shapes = [one.lives.shape for one in fits]
    assert np.mean(shapes) == pytest.approx(SHAPE, abs=3.3 * np.std(shapes) / 24**0.5)


def test_the_variance_of_batches_is_found() -> None:
    fits = [fit(watched(seed, 6000, batch=60), with_batches=True) for seed in range(6)]
    assert np.mean([one.lives.variance for one in fits]) == pytest.approx(VARIANCE, rel=0.25)
    assert sum(low <= VARIANCE <= high for low, high in (one.interval(2) for one in fits)) >= 4
    # Drives without batches have no variance that could be told from none.
    none = fit(
        Watched(*(getattr(watched(1, 3000), name) for name in ("begin", "end", "failed")), np.arange(3000) // 50)
    )
    assert none.lives.variance == 0.0


def table(path: Path, of: Watched, heading: str, lines: list[str]) -> Path:
    path.write_text("\n".join([heading, *lines]) + "\n")
    return path


def test_all_forms_of_the_table_say_the_same(tmp_path: Path) -> None:
    of = watched(5, 400)
    days, failed = np.ceil(of.end / 24).astype(int), of.failed.astype(int)
    first = np.datetime64("2020-01-01")
    plain = table(
        tmp_path / "days.csv", of, "Serial,Days,Failed,batch",
        [f"s{n},{day},{fails},b{n // 50}" for n, (day, fails) in enumerate(zip(days, failed, strict=True))],
    )  # fmt: skip
    dates = table(
        tmp_path / "dates.csv", of, "serial,first,last,failed",
        [f"s{n},{first},{first + day},{fails}" for n, (day, fails) in enumerate(zip(days, failed, strict=True))],
    )  # fmt: skip
    # A line a drive and day, as drive-stats has them; of another model, too. First and last day are enough here.
    daily = table(
        tmp_path / "daily.csv", of, "date,serial_number,model,failure,smart_9_raw",
        [
            f"{first + day},s{n},{model},{fails if day else 0},{24 * day}"
            for model in ("A", "B")
            for n, (last, fails) in enumerate(zip(days, failed, strict=True))
            for day in ((0, last - 1) if model == "A" else (0,))
        ],
    )  # fmt: skip
    one = fit_file(plain)
    assert fit_file(dates).logs == pytest.approx(one.logs, rel=1e-9)
    assert fit_file(daily, "A").logs == pytest.approx(one.logs, rel=1e-9)
    assert read_lifetimes(plain).batch.tolist() == [int(f"{n // 50}") for n in range(400)]
    done = fleet(group(afr=None, lifetimes=str(plain)), repetitions=20)
    assert done.summary["groups"][0]["lives"]["fitted_failures"] == int(failed.sum())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a table"),
        ("serial,days\na,1\n", "columns"),
        ("serial,days,failed\na,1,2\n", "expected 0 or 1"),
        ("serial,days,failed\na,one,1\n", "expected a number"),
        ("serial,days,failed\na,-1,1\n", "days of service"),
        ("serial,days,failed,from_days\na,1,1,2\n", "no fewer than from_days"),
        ("serial,days,failed\na,100,1\nb,100,0\n", "at least 5 failures"),
        ("serial,first,last,failed\na,2020-01-01,soon,1\n", "expected a date"),
        ("date,failed\n2020-01-01,1\n", "columns"),
        ("serial,days,failed\na,0,0\n", "observed for some time"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "lives.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=said) as error:
        fit_file(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
