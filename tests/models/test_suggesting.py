"""Words and cases that models suggest for a suite: the best first, kept apart in the file, never counted."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from fake_server import serving
from hypothesis import given
from hypothesis import strategies as st

from shoal import read_suite
from shoal.cli import main
from shoal.protocols.behaviour.suggesting import suggest_words, write_suggested
from shoal.protocols.behaviour.template_suites import waiting

SUITE = """\
suite: meals
labels: [negative, positive]

words:
  thing: [meal, film]   # what is judged
  praise: [good, lovely]
tests:
  praise_is_positive:
    label: positive
    templates: ["The {thing} was {praise}.", "It was {a:praise} {thing}."]
"""


def shoal(*arguments: object):
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, list(map(str, arguments)))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "meals.yaml").write_text(SUITE)
    return tmp_path / "meals.yaml"


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_model_suggests_the_words_that_fit_all_contexts_and_the_same_again(kind, suite, folders):
    words = suggest_words(suite, "praise", f"hf:{folders[kind]}", 5, 0, "ADJ")
    assert words and words == suggest_words(suite, "praise", f"hf:{folders[kind]}", 5, 0, "ADJ")
    assert set(words) <= {"bad", "awful", "great", "boring", "very"} - {"good", "lovely"}


def test_an_endpoint_writes_words_and_cases_and_none_is_counted(suite):
    before = [case.examples for case in read_suite(suite).cases]
    with serving(rule=lambda asked: '1. **soup**\n- meal\n• "tea"\n{x}\nsoup') as server:
        done = shoal(
            "suggest", suite, "--slot", "thing", "--model", f"openai:m?url={server.url}", "--seed", 7
        )
        assert done.exit_code == 0 and "soup, tea" in done.output, done.output
        assert "The ___ was" in server.bodies[0]["messages"][-1]["content"] and server.bodies[0]["seed"] == 7
    with serving(
        rule=lambda asked: "positive: Such fun!\nnegative: Bad.\npositive: The meal was good."
    ) as server:
        model = f"openai:m?url={server.url}"
        done = shoal("suggest", suite, "--cases", "praise_is_positive", "--model", model)
        assert done.exit_code == 0 and "1 cases" not in done.output and "Such fun!" in done.output, (
            done.output
        )
    suggested = yaml.safe_load(suite.read_text())["suggested"]
    case = {"text": "Such fun!", "label": "positive"}
    assert suggested == {"thing": ["soup", "tea"], "cases": {"praise_is_positive": [case]}}
    assert [case.examples for case in read_suite(suite).cases] == before
    note = "2 suggested words and 1 suggested case wait under `suggested`; not counted."
    assert waiting(str(suite)) == note
    for command in (("check", suite), ("try", "behaviour", "tiny:sentiment", "--suite", suite)):
        assert note in shoal(*command).output


@given(
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "suggested: {thing: [old]}\n", "suggested:\n  thing:\n  - old\n\n  # x\n  other: [kept]\n"]),
    st.sampled_from(["", "\n# the end\n", "\n\nversion: '1'\n", "# no line end"]),
)  # fmt: skip
def test_every_other_byte_of_the_file_stays(tmp_path_factory, newline, block, rest):
    path = tmp_path_factory.mktemp("kept") / "meals.yaml"
    path.write_bytes((SUITE + block + rest).replace("\n", newline).encode())
    write_suggested(path, {"thing": ["new", "no"]})
    content = path.read_bytes().decode()
    assert content.startswith(SUITE.replace("\n", newline))
    if block:
        assert content.endswith(rest.replace("\n", newline))
    suggested = yaml.load(content, yaml.BaseLoader)["suggested"]
    old = ["old"] if block else []  # earlier suggestions stay
    assert suggested == {"thing": [*old, "new", "no"]} | ({"other": ["kept"]} if "other" in block else {})
    assert content.replace("\r\n", "").count("\n") == (0 if newline == "\r\n" else content.count("\n"))
    write_suggested(path, {"thing": ["new", "no"]})
    assert path.read_bytes().decode() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slot", "thng"], 'try: "thing"'),
        (["--cases", "praise_is_positive"], "only an endpoint writes cases"),
        (["--slot", "thing", "--model", "tiny:masked"], "cannot suggest words"),
    ],
)
def test_wrong_input_says_what_to_do(suite, arguments, message):
    done = shoal("suggest", suite, *arguments, *([] if "--model" in arguments else ["--model", "example"]))
    assert done.exit_code and message in done.output, done.output
