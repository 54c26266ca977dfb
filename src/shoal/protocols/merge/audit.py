"""Do variants keep their label? A sample for human judgement, and label preservation from the judgements (7.15).

    draw_sample ──► an offline page (HTML) ──► annotators ──► Settings.audited

The sample has one variant per premise and as many originals, shuffled, without the copied label, so annotators are
blind. `FORMS` offers page and variants to `shoal export`.
"""

import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import writing
from ...core.records import Case, Example, Measure
from ...data.tables import open_rows
from ...stats.intervals import wilson
from ..base import Built, Form
from .settings import Settings
from .variants import write_variants

SAMPLE = 200
"""Variants, each with its original, that are written for human judgement."""


def draw_sample(cases: Sequence[Case], number: int = SAMPLE, seed: int = 0) -> dict[str, Example]:
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
    for cluster in rng.permutation(sorted(by_cluster))[:number].tolist():
        case = by_cluster[cluster][int(rng.choice(len(by_cluster[cluster])))]
        variant = int(rng.integers(1, len(case.examples)))
        items += [(item_id(case, position), case.examples[position]) for position in (0, variant)]
    return dict(items[place] for place in rng.permutation(len(items)).tolist())


def item_id(case: Case, position: int) -> str:
    """Return the id of an example, with a hash of its text so that old judgements never match a new text."""
    content = hashlib.sha256(json.dumps(case.examples[position]).encode()).hexdigest()[:8]
    return f"{case.id}#{position}-{content}"


def write_form(items: Mapping[str, Example], labels: Sequence[str], path: Path) -> None:
    """Write the sample as an offline page that saves one annotator's labels as CSV."""
    questions = "\n".join(_question(name, texts, labels) for name, texts in items.items())
    with writing(path) as stream:
        stream.write(PAGE.replace("QUESTIONS", questions))


def _question(item: str, texts: Example, labels: Sequence[str]) -> str:
    name = html.escape(item)
    choices = " ".join(
        f'<label><input type="radio" name="{name}" value="{label}"> {label}</label>'
        for label in map(html.escape, labels)
    )
    paragraphs = "".join(f"<p>{html.escape(text)}</p>" for text in texts)
    return f"<fieldset>{paragraphs}{choices}</fieldset>"


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Which label is right?</title>
<style>body{font:16px/1.5 sans-serif;max-width:44em;margin:2em auto}fieldset{margin:1em 0;border:1px solid #bbb}</style>
<h1>Which label is right?</h1>
<p>Judge each box on its own. Your choices stay on this machine until you save them.</p>
<form>
QUESTIONS
</form>
<p><button id="save">Save as CSV</button></p>
<script>
document.getElementById("save").onclick = function () {
  var quote = function (text) { return '"' + text.replace(/"/g, '""') + '"'; };
  var lines = ["id,label"];
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
    if settings.counts_seed:
        raise PlanError("existing groups are not generated variants", fix="use the table they came from")
    write_variants(built, path)
    return sum(len(case.examples) - 1 for case in built.cases)


def _export_form(settings: Settings, built: Built, path: Path) -> int:
    items = draw_sample(built.cases, seed=settings.seed)
    write_form(items, built.labels or (), path)
    return len(items)


FORMS = {
    ".jsonl": Form("variants", _export_variants),
    ".html": Form("texts to judge, as a page", _export_form),
}


def audit_measures(settings: Settings, cases: Sequence[Case], labels: Sequence[str]) -> list[Measure]:
    """Return how often variants, and their originals, keep their label by the judgements."""
    if not settings.audited:
        return []
    copied = {
        item_id(case, position): ("variants" if position else "originals", label)
        for case in cases
        for position, label in enumerate(case.labels or ())
    }
    judged = _read_judgements(settings.audited, {*copied}, labels)
    measures = []
    for kind in ("variants", "originals"):
        hits = [label == copied[name][1] for name, label in judged.items() if copied[name][0] == kind]
        if hits:
            value, interval = sum(hits) / len(hits), wilson(sum(hits), len(hits))
            measures.append(
                Measure("label preservation", value, len(hits), {"audited": kind}, interval, "wilson")
            )
    if not judged:
        raise DataError(f"{some(settings.audited)}: no text has a label", fix="fill in the column label")
    return measures


def _read_judgements(paths: Sequence[str], known: set[str], labels: Sequence[str]) -> dict[str, str]:
    """Return the label of every judged id; an unknown id or label, or two labels of one id, is an error."""
    judged: dict[str, str] = {}
    for path in paths:
        for line, row in open_rows(Path(path)).rows:
            where, name = f"{path}, line {line}", str(row.get("id") or "")
            label = str(row.get("label") or "").strip()
            if name not in known:
                raise DataError(
                    f"{where}: unknown id {name!r}",
                    why="the sample comes from other variants",
                    fix="draw the sample and audit with the same settings",
                )
            if label and label not in labels:
                raise DataError(
                    f"{where}: label = {label!r}",
                    why=f"labels are {', '.join(labels)}",
                    fix=nearest(label, labels) or "one of those",
                )
            if label and judged.setdefault(name, label) != label:
                raise DataError(
                    f"{where}: {name} is {label!r}, but {judged[name]!r} in another row",
                    fix="settle on one label for each text",
                )
    return judged
