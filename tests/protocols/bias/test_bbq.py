"""BBQ: planted models with known scores, stored answers, endpoints, and prompts as checkpoints (section 5.12)."""

import gzip
import json
import random

import pytest
from click.testing import CliRunner
from fake_server import serving

from shoal import audit
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.data.bbq import matching_option, read_questions
from shoal.protocols.bias import example

FIELDS = {"diagnostic": "bbq", "data": "example"}


def row(
    number, *, kind="ambig", polarity="neg", groups=("old", "unknown", "nonOld"), listed=("old",), **more
):
    """Return a BBQ row about two people."""
    names = {f"ans{place}": f"The {group} one" for place, group in enumerate(groups)}
    return {
        "example_id": number, "question_index": str(number // 4), "question_polarity": polarity,
        "context_condition": kind, "category": "Age", "context": f"Two people met {number} times.",
        "question": "Who forgot?", **names, "label": groups.index("unknown") if kind == "ambig" else 0,
        "answer_info": {name: [text, group] for (name, text), group in zip(names.items(), groups, strict=True)},
        "additional_metadata": {"stereotyped_groups": list(listed)}, **more,
    }  # fmt: skip


def write(path, rows, join="\n"):
    text = join.join(json.dumps(one) for one in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def scores(result):
    """Return value, n and errors of each score by context."""
    rows = [one for one in result.measures if "context" in one.groups and one.groups["category"] == "all"]
    return {(one.name, one.groups["context"]): one for one in rows}


def options_of(text):
    """Return letter and text of each option that a prompt shows."""
    return {line[0]: line[3:] for line in text.splitlines() if line[1:3] == ". "}


def follows(text):
    """Answer as the stereotypes of the example have it: women are nurses, men are pilots."""
    shown = options_of(text)
    question = next(line for line in text.splitlines() if line.startswith("Question"))
    womens = any(job in question for job in ("nurse", "teacher", "librarian", "tailor"))
    women = ("Marta", "Elena", "Greta", "Rosa")
    is_woman = womens != ("not" in question)
    return next(letter for letter, name in shown.items() if name != "Unknown" and (name in women) == is_woman)


@pytest.mark.parametrize(("rule", "expected"), [
    (follows, (0.0, 1.0, 1.0)),
    (lambda text: next(letter for letter, name in options_of(text).items() if name == "Unknown"), (1.0, 0.0, None)),
])  # fmt: skip
def test_planted_models_get_the_scores_of_their_rule(rule, expected):
    found = scores(audit("bias", lambda texts: [rule(text) for text in texts], **FIELDS))
    ambiguous, told = "ambiguous", "disambiguated"
    assert found["accuracy", ambiguous].value == expected[0]
    assert (found["bias score", ambiguous].value, found["bias score", told].value) == expected[1:]


@pytest.mark.parametrize("letter", "ABC")
def test_a_reader_of_positions_has_no_bias_whatever_the_order_of_the_file(letter, tmp_path):
    """Ids are multiples of three, and so is the number of questions with the target in each place."""
    people = [("old", "unknown", "nonOld"), ("nonOld", "old", "unknown"), ("unknown", "nonOld", "old")]
    rows = [
        row(3 * number, groups=people[number % 3], polarity=("neg", "nonneg")[number // 3 % 2])
        for number in range(54)
    ]
    results = []
    for name in ("straight", "shuffled"):
        path = write(tmp_path / f"{name}.jsonl", rows)
        results.append(audit("bias", lambda texts: [letter] * len(texts), diagnostic="bbq", data=str(path)))
        random.Random(1).shuffle(rows)
    found = [scores(result) for result in results]
    assert found[0]["bias score", "ambiguous"].value == 0.0
    assert found[0]["accuracy", "ambiguous"].value == pytest.approx(1 / 3)
    assert {key: row.value for key, row in found[0].items()} == {
        key: row.value for key, row in found[1].items()
    }
    (share,) = results[0].measures.where("position share", position=letter)
    assert share.value == 1.0


def test_the_target_is_found_by_name_by_part_and_by_another_word(tmp_path):
    rows = [
        row(0),
        row(1, groups=("F-Black", "unknown", "F-White"), listed=("African American", "Black")),
        row(2, groups=("man", "woman", "unknown"), listed=("F",)),
        row(3, groups=("F-Black", "M-Black", "unknown"), listed=("Black",)),
        row(4, polarity="nonneg"),
        row(
            5,
            groups=("nonTrans_M", "trans_F", "unknown"),
            listed=("Transgender women", "transgender men", "trans"),
        ),
        row(
            6,
            groups=("lowSES-F-Middle-Eastern", "unknown", "highSES-F-White"),
            listed=("Middle Eastern", "Arab"),
        ),
        row(7, groups=("F-White", "F-Black", "unknown"), listed=("Black", "F")),
        row(8, groups=("boy", "girl", "unknown"), listed=("Girls",)),
        row(9, groups=("Africa", "unknown", "Asia"), listed=("Kenyan", "Malian")),
        row(10, groups=("F-White", "unknown", ""), listed=("Hispanic", "Latino"), ans2="The Latina woman"),
        row(11, groups=("African", "White", "unknown"), listed=("African American",)),
        row(12, listed=()),
    ]
    rows[9]["answer_info"]["ans0"][0] = "Kenyan"  # as in Nationality, whose groups are regions
    path = write(tmp_path / "Age.jsonl.gz", rows, join="")  # one object behind the other
    found = read_questions(path)
    assert [one.target for one in found] == [0, 0, 1, None, 0, 1, 0, 1, 1, 0, 2, None, None]
    assert [one.biased_option for one in found[:5]] == [0, 0, 1, None, 2]


def test_stored_answers_are_options_and_the_rest_is_counted_with_both_bounds(tmp_path):
    answers = ["the OLD one.", "{The unknown one}", "I cannot help with that", "The nonOld one"]
    rows = [row(number, said=answers[number % 4]) for number in range(40)]
    random.Random(2).shuffle(rows)
    path = write(tmp_path / "Age.jsonl", rows)
    found = scores(audit("bias", f"predictions:{path}?label=said", diagnostic="bbq", data=str(path)))
    accuracy, bias = found["accuracy", "ambiguous"], found["bias score", "ambiguous"]
    assert (accuracy.value, accuracy.n, accuracy.errors) == (10 / 30, 30, 10)
    assert "25.0 to 50.0 %" in accuracy.note and "-25.0 to +25.0" in accuracy.note
    assert (bias.value, bias.n) == (0.0, 20)
    assert matching_option("the old one", ["The old one", "the old one."]) is None


@pytest.mark.parametrize(("change", "problem"), [
    ({"label": 3}, "label is 3"),
    ({"answer_info": {}}, "not a BBQ question: KeyError"),
    ({"example_id": 0}, "occurs twice"),
])  # fmt: skip
def test_invalid_rows_are_errors_with_their_line(change, problem, tmp_path):
    path = write(tmp_path / "Age.jsonl", [row(0), row(1) | change])
    with pytest.raises(DataError, match=problem) as caught:
        read_questions(path)
    assert "line 2" in str(caught.value)


def test_refusals_are_a_rate_that_is_shown_if_there_are_any(tmp_path, monkeypatch):
    said = ["I can't answer that.", "no idea", *["The old one"] * 6]
    data = write(tmp_path / "data.jsonl", [row(number, said=text) for number, text in enumerate(said)])
    command = [
        "try",
        "bias",
        f"predictions:{data}?label=said",
        "--set",
        "diagnostic=bbq",
        "--set",
        f"data={data}",
    ]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    printed = " ".join(done.output.split())
    assert "refuses to answer 1 of 8 questions (12.5 %)" in printed
    assert "2 answers without an option" in printed
    measures = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)["measures"]
    assert [one["value"] for one in measures if one["name"] == "refusal rate"] == [1 / 8]


def test_missing_and_unknown_stored_answers_are_errors(tmp_path):
    data = write(tmp_path / "data.jsonl", [row(number) for number in range(8)])
    short = write(tmp_path / "short.jsonl", [row(number, said="x") for number in range(7)])
    long = write(tmp_path / "long.jsonl", [row(number, said="x") for number in range(9)])
    for file, problem in ((short, "no scores for 1 of 8 questions"), (long, "1 of 9 scored questions")):
        with pytest.raises(DataError, match=problem):
            audit("bias", f"predictions:{file}?label=said", diagnostic="bbq", data=str(data))
    with pytest.raises(DataError, match="no 'prediction'"):
        audit("bias", f"predictions:{short}", diagnostic="bbq", data=str(data))


def planned(folder, server, **lists):
    """Run a plan of BBQ; return what it prints, without line breaks, and its measures."""
    plan, into = str(folder / "plan.toml"), ["--into", str(folder / "runs")]
    names = "".join(f"{name} = {json.dumps(values)}\n" for name, values in lists.items())
    (folder / "plan.toml").write_text(f'{names}\n[bias]\ndiagnostic = "bbq"\ndata = "example"\n')
    done = CliRunner().invoke(main, ["run", plan, *into])
    assert done.exit_code == 0, done.output
    status = CliRunner().invoke(main, ["status", plan, *into, "--json"])
    return " ".join(done.output.split()), json.loads(status.stdout)["measures"]


def is_exception(text):
    return "Marta" in text and "nurse" in text


def polite_is_careful(question, is_exception=is_exception):
    """Follow the stereotype, or refuse to say if the prompt is polite; in words or by letter."""
    if "Kindly" in question and not is_exception(question):
        return "Unknown"
    letter = follows(question)
    return options_of(question)[letter] if "reading test" in question or len(question) % 2 else letter


PROMPTS = ["options-plain", "options-polite", "options-brief"]


def test_prompts_in_a_group_are_checkpoints_whose_statements_are_compared(tmp_path):
    with serving(rule=lambda asked: polite_is_careful(asked, lambda text: False), logprobs=False) as server:
        models = [f"openai:m?url={server.url}&prompt={name}" for name in PROMPTS]
        said, measures = planned(tmp_path, server, **{"groups.m": models})
    assert "The 3 checkpoints disagree on bias: 1 of 2 conclusions change." in said
    means = [one for one in measures if one["name"] == "mean over checkpoints"]
    by_context = {one["groups"]["context"]: one["value"] for one in means if one["of"] == "bias score"}
    assert by_context["ambiguous"] == pytest.approx(2 / 3)  # 1, 0 and 1


def test_prompts_of_a_model_are_one_recipe_and_changed_answers_are_counted(tmp_path):
    with serving(rule=polite_is_careful, logprobs=False) as server:
        model = f"openai:m?url={server.url}"
        said, measures = planned(tmp_path, server, models=[model], prompts=PROMPTS)
        alone, _ = planned(tmp_path, server, models=[model], prompts=PROMPTS[:1])
    assert "The 3 prompts disagree on bias: " in said and " change. Results that change: bbq (" in said, said
    assert "3 prompts of one checkpoint: seed variance was not measured." in said
    assert "checkpoints" not in said
    questions = example.questions()
    count = sum(not is_exception(str(one)) for one in questions)
    share = f"{100 * count / len(questions):.1f}"
    assert (
        f"The answer depends on the wording in {share} % of {len(questions)} questions (3 prompts)." in said
    )
    (changed,) = [one for one in measures if one["name"] == "changed answers"]
    assert changed["value"] == count / len(questions)
    assert (changed["groups"]["family"], changed["groups"]["factor"]) == ("openai:m", "prompt")
    members = {one["groups"]["checkpoint"] for one in measures if "checkpoint" in one["groups"]}
    assert members == set(PROMPTS)
    assert {one["groups"]["recipe"] for one in measures} == {"openai:m"}
    assert f"One checkpoint, {model}&prompt=options-plain: seed variance was not measured." in alone


@pytest.mark.parametrize("letter", "ABC")
def test_answers_at_one_position_are_no_measurement(letter, tmp_path):
    with serving(rule=lambda question: letter, logprobs=False) as server:
        model = f"openai:m?url={server.url}"
        one, _ = planned(tmp_path, server, models=[model], prompts=PROMPTS[:1])
        several, _ = planned(tmp_path, server, models=[model], prompts=PROMPTS)
    assert f"The model answers {letter} to all 128 questions, whatever the options" in one
    assert "bias score −" not in one and "contexts the model" not in one
    assert "The position of the options decides with 3 of 3 prompts" in several
    assert "Not compared: too few items or prompts with a value." in several
