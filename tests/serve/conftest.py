"""What tests of served machines share with scripts."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))  # crash, power_cuts: whatever import mode pytest runs in
