"""Settings to the cases of a job: the suite's test split, the i.i.d. test rows and further labelled data."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.errors import PlanError
from ...core.records import Case
from ..base import Built
from ..behaviour.build import built_suite, chosen_cases, load_suite, split_file
from ..behaviour.settings import SPLITS
from .iid import iid_cases, load_iid, ood_cases, overlap

if TYPE_CHECKING:
    from .settings import Settings

SAMPLE_SEED = 0
"""Seed of `limit` and `hold_out_sample`: all trainings are compared on the same cases."""


def build_cases(settings: "Settings") -> Built:
    """Return the cases that the trained model is tested on, i.i.d. rows last."""
    if settings.only and {*settings.hold_out} - {"none", "seen"}:
        raise PlanError(
            "only and hold_out exclude each other",
            why="a mean over a part of what is held out does not measure generalisation",
            fix="leave out only; fold names one thing to hold out",
        )
    suite = load_suite(settings.suite)
    whole, about = chosen_cases(settings, tested_split(settings), SAMPLE_SEED)
    cases = held_out_cases(settings, whole)
    is_part = len(cases) < len(whole)
    if is_part:
        about |= {"chosen": [f"{settings.hold_out[0]}={settings.fold}"], "not asked": len(whole) - len(cases)}
    data = load_iid(settings)
    about |= overlap(settings, data)
    rows = iid_cases(data) + ([] if is_part else ood_cases(settings, data))
    built = built_suite(suite, cases + rows, about)
    # A trained model has no stored answers, so the cases that these were chosen from are not needed.
    return replace(built, chosen_from=()) if is_part else built


def held_out_cases(settings: "Settings", cases: list[Case]) -> list[Case]:
    """Return the cases of the fold where the model is tested on nothing else; all cases if none is of the fold."""
    if settings.hold_out_asks == "all":
        return cases
    (scenario,) = settings.hold_out
    return [case for case in cases if case.groups[scenario] == settings.fold] or cases


def tested_split(settings: "Settings") -> str:
    """Return the split that models are tested on."""
    return settings.split or "test"


def training_split(settings: "Settings", part: str = "train") -> str:
    """Return the split that models are trained on or selected by: of the same file, where the split is from one."""
    split = tested_split(settings)
    return part if split in SPLITS else f"{split_file(split)[0]}:{part}"
