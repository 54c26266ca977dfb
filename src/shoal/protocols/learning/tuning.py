"""The grid search of BELUGA, once for each configuration and method, on the full suite (`docs/method/beluga.md` 1.8).

    select_on = "paper"   MFT + INV + DIR on the suite's validation split, each a mean over its examples or pairs
    select_on = "G_val"   harmonic mean of the macro pass rate there and of the i.i.d. score on validation rows

Of a pair one variant is looked at, drawn once by the seed. lp-ft is not searched: it begins with what lp found and goes
on with what vanilla found, on a tiny model at the part of that rate which lp-ft bears; but for what the plan gives it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import PlanError
from ...core.records import Answers, Example
from ...data.grammar import GRAMMARS, make_rows
from ...models import load_model
from ...models.ask import BATCH_TOKENS, batches, is_reading
from ...stats.paired import generalization_score
from ...training.environments import (
    Alike,
    Answered,
    Directed,
    Environment,
    Invariant,
    Item,
    Labelled,
    Several,
)
from ...training.loop import TrainConfig, steps_of, train
from ...training.methods import Method, make_method
from ...training.spans import Windows
from ...training.stage import Progress, Search, Stage, Try, silent
from ..behaviour.build import digest_of, iid_of, load_suite, suite_cases, training_split
from ..behaviour.rules import directional_error, squad_normalise
from ..behaviour.score import by_functionality, judge
from ..behaviour.settings import Settings
from .hyper import (
    OF_ITSELF,
    as_for_bert,
    as_for_lp_ft,
    given_options,
    grid,
    losses,
    method_options,
    suite_how,
)
from .lessons import suite_lessons
from .trainings import F1_TASKS

SEED = 42
"""Of every try, and of the i.i.d. stage before it: all seeds of a plan share what is found."""
TOLERANCE = 0.1
SHOWN = 3
NEUTRAL = (1 / 3, 2 / 3)
Floats = NDArray[np.float64]


def tuned_stage(
    settings: Settings,
    model: str,
    labels: tuple[str, ...],
    usual: Stage,
    by: Callable[[TrainConfig, Mapping[str, Any]], Stage],
    whole: Sequence[Environment],
    digest: str,
    before: Sequence[Stage],
    base: Callable[[int], Any],
) -> Stage:
    """A stage whose numbers are found first; `before` are those that come first, `whole` is the full suite."""
    assert settings.train is not None
    (config,), (method,) = settings.train.on, settings.train.method
    task = load_suite(settings.suite).task
    searched = ("lp", "vanilla") if method == "lp-ft" else (method,)
    searches = tuple(
        _search(settings, model, labels, task, config, name, whole, digest, before, base) for name in searched
    )
    how = suite_how(settings, model, task, config, method)
    found_by = {"found by": [dict(search.identity) for search in searches]}

    def settled(found: Sequence[Try]) -> Stage:
        (tried,) = found
        return by(replace(how, **tried), _options(settings, model, task, config, method, tried))

    if method != "lp-ft":
        return replace(
            usual, identity={**usual.identity, "how": found_by}, searches=searches, settled=settled
        )
    # What the plan gives lp-ft is not in the tries of lp and vanilla.
    options, given = method_options(settings, task, config, method), given_options(settings, method)
    fixed = {name: getattr(how, name) for name in OF_ITSELF if name in given or getattr(settings.train, name)}
    # but for the rate and batch that train gives every method, which vanilla's one try has
    own = {name: value for name, value in fixed.items() if name in given or name == "epochs"}
    probe = {name: options[name] for name in ("probe_learning_rate", "probe_batch") if name in given}
    times = as_for_lp_ft(model)

    def of_both(found: Sequence[Try]) -> Stage:
        lp, vanilla = found
        first = {"probe_learning_rate": lp["learning_rate"], "probe_batch": lp["batch"]} | probe
        second = {"learning_rate": vanilla["learning_rate"] * times, "batch": vanilla["batch"]} | fixed
        return by(replace(how, **second), {**options, **first})

    otherwise: dict[str, Any] = {"given": own | probe} if own or probe else {}
    otherwise |= {"times": times} if times != 1 and "learning_rate" not in fixed else {}
    identity = {**usual.identity, "how": found_by | otherwise}
    return replace(usual, identity=identity, searches=searches, settled=of_both)


def _options(
    settings: Settings, model: str, task: str, config: str, method: str, chosen: Try
) -> Mapping[str, Any]:
    rate = as_for_bert(chosen["learning_rate"], model, method)
    return method_options(settings, task, config, method, rate if method == "fish" else None)


def _search(
    settings: Settings,
    model: str,
    labels: tuple[str, ...],
    task: str,
    config: str,
    method: str,
    whole: Sequence[Environment],
    digest: str,
    before: Sequence[Stage],
    base: Callable[[int], Any],
) -> Search:
    assert settings.train is not None
    tries = grid(settings, model, task, method)
    usual = suite_how(settings, model, task, config, method)
    variants = losses(settings, task)
    objective = Objective(settings, labels)

    def start(progress: Progress) -> Any:
        fresh = base(SEED)
        for stage in before:
            stage.train(fresh, SEED, progress, lambda mark: None)
        return fresh

    def make(tried: Try) -> Method:
        options = _options(settings, model, task, config, method, tried)
        return make_method(method, options, given_options(settings, method))

    def score(fresh: Any, tried: Try, progress: Progress) -> float:
        train(fresh, whole, make(tried), replace(usual, **tried), SEED, silent, losses=variants)
        return objective(fresh)

    identity = {
        "model": dict(load_model(model).fingerprint()),
        "before": [dict(stage.identity) for stage in before],
        "from": settings.train.from_,
        "data": digest,
        "validation": objective.digest,
        "config": config,
        "method": method,
        "options": [dict(_options(settings, model, task, config, method, tried)) for tried in tries[:1]],
        "how": {**asdict(usual), "learning_rate": None, "batch": None, "epochs": None},
        "losses": variants,
        "tries": tries,
        "select_on": settings.train.select_on,
    }
    if objective.by_accuracy_alone:
        identity["told by"] = "accuracy"

    def steps(tried: Try) -> int:
        return steps_of(whole, make(tried), replace(usual, **tried))

    every = sum(stage.steps for stage in before) + sum(map(steps, tries))
    return Search(f"{config} {method}", identity, tries, start, score, every)


# What the best is best at


class Objective:
    """A model with these labels to a number, the more the better."""

    def __init__(self, settings: Settings, labels: tuple[str, ...]) -> None:
        assert settings.train is not None
        self.settings, self.labels = settings, labels
        self.data = iid_of(settings)
        self.lessons = suite_lessons(settings, self.labels, "validation")
        self.by_g = settings.train.select_on == "G_val"
        self.iid = self._validation_rows() if self.by_g else ()
        self.digest = "-".join([self.lessons.digest, *([self._judged_by()] if self.by_g else [])])

    def __call__(self, model: Any) -> float:
        if self.by_g:
            return self.g(model)
        items = [item for environment in self.lessons.environments for item in environment.items]
        kinds = [environment.kind for environment in self.lessons.environments for _ in environment.items]
        if self.data.is_reading:
            return _of_spans(model, items)
        told_by_f1 = self.is_binary and not self.by_accuracy_alone
        banded = (len(load_suite(self.settings.suite).labels or self.labels), len(self.labels)) == (3, 2)
        return _of_labels(model, items, kinds, self.labels, told_by_f1=told_by_f1, banded=banded)

    @property
    def is_binary(self) -> bool:
        """Whether the suite chooses between two labels."""
        return not self.data.is_reading and len(load_suite(self.settings.suite).labels or self.labels) == 2

    @property
    def by_accuracy_alone(self) -> bool:
        """Whether it does so without looking for one of them, as duplicates are looked for."""
        return not self.by_g and self.is_binary and load_suite(self.settings.suite).task not in F1_TASKS

    def _judged_by(self) -> str:
        """What else decides G: the i.i.d. rows, and the rules that cases are judged by."""
        rules = [
            (name, self.settings.resolved(name)) for name in ("tolerance", "slack", "directional", "band")
        ]
        return digest_of(repr((self.iid, rules, self.settings.profile)).encode())

    def _validation_rows(self) -> Sequence[Any]:
        if self.data.validation:
            return self.data.validation
        if self.settings.iid in GRAMMARS:
            return make_rows(self.settings.iid, "validation")
        raise PlanError(
            'select_on = "G_val" needs i.i.d. rows to choose by',
            why="iid is to train on, and iid_test to test on",
            fix="iid_halves = true: one half of iid_test is chosen by, the other tested on",
        )

    def g(self, model: Any) -> float:
        """Harmonic mean of the macro pass rate and the i.i.d. score, both on validation data."""
        cases = suite_cases(self.settings, training_split(self.settings, "validation"))
        suite_labels = load_suite(self.settings.suite).labels
        answers = ask_all(
            model, [example for case in cases for example in case.examples], suite_labels, cases
        )
        outcomes = judge(self.settings, cases, answers)
        rates = []
        for members in by_functionality(cases).values():
            known = [passed for at in members if (passed := outcomes[at].passed) is not None]
            rates += [np.mean(known)] if known else []
        said = ask_all(model, [row.texts for row in self.iid], self.labels or None, cases)
        words = said.texts or [said.labels[code] for code in said.predictions.tolist()]
        # Of several right answers in words only the first is known of validation rows.
        right = [
            squad_normalise(word) == squad_normalise(row.label)
            for word, row in zip(words, self.iid, strict=True)
        ]
        return float(generalization_score(np.mean(rates), np.mean(right)))


def ask_all(
    model: Any, examples: Sequence[Example], labels: Sequence[str] | None, cases: Sequence[Any]
) -> Answers:
    """Answers to these examples, each distinct one asked once, in batches."""
    distinct = list(dict.fromkeys(examples))
    place = {example: row for row, example in enumerate(distinct)}
    rows = np.array([place[example] for example in examples], np.int64)
    if is_reading(cases):
        texts = model.extract(distinct).texts
        return Answers((), np.zeros(len(rows), np.int64), texts=[texts[row] for row in rows])
    names: tuple[str, ...] = ()
    chances: Floats = np.zeros((0, 0))
    band = False
    for batch in batches(distinct, model.lengths(distinct), BATCH_TOKENS):
        part = model.classify([distinct[at] for at in batch], labels)
        names, band = part.labels, part.band
        chances = np.zeros((len(distinct), len(names))) if not chances.size else chances
        chances[list(batch)] = part.probabilities
    return Answers(names, chances[rows].argmax(axis=1), chances[rows], band=band)


def _of_labels(
    model: Any,
    items: Sequence[Item],
    kinds: Sequence[str],
    labels: tuple[str, ...],
    *,
    told_by_f1: bool,
    banded: bool,
) -> float:
    """MFT + INV + DIR: right answers; answers that stay within .1; probabilities that do not go the wrong way by .1.

    Of duplicate questions accuracy and F1 are averaged, and DIR cases are questions with labels.
    """
    rng = np.random.default_rng(SEED)
    shown = [_shown(item, rng) for item in items]
    flat = [example for examples, _ in shown for example in examples]
    asked = ask_all(model, flat, labels, ())
    chances = asked.probabilities
    assert chances is not None
    starts = np.cumsum([0, *(len(examples) for examples, _ in shown)])
    right: dict[str, list[tuple[bool, bool, bool]]] = {}
    moved: dict[str, list[bool]] = {}
    for number, (item, kind) in enumerate(zip(items, kinds, strict=True)):
        own = chances[starts[number] : starts[number + 1]]
        if isinstance(item, Invariant):
            moved.setdefault(kind, []).append(bool(abs(own[1, -1] - own[0, -1]) <= TOLERANCE))
        elif isinstance(item, Directed):
            moved.setdefault(kind, []).append(
                bool(directional_error(item.direction, own[:1], own[1:])[0] <= TOLERANCE)
            )
        else:
            targets = shown[number][1]
            right.setdefault(kind, []).extend(
                (
                    is_right(vector, target, banded=banded),
                    bool(vector.argmax() == 1),
                    int(np.argmax(target)) == 1,
                )
                for vector, target in zip(own, targets, strict=True)
            )
    total = sum(float(np.mean(passes)) for passes in moved.values())
    return total + sum(_accuracy(rows, told_by_f1) for rows in right.values())


def _shown(item: Item, rng: np.random.Generator) -> tuple[Sequence[Example], Sequence[tuple[float, ...]]]:
    """What is asked of an item, and what is right where it has labels."""
    match item:
        case Labelled():
            return [item.example], [item.target]
        case Several():
            kept = int(item.keep_first)
            drawn = [*range(kept), *(kept + rng.permutation(len(item.examples) - kept)[: SHOWN - kept])]
            return [item.examples[at] for at in drawn], [item.targets[at] for at in drawn]
        case Invariant() | Directed():
            return [item.original, item.variants[int(rng.integers(len(item.variants)))]], ()
    raise TypeError(type(item))


def is_right(vector: Floats, target: Sequence[float], *, banded: bool) -> bool:
    """The likeliest label is the right one; of two labels for three, by the neutral band.

    >>> [is_right(np.array([0.4, 0.6]), target, banded=True) for target in ((0, 1), (0.5, 0.5), (1 / 3, 2 / 3))]
    [False, True, True]
    """
    likeliest = int(np.argmax(target))
    if not banded:
        return bool(target[int(vector.argmax())] == target[likeliest])
    if target[0] == target[1]:
        return bool(NEUTRAL[0] <= vector[1] <= NEUTRAL[1])
    return bool(vector[likeliest] > NEUTRAL[1] if max(target) == 1 else vector[likeliest] >= NEUTRAL[0])


def _accuracy(rows: Sequence[tuple[bool, bool, bool]], told_by_f1: bool) -> float:
    table = np.array(rows)
    accuracy = float(table[:, 0].mean())
    if not told_by_f1:
        return accuracy
    said, wanted = table[:, 1], table[:, 2]
    both = 2 * int((said & wanted).sum())
    f1 = both / (int(said.sum()) + int(wanted.sum())) if said.any() or wanted.any() else 0.0
    return (accuracy + f1) / 2


def _of_spans(model: Any, items: Sequence[Item]) -> float:
    """½ (right starts + right ends) over windows, and the share of pairs whose likeliest shared tokens are the same."""
    import torch

    rng = np.random.default_rng(SEED)
    windows = Windows(model, [example for item in items for example in item.examples])
    ends: list[float] = []
    alike: list[float] = []
    network = model.network(model.trained)
    network.eval()

    def likeliest(row: int) -> Floats:
        with torch.inference_mode():
            logits: Floats = model.forward(windows.take(np.array([row])))[0].double().cpu().numpy()
        return logits

    for item in items:
        if isinstance(item, Answered):
            for part, row in enumerate(windows.place[item.example]):
                found = likeliest(row).argmax(axis=0)
                wanted = windows.ends(replace(item, window=part))
                ends.append(float(np.mean([found[side] in wanted[side] for side in (0, 1)])))
        elif isinstance(item, Alike):
            variant = item.variants[int(rng.integers(len(item.variants)))]
            ours, theirs = windows.place[item.original][0], windows.place[variant][0]
            before, after = windows.alignment(ours, theirs)
            if len(before):
                same = likeliest(ours)[before].argmax(axis=0) == likeliest(theirs)[after].argmax(axis=0)
                alike.append(float(np.mean(same)))
    return sum(float(np.mean(shares)) for shares in (ends, alike) if shares)
