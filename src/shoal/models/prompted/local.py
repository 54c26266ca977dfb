"""hf:DIR?prompt=FILE: a prompted causal or sequence-to-sequence model with local weights.

The default mode scores the likelihood of each label (`likelihood`); reading comprehension generates text (`generate`).
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...core.errors import ModelError
from ...core.records import Answers, Example
from .. import ModelSpec
from ..checkpoint import libraries
from ..hf import BEGINS_WITH, HFModel
from . import likelihood
from .encoding import PromptEncoder
from .likelihood import LOW_MASS, Floats, from_likelihoods
from .options import Options
from .prompt import Prompt, read_prompt
from .replies import Reply, check_task, text_reply, to_answers

MODES = ("likelihood", "generate")
NORMALISE = ("", "tokens", "prior")


def load(spec: ModelSpec, model: HFModel) -> "PromptedModel":
    """Return the model with the prompt that its spec names."""
    options = Options(spec)
    prompt = read_prompt(options.text("prompt"))
    usual = "generate" if prompt.task == "reading" else "likelihood"
    mode = options.one_of("mode", MODES, usual)
    if prompt.task == "reading" and mode != "generate":
        raise ModelError(
            f"{options.who}: mode={mode} for reading", why="reading has no labels", fix="remove mode"
        )
    for name in ("normalise", "end"):
        if mode == "generate" and name in spec.options:
            raise ModelError(
                f"{options.who}: {name} with mode=generate",
                why="it is an option of mode=likelihood",
                fix="remove one of them",
            )
    return PromptedModel(model, prompt, options, mode)


class PromptedModel:
    """A prompted language model; its answers do not depend on batches or threads."""

    def __init__(self, model: HFModel, prompt: Prompt, options: Options, mode: str) -> None:
        self.model, self.prompt, self.mode = model, prompt, mode
        self.checkpoint = model.checkpoint
        self.normalise = options.one_of("normalise", NORMALISE, "")
        self.end = options.yes("end")
        self.chat, self.date = options.yes("chat", default=True), options.date("date")
        self.max_tokens = options.max_tokens(reading=prompt.task == "reading")
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
        else:
            prompting |= {"normalise": self.normalise, "end": self.end}
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
        """The network with its language modelling head."""
        return self.model.network(self.kind)

    @cached_property
    def encoder(self) -> PromptEncoder:
        """The prompt's encoder."""
        return PromptEncoder(self.model.tokenizer, self.prompt, repr(self), chat=self.chat, date=self.date)

    @property
    def longest(self) -> int:
        """The most tokens of prompt and answer together."""
        return self.model.longest

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
        """Return the whole prompt."""
        return self.encoder.shown(example)

    # Asking

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """Return probabilities of the suite's labels; in mode generate, the label in the reply."""
        check_task(self.prompt, repr(self), reading=False)
        return to_answers(self._ask(examples), self.prompt, labels, repr(self))

    def extract(self, examples: Sequence[Example]) -> Answers:
        """Return generated answers to questions."""
        check_task(self.prompt, repr(self), reading=True)
        return to_answers(self._ask(examples), self.prompt, None, repr(self))

    def _ask(self, examples: Sequence[Example]) -> list[Reply]:
        """Return a reply to each example; a prompt above the length limit is an error, never truncated."""
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
        prior = self._prior if self.normalise == "prior" else None
        replies = []
        for choice, scores in zip(*self._scores(examples), strict=True):
            tokens = [len(end) for end in choice.ends]
            probabilities = from_likelihoods(scores, tokens, self.normalise, prior)
            mass = float(np.exp(scores).sum())
            details: dict[str, Any] = {"asked": _digest(choice.prompt), "mass": mass}
            if mass < LOW_MASS:
                details["low mass"] = True
            replies.append(Reply(int(probabilities.argmax()), probabilities, details=details))
        return replies

    @cached_property
    def _prior(self) -> Floats:
        """p̄: the mean prediction for inputs without content."""
        _, scores = self._scores(self.prompt.content_free())
        rows = [from_likelihoods(row, [1] * len(row)) for row in scores]
        mean: Floats = np.mean(rows, axis=0)
        return mean

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
        return choices, likelihood.causal(self.network, pad, choices)

    def _choice(self, example: Example) -> likelihood.Choice:
        text = self.encoder.text(example)
        joiner = self.encoder.joiner(text)
        whole = [self.encoder.encode(text + joiner + word) for word in self.prompt.verbalisers]
        end = [self._end] if self.end else []
        choice = likelihood.choice(self.encoder.encode(text), [[*sequence, *end] for sequence in whole])
        pair = likelihood.prefix_pair(choice.ends)
        if pair is not None:
            short, long = (self.prompt.verbalisers[at] for at in pair)
            raise ModelError(
                f"{self!r}: the tokens of {short!r} begin those of {long!r}",
                why="the longer one can never be more probable",
                fix="end=yes, which also scores the end of the answer; or other words",
            )
        return choice

    @cached_property
    def _labels(self) -> list[list[int]]:
        """The tokens of each verbaliser by itself; for a decoder, with its end."""
        tokenizer = self.model.tokenizer
        rows = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in self.prompt.verbalisers]
        closed = self.end or self.kind == "seq2seq"
        return [[*row, self._end] for row in rows] if closed else rows

    @property
    def _end(self) -> int:
        number = self.model.tokenizer.eos_token_id
        if number is None:
            raise ModelError(
                f"{self!r}: its tokenizer has no EOS token", fix="a causal model without end=yes"
            )
        return int(number)

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
        replies: dict[int, Reply] = {}
        for same in by_length.values():
            ids = torch.tensor([prompts[at] for at in same], device=network.device)
            with torch.inference_mode():
                made = network.generate(
                    ids, attention_mask=torch.ones_like(ids), generation_config=how
                ).tolist()
            for at, row in zip(same, made, strict=True):
                replies[at] = self._decoded(
                    row[1:] if self.kind == "seq2seq" else row[len(prompts[at]) :], prompts[at], how
                )
        return [replies[at] for at in range(len(examples))]

    def _decoded(self, tokens: Sequence[int], prompt: Sequence[int], how: Any) -> Reply:
        ends = how.eos_token_id if isinstance(how.eos_token_id, list) else [how.eos_token_id]
        finish = "stop" if any(token in ends for token in tokens) else "length"
        text = self.model.tokenizer.decode(tokens, skip_special_tokens=True)
        return text_reply(text, self.prompt, finish=finish, asked=_digest(prompt))


def _digest(tokens: Sequence[int]) -> str:
    """Return a short hash of token ids."""
    return hashlib.sha256(np.array(tokens, np.int64).tobytes()).hexdigest()[:16]
