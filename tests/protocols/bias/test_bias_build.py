"""Which cases a bias audit has, where its data are found, and which jobs a table means."""

import pytest

from shoal.core.errors import DataError, PlanError
from shoal.protocols import bias
from shoal.protocols.base import identity
from shoal.runs.settings import make_settings


def settings(**given):
    return make_settings(bias.Settings, given, "test")


def test_lists_multiply_and_representations_only_where_there_are_vectors():
    parts = bias.parts(
        settings(
            diagnostic="crows,seat,clusters",
            representation="cls,word_mean",
            data="example",
            tests="names-jobs",
        )
    )
    found = [(part.diagnostic[0], part.representation[0], part.tests) for part in parts]
    assert found == [
        ("crows", "cls", ()),
        ("seat", "cls", ("names-jobs",)),
        ("seat", "word_mean", ("names-jobs",)),
        ("clusters", "cls", ("names-jobs",)),
        ("clusters", "word_mean", ("names-jobs",)),
    ]
    assert [bias.title(part) for part in parts[:2]] == ["crows", "seat-cls"]


def test_a_sample_is_the_same_for_every_seed():
    chosen = [
        [case.id for case in bias.build(settings(data="example", limit=7, seed=seed)).cases]
        for seed in (0, 1)
    ]
    assert chosen[0] == chosen[1] and len(chosen[0]) == 7
    assert len(bias.build(settings(data="example", limit=7)).whole) == 80


def test_data_are_found_in_a_folder_of_data_sets(tmp_path):
    (tmp_path / "crows_pairs").mkdir()
    file = tmp_path / "crows_pairs" / "crows_pairs_anonymized.csv"
    file.write_text(",sent_more,sent_less,stereo_antistereo,bias_type\n0,a,b,stereo,age\n")
    for data in (tmp_path, tmp_path / "crows_pairs", file):
        assert len(bias.build(settings(data=str(data))).cases) == 1
    with pytest.raises(DataError, match=r"no data for stereoset[\s\S]*dev.json"):
        bias.build(settings(data=str(tmp_path), diagnostic="stereoset"))
    with pytest.raises(DataError, match=r"no data for seat[\s\S]*\*.jsonl"):
        bias.build(settings(data=str(tmp_path), diagnostic="seat"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"bias needs data for crows[\s\S]*data = \"example\""),
        (
            {"data": "example", "diagnostic": "seat", "tests": "weat1"},
            "no association test 'weat1' in the example",
        ),
        ({"data": "example", "diagnostic": "crow"}, r"unknown diagnostic 'crow'[\s\S]*crows"),
    ],
)
def test_what_cannot_be_built_is_said(given, message):
    with pytest.raises((DataError, PlanError), match=message):
        bias.build(settings(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"diagnostic": "crows,bbq", "tests": "weat1"},
            "tests are for seat and clusters, not for crows, bbq",
        ),
        ({"diagnostic": "bbq", "columns": "a,b"}, "columns are for crows and crows_choice, not for bbq"),
    ],
)
def test_a_setting_that_no_diagnostic_uses_is_refused(given, message):
    with pytest.raises(PlanError, match=message):
        bias.parts(settings(data="example", **given))


def asked(**given):
    """What decides the cases and the answers."""
    return identity(settings(**given), "cases", "answers")


def test_the_identity_holds_what_changes_answers_and_nothing_else(tmp_path):
    usual = asked(data="example")
    assert usual == asked(data="example", n_samples=10, profile="reference")
    assert usual != asked(data="example", limit=5)
    seat = [asked(data="example", diagnostic="seat", representation=name) for name in ("cls", "mean")]
    assert seat[0] != seat[1]
    path = tmp_path / "a.csv"
    path.write_text("x")
    before = asked(data=str(path))
    path.write_text("y")
    assert before != asked(data=str(path))
