"""A suite's texts out, a model's answers back in: nothing changed on the way."""

import csv
import json

import pytest
from click.testing import CliRunner

from shoal import Suite, audit, case, write_suite
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.protocols.behaviour.suite_files import export_suite


def shoal(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def suite_of(*texts, task="sentiment") -> Suite:
    suite = Suite("toy", labels=("negative", "positive"), task=task)

    @suite.minimum(capability="vocabulary")
    def words():
        for text in texts:
            yield case(text, label="positive")

    @suite.invariance(capability="robustness")
    def changes():
        yield case(texts[0], texts[-1])

    return suite


AWKWARD = ['Good, "really".', "two\nlines", "carriage\rreturn", " spaces ", "ünïcode 😀", "bad"]


def answers(text: str) -> str:
    """What the model elsewhere says."""
    return "negative" if "bad" in text else "positive"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_suite_goes_out_and_its_answers_come_back(tmp_path, suffix):
    suite = suite_of(*AWKWARD)
    write_suite(suite, tmp_path / "suite.jsonl")
    out, back = tmp_path / f"cases{suffix}", tmp_path / f"answers{suffix}"
    done = shoal("export", tmp_path / "suite.jsonl", "--out", out)
    assert done.exit_code == 0 and "8 examples of 7 cases" in done.output, done.output
    if suffix == ".csv":
        with out.open(newline="") as stream, back.open("w", newline="") as answered:
            rows = list(csv.DictReader(stream))
            writer = csv.DictWriter(
                answered, ["functionality", "case_id", "example_idx", "label"], extrasaction="ignore"
            )
            writer.writeheader()
            writer.writerows({**row, "label": answers(row["text"])} for row in rows)
    else:
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        back.write_text("".join(json.dumps({**row, "pred": answers(row["text"])}) + "\n" for row in rows))
    assert [row["text"] for row in rows] == [*AWKWARD, AWKWARD[0], AWKWARD[-1]]
    result = audit("behaviour", f"predictions:{back}", suite=str(tmp_path / "suite.jsonl"))
    assert [outcome.passed for outcome in result.outcomes] == [True] * 5 + [False, False]


def test_texts_that_begin_like_formulas_are_neither_run_nor_changed(tmp_path):
    suite = suite_of("@ann Good.", "=1+1")
    with pytest.raises(
        DataError, match=r"4 cells begin as a formula does, the first is '@ann Good.'[\s\S]*verbatim"
    ):
        export_suite(suite, tmp_path / "c.csv")
    assert not (tmp_path / "c.csv").exists()
    assert export_suite(suite, tmp_path / "c.csv", verbatim=True) == 4
    with (tmp_path / "c.csv").open(newline="") as stream:
        assert [row["text"] for row in csv.DictReader(stream)][:2] == ["@ann Good.", "=1+1"]
    assert export_suite(suite, tmp_path / "c.jsonl") == 4
