"""Whether a run is one by the specification, in a sentence."""

from __future__ import annotations

from hotband.data.documents.pts import PtsDoc


def verdict(document: PtsDoc) -> str:
    """Return the same for page and terminal."""
    of = document["specification"]
    what = f"PTS {of['version']} {of['drive_class']}"
    if of["compliant"]:
        return f"{what}: compliant, {len(document['tests'])} tests."
    reasons = of["departures"]
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{what}: not compliant ({reasons[0]}{more})."
