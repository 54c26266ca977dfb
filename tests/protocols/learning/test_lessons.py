"""A suite as something to train on: targets, items, folds, i.i.d. data."""

# Made-up inputs here are looser than the types they are made up for.
# mypy: disable-error-code="arg-type, union-attr, var-annotated"

from dataclasses import replace

import pytest

from shoal.core.errors import DataError, PlanError
from shoal.protocols.behaviour.build import suite_cases
from shoal.protocols.behaviour.suite import Suite, case
from shoal.protocols.behaviour.suite_files import write_suite
from shoal.protocols.learning import Settings, build, parts
from shoal.protocols.learning.build import folds
from shoal.protocols.learning.findings import untuned_methods
from shoal.protocols.learning.hyper import (
    READING,
    iid_how,
    losses,
    method_options,
    suite_how,
    tuned,
)
from shoal.protocols.learning.iid import is_iid, label_names, load_iid, overlap
from shoal.protocols.learning.lessons import (
    held_out,
    items_of,
    suite_environments,
    target_of,
    training_cases,
    training_split,
)
from shoal.protocols.learning.settings import Train
from shoal.protocols.learning.stages import make_recipe
from shoal.protocols.learning.trainings import METHODS
from shoal.runs.settings import make_settings
from shoal.runs.store_files import load_built, save_built
from shoal.training.environments import Directed, Invariant, Labelled, Several

THREE, TWO = ("negative", "neutral", "positive"), ("negative", "positive")


def learning(**settings):
    return make_settings(Settings, {"iid": "sentiment", **settings}, "test")


# Targets (`docs/method/beluga.md` 1.4)


@pytest.mark.parametrize(
    ("label", "target"),
    [
        ("negative", (1, 0)),
        ("positive", (0, 1)),
        ("neutral", (0.5, 0.5)),
        ("not_negative", (1 / 3, 2 / 3)),
        (2, (0, 1)),
    ],
)
def test_labels_of_a_suite_of_three_teach_a_model_of_two(label, target):
    assert target_of(label, THREE, TWO) == pytest.approx(target)


# Items


def one_of(suite, name):
    return next(case for case in suite.cases if case.groups["functionality"] == name)


def planted():
    suite = Suite("planted", THREE, task="sentiment")

    @suite.minimum(capability="words")
    def praise():
        yield case("good", label="positive")

    @suite.minimum(capability="words", expect="pred_not_negative")
    def not_bad():
        yield case("not bad")

    @suite.invariance(capability="names")
    def names():
        yield case("Ann left", "Bob left", "Eve left")
        yield case("alone")

    @suite.directional(capability="words", expect="not more confident")
    def hedged():
        yield case("good", "rather good")

    @suite.directional(capability="words", expect="pred_equals_negative")
    def flipped():
        yield case("good", "awful", "bad")

    @suite.directional(capability="words", expect="conf_of_negative_not_higher")
    def odd():
        yield case("good", "bad")

    return suite


def test_each_test_type_teaches_what_the_paper_trains_it_on():
    suite = planted()
    assert items_of(one_of(suite, "praise"), THREE, TWO) == [Labelled(("good",), (0.0, 1.0))]
    assert items_of(one_of(suite, "not_bad"), THREE, TWO) == [Labelled(("not bad",), (1 / 3, 2 / 3))]
    assert items_of(one_of(suite, "names"), THREE, TWO) == [
        Invariant(("Ann left",), (("Bob left",), ("Eve left",)))
    ]
    assert items_of(one_of(suite, "hedged"), THREE, TWO) == [
        Directed(("good",), (("rather good",),), "not_more_conf")
    ]
    # The original is not shown: only its variants have the label.
    assert items_of(one_of(suite, "flipped"), THREE, TWO) == [
        Several((("awful",), ("bad",)), ((1.0, 0.0), (1.0, 0.0)), keep_first=False)
    ]


def test_a_rule_with_neither_label_nor_direction_cannot_be_trained_on():
    with pytest.raises(DataError, match="'odd' cannot be trained on"):
        items_of(one_of(planted(), "odd"), THREE, TWO)


def test_the_reference_trains_synonyms_by_their_label_and_judges_them_as_invariance(tmp_path):
    suite = Suite("qqp", ("0", "1"), task="paraphrase")
    name = "(question, f(question)) where f(question) replaces synonyms?"
    from shoal.protocols.behaviour.suite import DEFAULTS

    suite.add_functionality(name, "Vocabulary", "INV", DEFAULTS["INV"])
    for number in range(8):
        suite.add_case(name, str(number), case((f"Is it {number}?", f"Is it number {number}?")))
    write_suite(suite, tmp_path / "qqp.jsonl")
    for edits, scored in (("beluga", "INV"), ("repaired", "MFT")):
        settings = Settings(suite=str(tmp_path / "qqp.jsonl"), edits=edits, train=Train())
        (environment,) = suite_environments(settings, ("0", "1"))
        assert environment.kind == "MFT" and environment.items[0].target == (0, 1)
        assert {one.groups["test type"] for one in training_cases(settings)} == {scored}
        # Held out by what is trained as well as by what is scored.
        for fold in ("MFT", "INV"):
            without = held_out(replace(settings, hold_out=("test type",), fold=fold))
            assert without == ({name} if fold in ("MFT", scored) else set())


def test_only_the_training_split_is_trained_on():
    settings = learning(train={"on": "iid>suite"})
    environments = suite_environments(settings, TWO)
    taught = {(one.name, item.examples) for one in environments for item in one.items}
    asked = {
        (made.groups["functionality"], made.examples) for made in build(settings).cases if not is_iid(made)
    }
    parts_ = [{made.id for made in suite_cases(settings, split)} for split in ("train", "validation", "test")]
    whole = {made.id for made in suite_cases(settings, "")}
    assert set.union(*parts_) == whole and sum(map(len, parts_)) == len(whole)
    assert training_split(settings) == "train"
    assert len(taught) == len(parts_[0]) and not taught & asked


# i.i.d. data


def test_iid_rows_come_last_and_are_scored_apart(tmp_path):
    settings = learning(train={"on": "iid"})
    built = build(settings)
    data = load_iid(settings)
    assert [is_iid(made) for made in built.cases] == sorted(is_iid(made) for made in built.cases)
    assert sum(map(is_iid, built.cases)) == len(data.test) == 500
    assert data.labels == TWO and not set(data.train) & set(data.test)
    save_built(built, tmp_path / "cases.jsonl")
    assert [made.id for made in load_built(tmp_path / "cases.jsonl").cases] == [
        made.id for made in built.cases
    ]


@pytest.mark.parametrize(
    ("found", "given", "suite", "expected"),
    [
        (["0", "1"], TWO, THREE, {"0": "negative", "1": "positive"}),
        (["0", "1"], (), (), {"0": "0", "1": "1"}),
        (["Negative", "positive."], (), THREE, {"Negative": "negative", "positive.": "positive"}),
        (["bad", "good"], TWO, THREE, {"bad": "negative", "good": "positive"}),
        (["negative", "positive"], (), THREE, {"negative": "negative", "positive": "positive"}),
    ],
)
def test_labels_of_the_data_find_their_names_in_the_suite(found, given, suite, expected):
    assert label_names(found, given, suite) == expected


def test_labels_that_are_not_the_suites_are_refused():
    with pytest.raises(PlanError, match="the i.i.d. data's labels bad, good have no names in the suite"):
        label_names(["bad", "good"], (), THREE)
    for numbers in (["0", "1"], ["0", "1", "2"]):
        with pytest.raises(PlanError, match=r'try: iid_labels = \["negative", '):
            label_names(numbers, (), THREE)
    with pytest.raises(PlanError, match="two of them the same"):
        label_names(["0", "1"], ("positive", "positive"), THREE)
    with pytest.raises(PlanError, match="labels 0, 1 have no names"):
        label_names(["0", "1"], THREE, THREE)


def rows_file(path, rows, header="sentence\tlabel"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


def iid_files(folder, learnt, tested, **settings):
    """The data of two files."""
    files = {
        "iid": rows_file(folder / "train.tsv", learnt),
        "iid_test": rows_file(folder / "test.tsv", tested),
    }
    return load_iid(learning(**{"train": {"on": ["iid", "iid>suite"]}, **files, **settings}))


QUESTIONS = "context\tquestion\tanswer"
BOTH = ["good\tpositive", "bad\tnegative"]


def test_what_is_trained_on_is_no_test(tmp_path):
    with pytest.raises(PlanError, match="all 2 rows of .*test.tsv occur in the training data"):
        iid_files(tmp_path, [*BOTH, "fine\tpositive"], BOTH)
    files = [rows_file(tmp_path / "questions.tsv", ["It rains.\tWhat does it do?\trains"], QUESTIONS)] * 2
    reading = learning(suite="reading", iid=files[0], iid_test=files[1], train={"on": ["iid"]})
    with pytest.raises(PlanError, match="all 1 rows of .*questions.tsv occur in the training data"):
        load_iid(reading)
    files = [rows_file(tmp_path / "same.tsv", BOTH)]
    some = iid_files(tmp_path, BOTH, [*BOTH, "fine\tpositive"])
    plan = learning(train={"on": ["iid", "iid>suite"]})
    assert overlap(plan, some) == {"i.i.d. rows that are trained on too": 2}
    assert overlap(plan, iid_files(tmp_path, BOTH, ["fine\tpositive"])) == {}
    assert overlap(plan, load_iid(plan)) == {}
    untrained = learning(iid=files[0], iid_test=files[0], train={"on": ["iid"], "from": "model"})
    assert overlap(untrained, load_iid(untrained)) == {}


def test_labels_are_learnt_from_what_is_trained_on(tmp_path):
    with pytest.raises(PlanError, match=r"the suite expects negative, but .*train.tsv has no such rows"):
        iid_files(tmp_path, ["good\tpositive", "fine\tpositive"], ["bad\tnegative", "nice\tpositive"])
    with pytest.raises(PlanError, match=r"the suite expects neutral, but .*train.tsv has no such rows"):
        iid_files(tmp_path, BOTH, ["so so\tneutral", "nice\tpositive"])
    own = {"train": {"from": "model", "on": ["iid", "iid>iid+suite"]}}
    assert iid_files(tmp_path, BOTH, ["so so\tneutral", "nice\tpositive", "poor\tnegative"], **own)


def test_iid_data_from_files(tmp_path):
    for name, rows in (("train.tsv", 6), ("test.tsv", 4)):
        lines = [f"text {name} {n}\t{n % 2}" for n in range(rows)]
        (tmp_path / name).write_text("\n".join(["sentence\tlabel", *lines]) + "\n")
    settings = learning(
        iid=str(tmp_path / "train.tsv"), iid_test=str(tmp_path / "test.tsv"), iid_limit=5, iid_labels=TWO
    )
    data = load_iid(settings)
    assert (len(data.train), len(data.test), data.labels) == (5, 4, TWO)
    with pytest.raises(PlanError, match="iid_test is missing"):
        load_iid(learning(iid=str(tmp_path / "train.tsv")))
    with pytest.raises(PlanError, match="not a file") as caught:
        load_iid(learning(iid="sentimnet"))
    assert "sentiment" in str(caught.value)


# Folds


def test_a_plan_means_the_baseline_and_for_each_method_the_full_suite_and_every_fold():
    settings = learning(
        train={"on": ["iid", "iid>suite"], "method": ["vanilla", "l2"]}, hold_out=["capability", "test type"]
    )
    found = [(one.train.on[0], one.train.method[0], one.hold_out[0], one.fold) for one in parts(settings)]
    cases = suite_cases(settings, "train")
    capabilities, types = folds(cases, "capability"), folds(cases, "test type")
    assert found[0] == ("iid", "vanilla", "none", "")
    for method in ("vanilla", "l2"):
        assert ("iid>suite", method, "seen", "") in found
        assert [
            fold for *_, m, scenario, fold in found if (m, scenario) == (method, "capability")
        ] == capabilities
        assert [fold for *_, m, scenario, fold in found if (m, scenario) == (method, "test type")] == types
    assert len(found) == 1 + 2 * (1 + len(capabilities) + len(types))


def test_a_sample_of_functionalities_is_the_same_for_every_method_and_seed():
    settings = learning(
        train={"on": ["iid>suite"], "method": ["vanilla", "l2"]}, hold_out="functionality", hold_out_sample=5
    )
    for_method = {}
    for one in parts(settings):
        for_method.setdefault(one.train.method[0], []).append(one.fold)
    assert for_method["vanilla"] == for_method["l2"] and len(for_method["l2"]) == 6
    with pytest.raises(PlanError, match="hold_out_sample = 500; the suite has 41"):
        parts(learning(train={"on": "iid>suite"}, hold_out="functionality", hold_out_sample=500))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": {"on": "iid>suite"}, "iid": ""}, "needs i.i.d. data"),
        (
            {"train": {"on": "iid>suite"}, "hold_out": "capability", "fold": "negatoin"},
            "is not a capability of the suite",
        ),
        ({"train": {"on": "iid>suite"}, "fold": "negation"}, "fold needs exactly one hold_out"),
        (
            {"train": {"on": "iid>suite", "options": {"irm": {"penalty": 3}}}},
            "train.options.irm is for a method",
        ),
    ],
)
def test_settings_that_cannot_mean_anything_are_refused(settings, message):
    with pytest.raises(PlanError, match=message):
        parts(learning(**settings))


# The paper's numbers


def test_the_papers_tuned_numbers_are_the_defaults(tables):
    import csv

    names = {"SENT": "sentiment", "PARA": "paraphrase", "READ": READING}
    configs = {
        "IID->T": ["iid>suite"],
        "IID+T": ["iid+suite"],
        "IID->(IID+T)": ["iid>iid+suite"],
        "IID+T and IID->(IID+T)": ["iid+suite", "iid>iid+suite"],
        "all": ["iid>suite", "iid+suite", "iid>iid+suite"],
    }
    seen = 0
    with (tables / "beluga_tuned_hparams.csv").open() as stream:
        for row in csv.DictReader(stream):
            for config in configs[row["config"]]:
                method = "group-dro" if row["method"] == "dro" else row["method"]
                found = tuned(names[row["task"]], method, config)
                if not row["epochs"]:  # the paper's table has no fish for reading
                    assert found == tuned(names[row["task"]], "vanilla", config)
                    continue
                assert found == (float(row["epochs"]), int(row["batch_size"]), float(row["learning_rate"]))
                seen += 1
    assert seen == 2 * 7 * 3 + 6 * 3


def test_a_method_can_have_numbers_of_its_own():
    options = {"lp": {"learning_rate": 5e-4, "batch": 32}, "l2": {"epochs": 1, "decay": 0.5}}
    settings = learning(
        train={"on": "iid>suite", "method": ["lp", "l2"], "learning_rate": 3e-5, "options": options}
    )
    lp, l2 = (suite_how(settings, "hf:bert", "sentiment", "iid>suite", name) for name in ("lp", "l2"))
    assert (lp.learning_rate, lp.batch, lp.epochs) == (5e-4, 32, 3)
    assert (l2.learning_rate, l2.batch, l2.epochs) == (3e-5, 8, 1)
    assert method_options(settings, "sentiment", "iid>suite", "l2") == {"decay": 0.5}
    assert parts(settings)
    wrong = learning(train={"on": "iid>suite", "options": {"vanilla": {"batch": 2.5}}})
    with pytest.raises(PlanError, match=r"options.vanilla.batch = 2.5[\s\S]*valid integer"):
        suite_how(wrong, "hf:bert", "sentiment", "iid>suite", "vanilla")


def test_the_paper_profile_trains_as_its_text_says():
    paper = learning(train={"on": "iid>suite"}, profile="paper")
    options = {name: method_options(paper, "sentiment", "iid+suite", name) for name in METHODS}
    alike = {"kappa": 0.0, "iid_share": 0.0}
    assert options == {
        "vanilla": {},
        "dropout": {},
        "l2": {"penalty": True},
        "lp": {},
        "lp-ft": {"probe_learning_rate": 1e-3, "probe_batch": 8},
        "irm": {**alike, "per_step": 0, "penalty": 1e4},
        "group-dro": {**alike, "step_size": 0.01, "importance": False, "excess": False},
        "fish": {"kappa": 0.0, "iid_always": False, "plain_share": 0.0, "epsilon": 0.05},
        "lora": {},
    }


def test_a_method_without_tuned_numbers_says_so():
    settings = learning(suite="reading", iid="reading", train={"method": ["vanilla", "fish"]})
    assert [told.text for told in untuned_methods(settings)] == [
        "fish: the paper has no tuned hyperparameters for reading comprehension, so vanilla's are used."
    ]
    own = {"options": {"fish": {"learning_rate": 2e-5, "batch": 8, "epochs": 1}}}
    assert not untuned_methods(learning(suite="reading", train={"method": ["vanilla", "fish"], **own}))
    assert not untuned_methods(learning(train={"method": ["vanilla", "fish"]}))


def test_the_reference_profile_trains_as_its_code_does():
    recommended, reference = (
        learning(train={"on": "iid>suite"}, profile=profile) for profile in ("recommended", "reference")
    )
    assert losses(recommended, "sentiment")["labels"] == "softmax"
    assert losses(reference, "sentiment")["labels"] == "sigmoid"
    assert losses(reference, "paraphrase")["labels"] == "softmax"
    stages = make_recipe(parts(reference)[0], "tiny:sentiment").stages
    assert [(stage.title, stage.identity["losses"]["labels"]) for stage in stages] == [
        ("iid", "softmax"), ("iid then suite-vanilla", "sigmoid"),
    ]  # fmt: skip
    assert not iid_how(reference, "hf:bert", "sentiment").group_by_length
    quirks = method_options(reference, "sentiment", "iid>suite", "group-dro")
    assert quirks == {
        "kappa": 0.0, "iid_share": 0.0, "step_size": 0.01, "importance": False, "excess": False,
    }  # fmt: skip
    own = learning(train={"on": "iid>suite", "options": {"group-dro": {"kappa": 1.0}}}, profile="reference")
    assert method_options(own, "sentiment", "iid>suite", "group-dro")["kappa"] == 1.0
    fish = method_options(reference, "sentiment", "iid+suite", "fish")
    assert fish["epsilon"] == pytest.approx(0.005) and fish["extra_momentum_step"] and not fish["plain_share"]
    assert method_options(reference, "sentiment", "iid>suite", "irm")["penalty"] == 1e4


def test_a_learning_rate_that_lp_does_not_use_is_refused():
    with pytest.raises(PlanError, match="train.learning_rate has no effect on lp"):
        parts(learning(train={"on": "iid>suite", "method": "lp", "learning_rate": 1e-4}))
