"""A workload on a machine, or several one after the other, asked as a question."""
