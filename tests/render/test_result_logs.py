"""Results as tables and as logs of other tools: every case is there, and `scores:` reads the same verdicts back."""

import csv
import hashlib
import json

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.runs.results import find_results

SUITE = [
    {"suite": "toy", "label_names": ["negative", "positive"]},
    *(
        {"functionality": "words", "capability": "vocabulary", "type": "MFT", "case_id": str(number),
         "examples": [{"text": text}], "labels": label}
        for number, (text, label) in enumerate([("=Good.", "positive"), ("Bad.", "negative"), ("Hm.", "not_positive")])
    ),
    *(
        {"functionality": "names", "capability": "fairness", "type": "INV", "case_id": str(number),
         "examples": [{"text": text}, {"text": f"{text} Bye."}],
         "expect": {"rule": "same_pred_or_conf_change_within_tol", "filter": "original conf >= 0.9"}}
        for number, text in enumerate(["Ann is good.", "Bob is bad."])
    ),
]  # fmt: skip
ANSWERS = {
    ("words", "0", 0): ("positive", 0.9), ("words", "1", 0): ("positive", 0.6), ("words", "2", 0): None,
    ("names", "0", 0): ("positive", 0.8), ("names", "0", 1): ("negative", 0.7),
    ("names", "1", 0): ("negative", 0.95), ("names", "1", 1): ("negative", 0.9),
}  # fmt: skip
VERDICTS = {"words/0": True, "words/1": False, "words/2": None, "names/0": False, "names/1": None}
"""The filter takes the second pair out, and the last word has no answer."""


def shoal(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def tried(tmp_path, monkeypatch):
    """A folder in which a result is `last`."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"functionality": name, "case_id": case, "example_idx": place}
        | ({"error": "timeout"} if answer is None else {"pred": answer[0], "conf": answer[1]})
        for (name, case, place), answer in ANSWERS.items()
    ]
    for name, lines in (("suite", SUITE), ("answers", rows)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = shoal("try", "behaviour", "predictions:answers.jsonl", "--suite", "suite.jsonl")
    assert done.exit_code == 0, done.output
    return tmp_path


def written(target, name):
    done = shoal("export", "last", "--to", target, "--out", name)
    assert done.exit_code == 0 and "5 cases, 1 without an answer" in done.output, done.output


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("csv", "t.csv"),
        ("parquet", "t.parquet"),
        ("lm-eval", "t.jsonl"),
        ("inspect", "t.json"),
        ("eee", "t.json"),
    ],
)
def test_a_result_goes_out_and_its_verdicts_come_back_as_scores(tried, target, name):
    if target == "parquet":
        pytest.importorskip("pyarrow")
    written(target, name)
    (back,) = find_results(
        [f"scores:{'t_samples.jsonl' if target == 'eee' else name}"], "behaviour", {}, tried / "runs"
    )
    verdicts = {outcome.case_id: outcome.passed for outcome in back.outcomes}
    known = {name: passed for name, passed in VERDICTS.items() if target != "eee" or name in verdicts}
    assert verdicts == known and len(verdicts) == (4 if target == "eee" else 5)


def test_a_table_of_a_result_has_texts_answers_and_probabilities(tried):
    written("csv", "t.csv")
    with (tried / "t.csv").open(newline="") as stream:
        first, second, third, fourth, _ = csv.DictReader(stream)
    assert (first["texts"], first["expected"], first["predicted"], first["probability"], first["passed"]) == (
        '["=Good."]', '["positive"]', '["positive"]', "[0.9]", "1"
    )  # fmt: skip
    assert (second["passed"], third["passed"], third["error"]) == ("0", "", "timeout")
    assert json.loads(fourth["predicted"]) == ["positive", "negative"]
    assert json.loads(fourth["probability"]) == [0.8, 0.7]


def test_an_every_eval_ever_record_has_the_fields_of_its_schema(tried):
    """The required fields and the enumerations of eval.schema.json and instance_level_eval.schema.json 0.2.2."""
    written("eee", "t.json")
    record, lines = json.loads((tried / "t.json").read_text()), (tried / "t_samples.jsonl").read_bytes()
    assert record.keys() == {
        *(
            "schema_version",
            "evaluation_id",
            "evaluation_timestamp",
            "retrieved_timestamp",
            "source_metadata",
        ),
        *("model_info", "eval_library", "evaluation_results", "detailed_evaluation_results"),
    }
    assert record["detailed_evaluation_results"]["checksum"] == hashlib.sha256(lines).hexdigest()
    samples = [json.loads(line) for line in lines.splitlines()]
    ids = {row["evaluation_result_id"] for row in record["evaluation_results"]}
    for sample in samples:
        assert sample["evaluation_id"] == record["evaluation_id"] and sample["evaluation_result_id"] in ids
        assert sample["interaction_type"] == "single_turn" and isinstance(
            sample["evaluation"]["is_correct"], bool
        )
        assert sample["metadata"].keys() >= {"case_id", "functionality", "capability", "test_type"}
    assert [row.get("error") for row in samples] == [None, None, "timeout", None]
    scores = {
        row["evaluation_result_id"]: row["score_details"]["score"] for row in record["evaluation_results"]
    }
    assert scores["pass rate"] == pytest.approx(1 / 3)


def test_wrong_targets_places_and_names_are_refused_with_a_remedy(tried):
    for arguments, message in (
        (("last", "--to", "eval"), "'eval' is not one of 'lm-eval'"),
        (("suite.jsonl", "--to", "eee"), "--to eee is for the result of a job; a suite: --to lm-eval"),
        (("last", "--to", "csv", "--out", "answers.jsonl"), "answers.jsonl: exists already"),
        (("last", "--to", "csv", "--suite", "sentiment"), "--set is for a protocol or a job"),
        (("predictions:answers.jsonl", "--to", "csv"), "then shoal export last --to csv"),
        (("bias", "--to", "csv"), "then shoal export last --to csv"),
        (("absent", "--to", "csv"), "--to csv is for the result of a job"),
        (("suite.jsonl", "--to", "inspect", "--verbatim"), "--verbatim is for the texts"),
        (("reading", "--to", "lm-eval"), "has no labels to choose from"),
        (("suite.jsonl",), "Missing option '--out'"),
        (("last", "--out", "page.html"), "a result needs --to: shoal export last --to csv"),
    ):
        done = shoal("export", *arguments)
        assert done.exit_code in (1, 2) and message in " ".join(done.output.split()), (arguments, done.output)
    assert sorted(path.name for path in tried.iterdir()) == [".shoal", "answers.jsonl", "suite.jsonl"]


def test_the_name_of_a_suite_means_the_suite_although_jobs_have_it_in_their_names(tried):
    for name in ("a-sentiment-11111111", "b-sentiment-22222222"):
        (tried / "runs" / "jobs" / name).mkdir(parents=True)
        (tried / "runs" / "jobs" / name / "job.json").touch()
    done = shoal("export", "sentiment", "--to", "lm-eval", "--out", "task")
    assert "task: a task of" in done.output, done.output
    done = shoal("export", "entiment-", "--to", "csv")
    assert "try: a longer part of the name, such as 11111111" in done.output, done.output
