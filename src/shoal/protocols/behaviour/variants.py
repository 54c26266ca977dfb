"""Variants of a filled template in a suite without code: templates of their own, and perturbations by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from ...core.errors import nearest
from ...data.placed import Placed, errors_in
from . import perturb
from .filling import Filled, Template, fill, fill_one, slot_names
from .lexicons import LEXICONS

TYPOS = 3
"""Typos per text, as many other names, places and numbers."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words that a functionality may use: labels and lists."""

    language: str
    labels: Sequence[str]
    """The suite's labels; empty if the file does not name them."""
    lists: Mapping[str, Sequence[str]]


def read_template(entry: Placed) -> Template:
    """Return a template of one text, or of the two texts of a pair."""
    if isinstance(entry.value, list):
        texts = entry.texts("a pair of templates")
        if len(texts) != 2:
            raise entry.error(f"a pair has two texts, found {len(texts)}", '["How far is it?", "Is it far?"]')
        return tuple(texts)
    return entry.text("a template")


def variants_of(
    filled: Filled, templates: Sequence[Placed], fields: Mapping[str, Placed], words: Words, rng: Generator
) -> list[tuple[str, ...]]:
    """Return the different variants of a filling, in the order of the file."""
    made: dict[tuple[str, ...], None] = {}
    for entry in templates:
        made |= dict.fromkeys(_from_template(entry, filled, words))
    for entry in fields["perturb"].parts("perturb") if "perturb" in fields else ():
        made |= dict.fromkeys((text,) for text in _perturbed(entry, filled, words, rng))
    made.pop(filled.texts, None)
    return list(made)


def _from_template(entry: Placed, filled: Filled, words: Words) -> Iterator[tuple[str, ...]]:
    """Yield a variant template with the words of the original, and every word of its further slots."""
    template = read_template(entry)
    known = {name: [word] for name, word in filled.words.items() if name in slot_names(template)}
    with errors_in(entry.where):
        for variant in fill([template], {**words.lists, **known}):
            yield variant.texts


def _perturbed(entry: Placed, filled: Filled, words: Words, rng: Generator) -> Iterator[str]:
    """Yield the changed texts of one entry of `perturb`: a name, or a name with its argument."""
    if isinstance(entry.value, dict):
        if len(entry.value) != 1:
            raise entry.error("a perturbation is one name with its argument", "- typo: 3")
        ((name, argument),) = entry.value.items()
    else:
        name, argument = entry.text("perturb").strip(), None
    if name not in PERTURBATIONS:
        raise entry.error(
            f"unknown perturbation {name!r}",
            nearest(name, PERTURBATIONS) or "one of those",
            f"known: {', '.join(PERTURBATIONS)}",
        )
    if len(filled.texts) > 1:
        raise entry.error("perturb changes single texts", "variants: with both texts of the pair")
    if name in ENGLISH_ONLY and words.language != "en":
        raise entry.error(f"{name} is for English, the suite's language is {words.language}", "variants:")
    if name in NEED_ARGUMENT and argument is None:
        raise entry.error(f"{name} needs an argument", NEED_ARGUMENT[name])
    yield from PERTURBATIONS[name](filled, argument, words, rng)


def _typo(filled: Filled, times: Placed | None, words: Words, rng: Generator) -> Iterator[str]:
    """Two swapped letters; `typo: 3` swaps three times. Three variants."""
    swaps = times.number("typo", 1) if times else 1
    yield from (perturb.swap_letters(filled.text, rng, swaps) for _ in range(TYPOS))


def _contraction(filled: Filled, *_: object) -> Iterator[str]:
    """Short forms: "it is" becomes "it's". English."""
    yield perturb.contract(filled.text)


def _punctuation(filled: Filled, *_: object) -> Iterator[str]:
    """No end mark, a full stop, an exclamation mark."""
    yield from perturb.vary_punctuation(filled.text)


def _umlauts(filled: Filled, *_: object) -> Iterator[str]:
    """ae, oe, ue and ss for ä, ö, ü and ß."""
    yield perturb.spell_out_umlauts(filled.text)


def _case(filled: Filled, *_: object) -> Iterator[str]:
    """All small letters, and all capitals."""
    yield from (filled.text.lower(), filled.text.upper())


def _swap(filled: Filled, what: Placed, words: Words, rng: Generator) -> Iterator[str]:
    """Other words in a slot: `swap: thing`; or another first name, place or number in the text: `swap: numbers`."""
    name = what.text("swap").strip()
    if name == "numbers":
        yield from (change.text for change in perturb.change_numbers(filled.text, rng, TYPOS))
    elif name in filled.words:
        home = name if name in words.lists else name.rstrip("0123456789")
        others = [word for word in words.lists[home] if word != filled.words[name]]
        for place in sorted(rng.permutation(len(others))[:TYPOS].tolist()):
            yield from fill_one(filled.template, {**filled.words, name: others[place]})
    else:
        lists = {**LEXICONS.get(words.language, {}), **words.lists}
        if name not in lists:
            raise what.error(f"no word list {name!r}", nearest(name, lists) or "swap: names")
        yield from (change.text for change in perturb.change_first((lists[name],), filled.text, rng, TYPOS))


def _negation(filled: Filled, *_: object) -> Iterator[str]:
    """Put "not" after the verb of a simple sentence. English."""
    if negated := perturb.negate(filled.text):
        yield negated


def _add(filled: Filled, phrases: Placed, *_: object) -> Iterator[str]:
    """A phrase after the text: `add: See you.`, or several in a list."""
    yield from (perturb.add_after(filled.text, phrase) for phrase in phrases.texts("add"))


def _prefix(filled: Filled, phrases: Placed, *_: object) -> Iterator[str]:
    """A phrase before the text: `prefix: "Honestly,"`."""
    yield from (perturb.add_before(filled.text, phrase) for phrase in phrases.texts("prefix"))


def _noise(filled: Filled, argument: object, words: Words, rng: Generator) -> Iterator[str]:
    """A made-up handle in front, and a made-up link at the end."""
    yield from perturb.add_noise(filled.text, rng)


PERTURBATIONS: Mapping[str, Callable[..., Iterator[str]]] = {
    "typo": _typo,
    "contraction": _contraction,
    "punctuation": _punctuation,
    "case": _case,
    "umlauts": _umlauts,
    "swap": _swap,
    "negation": _negation,
    "add": _add,
    "prefix": _prefix,
    "noise": _noise,
}
"""Named perturbations. Those with random draws take them from the functionality's seed, case after case."""
ENGLISH_ONLY = ("contraction", "negation")
NEED_ARGUMENT = {"swap": "- swap: names", "add": "- add: See you.", "prefix": '- prefix: "Honestly,"'}
