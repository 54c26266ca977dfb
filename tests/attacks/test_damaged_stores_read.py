"""A damaged store that is looked at before it is run again: the right number or words, by every verb that reads it."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_world import write_world

from shoal.cli import main

PLAN = """
models = ["predictions:answers.jsonl", "python:lengths_model:by_length"]
[behaviour]
suite = "suite.jsonl"
resamples = 10
"""
MODEL = """
def by_length(texts):
    return [{"label": "positive" if len(text) % 2 else "negative", "score": 0.9} for text in texts]
"""
READERS = {
    "status": ("status", "plan.toml", "--json"),
    "show": ("show", "{}", "--json"),
    "show --failing": ("show", "{}", "--failing"),
    "gate": ("gate", "{}", "--rules", "gate.toml", "--json"),
    "compare": ("compare", "{}", "lengths_model", "--json"),
    "report": ("report", "plan.toml", "--format", "latex", "--out", "page.tex"),
}
Damage = Callable[[bytes, random.Random], bytes]


def flipped(content: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(content))
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


def other_digit(content: bytes, rng: random.Random) -> bytes:
    """One digit more or less: what is still a number is the damage that shows least."""
    digits = [place for place, letter in enumerate(content) if letter in b"0123456789"]
    place = rng.choice(digits or [0])
    return content[:place] + (b"1" if content[place : place + 1] != b"1" else b"2") + content[place + 1 :]


DAMAGES: dict[str, Damage] = {
    "flipped": flipped,
    "another digit": other_digit,
    "emptied": lambda content, rng: b"",
    "an object": lambda content, rng: b'{"a": 1}\n',
}
FILES = ("cases/*.jsonl", *(f"jobs/*/{name}" for name in (
    "measures.json", "outcomes.jsonl", "checks.json", "answers.jsonl", "answers.digest", "job.json",
)))  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    write_world(folder)
    (folder / "lengths_model.py").write_text(MODEL)
    (folder / "plan.toml").write_text(PLAN)
    (folder / "gate.toml").write_text('[[rule]]\nfunctionality = "*"\nat_least = 0.1\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.chdir(folder)
        assert CliRunner().invoke(main, ["run", "plan.toml"]).exit_code == 0
        yield folder, {name: said(*words) for name, words in READERS.items()}


def said(*words: str) -> tuple[int, str, str]:
    """Exit code, what a verb says of the first job, and what it says of errors."""
    done = CliRunner(env={"COLUMNS": "100"}).invoke(
        main, [word.format("behaviour-answers") for word in words]
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exc_info)
    page = Path("page.tex")
    written = page.read_text() if page.exists() else ""
    page.unlink(missing_ok=True)
    return done.exit_code, done.stdout + written, done.stderr


RARER = [name for name in [*DAMAGES, "removed"] if name != "flipped"]


@pytest.mark.parametrize(
    "damage", ["flipped", *(pytest.param(name, marks=pytest.mark.nightly) for name in RARER)]
)
def test_a_damaged_file_never_gives_another_number_or_a_traceback(finished, tmp_path, monkeypatch, damage):
    folder, expected = finished
    rng = random.Random(damage)
    for pattern in FILES:
        for victim in sorted((folder / "runs").glob(pattern)):
            shutil.rmtree(tmp_path / "world", ignore_errors=True)
            world = shutil.copytree(folder, tmp_path / "world")
            monkeypatch.chdir(world)
            file = world / victim.relative_to(folder)
            if damage == "removed":
                file.unlink()
            else:
                file.write_bytes(DAMAGES[damage](file.read_bytes(), rng))
            for name, words in READERS.items():
                code, output, errors = said(*words)
                where = (name, str(file.relative_to(world)), output, errors)
                if damage == "removed" and file.name == "answers.jsonl" and name in ("status", "report"):
                    assert code == 0 and output != expected[name][1], where  # it is to do, and that is said
                elif code == expected[name][0]:
                    assert numbers(output) == numbers(expected[name][1]), where
                else:
                    assert code == 1 and "\n  try: " in errors, where


def numbers(output: str) -> object:
    """What is measured; what the self-check said may be gone."""
    if not output.startswith("{"):
        return output
    plain = json.loads(output)
    return {key: value for key, value in plain.items() if key not in ("jobs", "findings")}
