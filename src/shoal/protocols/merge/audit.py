"""Do variants keep their label? A sample for human judgement, and label preservation from the judgements (7.15).

    draw_sample ──► a sheet (CSV), or an offline page (HTML) ──► annotators ──► Settings.audited

The sample has one variant per premise and as many originals, shuffled, without the copied label, so annotators are
blind. Two annotators fill `label_1` and `label_2`; `label` is their agreement where they differ. `FORMS` offers sheet,
page and variants to `shoal export`.
"""

import hashlib
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import writing
from ...core.records import Case, Example, Finding, Measure
from ...core.text import csv_lines
from ...data.tables import open_rows
from ...stats.intervals import wilson
from ..base import Built, Form
from . import wording
from .settings import Settings
from .variants import write_variants

VOTES = ("label_1", "label_2", "label")
COLUMNS = ("id", "first text", "second text", *VOTES)


@dataclass(frozen=True, slots=True)
class Item:
    """One example to judge."""

    id: str
    texts: Example


# The sample


def draw_sample(cases: Sequence[Case], number: int = 200, seed: int = 0) -> list[Item]:
    """Return one variant per premise with its original, in random order, from the first filter condition."""
    by_cluster: dict[str, list[Case]] = {}
    varied = [case for case in cases if len(case.examples) > 1]
    for case in varied:
        if case.groups.get("filter") == varied[0].groups.get("filter"):
            by_cluster.setdefault(case.cluster or case.id, []).append(case)
    if not by_cluster:
        raise DataError("no variants to judge", fix="settings under which problems have variants")
    rng = np.random.default_rng(seed)
    items = []
    clusters = rng.permutation(sorted(by_cluster))[:number]
    for cluster in clusters.tolist():
        case = by_cluster[cluster][int(rng.choice(len(by_cluster[cluster])))]
        variant = int(rng.integers(1, len(case.examples)))
        items += [Item(item_id(case, position), case.examples[position]) for position in (0, variant)]
    return [items[position] for position in rng.permutation(len(items)).tolist()]


def item_id(case: Case, position: int) -> str:
    """Return the id of an example, with a hash of its text so that old judgements never match a new text."""
    content = hashlib.sha256(json.dumps(case.examples[position]).encode()).hexdigest()[:8]
    return f"{case.id}#{position}-{content}"


def write_sheet(items: Sequence[Item], path: Path) -> None:
    """Write the sample as CSV with empty columns for the labels."""
    rows = [[item.id, *item.texts[:1], " ".join(item.texts[1:]), "", "", ""] for item in items]
    with writing(path) as stream:
        stream.writelines(csv_lines([COLUMNS, *rows]))


def write_form(items: Sequence[Item], labels: Sequence[str], path: Path) -> None:
    """Write the sample as an offline page that saves one annotator's labels as CSV."""
    questions = "\n".join(_question(item, labels) for item in items)
    with writing(path) as stream:
        stream.write(PAGE.replace("QUESTIONS", questions))


def _question(item: Item, labels: Sequence[str]) -> str:
    name = html.escape(item.id, quote=True)
    texts = "".join(f"<p>{html.escape(text)}</p>" for text in item.texts)
    choices = " ".join(
        f'<label><input type="radio" name="{name}" value="{html.escape(label, quote=True)}"> '
        f"{html.escape(label)}</label>"
        for label in labels
    )
    return f"<fieldset>{texts}{choices}</fieldset>"


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Which label is right?</title>
<style>body{font:16px/1.5 sans-serif;max-width:44em;margin:2em auto}fieldset{margin:1em 0;border:1px solid #bbb}</style>
<h1>Which label is right?</h1>
<p>Judge each box on its own. Your choices stay on this machine until you save them.</p>
<p><label>You are annotator <select id="who"><option>1</option><option>2</option></select></label></p>
<form>
QUESTIONS
</form>
<p><button id="save">Save as CSV</button></p>
<script>
document.getElementById("save").onclick = function () {
  var quote = function (text) { return '"' + text.replace(/"/g, '""') + '"'; };
  var lines = ["id,label_" + document.getElementById("who").value];
  document.querySelectorAll("input:checked").forEach(function (input) {
    lines.push(quote(input.name) + "," + quote(input.value));
  });
  var link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\\n") + "\\n"], {type: "text/csv"}));
  link.download = "labels.csv";
  link.click();
};
</script>
</html>
"""


def _export_variants(settings: Settings, built: Built, path: Path) -> int:
    if settings.group or settings.paraphrase:
        raise PlanError(
            "existing groups cannot be exported as variants",
            why="nothing was generated",
            fix="use the table they came from",
        )
    write_variants(built, path)
    return sum(len(case.examples) - 1 for case in built.cases)


def _export_sheet(settings: Settings, built: Built, path: Path) -> int:
    items = draw_sample(built.cases, settings.audit_sample, settings.seed)
    write_sheet(items, path)
    return len(items)


def _export_form(settings: Settings, built: Built, path: Path) -> int:
    items = draw_sample(built.cases, settings.audit_sample, settings.seed)
    write_form(items, built.labels or (), path)
    return len(items)


FORMS = {
    ".jsonl": Form("variants", _export_variants),
    ".csv": Form("texts to judge, as a sheet", _export_sheet),
    ".html": Form("texts to judge, as a page", _export_form),
}


# The judgements


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged example."""

    position: int
    """Among the examples of its case; 0 is the original."""
    copied: str
    """The label it has in the data."""
    label: str
    """The agreed label; empty while the annotators disagree."""
    votes: tuple[str, ...]


def audit_measures(settings: Settings, cases: Sequence[Case], labels: Sequence[str]) -> list[Measure]:
    """Return how often variants and originals keep their label, and how well the annotators agree."""
    if not settings.audited:
        return []
    judged = read_audit(settings.audited, cases, labels)
    variants = [item for item in judged if item.position and item.label]
    if not variants:
        raise DataError(
            f"{some(settings.audited)}: no variant has an agreed label", fix="fill in the column label"
        )
    originals = [item for item in judged if not item.position and item.label]
    rows = [_label_preservation(variants, "variants"), *_kappa(judged)]
    return [*rows, *([_label_preservation(originals, "originals")] if originals else [])]


def read_audit(paths: Sequence[str], cases: Sequence[Case], labels: Sequence[str]) -> list[Judged]:
    """Read the judgements of all files; unknown ids and labels are errors."""
    by_id = {case.id: case for case in cases}
    judged = []
    for identity, cells in _joined(paths, by_id, labels).items():
        name, position = _parse_id(identity)
        votes = (cells.get("label_1", ""), cells.get("label_2", ""))
        agreed = cells.get("label", "")
        if not agreed and len(set(filter(None, votes))) == 1:
            agreed = next(filter(None, votes))
        copied = str((by_id[name].labels or ("",))[position])
        judged.append(Judged(position, copied, agreed, votes))
    return judged


def _joined(
    paths: Sequence[str], cases: Mapping[str, Case], labels: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the cells of all sheets by id and column; a cell with two different values is an error."""
    joined: dict[str, dict[str, str]] = {}
    for path in map(Path, paths):
        if not path.is_file():
            raise PlanError(f"audited = {str(path)!r}: no such file", fix="the path of a filled-in sheet")
        for line, row in open_rows(path).rows:
            where, identity = f"{path}, line {line}", str(row.get("id") or "")
            if not _is_known(identity, cases):
                raise DataError(
                    f"{where}: unknown id {identity!r}",
                    why="the sample comes from other variants",
                    fix="draw the sample and audit with the same settings",
                )
            cells = joined.setdefault(identity, {})
            for column in VOTES:
                label = _label(row, column, labels, where)
                if label and cells.setdefault(column, label) != label:
                    raise DataError(
                        f"{where}: {column} of {identity} is {label!r}, but {cells[column]!r} in another row",
                        why="the labels of two annotators share a column",
                        fix="label_1 for one, label_2 for the other; label for their agreement",
                    )
    return joined


def _parse_id(identity: str) -> tuple[str, int]:
    """Return the case and position of an id; position -1 if it has none."""
    name, _, rest = identity.rpartition("#")
    position = rest.partition("-")[0]
    return name, int(position) if position.isdecimal() else -1


def _is_known(identity: str, cases: Mapping[str, Case]) -> bool:
    name, position = _parse_id(identity)
    if name not in cases or not 0 <= position < len(cases[name].examples):
        return False
    return identity == item_id(cases[name], position)


def _label(row: Mapping[str, Any], column: str, labels: Sequence[str], where: str) -> str:
    label = str(row.get(column) or "").strip()
    if label and label not in labels:
        raise DataError(
            f"{where}: {column} = {label!r}",
            why=f"labels are {', '.join(labels)}",
            fix=nearest(label, labels) or "one of those",
        )
    return label


def unsettled(settings: Settings, cases: Sequence[Case], labels: Sequence[str]) -> Iterator[Finding]:
    """Yield a caveat if the annotators disagree on variants without an agreed label."""
    judged = [item for item in read_audit(settings.audited, cases, labels) if item.position]
    number = sum(not item.label and any(item.votes) for item in judged)
    if number:
        yield Finding("audit", wording.unsettled_labels(number, len(judged)), (), 5.0)


def _label_preservation(items: Sequence[Judged], kind: str) -> Measure:
    preserved = sum(item.label == item.copied for item in items)
    interval = wilson(preserved, len(items))
    return Measure(
        "label preservation", preserved / len(items), len(items), {"audited": kind}, interval, "wilson"
    )


def _kappa(judged: Sequence[Judged]) -> Iterator[Measure]:
    """Yield Cohen's kappa of the two annotators."""
    both = [item.votes for item in judged if all(item.votes)]
    if not both:
        return
    first, second = (np.array(votes) for votes in zip(*both, strict=True))
    agreement = float((first == second).mean())
    chance = sum(
        float((first == label).mean() * (second == label).mean()) for label in set(first) | set(second)
    )
    value = (agreement - chance) / (1 - chance) if chance < 1 else None
    reason = "" if value is not None else wording.ONE_LABEL
    yield Measure("annotator kappa", value, len(both), reason=reason)
