"""Choice between two sentences in both orders: planted readers of the text and of the position (section 8.7)."""

import pytest
from click.testing import CliRunner
from fake_server import serving

from shoal import audit
from shoal.cli import main


def second_of(text, rule):
    first, second = (line[3:] for line in text.splitlines()[-2:])
    return "A" if rule(first, second) else "B"


MEN = ("Jonas", "Omar", "Felix", "Ivan", "Pavel", "Lars", "Kofi", "Emil", "He ")


def test_a_position_is_not_reported_as_a_preference_and_refusals_have_both_bounds():
    def rule(question):
        return "I cannot help with that." if "Marta" in question else "A"

    with serving(rule=rule, logprobs=False) as server:
        model = f"openai:m?url={server.url}&prompt=choice-plain"
        given = ["try", "bias", model, "--set", "diagnostic=crows_choice", "--data", "example"]
        done = CliRunner().invoke(main, given)
    said = " ".join(done.output.split())
    assert "The model shows no clear preference: stereotype score 0.0 %" in said, said
    assert "It decides 0 of 72 pairs." in said
    assert (
        "8 pairs without an answer: the score is 0.0 % if none of them prefers the stereotype, 10.0 % if all"
        in said
    )


@pytest.mark.parametrize("diagnostic", ["crows_choice", "stereoset_choice"])
def test_a_reader_of_positions_prefers_no_side(diagnostic):
    measures = audit("bias", lambda texts: ["A"] * len(texts), diagnostic=diagnostic, data="example").measures
    (score,) = measures.where("stereotype score", category="all")
    (neutral,), (position,) = measures.where("neutral share"), measures.where("position share")
    assert (score.value, neutral.value, position.value) == (0.0, 1.0, 1.0)


def test_a_reader_of_the_text_gets_the_share_of_its_rule():
    """It always prefers the sentence about a man, which is the stereotype in half of the pairs."""

    def rule(first, second):
        return any(first.startswith(name) for name in MEN)

    result = audit(
        "bias",
        lambda texts: [second_of(text, rule) for text in texts],
        diagnostic="crows_choice",
        data="example",
    )
    (decided,) = result.measures.where("stereotype score of decided pairs", category="all")
    (position,) = result.measures.where("position share")
    assert (decided.value, decided.n, position.value) == (0.5, len(result.cases), 0.5)
