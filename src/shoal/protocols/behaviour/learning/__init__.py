"""Behavioural learning: what training on a suite does to what was seen, to what was not, and to i.i.d. data.

Luz de Araujo and Roth 2023, BELUGA. A plan's table means many trainings; each leaves something out, and what was left
out is what it is then tested on.

    folds     one table of a plan to its jobs
    lessons   a suite as something to train on;  hyper: with which numbers;  stages: in which order
    trainings the jobs put back together
    compare   scores with intervals;  against_iid: tests against the model trained without the suite
    table3    the measures laid out as the paper's table;  conclusions: what they come to
    view      what to show of it;  files: the paper's tables of numbers
"""

from .compare import compare_trainings

__all__ = ["compare_trainings"]
