"""Floor 7: who asks: the command line, the Python API, the web page. Each puts questions and results in its words."""
