"""The auditor: rules that check what results prove, each with formula and tolerance (docs/guides/audit.md).

from hotband.inference.audit import findings, load_results

for finding in findings(load_results([Path("read-normal-2.json")]), None):
    print(finding.severity, finding.rule, finding.title)
"""

from __future__ import annotations

from hotband.inference.audit.audited import Asked, Audited, Printed
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding, audit_data
from hotband.inference.audit.load import audited_record, load_results
from hotband.inference.audit.rules import findings

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
