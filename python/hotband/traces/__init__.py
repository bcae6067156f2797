"""Traces: files of I/Os that were recorded, as what a workload replays.

`files.py` knows which files are traces and what a workload's `[trace]` names; `io_log.py` reads our own I/O log;
`rows.py` writes the rows that the engine reads, in order of issue. Another format is a module beside `io_log.py` that
makes the same `Block`s.
"""
