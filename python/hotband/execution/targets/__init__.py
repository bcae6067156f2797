"""Targets on the wall clock: emulated drives and real hardware, through fio."""
