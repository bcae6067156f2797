"""What traces are like, and how two differ."""
