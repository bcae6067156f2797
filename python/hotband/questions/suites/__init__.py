"""Suites: series of loads that a machine or a real drive goes through, one after the other, each stored as it ends.

`hotband.questions.suites.pts` is SNIA's performance test of solid-state storage, `hotband.questions.suites.quick` a
quick test in a given time. They share cells (one load for a time), rounds of cells, and a bench that runs rounds on a
target that stays as the previous round left it: a model held in memory, or hardware.
"""
