"""A drive's file from ten lines of its data sheet: what is asked (`lines`), and what follows from the answers by rules
(`disk`, `ssd`; docs/models/data-sheets.md), each value with its source, estimates with ranges."""

from hotband.questions.datasheet.drive import KINDS, blamed, described, described_text

__all__ = ["KINDS", "blamed", "described", "described_text"]
