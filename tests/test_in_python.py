"""Results in Python: their text, HTML and tables; `shoal.compare` and `shoal.gate`."""

import json
import sys

import pytest
from markup import Page

import shoal
from shoal.core.errors import DataError, MissingExtra, ModelError, PlanError
from shoal.runs.viewing import as_object

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
RULES = [{"at_least": 0.5}, {"capability": "negation", "at_least": 0.9}]


@pytest.fixture(scope="module")
def result():
    return shoal.audit("behaviour", "predictions:example", suite="sentiment")


@pytest.fixture(scope="module")
def comparison(result):
    return shoal.compare(result, "tiny:sentiment", suite="sentiment")


@pytest.fixture(scope="module")
def gate(result):
    return shoal.gate(result, RULES)


# Texts and HTML


def test_a_result_shows_its_headline_with_counts_and_where_to_look(result):
    assert repr(result).splitlines() == [
        "<Result: behaviour of predictions:example>",
        "1,352 of 2,397 cases pass",
        "suite score 62.6 % (95 % CI 60.0 – 65.1), n = 2,397",
        "Look at: .failing(), .measures, .to_pandas()",
    ]


def test_what_a_notebook_shows_has_no_options_of_the_command_line(result, comparison, gate):
    for thing in (result, result.measures, comparison, gate):
        html = thing._repr_html_()
        text = html.partition("</style>")[2]
        assert Page(html).elements and "--" not in text and "exit code" not in text


def test_texts_from_data_are_escaped(tmp_path):
    suite = shoal.Suite("toy", labels=("no", "yes"))

    @suite.minimum(capability=HOSTILE)
    def hostile():
        """Return a hostile text."""
        yield shoal.case(HOSTILE, label="yes")
        yield shoal.case("fine", label="yes")

    def model(texts):
        return ["no"] * len(texts)

    model.__name__ = HOSTILE
    result = shoal.audit("behaviour", model, suite=suite)
    for thing in (result, result.measures, shoal.compare(result, result), shoal.gate(result, RULES[:1])):
        assert not {tag for tag, _ in Page(thing._repr_html_()).elements} & {"script", "img"}
    assert "&lt;script&gt;" in result._repr_html_()


# Tables


def test_tables_have_a_row_per_case_measure_difference_and_verdict(result, comparison, gate):
    pytest.importorskip("pandas")
    cases = result.to_pandas()
    assert len(cases) == len(result.cases) and (cases["outcome"] == "fail").sum() == len(result.failing())
    assert len(result.measures.to_pandas()) == len(result.measures)
    assert len(comparison.to_pandas()) == len(comparison.rows)
    assert gate.to_pandas()["met"].tolist() == [True, False]


def test_without_pandas_the_error_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="try: pip install pandas"):
        result.measures.to_pandas()


def test_a_result_file_shows_its_measures_and_has_no_cases(result, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(as_object([result.job], result.measures, result.findings), default=str))
    gate = shoal.gate(path, RULES)
    assert "suite score 62.6 %" in repr(gate.result) and Page(gate.result._repr_html_()).elements
    with pytest.raises(DataError, match=r"try: \.measures\.to_pandas"):
        gate.result.to_pandas()
    assert "No clear difference overall" in repr(shoal.compare(path, result))


# Decisions


def test_rules_may_be_a_file_or_dictionaries(result, gate, tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text('[[rule]]\nat_least = 0.5\n[[rule]]\ncapability = "negation"\nat_least = 0.9\n')
    assert shoal.gate(result, path).measures == shoal.gate(result, str(path)).measures == gate.measures
    assert [verdict.name for verdict in gate.failed] == ["negation"] and not gate.met
    assert shoal.gate(result, RULES[:1]).met


def test_a_relative_rule_compares_with_the_baseline(result):
    rule = [{"no_worse_than_baseline_by": 0.0, "functionality": "*"}]
    assert shoal.gate(result, rule[:1], baseline=result).failed[-1].reason
    worse = shoal.gate("tiny:sentiment", rule, baseline=result, suite="sentiment").failed
    assert worse[0].name == "negated_facts_are_neutral" and "newly failing" in worse[0].reason


def test_settings_without_a_model_are_refused(result):
    with pytest.raises(PlanError, match=r"shoal\.compare: suite is for models[\s\S]*leave it out"):
        shoal.compare(result, result, suite="sentiment")


def test_a_pickled_object_is_not_read_and_the_error_shows_how_to(tmp_path, monkeypatch):
    (tmp_path / "a.joblib").write_bytes(b"cos\nsystem\n(S'touch read'\ntR.")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"is a file[\s\S]*joblib\.load[\s\S]*python:my_module:model"):
        shoal.audit("behaviour", "hf:a.joblib", suite="sentiment")
    assert not (tmp_path / "read").exists()
