"""What a plan or a kept answer can do to a run: each is refused in words, or costs no more than its size."""

import json
import sys
from dataclasses import replace

import pytest

from shoal import RunStore, Suite, case, read_plan
from shoal.cli import main
from shoal.core.errors import ShoalError
from shoal.protocols import learning
from shoal.protocols.behaviour.build import build
from shoal.protocols.behaviour.settings import Settings
from shoal.protocols.behaviour.suite_files import write_suite
from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan
from shoal.runs.store_files import write_seal

PLANS = {
    "lists inside each other": "models = " + "[" * 20_000 + "]" * 20_000,
    "tables inside each other": "models = " + "{a=" * 20_000 + "1" + "}" * 20_000,
    "a dotted key of 40,000 letters": ".".join(["a"] * 20_000) + " = 1",
    "a path of 10,000 letters": f'models = ["predictions:{"x" * 10_000}.jsonl"]\n[behaviour]\nsuite = "sentiment"',
    "a suite of 10,000 letters": f'models = ["predictions:example"]\n[behaviour]\nsuite = "{"x/" * 5_000}"',
    "a number of 5,000 digits": f'models = ["predictions:example"]\n[behaviour]\nlimit = {"9" * 5_000}',
}


@pytest.mark.parametrize("name", PLANS)
def test_a_monstrous_plan_is_refused_in_words(tmp_path, name):
    (tmp_path / "plan.toml").write_text(PLANS[name])
    with pytest.raises(ShoalError) as refused:
        check_plan(read_plan(tmp_path / "plan.toml"))
    assert len(str(refused.value)) < 2_000


def test_an_answer_that_is_missing_is_named_by_file_job_and_command_and_spares_the_others(tmp_path):
    """With the digest of what is left, so that nothing else tells."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'models = ["predictions:example", "predictions:example?contradictions=keep"]\n'
        '[behaviour]\nsuite = "sentiment"\n'
    )
    store, jobs = RunStore(tmp_path / "runs"), check_plan(read_plan(plan))
    assert {problem for _, problem in run_here(jobs, store)} == {None}
    answers = store.job_folder(jobs[0].id) / "answers.jsonl"
    lines = answers.read_bytes().splitlines(keepends=True)
    answers.write_bytes(b"".join(lines[:10] + lines[11:]))
    write_seal(answers, answers, errors=0)
    (store.job_folder(jobs[0].id) / "measures.json").unlink()
    (_, first), (_, second) = run_here(jobs, store)
    assert second is None and first is not None
    for words in (str(answers), jobs[0].id, f"1 of {len(lines):,} examples", "try: rm", "shoal run PLAN"):
        assert words in first


def test_a_limit_is_one_sample_for_all_seeds_of_a_plan_that_trains():
    settings = learning.Settings(limit=20, iid="sentiment")
    asked = [[made.id for made in learning.build(replace(settings, seed=seed)).cases] for seed in (0, 1, 2)]
    assert asked[0] == asked[1] == asked[2]
    as_it_is = [[made.id for made in build(Settings(limit=20, seed=seed)).cases] for seed in (0, 1)]
    assert as_it_is[0] != as_it_is[1]


def calls_of(*arguments: str) -> int:
    """How many functions a command calls: what it costs, whatever else this machine does."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        main([*arguments], standalone_mode=False)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["check", "try"])
def test_many_functionalities_cost_in_proportion(tmp_path, capsys, verb):
    costs = []
    for count in (100, 400):
        suite = Suite("many", labels=("no", "yes"))
        rows = []
        for number in range(count):

            def made(number: int = number):
                yield case(f"text {number} of many", label="yes")
                yield case(f"another text {number}", label="no")

            made.__name__ = f"functionality_{number}"
            suite.minimum(capability=f"capability {number % 10}")(made)
            rows += [{"functionality": made.__name__, "case_id": str(place), "pred": 1} for place in (1, 2)]
        path, answers = tmp_path / f"{count}.jsonl", tmp_path / f"{count}-answers.jsonl"
        write_suite(suite, path)
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
        more = ["behaviour", f"predictions:{answers}", "--set", f"suite={path}"]
        costs.append(calls_of("check", str(path)) if verb == "check" else calls_of("try", *more))
    assert costs[1] < 5 * costs[0], costs
