"""BELUGA's folds on the released suites: nothing of the withheld kind is trained on, in any profile."""

from dataclasses import replace
from pathlib import Path

import pytest

from shoal.protocols.learning.build import folds
from shoal.protocols.learning.lessons import SYNONYMS, held_out, suite_environments, training_cases
from shoal.protocols.learning.settings import Settings
from shoal.runs.settings import make_settings

pytestmark = pytest.mark.golden

SUITES = {"sentiment": ("negative", "positive"), "qqp": ("0", "1"), "squad": ()}


@pytest.mark.parametrize("profile", ["paper", "reference", "recommended"])
@pytest.mark.parametrize("task", SUITES)
def test_nothing_of_the_withheld_kind_is_trained_on(task: str, profile: str, data: Path):
    given = {"suite": str(data / "checklist" / f"{task}.jsonl.gz"), "profile": profile}
    settings = make_settings(Settings, given, "test")
    cases = training_cases(settings)
    scored = {case.groups["functionality"]: case.groups for case in cases}
    environments = suite_environments(settings, SUITES[task])
    count = 0
    for scenario in ("functionality", "capability", "test type"):
        for fold in folds(cases, scenario):
            without = held_out(replace(settings, hold_out=(scenario,), fold=fold))
            trained = [one for one in environments if one.name not in without]
            assert fold not in {scored[one.name][scenario] for one in trained}
            assert scenario != "test type" or fold not in {one.kind for one in trained}
            count += 1
    assert count >= 30
    if task == "qqp":
        types = {fold for fold in ("MFT", "INV") if SYNONYMS in held_out(_type(settings, fold))}
        assert types == ({"MFT"} if profile == "recommended" else {"MFT", "INV"})


def _type(settings: Settings, fold: str) -> Settings:
    return replace(settings, hold_out=("test type",), fold=fold)
