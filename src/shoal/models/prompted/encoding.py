"""A prompt as the tokens of a model that is here: through its own chat template where it has one.

Text of an example never becomes a special token. Where it holds the very letters of one, that stretch is put aside
while the rest is rendered, and encoded as the letters it is.
"""

import json
import re
from datetime import datetime
from functools import cached_property
from typing import Any

from ...core.errors import ModelError
from ...core.records import Example
from ..checkpoint import first_line
from .prompt import Message, Prompt, joiner

OPEN, CLOSE = "\ue000", "\ue001"
"""Around the number of a stretch that is put aside: letters that Unicode leaves to private use."""
DATES = ("strftime_now", "date_string")
"""What chat templates use to put today's date into a prompt."""
TODAY = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")


class Wording:
    """One prompt in the words and tokens of one tokenizer."""

    def __init__(
        self, tokenizer: Any, prompt: Prompt, who: str, *, chat: bool = True, date: str = ""
    ) -> None:
        self.tokenizer, self.prompt, self.who, self.date = tokenizer, prompt, who, date
        self.chat = chat and bool(tokenizer.chat_template)

    def text(self, example: Example) -> str:
        """The whole prompt, what looks like a special token in the example put aside."""
        aside = tuple(self._put_aside(text) for text in example)
        return self._through_template(self.prompt.messages(aside)) if self.chat else self.prompt.blocks(aside)

    def shown(self, example: Example) -> str:
        """The whole prompt, for people."""
        return self._aside.sub(lambda found: self._specials[int(found[1])], self.text(example))

    def joiner(self, text: str) -> str:
        """What parts it from the answer: nothing behind the words that begin the model's turn."""
        return "" if self.chat else joiner(text)

    def encode(self, text: str, *, closed: bool = False) -> list[int]:
        """Its tokens, with what the tokenizer begins a text with; if `closed`, also with what it ends one with."""
        ids: list[int] = []
        for number, part in enumerate(self._aside.split(text)):
            # Every second part is the number of a stretch that was put aside.
            literal = number % 2 == 1
            piece = self._specials[int(part)] if literal else part
            ids += self.tokenizer(
                piece, add_special_tokens=False, split_special_tokens=literal, verbose=False
            )["input_ids"]
        before, after = ([], []) if self.chat else self._frame
        return [*before, *ids, *(after if closed else [])]

    def _put_aside(self, text: str) -> str:
        for number, special in enumerate(self._specials):
            text = text.replace(special, f"{OPEN}{number}{CLOSE}")
        return text

    @cached_property
    def _specials(self) -> list[str]:
        """The letters of all special tokens, the longest first."""
        added = [str(token) for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        return sorted({*added, *self.tokenizer.all_special_tokens}, key=lambda word: (-len(word), word))

    @cached_property
    def _aside(self) -> "re.Pattern[str]":
        numbers = "|".join(map(str, range(len(self._specials))))
        return re.compile(f"{OPEN}({numbers}){CLOSE}")

    @cached_property
    def _frame(self) -> tuple[list[int], list[int]]:
        """The special tokens before and behind a text."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        whole = self.tokenizer("a")["input_ids"]
        start = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        return whole[:start], whole[start + len(bare) :]

    # The model's own template

    def _through_template(self, messages: list[Message]) -> str:
        system = messages[0]["content"] if messages[0]["role"] == "system" else ""
        if system and not self._knows_system:
            first = messages[1]
            messages = [{**first, "content": f"{system}\n\n{first['content']}"}, *messages[2:]]
        try:
            return self._render(messages)
        except ModelError:
            raise
        except Exception as problem:
            raise ModelError(
                f"{self.who}: its chat template fails on this prompt",
                why=first_line(problem),
                fix="chat=no, which asks without it",
            ) from None

    @cached_property
    def _knows_system(self) -> bool:
        """Whether the template shows what a system message says."""
        probe = "What only the system says."
        try:
            return probe in self._render(
                [{"role": "system", "content": probe}, {"role": "user", "content": "What the user says."}]
            )
        except ModelError:
            raise
        except Exception:  # templates refuse in many ways
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

    @cached_property
    def _template(self) -> str:
        """The model's own, with the job's date where it would put today's."""
        written: str = self.tokenizer.get_chat_template()
        if not self.date and any(word in written for word in DATES):
            raise ModelError(
                f"{self.who}: its chat template puts today's date into every prompt",
                why="the same job would ask something else tomorrow",
                fix="date=2026-01-31, which stands for today in every prompt",
            )
        return TODAY.sub(lambda found: json.dumps(self._day.strftime(found[2])), written)
