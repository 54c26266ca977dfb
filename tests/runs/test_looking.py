"""Looking at kept jobs loads no model library, builds no data and scores nothing."""

import subprocess
import sys

import pytest

from shoal import RunStore, read_plan
from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan
from shoal.runs.scoring import compare_results, results_by_protocol

PLAN = """
models = ["tiny:sentiment"]
seeds = [0, 1]
[learning]
suite = "sentiment"
iid = "sentiment"
iid_limit = 32
limit = 60
train.on = ["iid"]
train.iid_epochs = 0.1
"""
VERBS = """
import sys
from contextlib import suppress
from shoal.cli import main
from shoal.data import grammar
from shoal.protocols import learning
from shoal.runs import scoring, store

def refuse(*arguments, **more):
    raise AssertionError("this was kept")

for owner, name in ((scoring, "result_of"), (learning, "compare"), (grammar, "make_rows"), (store.RunStore, "_build")):
    setattr(owner, name, refuse)
for verb in (line.split() for line in sys.stdin.read().splitlines()):
    with suppress(SystemExit):  # the gate is not met
        main([*verb, "--into", "runs"], standalone_mode=False)
    print(f"{verb[0]} loaded", *sorted({"torch", "transformers", "scipy.stats"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with a plan, both jobs of which are done and compared; their names."""
    folder = tmp_path_factory.mktemp("looking")
    (folder / "plan.toml").write_text(PLAN)
    (folder / "gate.toml").write_text("[[rule]]\nat_least = 0.0\n")
    store, plan = RunStore(folder / "runs"), read_plan(folder / "plan.toml")
    jobs = check_plan(plan)
    assert [problem for _, problem in run_here(jobs, store)] == [None, None]
    compare_results(plan, results_by_protocol(plan, jobs, store), store, keep=True)
    return folder, [job.id for job in jobs]


@pytest.mark.slow
def test_looking_at_kept_jobs_loads_no_model_and_scores_nothing(kept):
    folder, (a, b) = kept
    verbs = ["status plan.toml", f"show {a}", f"show {a} --failing", f"gate {a} --rules gate.toml"]
    verbs += [f"compare {a} {b}", f"report {a} --out a.html", "report plan.toml --out plan.html"]
    done = subprocess.run(
        [sys.executable, "-c", VERBS],
        input="\n".join(verbs),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = [line for line in done.stdout.splitlines() if " loaded" in line]
    assert loaded == [f"{verb.split()[0]} loaded" for verb in verbs]
