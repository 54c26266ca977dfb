"""hf:DIR?prompt=FILE: a causal or sequence-to-sequence model that is here, asked in words.

By default it is asked how likely it finds what each label is called (`mode=likelihood`), and reading comprehension in
words (`mode=generate`).
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
from .encoding import Wording
from .likelihood import LOW_MASS, Floats, from_likelihoods
from .options import Options
from .prompt import Prompt, read_prompt
from .replies import Reply, check_task, spoken, to_answers

MODES = ("likelihood", "generate")
NORMALISE = ("", "tokens", "prior")


def load(spec: ModelSpec, model: HFModel) -> "PromptedModel":
    """The model, to be asked by the prompt that its spec names."""
    options = Options(spec)
    prompt = read_prompt(options.text("prompt"))
    usual = "generate" if prompt.task == "reading" else "likelihood"
    mode = options.one_of("mode", MODES, usual)
    if prompt.task == "reading" and mode != "generate":
        raise ModelError(
            f"{options.who}: mode={mode} for reading", why="it has no labels", fix="leave mode out"
        )
    for name in ("normalise", "end"):
        if mode == "generate" and name in spec.options:
            raise ModelError(
                f"{options.who}: {name} with mode=generate",
                why="it is about likelihoods",
                fix="leave one of them out",
            )
    return PromptedModel(model, prompt, options, mode)


class PromptedModel:
    """A language model asked in words; thread by thread, batch by batch, it says the same."""

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
        """What the answers depend on: the weights, what is asked, and how the answer is read."""
        asked: dict[str, Any] = {
            "prompt": self.prompt.digest,
            "mode": self.mode,
            "chat": self.chat,
            "date": self.date,
        }
        if self.mode == "generate":
            asked["max tokens"] = self.max_tokens
        else:
            asked |= {"normalise": self.normalise, "end": self.end}
        weights = self.model.fingerprint()
        weights.pop(BEGINS_WITH, None)  # a prompt has its own first token
        return {**weights, **asked}

    # The model

    @cached_property
    def kind(self) -> str:
        """Causal, or sequence to sequence; others have nothing to say."""
        if self.checkpoint.config.get("is_encoder_decoder"):
            return "seq2seq"
        if self.model.language_model != "causal":
            raise ModelError(
                f"{self!r} cannot be asked in words",
                why="it is no causal and no sequence-to-sequence language model, as far as its config.json says",
                fix="leave prompt out, to ask a classifier or span extractor as it is",
            )
        return "causal"

    @property
    def network(self) -> Any:
        """With its language modelling head."""
        return self.model.network(self.kind)

    @cached_property
    def wording(self) -> Wording:
        """The prompt in its tokens."""
        return Wording(self.model.tokenizer, self.prompt, repr(self), chat=self.chat, date=self.date)

    @property
    def longest(self) -> int:
        """How many tokens it takes, prompt and answer together."""
        return self.model.longest

    def lengths(self, examples: Sequence[Example]) -> list[int]:
        """How many tokens each prompt has, with the longest answer."""
        for example in examples:
            if example not in self._lengths:
                self._lengths[example] = len(self._prompt(example)) + self._room
        return [self._lengths[example] for example in examples]

    @cached_property
    def _room(self) -> int:
        """Tokens to leave for an answer."""
        if self.kind == "seq2seq":
            return 0
        return self.max_tokens if self.mode == "generate" else max(map(len, self._labels))

    def _prompt(self, example: Example) -> list[int]:
        return self.wording.encode(self.wording.text(example), closed=self.kind == "seq2seq")

    def shown(self, example: Example) -> str:
        """The whole prompt, as it is sent."""
        return self.wording.shown(example)

    # Asking

    def classify(self, examples: Sequence[Example], labels: Sequence[str] | None) -> Answers:
        """Probabilities of the suite's labels, or in mode generate the label that was said."""
        check_task(self.prompt, repr(self), reading=False)
        return to_answers(self._ask(examples), self.prompt, labels, repr(self))

    def extract(self, examples: Sequence[Example]) -> Answers:
        """Answers to questions, in the model's own words."""
        check_task(self.prompt, repr(self), reading=True)
        return to_answers(self._ask(examples), self.prompt, None, repr(self))

    def _ask(self, examples: Sequence[Example]) -> list[Reply]:
        """A reply to each; a prompt that is longer than the model takes is an error, never cut."""
        over = {
            at: f"a prompt of {length:,} tokens, its answer included; the model takes {self.longest:,}"
            for at, length in enumerate(self.lengths(examples))
            if length > self.longest
        }
        fitting = [at for at in range(len(examples)) if at not in over]
        ask = self._likelihoods if self.mode == "likelihood" else self._generated
        found = dict(zip(fitting, ask([examples[at] for at in fitting]), strict=True))
        return [found.get(at) or Reply(error=over[at]) for at in range(len(examples))]

    # Likelihood

    def _likelihoods(self, examples: Sequence[Example]) -> list[Reply]:
        prior = self._prior if self.normalise == "prior" else None
        replies = []
        for choice, scores in zip(*self._scores(examples), strict=True):
            tokens = [len(end) for end in choice.ends]
            probabilities = from_likelihoods(scores, tokens, self.normalise, prior)
            mass = float(np.exp(scores).sum())
            details: dict[str, Any] = {"asked": digest_of(choice.given), "mass": mass}
            if mass < LOW_MASS:
                details["low mass"] = True
            replies.append(Reply(int(probabilities.argmax()), probabilities, details=details))
        return replies

    @cached_property
    def _prior(self) -> Floats:
        """p̄: what it makes of inputs that say nothing."""
        _, scores = self._scores(self.prompt.content_free())
        rows = [from_likelihoods(row, [1] * len(row)) for row in scores]
        mean: Floats = np.mean(rows, axis=0)
        return mean

    def _scores(self, examples: Sequence[Example]) -> tuple[list[likelihood.Choice], list[list[float]]]:
        """l_c of each example."""
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
        text = self.wording.text(example)
        joiner = self.wording.joiner(text)
        whole = [self.wording.encode(text + joiner + word) for word in self.prompt.verbalisers]
        end = [self._end] if self.end else []
        found = likelihood.choice(self.wording.encode(text), [[*sequence, *end] for sequence in whole])
        pair = likelihood.begun(found.ends)
        if pair is not None:
            short, long = (self.prompt.verbalisers[at] for at in pair)
            raise ModelError(
                f"{self!r}: the tokens of {short!r} begin those of {long!r}",
                why="the longer one can never be likelier",
                fix="end=yes, which counts the end of the answer too; or other words",
            )
        return found

    @cached_property
    def _labels(self) -> list[list[int]]:
        """The tokens of each verbaliser by itself; of a decoder, with its end."""
        tokenizer = self.model.tokenizer
        rows = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in self.prompt.verbalisers]
        closed = self.end or self.kind == "seq2seq"
        return [[*row, self._end] for row in rows] if closed else rows

    @property
    def _end(self) -> int:
        number = self.model.tokenizer.eos_token_id
        if number is None:
            raise ModelError(
                f"{self!r}: its tokenizer has no token that ends a text", fix="a causal model without end=yes"
            )
        return int(number)

    # Words

    def _generated(self, examples: Sequence[Example]) -> list[Reply]:
        """What it says, the likeliest token each time; prompts of one length together, so that none is padded."""
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
                replies[at] = self._heard(
                    row[1:] if self.kind == "seq2seq" else row[len(prompts[at]) :], prompts[at], how
                )
        return [replies[at] for at in range(len(examples))]

    def _heard(self, tokens: Sequence[int], prompt: Sequence[int], how: Any) -> Reply:
        ends = how.eos_token_id if isinstance(how.eos_token_id, list) else [how.eos_token_id]
        finish = "stop" if any(token in ends for token in tokens) else "length"
        said = self.model.tokenizer.decode(tokens, skip_special_tokens=True)
        return spoken(said, self.prompt, finish=finish, asked=digest_of(prompt))


def digest_of(tokens: Sequence[int]) -> str:
    """A short hash of the tokens that were sent."""
    return hashlib.sha256(np.array(tokens, np.int64).tobytes()).hexdigest()[:16]
