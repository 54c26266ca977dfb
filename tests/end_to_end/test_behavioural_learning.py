"""Behavioural learning through the whole path, on an embedded model: what was planted is found, and nothing is lost."""

from itertools import product

import pytest

from shoal.core.records import Measures
from shoal.protocols.behaviour.suite import Suite, case
from shoal.protocols.behaviour.suite_files import write_suite
from shoal.runs.executors import run_here
from shoal.runs.plan import check_plan, make_plan
from shoal.runs.scoring import brief_result, compare_results, results_by_protocol
from shoal.runs.store import RunStore

THINGS = ["film", "meal", "flight", "hotel", "novel", "concert", "course", "garden"]
PRAISE = [
    "great",
    "lovely",
    "superb",
    "excellent",
    "brilliant",
    "good",
    "wonderful",
    "nice",
    "fine",
    "perfect",
]
BLAME = ["terrible", "awful", "miserable", "disappointing", "boring"]


def planted_suite(path):
    """Praise and blame; sarcasm, which i.i.d. data contradict; and two functionalities that differ by one word."""
    suite = Suite("planted", ("negative", "neutral", "positive"), task="sentiment")

    @suite.minimum(capability="words")
    def praise_is_positive():
        for thing, word in product(THINGS, PRAISE[:5]):
            yield case(f"What a {word} {thing} it was.", label="positive")

    @suite.minimum(capability="words")
    def blame_is_negative():
        for thing, word in product(THINGS, BLAME):
            yield case(f"What a {word} {thing} it was.", label="negative")

    @suite.minimum(capability="sarcasm")
    def sarcastic_praise_is_negative():
        for thing, word in product(THINGS, PRAISE):
            yield case(f"Oh yes, another {word} {thing}, as always.", label="negative")

    @suite.minimum(capability="contrast")
    def once_thought_is_negative():
        for thing, word in product(THINGS, PRAISE):
            yield case(f"They told me before: the {thing} was {word}.", label="negative")

    @suite.minimum(capability="contrast")
    def twice_thought_is_positive():
        for thing, word in product(THINGS, PRAISE):
            yield case(f"They told me before: this {thing} was {word}.", label="positive")

    write_suite(suite, path)
    return path


def plan_of(tmp_path, **settings):
    suite = tmp_path / "planted.jsonl"
    if not suite.exists():
        planted_suite(suite)
    return make_plan(
        {
            "models": ["tiny:sentiment"],
            "learning": {
                "suite": str(suite),
                "iid": "sentiment",
                "iid_limit": 320,
                "resamples": 200,
                "shuffles": 500,
                **settings,
            },
        }
    )


def run_whole(plan, folder):
    store, jobs = RunStore(folder), check_plan(plan)
    assert [problem for _, problem in run_here(jobs, store)] == [None] * len(jobs)
    return store, jobs


def rates(job, store):
    return {
        row.groups["functionality"]: row.value
        for row in brief_result(job, store).measures.by("functionality")
    }


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """The planted suite, trained on whole and without each functionality."""
    folder = tmp_path_factory.mktemp("learnt")
    plan = plan_of(
        folder,
        train={"on": ["iid", "iid>suite"], "epochs": 12},
        hold_out=["functionality", "capability"],
    )
    store, jobs = run_whole(plan, folder / "runs")
    return plan, store, jobs


def rates_when(learnt, scenario, functionality):
    """The pass rate of a functionality: standard, seen, or held out with or without its siblings."""
    _, store, jobs = learnt
    group = {
        "functionality": functionality,
        "capability": "contrast" if "thought" in functionality else "sarcasm",
    }
    (job,) = [
        job
        for job in jobs
        if job.settings.hold_out == (scenario,) and job.settings.fold in ("", group.get(scenario))
    ]
    return rates(job, store)[functionality]


def test_what_iid_data_contradict_is_learnt_when_seen_and_not_otherwise(learnt):
    assert rates_when(learnt, "none", "sarcastic_praise_is_negative") <= 0.2
    assert rates_when(learnt, "seen", "sarcastic_praise_is_negative") >= 0.9
    assert rates_when(learnt, "functionality", "sarcastic_praise_is_negative") <= 0.3


def test_contrastive_functionalities_transfer_negatively(learnt):
    held = "twice_thought_is_positive"
    assert rates_when(learnt, "none", held) >= 0.9
    assert rates_when(learnt, "seen", held) >= 0.9
    # Trained on its sibling, which looks alike and has the other label, the model unlearns it.
    assert rates_when(learnt, "functionality", held) <= rates_when(learnt, "capability", held) - 0.5


def test_the_table_says_so(learnt):
    plan, store, jobs = learnt
    measures = Measures(compare_results(plan, results_by_protocol(plan, jobs, store))["learning"].measures)

    def of(name, **groups):
        rows = measures.where(name, **groups)
        return {
            row.groups["hold out"]: row.value for row in rows if not {"seed", "estimand"} & set(row.groups)
        }

    suite, g = (of(name, config="iid>suite", method="vanilla") for name in ("suite score", "G"))
    assert suite["seen"] > 0.9 and suite["functionality"] < suite["capability"] < suite["seen"]
    assert g["functionality"] < g["capability"] < g["seen"] < suite["seen"]  # the i.i.d. score has suffered
    assert of("iid score", config="iid")["none"] > 0.9


# Interruptions


@pytest.mark.slow
def test_methods_at_their_defaults_keep_the_task_and_learn_the_suite(tmp_path):
    """Those that go by functionality: the i.i.d. score of plain training but for five points, and more of the suite.

    The i.i.d. score alone would not do: the embedded model knows the task before, and keeps it if it learns nothing.
    With BELUGA's penalty of 10⁴ IRM gets .64 of the i.i.d. rows right; with all environments in a step, or with both,
    .57 of the suite, where i.i.d. data alone have .61.
    """
    methods = ("vanilla", "irm", "group-dro", "fish")
    train = {"on": ["iid", "iid+suite"], "method": list(methods)}
    plan = plan_of(tmp_path, suite="sentiment", iid_limit=600, train=train, hold_out=["seen"])
    store, jobs = run_whole(plan, tmp_path / "runs")
    (_, *iid), (untaught, *suite) = (
        [brief_result(job, store).measures.where(name)[0].value or 0.0 for job in jobs]
        for name in ("iid score", "suite score")
    )
    assert [job.settings.train.method for job in jobs[1:]] == [(name,) for name in methods]
    for name, kept, learnt in zip(methods, iid, suite, strict=True):
        assert kept > iid[0] - 0.05 and learnt > untaught + 0.03, (name, kept, iid[0], learnt, untaught)
