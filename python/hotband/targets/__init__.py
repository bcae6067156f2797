"""Targets that answer on the wall clock: an emulated drive, through fio."""

from hotband.targets.emulated import Emulated, emulate

__all__ = ["Emulated", "emulate"]
