"""Fillings of one template are told by their texts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.columns import Named
from shoal.data.templates import templates
from shoal.protocols.behaviour.suite_files import import_suite, read_suite

words = st.sampled_from(["red", "old", "door", "gate", "is", "not", "open"])


def test_slots_of_one_to_three_words_are_seen() -> None:
    texts = ["I fly to Rome today.", "I fly to New York today.", "I fly to Rio de Janeiro today.", "We stay."]
    assert templates(texts) == [0, 0, 0, 3]


def test_two_slots_come_together_step_by_step() -> None:
    texts = [
        f"The {thing} was {word} indeed." for thing in ("film", "meal", "song") for word in ("good", "bad")
    ]
    assert set(templates(texts)) == {0}
    far_apart = ["The film I saw was good.", "The meal I saw was bad."]
    assert templates(far_apart) == [0, 1]  # nothing in between


@pytest.mark.slow
@given(st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join), max_size=12), st.randoms())
def test_the_order_of_texts_changes_nothing(texts: list[str], random: st.DataObject) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    there, back = templates(texts), templates([texts[place] for place in order])
    pairs = {(there[place], back[new]) for new, place in enumerate(order)}
    assert len(pairs) == len(set(there)) == len(set(back))


def test_an_import_can_name_templates(tmp_path: Path) -> None:
    rows = [{"text": f"The {thing} was good.", "y": "pos"} for thing in ("film", "meal")]
    rows += [{"text": "I never slept.", "y": "neg"}]
    source, out = tmp_path / "table.jsonl", tmp_path / "suite.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    named = Named(texts=("text",), label="y")
    import_suite(source, out, named, by_template=True)
    clusters = [case.cluster for case in read_suite(out).cases]
    assert clusters[0] == clusters[1] != clusters[2] and all(clusters)
    import_suite(source, out, named)
    assert not any(case.cluster for case in read_suite(out).cases)
