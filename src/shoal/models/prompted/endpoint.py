"""openai:MODEL?url=URL&prompt=FILE: a model behind any endpoint that speaks chat completions.

    first token   one token is asked for with the likeliest ones in its place: probabilities of the labels
    generate      words, which are parsed; with samples=N, how often each label was said
    constrained   a JSON object that can hold nothing but a label

Without a mode, the server is tried: first token where it gives log-probabilities, else generate; the self-check says
which. Each example is a request of its own, and several are under way at once (`runs/far_away.py`).
"""

import hashlib
import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ...errors import ModelError
from ...records import Answers, Example
from .. import ModelSpec
from .client import Client, FailedError, Heard, RefusedError, require_library
from .money import Spending, estimated_tokens, parse_price
from .numbers import LOW_MASS, from_first_tokens, one_begins_another
from .options import ASKING, Options
from .pace import Pace
from .prompt import Message, Prompt, read_prompt
from .replies import Reply, answers_of, check_task, no_answer, spoken

OPTIONS = (
    *ASKING,
    *("url", "key_from", "temperature", "seed", "samples"),
    *(
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "tries",
        "timeout",
        "price",
        "budget",
        "again",
    ),
)
MODES = ("", "first token", "generate", "constrained")
OPENAI, OPENAI_KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"
TOP = (20, 5)
"""How many of the likeliest tokens are asked for: the first number that the server allows."""
AMBIGUOUS = 0.01
"""How much may stand on tokens that begin two labels."""
TRIED = 3
"""Examples with which a server is tried."""
AROUND_A_LABEL = 16
"""Tokens for the braces, quotes and key of a JSON object."""
AGAIN = 50
"""How many examples are asked twice, to see whether the answers are the same."""


def load(spec: ModelSpec) -> "Endpoint":
    """The model that a spec names; nothing is asked yet."""
    options = Options(spec)
    if not options.text("prompt"):
        raise ModelError(
            f"{options.who}: no prompt",
            why="what to ask has to be said",
            fix="prompt=FILE, or one of shoal list prompts: prompt=sentiment-plain",
        )
    if options.text("mode") == "likelihood":
        raise ModelError(
            f"{options.who}: mode=likelihood",
            why="an endpoint for chats does not say how likely it finds a text that it is given",
            fix="mode=first token; or the weights here, hf:DIR?prompt=FILE",
        )
    require_library()
    return Endpoint(spec.name, read_prompt(options.text("prompt")), options)


class Endpoint:
    """A model behind a URL. Many threads may ask it at once."""

    def __init__(self, name: str, prompt: Prompt, options: Options) -> None:
        self.name, self.prompt, self.options = name, prompt, options
        self.url = _checked_url(options)
        reading = prompt.task == "reading"
        self.asked_mode = options.one_of("mode", MODES, "generate" if reading else "")
        if reading and self.asked_mode != "generate":
            raise ModelError(
                f"{self!r}: mode={self.asked_mode} for reading", why="it has no labels", fix="leave mode out"
            )
        self.samples = options.whole("samples", 1, 1, 1_000)
        self.temperature = options.number("temperature", 0.0, 0.0, 2.0)
        self.seed = options.whole("seed", 0, 0, 2**31 - 1)
        self._check_sampling(reading)
        self.thinks = options.yes("thinks")
        self.max_tokens = options.max_tokens(reading=reading)
        self.at_once = options.whole("concurrency", 8, 1, 1_000)
        self.again = options.whole("again", AGAIN, 0)
        self.client = Client(
            self.url,
            options.text("key_from", OPENAI_KEY if self.url == OPENAI else ""),
            repr(self),
            Pace(
                self.at_once,
                options.number("requests_per_minute", 0, 0),
                options.number("tokens_per_minute", 0, 0),
            ),
            _spending(options),
            options.whole("tries", 8, 1, 100),
            options.number("timeout", 60, 0.001, 86_400),
        )
        self._mode, self._why, self._top = "", "", TOP[0]
        self._settling = Lock()

    def __repr__(self) -> str:
        return f"openai:{self.name}?url={self.url}&prompt={self.prompt.name}"

    def fingerprint(self) -> dict[str, Any]:
        """What the answers depend on, as far as it can be known from here; no key, no speed, no money."""
        return {
            "url": self.url,
            "model": self.name,
            "prompt": self.prompt.digest,
            "mode": self.asked_mode or "as the server allows",
            "temperature": self.temperature,
            "seed": self.seed,
            "samples": self.samples,
            "max tokens": self.max_tokens,
            "thinks": self.thinks,
        }

    @property
    def spending(self) -> Spending:
        """What was spent."""
        return self.client.spending

    @property
    def how(self) -> str:
        """The mode it is asked in, and why."""
        return f"{self._mode or self.asked_mode or 'not asked yet'}{f': {self._why}' if self._why else ''}"

    def halt(self) -> None:
        """Wait for nothing any more."""
        self.client.halted.set()

    def shown(self, example: Example) -> str:
        """The whole prompt, turn by turn, as it is sent."""
        return "\n".join(f"[{turn['role']}]\n{turn['content']}" for turn in self.prompt.messages(example))

    def worst(self, example: Example) -> tuple[int, int]:
        """Tokens that a question may take: read, by an estimate, and written."""
        messages = self.prompt.messages(example)
        return self.samples * estimated_tokens(messages), self.samples * self.max_tokens

    # Asking

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """The suite's labels for each example, with probabilities where the mode gives them."""
        check_task(self.prompt, repr(self), reading=False)
        answers_of([], self.prompt, labels, repr(self))  # labels that do not fit cost nothing
        return answers_of(self._replies(examples), self.prompt, labels, repr(self))

    def extract(self, examples: Sequence[Example]) -> Answers:
        """Answers to questions, in the model's own words."""
        check_task(self.prompt, repr(self), reading=True)
        return answers_of(self._replies(examples), self.prompt, None, repr(self))

    def _replies(self, examples: Sequence[Example]) -> list[Reply]:
        if not examples:
            return []
        self._settle(examples)
        if len(examples) == 1:
            return [self._reply(examples[0])]
        with ThreadPoolExecutor(min(self.at_once, len(examples))) as pool:
            return list(pool.map(self._reply, examples))

    def _reply(self, example: Example) -> Reply:
        messages = self.prompt.messages(example)
        about = {"mode": self._mode, "asked": _digest(messages)}
        try:
            reply = MODE[self._mode](self, messages, example)
        except RefusedError as problem:
            return no_answer(str(problem), **about)
        except FailedError as problem:
            return Reply(error=str(problem), details=about)
        return Reply(reply.label, reply.probabilities, reply.text, reply.error, {**reply.details, **about})

    # One mode each

    def _first_token(self, messages: list[Message], example: Example) -> Reply:
        heard = self.client.ask(self._first_body(messages))
        details = _kept(heard)
        if heard.finish == "content_filter":
            return no_answer("stopped by a content filter", **details)
        if heard.first is None:
            return no_answer("no log-probabilities came with it", **details)
        found = from_first_tokens(heard.first, self.prompt.verbalisers)
        details |= {"mass": found.mass, "first": [[token, round(log, 6)] for token, log in heard.first]}
        if found.mass <= 0:
            return no_answer(
                f"none of the {len(heard.first)} likeliest first tokens begins a label", **details
            )
        flags = {"low mass": found.mass < LOW_MASS, "truncated": found.truncated}
        probabilities = found.probabilities()
        return Reply(
            int(probabilities.argmax()),
            probabilities,
            details=details | {name: True for name, on in flags.items() if on},
        )

    def _generate(self, messages: list[Message], example: Example) -> Reply:
        if self.samples == 1:
            return self._said(
                self.client.ask(self._body(messages, self.max_tokens, **self._seeded(example, 0)))
            )
        replies = [
            self._said(
                self.client.ask(self._body(messages, self.max_tokens, **self._seeded(example, number)))
            )
            for number in range(self.samples)
        ]
        labels = [reply.label for reply in replies if reply.label is not None]
        details = {
            "samples": self.samples,
            "parsed": len(labels),
            "said": [reply.details["said"] for reply in replies],
        }
        if not labels:
            return no_answer(f"none of {self.samples} samples is a label", **details)
        shares = np.bincount(labels, minlength=len(self.prompt.labels)) / len(labels)
        return Reply(int(shares.argmax()), shares, details=details)

    def _constrained(self, messages: list[Message], example: Example) -> Reply:
        words = self.prompt.verbalisers
        heard = self.client.ask(self._constrained_body(messages))
        details = _kept(heard)
        try:
            given = json.loads(heard.said)
        except ValueError:
            given = None
        if not isinstance(given, dict) or list(given) != ["label"] or given["label"] not in words:
            return no_answer("not the object that was asked for", **details)
        label = words.index(given["label"])
        return Reply(label, np.eye(len(words))[label], details=details)

    def _first_body(self, messages: list[Message]) -> dict[str, Any]:
        return self._body(messages, 1, logprobs=True, top_logprobs=self._top)

    def _constrained_body(self, messages: list[Message]) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {"label": {"type": "string", "enum": list(self.prompt.verbalisers)}},
            "required": ["label"],
            "additionalProperties": False,
        }
        wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        return self._body(messages, self.max_tokens + AROUND_A_LABEL, response_format=wanted)

    def _said(self, heard: Heard) -> Reply:
        if heard.finish == "content_filter":
            return no_answer("stopped by a content filter", **_kept(heard))
        if self.thinks and heard.finish == "length":
            return no_answer("the thinking never ended", **_kept(heard))
        kept = _kept(heard)
        del kept["said"]
        return spoken(heard.said, self.prompt, **kept)

    def _body(self, messages: list[Message], max_tokens: int, **more: Any) -> dict[str, Any]:
        return {
            "model": self.name,
            "messages": messages,
            "temperature": self.temperature,
            "max_tokens": max_tokens,
            **more,
        }

    def _seeded(self, example: Example, number: int) -> dict[str, int]:
        """A seed of its own for each sample; none is sent where nothing is drawn and none was given."""
        if self.samples == 1:
            return {"seed": self.seed} if self.seed else {}
        drawn = hashlib.sha256(json.dumps([self.seed, example, number]).encode()).digest()
        return {"seed": int.from_bytes(drawn[:4], "big") >> 1}

    # What the server can do

    def resume(self, mode: str) -> None:
        """Go on in the mode in which answers are kept already; the server is not asked to choose again."""
        self.asked_mode = mode

    def _settle(self, examples: Sequence[Example]) -> None:
        """Try the server with a few questions, once: what it refuses is about the job."""
        with self._settling:
            if not self._mode:
                few = examples[:: max(1, len(examples) // TRIED)][:TRIED]
                self._mode, self._why = self._found_mode([self.prompt.messages(example) for example in few])

    def _found_mode(self, trial: Sequence[list[Message]]) -> tuple[str, str]:
        """The mode that was asked for, or else what the server and the labels allow; and why."""
        if self.asked_mode == "constrained":
            self._try_out(self._constrained_body(trial[0]))
            return self.asked_mode, ""
        problem = "" if self.asked_mode == "generate" else self._no_first_tokens(trial)
        if self.asked_mode == "first token" and problem:
            raise ModelError(
                f"{self!r}: {problem}",
                why="mode=first token tells labels apart by the probability of their first tokens",
                fix="mode=generate; a server that gives top_logprobs; or letters in the prompt's [labels]",
            )
        if self.asked_mode != "generate" and not problem:
            return "first token", f"the server gives the {self._top} likeliest tokens"
        self._try_out(self._body(trial[0], self.max_tokens))
        return "generate", problem

    def _no_first_tokens(self, trial: Sequence[list[Message]]) -> str:
        """Why first tokens do not tell the labels apart; empty where they do."""
        pair = one_begins_another(self.prompt.verbalisers)
        if pair:
            return f"{pair[0]!r} begins {pair[1]!r}"
        for messages in trial:
            first = self._first_tokens(messages)
            if first is None:
                return "the server gives no log-probabilities"
            found = from_first_tokens(first, self.prompt.verbalisers)
            if found.ambiguous > AMBIGUOUS:
                return f"{found.ambiguous:.1%} of an answer begins with tokens that begin two labels"
        return ""

    def _first_tokens(self, messages: list[Message]) -> Sequence[tuple[str, float]] | None:
        """The likeliest first tokens, as many as the server allows."""
        for count in TOP[TOP.index(self._top) :]:
            self._top = count
            try:
                return self.client.ask_on_trial(self._first_body(messages)).first
            except RefusedError:
                continue
        return None

    def _try_out(self, body: dict[str, Any]) -> None:
        try:
            self.client.ask_on_trial(body)
        except RefusedError as problem:
            raise ModelError(
                f"{self!r}: {problem}", fix="another model or mode: docs/prompted.md says what each needs"
            ) from None

    def _check_sampling(self, reading: bool) -> None:
        if self.samples > 1 and (self.temperature == 0 or self.asked_mode != "generate" or reading):
            raise ModelError(
                f"{self!r}: samples={self.samples}",
                why="how often each label is said is asked of mode=generate, at a temperature above 0",
                fix="mode=generate&temperature=1 with it, or leave it out",
            )
        if self.temperature > 0 and self.asked_mode != "generate":
            raise ModelError(
                f"{self!r}: temperature={self.temperature:g}",
                why="in the other modes nothing is drawn",
                fix="mode=generate with it, or leave it out",
            )


MODE = {
    "first token": Endpoint._first_token,
    "generate": Endpoint._generate,
    "constrained": Endpoint._constrained,
}


def _kept(heard: Heard) -> dict[str, Any]:
    """What is kept of every response."""
    return {"said": heard.said, "finish": heard.finish, **({"server": heard.server} if heard.server else {})}


def _digest(messages: list[Message]) -> str:
    return hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:16]


def _spending(options: Options) -> Spending:
    price = parse_price(options.text("price"), options.who)
    budget = options.number("budget", math.nan, 0) if options.text("budget") else None
    if budget is not None and (price is None or budget == 0):
        raise ModelError(
            f"{options.who}: budget={budget:g}" + ("" if price else " without price"),
            why="nothing can be asked for nothing" if price else "what tokens cost has to be known",
            fix="budget=2" if price else "price=input:0.15,output:0.60, by a million tokens",
        )
    return Spending(price, budget, options.who)


def _checked_url(options: Options) -> str:
    """Where the endpoint is; nothing secret may stand in it, for it is written down."""
    url = options.text("url", OPENAI)
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None or parts.query or "@" in parts.netloc:
        raise ModelError(
            f"{options.who}: the URL holds a user name, a password or a query",
            why="a spec is written down with the results; what is secret stays in the environment",
            fix="the bare URL, and key_from=NAME for the environment variable with the key",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelError(f"{options.who}: url={url!r}", fix="url=http://127.0.0.1:8000/v1")
    return url.rstrip("/")
