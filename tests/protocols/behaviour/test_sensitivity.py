"""What answers of prompted models depend on besides the text, found where it was planted."""

import pytest

pytest.importorskip("aiohttp", reason="needs shoal[llm]")

from fake_server import serving
from planted_endpoints import ASK, PLEASE, PROMPT, first_listed, is_planted, swayed

from shoal.comparing.gate import judge_by_prompt
from shoal.comparing.pairs import compare as sides
from shoal.comparing.rules import Rule
from shoal.comparing.wording import caveats
from shoal.core.errors import DataError, ModelError, PlanError
from shoal.models.prompted.prompt import make_prompt, read_prompt
from shoal.protocols.behaviour import compare
from shoal.runs.execute import execute
from shoal.runs.plan import make_plan
from shoal.runs.store import MemoryStore

ONE_IN = 4


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, ask in (("a.toml", ASK), ("b.toml", PLEASE), ("c.toml", "Say")):
        (tmp_path / name).write_text(PROMPT.format(ask=ask))
    return tmp_path


def audited(server, limit=24, **axes):
    spec = f"openai:m?url={server.url}&again=0"
    plan = make_plan({"models": [spec], **axes, "behaviour": {"suite": "sentiment", "limit": limit}})
    with MemoryStore() as store:
        return plan, [execute(job, store) for job in plan.jobs()]


def test_the_planted_share_of_answers_changes_with_the_wording(folder):
    with serving(rule=swayed(ONE_IN), logprobs=False) as server:
        plan, results = audited(server, prompts=["a.toml", "b.toml", "c.toml"])
    rows = {
        row.name: row for row in compare(plan.tables["behaviour"], results).measures if "family" in row.groups
    }
    planted = [any(is_planted(text, ONE_IN) for (text,) in case.examples) for case in results[0].cases]
    changed = rows["changed answers"]
    assert (changed.value, changed.groups) == (sum(planted) / 24, {"family": "openai:m", "factor": "prompt"})
    assert 0 < changed.interval[0] < changed.value < changed.interval[1] < 1
    scores = [result.measures.where("suite score")[0].value for result in results]
    assert (rows["sd over runs"].facts["low"], rows["sd over runs"].facts["high"]) == (
        min(scores),
        max(scores),
    )


def test_a_model_that_takes_the_first_label_is_found_by_the_orders(folder):
    with serving(rule=lambda question: first_listed(question), logprobs=False) as server:
        plan, results = audited(server, 20, prompts=["a.toml"], orders=[0, 1, 2])
    measures = compare(plan.tables["behaviour"], results).measures
    shares = {row.groups["position"]: row.value for row in measures if row.name == "position share"}
    assert shares == {"1": 1.0, "2": 0.0, "3": 0.0}
    (changed,) = [row for row in measures if row.name == "changed answers"]
    assert changed.value == 1.0 and changed.groups["factor"] == "order"
    labels = {row.groups["label"]: row.value for row in measures if row.name == "label share"}
    assert labels == pytest.approx(dict.fromkeys(labels, 1 / 3))


def test_the_same_prompts_on_both_sides_are_paired(folder):
    with serving(rule=swayed(ONE_IN), logprobs=False) as one, serving(logprobs=False) as two:
        _, a = audited(one, 20, prompts=["a.toml", "b.toml"])
        _, b = audited(two, 20, prompts=["b.toml", "a.toml"])
    comparison = sides(a, b)
    row = comparison.overall
    assert row.test.startswith("sign flips of ") and row.test.endswith(" cases") and not row.by_run
    assert "Paired by prompt: the mean over 2 prompts of each case." in caveats(comparison)
    rules = [Rule(measure="pass rate", no_worse_than_baseline_by=0.0)]
    verdicts = judge_by_prompt(rules, b, a)
    assert [verdict.name for verdict in verdicts] == ["pass rate, b.toml", "pass rate, a.toml"]
    assert verdicts[1].measure.value == 0.0 and verdicts[0].measure.value == pytest.approx(2 * row.difference)
    with pytest.raises(PlanError, match="do not belong together"):
        judge_by_prompt(rules, b, a[:1])
    with pytest.raises(DataError, match="not asked with the same prompts"):
        sides(a, [b[0], b[0]])


def test_an_order_needs_a_list_of_words():
    assert (
        read_prompt("sentiment-plain")
        .with_order(1)
        .messages(("x",))[0]["content"]
        .count("neutral, positive or negative")
    )
    with pytest.raises(ModelError, match="gives each a place of its own"):
        read_prompt("sentiment-letters").with_order(1)
    placed = make_prompt(
        {"task": "text", "user": "{{ text }} {{ labels[0] }}: bad?", "labels": {"n": "no", "p": "yes"}},
        "mine",
    )
    with pytest.raises(ModelError, match="gives each a place of its own"):
        placed.with_order(1)
    with pytest.raises(ModelError, match="it has 3 labels"):
        read_prompt("sentiment-plain").with_order(3)
