"""Teach a prompted model a suite without training (`docs/method/prompted.md` 8.6).

instructions      the description of every functionality that is seen, with its label if all of its cases have one
demonstrations    a labelled case of the training split for every functionality that is seen, as an earlier turn

Held-out groups are absent from both. A model that was taught without a group answers only its cases.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ...core.records import Case
from ...models import load_prompted
from ...models.prompted.prompt import TASKS, Prompt
from ..behaviour.build import load_suite
from ..behaviour.rules import label_index
from .lessons import held_out, trained_as, training_cases
from .settings import Settings

PROMPT_SEED = 0
"""Seed of the choice of demonstrations: the same in every plan."""


def taught_model(settings: Settings, spec: str) -> Any:
    """Return a prompted model whose prompt teaches what the settings do not hold out."""
    model = load_prompted(spec, "teach needs")
    model.prompt = taught_prompt(settings, model.prompt)
    return model


def taught_prompt(settings: Settings, prompt: Prompt) -> Prompt:
    """Return a prompt with instructions, demonstrations or both before its own."""
    (how,) = settings.teach
    seen: dict[str, list[Case]] = {}
    without = held_out(settings)
    for case in trained_as(training_cases(settings)) if how != "nothing" else ():
        if case.groups["functionality"] not in without:
            seen.setdefault(case.groups["functionality"], []).append(case)
    lesson = _instructions(settings, prompt, seen) if how in ("instructions", "both") else ""
    shots = _demonstrations(settings, prompt, seen) if how in ("demonstrations", "both") else []
    return replace(prompt, lesson=lesson, shots=(*prompt.shots, *shots))


def _instructions(settings: Settings, prompt: Prompt, seen: dict[str, list[Case]]) -> str:
    """Return a line per functionality: its description, and its label if there is only one."""
    suite = load_suite(settings.suite)
    lines = []
    for name, cases in seen.items():
        words = suite.descriptions.get(name) or name
        labels = {_label(settings, case, place) for case in cases for place in range(len(case.examples))}
        word = prompt.labels.get(labels.pop(), "") if len(labels) == 1 else ""
        rule = f" Answer: {word}" if word else ""
        rule = " A change of this kind keeps the answer." if cases[0].groups["test type"] == "INV" else rule
        lines.append(f"- {words}{rule}")
    return "Your answers must follow these rules:\n" + "\n".join(lines) if lines else ""


def _demonstrations(settings: Settings, prompt: Prompt, seen: dict[str, list[Case]]) -> list[dict[str, str]]:
    """Return one labelled example of every functionality that has any."""
    rng = np.random.default_rng(PROMPT_SEED)
    shots = []
    for cases in seen.values():
        able = [shot for case in cases if (shot := _shot(settings, prompt, case))]
        shots += [able[int(rng.integers(len(able)))]] if able else []
    return shots


def _shot(settings: Settings, prompt: Prompt, case: Case) -> dict[str, str] | None:
    """Return the first example of a case as a shot; None without a label that the prompt has."""
    names = TASKS[prompt.task]
    label = _label(settings, case, 0)
    is_reading = prompt.task == "reading"
    if len(case.examples[0]) != len(names) or not label or not (is_reading or label in prompt.labels):
        return None
    return dict(zip(names, case.examples[0], strict=True)) | {"answer" if is_reading else "label": label}


def _label(settings: Settings, case: Case, place: int) -> str:
    """Return the suite's name of an example's label, or its answer; empty without one."""
    if case.groups["test type"] != "MFT" or case.labels is None:
        return ""
    word, labels = str(case.labels[place]), tuple(load_suite(settings.suite).labels or ())
    is_answer = not labels or word.startswith("not_")
    return word if is_answer else labels[label_index(word, labels)]
