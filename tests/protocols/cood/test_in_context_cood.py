"""COOD by demonstrations: planted endpoints that read the statement, the text or both are told apart."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("aiohttp", reason="needs shoal[llm]")

from fake_server import serving

from shoal import ShoalError
from shoal.cli import main
from shoal.models.prompted.prompt import read_prompt
from shoal.protocols import cood
from shoal.protocols.cood.recipe import demonstrating
from shoal.runs.settings import make_settings

ROLE = {"positive": "fst", "negative": "sec", "neutral": "neu"}
WORD = {"great": "fst", "terrible": "sec", "okay": "neu"}
TASK = """
task = "text"
user = "{{ text }}"
[labels]
consistent = "A"
inconsistent = "B"
"""


def cell_of(text: str) -> tuple[str, str]:
    words = text.split()
    return ROLE[words[0]], WORD[words[-1]]


def combines(y: str, t: str) -> bool:
    return y == t


def reads_the_text(y: str, t: str) -> bool:
    return y != "neu"


def reads_the_statement(y: str, t: str) -> bool:
    return t == "fst"


def obeying(rule):
    """Return what an endpoint says that learns the two words from its demonstrations, and says A if there are none."""

    def reads(turns: list[dict[str, str]]) -> str:
        said = {turn["content"] for turn in turns if turn["role"] == "assistant"}
        y, t = cell_of(turns[-1]["content"])
        return ("A" if rule(y, t) else "B") if said == {"A", "B"} else "A"

    return reads


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "kind"),
    [(combines, "combines"), (reads_the_text, "shortcut"), (reads_the_statement, "not solved")],
)
def test_planted_endpoints_are_told_apart_through_run(rule, kind, toy, tmp_path: Path):
    (tmp_path / "prompt.toml").write_text(TASK)
    with serving(logprobs=False) as server:
        server.reads = obeying(rule)
        plan = tmp_path / "plan.toml"
        plan.write_text(
            f'models = ["openai:m?url={server.url}&prompt=prompt.toml&mode=generate&again=0"]\nseeds = [0, 1]\n'
            f'[cood]\ndata = "{Path(toy()).name}"\nshots = [0, 2]\ntest_per_label = 7\n'
        )
        done = CliRunner().invoke(main, ["run", str(plan), "--into", str(tmp_path / "runs")])
        assert done.exit_code == 0, done.output
        bodies = server.bodies
    state = CliRunner().invoke(main, ["status", str(plan), "--into", str(tmp_path / "runs"), "--json"])
    found = {row["groups"]["K"]: row["kind"] for row in json.loads(state.stdout)["findings"]}
    assert found == {"0": "not solved", "2": kind}
    tested = {body["messages"][-1]["content"] for body in bodies}
    cells = [cell_of(text) for text in tested]
    assert len(tested) == 9 * 7 and all(cells.count(cell) == 7 for cell in cells)
    shown = [tuple(turn["content"] for turn in body["messages"][:-1:2]) for body in bodies]
    assert len(set(shown)) == 3  # none, and two choices by the seed
    for texts in filter(None, set(shown)):
        demonstrated = [cell_of(text) for text in texts]
        assert sorted(set(demonstrated)) == [("fst", "fst"), ("neu", "fst"), ("neu", "sec"), ("sec", "sec")]
        assert len(texts) == 4 * 2
        assert not {text.split(" It is")[0] for text in texts} & {text.split(" It is")[0] for text in tested}


@pytest.mark.parametrize(
    ("settings", "spec", "message"),
    [
        ({"shots": 2, "per_label": 5}, "", "per_label has no effect with shots"),
        ({"shots": 2}, "openai:m?url=http://127.0.0.1:1&prompt=sentiment-plain", "no word for 'consistent'"),
        (
            {},
            "openai:m?url=http://127.0.0.1:1&prompt=agreement-plain",
            "shots = \\[0, 4\\] for a prompted model",
        ),
    ],
)
def test_settings_that_contradict_demonstrations_are_errors(settings, spec, message, toy):
    given = {"data": toy(), "test_per_label": 12, **settings}
    with pytest.raises(ShoalError, match=message):
        (part,) = cood.parts(make_settings(cood.Settings, given, "test"))
        cood.replace_model(part, spec)
        cood.recipe(part, spec)


def test_a_control_demonstrates_all_nine_combinations(settings):
    part = settings(shots=(1,), control=("all cells",), per_label=(2000,), validation_per_label=250)
    prompt = demonstrating(part, read_prompt("agreement-brief"))
    assert len({cell_of(shot["text"]) for shot in prompt.shots}) == len(prompt.shots) == 9
