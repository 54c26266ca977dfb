"""Every entry of the table of bias diagnostics keeps what the table promises; a new one costs one file and one line."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from shoal import audit
from shoal.comparing.cases import comparable
from shoal.comparing.pairs import compare
from shoal.core.measures import MEASURES
from shoal.core.records import Answers, Measures, Result
from shoal.core.views import Section, Table
from shoal.models.interface import TokenScores
from shoal.protocols import bias
from shoal.protocols.bias.build import DIAGNOSTICS
from shoal.render.tables import tables_of
from shoal.runs.settings import make_settings


class Opinionated:
    """A model that finds texts likely, and near each other, by chance; the same for the same seed."""

    language_model = "causal"

    def __init__(self, seed):
        self.seed = seed

    def fingerprint(self):
        return {"seed": str(self.seed)}

    def log_likelihood(self, examples, only=None):
        return [TokenScores((text,), (0,), (float(self.numbers(text)[0]),)) for (text,) in examples]

    def embed(self, examples, representation="cls"):
        return np.array([self.numbers(text) for (text,) in examples])

    def classify(self, examples, labels):
        return Answers(
            labels, np.array([int(10 * abs(self.numbers(text)[0])) % len(labels) for (text,) in examples])
        )

    def numbers(self, text):
        return np.random.default_rng([self.seed, *text.encode()]).normal(size=6)


def choosing(seed):
    """Return a model that chooses an option by chance; the same for the same seed."""
    return lambda texts: ["AB"[np.random.default_rng([seed, *text.encode()]).integers(2)] for text in texts]


def result_of(name, seed):
    model = choosing(seed) if name == "bbq" or name.endswith("_choice") else Opinionated(seed)
    result = audit("bias", model, diagnostic=name, data="example")
    return Result(
        {**result.job, "model": f"model {seed}", "group": "recipe"},
        result.cases,
        result.outcomes,
        result.measures,
        result.columns,
        settings=result.settings,
    )


@pytest.fixture(scope="module")
def results():
    kept = {}  # type: ignore[var-annotated]
    return lambda name: kept.setdefault(name, [result_of(name, seed) for seed in range(3)])


@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_one_checkpoint_is_scored_and_shown(name, results):
    result = results(name)[0]
    assert len(result.outcomes) == len(result.cases)
    assert not any(outcome.error for outcome in result.outcomes)
    assert [row.name for row in result.measures if row.name not in MEASURES] == []
    (section,) = bias.view(result.settings, [result], (), ())
    assert isinstance(section, Section) and isinstance(section.blocks[0], Table)
    assert section.blocks[0].rows and section.notes


@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_two_checkpoints_can_be_compared(name, results):
    first, second, _ = results(name)
    assert comparable(first, first.cases)
    rows = compare([first], [second]).rows
    assert all(row.difference is not None for row in rows)
    rates = {(row.measure, *row.groups.values()): row.rates[0] for row in rows}
    for share in first.measures:
        if share.basis.mean_over == "cases":
            assert rates[share.name, *share.groups.values()] == pytest.approx(share.value)


@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_several_checkpoints_have_sections_and_files(name, results):
    settings = make_settings(bias.Settings, {"diagnostic": name, "data": "example"}, "test")
    compared = bias.compare(settings, results(name))
    assert [row.name for row in compared.measures if row.name not in MEASURES] == []
    assert len(Measures(compared.measures).where("sd over checkpoints")) > 0
    *conclusions, recipe, limits = compared.findings
    assert all(about.groups["diagnostic"] == name and about.text for about in conclusions)
    assert recipe.groups == limits.groups == {"recipe": "recipe"}
    sections = bias.view(settings, results(name), compared.measures, compared.findings)
    assert all(any(section.text == about.text for section in sections) for about in conclusions)
    files = tables_of(sections)
    assert files
    for text in files.values():
        first, *_ = csv.DictReader(io.StringIO(text))
        assert first["recipe"] == "recipe"


def test_a_new_diagnostic_is_one_file_and_one_line(monkeypatch):
    monkeypatch.setitem(DIAGNOSTICS, "lengths", "bias_toy")
    results = [result_of("lengths", seed) for seed in range(3)]
    assert results[0].measures[0].n == 6
    settings = results[0].settings
    assert bias.title(settings) == "lengths"
    compared = bias.compare(settings, results)
    assert compared.findings[0].text.startswith("The stereotype score of 3 checkpoints is")
    sections = bias.view(settings, results, compared.measures, compared.findings)
    assert set(tables_of(sections)) == {"over_checkpoints"}
    assert bias.view(settings, results[:1], (), ())[0].blocks[0].rows  # type: ignore[union-attr]
    assert compare(results[:1], results[1:2]).headline.difference is not None
    lines = (Path(__file__).parent.parent / "support" / "bias_toy.py").read_text().splitlines()
    assert len(lines) < 70
