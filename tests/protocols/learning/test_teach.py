"""Teaching a prompted model by its prompt: a planted endpoint knows what its prompt says, and nothing else."""

import itertools
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_server import serving
from small_world import lines

from shoal.cli import main
from shoal.core.errors import PlanError
from shoal.protocols.learning import Settings, parts
from shoal.runs.settings import make_settings

pytest.importorskip("aiohttp", reason="needs shoal[llm]")

LABELS = ("negative", "positive")
TESTS = {"praise": ("words", 1), "thanks": ("words", 1), "insult": ("blame", 0), "lament": ("blame", 0)}
CASES = 12


def write_files(folder: Path, url: str, teach: list[str]) -> Path:
    rows = [
        {"suite": "toy", "label_names": list(LABELS)},
        *(
            {
                "functionality": name,
                "capability": capability,
                "type": "MFT",
                "labels": label,
                "case_id": number,
            }
            | {"examples": [{"text": f"{name} {number}"}]}
            for name, (capability, label) in TESTS.items()
            for number in range(CASES)
        ),
    ]
    (folder / "toy.jsonl").write_bytes(lines(rows))
    iid = [f"{word} {number}\t{label}" for number in range(10) for label, word in enumerate(("bad", "good"))]
    (folder / "test.tsv").write_text("\n".join(["sentence\tlabel", *iid]) + "\n")
    (folder / "prompt.toml").write_text(
        'task = "text"\nuser = "Label: {{ text }}"\n[labels]\nnegative = "negative"\npositive = "positive"\n'
    )
    plan = folder / "plan.toml"
    plan.write_text(
        f'models = ["openai:planted?url={url}&prompt=prompt.toml&again=0&mode=generate"]\n'
        '[learning]\nsuite = "toy.jsonl"\nprofile = "reference"\niid_test = "test.tsv"\n'
        f'iid_labels = ["negative", "positive"]\nteach = {json.dumps(teach)}\n'
        'hold_out = ["functionality", "capability"]\nresamples = 50\nshuffles = 50\n'
    )
    return plan


def obeys(turns: list[dict[str, str]]) -> str:
    """Label i.i.d. rows by their word, others by an instruction or a demonstration of their kind, else wrongly."""
    word = turns[-1]["content"].split()[1]
    if word in ("bad", "good"):
        return LABELS[word == "good"]
    system = next((turn["content"] for turn in turns if turn["role"] == "system"), "")
    if rule := re.search(f"^- {word} Answer: (.+)$", system, re.MULTILINE):
        return rule[1]
    for question, reply in itertools.pairwise(turns):
        if question["role"] == "user" and question["content"].split()[1] == word:
            return reply["content"]
    return LABELS[1 - TESTS[word][1]]


@pytest.mark.parametrize("how", ["instructions", "demonstrations", "both"])
def test_a_model_that_obeys_knows_what_it_is_taught_and_nothing_that_is_held_out(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        server.reads = obeys
        plan = write_files(tmp_path, server.url, ["nothing", how])
        done = CliRunner().invoke(main, ["run", str(plan), "--into", "runs"])
        assert done.exit_code == 0, done.output
        bodies = server.bodies
    found = scores(plan)
    assert found == {
        ("iid", "none"): 0.0,
        ("suite", "seen"): 1.0,
        ("suite", "functionality"): 0.0,
        ("suite", "capability"): 0.0,
    }
    assert_nothing_held_out_is_taught([body["messages"] for body in bodies], how)


def scores(plan: Path) -> dict[tuple[str, str], float]:
    done = CliRunner().invoke(main, ["status", str(plan), "--into", "runs", "--json"])
    assert done.exit_code == 0, done.output
    return {
        (row["groups"]["config"], row["groups"]["hold out"]): row["value"]
        for row in json.loads(done.stdout)["measures"]
        if row["name"] == "suite score" and "seed" not in row["groups"]
    }


def assert_nothing_held_out_is_taught(asked: list[list[dict[str, str]]], how: str) -> None:
    """Every question is asked after all of the suite, and after the suite without its functionality or capability."""
    kinds: dict[str, set[frozenset[str]]] = {}
    for turns in asked:
        word = turns[-1]["content"].split()[1]
        before = " ".join(turn["content"] for turn in turns[:-1])
        if word in TESTS:
            taught = frozenset(name for name in TESTS if re.search(rf"\b{name}\b", before))
            kinds.setdefault(word, set()).add(taught)
        elif before:
            assert all(re.search(rf"\b{name}\b", before) for name in TESTS), "i.i.d. rows: nothing, or all"
    everything = frozenset(TESTS)
    for word, (capability, _) in TESTS.items():
        siblings = {name for name, (other, _) in TESTS.items() if other == capability}
        assert kinds[word] == {frozenset(), everything, everything - {word}, everything - siblings}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"s_iid_mode": "mean_over_heldout"}, "teach excludes fold and s_iid_mode"),
        ({"iid_test": ""}, "needs i.i.d. data to test on"),
    ],
)
def test_settings_that_a_taught_model_cannot_have_are_refused(settings: dict[str, str], message: str):
    given = {"teach": "both", "iid_test": "test.tsv", **settings}
    with pytest.raises(PlanError, match=message):
        parts(make_settings(Settings, given, "test"))


def test_a_model_without_a_prompt_cannot_be_taught(tmp_path: Path):
    plan = write_files(tmp_path, "http://127.0.0.1:1/v1", ["nothing", "both"])
    plan.write_text(re.sub(r"models = .*", 'models = ["tiny:sentiment"]', plan.read_text()))
    done = CliRunner().invoke(main, ["check", str(plan)])
    assert done.exit_code == 1
    assert "teach needs a prompted model, tiny:sentiment has no prompt" in done.stderr
