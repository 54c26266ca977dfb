"""Learning is a protocol of its own: behaviour does not know it, and naming its jobs makes no training data."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.data.grammar import GRAMMARS, VERSION, make_rows

ROOT = Path(__file__).parents[3]

STATUS = """
import json, sys, time
from shoal.data import grammar
from shoal.protocols.learning import lessons, stages
from shoal.cli import main

made = {"rows": 0, "lessons": 0, "recipes": 0}

def counting(name, function):
    def counted(*arguments, **options):
        made[name] += 1
        return function(*arguments, **options)
    return counted

grammar.make_rows = counting("rows", grammar.make_rows)
lessons.items_of = counting("lessons", lessons.items_of)
stages.make_recipe = counting("recipes", stages.make_recipe)
started = time.process_time()
main(["status", "examples/learning.toml", "--into", sys.argv[1]], standalone_mode=False)
print()
print(json.dumps(made | {"torch": "torch" in sys.modules, "seconds": time.process_time() - started}))
"""


def python(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_status_of_a_learning_plan_makes_no_training_data(tmp_path):
    found = json.loads(python(STATUS, str(tmp_path / "runs")).splitlines()[-1])
    assert found["rows"] == found["lessons"] == 0 and not found["torch"]
    assert found["recipes"] == 74  # one for each job
    assert found["seconds"] < 3


def test_a_grammar_that_draws_other_rows_has_another_version():
    """Jobs are named by VERSION in place of the rows: if this fails, raise it and put the new digest here."""
    rows = {name: [make_rows(name, split, 60) for split in ("train", "test")] for name in sorted(GRAMMARS)}
    digest = hashlib.sha256(repr(rows).encode()).hexdigest()[:16]
    assert (VERSION, digest) == (1, "f3c11b28bc548001")
