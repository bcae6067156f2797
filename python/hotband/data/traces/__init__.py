"""Files of traces: which they are, and I/O logs of our own."""
