"""Association tests: reading them, and finding the word that a sentence is about."""

import json

import pytest

from shoal.core.errors import DataError
from shoal.data.seat import read_test, read_tests, words_of

SETS = {
    "targ1": {"category": "Flowers", "examples": ["aster", "rose"]},
    "targ2": {"category": "Insects", "examples": ["ant", "fly", "ant"]},
    "attr1": {"category": "Good", "examples": ["This is joy."]},
    "attr2": {"category": "Bad", "examples": ["This is pain.", "Here is a crash."]},
}


def write(folder, name="weat1", **sets):
    path = folder / f"{name}.jsonl"
    path.write_text(json.dumps({**SETS, **sets}, indent=1))
    return path


def test_a_test_is_read_with_its_words_and_without_duplicates(tmp_path):
    test = read_test(write(tmp_path))
    assert (test.name, test.sets[1].category) == ("weat1", "Insects")
    assert [one.words for one in test.sets] == [
        ("aster", "rose"),
        ("ant", "fly"),
        ("joy",),
        ("pain", "crash"),
    ]


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ({"attr1": {"examples": ["a"]}}, "attr1: an object with category and examples"),
        ({"targ1": {"category": "x", "examples": []}}, "targ1: an object with category and examples"),
        ({"targ1": {"category": "x", "examples": ["a", " "]}}, "none of them empty"),
    ],
)
def test_malformed_sets_are_named(tmp_path, sets, message):
    with pytest.raises(DataError, match=message):
        read_test(write(tmp_path, **sets))


def test_other_files_and_folders_are_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"targ1": 1}')
    with pytest.raises(DataError, match="not an association test"):
        read_test(path)
    with pytest.raises(DataError, match="no such file"):
        read_tests(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no association tests"):
        read_tests(tmp_path / "empty")


@pytest.mark.parametrize(
    ("sentences", "words"),
    [
        (["This is an aster.", "An aster is a thing.", "Asters are things."], ("aster", "aster", "Asters")),
        (["The person's name is John.", "John is a person."], ("John", "John")),
        (["Here he is.", "There he is.", "These are brothers."], ("he", "he", "brothers")),
        (["That will stink.", "This may kill."], ("stink", "kill")),
        (["John is an engineer.", "Mary Ann is an engineer."], ("John", "Mary Ann")),
        (["One thing.", "Another matter."], ("", "")),
        (["Completely alone with it."], ("",)),
    ],
    ids=str,
)
def test_the_word_of_a_sentence_is_found_by_its_template_or_by_what_is_not_shared(sentences, words):
    assert words_of(sentences) == words
