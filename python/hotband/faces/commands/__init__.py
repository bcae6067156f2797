"""The commands of `hotband`; each group has a file, and `hotband.faces.cli` registers them."""
