"""The result of an audit, as `hotband audit` prints it and `hb.audit` returns it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.heavy import pl
from hotband.base.text.html import frame_html
from hotband.base.text.values import Json
from hotband.base.text.write import expect_page
from hotband.base.views import Report, view_of
from hotband.inference.audit.finding import SEVERITIES, Finding, Severity, audit_data, kept

NUMBERS = "numbers"


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit: `findings`, the severest first, `subjects`, the names of the results, and `skipped`, a
    sentence for each folder on its files that are no results."""

    subjects: tuple[str, ...]
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()

    @property
    def is_severe(self) -> bool:
        """Whether a finding is severe: a figure is misleading (exit code 1 of the command)."""
        return bool(self.counts["severe"])

    @property
    def counts(self) -> Mapping[Severity, int]:
        """Number of findings by severity: severe, warning, note."""
        numbers = Counter(finding.severity for finding in self.findings)
        return {severity: numbers[severity] for severity in SEVERITIES}

    @property
    def frame(self) -> pl.DataFrame:
        """One row per finding: severity, rule, group (docs/guides/audit.md), subject (a list of names of results),
        title, advice, and numbers as text ("qd = 32; iops = 480")."""
        schema: dict[str, pl.DataType] = {
            **dict.fromkeys(("severity", "rule"), pl.String()),
            "group": pl.Int64(),
            "subject": pl.List(pl.String),
            **dict.fromkeys(("title", "advice", NUMBERS), pl.String()),
        }
        rows = [
            {**finding.data(), NUMBERS: "; ".join(f"{key} = {kept(value)}" for key, value in finding.numbers.items())}
            for finding in self.findings
        ]
        return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON that `hotband audit --json` prints."""
        return audit_data(self.subjects, self.findings)

    @public
    def write_html(self, path: str | Path) -> Path:
        """Write the page, one HTML file; return its path. Raises UserError if the path is wrong, OSError."""
        expect_page("path", Path(path))
        report: Report = view_of(self, "report")(self)
        return report.save(path)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {severity}" for severity, count in self.counts.items() if count)
        return f"<AuditResult of {len(self.subjects)} results: {counts or 'no finding'}>"

    def _repr_html_(self) -> str:
        from html import escape

        head = f"<strong>{escape(repr(self)[1:-1])}</strong>"
        shown = frame_html(self.frame.select("severity", "rule", "title", "advice")) if self.findings else ""
        return f"<div>{head}{shown}</div>"
