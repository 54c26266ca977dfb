"""Expectations of free answers, and refusals: rules, suites, stored generations, planted endpoints."""

import random
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal import Suite, audit, case
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.models.prompted.replies import is_refusal, parse
from shoal.protocols.behaviour.patterns import Pattern
from shoal.protocols.behaviour.suite_files import read_suite, write_suite
from shoal.protocols.behaviour.text_rules import TEXT_RULES

SCHEMA = {
    "type": "object",
    "required": ["city"],
    "additionalProperties": False,
    "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}, "n": {"type": "integer", "minimum": 0}},
}


@pytest.mark.parametrize(
    ("rule", "argument", "right", "wrong"),
    [
        ("contains", ["Paris", "ROME"], "from  paris to Rome", "only Paris"),
        ("not_contains", "sorry", "All done.", "I am Sorry"),
        ("regex", r"^\d{4}-\d\d$", " 2026-11\n", "in 2026-11"),
        ("one_of", ["yes", "No"], '"**YES**."', "yes, it is"),
        ("number", {"value": "4", "within": "0.5"}, "2 + 2 = 4.25", "4 or 5"),
        ("number", 4, "about 3-4", "4-3"),
        ("number", -1234.5, "It is −1,234.5 euros", "1,234.5"),
        ("json", SCHEMA, '```json\n{"city": "Rome", "n": 0}\n```', '{"city": "Rome", "n": true}'),
        ("json", {}, "Here:\n```json\n[1]\n```\nDone.", "```json\n[1]\n```\nor\n```json\n[2]\n```"),
        ("json", SCHEMA, '{"city": "Rome"}', '{"city": "rome", "more": 1}'),
        ("json", {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2}, "[1, 2]", "[1, 3]"),
        ("json", {}, "null", "NaN"),
        ("max_words", 2, "two words", "three more words"),
        ("max_characters", 3, " abc ", "abcd"),
    ],
)
def test_a_rule_accepts_the_right_text_only(rule, argument, right, wrong):
    test = TEXT_RULES[rule](argument)
    assert (test(right), test(wrong)) == (True, False)


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"regex": "(a"}, "not a regular expression"),
        ({"regex": r"(a)\1"}, "groupref in a regular expression is not supported"),
        ({"number": "many"}, 'number cannot be "many"'),
        ({"max_words": 0}, "max_words cannot be 0"),
        ({"json": {"type": "objct"}}, 'json: type cannot be "objct"'),
        ("same_text", "rule 'same_text' in an MFT"),
        ({"pred_not_0": 1}, "takes no argument"),
        (["contains", "pred_not_0"], "rules on labels and on texts together"),
    ],
)
def test_a_wrong_rule_is_refused_in_words(expect, message):
    with pytest.raises(DataError, match=re.escape(message)):
        Suite("s").minimum(capability="c", expect=expect)(lambda: iter([case("x", label="1")]))


def test_patterns_agree_with_re_on_random_texts():
    sources = (
        r"\d+ days?", "(?i)hello|hi there", r"\bword\b", "a{2,4}b", "[^a-z]x", "(?s)a.b", "a.b", r"\Bo", "(a|b)+?c",
        "(?m)^abc$", "x*", "(?i)[A-C]{3}", r"[\d\s-]+d", r"\S\D\W", "(ab|a)(c|bcd)", "a?a?aa",
    )  # fmt: skip
    rng = random.Random(0)
    for source in sources:
        pattern = Pattern(source)
        for _ in range(150):
            text = "".join(rng.choice("abcdx 1\nABo-word") for _ in range(rng.randint(0, 12)))
            assert pattern.is_in(text) == bool(re.search(source, text)), (source, text)


def test_no_pattern_takes_long():
    for source in ("(a+)+$", "(.*a.*b.*c)+$", "^(a|aa)*$", "(a?){200}a{200}$"):
        assert not Pattern(source).is_in("a" * 3000 + "b")
    assert Pattern("((){99}){99999}").is_in("")


GUIDE = Path(__file__).parents[3] / "docs/how-to/write-a-suite.md"
YAML = GUIDE.read_text().split('```yaml title="clerk.yaml"\n')[1].partition("```")[0]


def clerk(question):
    city = next((city for city in ("Paris", "Rome") if city in question), "")
    return '{"item": "lamp", "n": 1}' if "JSON" in question else f"It is **{city.lower()}**." if city else "?"


def rates(result):
    return {row.groups["functionality"]: row.value for row in result.measures.by("functionality")}


def test_a_suite_of_texts_on_a_planted_endpoint_and_on_its_stored_answers(tmp_path, monkeypatch):
    pytest.importorskip("aiohttp")
    from fake_server import serving

    monkeypatch.chdir(tmp_path)
    (tmp_path / "clerk.yaml").write_text(YAML)
    with serving(rule=clerk) as server:
        server.finish = "length"
        asked = audit(
            "behaviour", f"openai:m?url={server.url}&prompt=reply-plain&again=0", suite="clerk.yaml"
        )
    assert rates(asked)["names_the_city"] == pytest.approx(2 / 3)
    assert rates(asked)["orders_are_json"] == 1.0
    assert "replies end at max_tokens" in asked.measures.where("suite score")[0].note
    suite = read_suite("clerk.yaml")
    lines = ["functionality,case_id,example_idx,reply"]
    for made in suite.cases:
        name, _, number = made.id.partition("/")
        for place, (text,) in enumerate(made.examples):
            reply = clerk(text).replace('"', '""')
            lines.append(f'{name},{number},{place},"{reply}"')
    (tmp_path / "replies.csv").write_text("\n".join(lines) + "\n")
    stored = audit("behaviour", "predictions:replies.csv?label=reply", suite="clerk.yaml")
    assert rates(stored) == rates(asked)
    write_suite(suite, "clerk.jsonl")
    assert rates(audit("behaviour", "predictions:replies.csv?label=reply", suite="clerk.jsonl")) == rates(
        asked
    )

    def shoal(*arguments):
        return CliRunner(env={"COLUMNS": "100"}).invoke(main, list(arguments))

    spec, suite_option = "predictions:replies.csv?label=reply", ("--suite", "clerk.yaml")
    assert 'expected a text with "Oslo", got ?' in shoal("show", spec, *suite_option, "--failing").output
    (tmp_path / "worse.csv").write_text("\n".join(lines).replace("rome", "?") + "\n")
    compared = shoal("compare", spec, "predictions:worse.csv?label=reply", *suite_option)
    assert "Newly failing in names_the_city: 1 of 3" in compared.output
    (tmp_path / "gate.toml").write_text(
        '[[rule]]\nmeasure = "pass rate"\nfunctionality = "orders_are_json"\nat_least = 0.9\n'
    )
    gated = shoal("gate", spec, *suite_option, "--rules", "gate.toml")
    assert gated.exit_code == 0, gated.output
    page = shoal("try", "behaviour", spec, *suite_option, "--html", "page.html")
    assert page.exit_code == 0 and "a text with" in (tmp_path / "page.html").read_text()


def test_a_function_gets_texts_and_returns_texts(tmp_path):
    (tmp_path / "clerk.yaml").write_text(YAML)
    result = audit("behaviour", lambda texts: [clerk(text) for text in texts], suite=tmp_path / "clerk.yaml")
    assert rates(result)["names_the_city"] == pytest.approx(2 / 3)


def test_the_same_suite_in_python_and_in_a_sheet_has_the_same_rules(tmp_path):
    suite = Suite("s")

    @suite.minimum(capability="facts", expect=["contains", {"max_words": "9"}])
    def capitals():
        yield case("Capital of France?", label="Paris")
        yield case("Capital of Italy?", label="Rome")

    (tmp_path / "s.csv").write_text(
        "functionality,capability,expect,label,case\n"
        "capitals,facts,contains,Paris,Capital of France?\n"
        "capitals,,max_words: 9,Rome,Capital of Italy?\n"
    )
    sheet = read_suite(tmp_path / "s.csv")
    assert [(made.examples, made.labels, made.meta) for made in sheet.cases] == [
        (made.examples, made.labels, made.meta) for made in suite.cases
    ]


# Refusals


def test_refusals_are_told_from_answers():
    refusals = (
        "I’m sorry, but I can’t help with that.",
        "Dabei kann ich nicht helfen.",
        "As an AI, I cannot assist you",
    )
    assert all(map(is_refusal, refusals))
    answers = (
        "I can't help but love it",
        "I cannot recommend this film: negative",
        "not offered",
        "x" * 300 + refusals[0],
    )
    assert not any(map(is_refusal, answers))
    assert parse("I cannot help with positive reviews.", ("negative", "positive")) is None
    assert parse("Positive. I cannot provide more.", ("negative", "positive")) == 1


def test_a_planted_share_of_refusals_is_reported_and_not_a_wrong_label():
    pytest.importorskip("aiohttp")
    from fake_server import serving
    from planted_endpoints import refusing

    with serving(rule=refusing("film"), logprobs=False) as server:
        spec = f"openai:m?url={server.url}&prompt=sentiment-plain&again=0"
        result = audit("behaviour", spec, suite="sentiment", limit=40)
    planted = [any("film" in text for (text,) in made.examples) for made in result.cases]
    (rate,) = result.measures.where("refusal rate")
    assert rate.value == pytest.approx(sum(planted) / 40) and 0 < rate.value < 1
    assert result.columns["refused"] == list(map(int, planted))
    assert all(outcome.error for outcome, refused in zip(result.outcomes, planted, strict=True) if refused)
    with serving(logprobs=False) as server:
        spec = f"openai:m?url={server.url}&prompt=sentiment-plain&again=0"
        never = audit("behaviour", spec, suite="sentiment", limit=20)
    assert never.measures.where("refusal rate")[0].value == 0.0
    assert "refuses" not in repr(never) and "refusal rate" not in {
        row.name for row in audit("behaviour", "predictions:example", suite="sentiment").measures
    }
