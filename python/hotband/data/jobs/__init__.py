"""Job files of fio, vdbench, Iometer and DiskSpd as workloads, and workloads as job files (docs/guides/job-files.md).

A reader a tool makes a `Form` (form.py) and a `LossReport` (loss.py) of a file; `workload_text` makes TOML of them.
Writers make fio's or vdbench's text of a workload's tables, and a report the other way round.
"""
