"""Traces: files of recorded I/Os that a workload replays.

`files.py` knows which files are traces, what a workload's `[trace]` names, and makes the rows that the engine reads;
`io_log.py` reads our own I/O log as Parquet, `crates/traces` all formats that are text; `convert.py` writes them.
"""
