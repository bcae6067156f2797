"""Text for reading and printing: quantities, TOML tables, tables for the terminal."""
