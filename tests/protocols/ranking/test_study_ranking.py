"""The study: few-shot accuracy over probe sets through a plan, factors of all kinds, what is left out in words."""

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.core.errors import DataError
from shoal.core.records import Measure, Measures, Result
from shoal.protocols import ranking
from shoal.protocols.ranking.factors import FACTORS, Factor
from shoal.runs.results import audit_all

from .conftest import read_csv, write_csv


@pytest.fixture
def models(plant, drawn):
    """Five models from good to bad on eighty examples, with probabilities."""
    right = {f"m{n}": drawn(0.9 - 0.15 * n, 80, n) for n in range(5)}
    sure = {name: [0.6 + 0.3 * value for value in row] for name, row in right.items()}
    return plant(right, probabilities=sure)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """What several models say together."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["shoal.protocols.ranking.study"], "RESAMPLES", 50)

    def compared(specs, **given):
        usual = {"data": ("data.csv",), "probe_sizes": (5, 10), "probe_sets": 200}
        results = audit_all(specs, "ranking", {**usual, **given})
        return ranking.compare(results[0].settings, results), results

    return compared


def value(rows, name: str, **groups: str) -> float:
    (row,) = Measures(rows).where(name, **groups)
    assert row.value is not None
    return row.value


def test_accuracy_orders_planted_models_and_confidence_comes_out_as_it_was_planted(study, models):
    compared, _ = study(models, factors=("ACC", "CONF", "CONF-GT", "RANDOM", "GUESS"))
    rows = compared.measures
    acc = value(rows, "few-shot accuracy", factor="ACC", probe_size="10")
    assert 0.75 < acc < 1 and acc > value(rows, "few-shot accuracy", factor="ACC", probe_size="5")
    assert value(rows, "few-shot accuracy", factor="CONF", probe_size="10") == pytest.approx(acc, abs=0.02)
    chance = value(rows, "few-shot accuracy", factor="RANDOM", probe_size="10")
    assert abs(chance - 0.5) <= 4 * np.sqrt(0.25 / (200 * 10))
    assert value(rows, "few-shot accuracy", factor="GUESS", probe_size="10") == pytest.approx(0.62, abs=0.005)
    (row,) = Measures(rows).where("few-shot accuracy", factor="ACC", probe_size="10")
    assert row.n == 10 and row.interval_method == "jackknife over models"


def test_a_constant_factor_is_one_half_and_no_better_than_accuracy(study, models, monkeypatch):
    name = "FLAT"
    flat = Factor(name, "worse", from_answers=lambda cases, answers: [1.0] * len(cases))
    monkeypatch.setitem(FACTORS, name, flat)
    compared, _ = study(models, factors=("ACC", name))
    rows = Measures(compared.measures)
    assert value(rows, "few-shot accuracy", factor=name, probe_size="10") == 0.5
    difference = rows.where("difference", factor=name, probe_size="10")[0]
    assert difference.interval is not None and difference.interval[1] < 0
    assert value(rows, "p value", factor=name, test="better than ACC") > 0.9


def test_neither_the_order_of_models_nor_of_examples_changes_a_number(study, models, tmp_path):
    compared, _ = study(models)
    other, _ = study(models[::-1])
    assert list(compared.measures) == list(other.measures)
    write_csv(tmp_path / "data.csv", read_csv(tmp_path / "data.csv")[::-1])
    shuffled, _ = study(models)
    assert list(compared.measures) == list(shuffled.measures)
    reseeded, _ = study(models, seed=1)
    assert list(compared.measures) != list(reseeded.measures)


def test_ties_count_as_the_settings_say(study, models):
    by_rule = {
        rule: value(study(models, ties=rule)[0].measures, "few-shot accuracy", factor="ACC", probe_size="5")
        for rule in ("half", "fail")
    }
    assert by_rule["fail"] < by_rule["half"] - 0.05
    rows = study(models, ties="fail")[0].measures
    acc, conf = (
        value(rows, "few-shot accuracy", factor=name, probe_size="10") for name in ("ACC", "CONF-GT")
    )
    assert value(rows, "difference", factor="CONF-GT", probe_size="10") == pytest.approx(conf - acc)


# What is left out, in words


def texts(compared) -> str:
    return "\n".join(finding.text for finding in compared.findings)


def test_what_cannot_be_studied_is_said_in_words(study, plant, drawn):
    specs = plant({"a": [1, 1, 1, 0, 1, 0, 1], "b": [0, 1, 0, 0, 1, 0, 1], "c": [0] * 7})
    compared, _ = study(specs, probe_sizes=(5, 10, 20))
    assert "probe sets of 10, 20 from 7 labelled examples" in texts(compared)
    assert {row.groups["probe size"] for row in compared.measures if "probe size" in row.groups} == {"5"}
    alike, _ = study(plant({"a": [1, 0] * 10, "b": [0, 1] * 10}))
    assert "no pair can be ordered" in texts(alike)
    two, _ = study(plant({"a": drawn(0.9, 30, 1), "b": drawn(0.4, 30, 2)}))
    assert "Two models are a single pair" in texts(two)


def test_models_that_give_labels_alone_are_ranked_by_what_they_get_right(study, plant, drawn):
    specs = plant({"a": drawn(0.9, 30, 1), "b": drawn(0.5, 30, 2), "c": drawn(0.3, 30, 3)})
    compared, _ = study(specs)
    assert "Not applicable: CONF and CONF-GT (labels without probabilities from" in texts(compared)
    assert {row.groups["factor"] for row in compared.measures if row.name == "few-shot accuracy"} == {
        "ACC", "RANDOM", "GUESS",
    }  # fmt: skip


# Through a plan


@pytest.mark.slow
def test_a_plan_runs_shows_compares_and_reports(study, models, tmp_path):
    listed = ", ".join(f'"{spec}"' for spec in models)
    (tmp_path / "plan.toml").write_text(
        f'models = [{listed}]\n[ranking]\ndata = ["data.csv"]\nprobe_sets = 50\n'
    )

    def shoal(*arguments: str, code: int = 0) -> str:
        done = CliRunner(env={"COLUMNS": "120"}).invoke(main, list(arguments), catch_exceptions=False)
        assert done.exit_code == code, done.output
        return done.output

    printed = shoal("run", "plan.toml")
    assert "How often do t examples order two models as all examples do?" in printed and "CONF-GT" in printed
    assert "m0 is best" in printed
    shoal("report", "plan.toml", "--out", "page.html", "--figures", "figures")
    drawn = {path.stem for path in Path("figures").glob("*.svg")}
    assert {"pairs-by-factor", "against-acc-conf", "against-acc-conf-gt"} <= drawn  # Figures 4 to 6
    assert "order two models as all examples do" in Path("page.html").read_text()
    pairs = read_csv(tmp_path / "page-pairs.csv")
    wanted = [
        "dataset", "explainer", "method", "direction", "model_i", "model_j", "s_i", "s_j", "accuracy", "ties", "B", "t",
    ]  # fmt: skip
    assert [name for name in pairs[0] if name in wanted] == wanted
    assert len(pairs) == 30 and pairs[0]["B"] == "50"
    assert {"page-order.csv", "page-few-shot.csv"} <= {p.name for p in tmp_path.glob("page-*")}
    assert "A ranking needs several models" in shoal("try", "ranking", models[0], "--set", "data=data.csv")


def test_answers_are_put_together_and_their_probabilities_added(study, tmp_path):
    rows = [
        {"id": str(n), "premise": f"p {n}", "hypothesis": "h", "label": word}
        for n, word in enumerate(["entailment", "non-entailment", "non-entailment"])
    ]
    write_csv(tmp_path / "data.csv", rows)
    names = ("entailment", "neutral", "contradiction")
    for model, table in {
        "a": [(0.4, 0.3, 0.3), (0.1, 0.5, 0.4), (0.2, 0.3, 0.5)],
        "b": [(0.3, 0.4, 0.3), (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)],
    }.items():
        answers = [{"id": str(n), **dict(zip(names, row, strict=True))} for n, row in enumerate(table)]
        write_csv(tmp_path / f"{model}.csv", answers)
    classes = {"non-entailment": ("neutral", "contradiction")}
    _, results = study(["predictions:a.csv", "predictions:b.csv"], classes=classes, probe_sizes=())
    first: Result = results[0]
    assert [outcome.passed for outcome in first.outcomes] == [True, True, True]
    assert first.columns["CONF"] == pytest.approx([0.4, 0.9, 0.8])
    assert first.columns["CONF-GT"] == pytest.approx([0.4, 0.9, 0.8])
    assert results[1].columns["prediction"] == ["non-entailment", "entailment", "non-entailment"]
    with pytest.raises(DataError, match="classes: label 'maybe' is not one of"):
        study(["predictions:a.csv"], classes={"maybe": ("neutral",)})


# Several data sets


def test_pooling_means_all_pairs_and_takes_each_data_sets_own_factor():
    """Table 3: three pairs of models on one data set and one on the other; SWAP is known on the first only."""

    def rows(pairs: int, **values: float) -> list[Measure]:
        sizes = ("5", "10")
        return [
            Measure("few-shot accuracy", value / int(size), pairs, {"factor": name, "probe size": size})
            for name, value in values.items()
            for size in sizes
        ]

    studies = {"paws": rows(3, ACC=6, SUM=9, SWAP=8), "hans": rows(1, ACC=2, SUM=1)}
    pooled = ranking.pool(studies, {"paws": "SWAP", "hans": "ACC"})
    assert {row.groups["factor"]: row.value for row in pooled} == pytest.approx(
        {"ACC": 0.5, "SUM": 0.7, "SET-DEPENDENT": 0.65}
    )
    assert {row.n for row in pooled} == {4}
    with pytest.raises(DataError, match="hans: no few-shot accuracy of 'SWAP' at t = 10"):
        ranking.pool(studies, {"paws": "SWAP", "hans": "SWAP"})
