"""Rules, intervals and errors that follow from the corpus of measured figures."""
