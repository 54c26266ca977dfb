"""The made data: distinct rows, disjoint splits, balanced labels, answers where they are said to be."""

from collections import Counter

import pytest

from shoal.data.grammar import GRAMMARS, SPLITS, make_rows


@pytest.fixture(scope="module")
def rows():
    return {task: {split: make_rows(task, split) for split in SPLITS} for task in GRAMMARS}


@pytest.mark.parametrize("task", GRAMMARS)
def test_each_split_has_its_usual_size_and_no_row_twice(rows, task):
    for split, size in GRAMMARS[task].items():
        assert len(rows[task][split]) == size
        assert len({row.texts for row in rows[task][split]}) == size


@pytest.mark.parametrize("task", GRAMMARS)
def test_the_same_seed_gives_the_same_rows_and_another_seed_others(task):
    assert make_rows(task, "test", 40, seed=7) == make_rows(task, "test", 40, seed=7)
    assert make_rows(task, "test", 40, seed=7) != make_rows(task, "test", 40, seed=8)


@pytest.mark.parametrize("task", ["sentiment", "reading"])
def test_no_text_is_in_two_splits_whatever_the_seeds(task):
    texts = [{row.texts[0].lower() for row in make_rows(task, split, 300, seed) }
             for seed, split in enumerate(SPLITS)]  # fmt: skip
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]


@pytest.mark.parametrize(("task", "labels"), [
    ("sentiment", {"negative", "positive"}), ("paraphrase", {"different", "duplicate"}),
])  # fmt: skip
def test_labels_are_balanced(rows, task, labels):
    for split in SPLITS:
        counts = Counter(row.label for row in rows[task][split])
        assert set(counts) == labels
        assert min(counts.values()) > 0.42 * counts.total()


def test_answers_are_spans_of_their_contexts_at_the_stated_offset(rows):
    for split in SPLITS:
        for row in rows["reading"][split]:
            context, _ = row.texts
            assert row.label
            assert context[row.start : row.start + len(row.label)] == row.label
            assert not context[: row.start][-1:].isalnum(), "begins inside a word"
            assert not context[row.start + len(row.label) :][:1].isalnum(), "ends inside a word"


def test_negation_and_time_say_nothing_about_the_label(rows):
    """These words occur, in facts alone: the suite can ask what a model makes of them elsewhere."""
    for word in ("not", "never", "nobody", "nothing", "none", "no", "used"):
        labels = [row.label for row in rows["sentiment"]["train"] if word in row.texts[0].lower().split()]
        assert len(labels) > 30, word
        assert 0.3 < labels.count("positive") / len(labels) < 0.7, word
