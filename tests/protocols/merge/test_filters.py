"""The filters in their order: the toy funnel of docs/method/merge.md 4.11, to the word."""

from dataclasses import replace

import pytest
from merge_planted import BERT, ROBERTA, TEXTS, TOY

from shoal.core.errors import DataError
from shoal.protocols.merge import Settings
from shoal.protocols.merge.draws import source_name
from shoal.protocols.merge.filters import STEPS, Filtered, filtered, has_same_class, is_relative
from shoal.protocols.merge.suggest import NO_CHANCE, Suggestion, blanks_of, gather
from shoal.protocols.merge.tagger import load_tagger
from shoal.protocols.merge.targets import replace_word, targets_of
from shoal.protocols.merge.wordnet import load_derivations


def suggestions(model, chances, of_word=0.20):
    return [
        Suggestion(model, word, (rank, rank), (p, p), (of_word, of_word))
        for rank, (word, p) in enumerate(chances.items(), start=1)
    ]


def man():
    targets, _ = targets_of(TEXTS, Settings(), load_tagger())
    return next(target for target in targets if target.word == "man")


def toy(**options) -> Filtered:
    suggested = {model: suggestions(model, chances) for model, chances in TOY.items()}
    return filtered(TEXTS, man(), suggested, replace(Settings(), **options), load_tagger())


def test_shared_open_class_words_are_man_and_plays():
    targets, _ = targets_of(TEXTS, Settings(), load_tagger())
    assert [(target.word, target.word_class) for target in targets] == [("man", "noun"), ("plays", "verb")]
    assert targets[0].occurrences == ((0, 2, 5), (1, 2, 5))


def test_the_toy_funnel_is_exact():
    assert toy().counts == dict(zip(STEPS, (12, 10, 8, 7, 5), strict=True))


def test_what_is_left_has_its_sources():
    kept = {c.word: source_name(source, [BERT, ROBERTA]) for c, source in toy().kept("default")}
    assert kept == {
        "woman": "both",
        "boy": "both",
        "girl": "BERT only",
        "lady": "BERT only",
        "musician": "RoBERTa only",
    }
    (lady,) = [candidate for candidate, _ in toy().kept("default") if candidate.word == "lady"]
    assert lady.proposers == (BERT, ROBERTA)


def test_each_condition_leaves_out_its_own():
    words = {
        name: {c.word for c, _ in toy().kept(name)} for name in ("pos", "probability", "none", "scrambled")
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


def test_words_that_wordnet_links_by_derivation_are_relatives_too(tmp_path):
    """Synsets in WordNet's own form: `musician` is derived from `music`; a link of another kind is none."""
    lines = {
        "data.noun": "  a licence, indented\n"
        "00000100 10 n 02 music 0 tune 0 002 + 00000200 n 0101 @ 00000200 n 0000 | x\n"
        "00000200 18 n 01 Musician 0 001 + 00000100 n 0101 | y\n",
        "data.verb": "", "data.adj": "00000300 00 a 01 tuneful(a) 0 001 + 00000100 n 0102 | z\n", "data.adv": "",
    }  # fmt: skip
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    assert load_derivations(str(tmp_path)) == {
        "music": {"musician"}, "musician": {"music"}, "tune": {"tuneful"}, "tuneful": {"tune"},
    }  # fmt: skip
    musicians = replace(man(), word="musicians", tags=("NN2", "NN2"))
    assert is_relative("music", musicians, load_tagger(), load_derivations(str(tmp_path)))
    assert "musician" in {candidate.word for candidate in toy(wordnet=str(tmp_path)).candidates}
    (tmp_path / "data.adv").write_text("not a synset\n")
    load_derivations.cache_clear()
    with pytest.raises(DataError, match=r"data.adv, line 1: no synset"):
        toy(wordnet=str(tmp_path))
    with pytest.raises(DataError, match=r"no data.noun there"):
        toy(wordnet=str(tmp_path / "nowhere"))


def test_a_suggestion_as_probable_as_the_word_is_kept_where_asked():
    kept = [{c.word for c, _ in toy(as_probable=ties).kept("default")} for ties in (False, True)]
    assert kept[1] - kept[0] == {"person"}


def test_the_fine_tag_tells_number():
    same = [
        has_same_class(TEXTS, man(), "women", replace(Settings(), same_form=form), load_tagger())
        for form in (False, True)
    ]
    assert same == [True, False]


def test_tagging_alone_is_another_reading():
    settings = replace(Settings(), tag_alone=True)
    assert has_same_class(TEXTS, man(), "woman", settings, load_tagger())
    assert not has_same_class(TEXTS, man(), "he", settings, load_tagger())


def test_a_replacement_that_falls_apart_is_never_of_the_same_class():
    assert not has_same_class(TEXTS, man(), "can't", Settings(), load_tagger())


def test_a_word_of_another_class_elsewhere_is_left_out():
    targets, left_out = targets_of(("He plays a play .", "They play a play ."), Settings(), load_tagger())
    assert "play" not in {target.word for target in targets}
    assert left_out["of another class elsewhere"] == 1


def test_words_of_one_sentence_only_are_no_targets_unless_any_are_wanted():
    words = [t.word for t in targets_of(TEXTS, Settings(targets="any"), load_tagger())[0]]
    assert words == ["man", "plays", "guitar", "instrument"]
    assert [t.word for t in targets_of(("A man sleeps .",), Settings(), load_tagger())[0]] == [
        "man",
        "sleeps",
    ]


def test_names_are_left_alone_unless_asked_for():
    texts = ("Paul sees a dog .", "Paul runs .")
    assert targets_of(texts, Settings(), load_tagger())[0] == []
    assert [t.word for t in targets_of(texts, Settings(proper_nouns=True), load_tagger())[0]] == ["paul"]


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


def test_all_occurrences_are_hidden_at_once_or_one_at_a_time():
    target = man()
    both = blanks_of(TEXTS, target, "all", "pair")
    assert [(len(blank.hidden), blank.asked) for blank in both] == [(2, 0), (2, 1)]
    alone = blanks_of(TEXTS, target, "one at a time", "pair")
    assert [blank.hidden for blank in alone] == [((0, 2, 5),), ((1, 2, 5),)]
    apart = blanks_of(TEXTS, target, "all", "sentence")
    assert [blank.texts for blank in apart] == [(TEXTS[0],), (TEXTS[1],)]
    assert [blank.hidden for blank in apart] == [((0, 2, 5),)] * 2


def test_a_suggestion_is_one_at_every_occurrence():
    from shoal.models.interface import Fillers

    first = Fillers(("woman", "boy"), (1, 3), (0.5, 0.1), 0.2)
    second = Fillers(("boy", "dog"), (1, 2), (0.4, 0.3), 0.2)
    inside = gather("m", [first, second], "all")
    assert isinstance(inside, list) and [s.word for s in inside] == ["boy"]
    assert inside[0].probabilities == (0.1, 0.4) and not inside[0].is_likelier("every")
    assert inside[0].is_likelier("mean") is False
    union = gather("m", [first, second], "union")
    assert isinstance(union, list) and {s.word for s in union} == {"woman", "boy", "dog"}
    assert gather("m", [first, Fillers(problem="not one piece")], "all") == "not one piece"
    # Where the word itself is impossible everything would be more probable: no suggestions.
    assert gather("m", [first, replace(second, of_word=0.0)], "all") == NO_CHANCE


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
