"""Suites written in Python, named by their file: run, checked, and every mistake named with its line."""

import json
import sys

import pytest
from click.testing import CliRunner

from shoal import read_suite
from shoal.cli import main
from shoal.core.errors import DataError
from shoal.protocols.behaviour.build import suite_digest
from shoal.protocols.learning.iid import stamp

HOTEL = """
from dataclasses import dataclass
from shoal import Suite, case
from words import GOOD

print("made")
suite = Suite("hotel", labels=("negative", "positive"))
other = Suite("other", labels=("negative", "positive"))

@dataclass
class Room:
    name: "str"

@suite.minimum(capability="vocabulary")
def praise():
    for word in GOOD:
        yield case(f"The {Room('suite').name} was {word}.", label="positive")

@suite.invariance(capability="robustness")
def shouting():
    yield case("A good bed.", "A GOOD BED.")
"""


@pytest.fixture
def hotel(tmp_path):
    (tmp_path / "words.py").write_text('GOOD = ("clean", "quiet")\n')
    path = tmp_path / "hotel.py"
    path.write_text(HOTEL)
    yield path
    sys.modules.pop("words", None)


def test_check_and_import_take_a_module(hotel, tmp_path):
    found = json.loads(CliRunner().invoke(main, ["check", str(hotel), "--json"]).stdout)
    assert (found["suite"], found["cases"]) == ("hotel", 3)
    done = CliRunner().invoke(main, ["import", str(hotel), "--out", str(tmp_path / "hotel.jsonl")])
    assert done.exit_code == 0, done.output
    assert read_suite(tmp_path / "hotel.jsonl").cases == read_suite(hotel).cases


def test_a_module_counts_by_the_cases_it_makes(hotel):
    before = suite_digest(str(hotel), stamp(str(hotel)))
    hotel.write_text(HOTEL + "# a word more\n")
    assert suite_digest(str(hotel), stamp(str(hotel))) == before
    hotel.write_text(HOTEL.replace("A good bed.", "A bad bed."))
    assert suite_digest(str(hotel), stamp(str(hotel))) != before


def test_the_only_suite_of_a_module_may_have_any_name(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(
        "from shoal import Suite, case\nmine = Suite('mine', labels=('no', 'yes'))\n"
        "@mine.minimum(capability='c')\ndef f():\n    yield case('a', label='no')\n"
    )
    assert read_suite(path).name == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", r"hotel.py: no suite[\s\S]*try: suite = Suite"),
        ("from shoal import Suite\na = Suite('a')\nb = Suite('b')\n", "hotel.py: 2 suites: a, b"),
        ("def f(:\n", r"hotel.py, line 1: SyntaxError"),
    ],
)
def test_a_module_that_makes_no_suite_is_told_why(tmp_path, text, message):
    path = tmp_path / "hotel.py"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_suite(path)
    assert "shoal_suite_hotel" not in sys.modules
