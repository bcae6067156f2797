"""A drive's file from lines of its data sheet: the lines (`lines`), and the values that follow from them by rules
(`disk`, `ssd`; docs/models/data-sheets.md), each with its source, estimates with ranges."""

from hotband.questions.datasheet.drive import KINDS, assumptions, blamed, described, described_text

__all__ = ["KINDS", "assumptions", "blamed", "described", "described_text"]
