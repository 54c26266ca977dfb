"""openai:MODEL?url=URL&prompt=FILE: a model behind a chat-completions endpoint.

    first token   one token with the log-probabilities of its likeliest alternatives: probabilities of the labels
    generate      text, which is parsed
    constrained   a JSON object whose schema allows nothing but a label

Without a mode, a trial request decides: first token if the server gives log-probabilities, else generate. The
self-check reports the choice. Each example is a request of its own, and several are in flight.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ...core.errors import ModelError
from ...core.records import Example
from .. import ModelSpec, check_options
from .client import Client, FailedError, RefusedError, require_library, run, run_soon
from .likelihood import LOW_MASS, from_first_tokens, one_begins_another
from .prompt import OPTIONS as PROMPT_OPTIONS
from .prompt import Message, Prompt, answer_mode, make_prompt, max_tokens, prompt_of
from .replies import PromptAnswers, Reply, no_answer, text_reply, without_thinking
from .response import Completion
from .spending import Spending, estimated_tokens, spec_price

OPTIONS = (
    *PROMPT_OPTIONS,
    *("url", "key_from", "temperature", "seed", "concurrency"),
    *("tries", "timeout", "price", "budget", "again"),
)
MODES = ("", "first token", "generate", "constrained")
OPENAI, OPENAI_KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"
TOP = (20, 5)
"""Numbers of likeliest tokens to request: the first that the server allows."""
AMBIGUOUS = 0.01
"""The most probability on tokens that begin two labels."""
TRIED = 3
"""Examples for trial requests."""
AROUND_A_LABEL = 16
"""Tokens of a JSON object besides the label."""
AGAIN = 50
"""Examples to query twice, to measure whether answers repeat."""
URL_EXAMPLE = "url=http://127.0.0.1:8000/v1"
WRITING = make_prompt({"task": "reading", "user": "{{ context }} {{ question }}"}, "suggest")
"""A placeholder: `write` sends its own request."""


def load(spec: ModelSpec) -> "Endpoint":
    """Return the model that a spec names; no request is sent yet."""
    if not spec.options.get("prompt"):
        raise ModelError(f"{spec.who}: no prompt", fix="prompt=FILE, or one of shoal list prompts")
    require_library()
    return Endpoint(spec, prompt_of(spec))


def write(spec: ModelSpec, request: str, tokens: int) -> str:
    """Return the text that a model behind an endpoint writes for one request, without its thinking."""
    check_options(spec, OPTIONS)
    if "prompt" in spec.options:
        raise ModelError(f"{spec.who}: prompt with suggest", why="it writes its own", fix="remove prompt")
    require_library()
    endpoint = Endpoint(replace(spec, options={**spec.options, "mode": "generate"}), WRITING)
    body = endpoint._text_body([{"role": "user", "content": request}]) | {"max_tokens": tokens}
    return without_thinking(endpoint._try_out(body).content) or ""


class Endpoint(PromptAnswers):
    """A model behind a URL; thread-safe."""

    def __init__(self, spec: ModelSpec, prompt: Prompt) -> None:
        self.name, self.prompt = spec.name, prompt
        self.url = _checked_url(spec)
        self.asked_mode = answer_mode(spec, prompt, MODES, "")
        self.temperature = spec.number("temperature", 0.0, 0.0, 2.0)
        self.seed = spec.whole("seed", 0, 0, 2**31 - 1)
        if self.temperature > 0 and self.asked_mode != "generate":
            raise ModelError(
                f"{self!r}: temperature={self.temperature:g}",
                why="only mode=generate samples",
                fix="add mode=generate, or remove it",
            )
        self.max_tokens = max_tokens(spec, prompt)
        self.concurrency = spec.whole("concurrency", 8, 1, 1_000)
        self.again = spec.whole("again", AGAIN, 0)
        self.client = Client(
            self.url,
            spec.options.get("key_from", OPENAI_KEY if self.url == OPENAI else ""),
            repr(self),
            _spending(spec),
            spec.whole("tries", 8, 1, 100),
            spec.number("timeout", 60, 0.001, 86_400),
        )
        self._mode, self._why, self._top = "", "", TOP[0]
        self._settling = Lock()

    def __repr__(self) -> str:
        return f"openai:{self.name}?url={self.url}&prompt={self.prompt.name}"

    def fingerprint(self) -> dict[str, Any]:
        """Return everything known here that answers depend on; neither key nor speed nor cost."""
        return {
            "url": self.url,
            "model": self.name,
            "prompt": self.prompt.digest,
            "mode": self.asked_mode or "as the server allows",
            "temperature": self.temperature,
            "seed": self.seed,
            "max tokens": self.max_tokens,
        }

    @property
    def spending(self) -> Spending:
        return self.client.spending

    @property
    def how(self) -> str:
        """The mode and the reason for it."""
        return f"{self._mode or self.asked_mode or 'not asked yet'}{f': {self._why}' if self._why else ''}"

    def shown(self, example: Example) -> str:
        """Return the whole prompt, turn by turn."""
        return "\n".join(f"[{turn['role']}]\n{turn['content']}" for turn in self.prompt.messages(example))

    def worst(self, example: Example) -> tuple[int, int]:
        """Return the most tokens that an example may take: read, estimated, and written."""
        return estimated_tokens(self.prompt.messages(example)), self.max_tokens

    # Asking

    def stream(self, examples: Sequence[Example]) -> Iterator[list[tuple[int, "Replied"]]]:
        """Yield the replies that have arrived since the last step, each with the position of its example.

        At most `concurrency` requests are in flight. The next ones start when the caller takes the next step: by then
        it has stored the replies. After a failure the requests in flight are awaited, and then it is raised.
        """
        if not examples:
            return
        self._settle(examples)
        waiting = iter(range(len(examples)))
        in_flight: dict[Future[Reply], int] = {}
        problem: BaseException | None = None
        try:
            while True:
                free = self.concurrency - len(in_flight) if problem is None else 0
                for position in islice(waiting, free):
                    in_flight[run_soon(self._reply(examples[position]))] = position
                if not in_flight:
                    break
                done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
                arrived = [(in_flight.pop(reply), reply) for reply in done]
                failures = [reply.exception() for _, reply in arrived if reply.exception()]
                if failures and problem is None:
                    problem = failures[0]
                    self.client.halt()
                yield [
                    (position, Replied(self, examples[position], reply.result()))
                    for position, reply in arrived
                    if not reply.exception()
                ]
        finally:
            for reply in in_flight:  # the caller stopped
                reply.cancel()
            self.client.go_on()
        if problem is not None:
            raise problem

    def replies(self, examples: Sequence[Example]) -> list[Reply]:
        replies: dict[int, Reply] = {}
        for arrived in self.stream(examples):
            replies |= {position: replied.reply for position, replied in arrived}
        return [replies[position] for position in range(len(examples))]

    async def _reply(self, example: Example) -> Reply:
        messages = self.prompt.messages(example)
        asked = hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:16]
        about = {"mode": self._mode, "asked": asked}
        body, read = MODE[self._mode]
        try:
            completion = await self.client.ask(body(self, messages))
        except RefusedError as problem:
            return no_answer(str(problem), **about)
        except FailedError as problem:
            return Reply(error=str(problem), details=about)
        names = {"server": completion.server, "model": completion.model}
        details = {"said": completion.content, "finish": completion.finish}
        details |= {name: value for name, value in names.items() if value}
        if completion.finish == "content_filter":
            return no_answer("stopped by a content filter", **details, **about)
        reply = read(self, completion, details)
        return replace(reply, details={**reply.details, **about})

    # One mode each

    def _first_token(self, completion: Completion, details: dict[str, Any]) -> Reply:
        if completion.first_tokens is None:
            return no_answer("no log-probabilities came with it", **details)
        tokens = from_first_tokens(completion.first_tokens, self.prompt.verbalisers)
        first = [[token, round(log, 6)] for token, log in completion.first_tokens]
        details |= {"mass": tokens.mass, "first": first}
        if tokens.mass <= 0:
            return no_answer(f"none of the {len(first)} likeliest first tokens begins a label", **details)
        flags = {"low mass": tokens.mass < LOW_MASS, "truncated": tokens.truncated}
        details |= {name: True for name, on in flags.items() if on}
        probabilities = tokens.probabilities()
        return Reply(int(probabilities.argmax()), probabilities, details=details)

    def _generated(self, completion: Completion, details: dict[str, Any]) -> Reply:
        del details["said"]
        return text_reply(completion.content, self.prompt, **details)

    def _constrained(self, completion: Completion, details: dict[str, Any]) -> Reply:
        words = self.prompt.verbalisers
        try:
            reply = json.loads(completion.content)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict) or list(reply) != ["label"] or reply["label"] not in words:
            return no_answer("not the requested JSON object", **details)
        label = words.index(reply["label"])
        return Reply(label, np.eye(len(words))[label], details=details)

    def _first_body(self, messages: list[Message]) -> dict[str, Any]:
        return self._body(messages, 1, logprobs=True, top_logprobs=self._top)

    def _text_body(self, messages: list[Message]) -> dict[str, Any]:
        return self._body(messages, self.max_tokens, **({"seed": self.seed} if self.seed else {}))

    def _constrained_body(self, messages: list[Message]) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {"label": {"type": "string", "enum": list(self.prompt.verbalisers)}},
            "required": ["label"],
            "additionalProperties": False,
        }
        wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        return self._body(messages, self.max_tokens + AROUND_A_LABEL, response_format=wanted)

    def _body(self, messages: list[Message], max_tokens: int, **more: Any) -> dict[str, Any]:
        return {
            "model": self.name,
            "messages": messages,
            "temperature": self.temperature,
            "max_tokens": max_tokens,
            **more,
        }

    # Choosing the mode

    def resume(self, mode: str) -> None:
        """Stay in the mode of the answers that are stored already."""
        self.asked_mode = mode

    def _settle(self, examples: Sequence[Example]) -> None:
        """Choose the mode with a few trial requests, once; a failure stops the job."""
        with self._settling:
            if not self._mode:
                few = examples[:: max(1, len(examples) // TRIED)][:TRIED]
                self._mode, self._why = self._choose_mode([self.prompt.messages(example) for example in few])

    def _choose_mode(self, trial: Sequence[list[Message]]) -> tuple[str, str]:
        """Return the mode of the spec, or else the best that server and labels allow, with the reason."""
        if self.asked_mode == "constrained":
            self._try_out(self._constrained_body(trial[0]))
            return self.asked_mode, ""
        problem = "" if self.asked_mode == "generate" else self._no_first_tokens(trial)
        if self.asked_mode == "first token" and problem:
            raise ModelError(
                f"{self!r}: {problem}",
                why="mode=first token distinguishes labels by their first tokens",
                fix="mode=generate; a server with top_logprobs; or single letters in the prompt's [labels]",
            )
        if self.asked_mode != "generate" and not problem:
            return "first token", f"the server gives the {self._top} likeliest tokens"
        self._try_out(self._text_body(trial[0]))
        return "generate", problem

    def _try_out(self, body: dict[str, Any]) -> Completion:
        """Send a request on trial; raise if the server refuses it."""
        try:
            return run(self.client.ask_on_trial(body))
        except RefusedError as refusal:
            raise ModelError(f"{self!r}: {refusal}", fix="another model or mode") from None

    def _no_first_tokens(self, trial: Sequence[list[Message]]) -> str:
        """Return why first tokens do not distinguish the labels; empty if they do."""
        pair = one_begins_another(self.prompt.verbalisers)
        if pair:
            return f"{pair[0]!r} begins {pair[1]!r}"
        for messages in trial:
            first = self._first_tokens(messages)
            if first is None:
                return "the server gives no log-probabilities"
            tokens = from_first_tokens(first, self.prompt.verbalisers)
            if tokens.ambiguous > AMBIGUOUS:
                return f"{tokens.ambiguous:.1%} of the probability is on tokens that begin two labels"
        return ""

    def _first_tokens(self, messages: list[Message]) -> Sequence[tuple[str, float]] | None:
        """Return the likeliest first tokens, as many as the server allows."""
        for count in TOP[TOP.index(self._top) :]:
            self._top = count
            try:
                return run(self.client.ask_on_trial(self._first_body(messages))).first_tokens
            except RefusedError:
                continue
        return None


MODE = {
    "first token": (Endpoint._first_body, Endpoint._first_token),
    "generate": (Endpoint._text_body, Endpoint._generated),
    "constrained": (Endpoint._constrained_body, Endpoint._constrained),
}
"""Mode to the body of a request, and how its completion is read."""


class Replied(PromptAnswers):
    """The model after one reply: it answers that example from memory, and queries the server for any other."""

    def __init__(self, endpoint: Endpoint, example: Example, reply: Reply) -> None:
        self.endpoint, self.example, self.reply = endpoint, example, reply
        self.prompt = endpoint.prompt

    def __repr__(self) -> str:
        return repr(self.endpoint)

    def replies(self, examples: Sequence[Example]) -> list[Reply]:
        others = [example for example in examples if example != self.example]
        replies = iter(self.endpoint.replies(others))
        return [self.reply if example == self.example else next(replies) for example in examples]


def _spending(spec: ModelSpec) -> Spending:
    price = spec_price(spec)
    budget = spec.number("budget", 2, 1e-6) if "budget" in spec.options else None
    if budget is not None and price is None:
        raise ModelError(
            f"{spec.who}: budget={budget:g} without price",
            why="shoal needs the price of tokens",
            fix="price=input:0.15,output:0.60, per million tokens",
        )
    return Spending(price, budget, spec.who)


def _checked_url(spec: ModelSpec) -> str:
    """Return the endpoint's URL; it is stored with the results, so it must not contain secrets."""
    url = spec.options.get("url", OPENAI)
    if "@" in url or "?" in url or "#" in url:
        raise ModelError(
            f"{spec.who}: the URL holds a user name, a password or a query",
            why="a spec is stored with the results; secrets stay in the environment",
            fix="the bare URL, and key_from=NAME for the environment variable with the key",
        )
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and parts.port != 0
        is_valid &= re.fullmatch(r"[^\s/\\%<>\"{}|^`\x00-\x1f]+", parts.hostname or "") is not None
        is_valid &= url.isprintable() and " " not in url
    except ValueError:  # brackets that do not close, a port that is not a number
        is_valid = False
    if not is_valid:
        raise ModelError(f"{spec.who}: url={url!r}", why="not an HTTP address", fix=URL_EXAMPLE)
    return url.rstrip("/")
