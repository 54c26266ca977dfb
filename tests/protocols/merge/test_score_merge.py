"""Planted models give the curves they must; groups that are there are scored the same way; errors stay in sight."""

import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from merge_planted import LABELS, Planted, truth
from rich.console import Console

from shoal import audit, load_model
from shoal.comparing.pairs import compare
from shoal.core.errors import DataError, ModelError, PlanError
from shoal.core.records import Answers, Case, Measures, Result
from shoal.protocols import merge
from shoal.protocols.base import Built
from shoal.protocols.merge import Settings, build
from shoal.protocols.merge.score import find_measure, score
from shoal.render.tables import tables_of
from shoal.render.terminal import print_sections

HEADLINE = ("0.5", "0.9", "0.95", "1")


def answers_of(built: Built, answer) -> dict[str, Answers]:
    examples = [example for case in built.cases for example in case.examples]
    return {"": Planted(answer).classify(examples, built.labels)}


def scored(built: Built, answer, **options) -> Measures:
    return Measures(score(Settings(**options), built, answers_of(built, answer)).measures)


def value(measures: Measures, name: str, **groups: str) -> float | None:
    row = find_measure(measures, name, {key.replace("_", " "): word for key, word in groups.items()})
    assert row is not None, (name, groups)
    return row.value


def patterns(right: list[int], n: int) -> tuple[Built, Answers]:
    """Problems of n variants, so many of which are right."""
    cases, hits = [], []
    for number, count in enumerate(right):
        made = {"patterns": [{"groups": {}, "draws": [list(range(1, n + 1))]}]}
        texts = tuple((f"p{number} {place}", "h") for place in range(n + 1))
        cases.append(Case(f"default/{number}", texts, ("neutral",) * (n + 1),
                          {"filter": "default", "variants": "some"}, f"premise {number}", made))  # fmt: skip
        hits += [True] + [place < count for place in range(n)]
    codes = np.where(hits, LABELS.index("neutral"), 0)
    return Built(cases, LABELS), Answers(LABELS, codes.astype(np.int64))


# What the method says


def test_the_worked_example_through_cases(worked):
    example = worked["merge.pa"]
    built, answers = patterns(example["correct"], example["n"])
    measures = Measures(score(Settings(), built, {"": answers}).measures)
    assert value(measures, "sample accuracy") == pytest.approx(example["SA"], abs=1e-7)
    for threshold, expected in example["PA"].items():
        assert value(measures, "pattern accuracy", threshold=f"{float(threshold):g}") == pytest.approx(
            expected, abs=1e-7
        )


def test_a_variant_without_an_answer_is_counted_and_in_no_rate():
    built, answers = patterns([2, 2], 4)
    failed = replace(answers, errors={3: "too long", 4: "too long"})
    result = score(Settings(), built, {"": failed})
    sample = find_measure(Measures(result.measures), "sample accuracy", {})
    assert sample is not None and sample.errors == 2 and sample.value == pytest.approx(4 / 6)
    assert result.outcomes[0].passed is True


# Planted models


def test_a_model_that_is_always_right_solves_every_pattern(built):
    measures = scored(built, truth)
    assert value(measures, "seed accuracy") == value(measures, "sample accuracy") == 1.0
    assert {value(measures, "pattern accuracy", threshold=at) for at in HEADLINE} == {1.0}
    row = find_measure(measures, "pattern accuracy", {"threshold": "1"})
    assert row is not None and row.interval is not None and 0.7 < row.interval[0] < 1.0 == row.interval[1]


def test_a_model_that_stumbles_over_one_replacement_loses_whole_patterns_and_few_variants(built):
    words = [made["replacement"] for case in built.cases for made in case.meta.get("made", ())]
    hated = max(set(words), key=words.count)
    measures = scored(
        built, lambda e: _other(truth(e)) if hated in " ".join(e).lower().rstrip(".").split() else truth(e)
    )
    holding = [
        case for case in built.cases if hated in {made["replacement"] for made in case.meta.get("made", ())}
    ]
    share = value(measures, "sample accuracy")
    solved = value(measures, "pattern accuracy", threshold="1")
    assert share is not None and solved is not None and solved < share < 1.0
    assert value(measures, "pattern accuracy", threshold="0.5") == 1.0
    assert 1 - solved <= len(holding) / 24
    assert value(measures, "seed accuracy") == 1.0


def test_the_headline_names_words_by_their_rate_of_failures_not_by_their_number(built, monkeypatch):
    monkeypatch.setattr(sys.modules[score.__module__], "FEW_CASES", 8)
    made = Counter(row["replacement"] for case in built.cases for row in case.meta.get("made", ()))
    originals = " ".join(text for case in built.cases for text in case.examples[0])
    ranked = [row for row in made.most_common() if row[0] not in originals and row[1] >= 8]
    often, always = ranked[0], ranked[-1]

    def answer(example):
        words = " ".join(example).lower().replace(".", "").split()
        is_wrong = always[0] in words or (often[0] in words and len(" ".join(words)) % 4)
        return _other(truth(example)) if is_wrong else truth(example)

    scores = score(Settings(), built, answers_of(built, answer))
    (finding,) = [each for each in scores.findings if each.kind == "patterns"]
    first, second = finding.facts["worst words"]
    assert first == [*always, always[1]] and second[0] == often[0]
    assert first[1] < second[1] < second[2]
    assert f"{always[0]} ({always[1]} of {always[1]} wrong)" in finding.text


@pytest.mark.slow
def test_a_model_that_reads_the_hypothesis_alone_is_a_baseline(small):
    blind, seeing = load_model("tiny:nli?reads=last"), load_model("tiny:nli")
    pair, alone = ("A man eats.", "Nobody eats."), ("Nobody eats.",)
    given = blind.classify([pair, ("Snow falls.", "Nobody eats.")], None)
    assert given.probabilities.tolist() == seeing.classify([alone, alone], None).probabilities.tolist()
    assert blind.fingerprint() != seeing.fingerprint() and "reads=last" in repr(blind)
    settings = {**small, "limit": 6}
    by_name = {
        name: value(audit("merge", f"tiny:nli{name}", **settings).measures, "sample accuracy")
        for name in ("", "?reads=last")
    }
    assert by_name[""] > 0.9 > by_name["?reads=last"]  # type: ignore[operator]
    with pytest.raises(ModelError, match=r"reads is 'lst'.*\n.*\n.*last"):
        load_model("tiny:nli?reads=lst")


def _other(label: str) -> str:
    return LABELS[(LABELS.index(label) + 1) % 3]


# Groups that are there


GROUPS = """group\tpremise\thypothesis\tlabel
a\tA dog runs.\tAn animal moves.\tentailment
a\tA dog runs.\tA cat sleeps.\tneutral
a\tA dog runs.\tNo dog runs.\tcontradiction
b\tA man eats.\tSomebody eats.\tentailment
b\tA man eats.\tNobody eats.\tcontradiction
c\tOne row.\tAlone.\tneutral
"""


def test_groups_of_the_users_own_count_every_member_and_drop_from_their_originals(tmp_path):
    (tmp_path / "groups.tsv").write_text(GROUPS)
    model = Planted(lambda e: "contradiction" if e[1].startswith("No") else "entailment")
    result = audit("merge", model, data=str(tmp_path / "groups.tsv"), group="group")
    assert [case.id for case in result.cases] == ["group/a", "group/b", "group/c"]
    assert value(result.measures, "sample accuracy") == pytest.approx(4 / 6)
    assert value(result.measures, "pattern accuracy", threshold="1") == pytest.approx(1 / 3)
    assert [outcome.passed for outcome in result.outcomes] == [False, True, False]
    # The drop is from originals to variants, the original not among them.
    (drop,) = result.measures.where("drop from seeds")
    assert drop.value == pytest.approx(2 / 2 - 2 / 3) and drop.n == 2  # of the groups with variants
    assert drop.interval is not None and drop.interval[0] < drop.value < drop.interval[1]


def test_what_cannot_be_told_is_refused(tmp_path):
    (tmp_path / "groups.tsv").write_text(GROUPS.replace("b\tA man eats.\tNobody", "\tA man eats.\tNobody"))
    with pytest.raises(DataError, match="column 'group' is empty"):
        build(Settings(data=str(tmp_path / "groups.tsv"), group="group"))
    with pytest.raises(DataError, match="no column 'gruop'"):
        build(Settings(data=str(tmp_path / "groups.tsv"), group="gruop"))
    with pytest.raises(PlanError, match="leave out variants"):
        Settings(group="group", variants="x.jsonl")
    with pytest.raises(DataError, match="no such file"):
        build(Settings(data="nowhere.tsv"))


# Two models


def result_of(built: Built, answer, name: str) -> Result:
    settings = Settings()
    made = score(settings, built, answers_of(built, answer))
    job = {"model": name, "protocol": "merge", "about": dict(built.about)}
    measures = Measures([*built.measures, *made.measures])
    return Result(job, built.cases, made.outcomes, measures, made.columns, made.findings, settings)


def test_two_models_are_compared_problem_by_problem(built):
    rng = np.random.default_rng(2)
    sure = {example: rng.random() < 0.9 for case in built.cases for example in case.examples}
    good = result_of(built, truth, "good")
    worse = result_of(built, lambda e: truth(e) if sure[e] else _other(truth(e)), "worse")
    comparison = compare([good], [worse])
    assert comparison.headline.measure == "pattern accuracy" and comparison.headline.name == "0.9"
    for row in comparison.rows:
        a, b = (find_measure(result.measures, row.measure, row.groups) for result in (good, worse))
        assert a is not None and b is not None
        assert list(row.rates) == pytest.approx([a.value, b.value])
    assert comparison.headline.p is not None and comparison.headline.p < 0.001
    assert comparison.headline.test.startswith("sign flips")
    assert {row.difference for row in compare([good], [good]).rows} == {0.0}

    compared = merge.compare(Settings(), [good, worse])
    assert {row.groups["model"] for row in compared.measures} == {"good", "worse"}
    assert "models" in tables_of(merge.view(Settings(), [good, worse], compared.measures, []))
    print_sections(merge.view(good.settings, [good], (), good.findings), Console(), full=True)


def test_problems_and_labels_by_class_are_those_of_the_first_table(built):
    rows = Measures(built.measures)
    drawn = {name: [case for case in built.cases if name in _classes(case)] for name in ("noun", "verb")}
    for name, cases in drawn.items():
        assert value(rows, "problems", word_class=name) == len(cases)
        assert value(rows, "variants", word_class=name, step="in a draw") == 8 * len(cases)
        labels = [case.groups["label"] for case in cases]
        shares = {
            label: value(rows, "problems", word_class=name, label=label) for label in built.labels or ()
        }
        assert shares == {label: labels.count(label) for label in built.labels or ()}
    assert value(rows, "variants", step="in a draw") == sum(8 * len(_classes(case)) for case in built.cases)


def _classes(case: Case) -> set[str]:
    return {
        made["groups"]["word class"]
        for made in case.meta.get("patterns", ())
        if "word class" in made["groups"]
    }
