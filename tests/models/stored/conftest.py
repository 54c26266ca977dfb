"""A toy suite, and predictions files written beside it."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from small_world import lines

from shoal import Answers, Suite, case, load_model
from shoal.protocols.behaviour.expect import Expect

SENTIMENT = ("negative", "neutral", "positive")


@pytest.fixture
def suite() -> Suite:
    """Three cases, four examples: words/1, words/2, names/1 with two."""
    made = Suite("toy", labels=SENTIMENT)
    made.add_functionality("words", "v", "MFT", Expect("pred_equals_label"))
    made.add_functionality(
        "names", "n", "INV", Expect("same_pred_or_conf_change_within_tol", 0.1, "all_except_first")
    )
    made.add_case("words", "1", case("good", label=2))
    made.add_case("words", "2", case("bad", label=0))
    made.add_case("names", "1", case("Ann is here", "Bob is here"))
    return made


@pytest.fixture(scope="session")
def labelled() -> Callable[..., Suite]:
    """A suite with one labelled example per case: ids words/1, words/2, …"""

    def made(labels: Sequence[str] | None, right: Iterable[int | str]) -> Suite:
        suite = Suite("toy", labels=labels)
        suite.add_functionality("words", "v", "MFT", Expect("pred_equals_label"))
        for number, label in enumerate(right, start=1):
            suite.add_case("words", str(number), case(f"text {number}", label=label))
        return suite

    return made


@pytest.fixture(scope="session")
def ask() -> Callable[..., Answers]:
    """What a predictions file says of the cases, all of the suite's unless some are given."""

    def asked(path: Path, suite: Suite, options: str = "", cases: Any = None) -> Answers:
        model = load_model(f"predictions:{path}{options}")
        answers: Answers = model.answer_cases(
            suite.cases if cases is None else cases, suite.cases, suite.labels
        )
        return answers

    return asked


@pytest.fixture(scope="session")
def write() -> Callable[..., Path]:
    """Lines as they are, or objects as JSON, in a file."""

    def written(path: Path, rows: Iterable[Any]) -> Path:
        path.write_bytes(lines(list(rows)))
        return path

    return written


@pytest.fixture(scope="session")
def named() -> Callable[[Answers], list[str]]:
    """Answers by the names of their labels."""
    return lambda answers: [answers.labels[code] for code in answers.predictions]
