"""The commands of `hotband`, a file a group. `hotband.cli` puts them together."""
