"""Reviews: measure a machine as reviewers measure drives, and compare several.

Each part has a file (`linear.py`, `access.py`, ...) with its runs and the figures from their records; `target.py` has
the machine, `suite.py` runs the parts, `summary.py` sums them up.
"""

from __future__ import annotations

from hotband.questions.review.suite import PARTS, ReviewInterrupted, plan, review, run_plan
from hotband.questions.review.summary import compare

__all__ = ["PARTS", "ReviewInterrupted", "compare", "plan", "review", "run_plan"]
