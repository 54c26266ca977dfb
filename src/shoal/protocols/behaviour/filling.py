"""Fill templates with words: the sentences of a suite written in YAML, in a spreadsheet or in Python.

{thing}                a word of the list `thing`; twice the same word if a template has the slot twice
{thing1} and {thing2}  two different words of the list `thing`
{a:thing}              the word after "a" or "an"
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod

import numpy as np

from ...core.errors import DataError, nearest, some
from .suites import an

SLOT = re.compile(r"\{(?P<article>a:)?(?P<name>[^\W\d]\w*)\}")
MOST = 100_000
"""Fillings of one functionality without a sample size."""
ENUMERATED = 1_000_000
"""More combinations are drawn with repetition checks instead of enumerated."""
TRIES = 50
"""Draws per filling wanted, before giving up."""

Template = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """A filled template."""

    texts: tuple[str, ...]
    template: Template
    words: Mapping[str, str]
    """The word in each slot."""

    @property
    def text(self) -> str:
        """Return the only text."""
        (text,) = self.texts
        return text

    @property
    def source(self) -> str:
        """Return the template as one text."""
        return " | ".join(_parts(self.template))


def fill(
    templates: Template | Sequence[Template],
    words: Mapping[str, Sequence[str]],
    n: int = 0,
    seed: int = 0,
    exclude: Sequence[str] = (),
) -> Iterator[Filled]:
    """Yield n fillings drawn at random, or all with n=0, in the order of templates and words.

    Templates share n equally, as far as they have fillings: one with more slots does not push the others out. A text is
    yielded once. `exclude` leaves out fillings that contain one of these phrases as whole words. A template
    of two texts is a tuple; a single one of them needs a list: `fill([("premise", "hypothesis")], …)`.

    >>> [filled.text for filled in fill("It is {a:word} {thing}.", {"word": ["old", "new"], "thing": ["lamp"]})]
    ['It is an old lamp.', 'It is a new lamp.']
    >>> [filled.text for filled in fill("{name1} saw {name2}.", {"name": ["Rosa", "Emil", "Hana"]}, n=2)]
    ['Rosa saw Hana.', 'Emil saw Hana.']
    """
    every = [templates] if isinstance(templates, str) else list(templates)
    slots = [slot_lists(template, words) for template in every]
    sizes = [prod(len(words[name]) for name in chosen.values()) for chosen in slots]
    total = sum(sizes)
    if n == 0 and total > MOST:
        raise DataError(f"{total:,} combinations of words", fix=f"a sample size of at most {MOST:,}")
    unwanted = re.compile("|".join(rf"(?<!\w){re.escape(phrase)}(?!\w)" for phrase in exclude) or r"(?!)")
    seen: set[tuple[str, ...]] = set()
    drawn: dict[tuple[int, int], Filled] = {}
    for template, index in _order(sizes, n, seed):
        chosen = _words_at(index, slots[template], words)
        filled = Filled(fill_one(every[template], chosen), every[template], chosen)
        is_repeated = len(set(_numbered(chosen))) < len(list(_numbered(chosen)))
        if is_repeated or filled.texts in seen or any(map(unwanted.search, filled.texts)):
            continue
        seen.add(filled.texts)
        drawn[template, index] = filled
        if len(drawn) == n:
            break
    yield from (drawn[place] for place in sorted(drawn))


def _parts(template: Template) -> tuple[str, ...]:
    return (template,) if isinstance(template, str) else template


def slot_names(template: Template) -> list[str]:
    """Return the slots of a template in order of appearance."""
    return list(dict.fromkeys(found["name"] for part in _parts(template) for found in SLOT.finditer(part)))


def slot_lists(template: Template, words: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the word list of each slot."""
    chosen = {}
    for name in slot_names(template):
        home = name if name in words else name.rstrip("0123456789")
        if home not in words:
            raise DataError(
                f"no words for the slot {{{name}}} of {' | '.join(_parts(template))!r}",
                why=f"word lists: {some(words, 12) or 'none'}",
                fix=nearest(name, words) or f"a word list called {name}",
            )
        chosen[name] = home
    for part in _parts(template):
        if set(SLOT.sub("", part)) & set("{}"):
            raise DataError(
                f"a brace that belongs to no slot in {part!r}",
                fix="a slot is {thing} or {a:thing}, without spaces",
            )
    return chosen


def _order(sizes: Sequence[int], n: int, seed: int) -> Iterator[tuple[int, int]]:
    """Yield template and position of fillings in the order in which they are drawn: a turn per template, none twice."""
    if n == 0:
        yield from ((template, index) for template, size in enumerate(sizes) for index in range(size))
        return
    turns = zip_longest(*(_draws(size, n, [seed, template]) for template, size in enumerate(sizes)))
    for turn in turns:
        yield from ((template, index) for template, index in enumerate(turn) if index is not None)


def _draws(size: int, n: int, seed: Sequence[int]) -> Iterator[int]:
    """Yield positions below a size at random, none twice; of more than can be listed, enough for n."""
    rng = np.random.default_rng(seed)
    if size <= ENUMERATED:
        yield from rng.permutation(size).tolist()
        return
    seen: set[int] = set()
    for _ in range(TRIES * n):
        position = int(rng.integers(size))
        if position not in seen:
            seen.add(position)
            yield position


def _words_at(index: int, slots: Mapping[str, str], words: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the word of each slot: the last slot changes first, as in nested loops."""
    chosen = {}
    for name, home in reversed(list(slots.items())):
        index, place = divmod(index, len(words[home]))
        chosen[name] = words[home][place]
    return dict(reversed(list(chosen.items())))


def _numbered(chosen: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the list and word of slots with a number: {thing1} and {thing2} take different words."""
    for name, word in chosen.items():
        base = name.rstrip("0123456789")
        if base != name:
            yield base, word


def fill_one(template: Template, words: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts of a template with these words.

    >>> fill_one("The {kind} {who} left.", {"kind": "old", "who": "chef"})
    ('The old chef left.',)
    """

    def word(slot: re.Match[str]) -> str:
        return an(words[slot["name"]]) if slot["article"] else words[slot["name"]]

    return tuple(SLOT.sub(word, part) for part in _parts(template))
