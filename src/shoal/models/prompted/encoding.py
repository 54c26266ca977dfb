"""Encode a prompt with a local model's chat template and tokenizer.

Text of an example never becomes a special token: if it contains the characters of one, they are replaced by a
placeholder while the template is rendered, and then encoded as plain text.
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
"""Delimiters of placeholders, from Unicode's private use area."""
DATES = ("strftime_now", "date_string")
"""Names by which chat templates use today's date."""
TODAY = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")


class PromptEncoder:
    """Encodes a prompt for one tokenizer."""

    def __init__(
        self, tokenizer: Any, prompt: Prompt, who: str, *, chat: bool = True, date: str = ""
    ) -> None:
        self.tokenizer, self.prompt, self.who, self.date = tokenizer, prompt, who, date
        self.chat = chat and bool(tokenizer.chat_template)

    def text(self, example: Example) -> str:
        """Return the whole prompt, with placeholders for special tokens in the example."""
        safe = tuple(self._escape(text) for text in example)
        return self._chat_text(self.prompt.messages(safe)) if self.chat else self.prompt.blocks(safe)

    def shown(self, example: Example) -> str:
        """Return the whole prompt for display."""
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

    def _escape(self, text: str) -> str:
        for number, special in enumerate(self._specials):
            text = text.replace(special, f"{OPEN}{number}{CLOSE}")
        return text

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
        except ModelError:
            raise
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
        except ModelError:
            raise
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

    @cached_property
    def _template(self) -> str:
        """The model's template, with the job's date instead of today's."""
        written: str = self.tokenizer.get_chat_template()
        if not self.date and any(word in written for word in DATES):
            raise ModelError(
                f"{self.who}: its chat template puts today's date into every prompt",
                why="the prompts would change from day to day",
                fix="date=2026-01-31 sets the date in every prompt",
            )
        return TODAY.sub(lambda match: json.dumps(self._day.strftime(match[2])), written)
