"""Behavioural learning: what training on a suite does to what was seen, to what was not, and to i.i.d. data.

Luz de Araujo and Roth 2023, BELUGA. A plan's table means many trainings; each leaves something out, and what was left
out is what it is then tested on.

    folds     one table of a plan to its jobs
    lessons   a suite as something to train on;  hyper: with which numbers;  stages: in which order
    trainings the jobs put back together
    compare   scores with intervals;  against_iid: tests against the model trained without the suite
    averages  over scenarios, tasks and methods
    table3    the measures laid out as the paper's table;  conclusions: what they come to
    signs     what the answers of one training give away;  transfer, aggregation: what the table does
    view      what to show of it;  files: the paper's tables of numbers
"""

from .averages import compare_tasks
from .compare import compare_trainings, compare_with_averages

__all__ = ["compare_tasks", "compare_trainings", "compare_with_averages"]
