"""Targets that answer on the wall clock: an emulated drive, through fio."""
