"""Inverse questions: which rate, queue depth, number of drives or value meets a condition (docs/guides/find.md)."""

from __future__ import annotations
