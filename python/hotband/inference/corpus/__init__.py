"""What is learned from the corpus of measured figures."""
