"""Behavioural testing: which behaviours does a model get wrong?

A suite holds functionalities, each a set of cases under one expectation (Ribeiro et al. 2020, "CheckList"; Luz de
Araujo and Roth 2023, "Cross-functional Analysis of Generalization in Behavioral Learning", BELUGA):

    MFT   labelled examples: the prediction must be the label
    INV   an original and its variants: the prediction must not change
    DIR   an original and its variants: confidence may move one way only

The pass rate of a functionality is passes over applicable cases; the suite score is their unweighted mean. Read
`suite` for what a suite is, `build` for which cases are chosen, `rules` for every expectation, `score` for the numbers.
"""

from .build import BuiltSuite, build, identity, load, save
from .score import score
from .settings import Settings

__all__ = [
    "BuiltSuite",
    "Settings",
    "answers_version",
    "build",
    "identity",
    "is_random",
    "load",
    "parts",
    "save",
    "score",
    "title",
]

answers_version = 1


def parts(settings: Settings) -> list[Settings]:
    """One job per table: nothing is held out while nothing is trained."""
    return [settings]


def title(settings: Settings) -> str:
    """The suite's name, and which part of it."""
    words = [settings.suite.rpartition("/")[2].split(".")[0], settings.split.rpartition("/")[2].split(".")[0]]
    return "-".join(filter(None, words))


def is_random(settings: Settings) -> bool:
    """Only a sample depends on the seed."""
    return bool(settings.limit)
