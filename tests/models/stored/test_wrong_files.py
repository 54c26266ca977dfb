"""Some hundred files that are wrong in one place: each is read right, or refused in words that say what to do.

A traceback, a wrong answer, a message without a remedy or one that never ends fails.
"""

import gzip
import io
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shoal import Suite, case, write_suite
from shoal.cli import main
from shoal.core.errors import ShoalError
from shoal.protocols.behaviour.expect import Expect

LABELS = ("negative", "neutral", "positive")
RIGHT = ["positive", "negative", "neutral"]
VECTORS = [[0.1, 0.2, 0.7], [0.8, 0.1, 0.1], [0.2, 0.6, 0.2]]
ROWS: list[dict[str, Any]] = [
    {"functionality": "words", "case_id": str(number), "example_idx": 0, "pred": name, "conf": vector}
    for number, (name, vector) in enumerate(zip(RIGHT, VECTORS, strict=True), start=1)
]
RAW = {"not a number": "NaN", "infinity": "-Infinity", "5,000 digits": "9" * 5000, "too large": "1e999"}
"""What only the text of a JSON file can hold."""
VALUES: dict[str, Any] = {
    "null": None, "true": True, "empty": "", "blank": "  ", "list": [], "nested list": [[0.1, 0.2, 0.7]],
    "object": {}, "number": 7, "half": 0.5, "negative": -1, "huge": 10**400, "surrogate": "\ud800",
    "long": "x" * 200_000, "newline": "a\nb", "escape": "\x1b[31mred",
    "bidi": "\u202epositive", "text": "high", "zero": 0, "big": 2**63,
    "list of texts": ["a", "b", "c"], "list with null": [0.1, None, 0.9], "list of truth": [True, False, False],
    "short list": [0.3, 0.7], "long list": [0.1, 0.2, 0.3, 0.4], "empty text list": ["", "", ""],
    "percent": [10, 20, 70],
    "logits": [-3.2, 0.4, 2.8], "half list": [0.35, 0.1, 0.3], "huge list": [10**400, 0, 0],
}  # fmt: skip


def json_lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def changed(field: str, value: Any) -> list[dict[str, Any]]:
    return [{**row, field: value} if place == 1 else row for place, row in enumerate(ROWS)]


def wrong_json() -> Iterator[tuple[str, str, bytes]]:
    for field in ROWS[0]:
        for name, value in VALUES.items():
            yield f"{field} {name}", "p.jsonl", json_lines(changed(field, value))
        for name, token in RAW.items():
            text = json_lines(changed(field, "@")).decode().replace('"@"', token)
            yield f"{field} {name}", "p.jsonl", text.encode()
        without = [{key: value for key, value in row.items() if key != field} for row in ROWS]
        yield f"{field} missing", "p.jsonl", json_lines(without)
        yield f"{field} list missing", "p.json", json.dumps(without).encode()
    yield "a list", "p.jsonl", json.dumps(ROWS).encode()
    yield "a list in a list", "p.json", json.dumps([ROWS]).encode()
    yield "words in a list", "p.json", json.dumps(RIGHT).encode()
    yield "a number", "p.json", b"[7]"
    yield "an object", "p.json", json.dumps({"predictions": ROWS}).encode()
    yield "cut short", "p.jsonl", json_lines(ROWS)[:-20]
    yield "list cut short", "p.json", json.dumps(ROWS).encode()[:-20]
    yield "deep", "p.jsonl", b'{"case_id":' * 50_000
    yield "deep list", "p.json", b"[" * 200_000
    yield "a comma too many", "p.jsonl", json_lines(ROWS).replace(b"}\n", b"},\n")
    yield "single quotes", "p.jsonl", "\n".join(map(str, ROWS)).encode()


CSV = [
    "functionality,case_id,label,negative,neutral,positive",
    *(
        ",".join(["words", str(number), name, *map(str, vector)])
        for number, (name, vector) in enumerate(zip(RIGHT, VECTORS, strict=True), start=1)
    ),
]


def csv_text(lines: list[str], end: str = "\n") -> str:
    return end.join(lines) + end


def wrong_tables() -> Iterator[tuple[str, str, bytes]]:
    cells = [
        "",
        "  ",
        "nan",
        "inf",
        "-0.1",
        "1e999",
        "9" * 5000,
        "x" * 200_000,
        '"a\nb"',
        "0x1",
        "1_0",
        "٠",
        "0,5",
        "½",
        "%",
    ]
    for column, name in enumerate(CSV[0].split(",")):
        for cell in cells:
            row = CSV[2].split(",")
            row[column] = cell if cell != "0,5" else '"0,5"'
            yield f"{name} {cell[:8]}", "p.csv", csv_text([*CSV[:2], ",".join(row), CSV[3]]).encode()
        without = [
            ",".join(cell for place, cell in enumerate(line.split(",")) if place != column) for line in CSV
        ]
        yield f"{name} missing", "p.csv", csv_text(without).encode()
        yield (
            f"{name} twice",
            "p.csv",
            csv_text([f"{line},{line.split(',')[column]}" for line in CSV]).encode(),
        )
    text = csv_text(CSV)
    for encoding in ("utf-16", "utf-32", "utf-8-sig", "cp037"):
        yield encoding, "p.csv", text.encode(encoding)
    yield "latin1", "p.csv", text.replace("words", "wörds").encode("latin1")
    for name, end in (("CR", "\r"), ("CRLF", "\r\n"), ("NEL", "\x85"), ("both", "\n\r"), ("two", "\n\n")):
        yield f"ends in {name}", "p.csv", csv_text(CSV, end).encode()
    for name, mark in (("semicolons", ";"), ("tabs", "\t"), ("bars", "|"), ("blanks", " ")):
        yield name, "p.csv", text.replace(",", mark).encode()
    yield "open quote", "p.csv", text.replace("negative,0.8", '"negative,0.8').encode()
    yield "open quote in the header", "p.csv", ('"' + text).encode()
    yield "stray quote", "p.csv", text.replace("words,2", 'wo"rds,2').encode()
    yield (
        "all quoted",
        "p.csv",
        csv_text([",".join(f'"{cell}"' for cell in line.split(",")) for line in CSV]).encode(),
    )
    yield "no header", "p.csv", csv_text(CSV[1:]).encode()
    yield "header alone", "p.csv", csv_text(CSV[:1]).encode()
    yield "empty", "p.csv", b""
    yield "one byte", "p.csv", b"\xff"
    yield "NUL", "p.csv", text.replace("words", "wo\0rds").encode()
    yield "a field too many", "p.csv", text.replace("words,2", "words,x,2").encode()
    yield "a row twice", "p.csv", csv_text([*CSV, CSV[1]]).encode()
    yield "a row too few", "p.csv", csv_text(CSV[:-1]).encode()
    yield "a stranger", "p.csv", csv_text([*CSV, CSV[1].replace("words,1", "words,9")]).encode()
    yield "capitals in the header", "p.csv", csv_text([CSV[0].upper(), *CSV[1:]]).encode()
    yield "blanks in the header", "p.csv", csv_text([CSV[0].replace(",", ", "), *CSV[1:]]).encode()
    yield "many columns", "p.csv", (",".join(map(str, range(50_000))) + "\n").encode()
    yield "zipped and cut", "p.csv.gz", gzip.compress(text.encode())[:-9]
    yield "zipped twice", "p.csv.gz", gzip.compress(gzip.compress(text.encode()))
    yield "line ends without end", "p.jsonl.gz", gzip.compress(b"\n" * 2_000_000)


def wrong_texts() -> Iterator[tuple[str, str, bytes]]:
    fine = {
        "pred_only": "neutral",
        "softmax": ".2 .6 .2",
        "pred_and_conf": "1 .6",
        "pred_and_softmax": "1 .2 .6 .2",
    }
    lines = {
        "pred_only": ["2", "0"], "softmax": [".1 .2 .7", ".8 .1 .1"], "pred_and_conf": ["2 .7", "0 .8"],
        "pred_and_softmax": ["2 .1 .2 .7", "0 .8 .1 .1"],
    }  # fmt: skip
    words = ["", " ", "\t", "3", "-1", "1.5", "nan", "x" * 200_000, "9" * 5000, "1 2", "1 nan", "1 inf .2 .2", "0 0 0",
             "1 1 1 1 1", "\x1b[1m", "neutral .2 .6 .2", "1,.2,.6,.2", "7 .2 .6 .2", "1 .6 .2 .2"]  # fmt: skip
    for name, start in lines.items():
        for word in words:
            content = "\n".join([*start, word]) + "\n"
            yield f"{name} {word[:10]!r}", f"p.txt?format={name}", content.encode()
        for count in (1, 2, 4):
            content = "\n".join([*start, fine[name], fine[name]][:count]) + "\n"
            yield f"{name} of {count} lines", f"p.txt?format={name}", content.encode()
    yield "binary_conf", "p.txt?format=binary_conf", b".1\n.9\n.5\n"
    yield "binary_conf out of range", "p.txt?format=binary_conf", b".1\n1.9\n.5\n"


def wrong_binaries() -> Iterator[tuple[str, str, bytes]]:
    import openpyxl
    import pyarrow
    from pyarrow import feather, parquet

    columns = {"id": ["1", "2", "3"], "label": RIGHT}
    made: dict[str, bytes] = {}
    for name, write in (("p.parquet", parquet.write_table), ("p.feather", feather.write_feather)):
        out = io.BytesIO()
        write(pyarrow.table(columns), out)
        made[name] = out.getvalue()
    book = openpyxl.Workbook()
    for row in [list(columns), *zip(*columns.values(), strict=True)]:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    made["p.xlsx"] = out.getvalue()
    for name, content in made.items():
        yield f"{name} whole", name, content
        yield f"{name} under another name", "p.bin", content
        yield f"{name} zipped", name + ".gz", gzip.compress(content)
        # Named by parts, not by bytes: a workbook holds the time, and test processes must see the same names.
        for words, cut in {"4": 4, "8": 8, "half": len(content) // 2, "the end": len(content) - 3}.items():
            yield f"{name} cut at {words}", name, content[:cut]
        for number in range(25):
            place = 12 + number * (len(content) - 13) // 25
            flipped = bytes([*content[:place], content[place] ^ 0xFF, *content[place + 1 :]])
            yield f"{name} flipped in part {number}", name, flipped
    yield "magic alone", "p.arrow", b"\xff\xff\xff\xff" + bytes(100)
    yield "an old workbook", "p.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
    yield "a picture", "p.csv", b"\x89PNG\r\n\x1a\n" + bytes(500)
    yield "a zip of nothing", "p.xlsx", b"PK\x03\x04" + bytes(30)
    for name, values in {
        "dates": pyarrow.array([1, 2, 3], pyarrow.timestamp("s")), "bytes": [b"\xff", b"a", b"b"], "null": [None] * 3,
        "truth": [True, False, True], "halves": [0.5, 1.5, 2.5], "lists": [[1], [2], [3]], "floats": [2.0, 0.0, 1.0],
        "not a number": [float("nan")] * 3, "numbers": [2, 0, 1],
    }.items():  # fmt: skip
        out = io.BytesIO()
        parquet.write_table(pyarrow.table({"id": columns["id"], "label": values}), out)
        yield f"labels of {name}", "p.parquet", out.getvalue()
        out = io.BytesIO()
        parquet.write_table(pyarrow.table({"id": values, "label": RIGHT}), out)
        yield f"ids of {name}", "p.parquet", out.getvalue()


def wrong_options() -> Iterator[tuple[str, str, bytes]]:
    text = csv_text(CSV).encode()
    for options in (
        "formt=csv", "format=excel", "format=", "format=parquet", "format=xlsx", "format=arrow", "format=jsonl",
        "format=json", "format=dataset", "format=softmax", "format=stereoset", "id=", "id=nr", "id=label",
        "label=nr", "label=positive", "label=a.b.c", "label=" + "a." * 20_000, "labels=", "labels=a,b",
        "labels=a:b", "labels=negative,neutral", "labels=positive,neutral,negative,other",
        "labels=positive:negative", "labels=\\", "probabilities=negative", "probabilities=negative,positive",
        "probabilities=negative,negative,positive", "probabilities=,", "probabilities=nr,nr2", "normalise=maybe",
        "contradictions=drop", "header=2", "rows=a", "sheet=one", "label=label&label=case_id", "%ff", "=", "&",
    ):  # fmt: skip
        yield f"?{options[:60]}", f"p.csv?{options}", text


SOURCES = [wrong_json, wrong_tables, wrong_texts, wrong_binaries, wrong_options]
FILES = [
    pytest.param(name, content, id=f"{source.__name__}: {title}")
    for source in SOURCES
    for title, name, content in source()
]


@pytest.fixture(scope="module")
def suite() -> Suite:
    made = Suite("toy", labels=LABELS)
    made.add_functionality("words", "v", "MFT", Expect("pred_equals_label"))
    for number, name in enumerate(RIGHT, start=1):
        made.add_case("words", str(number), case(f"text {number}", label=name))
    return made


def test_there_are_hundreds_of_them():
    assert len(FILES) > 400


@pytest.mark.parametrize(("name", "content"), FILES)
def test_a_wrong_file_is_read_right_or_refused_with_a_remedy(tmp_path, suite, ask, named, name, content):
    file, _, options = name.partition("?")
    (tmp_path / file).write_bytes(content)
    began = time.process_time()
    try:
        answers = ask(Path(tmp_path / name.partition("?")[0]), suite, f"?{options}" if options else "")
    except ShoalError as problem:
        message = str(problem)
        assert "\n  try: " in message, message
        assert len(message) < 1500 and "Traceback" not in message
        message.encode()  # it can be printed
    else:
        assert named(answers) == RIGHT
        if answers.probabilities is not None:
            pairs = zip(answers.probabilities.tolist(), VECTORS, strict=True)
            assert all(row == vector or all(map(math.isnan, row)) for row, vector in pairs)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("title", ["pred surrogate", "conf huge", "conf 5,000 digits", "ends in NEL", "utf-16", "NUL",
                                   "open quote", "p.parquet cut at 8", "many columns", "?labels=a,b"])  # fmt: skip
def test_on_the_command_line_it_is_a_message_and_no_traceback(tmp_path, suite, title):
    (name, content) = next(param.values for param in FILES if str(param.id).endswith(f": {title}"))
    file, _, options = str(name).partition("?")
    (tmp_path / file).write_bytes(content)
    write_suite(suite, tmp_path / "suite.jsonl")
    spec = f"predictions:{tmp_path / file}?{options}"
    done = CliRunner().invoke(main, ["try", "behaviour", spec, "--set", f"suite={tmp_path / 'suite.jsonl'}"])
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit)
    assert done.output.startswith("Error: ") and "\n  try: " in done.output


def test_some_of_them_are_read(tmp_path, suite, ask):
    """Refusing everything would pass the test above."""
    read = set()
    for number, param in enumerate(FILES):
        name, content = param.values
        file, _, options = str(name).partition("?")
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / file).write_bytes(content)
        try:
            ask(folder / file, suite, f"?{options}" if options else "")
        except ShoalError:
            continue
        read.add(str(param.id).partition(": ")[2])
    wanted = {
        "ends in CR", "ends in CRLF", "semicolons", "tabs", "utf-8-sig", "all quoted", "p.parquet whole",
        "p.feather whole", "p.xlsx whole", "p.parquet under another name", "p.parquet zipped", "a list",
        "example_idx null", "pred null", "conf null", "label missing", "functionality missing",
    }  # fmt: skip
    assert wanted <= read and len(read) < len(FILES) / 3
