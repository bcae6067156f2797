"""The auditor: what results prove, by rules that are documented each with formula and tolerance (docs/guides/audit.md).

from hotband.audit import findings, load_results

for finding in findings(load_results([Path("read-normal-2.json")]), None):
    print(finding.severity, finding.rule, finding.title)

The package can be called (`hotband.packages` says why): `hotband.audit("fio.json")` is `audit.api.audit`.
"""

from __future__ import annotations

from hotband.audit.audited import Asked, Audited, Printed
from hotband.audit.facts import MachineFacts
from hotband.audit.finding import Finding, audit_data
from hotband.audit.load import audited_record, load_results
from hotband.audit.rules import findings
from hotband.packages import make_callable

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

make_callable(__name__, "hotband.audit.api", "audit")
