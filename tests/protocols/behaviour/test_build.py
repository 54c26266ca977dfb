"""Which cases are chosen: edits, splits, samples."""

import pytest

from shoal import Suite, case, write_suite
from shoal.core.errors import DataError
from shoal.protocols.behaviour.build import (
    EDITS,
    build,
    choose_split,
    half_half,
    load_suite,
    split_cases,
)
from shoal.protocols.behaviour.expect import Expect
from shoal.protocols.behaviour.settings import Settings

LABEL = Expect("pred_equals_label")


def suite_of(name: str, *made, test_type="MFT", expect=LABEL, labels=("0", "1", "2")) -> Suite:
    suite = Suite("toy", labels=labels)
    suite.add_functionality(name, "c", test_type, expect)
    for number, one in enumerate(made):
        suite.add_case(name, str(number), one)
    return suite


def test_the_double_split_as_worked(worked):
    example = worked["beluga.split_n13_seed123"]
    splits = half_half(13)
    for part, name in (("train", "train"), ("val", "validation"), ("test", "test")):
        assert {i for i, split in enumerate(splits) if split == name} == set(example[part])


def test_ids_are_split_in_the_order_of_their_numbers():
    numbers = suite_of("f", *[case(f"text {i}", label=0) for i in range(13)])
    part = split_cases(list(reversed(numbers.cases)), "id")
    assert {i for i in range(13) if part[f"f/{i}"] == "test"} == {0, 5, 7, 10}


def test_cases_that_read_the_same_stay_on_one_side():
    made = suite_of(
        "f", *[case(f"Text  {i % 10}" if i < 10 else f"text {i % 10}", label=0) for i in range(20)]
    )
    part = split_cases(made.cases, "content")
    assert all(part[f"f/{i}"] == part[f"f/{i + 10}"] for i in range(10))
    assert sorted(part.values()).count("train") == 10


def test_by_text_cases_of_all_functionalities_that_share_a_text_stay_on_one_side():
    made = Suite("s", labels=("no", "yes"))
    for name, other in (
        ("f", "g"),
        ("g", "h"),
        ("h", "i"),
    ):  # f0 and h0 share no text, but g0 has one of each
        made.add_functionality(name, "c", "MFT", LABEL)
        for i in range(12):
            made.add_case(name, str(i), case(f"{name} {i}", f"{other.upper()} {i}", label=0))
    part = split_cases(made.cases, "text")
    assert all(part[f"f/{i}"] == part[f"g/{i}"] == part[f"h/{i}"] for i in range(12))
    assert sorted(part.values()).count("train") == 18


def test_repeated_cases_are_dropped_only_where_somebody_says_so(tmp_path):
    made = suite_of("f", case("a", label=0), case("a", label=0), case("b", label=0), labels=("no", "yes"))
    write_suite(made, tmp_path / "s.jsonl")
    built = build(Settings(suite=str(tmp_path / "s.jsonl")))
    assert [one.id for one in built.cases] == ["f/0", "f/1", "f/2"]
    assert built.about["repeated cases kept"] == 1
    built = build(Settings(suite=str(tmp_path / "s.jsonl"), duplicates="drop"))
    assert [one.id for one in built.cases] == ["f/0", "f/2"]
    assert [one.id for one in built.whole] == ["f/0", "f/1", "f/2"]


def test_the_asymmetric_label_is_mended_by_both_edits():
    made = suite_of("Order does matter for asymmetric relations", case(("a", "b"), label=1))
    assert {name: edit(made.cases)[0].labels for name, edit in EDITS.items()} == {
        "none": (1,), "beluga": (0,), "repaired": (0,),
    }  # fmt: skip


def test_the_vacuous_synonym_test_becomes_an_mft():
    name = "(question, f(question)) where f(question) replaces synonyms?"
    vacuous = Expect("same_pred_or_conf_change_within_tol", 0.1, "all_except_first")
    made = suite_of(name, case(("a", "b")), test_type="INV", expect=vacuous)
    (mended,) = EDITS["repaired"](made.cases)
    assert mended.groups["test type"] == "MFT" and mended.labels == (1,)
    assert mended.meta["expect"].rule == "pred_equals_label" and mended.meta["expect"].aggregate == "all"
    assert EDITS["beluga"](made.cases) == made.cases


def test_implications_and_q_and_a_are_mended():
    made = suite_of(
        "Testing implications", case("a", "b", "c"), test_type="DIR", expect=Expect("implication_triplet")
    )
    assert EDITS["repaired"](made.cases)[0].meta["expect"].rule == "implication"
    released = Expect("pred_equals_label_except_label1_means_not_0")
    made = suite_of("Q & A: no", case("a", label=1), case("b", label=0), expect=released)
    mended = EDITS["repaired"](made.cases)
    assert [one.labels for one in mended] == [("not_0",), (0,)]
    assert mended[0].meta["expect"].rule == "pred_equals_label"


@pytest.mark.parametrize(
    ("profile", "edits", "split_by", "slack"),
    [
        ("recommended", "repaired", "content", 1e-9),
        ("paper", "beluga", "id", 1e-9),
        ("reference", "beluga", "id", 0.0),
    ],
)
def test_a_profile_decides_unless_the_user_does(profile, edits, split_by, slack):
    settings = Settings(profile=profile)
    assert [settings.resolved(name) for name in ("edits", "split_by")] == [edits, split_by]
    assert settings.slack == slack
    assert Settings(profile=profile, edits="none").resolved("edits") == "none"


def test_a_split_file_chooses_its_test_part_or_the_one_named(tmp_path):
    made = suite_of("f", case("a", label=0), case("b", label=0), case("c", label=0))
    path = tmp_path / "split.tsv"
    path.write_text("functionality\tcase_id\tsplit\nf\t0\ttrain\nf\t1\ttest\nf\t2\tvalidation\n")
    assert [one.id for one in choose_split(made.cases, str(path), "content")] == ["f/1"]
    assert [one.id for one in choose_split(made.cases, f"{path}:train", "content")] == ["f/0"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("functionality\tcase_id\tsplit\nf\t0\tdev\n", "line 2: split 'dev' is not one of"),
        ("functionality\tcase_id\tsplit\n", "1 cases have no split, the first is 'f/0'"),
        ("case\tsplit\n0\ttest\n", "no column 'functionality'"),
    ],
)
def test_a_crooked_split_file_is_named(tmp_path, content, message):
    made = suite_of("f", case("a", label=0))
    path = tmp_path / "split.tsv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        choose_split(made.cases, str(path), "content")


def test_a_sample_is_seeded_and_keeps_the_order(tmp_path):
    write_suite(suite_of("f", *[case(str(i), label=0) for i in range(50)]), tmp_path / "s.jsonl")
    drawn = [
        build(Settings(suite=str(tmp_path / "s.jsonl"), limit=10, seed=seed)).cases for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    ids = [int(one.id.split("/")[1]) for one in drawn[0]]
    assert ids == sorted(ids) and len(ids) == 10


def test_a_suite_that_is_neither_shipped_nor_a_file_is_refused():
    with pytest.raises(DataError, match=r"neither a file nor one that ships[\s\S]*\"sentiment\""):
        load_suite("sentimen")
