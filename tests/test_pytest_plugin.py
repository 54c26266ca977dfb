"""The pytest plugin: a good model passes, a bad one fails with what to look at."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from shoal import ShoalError, Suite, case
from shoal.pytest_plugin import assert_behaves

LABELS = ("negative", "positive")


@pytest.fixture(scope="module")
def suite() -> Suite:
    made = Suite("toy", labels=LABELS)

    @made.minimum(capability="praise")
    def praise_is_positive():
        """Praise."""
        for at in range(10):
            yield case(f"good {at}", label="positive")

    @made.minimum(capability="blame")
    def blame_is_negative():
        """Blame."""
        for at in range(10):
            yield case(f"bad {at} [red]", label="negative")

    return made


def right(texts: list[str]) -> list[str]:
    return ["positive" if "good" in text else "negative" for text in texts]


def cheerful(texts: list[str]) -> list[str]:
    return ["positive" for _ in texts]


def mostly_cheerful(texts: list[str]) -> list[str]:
    return ["negative" if "good 9" in text else "positive" for text in texts]


def nervous(texts: list[str]) -> list[str]:
    if any("good 3" in text for text in texts):
        raise TimeoutError("no answer")
    return right(texts)


def test_a_model_that_behaves_passes_and_gives_its_result(suite):
    result = assert_behaves(right, suite, at_least=1.0)
    assert result.measures.where("suite score")[0].value == 1.0


def test_a_model_that_does_not_fails_with_two_examples(suite):
    with pytest.raises(AssertionError) as caught:
        assert_behaves(mostly_cheerful, suite, at_least=0.9)
    message = str(caught.value)
    assert message.startswith("the model does not behave:\n  suite score: 45.0 % [")
    assert "expected at least 90.0 %" in message
    assert "good 9" in message and "bad 0 [red]" in message


def test_a_functionality_or_capability_can_be_named(suite):
    assert_behaves(cheerful, suite, functionality="praise_is_positive")
    assert_behaves(cheerful, suite, capability="praise")
    with pytest.raises(AssertionError, match="blame_is_negative: 0.0 %"):
        assert_behaves(cheerful, suite, functionality="*")
    with pytest.raises(ShoalError, match="no case is in 'functionality=absent'"):
        assert_behaves(cheerful, suite, functionality="absent")


def test_no_answer_is_no_pass(suite):
    with pytest.raises(AssertionError, match="no answer to 1 of 20 cases") as caught:
        assert_behaves(nervous, suite, at_least=0.1)
    assert "praise_is_positive/4: TimeoutError: no answer" in str(caught.value)
    assert_behaves(nervous, suite, at_least=0.9, allow_errors=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at_least": 90}, "try: at_least = 0.9"),
        ({"siute": "x"}, 'unknown setting or group: siute(.|\n)*try: "suite"'),
    ],
)
def test_what_is_wrong_with_the_call_is_one_of_our_errors(suite, options, message):
    with pytest.raises(ShoalError, match=message):
        assert_behaves(right, suite, **options)


@pytest.mark.slow
def test_the_fixture_is_offered_to_every_test(tmp_path):
    (tmp_path / "test_release.py").write_text(
        "def test_good(assert_behaves):\n"
        "    assert_behaves('predictions:example', 'sentiment', functionality='praise_is_positive')\n"
        "def test_bad(assert_behaves):\n"
        "    assert_behaves('predictions:example', 'sentiment', capability='negation')\n"
    )
    installed = any(one.value == "shoal.pytest_plugin" for one in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "shoal.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin]
    command += ["--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: the model does not behave:" in done.stdout
    assert "def _message" not in done.stdout and "pytest_plugin.py" not in done.stdout


def test_only_the_cases_that_are_judged_are_asked(suite):
    asked: list[str] = []

    def model(texts: list[str]) -> list[str]:
        asked.extend(texts)
        return right(texts)

    assert_behaves(model, suite, functionality="praise_is_positive")
    assert {text for text in asked if len(text) <= 20} == {f"good {at}" for at in range(10)}
