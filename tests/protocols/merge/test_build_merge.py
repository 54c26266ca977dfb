"""Building: draws that depend on nothing but their problem, conditions at equal numbers, sources, files, bad input."""

import json
import sys
from dataclasses import replace

import pytest
from merge_planted import BERT, ROBERTA, TEXTS, TOY, Planted, Suggests, truth

from shoal.core.errors import DataError, MissingExtra
from shoal.core.records import Measures
from shoal.protocols.merge import Settings, build
from shoal.protocols.merge.draws import STEPS
from shoal.protocols.merge.score import find_measure, score
from shoal.protocols.merge.settings import Filter
from shoal.protocols.merge.tagger import Tagger
from shoal.protocols.merge.variants import write_variants

WORDS = "woman boy girl child lady teacher doctor farmer sailor singer nurse judge baker pilot writer".split()  # noqa: SIM905
PAIRS = (
    "premise\thypothesis\tlabel\nA man sits .\tThe man sits down .\tneutral\n"
    "A man runs .\tA man moves .\tentailment\n"
)


def write(tmp_path, text=PAIRS):
    (tmp_path / "pairs.tsv").write_text(text)
    return str(tmp_path / "pairs.tsv")


def with_suggesters(monkeypatch, **suggesters):
    module = sys.modules["shoal.protocols.merge.build"]
    monkeypatch.setattr(module, "load_suggesters", lambda specs: suggesters)


def count(built, name, **groups):
    row = find_measure(Measures(built.measures), name, groups)
    assert row is not None
    return row.value


def test_each_draw_has_as_many_distinct_variants_as_asked_for(built):
    for case in built.cases:
        for pattern in case.meta.get("patterns", ()):
            if "word class" in pattern["groups"]:
                assert len(pattern["draws"]) == 4
                assert all(len(set(draw)) == len(draw) == 8 for draw in pattern["draws"])
                classes = {case.meta["made"][n - 1]["word class"] for draw in pattern["draws"] for n in draw}
                assert classes == {pattern["groups"]["word class"]}


def test_a_variant_replaces_one_word_at_all_its_places_and_knows_where_it_comes_from(built):
    case = next(case for case in built.cases if len(case.examples) > 1)
    for example, made in zip(case.examples[1:], case.meta["made"], strict=True):
        for before, after in zip(case.examples[0], example, strict=True):
            swapped = [made["replacement"] if word == made["word"] else word for word in _words(before)]
            assert _words(after) == swapped
        assert made["source"] == ["example"] and min(made["p"]["example"]) > max(made["p of word"]["example"])


def _words(text):
    return text.lower().rstrip(".").split()


def test_other_problems_beside_it_change_no_draw(small, built):
    fewer = build(Settings(**{**small, "limit": 6}))
    kept = {case.id: case for case in built.cases}
    assert all(kept[case.id] == case for case in fewer.cases)


@pytest.mark.slow
def test_conditions_have_the_same_problems_and_numbers(small):
    filters: tuple[Filter, ...] = ("default", "pos", "probability", "none", "scrambled")
    built = build(Settings(**{**small, "limit": 6}, filters=filters))
    by_filter = {
        name: [case for case in built.cases if case.groups.get("filter") == name] for name in filters
    }
    problems = [[case.id.partition("/")[2] for case in cases] for cases in by_filter.values()]
    assert problems[0] and all(ids == problems[0] for ids in problems)
    for default, mixed in zip(by_filter["default"], by_filter["scrambled"], strict=True):
        assert default.meta["patterns"][0] == mixed.meta["patterns"][0]
        for plain, other in zip(default.meta["made"], mixed.meta["made"], strict=True):
            assert sorted(other["replacement"]) == sorted(plain["replacement"]) != other["replacement"]
    examples = [example for case in built.cases for example in case.examples]
    given = Planted(truth).classify(examples, built.labels)
    measures = Measures(score(Settings(), built, {"": given}).measures)
    assert {row.groups.get("filter") for row in measures.where("sample accuracy")} == set(filters)
    (headline,) = [row for row in measures if row.headline]
    assert headline.groups == {"filter": "default", "threshold": "0.9"}


# Sources


def test_sources_are_compared_at_equal_numbers_on_the_same_problems(tmp_path, monkeypatch):
    first = Suggests({word: 0.5 - n / 100 for n, word in enumerate(WORDS[:10])})
    second = Suggests({word: 0.5 - n / 100 for n, word in enumerate(WORDS[5:])})
    with_suggesters(monkeypatch, bert=first, roberta=second)
    settings = Settings(data=write(tmp_path), sample=6, draws=5)
    built = build(replace(settings, suggesters=("hf:bert", "hf:roberta")))
    (case, *_) = built.cases
    sources = {p["groups"]["source"]: p["draws"] for p in case.meta["patterns"] if "source" in p["groups"]}
    assert list(sources) == ["bert only", "roberta only", "both"]
    assert all(len(draw) == 5 for draws in sources.values() for draw in draws)
    made = case.meta["made"]
    assert {tuple(made[n - 1]["source"]) for draw in sources["both"] for n in draw} == {("bert", "roberta")}
    split = build(replace(settings, suggesters=("hf:bert", "hf:roberta"), by_source="split"))
    parts = {
        p["groups"]["source"]: p["draws"] for p in split.cases[0].meta["patterns"] if "source" in p["groups"]
    }
    assert all(sum(len(parts[name][n]) for name in parts) == 6 for n in range(5))


def test_the_toy_funnel_is_what_a_build_reports(tmp_path, monkeypatch):
    """Section 4.11 from problems to measures: 12, 10, 8, 7 and 5 are left, too few for 20 and enough for 5."""
    with_suggesters(monkeypatch, BERT=Suggests(TOY[BERT], 0.2), RoBERTa=Suggests(TOY[ROBERTA], 0.2))
    data = write(tmp_path, "premise\thypothesis\tlabel\n" + "\t".join((*TEXTS, "entailment")) + "\n")
    settings = Settings(data=data, suggesters=("hf:BERT", "hf:RoBERTa"), draws=1)
    with pytest.raises(DataError, match="needs 20 suggestions; at most 5 are left, for 'man'"):
        build(settings)
    built, noun = build(replace(settings, sample=5)), {"word class": "noun"}
    assert [count(built, "variants", **noun, step=step) for step in STEPS] == [12, 10, 8, 7, 5]
    assert count(built, "suggestions per problem", **noun) == 5
    assert ("A woman plays a guitar .", "A woman plays an instrument .") in built.cases[0].examples
    sources = {row["replacement"]: row["source"] for row in built.cases[0].meta["made"]}
    assert sources["woman"] == [BERT, ROBERTA] and sources["lady"] == [BERT]


# Bad input


def test_problems_without_a_shared_word_are_counted_and_asked_as_they_are(tmp_path, monkeypatch):
    with_suggesters(monkeypatch, bert=Suggests({word: 0.5 - n / 100 for n, word in enumerate(WORDS)}))
    data = write(tmp_path, PAIRS + "A dog barks .\tIt is loud .\tneutral\nA dog barks .\tQuiet .\t-\n")
    built = build(Settings(data=data, sample=6))
    assert count(built, "problems", step="read") == 4
    assert count(built, "problems", step="with a gold label") == 3
    assert count(built, "problems", step="taken") == 3
    assert count(built, "problems", step="with a word to replace") == 2
    (alone,) = [case for case in built.cases if case.groups["variants"] == "none"]
    assert alone.examples == (("A dog barks .", "It is loud ."),)
    assert built.about["dropped"] == {"no gold label": 1}
    with pytest.raises(DataError, match="no problem has a word to replace"):
        build(
            Settings(
                data=write(tmp_path, "premise\thypothesis\tlabel\nA dog barks .\tIt is loud .\tneutral\n")
            )
        )


def test_without_the_tagger_there_is_a_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "HanTa", None)
    monkeypatch.setitem(sys.modules, "HanTa.HanoverTagger", None)
    with pytest.raises(MissingExtra, match="pip install HanTa"):
        Tagger()


# Files


def test_variants_come_back_as_they_were_written(built, tmp_path):
    path = tmp_path / "variants.jsonl"
    write_variants(built, path)
    again = build(Settings(variants=str(path)))
    assert list(again.cases) == list(built.cases)
    assert again.labels == built.labels
    assert list(again.measures) == list(built.measures)  # the funnel too
    assert {**again.about, "data": built.about["data"]} == built.about


def test_a_file_of_variants_that_would_be_counted_wrongly_is_refused(built, tmp_path):
    path = tmp_path / "variants.jsonl"
    write_variants(built, path)
    header, case = map(json.loads, path.read_text().splitlines()[:2])
    pattern = case["patterns"][0]
    for rows, line in (
        ([case], 1),
        ([{**header, "shoal variants": 1}, case], 1),
        ([{**header, "measures": [5]}, case], 1),
        ([{**header, "about": {**header["about"], "dropped": 5}}, case], 1),
        ([header, {**case, "labels": ["maybe", *case["labels"][1:]]}], 2),
        ([header, {**case, "examples": [["One text."], *case["examples"][1:]]}], 2),
        ([header, {**case, "patterns": [{**pattern, "draws": [[1000]]}]}], 2),
        ([header, case, case], 3),
    ):
        path.write_text("\n".join(map(json.dumps, rows)) + "\n")
        with pytest.raises(DataError, match=f"line {line}: not "):
            build(Settings(variants=str(path)))
    path.write_text(json.dumps(header) + "\n")
    with pytest.raises(DataError, match="no variants"):
        build(Settings(variants=str(path)))
