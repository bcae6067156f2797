"""Methods that are questions, of the objects that functions of Python return. `methods.pyi` has their types
(`scripts/public_stub.py` writes it)."""

from __future__ import annotations

from hotband.faces.asked.function import Method


class StudyMethods:
    """The questions about a study, which is their `study`."""

    run = Method("study run")
    emulate = Method("study emulate")
    swings = Method("study swings")
    intervals = Method("study intervals")
    why = Method("study why")
