"""CrowS-Pairs files: what is read, and what is refused by name and line."""

from pathlib import Path

import pytest

from shoal.core.errors import DataError
from shoal.data.crows import Pair, read_pair_scores, read_pairs

HEAD = ",sent_more,sent_less,stereo_antistereo,bias_type\n"


def write(folder: Path, text: str, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_pairs_are_read_with_the_numbers_of_the_file(tmp_path):
    path = write(tmp_path, HEAD + '7,"He, a.",She a.,stereo,gender\n9,B,C,antistereo,age\n')
    assert read_pairs(path) == [
        Pair("7", "He, a.", "She a.", "stereo", "gender"),
        Pair("9", "B", "C", "antistereo", "age"),
    ]


def test_sentences_of_another_language_are_read_from_their_columns(tmp_path):
    head = "id,sent_more,sent_less,sent_more_fr,sent_less_fr,stereo_antistereo,bias_type\n"
    path = write(tmp_path, head + "0,He a.,She a.,Il a.,Elle a.,stereo,gender\n")
    assert read_pairs(path, ("sent_more_fr", "sent_less_fr")) == [
        Pair("0", "Il a.", "Elle a.", "stereo", "gender")
    ]
    with pytest.raises(DataError, match="no column 'sent_more_de'"):
        read_pairs(path, ("sent_more_de", "sent_less_de"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "0,a,b,sideways,age\n", r"line 2: stereo_antistereo is 'sideways'"),
        (HEAD + "0,a,b,stereo,age\n0,c,d,stereo,age\n", r"line 3: pair '0' occurs twice"),
    ],
)
def test_what_is_wrong_with_a_file_of_pairs_is_said(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_pairs(write(tmp_path, text))


SCORES = "sent_more,sent_less,sent_more_score,sent_less_score\n"


def test_stored_scores_are_read_from_tables_and_from_json_lines(tmp_path):
    table = write(tmp_path, SCORES + "a,b,-1.5,-2\n")
    lines = write(
        tmp_path,
        '{"sent_more": "a", "sent_less": "b", "sent_more_score": -1.5, "sent_less_score": -2}\n',
        "s.jsonl",
    )
    assert read_pair_scores(table) == read_pair_scores(lines) == {("a", "b"): (-1.5, -2.0)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SCORES + "a,b,1,nan\n", "line 2: sent_more_score and sent_less_score must be numbers"),
        (SCORES + "a,b,1,2\na,b,1,3\n", "line 3: this pair has other scores on an earlier line"),
    ],
)
def test_what_is_wrong_with_stored_scores_is_said(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_pair_scores(write(tmp_path, text))
