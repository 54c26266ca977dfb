"""Every file of a finished store cut, flipped, emptied or removed: the run mends it or says what to do."""

import random
import shutil

import pytest
from small_world import HEADER, lines, suite_rows

from shoal import RunStore, read_plan
from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan
from shoal.runs.scoring import brief_result, compare_results, result_of, results_by_protocol

PLAN = """
models = ["predictions:example", "python:damaged_models:by_length"]
[behaviour]
suite = "sentiment"
limit = 50
"""
MODEL = """
def by_length(texts):
    return ["positive" if len(text) % 2 else "negative" for text in texts]
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    (folder / "damaged_models.py").write_text(MODEL)
    (folder / "plan.toml").write_text(PLAN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        jobs = check_plan(read_plan(folder / "plan.toml"))
        assert {problem for _, problem in run_here(jobs, RunStore(folder / "runs"))} == {None}
        yield folder, jobs, [result_of(job, RunStore(folder / "runs")).measures for job in jobs]


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def flipped(content: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(content))
    return content[:position] + bytes([content[position] ^ 0x41]) + content[position + 1 :]


def emptied(content: bytes, rng: random.Random) -> bytes:
    return b""


DAMAGES = {"cut": cut, "flipped": flipped, "emptied": emptied}


@pytest.mark.parametrize("damage", [*DAMAGES, "removed"])
def test_every_damaged_file_is_mended_or_named(finished, tmp_path, damage):
    folder, jobs, measures = finished
    rng = random.Random(damage)
    files = [
        path.relative_to(folder / "runs") for path in sorted((folder / "runs").rglob("*")) if path.is_file()
    ]
    for name in [file for file in files if file.parent.name != "locks"]:
        store = tmp_path / "store"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(folder / "runs", store)
        victim = store / name
        if damage == "removed":
            victim.unlink()
        else:
            victim.write_bytes(DAMAGES[damage](victim.read_bytes(), rng))
        ended = list(run_here(jobs, RunStore(store)))
        for (job, problem), expected in zip(ended, measures, strict=True):
            if problem is None:
                brief = brief_result(job, RunStore(store))
                assert brief.measures == expected
                assert len(list(brief.outcomes)) == len(list(brief.columns["said"])) == len(list(brief.cases))
            else:  # said in words that name the file and a way out
                assert "try:" in problem and "answers.jsonl" in problem and "Traceback" not in problem


# What trainings leave for each other

LEARNING = """
models = ["tiny:sentiment"]
seeds = [0, 1]
[learning]
suite = "suite.jsonl"
limit = 8
iid = "sentiment"
iid_limit = 30
resamples = 10
shuffles = 10
train = { on = ["iid", "iid>suite"], method = ["vanilla", "lp"], iid_epochs = 1, epochs = 1 }
"""


@pytest.mark.slow
def test_weights_and_features_that_are_damaged_are_made_again_and_a_limit_with_seeds_is_reported(tmp_path):
    """A flipped bit in kept weights is still a file of weights: only its digest tells."""
    pytest.importorskip("torch", reason="needs shoal[hf]")
    (tmp_path / "plan.toml").write_text(LEARNING)
    (tmp_path / "suite.jsonl").write_bytes(lines([HEADER, *suite_rows()]))
    plan = read_plan(tmp_path / "plan.toml")
    jobs, store = check_plan(plan), RunStore(tmp_path / "runs")
    assert {problem for _, problem in run_here(jobs, store)} == {None}
    assert compare_results(plan, results_by_protocol(plan, jobs, store))[
        "learning"
    ].measures  # one sample for both seeds
    expected = [brief_result(job, store).measures for job in jobs]
    shared = sorted(path for kind in ("checkpoints", "features") for path in (store.folder / kind).iterdir())
    assert {path.suffix for path in shared} == {".safetensors", ".npz", ".digest"}
    others = {path.relative_to(store.folder).parts[0] for path in store.folder.rglob("*") if path.is_file()}
    assert others == {"cases", "jobs", "locks", "checkpoints", "features"}  # no kind of file is left out here
    rng = random.Random(0)
    victims = [path for path in shared if path.suffix != ".digest"]
    kept = {path: path.read_bytes() for path in victims}
    for path in victims:
        path.write_bytes(flipped(kept[path], rng) if path.suffix == ".safetensors" else cut(kept[path], rng))
    shutil.rmtree(store.folder / "jobs")
    again = RunStore(tmp_path / "runs")
    assert {problem for _, problem in run_here(jobs, again)} == {None}
    assert [brief_result(job, again).measures for job in jobs] == expected
    assert {path: path.read_bytes() for path in victims} == kept
