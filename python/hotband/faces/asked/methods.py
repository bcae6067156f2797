"""Methods of objects that Python functions return, built from questions. `methods.pyi` has their types
(`scripts/public_stub.py` writes it)."""

from __future__ import annotations

from hotband.faces.asked.function import Method


class StudyMethods:
    """The questions about a study, whose field `study` is the object."""

    run = Method("study run")
    emulate = Method("study emulate")
    swings = Method("study swings")
    intervals = Method("study intervals")
    why = Method("study why")
