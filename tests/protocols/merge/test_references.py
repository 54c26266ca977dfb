"""Variants that all references fail are left out of a check, and nothing else is; no model is its own reference."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from merge_planted import Planted

from shoal import audit
from shoal.cli import main
from shoal.core.errors import PlanError
from shoal.core.records import Answers, Case, Measures
from shoal.protocols.base import Built, identity
from shoal.protocols.merge import Settings, build, score
from shoal.protocols.merge.references import HARD
from shoal.protocols.merge.score import WITHOUT, named

MODELS = """
def fails(*words):
    def answers(pairs):
        return ["entailment" if any(word in b.split() for word in words) else "neutral" for a, b in pairs]
    return answers

def silent(pairs):
    if any("torn" in b.split() for a, b in pairs):
        raise ValueError("no answer")
    return fails("hard")(pairs)

audited = fails("hard", "own", "torn")
other = fails("own")
first = fails("hard", "one", "torn")
second = fails("hard", "two", "torn")
third = fails("hard", "torn")
"""
GROUPS = {
    "a": ["plain", "hard 1", "plain 2", "plain 3"],  # solved without the hard one
    "b": ["plain", "own 1", "one 2", "plain 3"],  # what the model alone fails, or one reference, stays
    "c": ["plain", "plain 1", "two 2", "hard 3"],
    "d": ["hard 0", "hard 1", "hard 2", "hard 3"],  # nothing is left
}
THREE = "references=python:planted_references:first,python:planted_references:second,python:planted_references:third"


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of groups, beside the models that answer by its words."""
    (tmp_path / "planted_references.py").write_text(MODELS)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "groups.tsv"
    rows = [f"{name}\tpremise {name}\t{text}\tneutral" for name, texts in GROUPS.items() for text in texts]
    path.write_text("group\tpremise\thypothesis\tlabel\n" + "\n".join(rows) + "\n")
    return path


def shoal(*words: str, fails: bool = False) -> str:
    done = CliRunner().invoke(main, [*words])
    assert (done.exit_code != 0) is fails, done.output
    return done.output


def tried(groups: Path, *words: str, model: str = "audited", fails: bool = False) -> str:
    spec = f"python:planted_references:{model}"
    sets = [f"data={groups}", "group=group", "label_names=entailment,neutral,contradiction", *words]
    return shoal(
        "try", "merge", spec, *(part for word in sets for part in ("--set", word)), "--json", fails=fails
    )


def without(output: str, threshold: str = "1") -> dict[str, object]:
    rows = json.loads(output[output.index("{") :])["measures"]
    (row,) = [row for row in rows if row["name"] == WITHOUT and row["groups"] == {"threshold": threshold}]
    return dict(row)


def test_only_what_all_references_fail_is_left_out(groups):
    output = tried(groups, THREE)
    row = without(output)
    assert row["n"] == 3 and row["value"] == pytest.approx(2 / 3)  # with all variants it is 0 of 4
    assert row["facts"]["left out"] == 6 and row["facts"]["variants"] == 16  # type: ignore[index]
    assert (
        "Without the 6 of 16 variants that all 3 references fail, 66.7 % of 3 problems are solved instead"
        in output
    )


def test_a_gate_on_all_variants_is_not_one_on_those_that_are_left(groups):
    (groups.parent / "result.json").write_text(tried(groups, THREE).partition("{")[2].join(["{", ""]))
    rules = groups.parent / "gate.toml"
    gate = ("gate", str(groups.parent / "result.json"), "--rules", str(rules))
    rule = '[[rule]]\nthreshold = "1"\nat_least = 0.5\n'
    rules.write_text(rule)
    assert "0.0 %" in shoal(*gate, fails=True)
    rules.write_text(rule + f'measure = "{WITHOUT}"\n')
    assert "66.7 %" in shoal(*gate)


def test_another_model_is_measured_on_the_same_variants(groups):
    row = without(tried(groups, THREE, model="other"))
    assert row["n"] == 3 and row["value"] == pytest.approx(2 / 3) and row["facts"]["left out"] == 6  # type: ignore[index]


def test_a_reference_without_an_answer_has_not_failed(groups):
    groups.write_text(groups.read_text().replace("plain 1", "torn 1"))
    assert without(tried(groups, THREE))["value"] == pytest.approx(2 / 3)  # all fail the torn one
    silent = THREE.replace(":third", ":silent")
    assert without(tried(groups, silent))["value"] == pytest.approx(1 / 3)


def test_fewer_than_three_or_the_model_itself_or_one_twice_is_refused(groups):
    two = THREE.rpartition(",")[0]
    assert "name 3 different ones at least" in tried(groups, two, fails=True)
    assert "name 3 different ones at least" in tried(
        groups, f"{two},python:planted_references:first", fails=True
    )
    itself = tried(groups, THREE, model="second", fails=True)
    assert "python:planted_references:second is the model that is audited" in itself
    answers = "id,label\n" + "".join(f"group/{name}#{n},neutral\n" for name in GROUPS for n in range(4))
    for name in ("one.csv", "two.csv"):
        (groups.parent / name).write_text(answers)
    copies = f"{two},predictions:{groups.parent / 'one.csv'},predictions:{groups.parent / 'two.csv'}"
    assert "two.csv are one model" in tried(groups, copies, fails=True)


def test_endpoints_are_no_references(groups):
    far = THREE.replace(
        "python:planted_references:third", "openai:any?url=http://127.0.0.1:9&prompt=entailment-plain"
    )
    assert "is asked over a network" in tried(groups, far, fails=True)


def test_a_plan_shows_all_models_with_and_without(groups):
    plan = groups.parent / "plan.toml"
    name, _, models = THREE.partition("=")
    plan.write_text(
        'models = ["python:planted_references:audited", "python:planted_references:other"]\n[merge]\n'
        f'data = "{groups.name}"\ngroup = "group"\n{name} = {json.dumps(models.split(","))}\n'
        'label_names = ["entailment", "neutral", "contradiction"]\n'
    )
    into, page = str(groups.parent / "runs"), groups.parent / "report.html"
    shoal("run", str(plan), "--into", into)
    shoal("report", str(plan), "--into", into, "--out", str(page))
    shown = page.read_text(encoding="utf-8")
    assert "a check: without the variants that all references fail" in shown
    assert "references, with their share of right originals" in shown


def test_a_model_that_is_handed_over_has_references_too(groups):
    model = Planted(lambda pair: "entailment" if "own" in pair[1].split() else "neutral")
    names = ("entailment", "neutral", "contradiction")
    result = audit(
        "merge",
        model,
        data=str(groups),
        group="group",
        label_names=names,
        references=THREE.partition("=")[2].split(","),
    )
    row = named(result.measures, WITHOUT, {"threshold": "1"})
    assert row is not None and row.value == pytest.approx(2 / 3)
    # Of the four originals all fail one; the others are right.
    assert set(result.job["about"]["references"].values()) == {0.75}


def test_draws_and_pools_lose_the_same_variants():
    """Two of four right, one of the others hard: two of three are left."""
    cases = [
        Case("default/1", tuple((f"p{n}", "h") for n in range(5)), ("neutral",) * 5, {"filter": "default"}, "p",
             {"patterns": [{"groups": {}, **made}], HARD: [1]})
        for made in ({"draws": [[1, 2, 3, 4]] * 2}, {"pools": [{"of": [1, 2, 3, 4], "drawn": 4}]})
    ]  # fmt: skip
    said = Answers(("neutral", "other"), np.array([0, 1, 1, 0, 0]))
    for case in cases:
        settings = Settings(references=("a", "b", "c"), threshold=0.6)
        measures = Measures(score(settings, Built([case], ("neutral", "other")), {"": said}).measures)
        for threshold, with_it, left in (("0.5", 1.0, 1.0), ("0.6", 0.0, 1.0), ("0.9", 0.0, 0.0)):
            groups = {"threshold": threshold}
            assert named(measures, "pattern accuracy", groups).value == with_it  # type: ignore[union-attr]
            assert named(measures, WITHOUT, groups).value == left  # type: ignore[union-attr]


def test_without_references_cases_are_what_they_were():
    assert "references" not in identity(Settings(), "cases")
    with pytest.raises(PlanError):
        replace(Settings(), references=("tiny:nli",))
    assert build(Settings(limit=2, minimum=2, sample=2, draws=1)).about.get("references") is None
