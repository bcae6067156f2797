"""Suites: series of loads on a machine or a real drive, one after the other, each stored as it ends.

`hotband.questions.suites.pts` is SNIA's performance test of solid-state storage, `hotband.questions.suites.quick` a
quick test in a given time. They share cells (one load for a time), rounds of cells, and a bench that runs rounds on a
target that keeps the state of the previous round: a model held in memory, or hardware.
"""
