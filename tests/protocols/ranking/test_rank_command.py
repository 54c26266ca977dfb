"""`shoal rank`: who comes first, how sure that is, what to label next, when to stop; and words where it cannot tell."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import read_csv, write_csv

POOL = ("--data", "data.csv", "--pool", "pool.csv")


def measures(output: str, name: str) -> list[dict[str, Any]]:
    return [row for row in json.loads(output)["measures"] if row["name"] == name]


def kinds(output: str) -> list[str]:
    return [finding["kind"] for finding in json.loads(output)["findings"]]


# Order


def test_a_better_model_comes_first_whatever_the_order_of_names(rank, plant):
    good, bad, middling = plant({"bad": [0, 0] * 15, "good": [1] * 30, "middling": [1, 0] * 15})
    outputs = [
        rank(*specs, "--data", "data.csv", "--json").stdout
        for specs in ((good, bad, middling), (middling, good, bad))
    ]
    assert json.loads(outputs[0])["measures"] == json.loads(outputs[1])["measures"]
    names = [row["groups"]["model"] for row in measures(outputs[0], "accuracy")]
    assert names == ["good", "middling", "bad"]
    assert "stop" in kinds(outputs[0])
    printed = rank(good, bad, middling, "--data", "data.csv").stdout
    assert "good is best (error risk at most 5 %). 30 labels were enough to decide this" in printed


def test_ten_to_two_is_probable_and_not_decided(rank, plant):
    specs = plant({"a": [1] * 10 + [0] * 2 + [1] * 8, "b": [0] * 10 + [1] * 2 + [1] * 8})
    output = rank(*specs, "--data", "data.csv", "--json").stdout
    (better,) = measures(output, "probability better")
    assert better["value"] == pytest.approx(0.98877, abs=5e-6)
    assert better["verdict"] == "probable"
    assert (better["facts"]["only first"], better["facts"]["only second"], better["n"]) == (10, 2, 20)
    (evidence,) = measures(output, "e value")
    assert evidence["value"] == pytest.approx(4.774, abs=5e-4) and evidence["facts"]["to reach"] == 20
    assert kinds(output) == ["go on"]
    (stated,) = measures(output, "probability better if close")
    assert stated["value"] == pytest.approx(0.829, abs=5e-4)
    printed = " ".join(rank(*specs, "--data", "data.csv").stdout.split())
    assert "a is best (82.9 % sure from 20 labels). b cannot be ruled out: about 17 more labels." in printed
    assert "10 : 2" in printed and "98.9" not in printed


def test_a_model_is_better_only_if_the_prior_of_close_models_agrees(rank, plant):
    specs = plant({"a": [1] * 5 + [0] + [1] * 6, "b": [0] * 5 + [1] + [1] * 6})
    output = rank(*specs, "--data", "data.csv", "--json").stdout
    (uniform,), (close,) = (
        measures(output, name) for name in ("probability better", "probability better if close")
    )
    assert uniform["value"] > 0.9 and close["value"] < 0.8 and uniform["verdict"] == "undecided"
    printed = " ".join(rank(*specs, "--data", "data.csv").stdout.split())
    assert "No clear winner after 12 labels: a leads" in printed


def test_models_that_are_alike_get_words_and_no_numbers(rank, plant):
    specs = plant({"a": [1, 0, 1] * 4, "b": [1, 0, 1] * 4})
    output = rank(*specs, "--data", "data.csv", "--json").stdout
    assert kinds(output) == ["alike"] and measures(output, "probability better") == []
    printed = rank(*specs, "--data", "data.csv").stdout
    assert "right and wrong on the same of 12 labelled examples" in printed and "%" not in printed
    few = plant({"a": [1, 1], "b": [0, 1], "c": [0, 0]})
    assert "2 labelled examples for 3 models are too few" in rank(*few, "--data", "data.csv").stdout


def test_examples_without_an_answer_count_for_nobody_and_are_named(rank, plant, tmp_path):
    specs = plant({"a": [1] * 12, "b": [0] * 6 + [1] * 6})
    lines = [
        {"id": f"e{n}", "error": "no answer"}
        if n < 2
        else {"id": f"e{n}", "pred": ["negative", "positive"][n % 2]}
        for n in range(12)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    output = rank(f"predictions:{tmp_path / 'a.jsonl'}", specs[1], "--data", "data.csv", "--json").stdout
    (better,) = measures(output, "probability better")
    assert better["n"] == 10 and better["facts"]["only first"] == 4
    assert "errors" in kinds(output)


# What to label next


def test_examples_are_drawn_where_models_disagree_and_only_there(rank, plant):
    pool = [1] * 20
    apart = [0] * 5 + [1] * 15
    specs = plant({"a": [1, 0, 1, *pool], "b": [1, 1, 0, *apart]}, labelled=3)
    output = rank(*specs, *POOL, "--json").stdout
    chosen = next(f for f in json.loads(output)["findings"] if f["kind"] == "label next")["facts"]["examples"]
    assert {example["case"] for example in chosen} <= {f"pool/e{n}" for n in range(3, 8)}
    assert {(example["chance"], example["least chance"]) for example in chosen} == {(4.0, 4.0)}
    assert sum(example["times"] for example in chosen) == 10
    assert "disagree (on 5 of the 20 in the pool)" in rank(*specs, *POOL).stdout
    assert output == rank(*specs, *POOL, "--json").stdout


def test_without_labels_it_says_what_to_label_first(rank, plant):
    specs = plant({"a": [1] * 20, "b": [0] * 10 + [1] * 10}, labelled=0)
    refused = rank(*specs, "--pool", "pool.csv", code=1)
    assert "labels=negative,positive" in refused.output
    call = (*specs, "--pool", "pool.csv", "--set", "labels=negative,positive")
    assert kinds(rank(*call, "--json").stdout) == ["no labels", "label next"]
    assert "no example has a label yet" in rank(*call).stdout


def test_a_pool_on_which_all_agree_cannot_help(rank, plant, tmp_path):
    specs = plant({"a": [1, 0, 1, *[1] * 9], "b": [0, 1, 1, *[1] * 9]}, labelled=3)
    assert "agree on all 9 examples of the pool" in rank(*specs, *POOL).stdout
    refused = rank(*specs, *POOL, "--out", "next.csv", code=1)
    assert "nothing to label next" in refused.output and not (tmp_path / "next.csv").exists()


def test_labels_that_come_back_count_by_their_chances(rank, plant, tmp_path):
    apart = 40
    specs = plant({"a": [1, 0, 1] + [1] * 80, "b": [1, 1, 0] + [0] * apart + [1] * 40}, labelled=3)
    rank(*specs, *POOL, "--out", "next.csv", "--set", "label_next=30")
    rows = read_csv(tmp_path / "next.csv")
    assert rows[0]["label"] == "" and float(rows[0]["chance"]) == 2.0
    for row in rows:
        row["label"] = ["negative", "positive"][int(row["id"][1:]) % 2]
    write_csv(tmp_path / "back.csv", rows)
    output = rank(*specs, *POOL, "--data", "back.csv", "--json").stdout
    accuracy = measures(output, "accuracy")[0]
    assert accuracy["n"] == 3, "what was chosen where models disagree says nothing of accuracy"
    (better,) = measures(output, "probability better")
    assert (better["facts"]["only first"], better["facts"]["only second"]) == (31, 1)
    assert "stop" in kinds(output)
    drawn_twice = [row for row in rows if int(row["times"]) > 1]
    assert drawn_twice, "thirty draws from forty examples hit some twice"


def test_an_example_that_is_drawn_again_keeps_its_label(rank, plant, tmp_path):
    specs = plant({"a": [1, 0, 1, 1, 1], "b": [1, 1, 0, 0, 1]}, labelled=3)
    rank(*specs, *POOL, "--out", "next.csv", "--set", "label_next=3")
    (row,) = read_csv(tmp_path / "next.csv")
    assert (row["id"], row["times"], row["label"]) == ("e3", "3", "")
    write_csv(tmp_path / "back.csv", [row | {"label": "positive"}])
    rank(*specs, *POOL, "--data", "back.csv", "--out", "again.csv")
    (again,) = read_csv(tmp_path / "again.csv")
    assert (again["id"], again["label"]) == ("e3", "positive")
    write_csv(tmp_path / "both.csv", [row | {"label": "positive"}, again])
    output = rank(*specs, *POOL, "--data", "both.csv", "--json").stdout
    assert measures(output, "probability better")[0]["facts"]["only first"] == 1 + 3 + 10


def test_a_file_that_may_hold_labels_is_never_overwritten(rank, plant, tmp_path):
    specs = plant({"a": [1, 0, 1, 1, 1], "b": [1, 1, 0, 0, 1]}, labelled=3)
    Path(tmp_path / "next.csv").write_text("precious")
    assert "exists already" in rank(*specs, *POOL, "--out", "next.csv", code=1).output
    assert Path(tmp_path / "next.csv").read_text() == "precious"
    rank(*specs, *POOL, "--out", "next.jsonl")
    assert json.loads((tmp_path / "next.jsonl").read_text().splitlines()[0])["label"] == ""


# Wrong input


def test_impossible_probabilities_of_draws_are_refused_with_their_line(rank, plant, tmp_path):
    specs = plant({"a": [1, 0, 1], "b": [1, 1, 0]})
    rows = read_csv(tmp_path / "data.csv")
    for chance, least in (("2", "3"), ("x", "1"), ("0", "0"), ("2", "")):
        write_csv(tmp_path / "data.csv", [row | {"chance": chance, "least chance": least} for row in rows])
        assert "data.csv, line 2" in rank(*specs, "--data", "data.csv", code=1).output


def test_two_examples_of_one_name_and_two_labels_of_one_example_are_refused(rank, plant, tmp_path):
    specs = plant({"a": [1, 0, 1], "b": [1, 1, 0]})
    rows = read_csv(tmp_path / "data.csv")
    write_csv(tmp_path / "data.csv", [*rows, rows[0] | {"text": "another"}])
    assert "two examples have the id 'e0'" in rank(*specs, "--data", "data.csv", code=1).output


def test_a_formula_is_not_written_to_a_spreadsheet(rank, plant, tmp_path):
    specs = plant({"a": [1, 0, 1, 1], "b": [1, 1, 0, 0]}, labelled=3)
    write_csv(tmp_path / "pool.csv", [{"id": "e3", "text": "=1+1"}])
    assert "next.jsonl" in rank(*specs, *POOL, "--out", "next.csv", code=1).output
    rank(*specs, *POOL, "--out", "next.jsonl")


def test_examples_that_were_drawn_and_not_labelled_are_counted_aloud(rank, plant, drawn, tmp_path):
    specs = plant({"a": drawn(0.9, 40, 1), "b": drawn(0.5, 40, 2)}, labelled=10)
    rank(*specs, *POOL, "--out", "next.csv")
    rows = read_csv(tmp_path / "next.csv")
    write_csv(
        tmp_path / "next.csv", [row | {"label": "positive" if n > 1 else ""} for n, row in enumerate(rows)]
    )
    printed = rank(*specs, *POOL, "--data", "next.csv").output
    assert "Label them all: 2 of the examples drawn" in " ".join(printed.split())
    write_csv(tmp_path / "next.csv", [row | {"label": "positive"} for row in rows])
    assert "Label them all" not in rank(*specs, *POOL, "--data", "next.csv").output
