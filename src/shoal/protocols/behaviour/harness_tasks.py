"""Suites as tasks of other evaluation tools: lm-evaluation-harness and inspect.

    NAME.jsonl        a row per text: its ids and groups, the text, the labels that pass
    NAME.yaml …       lm-eval: multiple choice, and the same by generation for chat models; `shoal_grade.py` grades
    NAME.py           inspect: the task, with its scorer

These tools grade one text at a time. That is enough where the expectation is a label (MFT). A case that compares
answers (INV, DIR) has no grade, and shoal judges it when the log comes back as `predictions:LOG`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import __version__
from ...core.errors import DataError
from ...core.files import refusing, writing
from ...core.records import Label
from ...models.batching import is_reading
from ...models.validate import number_labels
from .rules import label_index
from .suite import Suite
from .suite_files import example_fields

GRADED = "pred_equals_label"
"""The rule that a tool can judge by itself, text by text."""


def write_lm_eval(suite: Suite, folder: Path) -> str:
    """Write a folder for `lm_eval --include_path`; return the command that runs it."""
    name, labels, fields = task_name(suite), _labels(suite), _fields(suite)
    prompt = _prompt(labels, [f"{{{{{field}}}}}" for field in fields], fields)
    files = {"shoal_grade.py": LM_EVAL_GRADE.format(data=f"{name}.jsonl", labels=list(labels))}
    for task, more in ((name, LM_EVAL_CHOICE), (f"{name}_generate", LM_EVAL_GENERATE)):
        about = {"suite": suite.name, "task": task, "prompt": prompt}
        quoted = {key: json.dumps(text, ensure_ascii=False) for key, text in about.items()}
        head = LM_EVAL_TASK.format(version=__version__, **quoted)
        files[f"{task}.yaml"] = head + more.format(labels=json.dumps(labels, ensure_ascii=False))
    _write(suite, folder, files)
    return f"lm_eval --tasks {name} --include_path {folder} --log_samples --output_path logs --model …"


def write_inspect(suite: Suite, folder: Path) -> str:
    """Write a folder with a task file for `inspect eval`; return the command that runs it."""
    name, labels, fields = task_name(suite), _labels(suite), _fields(suite)
    escaped = [label.replace("{", "{{").replace("}", "}}") for label in labels]
    prompt = _prompt(escaped, [f"{{{field}}}" for field in fields], fields)
    about = {"version": __version__, "labels": list(labels), "prompt": prompt, "fields": fields}
    _write(suite, folder, {f"{name}.py": INSPECT_TASK.format(name=name, **about)})
    return f"cd {folder} && inspect eval {name}.py --log-format json --model …"


TASKS: dict[str, Callable[[Suite, Path], str]] = {"lm-eval": write_lm_eval, "inspect": write_inspect}
"""Tool to the function that writes a suite as its task."""


def task_name(suite: Suite) -> str:
    """Return the suite's name as a Python name, which both tools accept for a task.

    >>> task_name(Suite("2 hotels, Köln"))
    'suite_2_hotels_K_ln'
    """
    name = re.sub(r"[^0-9A-Za-z]+", "_", suite.name).strip("_")
    return name if name[:1].isalpha() else f"suite_{name}".rstrip("_")


def task_rows(suite: Suite) -> Iterator[dict[str, Any]]:
    """Yield each text of the suite: its ids and groups, its text, and the labels that pass; none if not graded."""
    labels = _labels(suite)
    for case in suite.cases:
        graded = case.meta["expect"].rule == GRADED and not case.meta["expect"].na_if
        for position, texts in enumerate(case.examples):
            expected = None if case.labels is None else case.labels[position]
            yield {
                "id": case.id if len(case.examples) == 1 else f"{case.id}#{position}",
                "case_id": case.id,
                "functionality": case.groups["functionality"],
                "capability": case.groups["capability"],
                "test_type": case.groups["test type"],
                "example_idx": position,
                **dict(zip(example_fields(suite.task, len(texts)), texts, strict=True)),
                "expected": None if expected is None else str(expected),
                "passing": _passing(expected, labels) if graded and expected is not None else [],
            }


def _passing(expected: Label, labels: Sequence[str]) -> list[int]:
    """Return the positions of the labels that an expected label accepts.

    >>> _passing("not_neutral", ["negative", "neutral", "positive"])
    [0, 2]
    """
    word = str(expected)
    if word in labels or not word.startswith("not_"):
        return [label_index(word, labels)]
    other = label_index(word.removeprefix("not_"), labels)
    return [place for place in range(len(labels)) if place != other]


def _labels(suite: Suite) -> tuple[str, ...]:
    labels = () if is_reading(suite.cases) else suite.labels or number_labels(suite.cases)
    if not labels:
        raise DataError(
            f"suite {suite.name!r} has no labels to choose from",
            why="a task for lm-eval or inspect offers the labels of the suite; answers in words have none",
            fix=f"shoal export {suite.name} --out cases.jsonl writes the texts for any other program",
        )
    return labels


def _fields(suite: Suite) -> tuple[str, ...]:
    return example_fields(suite.task, len(suite.cases[0].examples[0]))


def _prompt(labels: Iterable[str], shown: Sequence[str], fields: Sequence[str]) -> str:
    """Return the prompt, with the places of the texts as the tool's templates write them."""
    titles = [re.sub(r"(\d+)$", r" \1", field).capitalize() for field in fields]
    texts = "\n".join(f"{title}: {place}" for title, place in zip(titles, shown, strict=True))
    return f"Choose the label that fits. Answer with one of: {', '.join(labels)}.\n\n{texts}\nLabel:"


def _write(suite: Suite, folder: Path, files: Mapping[str, str]) -> None:
    """Write the texts of the suite and these files into a folder that does not exist."""
    rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in task_rows(suite))
    with refusing(folder):
        folder.mkdir()
        for name, text in {f"{task_name(suite)}.jsonl": rows, **files}.items():
            with writing(folder / name) as stream:
                stream.write(text)


# The files


LM_EVAL_TASK = """\
# Written by shoal {version} from the suite {suite}. Texts without passing labels are asked and not graded:
# shoal judges them from the samples log (--log_samples), as predictions:FILE.
task: {task}
custom_dataset: !function shoal_grade.dataset
test_split: test
doc_to_text: {prompt}
doc_to_target: passing
process_results: !function shoal_grade.grade
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""
LM_EVAL_CHOICE = """\
output_type: multiple_choice
doc_to_choice: {labels}
"""
LM_EVAL_GENERATE = """\
# The same for models that only generate, such as chat endpoints.
output_type: generate_until
generation_kwargs:
  until: ["\\n"]
  max_gen_toks: 16
  temperature: 0.0
  do_sample: false
filter_list:
  - name: label
    filter:
      - function: custom
        filter_fn: !function shoal_grade.first_labels
      - function: take_first
"""
FIND_LABEL = """\
LONGEST_FIRST = "|".join(re.escape(label) for label in sorted(LABELS, key=len, reverse=True))
FORM = re.compile(rf"(?<!\\w)({{LONGEST_FIRST}})(?!\\w)", re.IGNORECASE)


def first_label(text):
    \"\"\"Return the first label in a reply; the reply itself if there is none.\"\"\"
    match = FORM.search(text)
    return next(label for label in LABELS if label.lower() == match[0].lower()) if match else text
"""
LM_EVAL_GRADE = (
    '''\
"""The texts of the suite, and the grade of an answer. Written by shoal."""

import re
from pathlib import Path

LABELS = {labels!r}
'''
    + FIND_LABEL
    + '''

def dataset(**_):
    """Return the texts, from the file beside this one."""
    from datasets import load_dataset

    return load_dataset("json", data_files={{"test": str(Path(__file__).with_name({data!r}))}})


def first_labels(resps, docs):
    return [[first_label(text) for text in texts] for texts in resps]


def grade(doc, results):
    """Return the accuracy of one answer; nothing for a text that is not graded by itself."""
    if not doc["passing"]:
        return {{}}
    if isinstance(results[0], str):
        answer = LABELS.index(results[0]) if results[0] in LABELS else -1
    else:
        chances = [chance for chance, _ in results]
        answer = chances.index(max(chances))
    return {{"acc": float(answer in doc["passing"])}}
'''
)
INSPECT_TASK = (
    '''\
"""A suite of shoal {version} as a task: inspect eval {name}.py --model …

Texts without passing labels are asked and not scored: shoal judges them from the log, as predictions:LOG.
"""

import json
import re
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
from inspect_ai.solver import generate, solver

LABELS = {labels!r}
PROMPT = {prompt!r}
TEXTS = {fields!r}
'''
    + FIND_LABEL
    + '''

def sample(row):
    texts = {{name: row.pop(name) for name in TEXTS}}
    target = [LABELS[place] for place in row["passing"]]
    return Sample(input=PROMPT.format(**texts), target=target, id=row.pop("id"), metadata={{**row, **texts}})


@solver
def take_label():
    """Keep the label of a reply, so that the log has it for every text, scored or not."""

    async def solve(state, generate):
        state.output.completion = first_label(state.output.completion)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def label():
    async def score(state, target):
        passes = [LABELS[place] for place in state.metadata["passing"]]
        if not passes:
            return None  # left out of the metrics
        answer = state.output.completion
        return Score(value=CORRECT if answer in passes else INCORRECT, answer=answer)

    return score


@task
def {name}():
    lines = Path(__file__).with_name("{name}.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [sample(json.loads(line)) for line in lines]
    return Task(dataset=MemoryDataset(samples, name="{name}"), solver=[generate(), take_label()], scorer=label())
'''
)
