"""Sentences of behavioural learning: headline, findings, notes, legend. Fields in, text out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ...core.claims import ALPHA
from ...core.errors import some
from ...core.measures import MEASURES, shown
from ...core.records import Measure
from ...core.views import Tone, Words
from ...stats.generalization import ESTIMABLE_SEEDS
from .table3 import COLUMNS, IID_COLUMN, Cell, TableRow
from .trainings import HOLD_OUTS, TAUGHT, Row

PLURALS = {"functionality": "functionalities", "capability": "capabilities", "test type": "test types"}


def percent(share: float) -> str:
    """Return a share as whole per cent."""
    return f"{100 * share:.0f} %"


def points(share: float | None) -> str:
    """Return a score as the tables show it."""
    return shown(share, MEASURES["G"])


# The headline

UNTESTED = "Nothing to compare with the iid row yet."


def verdict(rows: Sequence[TableRow]) -> tuple[str, Tone]:
    """Return whether training taught the behaviour or just the tests; empty while nothing is tested.

    Every change counts only where its test says so.
    """
    trained = [row for row in rows if not row.is_baseline]
    helped = [row for row in trained if row.verdict("seen") == "better"]
    if not any(row.cells.get("seen", Cell()).adjusted for row in trained):
        return "", ""
    if not helped:
        subject = "Teaching" if all(row.config == TAUGHT for row in trained) else "Training on"
        if any(row.verdict("seen") == "worse" for row in trained):
            return f"{subject} the suite makes the model worse.", "bad"
        return f"{subject} the suite changes nothing clearly.", "quiet"
    held = [name for name in HOLD_OUTS[1:] if any(row.cells.get(name, Cell()).adjusted for row in helped)]
    if not held:
        return "It learns the tests it is shown; nothing was held out to see whether more.", "doubt"
    changes = [{row.verdict(name) for name in held} for row in helped]
    carried = sum("better" in change and "worse" not in change for change in changes)
    if carried:
        where = f" in {carried} of {_setups(len(trained))}" if len(trained) > 1 else ""
        return f"It learns the behaviour{where}: what was held out improves too.", "good"
    if any("worse" in change for change in changes):
        return "It learns the tests, not the behaviour.", "bad"
    return "It learns the tests; no carry-over to held-out ones was found.", "doubt"


WAYS = {
    "better": "rises from {} to {}",
    "worse": "falls from {} to {}",
    "": "does not change clearly ({} → {})",
}
"""How a score changed, by the verdict of its test."""


def headline(rows: Sequence[TableRow]) -> list[Words]:
    """Return the verdict, then how G on seen tests, G on held-out ones and the i.i.d. score changed.

    The scores are those of the leading row; with several rows a last sentence counts the others.
    """
    trained = [row for row in rows if not row.is_baseline]
    if not trained or len(trained) == len(rows):
        missing = "The iid row is not trained yet" if trained else "Only the iid row is trained"
        return [Words(f"{missing}: nothing to compare with.", "doubt")]
    sentences = []
    if row := leading_row(trained):
        name = f"Best of {_setups(len(trained))} on seen tests: {row.config} {row.method}. "
        sentences = [*_changes(row, name), Words(_counts(trained))] if trained[1:] else _changes(row, "")
    waiting = sum(any(cell.value is None for cell in row.cells.values()) for row in trained)
    if waiting:
        sentences.append(Words(f"Not complete yet: {waiting} of {_setups(len(trained))}.", "doubt"))
    text, tone = verdict(rows)
    return _lines([Words(text, ("strong", tone)), *sentences] if text else sentences)


def leading_row(rows: Sequence[TableRow]) -> TableRow | None:
    """Return the tested row that gains most on seen tests; without such tests, the first tested row."""
    tested = [row for row in rows if any(map(row.is_tested, row.cells))]
    return max(tested, key=lambda row: row.cells.get("seen", Cell()).change, default=None)


def _changes(row: TableRow, name: str) -> list[Words]:
    """Return a sentence per tested column of a row; the first names the row."""
    subjects = {"seen": "G (harmonic mean of suite and i.i.d. score) on the tests it was shown"}
    subjects |= {column: f"G on held-out {things}" for column, things in PLURALS.items()}
    sentences = []
    for column, subject in {**subjects, IID_COLUMN: "The i.i.d. score"}.items():
        if row.is_tested(column):
            cell = row.cells[column]
            change = WAYS[cell.verdict].format(points(cell.before), points(cell.value))
            tone: Tone = "good" if cell.verdict == "better" else "bad" if cell.verdict else "quiet"
            facts = cell.score.facts if cell.score else {}
            if "drawn" in facts:
                subject += f" ({facts['drawn']} of {facts['drawn from']}, drawn at random)"
            sentences.append(Words(f"{name}{subject} {change}.", tone))
            name = ""
    return sentences


def _counts(rows: Sequence[TableRow]) -> str:
    """Return how many rows improve on seen and on held-out tests, and how many lose i.i.d. score."""
    tested = {name for row in rows for name in row.cells if row.is_tested(name)}
    parts = [f"{sum(row.verdict('seen') == 'better' for row in rows)} improve on seen tests"]
    for name in HOLD_OUTS[1:]:
        if name in tested:
            better = sum(row.verdict(name) == "better" for row in rows)
            parts.append(f"{better} on held-out {PLURALS[name]}")
    worse = sum(row.verdict(IID_COLUMN) == "worse" for row in rows)
    return f"Of {_setups(len(rows))}, {', '.join(parts)}; the i.i.d. score falls in {worse}."


def _lines(sentences: Sequence[Words]) -> list[Words]:
    return [replace(words, text=f"{words.text}\n") for words in sentences[:-1]] + [*sentences[-1:]]


def _setups(count: int) -> str:
    return f"{count} {_plural('training setup', count)}"


def task_headline(
    tasks: Sequence[str], tables: Mapping[str | None, Sequence[TableRow]], averages: Sequence[Measure]
) -> list[Words]:
    """Return the verdict on each task, on one line where they agree, and the best mean over all tasks."""
    verdicts = {str(task): verdict(rows) for task, rows in tables.items()}
    if len(set(verdicts.values())) == 1 and len(verdicts) == len(tasks) > 1:
        verdicts = {f"In all {len(tasks)} tasks": next(iter(verdicts.values()))}
    lines = [
        Words(f"{task}: {text or UNTESTED}", ("strong", tone)) for task, (text, tone) in verdicts.items()
    ]
    baseline = next((row.value for row in averages if row.groups["config"] == "iid"), None)
    trained = [row for row in averages if row.groups["config"] != "iid" and row.value is not None]
    if baseline is not None and trained:
        best = max(trained, key=lambda row: row.value or 0.0)
        name = f"{best.groups['config']} {best.groups['method']}"
        lines.append(Words(f"Mean over tasks (Avg): best {name}, {points(baseline)} → {points(best.value)}."))
    else:
        lines.append(Words("No row is complete in every task yet, so there is no Avg.", "doubt"))
    return _lines(lines)


# Findings about rows


def lost_task(row: TableRow, scores: Sequence[float], count: int) -> str:
    """Return that a row lost the task, or did not learn it, in all of its runs or in `count`, with their scores."""
    verb = "lost" if starts_trained(row.name) else "did not learn"
    cell, runs = row.cells[IID_COLUMN], ""
    after = points(cell.value)
    if 0 < count < len(scores):
        after, runs = ", ".join(map(points, scores)), f" in {count} of {len(scores)} runs"
    change = f"i.i.d. score {points(cell.before)} {f'before; {after} after' if runs else f'→ {after}'}"
    return f"{row.config} {row.method} {verb} the task{runs} ({change}). Ignore its other columns."


def starts_trained(row: Row) -> bool:
    """Return whether the model knew the task before the suite stage."""
    return row[0].startswith("iid>") or row[0] == TAUGHT


def negative_transfer(groups: Mapping[str, str], capability: str, change: float, runs: int) -> str:
    """Return what training on its siblings costs a functionality."""
    showing = "teaching" if groups["config"] == TAUGHT else "training on"
    return (
        f"{groups['config']} {groups['method']}: {showing} the other tests of {capability} costs "
        f"{groups['functionality']} {-100 * change:.1f} points in {'this run' if runs == 1 else 'these runs'}."
    )


def untuned(method: str, task: str) -> str:
    """Return that a method takes vanilla's numbers."""
    return f"{method}: the paper has no tuned hyperparameters for {task}, so vanilla's are used."


def shared(hold_out: str, cases: int, n: int) -> str:
    """Return how many test cases have texts that the tested model was trained on."""
    return f"{COLUMNS[hold_out]}: all texts of {cases:,} of the suite's {n:,} cases are also in the training data."


def shared_gain(row: Row, hold_out: str, cases: int, n: int, gain: float) -> str:
    """Return that a gain may come from cases whose texts were trained on."""
    return (
        f"{row[0]} {row[1]}: the model was trained on the texts of {cases:,} of {n:,} test cases, which could be the "
        f'whole gain in {COLUMNS[hold_out]} ({100 * gain:+.1f} points of the suite score). Use split_by = "text".'
    )


# Findings about one training

CONSTANT = " A constant answer passes every invariance test."


def label_shift(label: str, share: float, right: float, n: int, rows: str, *, is_constant: bool) -> str:
    """Return that a model predicts one label too often."""
    text = f"It predicts {label} for {percent(share)} of {n:,} {rows}; {label} is right for {percent(right)}."
    return text + (CONSTANT if is_constant else "")


def answer_shift(answer: str, share: float, usual: str, n: int, rows: str) -> str:
    """Return that a model gives one answer too often, or one that needs no reading; `usual` are the right answers."""
    return f"It answers {percent(share)} with {answer}; {usual} ({n:,} {rows}).{CONSTANT}"


def below_chance(score: float, n: int, label: str, chance: float, *, knew: bool) -> str:
    """Return that a model does not beat always predicting the commonest label."""
    return (
        f"It {'lost' if knew else 'did not learn'} the task: i.i.d. score {100 * score:.1f} on {n:,} rows; always "
        f"answering {label} would get {100 * chance:.1f}."
    )


def saturated(tight: Sequence[tuple[str, float]], total: int, confidence: float) -> str:
    """Return that directional tests can hardly fail because the model is too confident."""
    words = some([f"{name} {percent(free)}" for name, free in tight], 3)
    return (
        f"{len(tight)} of {total} directional (DIR) functionalities test little: the model is too sure of their "
        f"original texts (mean confidence {100 * confidence:.1f} %). Cases that can still fail: {words}."
    )


# Below the table


def of_average(count: int) -> str:
    """Return what Avg means."""
    return f"Avg: mean of the {count} scores G of a row."


METHOD_WORDS = {
    "vanilla": "plain training",
    "lp": "linear probe on a frozen encoder",
    "lp-ft": "linear probe, then training",
    "irm": "invariant risk minimisation",
    "group-dro": "weighs the worst environment most",
    "fish": "aligns gradients of environments",
}


def of_terms(methods: Collection[str]) -> str:
    """Return what G and the methods are."""
    words = [f"{name}: {METHOD_WORDS[name]}" for name in METHOD_WORDS if name in methods]
    return "; ".join(["G: harmonic mean of suite score and i.i.d. score, low if either is low", *words])


def marks(*, is_adjusted: bool) -> str:
    """Return what the marks mean."""
    level = f"{ALPHA:.2f}".removeprefix("0")
    holm = "Holm within each column" if is_adjusted else "not adjusted"
    return f"▲ ▼ better, worse than iid (p ≤ {level}, {holm}). Bold: highest."


def sample_size(n: int, iid: int, seeds: int) -> str:
    """Return on how many cases and seeds the table rests."""
    words = f"95 % CI; {n:,} suite {_plural('case', n)} compared, {iid:,} i.i.d. {_plural('row', iid)}"
    if seeds >= ESTIMABLE_SEEDS:
        return f"{words}, {seeds} seeds"
    return words + ("; 2 seeds: new runs may vary" if seeds == 2 else "; 1 seed, so no seed variance")


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


# Notes of measures

NO_FUNCTIONALITY = "no functionality has a pass rate in every row"


def progress(done: int, folds: int) -> str:
    """Return how far a row is that has no score yet."""
    if done >= folds:
        return "waits for the training on the whole suite"
    return f"{done} of {folds} folds done" if folds > 1 else "not trained yet"


def left_out(names: Sequence[str]) -> str:
    """Return which functionalities the table does not compare."""
    return f"no case applies in some setup for: {', '.join(names)}" if names else ""


def drawn(count: int, population: int) -> str:
    """Return that only some functionalities were held out."""
    return f"{count} of {population} functionalities, drawn at random"


def adjustment(tests: int, *, is_adjusted: bool) -> str:
    """Return how p is adjusted."""
    return f"Holm over the {tests} tests of this column" if is_adjusted else "not adjusted"
