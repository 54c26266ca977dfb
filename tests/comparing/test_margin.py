"""Non-inferiority, and intervals that hold for all rows together: through `compare` and the command."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from shoal import Result
from shoal.comparing.pairs import Choices, compare

Make = Callable[..., Result]


def changed(make: Make, rng: np.random.Generator, cases: int, worse: float, better: float) -> list[Result]:
    """A and B on a functionality of so many cases, of which shares got worse and better in B."""
    kinds = rng.choice(3, size=(1, cases), p=[worse, better, 1 - worse - better])
    a = {f"f{n}": (row != 1).astype(int).tolist() for n, row in enumerate(kinds)}
    b = {f"f{n}": (row != 0).astype(int).tolist() for n, row in enumerate(kinds)}
    return [make(a), make(b)]


def test_a_model_that_is_worse_by_the_margin_rarely_passes_for_not_inferior(make: Make) -> None:
    rng, passed, any_row = np.random.default_rng(0), 0, 0
    choices = Choices(margin=0.05, shuffles=50, power=False)
    repetitions = 60
    for _ in range(repetitions):
        a, b = changed(make, rng, 150, 0.06, 0.01)
        comparison = compare([a], [b], choices)
        passed += (comparison.headline.inferior_p or 0.0) <= 0.025
        any_row += any(row.not_inferior for row in comparison.rows)
    assert passed <= 5 and any_row <= 5  # 2.5 % of 60 is 1.5, three standard errors more are 5


def test_a_model_that_is_as_good_is_shown_not_to_be_inferior(make: Make) -> None:
    rng = np.random.default_rng(1)
    a, b = changed(make, rng, 400, 0.02, 0.02)
    row = compare([a], [b], Choices(margin=0.05, shuffles=50)).headline
    assert row.not_inferior and not row.significant
    assert row.interval is not None and row.interval[0] > -0.05
    strict = compare([a], [b], Choices(margin=0.001, shuffles=50)).headline
    assert not strict.not_inferior


def test_the_command_says_what_the_margin_shows(
    shoal: Callable[..., Any], suite: Any, predicting: Callable[..., str]
) -> None:
    old, new = predicting("old", good=1), predicting("new", good=2)
    arguments = ["compare", old, new, "--set", f"suite={suite}", "--margin", "0.4"]
    text = " ".join(shoal(*arguments).output.split())
    assert "B is not worse by 40.0 points or more (one-sided p" in text
    measures = json.loads(shoal(*arguments, "--json").stdout)["measures"]
    rows = [row for row in measures if row["name"] == "non-inferiority p value"]
    assert len(rows) == 6 and all(row["note"].startswith("worse by 0.4") for row in rows)
    assert "✓" in shoal(*arguments, "--full").output
    may_be = shoal(*arguments[:-1], "0.01").output
    assert "B may be worse by 1.0 points or more" in " ".join(may_be.split())
