"""The suites that ship with shoal: sizes, sound cases, and what planted models make of them."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from shoal.core.records import Answers, Case, Example
from shoal.data.grammar import GRAMMARS, SPLITS, make_rows
from shoal.protocols.behaviour.build import built_suite, load_suite
from shoal.protocols.behaviour.lexicons import word_list
from shoal.protocols.behaviour.score import score
from shoal.protocols.behaviour.settings import Settings
from shoal.protocols.behaviour.suite import Suite
from shoal.protocols.behaviour.suites import SUITES, sentiment


def by_functionality(suite: Suite) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for case in suite.cases:
        found[case.groups["functionality"]].append(case)
    return found


def pass_rates(suite: Suite, answers: Answers) -> dict[str, Any]:
    measures = score(Settings(), built_suite(suite), {"": answers}).measures
    return {row.groups["functionality"]: row for row in measures if "functionality" in row.groups}


def examples_of(suite: Suite) -> list[Example]:
    return [example for case in suite.cases for example in case.examples]


# What is in them


@pytest.mark.parametrize("name", SUITES)
def test_every_functionality_is_described_and_has_20_to_200_cases(name):
    suite = load_suite(name)
    for functionality, cases in by_functionality(suite).items():
        assert 20 <= len(cases) <= 200, functionality
        assert suite.descriptions[functionality].endswith("."), functionality


@pytest.mark.parametrize("name", SUITES)
def test_texts_are_clean(name):
    texts = 2 if name in ("paraphrase", "reading") else 1
    for case in load_suite(name).cases:
        for example in case.examples:
            assert len(example) == texts
            assert all(text and text.strip() == text and "  " not in text for text in example), case.id
        wrong = r"[{}]" if name.endswith("-de") else r"[{}]|None\b(?! of)|\ba [aeioAEIO]|\ban [^aeiohAEIO]"
        assert not any(re.search(wrong, text) for text in case.examples[0]), case.id


def test_answers_of_the_reading_suite_stand_in_the_passage():
    for case in load_suite("reading").cases:
        for (passage, _), answer in zip(case.examples, case.labels or (), strict=False):
            assert re.search(rf"\b{re.escape(str(answer))}\b", passage), case.id


# How they are made


@pytest.mark.slow
def test_generation_is_the_same_in_another_process_with_another_hash_seed():
    code = (
        "from hashlib import sha256; from shoal.protocols.behaviour.build import SUITES, load_suite;"
        "print([sha256(repr([(c.id, c.examples, c.labels, c.cluster) for c in load_suite(n).cases])"
        ".encode()).hexdigest() for n in SUITES])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1 and "[" in runs.pop()


# Apart from the i.i.d. data


@pytest.fixture(scope="module")
def iid():
    return {task: [row for split in SPLITS for row in make_rows(task, split)] for task in GRAMMARS}


@pytest.mark.parametrize("name", [name for name in SUITES if name in GRAMMARS])
def test_no_suite_text_is_in_the_iid_data(iid, name):
    known = {text.lower() for row in iid[name] for text in row.texts[:1]}
    known |= {" ".join(row.texts).lower() for row in iid[name]}
    shared = {text for text in (" ".join(e).lower() for e in examples_of(load_suite(name))) if text in known}
    shared |= {e[0].lower() for e in examples_of(load_suite(name)) if e[0].lower() in known}
    assert not shared


# What planted models make of them


def constant(suite: Suite, label: str) -> Answers:
    assert suite.labels
    n, at = len(examples_of(suite)), suite.labels.index(label)
    return Answers(suite.labels, np.full(n, at), np.tile(np.eye(len(suite.labels))[at], (n, 1)))


@pytest.mark.parametrize(("name", "label", "most"), [
    ("sentiment", "negative", 1 / 3), ("sentiment", "neutral", 1 / 3), ("sentiment", "positive", 1 / 3),
    ("sentiment-de", "negativ", 1 / 3), ("sentiment-de", "neutral", 1 / 3), ("sentiment-de", "positiv", 1 / 3),
    ("paraphrase", "different", 0.6), ("paraphrase", "duplicate", 0.6),
])  # fmt: skip
def test_a_constant_predictor_passes_few_minimum_functionalities(name, label, most):
    suite = load_suite(name)
    rates = pass_rates(suite, constant(suite, label))
    minimum = [row.value for row in rates.values() if row.groups["test type"] == "MFT"]
    assert sum(value == 1 for value in minimum) <= most * len(minimum)
    assert sum(value == 1 for value in minimum) > 0, "or this test cannot fail"
    assert all(row.value == 1 for row in rates.values() if row.groups["test type"] == "INV")


def test_pointing_at_the_first_word_passes_no_minimum_functionality_of_reading():
    suite = load_suite("reading")
    texts = [context.split()[0] for context, _ in examples_of(suite)]
    rates = pass_rates(suite, Answers((), np.zeros(len(texts), np.int64), texts=texts))
    minimum = [row.value for row in rates.values() if row.groups["test type"] == "MFT"]
    assert max(minimum) <= 0.5 and any(minimum)


@pytest.mark.parametrize("name", SUITES)
def test_right_answers_pass_every_minimum_functionality(name):
    suite = load_suite(name)
    right = [str(label) for case in suite.cases for label in case.labels or [""] * len(case.examples)]
    if suite.labels:
        others = {f"not_{label}": suite.labels[at - 1] for at, label in enumerate(suite.labels)}
        names = [{**others, "": suite.labels[0]}.get(label, label) for label in right]
        answers = Answers(suite.labels, np.array([suite.labels.index(label) for label in names]))
    else:
        answers = Answers((), np.zeros(len(right), np.int64), texts=right)
    rates = pass_rates(suite, answers)
    assert all(row.value == 1 for row in rates.values() if row.groups["test type"] == "MFT")


def test_a_model_that_counts_words_passes_vocabulary_and_fails_negation_time_and_roles():
    """What the suite is for: the two words that judge are known, and nothing that stands around them."""
    suite = load_suite("sentiment")
    good, bad = set(sentiment.PRAISE + sentiment.LIKING), set(sentiment.BLAME + sentiment.DISLIKING)

    def positive(text: str) -> float:
        words = re.findall(r"\w+", text.lower())
        more = sum(word in good for word in words) - sum(word in bad for word in words)
        return 0.9 if more > 0 else 0.1 if more < 0 else 0.5

    p = np.array([positive(text) for (text,) in examples_of(suite)])
    rates = pass_rates(
        suite, Answers(("negative", "positive"), (p > 0.5).astype(np.int64), np.stack([1 - p, p], axis=1))
    )
    value = {functionality: row.value for functionality, row in rates.items()}
    for passed in ("praise_is_positive", "blame_is_negative", "verbs_carry_the_opinion",
                   "plain_facts_are_neutral", "contractions_change_nothing", "religion_changes_nothing",
                   "another_name_changes_nothing"):  # fmt: skip
        assert value[passed] == 1, passed
    for failed in ("negated_praise_is_negative", "negated_blame_is_not_negative", "short_negation_is_seen",
                   "the_present_opinion_counts", "the_author_counts_more_than_others", "hopes_are_not_opinions",
                   "rarer_words_judge_as_well"):  # fmt: skip
        assert value[failed] == 0, failed
    assert 0 < value["a_typo_changes_nothing"] < 1


def test_a_german_model_that_counts_words_fails_negation_and_reference():
    suite = load_suite("sentiment-de")
    praise, blame = (word_list(f"adjectives.{polarity}", "de") for polarity in ("positive", "negative"))

    def label(text: str) -> int:
        counts = [sum(word in text for word in words) for words in (blame, praise)]
        return 1 + int(np.sign(counts[1] - counts[0]))

    labels = np.array([label(text) for (text,) in examples_of(suite)])
    rates = pass_rates(suite, Answers(suite.labels or (), labels))
    value = {functionality: row.value for functionality, row in rates.items()}
    for passed in ("praise_is_positive", "blame_is_negative", "plain_facts_are_neutral"):
        assert value[passed] == 1, passed
    for failed in ("negated_praise_is_not_positive", "negated_blame_is_not_negative", "negation_may_come_last",
                   "the_present_opinion_counts", "gender_finds_the_noun"):  # fmt: skip
        assert value[failed] == 0, failed
    assert all(row.value == 1 for row in rates.values() if row.groups["capability"] == "fairness")
    assert 0 < value["umlauts_may_be_spelt_out"] < 1


def test_a_model_that_compares_words_fails_the_roles_of_paraphrase():
    """Questions with the same words are duplicates to it, whoever did what to whom."""
    suite = load_suite("paraphrase")
    same = [
        set(re.findall(r"\w+", a.lower())) == set(re.findall(r"\w+", b.lower()))
        for a, b in examples_of(suite)
    ]
    rates = pass_rates(suite, Answers(("different", "duplicate"), np.array(same, dtype=np.int64)))
    assert rates["a_question_repeats_itself"].value == 1
    assert rates["some_relations_go_both_ways"].value == 1
    assert rates["the_order_of_a_comparison_matters"].value == 0
    assert rates["active_and_passive_ask_the_same"].value == 0
