"""The three released CheckList suites (Ribeiro et al. 2020) as JSON Lines, with their rules attached by name.

The released files hold rules as compiled Python, which is never run. MFT and INV tests follow their type's
default; EXPECTATIONS names the others (`tests/papers/tables/suite_functionalities.csv`). The files do not name the
templates of cases, so they are inferred from the texts.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.files import first_bytes, read_json_lines
from . import Glimpse, SuiteRows, is_pickle
from .pickles import read_suite_pickle

Row = dict[str, Any]

HEADERS: dict[str, Row] = {
    "sentiment": {
        "suite": "SENT",
        "task": "sentiment",
        "label_names": ["negative", "neutral", "positive"],
    },
    "qqp": {"suite": "PARA", "task": "paraphrase", "label_names": ["different", "duplicate"]},
    "squad": {"suite": "READ", "task": "reading comprehension"},
}

TELLING = {"sentiment": "intensifiers", "qqp": "Testing implications", "squad": "Former / Latter"}
"""A test that only this released suite has."""

LESS_SURE: Row = {
    "rule": "conf_of_original_pred_not_higher",
    "tolerance": 0.1,
    "filter": "original pred is neutral",
}
NOT_NEGATIVE: Row = {"rule": "pred_not_0"}
NO_LONGER_DUPLICATE: Row = {"rule": "pred_equals_0", "filter": "original pred is not duplicate"}
STRIPPED: Row = {"rule": "string_equal_after_edge_strip"}
SAME_ANSWER: Row = {"rule": "exact_string_equal_to_original_answer"}
SUBSTITUTED: Row = {"rule": "answer_equals_original_answer_after_same_substitution"}

EXPECTATIONS: dict[str, Row] = {
    # SENT
    "intensifiers": {
        "rule": "conf_of_original_pred_not_lower",
        "tolerance": 0.1,
        "filter": "original pred is neutral",
    },
    "reducers": LESS_SURE,
    '"used to" should reduce': LESS_SURE,
    "add positive phrases": {"rule": "positive_shift >= -tol", "tolerance": 0.1},
    "add negative phrases": {"rule": "positive_shift <= tol", "tolerance": 0.1},
    "simple negations: not negative": NOT_NEGATIVE,
    "simple negations: I thought x was negative, but it was not (should be neutral or positive)": NOT_NEGATIVE,
    "Hard: Negation of negative with neutral stuff in the middle (should be positive or neutral)": NOT_NEGATIVE,
    "Q & A: no": {"rule": "pred_equals_label_except_label1_means_not_0"},
    # PARA
    "(q, paraphrase(q))": {"rule": "pred_equals_1", "aggregate": "all"},
    "Change first name in one of the questions": NO_LONGER_DUPLICATE,
    "Change first and last name in one of the questions": NO_LONGER_DUPLICATE,
    "Change location in one of the questions": NO_LONGER_DUPLICATE,
    "Change numbers in one of the questions": NO_LONGER_DUPLICATE,
    "Keep entitites, fill in with gibberish": {"rule": "pred_equals_0"},
    "Testing implications": {"rule": "implication_triplet"},
    # READ
    "Question typo": SAME_ANSWER,
    "Question contractions": SAME_ANSWER,
    "Add random sentence to context": SAME_ANSWER,
    "Change name everywhere": SUBSTITUTED,
    "Change location everywhere": SUBSTITUTED,
}

EXACT_ANSWERS = {
    "A is COMP than B. Who is more / less COMP?",
    "Intensifiers (very, super, extremely) and reducers (somewhat, kinda, etc)?",
    "size, shape, age, color",
    "A is COMP than B. Who is antonym(COMP)? B",
    "A is more X than B. Who is more antonym(X)? B. Who is less X? B. Who is more X? A. Who is less antonym(X)? A.",
}

DIRECTIONS = {
    "intensifiers": "not_less_conf",
    "reducers": "not_more_conf",
    '"used to" should reduce': "not_more_conf",
    "add positive phrases": "not_less_2",
    "add negative phrases": "not_less_0",
}


def fits(look: Glimpse) -> bool:
    """Return whether this is a released suite."""
    return is_pickle(look.start) or {"test", "test_id", "grouped", "examples"} <= look.first_object.keys()


def read(path: Path) -> SuiteRows:
    """Return the rows of a released suite in our schema; a pickle is recognised by its tests."""
    if not is_pickle(first_bytes(path, 512)):
        first = next(read_json_lines(path))[1]
        return _as_suite(str(first.get("suite")), read_json_lines(path))
    rows = read_suite_pickle(path)
    types = {row["test"]: row["type"] for row in rows}
    name = next((name for name, test in TELLING.items() if test in types), path.name.split(".")[0])
    lost = [
        f"the rule of {test!r}: it was compiled code"
        for test, kind in types.items()
        if kind == "DIR" and test not in EXPECTATIONS
    ]
    return _as_suite(name, enumerate(rows, start=1), lost)


def _as_suite(name: str, lines: Iterator[tuple[int, Row]], lost: Sequence[str] = ()) -> SuiteRows:
    """Return released rows as a suite with rules and labels; `name` is the released one (sentiment, qqp, squad)."""
    reading = name == "squad"
    cases = ((number, _case(row, reading)) for number, row in lines)
    return SuiteRows(HEADERS.get(name, {"suite": name}), cases, list(lost), templated=True)


def _case(row: Row, reading: bool) -> Row:
    name = row["test"]
    expect = EXPECTATIONS.get(name)
    if reading and expect is None:
        expect = {"rule": "exact_string_equal"} if name in EXACT_ANSWERS else STRIPPED
    case = {
        "functionality": name,
        "capability": row["capability"],
        "type": row["type"],
        "case_id": row["case_id"],
        "examples": row["examples"],
        "labels": row["label"],
        "expect": expect,
        "direction": DIRECTIONS.get(name),
    }
    return case | ({"meta": row["meta"]} if row.get("meta") else {})
