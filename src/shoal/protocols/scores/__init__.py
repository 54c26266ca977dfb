"""Results that were graded elsewhere: `scores:FILE` for compare, gate, report, show and the pytest plugin.

    read      a log or a table ──► Graded, columns of one file
    align     several Graded   ──► the same samples, missing ones counted
    result    Graded           ──► Result, as the protocols make them
    view      Result           ──► sections

No model is queried, so it has none of the other names of a protocol, and no table in a plan.
"""

from .read import is_graded
from .result import each_run, graded_results, ranked
from .view import view

__all__ = ["each_run", "graded_results", "is_graded", "ranked", "view"]
