"""hf:DIR?prompt=FILE: a prompted causal or sequence-to-sequence model with local weights.

The default mode scores the likelihood of each label (`likelihood`); reading comprehension generates text (`generate`).
Text of an example never becomes a special token: if it contains the characters of one, they are replaced by a
placeholder while the chat template is rendered, and then encoded as plain text.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
import scipy  # its parts are imported at their first use

from ...core.errors import ModelError
from ...core.records import Example
from .. import ModelSpec
from ..checkpoint import first_line, libraries
from ..hf import HFModel
from ..loaded import BEGINS_WITH
from . import likelihood
from .likelihood import LOW_MASS
from .prompt import PROBES, TASKS, Message, Prompt, answer_mode, joiner, max_tokens, prompt_of
from .replies import PromptAnswers, Reply, text_reply

OPEN, CLOSE = "\ue000", "\ue001"
"""Delimiters of placeholders, from Unicode's private use area."""
DATES = ("strftime_now", "date_string")
"""Names by which chat templates use today's date."""
TODAY = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")


# Encoding


class PromptEncoder:
    """Encodes a prompt for one tokenizer."""

    def __init__(
        self, tokenizer: Any, prompt: Prompt, who: str, *, chat: bool = True, date: str = ""
    ) -> None:
        self.tokenizer, self.prompt, self.who, self.date = tokenizer, prompt, who, date
        self.chat = chat and bool(tokenizer.chat_template)
        self._template = self._dated_template() if self.chat else ""

    def text(self, example: Example) -> str:
        """Return the whole prompt, with placeholders for special tokens in the example."""
        safe = example
        for number, special in enumerate(self._specials):
            safe = tuple(text.replace(special, f"{OPEN}{number}{CLOSE}") for text in safe)
        return self._chat_text(self.prompt.messages(safe)) if self.chat else self.prompt.blocks(safe)

    def shown(self, example: Example) -> str:
        return self._placeholder.sub(lambda match: self._specials[int(match[1])], self.text(example))

    def joiner(self, text: str) -> str:
        """Return the separator before the answer; empty at the start of the model's turn."""
        return "" if self.chat else joiner(text)

    def encode(self, text: str, *, closed: bool = False) -> list[int]:
        """Return token ids with the tokenizer's initial special tokens; `closed` adds the final ones."""
        ids: list[int] = []
        for number, part in enumerate(self._placeholder.split(text)):
            # Every second part is the number of a placeholder.
            literal = number % 2 == 1
            piece = self._specials[int(part)] if literal else part
            ids += self.tokenizer(
                piece, add_special_tokens=False, split_special_tokens=literal, verbose=False
            )["input_ids"]
        before, after = ([], []) if self.chat else self._frame
        return [*before, *ids, *(after if closed else [])]

    @cached_property
    def _specials(self) -> list[str]:
        """All special tokens as text, longest first."""
        added = [str(token) for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        return sorted({*added, *self.tokenizer.all_special_tokens}, key=lambda word: (-len(word), word))

    @cached_property
    def _placeholder(self) -> "re.Pattern[str]":
        numbers = "|".join(map(str, range(len(self._specials))))
        return re.compile(f"{OPEN}({numbers}){CLOSE}")

    @cached_property
    def _frame(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after a text."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        whole = self.tokenizer("a")["input_ids"]
        start = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        return whole[:start], whole[start + len(bare) :]

    # The chat template

    def _chat_text(self, messages: list[Message]) -> str:
        system = messages[0]["content"] if messages[0]["role"] == "system" else ""
        if system and not self._has_system:
            first = messages[1]
            messages = [{**first, "content": f"{system}\n\n{first['content']}"}, *messages[2:]]
        try:
            return self._render(messages)
        except Exception as problem:
            raise ModelError(
                f"{self.who}: its chat template fails on this prompt",
                why=first_line(problem),
                fix="chat=no",
            ) from None

    @cached_property
    def _has_system(self) -> bool:
        """Whether the template shows system messages."""
        probe = "Only in the system message."
        try:
            return probe in self._render(
                [{"role": "system", "content": probe}, {"role": "user", "content": "In the user message."}]
            )
        except Exception:  # templates reject roles in many ways
            return False

    def _render(self, messages: list[Message]) -> str:
        day = {"date_string": self._day.strftime("%d %b %Y")} if self.date else {}
        rendered: str = self.tokenizer.apply_chat_template(
            messages,
            chat_template=self._template,
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=False,
            **day,
        )
        return rendered

    @property
    def _day(self) -> datetime:
        return datetime.strptime(self.date, "%Y-%m-%d")

    def _dated_template(self) -> str:
        """Return the model's template, with the job's date instead of today's."""
        written: str = self.tokenizer.get_chat_template()
        if not self.date and any(word in written for word in DATES):
            raise ModelError(
                f"{self.who}: its chat template puts today's date into every prompt",
                why="the prompts would change from day to day",
                fix="date=2026-01-31 sets the date in every prompt",
            )
        return TODAY.sub(lambda match: json.dumps(self._day.strftime(match[2])), written)


# The model


class PromptedModel(PromptAnswers):
    """A prompted language model; its answers do not depend on batches or threads."""

    def __init__(self, model: HFModel, spec: ModelSpec) -> None:
        self.model, self.prompt, self.checkpoint = model, prompt_of(spec), model.checkpoint
        self.mode = answer_mode(spec, self.prompt, ("likelihood", "generate"), "likelihood")
        self.chat = spec.one_of("chat", ("yes", "no"), "yes") == "yes"
        self.date = spec.options.get("date", "")
        if self.date and not re.fullmatch(r"\d{4}-\d\d-\d\d", self.date):
            raise ModelError(f"{spec.who}: date is {self.date!r}", fix="date=2026-01-31")
        self.max_tokens = max_tokens(spec, self.prompt)
        self._lengths: dict[Example, int] = {}

    def __repr__(self) -> str:
        return repr(self.model)

    def fingerprint(self) -> dict[str, Any]:
        """Return what answers depend on: weights, prompt and how replies are read."""
        prompting: dict[str, Any] = {
            "prompt": self.prompt.digest,
            "mode": self.mode,
            "chat": self.chat,
            "date": self.date,
        }
        if self.mode == "generate":
            prompting["max tokens"] = self.max_tokens
        weights = self.model.fingerprint()
        weights.pop(BEGINS_WITH, None)  # a prompt has its own first token
        return {**weights, **prompting}

    # The model

    @cached_property
    def kind(self) -> str:
        """`causal` or `seq2seq`; raises for other models."""
        if self.checkpoint.config.get("is_encoder_decoder"):
            return "seq2seq"
        if self.model.language_model != "causal":
            raise ModelError(
                f"{self!r} cannot be prompted",
                why="its config.json names neither a causal nor a sequence-to-sequence language model",
                fix="remove prompt to use a classifier or span extractor",
            )
        return "causal"

    @property
    def network(self) -> Any:
        return self.model.network(self.kind)

    @cached_property
    def encoder(self) -> PromptEncoder:
        return PromptEncoder(self.model.tokenizer, self.prompt, repr(self), chat=self.chat, date=self.date)

    @property
    def longest(self) -> int:
        """The most tokens of prompt and answer together."""
        return self.model.longest

    @property
    def batch_tokens(self) -> int:
        """The most tokens in a batch."""
        return self.model.batch_tokens

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """Return the tokens of each prompt with the longest answer."""
        for example in examples:
            if example not in self._lengths:
                self._lengths[example] = len(self._prompt(example)) + self._room
        return [self._lengths[example] for example in examples]

    @cached_property
    def _room(self) -> int:
        """The tokens reserved for an answer."""
        if self.kind == "seq2seq":
            return 0
        return self.max_tokens if self.mode == "generate" else max(map(len, self._labels))

    def _prompt(self, example: Example) -> list[int]:
        return self.encoder.encode(self.encoder.text(example), closed=self.kind == "seq2seq")

    def shown(self, example: Example) -> str:
        return self.encoder.shown(example)

    # Asking

    def replies(self, examples: Sequence[Example]) -> list[Reply]:
        over = {
            at: f"prompt and answer have {length:,} tokens; the model takes {self.longest:,}"
            for at, length in enumerate(self.lengths(examples))
            if length > self.longest
        }
        fitting = [at for at in range(len(examples)) if at not in over]
        ask = self._likelihoods if self.mode == "likelihood" else self._generated
        replies = dict(zip(fitting, ask([examples[at] for at in fitting]), strict=True))
        return [replies.get(at) or Reply(error=over[at]) for at in range(len(examples))]

    # Likelihood

    def _likelihoods(self, examples: Sequence[Example]) -> list[Reply]:
        replies = []
        for choice, scores in zip(*self._scores(examples), strict=True):
            mass = float(np.exp(scores).sum())
            details: dict[str, Any] = {"asked": _digest(choice.prompt), "mass": mass}
            if mass < LOW_MASS:
                details["low mass"] = True
            probabilities = scipy.special.softmax(scores)
            replies.append(Reply(int(probabilities.argmax()), probabilities, details=details))
        return replies

    def _scores(self, examples: Sequence[Example]) -> tuple[list[likelihood.Choice], list[list[float]]]:
        """Return the choices and l_c of each example."""
        pad = self.model.tokenizer.pad_token_id
        if self.kind == "seq2seq":
            prompts = [self._prompt(example) for example in examples]
            choices = [
                likelihood.Choice(tuple(prompt), tuple(map(tuple, self._labels))) for prompt in prompts
            ]
            return choices, likelihood.sequence_to_sequence(self.network, pad, prompts, self._labels)
        choices = [self._choice(example) for example in examples]
        return choices, likelihood.causal(self.network, pad, choices, self._prefix)

    @cached_property
    def _prefix(self) -> likelihood.Prefix | None:
        """The states after the tokens with which every prompt begins, whatever the texts of the example."""
        probes = [self._prompt((probe,) * len(TASKS[self.prompt.task])) for probe in PROBES]
        return likelihood.read_prefix(self.network, probes[0][: likelihood.common(*probes)])

    def _choice(self, example: Example) -> likelihood.Choice:
        text = self.encoder.text(example)
        joiner = self.encoder.joiner(text)
        whole = [self.encoder.encode(text + joiner + word) for word in self.prompt.verbalisers]
        choice = likelihood.choice(self.encoder.encode(text), whole)
        labels = zip(self.prompt.verbalisers, choice.ends, strict=True)
        for (short, first), (long, second) in permutations(labels, 2):
            if second[: len(first)] == first:
                raise ModelError(
                    f"{self!r}: the tokens of {short!r} begin those of {long!r}",
                    why="the longer one can never be more probable",
                    fix="other words in the prompt's [labels], such as letters",
                )
        return choice

    @cached_property
    def _labels(self) -> list[list[int]]:
        """The tokens of each verbaliser by itself; for a decoder, with its end."""
        tokenizer = self.model.tokenizer
        rows = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in self.prompt.verbalisers]
        return [[*row, tokenizer.eos_token_id] for row in rows] if self.kind == "seq2seq" else rows

    # Generation

    def _generated(self, examples: Sequence[Example]) -> list[Reply]:
        """Return greedy generations; prompts of equal length share a batch, so that none is padded."""
        torch, transformers = libraries()
        prompts = [self._prompt(example) for example in examples]
        by_length: dict[int, list[int]] = {}
        for at, prompt in enumerate(prompts):
            by_length.setdefault(len(prompt), []).append(at)
        network = self.network
        how = transformers.GenerationConfig(
            max_new_tokens=self.max_tokens,
            do_sample=False,
            pad_token_id=self.model.tokenizer.pad_token_id,
            eos_token_id=network.generation_config.eos_token_id or self.model.tokenizer.eos_token_id,
            decoder_start_token_id=getattr(network.config, "decoder_start_token_id", None),
        )
        ends = how.eos_token_id if isinstance(how.eos_token_id, list) else [how.eos_token_id]
        replies: dict[int, Reply] = {}
        for same in by_length.values():
            ids = torch.tensor([prompts[at] for at in same], device=network.device)
            with torch.inference_mode():
                made = network.generate(
                    ids, attention_mask=torch.ones_like(ids), generation_config=how
                ).tolist()
            for at, row in zip(same, made, strict=True):
                tokens = row[1:] if self.kind == "seq2seq" else row[len(prompts[at]) :]
                finish = "length" if set(ends).isdisjoint(tokens) else "stop"
                text = self.model.tokenizer.decode(tokens, skip_special_tokens=True)
                replies[at] = text_reply(text, self.prompt, finish=finish, asked=_digest(prompts[at]))
        return [replies[at] for at in range(len(examples))]


def _digest(tokens: Sequence[int]) -> str:
    return hashlib.sha256(np.array(tokens, np.int64).tobytes()).hexdigest()[:16]
