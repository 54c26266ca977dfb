"""Wrong inputs to every verb: an error with a remedy; or read, and then the number is right.

Files and arguments are made wrong one by one from a small world in which everything is right. A traceback fails, exit
code 0 with another number fails, and so does anything left behind where the output was to be.
"""

import copy
import gzip
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from small_world import HEADER, Row, answer_rows, lines, run_shoal, suite_rows

from shoal.cli import main

SCORE = (1 + 0.75 + 1) / 3
"""The suite score in the world in which everything is right."""
PLAN = 'models = ["predictions:answers.jsonl"]\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 10\n'
RIGHT: dict[str, bytes] = {
    "suite.jsonl": lines([HEADER, *suite_rows()]),
    "answers.jsonl": lines(answer_rows()),
    "other.jsonl": lines(answer_rows()),
    "plan.toml": PLAN.encode(),
    "gate.toml": b"[[rule]]\nat_least = 0.1\n",
    "table.csv": b"text,label,kind\ngood,positive,a\nbad,negative,a\n",
    "wrong_models.py": b"def right(texts):\n    return ['neutral' for _ in texts]\n",
}
SUITE = ("--set", "suite=suite.jsonl", "--set", "resamples=10")
A, B, STEADY = "predictions:answers.jsonl", "predictions:other.jsonl", "python:wrong_models:right"
TRY = ("try", "behaviour", A, *SUITE)
COMPARE = ("compare", A, B, *SUITE)
GATE = ("gate", A, "--rules", "gate.toml", *SUITE)
RESULT = ("gate", "result.json", "--rules", "gate.toml")
CHECK, EXPORT = ("check", "suite.jsonl"), ("export", "suite.jsonl", "--out", "out.jsonl")
RUN, CHECK_PLAN, STATUS, REPORT = PLANNED = tuple(
    (verb, "plan.toml") for verb in ("run", "check", "status", "report")
)
IMPORT = ("import", "table.csv", "--out", "out.jsonl")
LABELLED = (*IMPORT, "--text", "text", "--label", "label")
SIZE = ("plan-size", A, B, *SUITE)


class Wrong(NamedTuple):
    """One wrong input: the command, and the files that differ from the right world."""

    command: tuple[str, ...]
    files: Mapping[str, bytes | None] = {}
    may_be_read: bool = False
    """An error or the right number."""


Change = Callable[[list[Row]], object]


def put(key: str, value: Any, row: int = 0) -> Change:
    return lambda rows: rows[row].__setitem__(key, value)


def inserted(row: Any, at: int = 1) -> Change:
    return lambda rows: rows.insert(at, row)


def changed(rows: list[Row], change: Change) -> list[Row]:
    change(rows)
    return rows


WRONG_SUITES: list[Change] = [
    *(lambda rows, key=key: rows[0].pop(key) for key in ("functionality", "type", "case_id", "examples")),
    *(
        put(key, value)
        for key in ("functionality", "examples", "labels")
        for value in (True, {"a": {"b": 1}})
    ),
    *(put("examples", value) for value in ([], [["a", "b", "c"]], [{"text": 3}], [{"text": "\ud83d"}])),
    *(put("labels", value) for value in ("positiv", 3, ["positive", "negative"])),
    put("type", "mft"),
    put("type", "INV", 1),
    put("expect", {"rule": "same_as_yesterday"}),
    lambda rows: rows.insert(1, copy.deepcopy(rows[0])),
    inserted("[1, 2]"),
    inserted('{"functionality": "praise"'),
    inserted(HEADER),
    list.clear,
]
WRONG_HEADERS = ("positive", ["positive"], ["positive", "positive"], [0, 1], ["positive", " "], ["a", "b"])


def wrong_suites() -> Iterator[Wrong]:
    verbs = cycle([CHECK, TRY, EXPORT, COMPARE, GATE, RUN, ("import", "suite.jsonl", "--out", "out.jsonl")])
    for change in WRONG_SUITES:
        yield Wrong(next(verbs), {"suite.jsonl": lines([HEADER, *changed(suite_rows(), change)])})
    for names in WRONG_HEADERS:
        yield Wrong(next(verbs), {"suite.jsonl": lines([HEADER | {"label_names": names}, *suite_rows()])})


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "empty": lambda content: b"",
    "absent": lambda content: None,
    "noise": lambda content: bytes(range(256)),
    "utf-16": lambda content: content.decode().encode("utf-16"),
    "cut-gzip": lambda content: gzip.compress(content)[:-9],
    "html": lambda content: b"<!doctype html><html><body>404 not found</body></html>\n",
}
DOORS: dict[str, tuple[tuple[str, ...], ...]] = {
    "suite.jsonl": (CHECK, TRY, EXPORT, COMPARE, RUN),
    "answers.jsonl": (TRY, GATE, COMPARE, REPORT),
    "plan.toml": PLANNED,
    "gate.toml": (GATE,),
    "table.csv": (LABELLED,),
    "result.json": (RESULT,),
}


def damaged_files() -> Iterator[Wrong]:
    """Yield damaged files; tests/models/stored has wrong and odd predictions."""
    for file, commands in DOORS.items():
        verbs = cycle(commands)
        for name, damage in DAMAGES.items():
            content = damage(RIGHT.get(file, b'{"jobs": [{}], "measures": []}'))
            yield Wrong(next(verbs), {file: content}, may_be_read=name == "utf-16")


WRONG_SETTINGS = (
    *("tolerance=5", "tolerance=nan", "resamples=1.5", "limit=-1", "seed=x", "profile=best", "siute=own"),
    *("suite=absent", "suite=", "suite=.", "suite=answers.jsonl", "suite=wrong_models.py"),
    *("only=functionality=nope", "only=functionalty=praise", "train=iid", "suite", "="),
)
WRONG_SPECS = (
    *("", ":", "hf:", "python:", "nonsense:bert", "hf:absent/folder", "hf:answers.jsonl", "tiny:sentimnet"),
    *("python:json", "python:absent_module:f", "python:json:absent", "python:json:dumps?timeout=soon"),
    *("python:./wrong_models:right", "vectors:absent.txt", "predictions:absent.jsonl", "predictions:."),
    *(
        f"{A}?{option}"
        for option in ("format=zip", "x=1", "labels=", "labels=a,a", "labels=a:x:y", "id=nr", "id=a&id=b")
    ),
    *("predictions:table.csv", "predictions:plan.toml", "predictions:suite.jsonl"),
    *("tiny:sentiment?device=gpu", "tiny:sentiment?max_length=0", "tiny:sentiment?labels=negative"),
)
# tests/runs/test_plan.py has the errors inside a plan; these inputs go through every verb.
WRONG_PLANS = (
    "models = [",
    PLAN + "siute = 'x'\n",
    PLAN.replace('"suite.jsonl"', "3"),
    PLAN.replace("suite.jsonl", "absent.jsonl"),
    PLAN + "iid = 'sentiment'\n",
    PLAN.replace("[behaviour]", "[learning]") + "[learning.train]\nepoch = 3\n",
)
RULE = "[[rule]]\nat_least = 0.1\n"
WRONG_RULES = (
    *("[[rule]", "", "[[rules]]\nat_least = 0.9\n", "rule = 3\n", '[[rule]]\nfunctionality = "praise"\n'),
    *(f"[[rule]]\nat_least = {limit}\n" for limit in ('"high"', "true", "nan", "90", "-0.5")),
    *(
        RULE + line
        for line in ('functionality = "prase"\n', "functionality = 3\n", 'functionalty = "praise"\n')
    ),
    *(RULE + line for line in ("at_most = 1\n", 'measure = "accuracy"\n', 'judge = "kindly"\n')),
    "[[rule]]\nno_worse_than_baseline_by = 0.1\n",
)
WRONG_RESULTS = (
    *("[]", "3", '{"jobs": [{}]}', '{"jobs": [{}, {}], "measures": []}', '{"jobs": ["x"], "measures": []}'),
    '{"jobs": [{}], "measures": [{"name": "suite score"}]}',
    '{"jobs": [{}], "measures": [{"name": "suite score", "value": "high", "n": 3}]}',
)
WRONG_TABLES = (
    *("text,label\na,\nb,positive\n", "text,label\n ,positive\nb,negative\n", "text,label\na\nb,positive\n"),
    *("text,label\na,positive,x\nb,negative\n", "text,text,label\na,b,positive\n", "text,label\n"),
    'text,label\n"a,positive\nb,negative\n',
)
WRONG_ARGUMENTS: dict[tuple[str, ...], tuple[str, ...]] = {
    TRY: ("--limit 0", "--only zzz*", "--nonsense", "--set limit=1 --set limit=2"),
    IMPORT: (
        *("", "--text sentence --label label", "--text text --label gold", "--text text", "--label label"),
        *("--type INV --original text", "--text text --label label --labels positive=good", "--type XYZ"),
    ),
    ("import",): ("absent.csv --out out.jsonl", "table.csv --out table.csv --text text --label label"),
    ("export", "suite.jsonl", "--out"): ("/nonexistent/x.jsonl", "out.txt", ".", "suite.jsonl", "x" * 5_000),
    RUN: ("--workers 0", "--on moon", "--into plan.toml"),
    REPORT: ("--out /nonexistent/report.html", "--into nowhere", "--into RUNS --out plan.toml"),
    STATUS: (f"--into {'x' * 5_000}",),
    GATE: ("--junit /nonexistent/x.xml", "--junit gate.toml", "--baseline absent.json"),
    ("gate",): ("absent.json --rules gate.toml", f"{A} --rules absent.toml"),
    ("show",): ("nope --into RUNS", "* --into RUNS", "../../etc --into RUNS"),
    ("show", "own", "--into", "RUNS"): ("--failing --only nope", "--csv --only zzz"),
    ("compare",): ("", A, "a b c", "nope nope --into RUNS"),
    COMPARE: ("--protocol cod", "--out answers.jsonl"),
    ("list",): ("modles", "suite", "settings", "settings behavior"),
    ("help",): ("modls", "weather"),
    ("new",): ("suite absent/mine", "plan mine", "suite mine --text text"),
    ("suggest",): ("suite.jsonl --slot x --model tiny:sentiment", "absent.yaml --slot x --model example"),
    ("reproduce",): ("foo --data .", "hatecheck --data .", "hatecheck --data absent"),
    ("check",): ("absent.toml", ".", "sentimnet", "table.csv", "wrong_models.py"),
    ("explain",): ("tiny:foo text", f"{A} text", f"{STEADY} text", "tiny:sentiment text --method magic"),
    ("explain", "tiny:sentiment", "A film."): ("--label sad", "--samples 0", "--seed -1", "--absent gone"),
    ("rank",): ("", "tiny:sentiment", f"{STEADY} {STEADY} --data table.csv", f"{STEADY} tiny:sentiment"),
    ("rank", STEADY, "tiny:sentiment", "--data"): ("absent.csv", "table.csv --set text=absent", "plan.toml"),
    SIZE: (
        *("", "--difference 0", "--difference nan"),
        *("--difference 0.1 --differing 80", "--difference 0.1 --row zzz"),
    ),
}


def others() -> Iterator[Wrong]:
    """Yield wrong settings, specs, plans, rules, results, tables and arguments."""
    verbs = cycle([TRY[:3], COMPARE[:3], GATE[:4]])
    for pair in WRONG_SETTINGS:
        base = () if pair.startswith("suite") else ("--set", "suite=suite.jsonl")
        yield Wrong((*next(verbs), *base, "--set", pair))
    asking: list[Callable[[str], tuple[str, ...]]] = [
        lambda spec: ("try", "behaviour", spec, *SUITE),
        lambda spec: ("compare", spec, A, *SUITE),
        lambda spec: ("gate", spec, "--rules", "gate.toml", *SUITE),
    ]
    yield from (Wrong(ask(spec)) for ask, spec in zip(cycle(asking), WRONG_SPECS, strict=False))
    for command, plan in zip(cycle(PLANNED), WRONG_PLANS, strict=False):
        yield Wrong(command, {"plan.toml": plan.encode()})
    yield from (Wrong(RUN, {"plan.toml": PLAN.replace(A, spec).encode()}) for spec in WRONG_SPECS[::4])
    yield from (Wrong(GATE, {"gate.toml": rules.encode()}) for rules in WRONG_RULES)
    yield from (Wrong(RESULT, {"result.json": result.encode()}) for result in WRONG_RESULTS)
    yield from (Wrong(LABELLED, {"table.csv": table.encode()}) for table in WRONG_TABLES)
    for verb, ends in WRONG_ARGUMENTS.items():
        yield from (Wrong((*verb, *end.split())) for end in ends)


EVERY = [*wrong_suites(), *damaged_files(), *others()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A store with one job that is done."""
    folder = tmp_path_factory.mktemp("right")
    write(folder, RIGHT)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run_shoal("run", "plan.toml", "--into", "runs").exit_code == 0
    return folder / "runs"


def write(folder: Path, files: Mapping[str, bytes | None]) -> None:
    for name, content in files.items():
        if content is None:
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_bytes(content)


def score_in(output: str) -> float | None:
    """The suite score that a verb printed, if it printed one."""
    words = next((line.split() for line in output.splitlines() if line.startswith("Suite score")), [])
    return float(words[2]) / 100 if len(words) > 2 else None


def sampled() -> Iterator[Any]:
    """Yield every wrong input: three of each verb for every run, the others for the nightly one."""
    seen: Counter[str] = Counter()
    for place, wrong in enumerate(EVERY):
        seen[wrong.command[0]] += 1
        marks = () if seen[wrong.command[0]] <= 3 else (pytest.mark.nightly,)
        words = ascii(" ".join(wrong.command))[1:61]
        yield pytest.param(wrong, id=f"{place:03d}-{words}", marks=marks)


@pytest.mark.parametrize("wrong", list(sampled()))
def test_a_wrong_input_is_an_error_with_a_remedy(wrong, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    write(tmp_path, RIGHT)
    write(tmp_path, wrong.files)
    before = {path.name for path in tmp_path.iterdir()}
    done = run_shoal(*(str(runs) if word == "RUNS" else word for word in wrong.command))
    assert "Traceback" not in done.output and "\x1b" not in done.output
    if done.exit_code == 0:
        assert wrong.may_be_read, f"read without a word:\n{done.output}"
        assert score_in(done.output) in (None, pytest.approx(SCORE, abs=0.0006))
        return
    assert done.exit_code in (1, 2), done.output
    remedy = "\n  try: " if done.exit_code == 1 else "Usage: "
    assert "Error: " in done.output and remedy in done.output, done.output
    left = {path.name for path in tmp_path.iterdir()} - before - {"runs", "__pycache__"}
    assert not left, f"left behind: {left}"


def test_in_the_right_world_every_verb_works(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, RIGHT)
    for command in (TRY, COMPARE, GATE, CHECK, EXPORT, LABELLED, *PLANNED):
        done = run_shoal(*command, *(("--into", str(runs)) if command in PLANNED[2:] else ()))
        assert done.exit_code == 0, done.output
        score = pytest.approx(SCORE, abs=0.0006)
        assert score_in(done.output) in ((score,) if command is TRY else (None, score))


def test_wrong_inputs_go_to_every_verb():
    assert {wrong.command[0] for wrong in EVERY} == set(main.commands)
