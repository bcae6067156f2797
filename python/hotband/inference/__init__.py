"""Floor 4: what follows from results: rules, intervals, statistics, reliability, fits of traces."""
