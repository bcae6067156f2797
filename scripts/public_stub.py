#!/usr/bin/env python3
"""Write `python/hotband/__init__.pyi`: types of the public names, which `hotband/__init__.py` loads on demand.

python scripts/public_stub.py
"""

from __future__ import annotations

from pathlib import Path

import hotband as hb

STUB = Path(__file__).parents[1] / "python" / "hotband" / "__init__.pyi"
HEAD = "# Written by scripts/public_stub.py from the table of hotband/__init__.py: do not edit.\n"


def stub() -> str:
    """Return the text of the stub."""
    modules = {**hb._MODULES, "hotband.base.version": ("__version__",)}
    imports = [
        f"from {module} import {name} as {name}\n"
        for module, names in sorted(modules.items())
        for name in sorted(names)
    ]
    names = "".join(f'    "{name}",\n' for name in hb.__all__)
    return f"{HEAD}\n{''.join(imports)}\n__all__ = [\n{names}]\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
