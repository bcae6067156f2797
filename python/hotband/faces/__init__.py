"""Floor 7: the faces: command line, Python API and web page. Each presents questions and results in its own words."""
