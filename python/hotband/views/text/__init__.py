"""Tables and numbers of the terminal."""
