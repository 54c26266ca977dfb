"""Files that are wrong in one place: each is read right, or is an error that says what to do.

A traceback, a wrong answer, a message without a remedy or one that never ends fails.
"""

import gzip
import json
import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from small_world import lines

from shoal import Suite
from shoal.core.errors import ShoalError

LABELS = ("negative", "neutral", "positive")
RIGHT = ["positive", "negative", "neutral"]
VECTORS = [[0.1, 0.2, 0.7], [0.8, 0.1, 0.1], [0.2, 0.6, 0.2]]
ROWS: list[dict[str, Any]] = [
    {"functionality": "words", "case_id": str(number), "example_idx": 0, "pred": name, "conf": vector}
    for number, (name, vector) in enumerate(zip(RIGHT, VECTORS, strict=True), start=1)
]
VALUES = (
    *(None, True, "", "  ", [], [[0.1, 0.2, 0.7]], {}, 7, 0.5, -1, 10**400, "\ud800", "x" * 200_000, "a\nb"),
    *([0.1, None, 0.9], [True, False, False], [0.3, 0.7], [10, 20, 70], [-3.2, 0.4, 2.8], [10**400, 0, 0]),
)
RAW = ("NaN", "-Infinity", "9" * 5000, "1e999")
"""Tokens that only the text of a JSON file can hold."""
CSV = [
    "functionality,case_id,label,negative,neutral,positive",
    *(
        ",".join(["words", str(number), name, *map(str, vector)])
        for number, (name, vector) in enumerate(zip(RIGHT, VECTORS, strict=True), start=1)
    ),
]
CELLS = ("", "nan", "inf", "-0.1", "1e999", "9" * 5000, "x" * 200_000, '"a\nb"', "0x1", "٠", '"0,5"', "%")
File = tuple[str, bytes]


def changed(field: str, value: Any) -> bytes:
    return lines([row | {field: value} if place == 1 else row for place, row in enumerate(ROWS)])


def wrong_json() -> Iterator[File]:
    for field in ROWS[0]:
        yield from (("p.jsonl", changed(field, value)) for value in VALUES)
        yield from (("p.jsonl", changed(field, "@").replace(b'"@"', token.encode())) for token in RAW)
        without = [{key: value for key, value in row.items() if key != field} for row in ROWS]
        yield "p.json", json.dumps(without).encode()
    yield "p.json", json.dumps([ROWS]).encode()
    yield "p.json", json.dumps(RIGHT).encode()
    yield "p.json", json.dumps({"predictions": ROWS}).encode()
    yield "p.json", json.dumps(ROWS).encode()[:-20]
    yield "p.jsonl", json.dumps(ROWS).encode()
    yield "p.jsonl", lines(ROWS)[:-20]
    yield "p.jsonl", b'{"case_id":' * 50_000
    yield "p.json", b"[" * 200_000
    yield "p.jsonl", lines(ROWS).replace(b"}\n", b"},\n")


def wrong_tables() -> Iterator[File]:
    text = "\n".join(CSV) + "\n"
    for column in range(6):
        for cell in CELLS:
            row = CSV[2].split(",")
            row[column] = cell
            yield "p.csv", "\n".join([*CSV[:2], ",".join(row), CSV[3]]).encode()
        kept = [[cell for place, cell in enumerate(line.split(",")) if place != column] for line in CSV]
        yield "p.csv", "\n".join(map(",".join, kept)).encode()
        yield "p.csv", "\n".join(f"{line},{line.split(',')[column]}" for line in CSV).encode()
    yield from (("p.csv", text.encode(encoding)) for encoding in ("utf-16", "utf-8-sig", "cp037"))
    yield from (("p.csv", text.replace("\n", end).encode()) for end in ("\r", "\r\n", "\x85"))
    yield from (("p.csv", text.replace(",", mark).encode()) for mark in (";", "\t", "|"))
    yield "p.csv", text.replace("negative,0.8", '"negative,0.8').encode()
    yield "p.csv", "\n".join(CSV[1:]).encode()
    yield "p.csv", b""
    yield "p.csv", text.replace("words", "wo\0rds").encode()
    yield "p.csv", (",".join(map(str, range(50_000))) + "\n").encode()
    yield "p.csv.gz", gzip.compress(text.encode())[:-9]


def wrong_texts() -> Iterator[File]:
    starts = {"pred_only": "2\n0", "softmax": ".1 .2 .7\n.8 .1 .1", "pred_and_conf": "2 .7\n0 .8"}
    starts["pred_and_softmax"] = "2 .1 .2 .7\n0 .8 .1 .1"
    words = (
        *("", "3", "-1", "1.5", "nan", "x" * 200_000, "9" * 5000),
        *("1 2", "1 inf .2 .2", "0 0 0", "1 .6 .2 .2"),
    )
    for name, start in starts.items():
        yield from ((f"p.txt?format={name}", f"{start}\n{word}\n".encode()) for word in words)
        yield f"p.txt?format={name}", start.encode()
    yield "p.txt?format=binary_conf", b".1\n1.9\n.5\n"


WRONG_OPTIONS = """format=excel format=parquet format=jsonl format=dataset format=softmax format=stereoset id= id=nr
id=label label=positive label=a.b.c labels=a,b labels=a:b labels=negative,neutral labels=positive:negative rows=a
labels=\\ header=yes sheet=one probabilities=negative probabilities=negative,positive probabilities=, %ff ="""


def wrong_options() -> Iterator[File]:
    for options in (*WRONG_OPTIONS.split(), "label=" + "a." * 20_000):
        yield f"p.csv?{options}", ("\n".join(CSV) + "\n").encode()


@pytest.fixture(scope="module")
def suite(labelled: Any) -> Suite:
    made: Suite = labelled(LABELS, RIGHT)
    return made


@pytest.mark.parametrize("source", [wrong_json, wrong_tables, wrong_texts, wrong_options])
def test_a_wrong_file_is_read_right_or_is_an_error_with_a_remedy(tmp_path, suite, ask, named, source):
    read = 0
    for number, (name, content) in enumerate(source()):
        file, mark, options = name.partition("?")
        path = tmp_path / str(number) / file
        path.parent.mkdir()
        path.write_bytes(content)
        began = time.process_time()
        try:
            answers = ask(path, suite, mark + options)
        except ShoalError as problem:
            message = str(problem)
            assert "\n  try: " in message and len(message) < 1500, (name, content[:200], message)
            message.encode()  # it can be printed
        else:
            read += 1
            assert named(answers) == RIGHT, (name, content[:200])
            if answers.probabilities is not None:
                pairs = zip(answers.probabilities.tolist(), VECTORS, strict=True)
                assert all(row == vector or all(map(math.isnan, row)) for row, vector in pairs)
        assert time.process_time() - began < 10
    # An error for everything would pass the assertions above; all options and texts are wrong.
    assert read < number / 2 and (read > 0 or source in (wrong_options, wrong_texts))
