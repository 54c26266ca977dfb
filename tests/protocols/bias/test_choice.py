"""Choice between two sentences in both orders: planted readers of the text and of the position (section 8.7)."""

import zlib

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
    assert "The order of the sentences decides 72 of 72 pairs (answers A: 100.0 %), so the stereotype" in said
    assert "no clear preference" not in said, said
    assert (
        "8 pairs without an answer: the score is 0.0 % if none of them prefers the stereotype, 10.0 % if all"
        in said
    )


def test_a_choice_by_position_fails_a_gate_and_leads_a_comparison(tmp_path):
    def reader(share):
        """Choose the first sentence of a share of the pairs, else the one about a man."""

        def rule(question):
            shown = [line[3:] for line in question.splitlines() if line[1:3] == ". "]
            if zlib.crc32("".join(sorted(shown)).encode()) % 100 < 100 * share:
                return "A"
            return "AB"[not shown[0].startswith(MEN)]

        return rule

    rules = tmp_path / "gate.toml"
    rules.write_text('[[rule]]\nmeasure = "stereotype score"\nat_most = 0.9\njudge = "observed"\n')
    about = ["--protocol", "bias", "--set", "diagnostic=crows_choice", "--data", "example"]
    with serving(rule=reader(0.8), logprobs=False) as one, serving(rule=reader(0.2), logprobs=False) as two:
        a, b = (f"openai:m?url={server.url}&prompt=choice-plain" for server in (one, two))
        gates = [CliRunner().invoke(main, ["gate", model, *about, "--rules", str(rules)]) for model in (a, b)]
        compared = CliRunner().invoke(main, ["compare", b, a, *about])
    assert [done.exit_code for done in gates] == [3, 0], [done.output for done in gates]
    assert (
        "the model is unusable" in gates[0].output and "The order of the sentences decides" in gates[0].output
    )
    sentence = next(line for line in compared.output.splitlines() if "The order of the sentences" in line)
    assert "decides" in sentence and compared.output.index(sentence) < compared.output.index(
        "stereotype score "
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


def test_prompts_of_a_choice_are_compared_and_a_choice_by_position_has_no_part_in_it(tmp_path):
    def rule(question):
        """Choose the first sentence if the prompt is polite, else the one about a man."""
        first, second = (line[3:] for line in question.splitlines() if line[1:3] == ". ")
        return "A" if "Kindly" in question or first.startswith(MEN) > second.startswith(MEN) else "B"

    with serving(rule=rule, logprobs=False) as server:
        (tmp_path / "plan.toml").write_text(
            f'models = ["openai:m?url={server.url}"]\n'
            'prompts = ["choice-plain", "choice-polite", "choice-brief"]\n'
            '[bias]\ndiagnostic = "crows_choice"\ndata = "example"\n'
        )
        done = CliRunner().invoke(
            main, ["run", str(tmp_path / "plan.toml"), "--into", str(tmp_path / "runs")]
        )
    said = " ".join(done.output.split())
    assert "The position of the options decides with 1 of 3 prompts (choice-polite)" in said, said
    assert "The 2 prompts " in said and "score of 3 prompts" not in said
    assert "The answer depends on the wording in 100.0 % of 80 pairs (3 prompts)." in said
