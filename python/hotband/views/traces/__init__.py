"""Views of traces: properties of one, differences of two."""
