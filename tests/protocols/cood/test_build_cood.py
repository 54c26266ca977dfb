"""The construction: who is trained on, who is tested, and that the one never meets the other."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from shoal.core.errors import ShoalError
from shoal.protocols import cood
from shoal.protocols.base import identity
from shoal.protocols.cood.build import training_items
from shoal.protocols.cood.grid import CELLS, cells_of, target
from shoal.protocols.cood.texts import content, split_texts, training_texts

USUAL = {"positive": "great", "neutral": "okay", "negative": "terrible"}
words = st.lists(
    st.sampled_from(["cat", "bird", "dog", "train", "car", "good", "so so"]),
    min_size=3,
    max_size=3,
    unique=True,
)


@pytest.fixture
def three_texts(tmp_path):
    """The toy example of `docs/method/cood.md` 3.9: two texts of each class."""
    path = tmp_path / "three.csv"
    path.write_text(
        "text,label\nLoved it.,positive\nHated it.,negative\nIt was a meal.,neutral\n"
        "Adored it.,positive\nLoathed it.,negative\nThere was soup.,neutral\n"
    )
    return str(path)


def test_the_toy_example_gives_four_items_and_nine_strings(three_texts):
    settings = cood.Settings(data=three_texts, per_label=(1,), test_per_label=1, validation_per_label=0)
    items = {(item.examples[0], item.labels[0]) for item in training_items(settings)}
    p, n, u = training_texts(settings)
    assert items == {
        ((f"{p.texts[0]} It is great",), "consistent"),
        ((f"{n.texts[0]} It is terrible",), "consistent"),
        ((f"{u.texts[0]} It is great",), "inconsistent"),
        ((f"{u.texts[0]} It is terrible",), "inconsistent"),
    }
    built = cood.build(settings)
    shown = {case.groups["cell"]: (case.examples[0][0], case.labels) for case in built.cases}
    tested = ({"Loved it.", "Adored it."} - {p.texts[0]}).pop()
    assert list(shown) == list(CELLS)
    assert shown["fst/sec"] == (f"{tested} It is terrible", ("inconsistent",))
    assert shown["fst/neu"] == (f"{tested} It is okay", ("inconsistent",))
    assert shown["neu/neu"][1] == ("consistent",)


@hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    k=st.integers(1, 20), m=st.integers(1, 12), v=st.integers(0, 6), seed=st.integers(0, 5),
    names=st.none() | words, template=st.sampled_from(["It is <LABEL>", "The sentence is <LABEL>", "<LABEL> it is."]),
)  # fmt: skip
def test_every_invariant_of_the_construction(settings, k, m, v, seed, names, template):
    given_names = () if names is None else (dict(zip(USUAL, names, strict=True)),)
    one = settings(
        per_label=(k,),
        test_per_label=m,
        validation_per_label=v,
        seed=seed,
        names=given_names,
        template=(template,),
    )
    items, built = training_items(one), cood.build(one)
    assert len(items) == 4 * k
    assert Counter(item.groups["cell"] for item in items) == dict.fromkeys(cells_of("ID"), k)
    assert Counter(item.labels[0] for item in items) == {"consistent": 2 * k, "inconsistent": 2 * k}
    for t in ("fst", "sec"):
        with_word = [item.labels[0] for item in items if item.groups["cell"].endswith(f"/{t}")]
        assert Counter(with_word) == {"consistent": k, "inconsistent": k}, "the template alone says nothing"
    assert not any(item.groups["cell"].endswith("/neu") for item in items)
    unseen = template.replace("<LABEL>", built.about["words"]["neu"])
    assert not any(unseen in item.examples[0][0] for item in items)
    test = [case for case in built.cases if case.groups["split"] == "test"]
    validation = [case for case in built.cases if case.groups["split"] == "validation"]
    assert Counter(case.groups["cell"] for case in test) == dict.fromkeys(CELLS, m)
    assert Counter(case.groups["cell"] for case in validation) == Counter(
        {cell: v for cell in cells_of("ID") if v}
    )
    assert len({case.id for case in built.cases}) == len(built.cases)
    assert all(case.labels == (target(case.groups["cell"]),) for case in built.cases)
    for row in ("fst", "sec", "neu"):
        by_cell = [
            {case.meta["text"] for case in test if case.groups["cell"] == f"{row}/{t}"}
            for t in ("fst", "sec", "neu")
        ]
        assert by_cell[0] == by_cell[1] == by_cell[2], "the cells of a row hold the same texts"
    sides = [
        {item.meta["text"] for item in items},
        *({case.meta["text"] for case in side} for side in (test, validation)),
    ]
    assert not sides[0] & sides[1] and not sides[0] & sides[2] and not sides[1] & sides[2]
    assert [len(side) for side in sides] == [3 * k, 3 * m, 3 * v]


def test_texts_that_read_the_same_never_stand_on_two_sides(tmp_path):
    path = tmp_path / "shouted.csv"
    rows = [f"{text},{label}" for label in USUAL for n in range(12)
            for text in (f"{label} thing {n}", f"{label.upper()}  thing {n}!!", f"“{label} Thing {n}”")]  # fmt: skip
    path.write_text("text,label\n" + "\n".join(rows))
    settings = cood.Settings(data=str(path), per_label=(6,), test_per_label=4, validation_per_label=2)
    parts = split_texts(settings)
    assert parts.pool.dropped == {"duplicates": 72} and parts.pool.rows == 108
    trained = {content(text.texts) for text in training_texts(settings)}
    asked = {content(text.texts) for text in (*parts.test, *parts.validation)}
    assert not trained & asked and (len(trained), len(asked)) == (18, 18)


def test_pairs_with_one_premise_stay_together(tmp_path):
    path = tmp_path / "nli.tsv"
    labels = ("entailment", "contradiction", "neutral")
    rows = [f"A man {n}.\tHe is {label}.\t{label}" for n in range(30) for label in labels]
    path.write_text("premise\thypothesis\tgold_label\n" + "\n".join(rows))
    settings = cood.Settings(data=str(path), per_label=(5,), test_per_label=8, validation_per_label=4)
    parts = split_texts(settings)
    premises = [{text.texts[0] for text in side} for side in (parts.test, parts.validation, parts.training)]
    assert [len(side) for side in premises] == [8, 4, 18]
    assert not premises[0] & premises[1] and not premises[0] & premises[2] and not premises[1] & premises[2]
    built = cood.build(settings)
    assert len({case.cluster for case in built.cases if case.groups["split"] == "test"}) == 8
    case = next(case for case in built.cases if case.groups["cell"] == "fst/sec")
    assert len(case.examples[0]) == 2 and case.examples[0][1] == "He is entailment. It is contradiction"


def test_a_smaller_k_is_part_of_a_larger_and_a_seed_changes_training_only(settings):
    small, large, other = (
        settings(per_label=(4,)),
        settings(per_label=(12,)),
        settings(per_label=(12,), seed=1),
    )
    texts = [{text.id for text in training_texts(one)} for one in (small, large, other)]
    assert texts[0] < texts[1] != texts[2]
    assert cood.build(small).cases == cood.build(large).cases == cood.build(other).cases
    assert identity(small, "cases") == identity(other, "cases")


# Controls


@pytest.mark.parametrize(("control", "example", "items"), [
    ("none", "positive thing {n} It is great", 20), ("all cells", "positive thing {n} It is great", 45),
    ("text only", "positive thing {n}", 20), ("template only", "It is great", 20),
])  # fmt: skip
def test_controls_show_and_train_on_what_they_say(settings, control, example, items):
    one = settings(control=(control,))
    trained = training_items(one)
    first = next(item for item in trained if item.groups["cell"] == "fst/fst")
    number = training_texts(one)[0].texts[0].split()[-1]
    assert first.examples[0] == (example.format(n=number),) and len(trained) == items
    case = next(case for case in cood.build(one).cases if case.groups["cell"] == "fst/fst")
    assert case.examples[0] == (example.format(n=_number(one, case)),)


def _number(settings, case) -> str:
    texts = {text.id: text.texts[0] for text in split_texts(settings).test}
    return texts[case.meta["text"]].split()[-1]


# Settings


def test_lists_multiply_and_every_job_has_a_name_of_its_own(toy):
    table = cood.Settings(
        data=toy(), test_per_label=4, validation_per_label=2, per_label=(2, 4),
        control=("none", "text only"), template=("It is <LABEL>", "Is it <LABEL>"),
        names=(USUAL, {"positive": "cat", "neutral": "dog", "negative": "bird"}),
    )  # fmt: skip
    parts = cood.parts(table)
    names = {
        (cood.title(part), recipe.stages[0].title)
        for part in parts
        if (recipe := cood.recipe(part, "tiny:sentiment"))
    }
    assert len(parts) == len(names) == 16
    assert all(len(value) == 1 for part in parts for value in (part.per_label, part.control, part.names))
    (one,) = cood.parts(cood.Settings(data=toy(), names=USUAL))
    assert one.names == (USUAL,)


def test_long_texts_are_left_out_and_counted(tmp_path):
    path = tmp_path / "long.csv"
    rows = [f"{label} {'very ' * (n * 30)}thing {n},{label}" for label in USUAL for n in range(6)]
    path.write_text("text,label\n" + "\n".join(rows))
    usual: dict[str, Any] = {
        "data": str(path),
        "test_per_label": 1,
        "validation_per_label": 0,
    }
    assert split_texts(cood.Settings(**usual)).pool.dropped == {
        "longer than 100 words and punctuation marks": 6
    }
    pieces = split_texts(cood.Settings(**usual, tokenizer="tiny:sentiment")).pool.dropped
    assert list(pieces) == ["longer than 100 word pieces"] and pieces["longer than 100 word pieces"] >= 6


TWICE = {"positive": "fine", "neutral": "okay", "negative": "Fine"}


@pytest.mark.parametrize(("given", "message"), [
    ({"labels": ("positive", "negative")}, r'at least 3 labels; ".*toy.csv" has 2 \(negative, positive\)'),
    ({"labels": ("a", "b", "c")}, r"which label is(.|\n)*roles = \{fst = \"a\", sec = \"b\", neu = \"c\"\}"),
    ({"roles": {"fst": "positive", "sec": "negative", "neu": "neutrel"}}, "a different label for each(.|\n)*'neutrel'"),
    ({"per_label": (30,)}, r"24 texts of class 'positive' \(fst\) left; per_label = 30"),
    ({"template": ("It is",)}, "template = 'It is' has no slots"),
    ({"names": (TWICE,)}, "a different word for each"),
    ({"text": ("txt",)}, "no column 'txt'(.|\n)*found: text, label"),
    ({"data": "nowhere.csv"}, "data 'nowhere.csv': no such file"),
])  # fmt: skip
def test_bad_input_is_told_before_anything_is_trained(given, message, toy):
    labels = given.pop("labels", None)
    data = given.pop("data", None) or (toy(labels=labels) if labels else toy())
    usual: dict[str, Any] = {"per_label": (5,), "test_per_label": 12, "validation_per_label": 4}
    (part,) = cood.parts(cood.Settings(**{**usual, "data": data, **given}))
    with pytest.raises(ShoalError, match=message):
        identity(part, "cases")
        cood.recipe(part, "tiny:sentiment")


def test_what_is_exported_is_what_is_trained_on_and_asked(settings, tmp_path):
    one = settings()
    cood.export(one, tmp_path / "out")
    rows = {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in (tmp_path / "out").iterdir()
    }
    assert {name: len(lines) for name, lines in rows.items()} == {"train": 20, "validation": 16, "test": 108}
    assert all(row["label"] == target(row["cell"]) for lines in rows.values() for row in lines)
    assert [tuple(row["texts"]) for row in rows["train"]] == [
        item.examples[0] for item in training_items(one)
    ]
    assert {row["case_id"] for row in rows["test"] + rows["validation"]} == {
        case.id for case in cood.build(one).cases
    }
