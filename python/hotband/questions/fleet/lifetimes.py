"""Fit Weibull lives to observed lifetimes in a CSV file, by maximum likelihood with censoring.

A drive that was watched from the age s to the age t adds δ log h(t) - H(t) + H(s) to the logarithm of the likelihood, δ
= 1 if it failed at t (Lawless, "Statistical models and methods for lifetime data", 2003, chapters 2 and 5). Drives of a
batch share a factor of gamma distribution, which is integrated out in closed form (Klein, Biometrics 48(3), 1992). The
uncertainty of scale, shape and variance is the inverse of the observed information; their logarithms are sampled from a
normal distribution.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hotband.base.arrays import Floats
from hotband.base.errors import UserError, reason_of
from hotband.base.heavy import pl
from hotband.base.text.regular import opened
from hotband.base.text.separated import expect_distinct, plain_cell, separator_of
from hotband.questions.fleet.lives import Lives
from hotband.questions.fleet.values import generator

LEAST_FAILURES = 5
"""Failures below which two parameters show little more than chance."""
LEAST_VARIANCE = 1e-4
"""Variance of batches below which there is none: two drives fail together 1 in 10,000 times more often."""
DAY_HOURS = 24.0
LONGEST_HEADING = 1 << 16
"""Bytes of a heading that are examined."""
SERIALS, MODELS, FAILURES = ("serial", "serial_number"), ("model",), ("failed", "failure")
EXPECTED = "days and failed (0 or 1); or first, last and failed; or date, serial_number and failure of drive-stats"


@dataclass(frozen=True)
class Watched:
    """Observed drives: their ages in hours at the start and the end of the observation, whether each failed then, and
    the number of its batch (all 1 without batches)."""

    begin: Floats
    end: Floats
    failed: npt.NDArray[np.bool_]
    batch: npt.NDArray[np.int64]
    has_batches: bool = False


@dataclass(frozen=True)
class Fit:
    """Lives fitted to `drives` drives of which `failures` failed: logarithms of scale, shape and (if batches are known)
    variance, and their covariance."""

    logs: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    drives: int
    failures: int
    source: str = ""

    @property
    def lives(self) -> Lives:
        """The most likely lives."""
        return Lives(*map(math.exp, self.logs))

    def interval(self, index: int) -> tuple[float, float]:
        """Return the 95 % interval of scale (0), shape (1) or variance (2)."""
        spread = 1.959963984540054 * math.sqrt(self.covariance[index][index])
        return math.exp(self.logs[index] - spread), math.exp(self.logs[index] + spread)

    def draws(self, seed: int, count: int, stream: str) -> list[Lives]:
        """Sample lives of `count` repetitions with the uncertainty of the fit; more repetitions do not change the first
        ones."""
        normal = generator(seed, stream).standard_normal((count, len(self.logs)))
        root = np.linalg.cholesky(np.array(self.covariance))
        drawn = np.exp(np.array(self.logs) + normal @ root.T)
        return [Lives(*row) for row in drawn.tolist()]


def fit_file(path: Path, model: str | None = None, has_batches: bool = False) -> Fit:
    """Fit lives to a CSV file, or only to drives of `model`. Raises UserError for a wrong file."""
    watched = read_lifetimes(path, model)
    if has_batches and not watched.has_batches:
        accepted = "has no column batch; expected one, or a variance for batches"
        raise UserError(str(path), "batch", "", accepted)
    failures = int(watched.failed.sum())
    if failures < LEAST_FAILURES:
        accepted = f"expected at least {LEAST_FAILURES} failures to fit lives to"
        raise UserError(str(path), "failed", f"{failures} failures of {len(watched.end)} drives", accepted)
    try:
        fitted = fit(watched, has_batches)
    except UserError as error:
        raise UserError(str(path), error.key, error.value, error.accepted) from None
    return Fit(fitted.logs, fitted.covariance, fitted.drives, fitted.failures, path.name)


def fit(watched: Watched, with_batches: bool = False) -> Fit:
    """Return the most likely lives, with the variance of batches if requested."""
    from scipy.optimize import minimize

    hours, failures = watched.end - watched.begin, int(watched.failed.sum())
    start = [math.log(float(hours.sum()) / failures), 0.0, *([math.log(0.3)] if with_batches else [])]

    def loss(logs: Floats) -> float:
        return -log_likelihood(watched, logs)

    optimum = minimize(
        loss, np.array(start), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000}
    )
    logs = np.asarray(optimum.x, dtype=float)
    if with_batches and math.exp(float(logs[2])) < LEAST_VARIANCE:
        return fit(watched)
    try:
        covariance = np.linalg.inv(curvature(loss, logs))
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise UserError(
            "lifetimes", "", f"{failures} failures", "no distribution of lives fits them; expected more failures"
        ) from None
    rows = tuple(tuple(float(cell) for cell in row) for row in (covariance + covariance.T) / 2)
    return Fit(tuple(float(log) for log in logs), rows, len(watched.end), failures)


def log_likelihood(watched: Watched, logs: Floats) -> float:
    """Return the log likelihood of the logarithms of scale, shape and, as an optional third, variance."""
    lives = Lives(math.exp(logs[0]), math.exp(logs[1]))
    failed = watched.failed
    # A drive that failed at once has no likelihood.
    at = np.maximum(watched.end[failed], 1e-6)
    log_hazard = math.log(lives.shape / lives.scale) + (lives.shape - 1.0) * np.log(at / lives.scale)
    met = (watched.end / lives.scale) ** lives.shape - (watched.begin / lives.scale) ** lives.shape
    if len(logs) < 3:
        return float(log_hazard.sum() - met.sum())
    return float(log_hazard.sum()) + batch_likelihood(watched, met, math.exp(min(logs[2], 10.0)))


def batch_likelihood(watched: Watched, met: Floats, variance: float) -> float:
    """Return the likelihood of batches: the gamma integral over the factor of each, with failures d and cumulated
    hazard H."""
    from scipy.special import gammaln

    count = int(watched.batch.max()) + 1
    d = np.bincount(watched.batch, watched.failed, minlength=count)
    met_by = np.bincount(watched.batch, met, minlength=count)
    theta = 1.0 / variance
    parts = gammaln(theta + d) - gammaln(theta) + theta * math.log(theta) - (theta + d) * np.log(theta + met_by)
    return float(parts.sum())


def curvature(function: Callable[[Floats], float], at: Floats) -> Floats:
    """Return second derivatives by central differences; steps of 1e-3 of a logarithm are a thousandth of the value."""
    size, step = len(at), 1e-3
    matrix = np.empty((size, size))
    for row in range(size):
        for column in range(size):
            total = 0.0
            for first in (1, -1):
                for other in (1, -1):
                    moved = at.copy()
                    moved[row] += first * step
                    moved[column] += other * step
                    total += first * other * function(moved)
            matrix[row, column] = total / (4.0 * step * step)
    return matrix


def read_lifetimes(path: Path, model: str | None = None) -> Watched:
    """Read the drives of a CSV file: one line per drive, or per drive and day as in drive-stats. Raises UserError."""
    try:
        with opened(path) as file:
            beginning = file.read(LONGEST_HEADING).decode("utf-8-sig", errors="replace")
        separator = separator_of(beginning.partition("\n")[0])
        heading = next(csv.reader(io.StringIO(beginning, newline=""), delimiter=separator), [])
        names = [name.strip().lower() for name in heading]
        read = columns_read(names, model)
        expect_distinct(names, read, str(path))
        frame = pl.read_csv(path, infer_schema=False, truncate_ragged_lines=True, separator=separator)
        if separator != ",":
            frame = with_decimal_points(frame, path, separator)
    except OSError as error:
        raise UserError(str(path), "", "", f"the lifetimes cannot be read: {reason_of(error)}") from None
    except (pl.exceptions.PolarsError, csv.Error) as error:
        raise UserError(str(path), "", "", f"not a table of comma-separated values: {error}") from None
    frame = frame.select(
        pl.col(name).alias(name.strip().lower()) for name in frame.columns if name.strip().lower() in read
    )
    failed = _first_of(FAILURES, names)
    if failed is None:
        raise UserError(str(path), "columns", ", ".join(names), f"expected {EXPECTED}")
    if model is not None:
        frame = of_model(frame, path, model)
    frame = frame.with_columns(number(frame, path, failed).alias("failed"))
    wrong = frame.filter(~pl.col("failed").is_in([0.0, 1.0]))
    if wrong.height:
        raise UserError(str(path), failed, str(wrong["failed"][0]), "expected 0 or 1")
    if "date" in names:
        frame = by_drive(frame, path)
    elif "days" in names:
        frame = frame.with_columns(number(frame, path, "days").alias("days"))
    elif {"first", "last"} <= set(names):
        frame = frame.with_columns((days(frame, path, "last") - days(frame, path, "first")).alias("days"))
    else:
        raise UserError(str(path), "columns", ", ".join(sorted(names)), f"expected {EXPECTED}")
    return watched_of(frame, path)


def columns_read(names: Collection[str], model: str | None) -> list[str]:
    """Return the columns of a heading that are read: lifetimes have one of three forms."""
    if "date" in names:
        form = [_first_of(SERIALS, names), "date", "smart_9_raw"]
    else:
        form = ["from_days", *(["days"] if "days" in names else ["first", "last"])]
    read = [_first_of(FAILURES, names), "batch", *([] if model is None else ["model"]), *form]
    return [name for name in read if name is not None and name in names]


def _first_of(spellings: Iterable[str], names: Collection[str]) -> str | None:
    return next((name for name in spellings if name in names), None)


def with_decimal_points(frame: pl.DataFrame, path: Path, separator: str) -> pl.DataFrame:
    """Return a table whose numbers have decimal points. Raises UserError for an ambiguous number."""
    named = {name for name in frame.columns if name.strip().lower() in ("days", "first", "last")}
    rows = (
        row | {name: plain_cell(row, name, separator, f"{path}, line {line}") for name in named if row[name]}
        for line, row in enumerate(frame.iter_rows(named=True), 2)
    )
    return pl.DataFrame(list(rows), schema=frame.schema)


def of_model(frame: pl.DataFrame, path: Path, model: str) -> pl.DataFrame:
    """Return the rows of one model. Raises UserError."""
    if "model" not in frame.columns:
        raise UserError(str(path), "model", model, "has no column model, by which drives could be chosen")
    chosen = frame.filter(pl.col("model").str.strip_chars() == model)
    if not chosen.height:
        known = frame["model"].unique().drop_nulls().sort().to_list()
        raise UserError(str(path), "model", model, f"expected one of {', '.join(known[:10])}")
    return chosen


def number(frame: pl.DataFrame, path: Path, name: str) -> pl.Series:
    """Return a column as numbers. Raises UserError for another value."""
    numbers = frame[name].str.strip_chars().cast(pl.Float64, strict=False)
    wrong = frame.filter(numbers.is_null() | ~numbers.is_finite())
    if wrong.height:
        raise UserError(str(path), name, str(wrong[name][0] or ""), "expected a number")
    return numbers


def days(frame: pl.DataFrame, path: Path, name: str) -> pl.Series:
    """Return a column of dates as days. Raises UserError for another value."""
    dates = frame[name].str.strip_chars().str.to_date("%Y-%m-%d", strict=False)
    wrong = frame.filter(dates.is_null())
    if wrong.height:
        raise UserError(str(path), name, str(wrong[name][0] or ""), 'expected a date, such as "2026-11-23"')
    return dates.to_physical().cast(pl.Float64)


def by_drive(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Aggregate lines per drive and day to one per drive: its age comes from power-on hours (smart_9_raw), if there are
    any; otherwise it was new on its first day."""
    serial = _first_of(SERIALS, frame.columns)
    if serial is None:
        raise UserError(str(path), "columns", ", ".join(frame.columns), f"expected {EXPECTED}")
    frame = frame.with_columns(days(frame, path, "date").alias("day"))
    hours = pl.col("smart_9_raw").cast(pl.Float64, strict=False) if "smart_9_raw" in frame.columns else pl.lit(None)
    frame = frame.with_columns((hours / DAY_HOURS).cast(pl.Float64).alias("aged"))
    rest = [pl.col("batch").first()] if "batch" in frame.columns else []
    seen = frame.group_by(serial, maintain_order=True).agg(
        pl.col("failed").max(), (pl.col("day").max() - pl.col("day").min()).alias("seen"),
        pl.col("aged").min().alias("from_days"), *rest,
    )  # fmt: skip
    # A day of observation counts as one: a drive that failed on its only day was observed for a part of it.
    begin = pl.col("from_days").fill_null(0.0)
    return seen.with_columns(begin, (begin + pl.col("seen") + 1.0).alias("days"))


def watched_of(frame: pl.DataFrame, path: Path) -> Watched:
    """Return the drives of a table with days and failed, and optionally from_days and batch."""
    end = frame["days"].to_numpy() * DAY_HOURS
    begin = np.zeros(len(end))
    if "from_days" in frame.columns:
        column = frame["from_days"]
        column = number(frame, path, "from_days") if column.dtype == pl.String else column
        begin = column.to_numpy() * DAY_HOURS
    wrong = np.flatnonzero((begin < 0) | (end < begin))
    if len(wrong):
        accepted = "expected days of service of 0 or more, and no fewer than from_days"
        raise UserError(str(path), "days", f"{end[wrong[0]] / DAY_HOURS:g}", accepted)
    if not (end > begin).any():
        raise UserError(str(path), "days", "0", "expected a drive observed for some time")
    has_batches = "batch" in frame.columns
    batch = np.zeros(len(end), dtype=np.int64)
    if has_batches:
        batch = frame["batch"].fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
    failed = frame["failed"].to_numpy() > 0
    return Watched(begin.astype(float), end.astype(float), failed, batch, has_batches)
