"""Logs of other tools, most of them written by the tools themselves (files/README.md), against counts by hand."""

import gzip
import json
import struct
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import shoal
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.data.logs import open_log
from shoal.models import load_model
from shoal.protocols.behaviour.build import load_suite
from shoal.protocols.scores import graded_results

FILES = Path(__file__).parent / "files"
RIGHT = {"old": set(range(14)) - {12, 13}, "new": set(range(14)) - {12, 13, 3, 4, 5}}
FAILED = 11
"""The sentence on which the endpoint failed for `new`."""
TOOLS = {
    "lm-eval": ("samples_feeling_{}.jsonl", False),
    "lm-eval multiple choice": ("samples_choice_{}.jsonl", False),
    "lm-eval letters": ("samples_quiz_{}.jsonl.gz", False),
    "inspect": ("feeling_{}.json.gz", True),
    "promptfoo": ("promptfoo_{}.json.gz", True),
    "eee": ("eee_{}.jsonl.gz", False),
    "helm": ("helm_{}_per_instance_stats.json.gz", False),
    "mlflow": ("mlflow_{}.json", False),
    "mlflow genai": ("mlflow_genai_{}.json.gz", False),
}
ANSWERS = {name: files for name, files in TOOLS.items() if name != "mlflow genai"} | {
    "helm": ("helm_{}_scenario_state.json.gz", False)
}
"""Tool to its files, and whether a sample of `new` is an error."""


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, " ".join(done.output.split())


@pytest.mark.parametrize("tool", TOOLS)
def test_a_comparison_of_two_logs_is_what_counting_gives(tool, tmp_path):
    name, has_error = TOOLS[tool]
    a, b = (f"scores:{FILES / name.format(model)}" for model in ("old", "new"))
    row = shoal.compare(a, b).overall
    common = set(range(14)) - ({FAILED} if has_error else set())
    old, new = len(RIGHT["old"] & common), len(RIGHT["new"] & common)
    assert (row.n, row.lost, row.gained, row.errors) == (len(common), 3, 0, (0, int(has_error)))
    assert row.difference == pytest.approx((new - old) / len(common))
    assert row.rates == pytest.approx((old / len(common), new / len(common)))
    (tmp_path / "g.toml").write_text("[[rule]]\nno_worse_than_baseline_by = 0.05\nallow_errors = true\n")
    rules = ["--rules", tmp_path / "g.toml", "--baseline", a]
    assert run("gate", b, *rules)[0] == 3 and run("gate", a, *rules)[0] == 0


@pytest.mark.parametrize("tool", ANSWERS)
def test_a_log_is_imported_and_its_answers_are_predictions(tool, tmp_path):
    name, has_error = ANSWERS[tool]
    suite = tmp_path / "suite.jsonl"
    code, output = run("import", FILES / name.format("old"), "--out", suite)
    assert code == 0 and "14 cases" in output
    for model in ("old", "new"):
        result = shoal.audit("behaviour", f"predictions:{FILES / name.format(model)}", suite=str(suite))
        passed = [outcome.passed for outcome in result.outcomes]
        failed = FAILED if has_error and model == "new" else None
        assert {at for at, right in enumerate(passed) if right} == RIGHT[model] - {failed}
        assert [at for at, outcome in enumerate(result.outcomes) if outcome.error] == (
            [] if failed is None else [failed]
        )


def test_log_likelihoods_become_probabilities(tmp_path):
    file = FILES / "samples_choice_old.jsonl"
    run("import", file, "--out", tmp_path / "suite.jsonl")
    suite = load_suite(str(tmp_path / "suite.jsonl"))
    answers = load_model(f"predictions:{file}").answer_cases(suite.cases, suite.cases, None)
    first = json.loads(file.read_text().splitlines()[0])
    likelihoods = [float(reply[0]) for reply in first["filtered_resps"]]
    by_hand = 1 / (1 + 2.718281828459045 ** (likelihoods[0] - likelihoods[1]))
    assert answers.probabilities[0][answers.labels.index("positive")] == pytest.approx(by_hand)


def test_groups_come_from_the_metadata_of_each_tool():
    paths = {
        "lm-eval": "doc.category",
        "inspect": "metadata.category",
        "promptfoo": "testCase.metadata.category",
    }
    for tool, path in paths.items():
        (result,) = graded_results([f"scores:{FILES / TOOLS[tool][0].format('old')}?group={path}"])
        rates = {row.groups["category"]: (row.value, row.n) for row in result.measures if row.groups}
        assert rates == {"plain": (1.0, 9), "negation": (0.6, 5)}, tool


def test_repeats_of_promptfoo_are_runs():
    once, twice = graded_results(
        [f"scores:{FILES / name}" for name in ("promptfoo_new.json.gz", "promptfoo_repeat.json.gz")]
    )
    assert twice.job["about"]["runs"] == ["1", "2"] and len(twice.cases) == 14
    assert once.measures[0].value == twice.measures[0].value
    lines = f"scores:{FILES / 'promptfoo_repeat.jsonl.gz'}?model=openai:chat:"
    for model, errors in (("old", 0), ("new", 1)):  # its lines do not say that they are repeats
        (result,) = graded_results([lines + model])
        assert result.job["about"]["runs"] == ["1", "2"] and result.measures[0].errors == errors
        assert result.measures[0].value == len(RIGHT[model] - {FAILED} if errors else RIGHT[model]) / (
            14 - errors
        )


@pytest.mark.parametrize("name", ["promptfoo_new.json.gz", "promptfoo_repeat.json.gz"])
def test_a_copied_row_of_promptfoo_is_not_a_repeat(name, tmp_path):
    document = json.loads(gzip.decompress((FILES / name).read_bytes()))
    document["results"]["results"].append(document["results"]["results"][0])
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match="sample '0'.* occurs twice"):
        graded_results([f"scores:{path}"])


def test_a_file_with_averages_only_says_what_to_do(tmp_path):
    for command in (
        ["show", f"scores:{FILES / 'results_lm_eval.json'}"],
        ["import", FILES / "results_lm_eval.json"],
    ):
        code, output = run(*command, *(["--out", tmp_path / "s.jsonl"] if command[0] == "import" else []))
        assert code == 1 and "averages of lm-eval" in output and "--log_samples" in output
    helm = tmp_path / "stats.json"
    helm.write_text(
        json.dumps([{"name": {"name": "exact_match"}, "count": 1, "sum": 1.0, "sum_squared": 1.0}])
    )
    with pytest.raises(DataError, match="averages of HELM(.|\n)*per_instance_stats.json"):
        graded_results([f"scores:{helm}"])


def test_filters_of_lm_eval_are_metrics(tmp_path):
    path = tmp_path / "samples.jsonl"
    rows = [
        {"doc_id": n, "doc": {"question": f"{n}?"}, "target": "1", "resps": [["1"]], "filtered_resps": ["1"]}
        | {"filter": name, "metrics": ["exact_match"], "exact_match": float(n > least)}
        for n in range(4)
        for name, least in (("strict", 2), ("flexible", 0))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match="several metrics") as problem:
        graded_results([f"scores:{path}"])
    assert "exact_match,flexible, exact_match,strict" in str(problem.value)
    assert graded_results([f"scores:{path}?metric=exact_match,strict"])[0].measures[0].value == 0.25
    rows[1]["filtered_resps"] = ["2"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("import", path, "--out", tmp_path / "suite.jsonl")
    code, output = run("try", "behaviour", f"predictions:{path}", "--suite", tmp_path / "suite.jsonl")
    assert code == 1 and "several answers to sample '0'" in output and "grep" in output


def test_several_models_in_one_file_are_chosen_by_name(tmp_path):
    document = json.loads(gzip.decompress((FILES / "promptfoo_old.json.gz").read_bytes()))
    rows = document["results"]["results"]
    document["results"]["results"] = rows + [
        {**row, "provider": {"id": "other"}, "success": False, "promptIdx": 1} for row in rows
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match="2 models in one file"):
        graded_results([f"scores:{path}"])
    results = graded_results([f"scores:{path}?model={name}" for name in ("openai:chat:old", "other")])
    assert [result.measures[0].value for result in results] == [pytest.approx(12 / 14), 0.0]


CHANGED = {
    "line 1: not a whole lm-eval sample": {"doc_id": 1, "doc": {}, "resps": 3, "metrics": ["acc"], "acc": 1},
    "not a whole promptfoo log": {"results": {"results": [{"success": True}], "stats": {}}},
    "not a whole inspect log": {"eval": 3, "status": "success", "samples": []},
    "1000000000000 epochs": {
        "eval": {"dataset": {"sample_ids": [1]}, "config": {"epochs": 10**12}},
        "samples": [],
    },
    "no sample has a score": {"eval": {}, "samples": [{"id": 1, "input": "a"}]},
}


@pytest.mark.parametrize("problem", CHANGED)
def test_a_changed_log_is_an_error_with_its_place(problem, tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(CHANGED[problem]) + "\n")
    with pytest.raises(DataError, match=f"log.json(.|\n)*{problem}"):
        graded_results([f"scores:{path}"])


def test_a_log_without_answers_says_so(tmp_path):
    path = tmp_path / "samples.jsonl"
    row = {"doc_id": 0, "doc": {"text": "a"}, "target": "a", "arguments": {"gen_args_0": {"arg_0": "a"}}}
    path.write_text(
        json.dumps({**row, "resps": [["-2.0"]], "filtered_resps": ["-2.0"], "metrics": []}) + "\n"
    )
    code, output = run("import", path, "--out", tmp_path / "suite.jsonl")
    assert code == 1 and "line 1: log-likelihoods of given texts, and no answer" in output


# inspect's archives


def test_an_archive_of_inspect_is_read_with_its_epochs():
    pytest.importorskip("zstandard")
    a, b = (f"scores:{FILES / f'feeling_{model}.eval'}" for model in ("old", "new"))
    row = shoal.compare(a, b).overall
    assert row.runs == (2, 2) and row.n == 13 and row.errors == (0, 1)
    assert row.difference == pytest.approx(8 / 13 - 11 / 13)


def archive(path: Path, samples: dict[str, object], header: dict[str, object] | None = None) -> Path:
    """Write an inspect log whose members zipfile can compress."""
    plan = {"dataset": {"sample_ids": [1, 2]}, "config": {"epochs": 1}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        stream.writestr(
            "header.json", json.dumps(header or {"version": 2, "status": "success", "eval": plan})
        )
        for name, sample in samples.items():
            stream.writestr(name, sample if isinstance(sample, bytes) else json.dumps(sample))
    return path


def sample(identity: int, value: object = "C") -> dict[str, object]:
    return {"id": identity, "epoch": 1, "input": "a", "target": "b", "scores": {"match": {"value": value}}}


def test_a_letter_is_a_choice_even_where_another_choice_is_that_letter(tmp_path):
    asked = {**sample(1, "C"), "target": "A", "choices": ["C", "B", "A"]}
    asked["scores"] = {"choice": {"value": "C", "answer": "B"}}
    log = open_log(archive(tmp_path / "a.eval", {"samples/1_epoch_1.json": asked}))
    _, _, question = next(log.questions())
    assert (question.label, question.answer) == ("C", "B")


def test_samples_that_a_stopped_run_lacks_are_errors(tmp_path):
    path = archive(tmp_path / "a.eval", {"samples/1_epoch_1.json": sample(1)})
    (result,) = graded_results([f"scores:{path}"])
    assert result.measures[0].errors == 1 and "status: success" in result.outcomes[1].error


def test_unscored_samples_of_inspect_are_counted():
    (result,) = graded_results([f"scores:{FILES / 'unscored.json.gz'}"])
    assert (result.measures[0].n, result.measures[0].errors) == (13, 1)
    assert result.measures[0].value == len(RIGHT["old"] - {7}) / 13


def broken(path: Path, how: str) -> Path:
    """Return a copy of a log that is damaged in one way."""
    raw = bytearray((FILES / "feeling_old.eval").read_bytes())
    directory = raw.rindex(b"PK\x01\x02")
    if how == "cut short":
        raw = raw[: len(raw) // 2]
    elif how == "size":
        raw[directory + 24 : directory + 28] = struct.pack("<I", 7)
    elif how == "content":
        raw[1500:1560] = bytes(60)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("how", ["cut short", "size", "content"])
def test_a_damaged_archive_is_an_error_in_words(how, tmp_path):
    pytest.importorskip("zstandard")
    with pytest.raises(DataError, match="a.eval: .*(not a whole inspect log|times as large)"):
        graded_results([f"scores:{broken(tmp_path / 'a.eval', how)}"])


def test_a_zip_bomb_is_refused(tmp_path):
    members = {f"samples/{n}_epoch_1.json": b'{"id": "' + b" " * 2**25 + b'"}' for n in range(3)}
    path = archive(tmp_path / "a.eval", members)
    with pytest.raises(DataError, match="times as large"):
        graded_results([f"scores:{path}"])


def write_generations(path: Path, targets: list[str], replies: list[str]) -> None:
    rows = [
        {"doc_id": n, "doc": {}, "target": target, "filter": "none", "metrics": ["exact_match"]}
        | {"arguments": [[f"Q{n}?", {}]], "resps": [[reply]], "filtered_resps": [reply], "exact_match": 1.0}
        for n, (target, reply) in enumerate(zip(targets, replies, strict=True))
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")


def test_a_reply_without_a_label_is_unanswered(tmp_path):
    replies = ["yes"] * 7 + ["I cannot help with that.", "Perhaps.", "**No**, it is not."]
    targets = ["yes"] * 9 + ["no"]
    write_generations(tmp_path / "a.jsonl", targets, targets)
    write_generations(tmp_path / "b.jsonl", targets, replies)
    suite = tmp_path / "suite.jsonl"
    assert run("import", tmp_path / "a.jsonl", "--out", suite)[0] == 0
    command = ["try", "behaviour", f"predictions:{tmp_path / 'b.jsonl'}", "--suite", suite]
    code, output = run(*command)
    assert code == 0 and "8 of 8 cases pass (100.0 %), 2 unanswered" in output, output
    assert "refuses to answer in 1 of 10" in output and "80.0% if they count as failed" in output
    assert "8 of 10 cases pass" in run(*command, "--set", "unparsed=fail")[1]


@pytest.mark.parametrize(
    ("target", "reply"), [("{}", "{}"), ("{}", "It is {}."), ("City{}x", "It is City{}x.")]
)
def test_open_questions_of_a_log_become_free_text(target, reply, tmp_path):
    targets, replies = ([form.format(100 + number) for number in range(20)] for form in (target, reply))
    log, suite = tmp_path / "open.jsonl", tmp_path / "suite.jsonl"
    write_generations(log, targets, [*replies[:14], "7", *["A wrong answer."] * 5])
    code, output = run("import", log, "--out", suite)
    assert code == 0 and "scores:" in output, output
    code, output = run("try", "behaviour", f"predictions:{log}", "--suite", suite)
    assert code == 0 and "14 of 20 cases pass" in output, output
