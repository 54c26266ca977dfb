"""Perturbations: what they keep, what they change, and when they leave a text alone."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.protocols.behaviour import perturb

texts = st.text(alphabet="abcXYZ ,.!?'\"éß日1", max_size=40)
seeds = st.integers(0, 2**32)


@settings(deadline=None)
@given(texts, seeds, st.integers(0, 5))
def test_typos_keep_every_character(text, seed, times):
    changed = perturb.swap_letters(text, np.random.default_rng(seed), times)
    assert Counter(changed) == Counter(text)
    assert [c for c in changed if not c.isalpha()] == [c for c in text if not c.isalpha()]


@pytest.mark.parametrize("text", ["the audit is long", "IT IS", "cannots"])
def test_words_that_only_look_like_contractions_are_left_alone(text):
    assert perturb.contract(text) == text


@settings(deadline=None)
@given(st.integers(0, 999_999), seeds)
def test_another_number_is_near_different_and_not_negative(number, seed):
    changes = perturb.change_numbers(f"about {number} people", np.random.default_rng(seed))
    assert changes and len({change.new for change in changes}) == len(changes)
    for change in changes:
        assert 0 < abs(int(change.new) - number) <= number // 5 + 1 and int(change.new) >= 0
        assert change.text == f"about {change.new} people"


@settings(deadline=None)
@given(texts)
def test_punctuation_variants_differ_from_the_text_and_each_other(text):
    variants = perturb.vary_punctuation(text)
    assert text not in variants and len(set(variants)) == len(variants)
    assert {perturb.strip_punctuation(variant) for variant in variants} <= {perturb.strip_punctuation(text)}


@pytest.mark.parametrize("text", [
    "Is it clean?", "The room was not clean.", "Every room was clean.", "It is late and she is here.", "",
])  # fmt: skip
def test_what_is_not_simple_is_not_negated(text):
    assert perturb.negate(text) is None
