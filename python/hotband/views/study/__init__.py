"""Results of studies, for the terminal."""
