"""Floor 7: the faces: command line, Python API and web page. Each puts questions and results in its words."""
