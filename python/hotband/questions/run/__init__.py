"""The question `run`: a workload on a machine, or several one after the other."""
