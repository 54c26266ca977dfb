"""The filters in their order: the toy funnel of docs/method/merge.md 4.11, to the word."""

from dataclasses import replace

import pytest
from merge_planted import BERT, ROBERTA, TEXTS, TOY

from shoal.protocols.merge import Settings
from shoal.protocols.merge.draws import source_name
from shoal.protocols.merge.filters import STEPS, Filtered, filter_suggestions, has_same_class, is_relative
from shoal.protocols.merge.suggest import ZERO_PROBABILITY, Suggestion, blanks_for, combine_occurrences
from shoal.protocols.merge.tagger import load_tagger
from shoal.protocols.merge.tagger import find_targets, replace_word


def suggestions(model, chances, of_word=0.20):
    return [
        Suggestion(model, word, (rank, rank), (p, p), (of_word, of_word))
        for rank, (word, p) in enumerate(chances.items(), start=1)
    ]


def man():
    targets, _ = find_targets(TEXTS, Settings(), load_tagger())
    return next(target for target in targets if target.word == "man")


def toy(**options) -> Filtered:
    suggested = {model: suggestions(model, chances) for model, chances in TOY.items()}
    return filter_suggestions(TEXTS, man(), suggested, replace(Settings(), **options), load_tagger())


def test_shared_open_class_words_are_man_and_plays():
    targets, _ = find_targets(TEXTS, Settings(), load_tagger())
    assert [(target.word, target.word_class) for target in targets] == [("man", "noun"), ("plays", "verb")]
    assert targets[0].occurrences == ((0, 2, 5), (1, 2, 5))


def test_the_toy_funnel_is_exact():
    assert toy().counts == dict(zip(STEPS, (12, 10, 8, 7, 5), strict=True))


def test_what_is_left_has_its_sources():
    kept = {c.word: source_name(source, [BERT, ROBERTA]) for c, source in toy().replacements("default")}
    assert kept == {
        "woman": "both",
        "boy": "both",
        "girl": "BERT only",
        "lady": "BERT only",
        "musician": "RoBERTa only",
    }
    (lady,) = [candidate for candidate, _ in toy().replacements("default") if candidate.word == "lady"]
    assert lady.proposers == (BERT, ROBERTA)


def test_each_condition_leaves_out_its_own():
    words = {
        name: {c.word for c, _ in toy().replacements(name)}
        for name in ("pos", "probability", "none", "scrambled")
    }
    assert words["pos"] == {"woman", "boy", "girl", "musician", "dog", "person", "lady"}
    assert words["probability"] == {"woman", "boy", "girl", "musician", "lady", "he"}
    assert words["none"] == words["pos"] | {"he"}
    assert words["scrambled"] == {"woman", "boy", "girl", "musician", "lady"}


def test_relatives_can_be_kept():
    assert {"manly", "men"} <= {candidate.word for candidate in toy(relatives=False).candidates}


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


def test_a_suggestion_as_probable_as_the_word_is_kept_where_asked():
    kept = [{c.word for c, _ in toy(as_probable=ties).replacements("default")} for ties in (False, True)]
    assert kept[1] - kept[0] == {"person"}


def test_a_replacement_that_falls_apart_is_never_of_the_same_class():
    assert not has_same_class(TEXTS, man(), "can't", load_tagger())


def test_a_word_of_another_class_elsewhere_is_left_out():
    targets, left_out = find_targets(("He plays a play .", "They play a play ."), Settings(), load_tagger())
    assert "play" not in {target.word for target in targets}
    assert left_out["of another class elsewhere"] == 1


def test_words_of_one_sentence_only_are_no_targets_unless_any_are_wanted():
    words = [t.word for t in find_targets(TEXTS, Settings(targets="any"), load_tagger())[0]]
    assert words == ["man", "plays", "guitar", "instrument"]
    assert [t.word for t in find_targets(("A man sleeps .",), Settings(), load_tagger())[0]] == [
        "man",
        "sleeps",
    ]


def test_capitals_stay_and_articles_are_mended_where_asked():
    target = replace(man(), occurrences=((0, 2, 5), (1, 2, 5)))
    assert replace_word(TEXTS, target.occurrences, "actor")[0] == "A actor plays a guitar ."
    assert replace_word(TEXTS, target.occurrences, "actor", articles=True) == (
        "An actor plays a guitar .",
        "An actor plays an instrument .",
    )
    assert replace_word(("Men sleep.", "men"), ((0, 0, 3), (1, 0, 3)), "women") == ("Women sleep.", "women")
    twice = replace_word(("An owl and an owl.",), ((0, 3, 6), (0, 14, 17)), "cat", articles=True)
    assert twice == ("A cat and a cat.",)


# Blanks


def test_all_occurrences_are_masked_at_once():
    blanks = blanks_for(TEXTS, man())
    assert [(len(blank.hidden), blank.asked) for blank in blanks] == [(2, 0), (2, 1)]


def test_a_suggestion_is_one_at_every_occurrence():
    from shoal.models.interface import Fillers

    first = Fillers(("woman", "boy"), (1, 3), (0.5, 0.1), 0.2)
    second = Fillers(("boy", "dog"), (1, 2), (0.4, 0.3), 0.2)
    combined = combine_occurrences("m", [first, second])
    assert isinstance(combined, list) and [s.word for s in combined] == ["boy"]
    assert combined[0].probabilities == (0.1, 0.4) and not combined[0].is_more_probable()
    assert combine_occurrences("m", [first, Fillers(problem="not one piece")]) == "not one piece"
    # If the original word is impossible, every word would be more probable: no suggestions.
    assert combine_occurrences("m", [first, replace(second, of_word=0.0)]) == ZERO_PROBABILITY


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
