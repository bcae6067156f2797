"""The Python API: one module per group of functions; `hotband/__init__.py` names the public ones."""
