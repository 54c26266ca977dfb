"""Do variants keep their label? A sample for people to judge, and what their judgement does to the numbers (7.15).

    draw_sample ──► a sheet (CSV), or pages that need no network (HTML) ──► people ──► Settings.audited

One variant per premise and as many originals, shuffled, without the copied label: who judges does not know it. Two
people fill `label_1` and `label_2`; `label` is what they agreed on where they differ.
"""

import hashlib
import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, PlanError, nearest, some
from ...core.files import writing
from ...core.records import Answers, Case, Example, Finding, Measure, Measures
from ...core.text import csv_lines
from ...data.tables import open_rows
from ...stats.intervals import wilson
from ...stats.patterns import audited_accuracy, independence_reference
from .settings import HEADLINE, Settings

COLUMNS = ("id", "first text", "second text", "label_1", "label_2", "label")


@dataclass(frozen=True, slots=True)
class Item:
    """One example for people to judge."""

    id: str
    texts: Example


# A sample


def draw_sample(cases: Sequence[Case], number: int = 200, seed: int = 0) -> list[Item]:
    """Variants, one per premise, and their originals, in random order; of the first filter condition only."""
    by_cluster: dict[str, list[int]] = {}
    conditions = [case.groups.get("filter") for case in cases if len(case.examples) > 1]
    for position, case in enumerate(cases):
        if len(case.examples) > 1 and case.groups.get("filter") == conditions[0]:
            by_cluster.setdefault(case.cluster or case.id, []).append(position)
    if not by_cluster:
        raise DataError("no variants to judge", fix="settings under which problems have variants")
    rng = np.random.default_rng(seed)
    items = []
    clusters = rng.permutation(sorted(by_cluster))[:number]
    for cluster in clusters.tolist():
        case = cases[int(rng.choice(by_cluster[cluster]))]
        place = int(rng.integers(1, len(case.examples)))
        items += [Item(item_id(case, number), case.examples[number]) for number in (0, place)]
    return [items[number] for number in rng.permutation(len(items)).tolist()]


def item_id(case: Case, position: int) -> str:
    """What names an example on a sheet; of what it says too, so that no judgement is taken for one of another text."""
    said = hashlib.sha256(json.dumps(case.examples[position]).encode()).hexdigest()[:8]
    return f"{case.id}#{position}-{said}"


def write_sheet(items: Sequence[Item], path: Path) -> None:
    """The sample as CSV, with columns to fill in."""
    rows = [[item.id, *item.texts[:1], " ".join(item.texts[1:]), "", "", ""] for item in items]
    with writing(path) as stream:
        stream.writelines(csv_lines([COLUMNS, *rows]))


def write_form(items: Sequence[Item], labels: Sequence[str], path: Path) -> None:
    """The sample as a page that works without a network and saves what was chosen as CSV, for one person."""
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
<p>Each box stands for itself. What you choose stays on this machine until you save it.</p>
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


# What people said


@dataclass(frozen=True, slots=True)
class Judged:
    """One example that people judged."""

    case: Case
    row: int
    """Of its answer among all examples."""
    position: int
    label: str
    """What they settled on; empty where they did not."""
    votes: tuple[str, ...]


def audit_measures(
    settings: Settings, cases: Sequence[Case], answers: Answers, measures: Measures
) -> list[Measure]:
    """How often variants keep their label, how well people agree, and the sample accuracy by their labels."""
    if not settings.audited:
        return []
    judged = read_audit(settings.audited, cases, answers.labels)
    variants = [item for item in judged if item.position and item.label]
    if not variants:
        raise DataError(
            f"{some(settings.audited)}: no variant with a label people agreed on",
            fix="fill in the column label",
        )
    rows = [_preserved(variants, "variants"), *_agreement(judged)]
    seeds = [item for item in judged if not item.position and item.label]
    rows += [_preserved(seeds, "originals")] if seeds else []
    observed = next(
        (row for row in measures if row.name == "sample accuracy"), None
    )  # the first is the whole
    if observed is not None and observed.value is not None:
        rows.append(_by_audit(variants, answers, observed.value))
        rows.append(_by_model(rows[0], observed.value, len(answers.labels)))
    return [*rows, *_perfect(settings, cases, rows[0])]


def read_audit(paths: Sequence[str], cases: Sequence[Case], labels: Sequence[str]) -> list[Judged]:
    """What people said, each example with its case; unknown ids and labels are errors."""
    place = {case.id: (number, case) for number, case in enumerate(cases)}
    firsts = np.cumsum([0, *(len(case.examples) for case in cases)])
    judged = []
    for identity, said in _joined(paths, place, labels).items():
        name, position = _place_of(identity)
        number, case = place[name]
        votes = (said.get("label_1", ""), said.get("label_2", ""))
        settled = said.get("label", "")
        if not settled and len(set(filter(None, votes))) == 1:
            settled = next(filter(None, votes))
        row = int(firsts[number]) + position
        judged.append(Judged(case, row, position, settled, votes))
    return judged


def _joined(
    paths: Sequence[str], place: Mapping[str, tuple[int, Case]], labels: Sequence[str]
) -> dict[str, dict[str, str]]:
    """What stands in the sheets, by example and column; a cell that two of them fill differently is an error."""
    said: dict[str, dict[str, str]] = {}
    for path in map(Path, paths):
        if not path.is_file():
            raise PlanError(f"audited = {str(path)!r}: no such file", fix="the sheet that people filled in")
        for line, row in open_rows(path).rows:
            where, identity = f"{path}, line {line}", str(row.get("id") or "")
            if not _is_here(identity, place):
                raise DataError(
                    f"{where}: id {identity!r} is none of these cases",
                    why="the sample was drawn from other variants",
                    fix="draw the sample and audit under the same settings",
                )
            known = said.setdefault(identity, {})
            for column in ("label_1", "label_2", "label"):
                word = _label(row, column, labels, where)
                if word and known.setdefault(column, word) != word:
                    raise DataError(
                        f"{where}: {column} of {identity} is {word!r}, and was {known[column]!r} before",
                        why="one person's answers would be taken for the other's",
                        fix="label_1 for one, label_2 for the other; label for what they settled on",
                    )
    return said


def _place_of(identity: str) -> tuple[str, int]:
    """The case that an id names, and the position in it; -1 where it names none."""
    name, _, rest = identity.rpartition("#")
    position = rest.partition("-")[0]
    return name, int(position) if position.isdecimal() else -1


def _is_here(identity: str, place: Mapping[str, tuple[int, Case]]) -> bool:
    name, position = _place_of(identity)
    if name not in place or not 0 <= position < len(place[name][1].examples):
        return False
    return identity == item_id(place[name][1], position)


def unsettled(settings: Settings, cases: Sequence[Case], labels: Sequence[str]) -> Iterator[Finding]:
    """How many variants the two differ on: they are in no share until that is settled."""
    judged = [item for item in read_audit(settings.audited, cases, labels) if item.position]
    open_ones = sum(not item.label and any(item.votes) for item in judged)
    if open_ones:
        text = (
            f"On {open_ones:,} of {len(judged):,} variants the two who judged differ, and no `label` says what they "
            "settled on: these are in no share, which makes labels look better than they are."
        )
        facts = {"not settled": open_ones, "judged": len(judged)}
        yield Finding("audit", text, (), 5.0, facts=facts)


def _label(row: Mapping[str, Any], column: str, labels: Sequence[str], where: str) -> str:
    word = str(row.get(column) or "").strip()
    if word and word not in labels:
        raise DataError(
            f"{where}: {column} = {word!r}",
            why=f"labels are {', '.join(labels)}",
            fix=nearest(word, labels) or "one of those",
        )
    return word


def _copied(item: Judged) -> str:
    return str((item.case.labels or ("",))[item.position])


def _preserved(items: Sequence[Judged], of: str) -> Measure:
    kept = sum(item.label == _copied(item) for item in items)
    interval = wilson(kept, len(items))
    return Measure("label preservation", kept / len(items), len(items), {"audited": of}, interval, "wilson")


def _agreement(judged: Sequence[Judged]) -> Iterator[Measure]:
    """Cohen's kappa of the two who judged."""
    both = [item.votes for item in judged if all(item.votes)]
    if not both:
        return
    first, second = (np.array(votes) for votes in zip(*both, strict=True))
    agree = float((first == second).mean())
    chance = sum(
        float((first == label).mean() * (second == label).mean()) for label in set(first) | set(second)
    )
    value = (agree - chance) / (1 - chance) if chance < 1 else None
    note = "" if value is not None else "both gave one label only"
    yield Measure("annotator kappa", value, len(both), {}, note=note)


def _by_audit(variants: Sequence[Judged], answers: Answers, observed: float) -> Measure:
    """Sample accuracy by audited labels: what they change is added, at most as much as labels err."""
    answered = [item for item in variants if item.row not in answers.errors]
    changes = []
    for item in answered:
        answer = answers.labels[answers.predictions[item.row]]
        changes.append(float(answer == item.label) - float(answer == _copied(item)))
    error = sum(item.label != _copied(item) for item in answered or variants) / len(answered or variants)
    value = min(1.0, max(0.0, observed + float(np.mean(changes)))) if changes else None
    bounds = (max(0.0, observed - error), min(1.0, observed + error))
    return Measure(
        "audited sample accuracy", value, len(changes), {}, bounds, "bounds by the error of labels"
    )


def _by_model(preserved: Measure, observed: float, labels: int) -> Measure:
    """The same if errors fall evenly on the other labels and help no model, at both ends of their interval."""
    assert preserved.value is not None and preserved.interval is not None
    value = audited_accuracy(observed, 1 - preserved.value, labels)
    ends = [audited_accuracy(observed, 1 - end, labels) for end in reversed(preserved.interval)]
    known = not any(map(math.isnan, (value, *ends)))
    return Measure(
        "corrected sample accuracy", min(1.0, value) if known else None, preserved.n, {},
        (min(1.0, min(ends)), min(1.0, max(ends))) if known else None, "ends of the error's interval" if known else "",
        note="" if known else f"more than {labels - 1} labels in {labels} may be wrong",
    )  # fmt: skip


def _perfect(settings: Settings, cases: Sequence[Case], preserved: Measure) -> Iterator[Measure]:
    """What a model that is always right would get on patterns as large as these, since some labels are wrong."""
    first = next(case.groups.get("filter") for case in cases if len(case.examples) > 1)
    sizes = [
        _size(case.meta["patterns"][0]) + settings.counts_seed
        for case in cases
        if len(case.examples) > 1 and case.groups.get("filter") == first
    ]
    for threshold in HEADLINE:
        value = independence_reference(sizes, preserved.value or 0.0, threshold)
        groups = {"threshold": f"{threshold:g}"}
        yield Measure("pattern accuracy of a perfect model", value, preserved.n, groups)


def _size(pattern: Mapping[str, Any]) -> int:
    """How many variants a draw has."""
    return sum(pool["drawn"] for pool in pattern["pools"]) if "pools" in pattern else len(pattern["draws"][0])
