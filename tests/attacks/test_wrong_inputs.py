"""Hundreds of wrong inputs to every verb: refused in words, with a remedy; or read, and then the number is right.

Suites, answers, encodings, settings, specs, plans, rules, results, tables and names of jobs are made wrong one by one
from a small world in which everything is right. A traceback fails, exit code 0 with another number fails, a message
without a remedy fails, and so does anything left behind where the output was to be.
"""

import copy
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from small_world import HEADER, LABELS, Row, answer_rows, lines, suite_rows

from shoal.cli import main

SCORE = (1 + 0.75 + 1) / 3
"""The suite score in the world in which everything is right."""

PLAN = """models = ["predictions:answers.jsonl"]
[behaviour]
suite = "suite.jsonl"
resamples = 10
"""
RULES = "[[rule]]\nat_least = 0.1\n"
TABLE = "text,label,kind\ngood,positive,a\nbad,negative,a\n"
MATRIX = "run_id,item_id,outcome\na,1,1\na,2,0\nb,1,1\nb,2,1\n"
MODEL = "def right(texts):\n    return ['neutral' for _ in texts]\n"
RIGHT: dict[str, bytes] = {
    "suite.jsonl": lines([HEADER, *suite_rows()]),
    "answers.jsonl": lines(answer_rows()),
    "other.jsonl": lines(answer_rows()),
    "plan.toml": PLAN.encode(),
    "gate.toml": RULES.encode(),
    "table.csv": TABLE.encode(),
    "matrix.csv": MATRIX.encode(),
    "wrong_models.py": MODEL.encode(),
}
SUITE = ("--set", "suite=suite.jsonl", "--set", "resamples=10")
TRY = ("try", "behaviour", "predictions:answers.jsonl", *SUITE)
COMPARE = ("compare", "predictions:answers.jsonl", "predictions:other.jsonl", *SUITE)
GATE = ("gate", "predictions:answers.jsonl", "--rules", "gate.toml", *SUITE)
CHECK, EXPORT = ("check", "suite.jsonl"), ("export", "suite.jsonl", "--out", "out.jsonl")
PLANNED = (("run", "plan.toml"), ("check", "plan.toml"), ("status", "plan.toml"), ("report", "plan.toml"))
IMPORT = ("import", "table.csv", "--out", "out.jsonl", "--text", "text", "--label", "label")


@dataclass(frozen=True)
class Wrong:
    """One wrong input: what it is, the verb it goes to, and the files that differ from the right world."""

    name: str
    command: tuple[str, ...]
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    may_be_read: bool = False
    """Refused or read: who reads it must come to the right number."""

    @property
    def id(self) -> str:
        return f"{self.command[0]}-{self.name}"


# Suites

Change = Callable[[list[Row]], object]


def put(key: str, value: Any, row: int = 0) -> Change:
    return lambda rows: rows[row].__setitem__(key, value)


def drop(key: str, row: int = 0) -> Change:
    return lambda rows: rows[row].pop(key)


def inserted(row: Any, at: int = 1) -> Change:
    return lambda rows: rows.insert(at, row)


WRONG_SUITES: dict[str, Change] = {
    **{
        f"no-{key}": drop(key)
        for key in ("functionality", "capability", "type", "case_id", "examples", "labels")
    },
    **{
        f"{key}-{word}": put(key, value)
        for key in ("functionality", "type", "examples", "labels", "case_id")
        for word, value in {
            "number": 1.5,
            "truth": True,
            "list-of-lists": [[[]]],
            "table": {"a": {"b": 1}},
        }.items()
    },
    "type-unknown": put("type", "MTF"),
    "type-lower": put("type", "mft"),
    "functionality-blank": put("functionality", " "),
    "capability-number": put("capability", 3),
    "examples-none": put("examples", []),
    "examples-null": put("examples", None),
    "examples-of-three": put("examples", [["a", "b", "c"]]),
    "examples-number": put("examples", [{"text": 3}]),
    "examples-other-name": put("examples", [{"sentence": "a"}]),
    "examples-half-a-character": put("examples", [{"text": "\ud83d"}]),
    "examples-mixed": put("examples", [{"text": "a"}, {"premise": "a", "hypothesis": "b"}]),
    "labels-unknown": put("labels", "positiv"),
    "labels-blank": put("labels", " "),
    "labels-padded": put("labels", "positive "),
    "labels-beyond": put("labels", 3),
    "labels-below": put("labels", -1),
    "labels-too-many": put("labels", ["positive", "negative"]),
    "labels-null": put("labels", None),
    "case-twice": lambda rows: rows.insert(1, copy.deepcopy(rows[0])),
    "functionality-of-two-types": put("type", "INV", 1),
    "functionality-of-two-capabilities": put("capability", "other", 1),
    "expect-unknown": put("expect", {"rule": "same_as_yesterday"}),
    "expect-number": put("expect", 3),
    "tolerance-negative": put("expect", {"rule": "same_pred_or_conf_change_within_tol", "tolerance": -1}, 8),
    "row-is-a-list": inserted("[1, 2]"),
    "row-is-a-number": inserted("3"),
    "row-is-cut": inserted('{"functionality": "praise"'),
    "row-with-a-key-twice": inserted('{"functionality": "a", "functionality": "b"}'),
    "row-with-nan": inserted('{"functionality": NaN}'),
    "two-headers": inserted(HEADER),
    "no-cases": lambda rows: rows.clear(),
}
WRONG_HEADERS: dict[str, Any] = {
    "label-names-text": {"label_names": "positive"},
    "label-names-one": {"label_names": ["positive"]},
    "label-names-twice": {"label_names": ["positive", "positive"]},
    "label-names-numbers": {"label_names": [0, 1]},
    "label-names-blank": {"label_names": ["positive", " "]},
    "label-names-padded": {"label_names": ["positive ", "negative"]},
    "label-names-others": {"label_names": ["a", "b"]},
    "label-names-table": {"label_names": {"0": "positive"}},
}


def wrong_suites() -> Iterator[Wrong]:
    verbs = cycle(
        [CHECK, TRY, EXPORT, COMPARE, GATE, PLANNED[0], ("import", "suite.jsonl", "--out", "out.jsonl")]
    )
    for name, change in WRONG_SUITES.items():
        rows = suite_rows()
        change(rows)
        content = lines([HEADER, *rows]).replace(b"\\ud83d\\", b"\\ud83d\\")
        for _ in range(2):
            yield Wrong(f"suite-{name}", next(verbs), {"suite.jsonl": content})
    for name, header in WRONG_HEADERS.items():
        content = lines([HEADER | header, *suite_rows()])
        for _ in range(2):
            yield Wrong(f"suite-{name}", next(verbs), {"suite.jsonl": content})


# Answers

WRONG_ANSWERS: dict[str, Change] = {
    "no-case-id": drop("case_id"),
    "id-unknown": put("case_id", "99"),
    "id-blank": put("case_id", ""),
    "id-null": put("case_id", None),
    "id-list": put("case_id", [1]),
    "functionality-unknown": put("functionality", "prais"),
    "functionality-number": put("functionality", 1.5),
    "example-unknown": put("example_idx", 7),
    "example-negative": put("example_idx", -1),
    "example-text": put("example_idx", "first"),
    "pred-unknown": put("pred", "posittive"),
    "pred-other-language": put("pred", "gut"),
    "pred-beyond": put("pred", 3),
    "pred-below": put("pred", -1),
    "pred-fraction": put("pred", 1.5),
    "pred-truth": put("pred", True),
    "pred-list": put("pred", ["positive"]),
    "pred-table": put("pred", {"positive": 1}),
    "pred-blank": put("pred", " "),
    "conf-too-few": put("conf", [0.5, 0.5]),
    "conf-too-many": put("conf", [0.25] * 4),
    "conf-sum": put("conf", [0.5, 0.1, 0.1]),
    "conf-nan": put("conf", [float("nan"), 0.5, 0.5]),
    "conf-inf": put("conf", [float("inf"), 0, 0]),
    "conf-negative": put("conf", [-0.1, 0.3, 0.8]),
    "conf-text": put("conf", ["a", "b", "c"]),
    "conf-not-the-label": put("conf", [0.8, 0.1, 0.1]),
    "conf-beyond-one": put("conf", 1.5),
    "conf-table": put("conf", {"positive": 0.8}),
    "conf-logits": put("conf", [-2.0, 1.0, 3.0]),
    "error-number": put("error", 3),
    "answer-missing": lambda rows: rows.pop(),
    "answer-twice": lambda rows: rows.insert(1, copy.deepcopy(rows[0])),
    "answer-twice-otherwise": lambda rows: rows.insert(1, rows[0] | {"pred": "negative", "conf": None}),
    "row-is-a-list": inserted("[1]"),
    "row-is-cut": inserted('{"case_id": 1'),
    "names-twice": inserted({"label_names": ["positive", "positive", "neutral"]}, 0),
    "names-number": inserted({"label_names": 3}, 0),
    "no-answers": lambda rows: rows.clear(),
}


def wrong_answers() -> Iterator[Wrong]:
    verbs = cycle([TRY, COMPARE, GATE, PLANNED[0]])
    for name, change in WRONG_ANSWERS.items():
        rows = answer_rows()
        change(rows)
        for _ in range(2):
            yield Wrong(f"answers-{name}", next(verbs), {"answers.jsonl": lines(rows)})


def changed(change: Callable[[Row], Row]) -> bytes:
    return lines([change(row) for row in answer_rows()])


def as_csv(label: Callable[[str], str], places: list[str], between: str = ",") -> bytes:
    """The answers as a table, its columns of probabilities in some order."""
    head = ["functionality", "case_id", "example_idx", "label", *places]
    rows = [
        [row["functionality"], row["case_id"], str(row["example_idx"]), label(row["pred"])]
        + [str(row["conf"][LABELS.index(place)]) for place in places]
        for row in answer_rows()
    ]
    return lines([between.join(cells) for cells in [head, *rows]])


BACKWARDS = {"label_names": LABELS[::-1]}
ODD_ANSWERS: dict[str, bytes] = {
    "rows-backwards": lines(answer_rows()[::-1]),
    "byte-order-mark": b"\xef\xbb\xbf" + lines(answer_rows()),
    "carriage-returns": lines(answer_rows()).replace(b"\n", b"\r\n"),
    "gzip": gzip.compress(lines(answer_rows())),
    "utf-32": lines(answer_rows()).decode().encode("utf-32"),
    "list": json.dumps(answer_rows()).encode(),
    "labels-upper": changed(lambda row: row | {"pred": row["pred"].upper()}),
    "labels-padded": changed(lambda row: row | {"pred": f" {row['pred']} "}),
    "labels-short": changed(lambda row: row | {"pred": row["pred"][:3]}),
    "labels-numbers": changed(lambda row: row | {"pred": LABELS.index(row["pred"])}),
    "labels-digits": changed(lambda row: row | {"pred": str(LABELS.index(row["pred"]))}),
    "labels-from-one": changed(lambda row: row | {"pred": LABELS.index(row["pred"]) + 1, "conf": None}),
    "labels-from-the-alphabet-backwards": changed(lambda row: row | {"pred": 2 - LABELS.index(row["pred"])}),
    "labels-in-words": changed(lambda row: row | {"pred": f"It is {row['pred']}."}),
    "no-label": changed(lambda row: row | {"pred": None}),
    "no-probabilities": changed(lambda row: row | {"conf": None}),
    "probabilities-backwards": changed(lambda row: row | {"conf": row["conf"][::-1]}),
    "names-backwards": lines([BACKWARDS, *(row | {"conf": row["conf"][::-1]} for row in answer_rows())]),
    "names-backwards-numbers": lines(
        [BACKWARDS, *(row | {"pred": 2 - LABELS.index(row["pred"]), "conf": None} for row in answer_rows())]
    ),
    "percentages": changed(lambda row: row | {"conf": [100 * chance for chance in row["conf"]]}),
    "ids-whole": changed(lambda row: row | {"case_id": int(row["case_id"])}),
    "ids-joined": changed(lambda row: row | {"case_id": f"{row['functionality']}/{row['case_id']}"}),
    "table": as_csv(str, LABELS),
    "table-backwards": as_csv(str, LABELS[::-1]),
    "table-of-numbers": as_csv(lambda word: str(LABELS.index(word)), []),
    "table-of-numbers-from-one": as_csv(lambda word: str(LABELS.index(word) + 1), []),
    "table-semicolons": as_csv(str, LABELS, ";"),
    "table-tabs": as_csv(str, LABELS, "\t"),
}


def odd_answers() -> Iterator[Wrong]:
    for name, content in ODD_ANSWERS.items():
        file = "answers.csv" if name.startswith("table") else "answers.jsonl"
        command = ("try", "behaviour", f"predictions:{file}", *SUITE)
        yield Wrong(f"odd-{name}", command, {file: content}, may_be_read=True)


# Encodings and shapes of any file

DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "empty": lambda content: b"",
    "blank": lambda content: b"\n \n",
    "absent": lambda content: None,
    "zeros": lambda content: bytes(64),
    "noise": lambda content: bytes(range(256)),
    "utf-16": lambda content: content.decode().encode("utf-16"),
    "latin-1": lambda content: content.replace(b"a", b"\xe4"),
    "cut-gzip": lambda content: gzip.compress(content)[:-9],
    "html": lambda content: b"<!doctype html><html><body>404 not found</body></html>\n",
    "lfs-pointer": lambda content: b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n",
}
HARMLESS = {"utf-16"}
"""What says of itself how it is to be read."""
DOORS: dict[str, tuple[tuple[str, ...], ...]] = {
    "suite.jsonl": (CHECK, TRY, EXPORT, COMPARE, PLANNED[0]),
    "answers.jsonl": (TRY, GATE, COMPARE, PLANNED[3]),
    "plan.toml": PLANNED,
    "gate.toml": (GATE,),
    "table.csv": (IMPORT,),
    "matrix.csv": (("compare", "--matrix", "matrix.csv"),),
    "result.json": (("gate", "result.json", "--rules", "gate.toml"),),
}


def wrong_encodings() -> Iterator[Wrong]:
    for file, commands in DOORS.items():
        verbs = cycle(commands)
        for name, damage in DAMAGES.items():
            content = damage(RIGHT.get(file, b'{"jobs": [{}], "measures": []}'))
            yield Wrong(f"{file}-{name}", next(verbs), {file: content}, may_be_read=name in HARMLESS)


# Settings

WRONG_SETTINGS: dict[str, tuple[str, ...]] = {
    "tolerance": ("5", "-1", "nan", "inf", "a", ""),
    "slack": ("2", "-1", "nan"),
    "resamples": ("0", "-5", "9", "1.5", "many", "1e99"),
    "limit": ("-1", "1.5", "all"),
    "seed": ("-1", "4294967296", "x", "1.5"),
    "profile": ("best", "", "Paper"),
    "split": ("tset", "absent.csv", "suite.jsonl"),
    "edits": ("all", "None"),
    "duplicates": ("maybe",),
    "split_by": ("chance",),
    "directional": ("up",),
    "band": ("wide",),
    "suite": ("absent", "", ".", "answers.jsonl", "wrong_models.py"),
    "only": ("functionality=nope", "nope", "functionalty=praise", "capability="),
    "siute": ("own",),
    "train": ("iid",),
    "iid": ("sentiment",),
    "shuffles": ("0",),
    "sample_seed": ("-1",),
    "no value": ("x",),
}


def wrong_settings() -> Iterator[Wrong]:
    verbs = cycle([TRY[:3], COMPARE[:3], GATE[:4]])
    for name, values in WRONG_SETTINGS.items():
        for value in values:
            base = () if name == "suite" else ("--set", "suite=suite.jsonl")
            yield Wrong(f"set-{name}={value}", (*next(verbs), *base, "--set", f"{name}={value}"))
    for pair in ("suite", "=", "", "suite=suite.jsonl"):
        yield Wrong(f"pair-{pair}", (*TRY, "--set", pair))
    for option in (
        ("--limit", "0"),
        ("--limit", "x"),
        ("--only", "nope=*"),
        ("--only", "zzz*"),
        ("--nonsense",),
    ):
        yield Wrong(f"option-{'='.join(option)}", (*TRY, *option))


# Specs

WRONG_SPECS = (
    "", ":", "hf:", "predictions:", "python:", "tiny:", "nonsense:bert", "Predictions:answers.jsonl",
    "hf:absent/folder", "hf:answers.jsonl", "hf:.", "absent-folder-of-a-model/x", "tiny:foo", "tiny:sentimnet",
    "python:json", "python:absent_module:f", "python:json:absent", "python:json:dumps?timeout=-1",
    "python:json:dumps?timeout=soon", "python:json:dumps?lables=a,b", "python:wrong_models.py:right",
    "python:./wrong_models:right", "vectors:absent.txt", "predictions:absent.jsonl", "predictions:.",
    "predictions:answers.jsonl?format=zip", "predictions:answers.jsonl?format=softmax", "predictions:answers.jsonl?x=1",
    "predictions:answers.jsonl?labels=", "predictions:answers.jsonl?labels=a,a",
    "predictions:answers.jsonl?labels=negative:x:y,b:c", "predictions:answers.jsonl?labels=negative,good,positive",
    "predictions:answers.jsonl?label=absent", "predictions:answers.jsonl?id=absent",
    "predictions:answers.jsonl?normalise=perhaps", "predictions:answers.jsonl?contradictions=maybe",
    "predictions:answers.jsonl?label=pred&label=conf", "predictions:answers.jsonl?label",
    "predictions:answers.jsonl?=x",
    "predictions:table.csv", "predictions:plan.toml", "predictions:suite.jsonl", "predictions:matrix.csv?rows=3",
    "tiny:sentiment?device=gpu", "tiny:sentiment?max_length=0", "tiny:sentiment?labels=negative",
)  # fmt: skip


def wrong_specs() -> Iterator[Wrong]:
    verbs = cycle(
        [
            lambda spec: ("try", "behaviour", spec, *SUITE),
            lambda spec: ("compare", spec, "predictions:answers.jsonl", *SUITE),
            lambda spec: ("gate", spec, "--rules", "gate.toml", *SUITE),
        ]
    )
    for spec in WRONG_SPECS:
        yield Wrong(f"spec-{spec}", next(verbs)(spec))
        plan = PLAN.replace("predictions:answers.jsonl", spec)
        yield Wrong(f"spec-{spec}", PLANNED[0], {"plan.toml": plan.encode()})
    for protocol in ("behavior", "", "mergee", "cood=1"):
        yield Wrong(f"protocol-{protocol}", ("try", protocol, *TRY[2:]))


# Plans

LEARNING = PLAN.replace("[behaviour]", "[learning]")

WRONG_PLANS: dict[str, str] = {
    "not-toml": "models = [",
    "no-protocol": 'models = ["predictions:answers.jsonl"]',
    "no-models": "[behaviour]\nsuite = 'suite.jsonl'",
    "models-number": "models = 3\n[behaviour]",
    "models-of-numbers": "models = [3]\n[behaviour]",
    "models-empty": "models = []\n[behaviour]",
    "models-twice": 'models = ["predictions:answers.jsonl", "predictions:answers.jsonl"]\n[behaviour]',
    "model-without-spec": "[models.a]\nlabels = ['x']\n[behaviour]",
    "model-of-two-minds": '[models.a]\nspec = "predictions:answers.jsonl?label=pred"\nlabel = "x"\n[behaviour]',
    "unknown-key": PLAN + "\n[behavior]\n",
    "unknown-setting": PLAN + "siute = 'x'\n",
    "protocol-number": 'models = ["predictions:answers.jsonl"]\nbehaviour = 3',
    "seeds-text": "seeds = 'x'\n" + PLAN,
    "seeds-negative": "seeds = [-1]\n" + PLAN.replace("resamples", "limit = 3\nresamples"),
    "seeds-twice": "seeds = [1, 1]\n" + PLAN,
    "seeds-empty": "seeds = []\n" + PLAN,
    "seeds-truth": "seeds = [true]\n" + PLAN,
    "seed-and-seeds": "seeds = [1, 2]\n" + PLAN + "seed = 3\n",
    "resamples-text": PLAN.replace("10", '"many"'),
    "tolerance-list": PLAN + "tolerance = [0.1]\n",
    "suite-number": PLAN.replace('"suite.jsonl"', "3"),
    "suite-list": PLAN.replace('"suite.jsonl"', '["suite.jsonl"]'),
    "suite-absent": PLAN.replace("suite.jsonl", "absent.jsonl"),
    "groups-text": PLAN + "\n[groups]\nbase = 'x'\n",
    "groups-number": "groups = 3\n" + PLAN,
    "suite-is-a-folder": PLAN.replace("suite.jsonl", "."),
    "only-list": PLAN + "only = [3]\n",
    "only-table": PLAN + "only = {a = 3}\n",
    "only-with-hold-out": LEARNING + 'only = ["praise"]\nhold_out = ["functionality"]\niid = "sentiment"\n',
    "key-twice": PLAN + "resamples = 20\n",
    "train-in-behaviour": PLAN + "iid = 'sentiment'\n",
    "train-text": LEARNING + "train = 'iid'\n",
    "train-unknown": LEARNING + "[learning.train]\nepoch = 3\n",
    "train-answers": LEARNING + "iid = 'sentiment'\n[learning.train]\non = ['iid']\n",
}


def wrong_plans() -> Iterator[Wrong]:
    for position, (name, text) in enumerate(WRONG_PLANS.items()):
        command = PLANNED[position % 4]
        yield Wrong(f"plan-{name}", command, {"plan.toml": text.encode()})
    for command in PLANNED:
        yield Wrong("plan-absent", (command[0], "absent.toml"))
    for name in ("--workers=0", "--workers=x", "--on=moon", "--into=plan.toml"):
        yield Wrong(f"option-{name}", ("run", "plan.toml", *name.split("=")))
    yield Wrong("out-nowhere", ("report", "plan.toml", "--out", "/nonexistent/report.html"))
    yield Wrong("into-empty", ("report", "plan.toml", "--into", "nowhere"))


# Rules and results

WRONG_RULES: dict[str, str] = {
    "not-toml": "[[rule]",
    "no-rules": "",
    "unknown-table": "[[rules]]\nat_least = 0.9\n",
    "rule-number": "rule = 3\n",
    "no-limit": '[[rule]]\nfunctionality = "praise"\n',
    "two-limits": "[[rule]]\nat_least = 0.9\nat_most = 1\n",
    "limit-text": '[[rule]]\nat_least = "high"\n',
    "limit-truth": "[[rule]]\nat_least = true\n",
    "limit-nan": "[[rule]]\nat_least = nan\n",
    "limit-per-cent": "[[rule]]\nat_least = 90\n",
    "limit-below": "[[rule]]\nat_least = -0.5\n",
    "limit-huge": "[[rule]]\nat_most = 1e9\n",
    "functionality-unknown": '[[rule]]\nfunctionality = "prase"\nat_least = 0.1\n',
    "functionality-strange": '[[rule]]\nfunctionality = "zzz"\nat_least = 0.1\n',
    "functionality-number": "[[rule]]\nfunctionality = 3\nat_least = 0.1\n",
    "group-unknown": '[[rule]]\nfunctionalty = "praise"\nat_least = 0.1\n',
    "groups-apart": '[[rule]]\nfunctionality = "praise"\ncapability = "fairness"\nat_least = 0.1\n',
    "measure-unknown": '[[rule]]\nmeasure = "accuracy"\nat_least = 0.1\n',
    "measure-number": "[[rule]]\nmeasure = 3\nat_least = 0.1\n",
    "judge-unknown": '[[rule]]\njudge = "kindly"\nat_least = 0.1\n',
    "allow-text": '[[rule]]\nallow_errors = "yes"\nat_least = 0.1\n',
    "no-baseline": "[[rule]]\nno_worse_than_baseline_by = 0.1\n",
    "worse-than-nothing": "[[rule]]\nno_worse_than_baseline_by = -0.1\n",
}
WRONG_RESULTS: dict[str, str] = {
    "list": "[]",
    "number": "3",
    "no-measures": '{"jobs": [{}]}',
    "no-jobs": '{"jobs": [], "measures": []}',
    "two-jobs": '{"jobs": [{}, {}], "measures": []}',
    "job-text": '{"jobs": ["x"], "measures": []}',
    "measures-text": '{"jobs": [{}], "measures": "x"}',
    "measures-empty": '{"jobs": [{}], "measures": []}',
    "measure-without-value": '{"jobs": [{}], "measures": [{"name": "suite score"}]}',
    "value-text": '{"jobs": [{}], "measures": [{"name": "suite score", "value": "high", "n": 3}]}',
    "n-text": '{"jobs": [{}], "measures": [{"name": "suite score", "value": 0.9, "n": "three"}]}',
    "settings-wrong": '{"jobs": [{"protocol": "behaviour", "settings": {"tolerance": 9}}], "measures": []}',
    "deep": "[" * 100_000,
}


def wrong_rules() -> Iterator[Wrong]:
    for name, text in WRONG_RULES.items():
        yield Wrong(f"rules-{name}", GATE, {"gate.toml": text.encode()})
    for name, text in WRONG_RESULTS.items():
        command = ("gate", "result.json", "--rules", "gate.toml")
        yield Wrong(f"result-{name}", command, {"result.json": text.encode()})
    yield Wrong("result-absent", ("gate", "absent.json", "--rules", "gate.toml"))
    yield Wrong("result-of-a-job", ("gate", "nope", "--rules", "gate.toml"))
    yield Wrong("rules-absent", ("gate", "predictions:answers.jsonl", "--rules", "absent.toml"))
    yield Wrong("junit-nowhere", (*GATE, "--junit", "/nonexistent/x.xml"))
    relative = {"gate.toml": b"[[rule]]\nno_worse_than_baseline_by = 0.1\n"}
    yield Wrong("baseline-absent", (*GATE, "--baseline", "absent.json"), relative)
    yield Wrong("baseline-of-others", (*GATE, "--baseline", "predictions:example"), relative)


# Tables to import, names of jobs, and the rest

WRONG_TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "no-such-text": (TABLE, ("--text", "sentence", "--label", "label")),
    "no-such-label": (TABLE, ("--text", "text", "--label", "gold")),
    "three-texts": (TABLE, ("--text", "text", "--text", "kind", "--text", "label", "--label", "label")),
    "no-label": (TABLE, ("--text", "text")),
    "label-only": (TABLE, ("--label", "label")),
    "no-columns": (TABLE, ()),
    "blank-label": ("text,label\na,\nb,positive\n", ("--text", "text", "--label", "label")),
    "blank-text": ("text,label\n ,positive\nb,negative\n", ("--text", "text", "--label", "label")),
    "one-label": ("text,label\na,positive\nb,positive\n", ("--text", "text", "--label", "label")),
    "short-row": ("text,label\na\nb,positive\n", ("--text", "text", "--label", "label")),
    "long-row": ("text,label\na,positive,x\nb,negative\n", ("--text", "text", "--label", "label")),
    "column-twice": ("text,text,label\na,b,positive\n", ("--text", "text", "--label", "label")),
    "unclosed-quote": ('text,label\n"a,positive\nb,negative\n', ("--text", "text", "--label", "label")),
    "header-only": ("text,label\n", ("--text", "text", "--label", "label")),
    "id-twice": (
        "id,text,label\n1,a,positive\n1,b,negative\n",
        ("--text", "text", "--label", "label", "--id", "id"),
    ),
    "names-half": (TABLE, ("--text", "text", "--label", "label", "--labels", "positive=good")),
    "names-crooked": (TABLE, ("--text", "text", "--label", "label", "--labels", "positive")),
    "names-twice": (
        TABLE,
        ("--text", "text", "--label", "label", "--labels", "positive=a", "--labels", "positive=b"),
    ),
    "type-unknown": (TABLE, ("--text", "text", "--label", "label", "--type", "XYZ")),
    "type-without-columns": (TABLE, ("--type", "INV")),
    "inv-without-variant": (TABLE, ("--type", "INV", "--original", "text")),
    "dir-without-rule": (TABLE, ("--type", "DIR", "--original", "text", "--variant", "kind")),
    "dir-rule-unknown": (
        TABLE,
        ("--type", "DIR", "--original", "text", "--variant", "kind", "--expect", "up"),
    ),
    "expect-unknown": (TABLE, ("--text", "text", "--label", "label", "--expect", "nonsense")),
}


def wrong_tables() -> Iterator[Wrong]:
    for name, (text, options) in WRONG_TABLES.items():
        yield Wrong(
            f"table-{name}",
            ("import", "table.csv", "--out", "out.jsonl", *options),
            {"table.csv": text.encode()},
        )
    yield Wrong(
        "onto-itself", ("import", "table.csv", "--out", "table.csv", "--text", "text", "--label", "label")
    )
    yield Wrong("out-nowhere", (*IMPORT[:3], "/nonexistent/x.jsonl", *IMPORT[4:]))
    yield Wrong("absent", ("import", "absent.csv", "--out", "out.jsonl"))
    yield Wrong("prose", ("import", "gate.toml", "--out", "out.jsonl"))
    for out in ("/nonexistent/x.jsonl", "out.txt", "out", "."):
        yield Wrong(f"out-{out}", ("export", "suite.jsonl", "--out", out))
    for suite in ("absent", "sentimnet", "answers.jsonl", "plan.toml"):
        yield Wrong(f"suite-{suite}", ("export", suite, "--out", "out.jsonl"))


def wrong_names() -> Iterator[Wrong]:
    for name in ("nope", "", "*", "../../etc", "own\x1b[2J"):
        yield Wrong(f"job-{name!r}", ("show", name, "--into", "RUNS"))
    for options in (
        ("--only", "praise"), ("--json", "--csv"), ("--csv", "--jsonl"), ("--failing", "--json"),
        ("--failing", "--only", "nope"), ("--failing", "--only", "functionality=nope*"), ("--csv", "--only", "zzz"),
    ):  # fmt: skip
        yield Wrong(f"options{''.join(options)}", ("show", "own", "--into", "RUNS", *options))
    for arguments in (
        ("predictions:answers.jsonl",), (), ("a", "b", "c"), ("--a", "x"), ("nope", "nope", "--into", "RUNS"),
        (*COMPARE[1:], "--json", "--csv"), (*COMPARE[1:], "--adjust", "no"), (*COMPARE[1:], "--margin", "inf"),
        (*COMPARE[1:], "--protocol", "cod"),
        (*COMPARE[1:3], "--set", "suite=suite.jsonl", "--a", "x"), ("--matrix", "absent.csv"),
        ("--matrix", "table.csv"), ("--matrix", "matrix.csv", "--csv"), ("plan.toml", "gate.toml"),
    ):  # fmt: skip
        yield Wrong(f"names-{'-'.join(arguments[:4])}", ("compare", *arguments))
    for matrix in (
        "run_id,item_id,outcome\na,1,2\n",
        "run_id,item_id,outcome\na,1,1\na,1,0\n",
        "run_id,item_id,outcome\n",
    ):
        yield Wrong(
            f"matrix-{len(matrix)}", ("compare", "--matrix", "matrix.csv"), {"matrix.csv": matrix.encode()}
        )
    for what in ("modles", "suite", ""):
        yield Wrong(f"what-{what}", ("list", what))
    for name, folder in (
        ("foo", "."),
        ("hatecheck", "."),
        ("hatecheck", "absent"),
        ("stereoset", "."),
        ("", "."),
    ):
        yield Wrong(f"{name}-in-{folder}", ("reproduce", name, "--data", folder))
    for file in (
        "absent.jsonl",
        "absent.toml",
        ".",
        "sentimnet",
        "table.csv",
        "gate.toml",
        "wrong_models.py",
    ):
        yield Wrong(f"file-{file}", ("check", file))


def wrong_questions() -> Iterator[Wrong]:
    """To `explain` and `rank`, which ask models about single texts and about a table."""
    steady = "python:wrong_models:right"
    for spec in (
        "tiny:foo",
        "predictions:answers.jsonl",
        "python:absent_module:f",
        "hf:absent/folder",
        "vectors:x",
        steady,
    ):
        yield Wrong(f"model-{spec}", ("explain", spec, "A fine film."))
    for options in (
        ("",), ("A film.", "--method", "magic"), ("A film.", "--label", "sad"), ("A film.", "--samples", "0"),
        ("A film.", "--samples", "x"), ("A film.", "--seed", "-1"), ("A film.", "--absent", "gone"), ("a", "b", "c"),
        ("\ud83d",), (" ",),
    ):  # fmt: skip
        yield Wrong(f"options-{'-'.join(options)}", ("explain", "tiny:sentiment", *options))
    for name, content in {
        "empty": b"", "header": b"text,label\n", "one-column": b"text\na\n", "no-text": b"x,y\n1,2\n",
        "blank-label": b"text,label\na,\nb,positive\n", "other-labels": b"text,label\na,up\nb,down\n",
        "numbers": b"text,label\na,0\nb,1\n", "noise": bytes(range(256)), "html": b"<html></html>\n",
    }.items():  # fmt: skip
        command = ("rank", "tiny:sentiment", steady, "--data", "ten.csv")
        yield Wrong(f"data-{name}", command, {"ten.csv": content})
    for arguments in (
        (), ("tiny:sentiment",), (steady, steady, "--data", "table.csv"), (steady, "tiny:foo", "--data", "table.csv"),
        (steady, "tiny:sentiment", "--data", "absent.csv"), (steady, "tiny:sentiment"),
        (steady, "tiny:sentiment", "--data", "table.csv", "--set", "text=absent"),
        (steady, "tiny:sentiment", "--data", "table.csv", "--set", "txt=text"),
        (steady, "tiny:sentiment", "--data", "table.csv", "--out", "next.csv"),
        (steady, "tiny:sentiment", "--data", "table.csv", "--pool", "absent.csv"),
    ):  # fmt: skip
        yield Wrong(f"names-{'-'.join(arguments)}", ("rank", *arguments))


def wrong_sizes() -> Iterator[Wrong]:
    """To `plan-size`, which asks how much it takes to see a difference."""
    pilot = ("predictions:answers.jsonl", "predictions:other.jsonl", *SUITE)
    for options in (
        (), ("--difference", "0"), ("--difference", "5"), ("--difference", "nan"), ("--difference", "x"),
        ("--difference", "-2"), ("--difference", "0.1", "--power", "0"), ("--difference", "0.1", "--power", "1"),
        ("--difference", "0.1", "--power", "80"), ("--difference", "0.1", "--row", "prase"),
        ("--difference", "0.1", "--row", "zzz"), ("--difference", "0.1", "--differing", "2"),
        ("--difference", "0.1", "--differing", "nan"),
        ("--difference", "0.1", "--a", "nope"),
    ):  # fmt: skip
        yield Wrong(f"options{'-'.join(options)}", ("plan-size", *pilot, *options))
    for names in (
        (),
        ("nope",),
        ("absent.json",),
        ("a", "b", "c"),
        ("predictions:absent.jsonl",),
        ("plan.toml",),
    ):
        yield Wrong(f"pilot-{'-'.join(names)}", ("plan-size", *names, "--difference", "0.1"))


def wrong_names_of_files() -> Iterator[Wrong]:
    """Names that are too long, files that would overwrite what they are made of, runs without an outcome."""
    long = "x" * 5_000
    yield Wrong("too-long", ("export", long, "--out", "out.jsonl"))
    yield Wrong("too-long", ("gate", long, "--rules", "gate.toml"))
    for verb in (*PLANNED[::2], PLANNED[3], ("show", "own")):
        yield Wrong("into-too-long", (*verb, "--into", long))
    for verb in (EXPORT[:2], COMPARE, ("report", "plan.toml", "--into", "RUNS")):
        for out in ("", long, "x" * 300 + ".html"):
            yield Wrong(f"out-of-{len(out)}-letters", (*verb, "--out", out))
    yield Wrong("onto-itself", ("export", "suite.jsonl", "--out", "suite.jsonl"))
    yield Wrong("onto-the-plan", ("report", "plan.toml", "--into", "RUNS", "--out", "plan.toml"))
    for file in ("suite.jsonl", "answers.jsonl", "./other.jsonl"):
        yield Wrong(f"onto-{file}", (*COMPARE, "--out", file))
        yield Wrong(f"onto-{file}", (*GATE, "--baseline", "predictions:other.jsonl", "--junit", file))
    yield Wrong("onto-the-rules", (*GATE, "--junit", "gate.toml"))
    yield Wrong(
        "onto-the-data",
        (
            *("rank", "tiny:sentiment", "python:wrong_models:right", "--data", "table.csv"),
            *("--pool", "matrix.csv", "--out", "table.csv"),
        ),
    )
    for name, rows in {
        "undecided": "a,1,nan,x\nb,1,1,x\n",
        "undecided-in-a-group": "a,1,1,x\nb,1,1,x\na,2,NA,y\nb,2,1,y\n",
        "blank": ",,,\n",
    }.items():
        matrix = f"run_id,item_id,outcome,group\n{rows}".encode()
        yield Wrong(f"matrix-{name}", ("compare", "--matrix", "matrix.csv"), {"matrix.csv": matrix})


EVERY = [
    *wrong_suites(),
    *wrong_answers(),
    *odd_answers(),
    *wrong_encodings(),
    *wrong_settings(),
    *wrong_specs(),
    *wrong_plans(),
    *wrong_rules(),
    *wrong_tables(),
    *wrong_names(),
    *wrong_questions(),
    *wrong_sizes(),
    *wrong_names_of_files(),
]


def shoal(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, arguments)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A store with one job that is done."""
    folder = tmp_path_factory.mktemp("right")
    write(folder, RIGHT)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert shoal("run", "plan.toml", "--into", "runs").exit_code == 0
    return folder / "runs"


def write(folder: Path, files: Mapping[str, bytes | None]) -> None:
    for name, content in files.items():
        if content is None:
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_bytes(content)


def number_in(output: str) -> float | None:
    """The suite score that a verb printed, if it printed one."""
    for line in output.splitlines():
        words = line.split()
        if line.startswith("Suite score") and len(words) > 2:
            return float(words[2]) / 100
    return None


def sampled() -> Iterator[Any]:
    """Yield every wrong input as a parameter: three of each verb for every run, the others for the nightly one."""
    seen: Counter[str] = Counter()
    for number, wrong in enumerate(EVERY):
        seen[wrong.command[0]] += 1
        marks = () if seen[wrong.command[0]] <= 3 else (pytest.mark.nightly,)
        yield pytest.param(wrong, id=f"{number:03d}-{ascii(wrong.id)[1:-1]}", marks=marks)


@pytest.mark.parametrize("wrong", list(sampled()))
def test_a_wrong_input_is_refused_with_a_remedy(wrong, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    write(tmp_path, RIGHT)
    write(tmp_path, wrong.files)
    before = {path.name for path in tmp_path.iterdir()}
    done = shoal(*(str(runs) if word == "RUNS" else word for word in wrong.command))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert "Traceback" not in done.output and "\x1b" not in done.output
    if done.exit_code == 0:
        assert wrong.may_be_read, f"read without a word:\n{done.output}"
        assert number_in(done.output) in (None, pytest.approx(SCORE, abs=0.0006))
        return
    assert done.exit_code in (1, 2), done.output
    remedy = "\n  try: " if done.exit_code == 1 else "Usage: "
    assert "Error: " in done.output and remedy in done.output, done.output
    left = {path.name for path in tmp_path.iterdir()} - before - {"runs", "__pycache__"}
    assert not left, f"left behind: {left}"


@pytest.mark.parametrize(
    "command",
    [TRY, COMPARE, GATE, CHECK, EXPORT, IMPORT, *PLANNED],
    ids=lambda command: "-".join(command[:2]),
)
def test_in_the_right_world_every_verb_works(command, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, RIGHT)
    store = ("--into", str(runs)) if command in PLANNED[2:] else ()
    done = shoal(*command, *store)
    assert done.exit_code == 0, done.output
    assert number_in(done.output) in (None, pytest.approx(SCORE, abs=0.0006))
    assert command[0] != "try" or number_in(done.output) is not None


def test_there_are_hundreds_of_them_and_they_go_to_every_verb():
    assert len(EVERY) >= 300
    assert {wrong.command[0] for wrong in EVERY} == set(main.commands)


def test_a_matrix_of_thousands_of_runs_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"run{n},1,{n % 2}\n" for n in range(1_500))
    (tmp_path / "matrix.csv").write_text(f"run_id,item_id,outcome\n{rows}")
    done = shoal("compare", "--matrix", "matrix.csv", "--json")
    assert done.exit_code == 0, done.exc_info
    assert "Infinity" not in done.output and "NaN" not in done.output
