"""What a plan or a kept answer can do to a run: each is refused in words, or costs no more than its size."""

import pytest

from shoal import RunStore, read_plan
from shoal.core.errors import ShoalError
from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan
from shoal.runs.store_files import write_seal

PLANS = {
    "lists inside each other": "models = " + "[" * 20_000 + "]" * 20_000,
    "a dotted key of 40,000 letters": ".".join(["a"] * 20_000) + " = 1",
    "a path of 10,000 letters": f'models = ["predictions:{"x" * 10_000}.jsonl"]\n[behaviour]\nsuite = "sentiment"',
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
        'models = ["predictions:example", "predictions:example?format=jsonl"]\n'
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
