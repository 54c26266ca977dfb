"""What models have said in this process: audits that share examples ask a model for each of them once."""

import hashlib
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.records import Answer, Example
from ..models.batching import example_id
from ..models.interface import StoredAnswers
from ..models.selfcheck import answers_match
from ..protocols.base import Built
from .plan import Job

Ask = Callable[[Sequence[Example]], Sequence[Answer]]


class Memory:
    """Answers and self-checks by model, for as long as the process lives."""

    def __init__(self) -> None:
        self._answers: dict[str, dict[Example, Answer]] = {}
        self._checks: dict[str, list[dict[str, Any]]] = {}
        self._models: list[object] = []  # kept, so that no other object gets their ids

    def identity_of(self, model: object) -> dict[str, Any]:
        """What an object is known by: its content where that can be had, else itself."""
        self._models.append(model)
        content = hashlib.sha256()
        try:
            pickle.dump(model, _Sink(content.update))
        except Exception:  # an object may refuse in any way it likes
            return {"object": f"{type(model).__name__} {id(model)}"}
        return {"object": f"{type(model).__name__} {id(model)}", "content": content.hexdigest()[:16]}

    def asker(self, job: Job, model: object, built: Built, ask: Ask) -> Ask:
        """`ask`, but for what the model was asked before.

        A few of the answers are asked again first: a model that says otherwise by now is asked everything anew.
        """
        if isinstance(model, StoredAnswers) or built.asks not in ("labels", "spans"):
            return ask
        known = self.known(job, built)
        if known and not _still(model, known, built):
            known.clear()
            self._checks.pop(_key(job, built), None)

        def ask_the_rest(examples: Sequence[Example]) -> list[Answer]:
            new = [example for example in examples if example not in known]
            answers = dict(zip(new, ask(new), strict=True)) if new else {}
            known.update({example: row for example, row in answers.items() if not row.error})
            return [known.get(example) or answers[example] for example in examples]

        return ask_the_rest

    def known(self, job: Job, built: Built) -> dict[Example, Answer]:
        """Return the answers of this process to the questions of a job; the caller adds to them."""
        return self._answers.setdefault(_key(job, built), {}) if built.asks in ("labels", "spans") else {}

    def checks(
        self, job: Job, built: Built, make: Callable[[], list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """What the self-check said of this model; made when it is first asked."""
        key = _key(job, built)
        if key not in self._checks:
            self._checks[key] = make()
        return self._checks[key]


class _Sink:
    """A file that hands on whatever is written to it."""

    def __init__(self, write: Callable[[bytes], Any]) -> None:
        self.write = write


def _key(job: Job, built: Built) -> str:
    """Everything that decides an answer, beside the example."""
    decisive = [job.protocol, job.identity["model"], job.identity["answers"], built.labels, built.asks]
    return json.dumps(decisive, sort_keys=True)


def _still(model: object, known: Mapping[Example, Answer], built: Built) -> bool:
    rows = [Answer(example_id(example), row.kind, row.data) for example, row in known.items()]
    examples = {example_id(example): example for example in known}
    return answers_match(model, rows, examples, built.labels).ok is not False
