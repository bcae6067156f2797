"""Charts: pure functions from polars frames to altair charts."""
