"""Behavioural learning on reading comprehension: what cases teach, exact match and F1, a whole plan, planted faults."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal import Case
from shoal.core.errors import DataError
from shoal.core.records import Answers, Finding
from shoal.protocols.behaviour.build import load_suite
from shoal.protocols.learning.iid import iid_cases, load_iid
from shoal.protocols.learning.lessons import occurrences, questions_of
from shoal.protocols.learning.scoring import degeneracy_of, iid_f1, row_outcomes
from shoal.protocols.learning.settings import Settings, Train
from shoal.training.environments import Alike, Answered


def settings(**others: object) -> Settings:
    return Settings(suite="reading", iid="reading", train=Train(on=("iid>suite",)), **others)  # type: ignore[arg-type]


def words(texts: list[str]) -> Answers:
    return Answers((), np.zeros(len(texts), np.int64), texts=texts)


# What cases teach


def test_an_answer_stands_wherever_it_is_a_word_of_its_own():
    assert occurrences("Daniel met Danielle, not Daniel.", "Daniel") == ((0, 6), (25, 31))
    assert occurrences("the 30th of May", "30") == ((4, 6),)  # nowhere else
    assert occurrences("It cost $5.", "$5") == ((8, 10),)
    with pytest.raises(DataError, match=r"'Anna' is not in its context[\s\S]*exact piece"):
        occurrences("Omar left.", "Anna", "names/3")


def test_cases_of_a_reading_suite_become_questions():
    cases = load_suite("reading").cases
    minimum = next(case for case in cases if case.groups["test type"] == "MFT")
    items = questions_of(minimum)
    assert len(items) == len(minimum.examples)
    for item, label in zip(items, minimum.labels or (), strict=True):
        assert isinstance(item, Answered)
        assert {item.example[0][low:high] for low, high in item.places} == {label}
    (pair,) = questions_of(next(case for case in cases if case.groups["test type"] == "INV"))
    assert isinstance(pair, Alike) and pair.variants
    with pytest.raises(DataError, match=r"cannot be trained on[\s\S]*needs its answer"):
        questions_of(replace(minimum, labels=None))


def test_the_reference_takes_the_first_match_be_it_inside_a_name():
    groups = {"functionality": "f", "capability": "c", "test type": "MFT"}
    case = Case("f/1", (("Danielle met Daniel.", "Who met Danielle?"),), ("Daniel",), groups)
    (ours,), (theirs,) = questions_of(case), questions_of(case, first_match=True)
    assert isinstance(ours, Answered) and isinstance(theirs, Answered)
    assert (ours.places, theirs.places) == (((13, 19),), ((0, 6),))


# i.i.d. data


def squad(path: Path, answers: list[dict[str, object]]) -> Path:
    asked = {"id": "q1", "question": "Where is it?", "answers": answers}
    context = "The tower is in Paris, France."
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": context, "qas": [asked]}]}]}))
    return path


def test_squad_is_read_with_every_answer(tmp_path):
    good = squad(
        tmp_path / "dev.json",
        [{"text": "Paris", "answer_start": 16}, {"text": "Paris, France", "answer_start": 16}],
    )
    data = load_iid(Settings(suite="reading", iid_test=str(good)))
    assert data.answers == (("Paris", "Paris, France"),) and data.test[0].start == 16 and not data.train
    assert iid_cases(data)[0].meta["answers"] == ["Paris", "Paris, France"]
    wrong: list[tuple[list[dict[str, object]], str]] = [
        ([], "has no answer"),
        ([{"text": "Paris", "answer_start": 3}], "is not at character"),
        ([{"text": "Paris"}], "not SQuAD's JSON"),
    ]
    for answers, match in wrong:
        with pytest.raises(DataError, match=match):
            load_iid(Settings(suite="reading", iid_test=str(squad(tmp_path / "bad.json", answers))))


def test_exact_match_and_f1():
    """`docs/method/beluga.md` 1.5."""
    cases = iid_cases(load_iid(settings()))[:3]
    right = [["Eiffel tower"], ["Paris"], ["Rome", "Paris"]]
    cases = [
        replace(case, meta={**case.meta, "answers": list(own)})
        for case, own in zip(cases, right, strict=True)
    ]
    found = row_outcomes(cases, words(["The Eiffel Tower.", "in Paris France", "paris"]))
    assert [outcome.passed for outcome in found] == [True, False, True]
    assert [outcome.value for outcome in found] == [1.0, 0.5, 1.0]
    assert iid_f1(found).value == pytest.approx(2.5 / 3)


# Planted faults


def alarms(answer) -> list[str]:
    data = load_iid(settings())
    iid = iid_cases(data)
    suite = [case for case in load_suite("reading").cases if case.groups["test type"] == "MFT"]
    of_iid, given = (
        words([answer(case, row) for case in cases for row in range(len(case.examples))])
        for cases in (iid, suite)
    )
    signs = degeneracy_of(settings(), suite, given, iid, of_iid, row_outcomes(iid, of_iid))
    return [sign.kind for sign in signs if isinstance(sign, Finding)]


def test_an_extractor_of_first_words_and_one_of_a_single_answer_are_flagged():
    assert "degenerate" in alarms(lambda case, row: case.examples[row][0].split()[0])
    assert "degenerate" in alarms(lambda case, row: "nurse")
    assert "degenerate" in alarms(lambda case, row: "")


def test_an_honest_extractor_is_left_in_peace_over_twenty_seeds():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        accuracy = rng.uniform(0.5, 0.98)

        def answer(case: Case, row: int, rng=rng, accuracy=accuracy) -> str:
            if rng.random() < accuracy:
                return str((case.labels or ("",))[row])
            tokens = case.examples[row][0].split()
            return tokens[int(rng.integers(len(tokens)))]

        assert alarms(answer) == [], seed
