"""Recompute published tables from stored predictions in a local folder, and compare every cell.

HateCheck's Table 2 to its decimal, BELUGA's SENT test split to 1e-9, CrowS-Pairs of BERT-base to two decimals,
StereoSet's three models to 1e-6 of a per cent.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .core.errors import DataError, PlanError, nearest, some
from .core.records import Measure, Result
from .data.crows import FILE as CROWS_DATA
from .runs.results import audit_all
from .training.stage import Progress, silent

REPRODUCTIONS: dict[str, str] = {
    "hatecheck": "HateCheck (Röttger et al. 2021): accuracy of two systems in 29 functionalities",
    "checklist-llm": "BELUGA's SENT suite: pass rates of 16 runs of four language models in 38 functionalities",
    "crows": "CrowS-Pairs (Nangia et al. 2020): BERT-base, the whole and nine categories",
    "stereoset": "StereoSet (Nadeem et al. 2021): three models, three scores by task and domain",
}
"""Name to description."""
CELLS = {"hatecheck": 29 * 2, "checklist-llm": 38 * 16, "crows": 13, "stereoset": 3 * 11 * 3}
"""Number of cells of each published table, so that an incomplete file does not count as a match."""
AGAIN = "download the data again"

PASS_RATE = "{:.9g} % of {:,}"

Published = Mapping[str, Mapping[str, str]]
"""The printed text of each cell, by column and row."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a published table, as printed and as recomputed; as text, to compare printed digits."""

    row: str
    column: str
    published: str
    found: str
    matches: bool


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A recomputed table."""

    title: str
    cells: Sequence[Cell]
    jobs: Sequence[Mapping[str, Any]]
    measures: Sequence[Measure]

    @property
    def mismatches(self) -> list[Cell]:
        """The cells that differ."""
        return [cell for cell in self.cells if not cell.matches]


def reproduce(name: str, data: Path, progress: Progress = silent) -> Reproduction:
    """Recompute a published table from the files in a folder."""
    if name not in REPRODUCTIONS:
        raise PlanError(
            f"unknown reproduction {name!r}",
            why=f"known: {', '.join(REPRODUCTIONS)}",
            fix=nearest(name, REPRODUCTIONS) or "one of those",
        )
    cells, results = RECOMPUTED[name](data, progress)
    if len(cells) != CELLS[name]:
        raise DataError(
            f"{name}: {len(cells):,} cells; the published table has {CELLS[name]:,}",
            why="the file of published numbers is incomplete or changed",
            fix=f"{AGAIN} into {data}",
        )
    rows = [
        replace(row, groups={**row.groups, "model": model})
        for model, result in results.items()
        for row in (result.measures.by("functionality") or result.measures)
    ]
    return Reproduction(REPRODUCTIONS[name], cells, [result.job for result in results.values()], rows)


Recomputed = tuple[list[Cell], Mapping[str, Result]]
"""The cells of a table, and the results by model."""


def _hatecheck(data: Path, progress: Progress) -> Recomputed:
    """Compare the accuracy of two systems in each functionality."""
    files = ("test_suite_cases.csv", "predictions_2_systems.csv", "published_accuracy_by_functionality.json")
    suite, predictions, table = _files(data, "hatecheck", files)
    systems = ("BERT_davidson2017_weighted", "siftninja")
    with _published(table) as printed:
        published = {
            system: {
                name: f"{float(row[system]):.1f}" if system in row else "absent"
                for name, row in printed.items()
            }
            for system in systems
        }
    specs = [f"predictions:{predictions}?label=pred_{system}" for system in systems]
    settings = {"suite": str(suite), "resamples": 100}
    results = dict(zip(systems, audit_all(specs, "behaviour", settings, progress), strict=True))
    return _by_functionality(published, results, "{:.1f}"), results


def _checklist_llm(data: Path, progress: Progress) -> Recomputed:
    """Compare the pass rate and n of sixteen runs of four language models in each functionality."""
    (table,) = _files(data, "llm_generations", ["reference_pass_rates.json"])
    # If DIR is the llm_generations folder itself, the suite is next to it.
    near = table.parent.parent if table.parent == data else data
    (suite,) = _files(near, "checklist", ["sentiment.jsonl.gz"])
    with _published(table) as runs:
        published = {
            f"{run['model']}.{run['scenario']}": {
                name: _printed(PASS_RATE, rate, run["n"][name]) for name, rate in run["pass_rates"].items()
            }
            for run in runs
        }
    files = [table.parent / "sentiment" / f"{run}.jsonl.gz" for run in published]
    for file in files:
        if not file.is_file():
            raise DataError(f"{file}: no such file", why=f"{table.name} names this run", fix=AGAIN)
    settings = {"suite": str(suite), "split": "test", "profile": "reference", "resamples": 100}
    audited = audit_all([f"predictions:{file}" for file in files], "behaviour", settings, progress)
    results = dict(zip(published, audited, strict=True))
    return _by_functionality(published, results, PASS_RATE), results


def _by_functionality(published: Published, results: Mapping[str, Result], form: str) -> list[Cell]:
    """Return a cell for every functionality on either side."""
    cells = []
    for column, texts in published.items():
        rows = {row.groups["functionality"]: row for row in results[column].measures.by("functionality")}
        cells += [
            _cell(name, column, texts.get(name, "absent"), rows.get(name), form)
            for name in dict.fromkeys([*texts, *rows])
        ]
    return cells


CROWS_MODEL = "bert-base-uncased"
CROWS_PUBLISHED = {
    "metric score": 60.48,
    "stereotype score": 61.09,
    "anti-stereotype score": 56.88,
    "neutral": 0.00,
    "race-color": 58.14,
    "socioeconomic": 59.88,
    "gender": 58.02,
    "disability": 61.67,
    "nationality": 62.89,
    "sexual-orientation": 67.86,
    "physical-appearance": 63.49,
    "religion": 71.43,
    "age": 55.17,
}
"""Per cent, as the authors' script prints them."""
WHOLE: dict[str, tuple[str, dict[str, str]]] = {
    "metric score": ("stereotype score", {}),
    "stereotype score": ("stereotype score", {"direction": "stereo"}),
    "anti-stereotype score": ("stereotype score", {"direction": "antistereo"}),
    "neutral": ("neutral share", {}),
}
"""The authors' name to our measure and its groups, for numbers about all categories."""


def _crows(data: Path, progress: Progress) -> Recomputed:
    """Compare thirteen numbers of one model."""
    file, scores = _files(data, "crows_pairs", (CROWS_DATA, "bert_base_token_scores.jsonl.gz"))
    settings = {"diagnostic": "crows", "data": str(file)}
    (result,) = audit_all([f"predictions:{scores}"], "bias", settings, progress)
    cells = []
    for name, printed in CROWS_PUBLISHED.items():
        ours, groups = WHOLE.get(name, ("stereotype score", {}))
        category = "all" if name in WHOLE else name
        row = next(iter(result.measures.where(ours, category=category, **groups)), None)
        cells.append(_cell(name, CROWS_MODEL, f"{printed:.2f}", row, "{:.2f}"))
    return cells, {CROWS_MODEL: result}


STEREOSET_SCORES = {
    "LM Score": "language modelling score",
    "SS Score": "stereotype score",
    "ICAT Score": "icat",
}


def _stereoset(data: Path, progress: Progress) -> Recomputed:
    """Compare three scores by task and domain, averaged per target term as the official evaluation does."""
    file, table = _files(data, "stereoset", ("dev.json.gz", "published_dev_results.json"))
    settings = {"diagnostic": "stereoset", "data": str(file), "profile": "reference"}
    with _published(table) as models:
        published = {model: list(_stereoset_rows(scores)) for model, scores in models.items()}
    cells, results = [], {}
    for model, rows in published.items():
        predictions = next(iter(sorted((file.parent / "predictions").glob(f"predictions_{model}_*"))), None)
        if predictions is None:
            why = f"{table.name} names this model"
            raise DataError(f"{file.parent / 'predictions'}: no predictions of {model}", why=why, fix=AGAIN)
        (result,) = audit_all([f"predictions:{predictions}"], "bias", settings, progress)
        results[model] = result
        for task, category, name, printed in rows:
            row = next(iter(result.measures.where(name, task=task, category=category)), None)
            cells.append(_cell(f"{task}, {category}: {name}", model, f"{printed:.8g}", row, "{:.8g}"))
    return cells, results


def _stereoset_rows(table: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float]]:
    """Yield task, category, score and number under our names."""
    tables = [("all", "all", table["overall"])]
    tables += [
        (task, "all" if name == "overall" else name, scores)
        for task in ("intrasentence", "intersentence")
        for name, scores in table[task].items()
    ]
    for task, category, scores in tables:
        for theirs, ours in STEREOSET_SCORES.items():
            yield task, category, ours, float(scores[theirs])


RECOMPUTED: dict[str, Callable[[Path, Progress], Recomputed]] = {
    "hatecheck": _hatecheck,
    "checklist-llm": _checklist_llm,
    "crows": _crows,
    "stereoset": _stereoset,
}


def _files(data: Path, name: str, files: Sequence[str]) -> list[Path]:
    """Return the paths of these files in DIR/NAME, or in DIR itself."""
    folder = data / name if (data / name).is_dir() else data
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        raise DataError(f"{folder}: no {some(missing)}", fix=f"--data with the folder that holds {name}/")
    return [folder / file for file in files]


@contextmanager
def _published(path: Path) -> Iterator[Any]:
    """Yield the content of a JSON file of published numbers; an error if it is of another form."""
    try:
        yield json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DataError(f"{path}: not the published table", why=repr(problem), fix=AGAIN) from None


def _cell(row: str, column: str, published: str, measure: Measure | None, form: str) -> Cell:
    """Return a cell that matches if both sides print the same."""
    found = "absent"
    if measure is not None:
        found = _printed(form, None if measure.value is None else 100 * measure.value, measure.n)
    return Cell(row, column, published, found, published == found)


def _printed(form: str, percent: float | None, n: int) -> str:
    return f"undefined of {n:,}" if percent is None else form.format(percent, n)
