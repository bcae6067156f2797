"""Views of traces: the properties of one, the differences of two."""
