"""The auditor: what results prove, by rules that are documented each with formula and tolerance (docs/guides/audit.md).

from hotband.audit import findings, load_results

for finding in findings(load_results([Path("read-normal-2.json")]), None):
    print(finding.severity, finding.rule, finding.title)

The package can be called (`hotband.study` says why): `hotband.audit("fio.json")` is `audit.api.audit`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hotband.audit.audited import Asked, Audited, Printed
from hotband.audit.facts import MachineFacts
from hotband.audit.finding import Finding, audit_data
from hotband.audit.load import audited_record, load_results
from hotband.audit.rules import findings

if TYPE_CHECKING:
    from hotband.audit.result import AuditResult

__all__ = [
    "Asked",
    "Audited",
    "Finding",
    "MachineFacts",
    "Printed",
    "audit_data",
    "audited_record",
    "findings",
    "load_results",
]


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, results: Any = (), **options: Any) -> AuditResult:
        """Audits results (`audit.api.audit`). Raises UserError."""
        from hotband.audit.api import audit

        return audit(results, **options)


sys.modules[__name__].__class__ = _Callable
