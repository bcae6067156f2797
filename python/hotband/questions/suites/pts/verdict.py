"""A sentence about whether a run complies with the specification."""

from __future__ import annotations

from hotband.data.documents.pts import PtsDoc


def verdict(document: PtsDoc) -> str:
    """Return the sentence, which page and terminal share."""
    specification = document["specification"]
    what = f"PTS {specification['version']} {specification['drive_class']}"
    if specification["compliant"]:
        return f"{what}: compliant, {len(document['tests'])} tests."
    reasons = specification["departures"]
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{what}: not compliant ({reasons[0]}{more})."
