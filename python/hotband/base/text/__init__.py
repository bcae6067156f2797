"""Text in and out: quantities, TOML tables, tables for the terminal."""
