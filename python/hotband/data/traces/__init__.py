"""Files of traces: detection, and Hotband's I/O logs."""
