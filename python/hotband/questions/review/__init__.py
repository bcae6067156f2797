"""Reviews: a machine measured as reviewers measure drives, and several compared.

A file a part (`linear.py`, `access.py`, ...), each with what it asks of the engine and what it makes of the records;
`target.py` is what is reviewed, `suite.py` runs the parts, `summary.py` sums them up, `tables.py` prints them.
"""

from __future__ import annotations

from hotband.questions.review.suite import PARTS, ReviewInterrupted, plan, review, run_plan
from hotband.questions.review.summary import compare

__all__ = ["PARTS", "ReviewInterrupted", "compare", "plan", "review", "run_plan"]
