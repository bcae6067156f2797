"""The errors of all studies, for the terminal and for docs/accuracy-studies.md."""
