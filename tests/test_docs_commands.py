"""Every `shoal` command in a bash block of README and guides runs, with stand-ins for models and files of the reader.

`tests/test_docs.py` compares console blocks with the real output, `tests/test_tutorial.py` follows the tutorial.
"""

import csv
import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_server import FakeServer, by_words, serving

from shoal.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "how-to").glob("*.md"))]
TUTORIAL = (DOCS / "tutorial.md").read_text()

NOT_RUN = {
    "shoal try bias hf:DIR --set diagnostic=stereoset": "StereoSet does not ship with shoal; tests/golden has it",
    "shoal run beluga-table-3.toml --on ray": "days on a cluster; tests/runs has Ray",
    "shoal report beluga-table-3.toml": "needs the results of the line above",
}

READERS = "python:readers:by_words python:readers:last_clause"
STAND_INS = {
    "hf:path/to/model": "python:reviews:predict",
    "hf:checkpoints/sst2": "python:reviews:predict",
    "sentiment_suite.tar.gz": "hotel.py",
    "shoal run examples/": "shoal check examples/",
    ".toml --workers 2": ".toml",
    "compare A B": "compare old-hotel new-hotel",
    "--a old1 --a old2 --b new1 --b new2": "--a old-hotel --a new-hotel --b reviews-predict --b reviews2-predict",
    "JOB_A JOB_B": "old-hotel new-hotel",
    "scores:samples_old.jsonl --rules gate.toml": "scores:samples_old.jsonl --rules overall.toml",
    "3f9c1a2b": "old-hotel",
    "91be77d0": "new-hotel",
    "JOB": "reviews-predict",
    "per_label=300": "per_label=20",
    "test_per_label=60": "test_per_label=10",
    "hf:DIR --set diagnostic=crows --data crows_pairs_anonymized.csv": (
        "predictions:examples/bias-seed0.csv --set diagnostic=crows --data example"
    ),
    "hf:A hf:B hf:C": f"{READERS} python:readers:by_exclamation",
    "MODEL MODEL": READERS,
    "shoal try merge tiny:nli": "shoal try merge tiny:nli --limit 5 --set draws=2",
    "hf:my-nli-model": "tiny:nli",
    "hf:bert-base-cased": "example",
    "--data snli_test.tsv ": "--set limit=5 ",
    " --set audited=first.csv,second.csv,settled.csv": "",
    "--limit 200": "--limit 5",
    "hf:one?": "openai:one?url=http://127.0.0.1:8000/v1&",
    "hf:two?": "openai:two?url=http://127.0.0.1:8000/v1&",
    'merge "openai:': 'merge --limit 3 --set draws=1 "openai:',
    "predictions:cases.csv?label=reply": "predictions:cases.csv?label=text",
    "openai:MODEL?url=URL": "openai:MODEL?url=http://127.0.0.1:8000/v1",
}

RUN_FIRST = {
    "cood.md": "shoal run cood.toml --into runs",
    "train-on-a-suite.md": "shoal check learning.toml",
    "suites-with-others.md": "shoal new suite hotels",
}

PLAN = """
models = ["predictions:old.jsonl", "predictions:new.jsonl", "python:reviews:predict", "python:reviews2:predict"]

[behaviour]
suite = "hotel.py"
"""

COOD = """
models = ["tiny:sentiment"]
seeds = [0, 1]

[cood]
per_label = [80, 240]
test_per_label = 10
validation_per_label = 5
train.epochs = 1
"""

TABLES = {
    "reviews.tsv": [
        ["sentence", "gold", "topic"],
        ["Fine room.", "positive", "rooms"],
        ["No.", "negative", "rooms"],
    ],
    "reviews.csv": [
        ["text", "label", "topic"],
        *([f"Fine room {row}.", "positive", "rooms"] for row in range(4)),
        *([f"No room {row}.", "negative", "rooms"] for row in range(4)),
    ],
    "typos.csv": [["before", "after"], ["A fine room.", "A fnie room."], ["A bad room.", "A bda room."]],
    "groups.tsv": [
        ["premise", "hypothesis", "label", "group"],
        ["A man eats.", "A person eats.", "entailment", "g1"],
        ["A man eats.", "Nobody eats.", "contradiction", "g1"],
        ["A dog runs.", "An animal runs.", "entailment", "g2"],
        ["A dog runs.", "Nothing runs.", "contradiction", "g2"],
        ["A dog runs.", "The dog is brown.", "neutral", "g2"],
    ],
    "semantic.tsv": [
        ["premise", "hypothesis", "label", "hypothesis_paraphrase"],
        ["A man eats.", "A person eats.", "entailment", "Somebody eats."],
        ["A dog runs.", "Nothing runs.", "contradiction", "There is no running."],
        ["A dog runs.", "The dog is brown.", "neutral", "It is a brown dog."],
    ],
    "anli.csv": [
        ["uid", "context", "statement", "gold_label", "preds-1PredLabel", "preds-2PredLabel"],
        *[[str(row), f"Context {row}.", f"Statement {row}.", "ne"[row % 2], "n", "e"] for row in range(10)],
    ],
}


def commands(page: Path) -> list[str]:
    """Return the `shoal` commands of the bash blocks of a page, without comments."""
    blocks = re.findall(r"^```bash\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("shoal ")]


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / "how-to" / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def shoal(command: str) -> str:
    words = shlex.split(command)
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, words[1:])
    is_verdict = words[1] == "gate" and done.exit_code == 3
    assert done.exit_code == 0 or is_verdict, f"$ {command}\n{done.output}\n{done.exception!r}"
    return done.stdout


def write_table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter="\t" if path.suffix == ".tsv" else ",").writerows(rows)


def write_predictions(folder: Path) -> None:
    """Write what the two models of the tutorial answer, and the first of them as a table."""
    shoal("shoal export hotel.py --out texts.jsonl")
    for module, name in (("reviews", "old"), ("reviews2", "new")):
        asked = (folder / "ask.py").read_text().replace("from reviews ", f"from {module} ")
        script = asked.replace("answers.jsonl", f"{name}.jsonl")
        subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    shoal("shoal export hotel.py --out texts.csv")
    with (folder / "texts.csv").open(encoding="utf-8", newline="") as stream:
        head, *rows = [*csv.reader(stream)]
    labelled = [[*row, "positive"] for row in rows]
    kept = [name for name in head if name != "label"]
    places = [head.index(name) for name in kept]
    write_table(
        folder / "answers.csv",
        [[*kept, "prediction"], *[[*(row[place] for place in places), row[-1]] for row in labelled]],
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the files that the guides name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, content in re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```', TUTORIAL, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(content)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples" / "ranking" / "readers.py", tmp_path)
    for name in ("ten_examples.csv", "ten.csv"):
        shutil.copy(ROOT / "examples" / "ranking" / "reviews.csv", tmp_path / name)
    with (tmp_path / "ten_examples.csv").open("a", encoding="utf-8") as stream:
        stream.write("r99,The box is blue.,neutral\n")
    shutil.copy(ROOT / "examples" / "ranking" / "unlabelled.csv", tmp_path)
    shutil.copy(tmp_path / "reviews.py", tmp_path / "my_model.py")
    for name, rows in TABLES.items():
        write_table(tmp_path / name, rows)
    logs = ROOT / "tests" / "data" / "logs" / "files"
    for name in ("old", "new"):
        shutil.copy(logs / f"samples_feeling_{name}.jsonl", tmp_path / f"samples_{name}.jsonl")
    (tmp_path / "results.json").write_bytes(gzip.decompress((logs / "promptfoo_new.json.gz").read_bytes()))
    (tmp_path / "overall.toml").write_text("[[rule]]\nno_worse_than_baseline_by = 0.02\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "cood.toml").write_text(COOD)
    (tmp_path / "clerk.yaml").write_text(blocks("write-a-suite.md", 'yaml title="clerk.yaml"')[0])
    (tmp_path / "mini.py").write_text(blocks("write-a-suite.md", "python")[0])
    (tmp_path / "rules.toml").write_text(next(b for b in blocks("cood.md", "toml") if "[[rule]]" in b))
    prompt = next(b for b in blocks("llm-endpoint.md", "toml") if "task" in b)
    for label, shown in (("negative", "bad"), ("neutral", "so-so"), ("positive", "good")):
        prompt = prompt.replace(f'"{shown}"', f'"{label}"')  # the words that the server below knows
    (tmp_path / "mine.toml").write_text(prompt)
    (tmp_path / "learning.toml").write_text(blocks("train-on-a-suite.md", "toml")[0])
    plan = (ROOT / "examples" / "beluga-table-3.toml").read_text()
    table3 = re.sub(r'"hf:[\w-]+"', '"tiny:sentiment"', plan.replace("train.method", "# train.method"))
    kept = "\n".join(line for line in table3.splitlines() if not line.startswith("iid"))
    shipped = re.sub(r'suite = "(\w+).jsonl"', r'suite = "\1"\niid = "\1"', kept)
    (tmp_path / "beluga-table-3.toml").write_text(shipped)
    (tmp_path / "weat1.jsonl").write_text(
        '{"targ1": {"category": "a", "examples": ["rose", "lily"]}, '
        '"targ2": {"category": "b", "examples": ["ant", "wasp"]}, '
        '"attr1": {"category": "c", "examples": ["love", "peace"]}, '
        '"attr2": {"category": "d", "examples": ["ugly", "evil"]}}'
    )
    question = {
        "example_id": 0, "question_index": "1", "question_polarity": "neg", "context_condition": "ambig",
        "category": "Religion", "context": "Two met.", "question": "Who left?", "label": 2,
        **{f"ans{n}": f"The {name}" for n, name in enumerate("abc")},
        "answer_info": {"ans0": ["a", "x"], "ans1": ["b", "y"], "ans2": ["c", "unknown"]},
        "additional_metadata": {"stereotyped_groups": ["x"]}, "KEY": "the c",
    }  # fmt: skip
    for name in ("Religion.jsonl", "answers.jsonl"):
        (tmp_path / name).write_text(json.dumps(question))
    words = ["rose", "lily", "ant", "wasp", "love", "peace", "ugly", "evil"]
    nested = [{"doc": {"text": "Fine room.", "target": "positive"}}, {"doc": {"target": "good"}}]
    nested.append({"doc": {"text": "Loud room.", "target": "negative"}})
    (tmp_path / "dump.jsonl").write_text("\n".join(map(json.dumps, nested)) + "\n")
    vectors = [f"{word} {at % 3 + 0.5} {at * at % 5} {at}" for at, word in enumerate(words)]
    (tmp_path / "word2vec.txt").write_text("\n".join(vectors) + "\n")
    write_predictions(tmp_path)
    shoal("shoal import hotel.py --out suite.jsonl")
    shoal("shoal run plan.toml --into runs")
    for spec, name in (("predictions:old.jsonl", "baseline"), ("predictions:new.jsonl", "result")):
        (tmp_path / f"{name}.json").write_text(
            shoal(f"shoal try behaviour {spec} --suite suite.jsonl --json")
        )
    return tmp_path


def answer(question: str) -> str:
    if question.startswith("Test cases"):
        return "negative: Lovely, another cold soup."
    return "unclear" if "Premise" in question else by_words(question)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving(rule=answer) as running:
        yield running


def label_what_was_drawn(folder: Path) -> None:
    """Fill the label column of the examples to label, as the reader would."""
    path = folder / "to_label.csv"
    if path.exists():
        with path.open(encoding="utf-8", newline="") as stream:
            head, *rows = [*csv.reader(stream)]
        at = head.index("label")
        write_table(path, [head, *[[*row[:at], "positive", *row[at + 1 :]] for row in rows]])


def with_stand_ins(command: str, server: FakeServer) -> str:
    for shown, stand_in in STAND_INS.items():
        command = command.replace(shown, stand_in)
    return command.replace("http://127.0.0.1:8000/v1", server.url)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page, folder, server):
    if page.name in RUN_FIRST:
        shoal(RUN_FIRST[page.name])
    for command in commands(page):
        if not command.startswith(tuple(NOT_RUN)):
            shoal(with_stand_ins(command, server))
            label_what_was_drawn(folder)


def test_every_exception_is_still_on_a_page():
    shown = [command for page in PAGES for command in commands(page)]
    assert [start for start in NOT_RUN if not any(command.startswith(start) for command in shown)] == []
