"""The commands of `hotband`, a file a group. `hotband.faces.cli` puts them together."""
