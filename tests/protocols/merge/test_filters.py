"""The filters in their order: the toy funnel of docs/method/merge.md 4.11, to the word."""

from dataclasses import replace

import pytest
from merge_planted import TEXTS, TOY

from shoal.protocols.merge.draws import Filtered, filter_suggestions, is_relative
from shoal.protocols.merge.suggest import Suggestion, combine_occurrences
from shoal.protocols.merge.tagger import find_targets, load_tagger, replace_word


def suggestions(model, chances, of_word=0.20):
    return [Suggestion(model, word, (p, p), (of_word, of_word)) for word, p in chances.items()]


def man():
    targets, _ = find_targets(TEXTS, load_tagger())
    return next(target for target in targets if target.word == "man")


def toy() -> Filtered:
    suggested = {model: suggestions(model, chances) for model, chances in TOY.items()}
    return filter_suggestions(TEXTS, man(), suggested, load_tagger())


def test_targets_are_open_class_words_of_both_texts_or_of_a_single_one():
    targets, _ = find_targets(TEXTS, load_tagger())
    assert [(target.word, target.word_class) for target in targets] == [("man", "noun"), ("plays", "verb")]
    assert targets[0].occurrences == ((0, 2, 5), (1, 2, 5))
    single, _ = find_targets(("A man sleeps .",), load_tagger())
    assert [target.word for target in single] == ["man", "sleeps"]


def test_replacements_are_capitalised_like_the_word():
    assert replace_word(("Men sleep.", "men"), ((0, 0, 3), (1, 0, 3)), "women") == ("Women sleep.", "women")


def test_each_condition_leaves_out_its_own():
    words = {
        name: {c.word for c, _ in toy().replacements(name)}
        for name in ("pos", "probability", "none", "scrambled")
    }
    assert words["pos"] == {"woman", "boy", "girl", "musician", "dog", "person", "lady"}
    assert words["probability"] == {"woman", "boy", "girl", "musician", "lady", "he"}
    assert words["none"] == words["pos"] | {"he"}
    assert words["scrambled"] == {"woman", "boy", "girl", "musician", "lady"}


@pytest.mark.parametrize(
    ("word", "target", "related"),
    [
        ("men", "man", True), ("manly", "man", True), ("woman", "man", False), ("dancing", "dance", True),
        ("runner", "run", True), ("happily", "happy", True), ("unhappy", "happy", True), ("cart", "car", False),
        ("play", "plays", True), ("played", "plays", True), ("dancers", "dance", True), ("music", "musicians", False),
    ],
)  # fmt: skip
def test_relatives_share_lemma_or_stem(word, target, related):
    tags = {"dance": "VVB", "run": "VVB", "happy": "AJ0", "plays": "VVZ"}
    made = replace(man(), word=target, tags=(tags.get(target, "NN1"),) * 2)
    assert is_relative(word, made, load_tagger()) is related


def test_a_word_of_another_class_elsewhere_is_left_out():
    targets, shared = find_targets(("He plays a play .", "They play a play ."), load_tagger())
    assert "play" not in {target.word for target in targets}
    assert shared == 1


# Blanks


def test_a_suggestion_is_one_at_every_occurrence():
    from shoal.models.interface import Fillers

    first = Fillers(("woman", "boy"), (0.5, 0.1), 0.2)
    second = Fillers(("boy", "dog"), (0.4, 0.3), 0.2)
    combined = combine_occurrences("m", [first, second])
    assert isinstance(combined, list) and [s.word for s in combined] == ["boy"]
    assert combined[0].probabilities == (0.1, 0.4) and not combined[0].is_more_probable
    assert combine_occurrences("m", [first, Fillers(problem="not one piece")]) is None
    # If the original word is impossible, every word would be more probable: no suggestions.
    assert combine_occurrences("m", [first, replace(second, of_word=0.0)]) is None


def test_the_tags_are_those_of_the_tagger_itself():
    from HanTa.HanoverTagger import HanoverTagger

    library, tagger = HanoverTagger("morphmodel_en.pgz"), load_tagger()
    for text in (
        "A man plays a guitar .", "The dog runs in the park and is sleeping .", "They do n't know what we have seen",
        "Two older women gathering rice .", "1234 xyzzy !", "men", "He left his left shoe at 5 o'clock .",
    ):  # fmt: skip
        words = tuple(text.split())
        assert tagger.tags(words) == library.tag_sent(list(words), taglevel=0)
    assert tagger.tags(()) == []
