"""Words and cases that a model suggests for a suite in YAML; nobody counts them before the user accepts them.

    templates with the slot ──► texts with a gap ──► words of the model ──► class of word ──► `suggested` in the file
                                other slots filled    best first             as the list's

A masked model fills the gap, a causal model continues and then scores the whole text, an endpoint gets a
request in words.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ...core.errors import DataError, MissingExtra, ModelError, PlanError, nearest, some
from ...core.files import whole_bytes, writing
from ...core.records import Example
from ...data.placed import read_yaml
from ...models import ModelSpec, is_remote, load_model, parse_spec
from ...models.interface import Blank, Fillers
from ...models.likelihood import NOT_ONE_PIECE
from ..merge.settings import OURS
from ..merge.suggest import SUGGESTIONS, load_suggesters
from ..merge.tagger import MODELS, load_tagger
from .filling import Template, fill, slot_names
from .suite import Suite
from .template_suites import is_yaml, read_slots

GAP = "\ue000"
"""The open slot in a text; a private-use character."""
FILLINGS, GAPS = 4, 60
"""Texts of each template with the gap, and of all templates together."""
SMALLEST = 1e-300
"""Lower bound of a probability before its logarithm is taken."""
TAGGED = 5
"""Texts in which a word's class is looked up; the most frequent class counts."""
SHOWN_CASES = 8
"""Cases of a functionality that an endpoint is shown."""
LONGEST_WORD, LONGEST_CASE = 40, 600
"""Characters of a suggested word and of a suggested text."""
CLASSES = {"NOUN": "NOUN", "ADJ": "ADJ", "VERB": "VERB", "NAME": "PROPN"}
"""The classes of --pos, and the tagger's names for them."""
COMMON = ("the", "man", "die")
"""Words of most vocabularies. `Blank` needs a hidden word that is one piece, although only its neighbours matter."""
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
SUGGESTED = re.compile(r"^suggested[ \t]*:[^\n]*\n?(?:(?:\r?\n)*[ \t-][^\n]*\n?)*", re.MULTILINE)
"""The former suggestions, without the blank lines after them."""
HEAD = "suggested:  # written by a model; counted only once you move them to words or cases\n"


# Words for a slot


def suggest_words(path: Path, slot: str, spec: str, count: int, seed: int, pos: str = "") -> list[str]:
    """Return words of a model for a slot of a suite in YAML, the best first, without those that the list has."""
    _check_yaml(path)
    if slot == "cases":
        raise PlanError("--slot cases: the name is taken by --cases", fix="rename the slot")
    language, lists, templates = read_slots(path)
    if pos and language not in MODELS:
        raise PlanError(f"--pos: the tagger does not know the language {language}", fix="leave out --pos")
    if pos and find_spec("HanTa") is None:
        raise MissingExtra("HanTa", needed_for="--pos, the class of a word")
    gaps = texts_with_gap(templates, slot, lists, seed)
    if not gaps:
        used = list(dict.fromkeys(name for template in templates for name in slot_names(template)))
        raise DataError(
            f"{path}: no template has the slot {{{slot}}}",
            why=f"slots of its templates: {some(used, 12) or 'none'}",
            fix=nearest(slot, used) or "a template with it",
        )
    words = lists.get(slot, ())
    ask = suggester(spec, count, seed)
    known = {word.casefold() for word in words}
    suggested = dict.fromkeys(map(partial(_spelt_like, words), ask(gaps, words)))
    fitting = (word for word in suggested if _is_word(word) and word.casefold() not in known)
    is_wanted = _class_filter(gaps[:: max(1, len(gaps) // TAGGED)][:TAGGED], words, language, pos)
    wanted = list(islice(filter(is_wanted, fitting), count))
    if not wanted:
        raise ModelError(
            f"{spec} has no further word for {{{slot}}}",
            why="those that it has are in the list, or of another class",
            fix="another model, or --pos with another class",
        )
    return wanted


def texts_with_gap(
    templates: Sequence[Template], slot: str, lists: Mapping[str, Sequence[str]], seed: int
) -> list[Example]:
    """Return texts in which one occurrence of the slot is open and the other slots are filled at random.

    >>> texts_with_gap(["{thing1} or {thing2}?"], "thing", {"thing": ["pool"]}, 0)
    [('\\ue000 or pool?',), ('pool or \\ue000?',)]
    """
    gaps: dict[Example, None] = {}
    for template in templates:
        for name in slot_names(template):
            if slot not in (name, name if name in lists else name.rstrip("0123456789")):
                continue
            parts = (template,) if isinstance(template, str) else template
            opened = tuple(
                part.replace(f"{{a:{name}}}", f"a {GAP}").replace(f"{{{name}}}", GAP) for part in parts
            )
            gaps |= dict.fromkeys(filled.texts for filled in fill([opened], lists, FILLINGS, seed))
    chosen = np.random.default_rng(seed).permutation(len(gaps))[:GAPS]
    return [list(gaps)[place] for place in sorted(chosen.tolist())]


def _spelt_like(words: Sequence[str], word: str) -> str:
    """Return a word with a capital if most words of the list have one: models ignore case."""
    capitals = sum(known[:1].isupper() for known in words)
    return word[:1].upper() + word[1:] if 2 * capitals > len(words) else word


def _is_word(word: str) -> bool:
    letters = re.sub(r"[ '’-]", "", word)
    return letters.isalpha() and len(letters) > 1 and len(word) <= LONGEST_WORD


def _class_filter(
    gaps: Sequence[Example], words: Sequence[str], language: str, pos: str
) -> Callable[[str], bool]:
    """Return whether a word is of the wanted class: that of --pos, else that of the list's words if it is clear."""
    if language not in MODELS or find_spec("HanTa") is None:
        return lambda word: True
    tagger = load_tagger(language)

    texts = [text for gap in gaps for text in gap if GAP in text]

    def class_of(word: str) -> str:
        tokens = [(token, text) for text in texts for token in tagger.tokens(text.replace(GAP, word))]
        classes = Counter(token.pos for token, text in tokens if token.start == text.index(GAP))
        return classes.most_common(1)[0][0] if classes else "X"

    usual = Counter(map(class_of, words[:20])).most_common(1)
    wanted = CLASSES[pos] if pos else usual[0][0] if usual else ""
    return (lambda word: class_of(word) == wanted) if wanted in CLASSES.values() else lambda word: True


# Where the words come from

Suggester = Callable[[Sequence[Example], Sequence[str]], list[str]]
"""Texts with a gap and the words of the list, to further words, the best first."""


def suggester(spec: str, count: int, seed: int) -> Suggester:
    """Return how a model suggests words."""
    if spec != OURS and is_remote(spec):
        parsed = parse_spec(spec)
        seeded = replace(parsed, options={"seed": str(seed), **parsed.options})
        return partial(_by_endpoint, seeded, count)
    model: Any = None if spec == OURS else load_model(spec)
    if getattr(model, "language_model", "") == "causal":
        return partial(_by_causal, model)
    (masked,) = load_suggesters([spec]).values() if model is None else (model,)
    if not hasattr(masked, "fill_words"):
        raise ModelError(
            f"{masked!r} cannot suggest words",
            why="it is neither a language model nor an endpoint",
            fix=f"hf:MODEL of a masked or causal model, openai:MODEL, or {OURS}, which ships with shoal",
        )
    return partial(_by_masked, masked)


def _by_masked(model: Any, gaps: Sequence[Example], words: Sequence[str]) -> list[str]:
    """Return the words that fit all gaps best, by mean log-probability."""
    hidden = _one_piece(model, gaps[0], [*words, *COMMON])
    blanks = [Blank(gap, _places(gap), n, hidden) for gap in gaps for n in range(len(_places(gap)))]
    fillers = model.fill_words(blanks, SUGGESTIONS)
    filled = [filler for filler in fillers if filler.words]
    if not filled:
        raise ModelError(
            f"{model!r} fills no gap", why=fillers[0].problem, fix="shorter templates, or another model"
        )
    return _by_mean(filled)


def _places(gap: Example) -> tuple[tuple[int, int, int], ...]:
    return tuple(
        (number, match.start(), match.end())
        for number, text in enumerate(gap)
        for match in re.finditer(GAP, text)
    )


def _one_piece(model: Any, gap: Example, words: Sequence[str]) -> str:
    fillers = model.fill_words([Blank(gap, _places(gap), 0, word) for word in words], 1)
    for word, filler in zip(words, fillers, strict=True):
        if filler.problem != NOT_ONE_PIECE:
            return word
    raise ModelError(
        f"{model!r} knows none of {some(words, 5)}",
        why="its vocabulary may be of another language, or of parts of words",
        fix="a masked model of the suite's language",
    )


def _by_mean(fillers: Sequence[Fillers]) -> list[str]:
    """Return all words by mean log-probability; where a word is not among the best, the last one's counts."""
    tables = [dict(zip(filler.words, filler.probabilities, strict=True)) for filler in fillers]
    lowest = [min(table.values()) for table in tables]

    def score(word: str) -> float:
        return math.fsum(
            math.log(max(table.get(word, low), SMALLEST)) for table, low in zip(tables, lowest, strict=True)
        )

    return sorted({word for table in tables for word in table}, key=lambda word: (-score(word), word))


def _by_causal(model: Any, gaps: Sequence[Example], words: Sequence[str]) -> list[str]:
    """Return likely next words at the gaps, by the likelihood of the whole texts with them."""
    texts = [" ".join(gap) for gap in gaps]
    before = dict.fromkeys(text[: text.index(GAP)].rstrip() for text in texts)
    found = [filler for filler in model.next_words(list(before), SUGGESTIONS) if filler.words]
    candidates = _by_mean(found)[:SUGGESTIONS]
    few = texts[:: max(1, len(texts) // TAGGED)][:TAGGED]
    filled = [(text.replace(GAP, word),) for word in candidates for text in few]
    sums = np.reshape([math.fsum(scores.scores) for scores in model.log_likelihood(filled)], (-1, len(few)))
    totals = dict(zip(candidates, map(math.fsum, sums), strict=True))
    return sorted(totals, key=lambda word: (-totals[word], word))


def _by_endpoint(spec: ModelSpec, count: int, gaps: Sequence[Example], words: Sequence[str]) -> list[str]:
    texts = "\n".join(" | ".join(gap).replace(GAP, "___") for gap in gaps[:10])
    known = f"Words that fit: {', '.join(words[:30])}.\n" if words else ""
    return _lines(
        spec,
        f"Each of these sentences has the same word missing at ___:\n{texts}\n{known}"
        f"Give {count + len(words) // 4} more words of the same kind that fit all sentences, in the language of the "
        "sentences. One per line, without numbers or explanations.",
        LONGEST_WORD,
        10 * count,
    )


def _lines(spec: ModelSpec, request: str, longest: int, tokens: int) -> list[str]:
    """Return the lines that an endpoint writes, without bullets, quotes and lines that cannot be meant."""
    from ...models.prompted.endpoint import write

    lines = [
        BULLET.sub("", line).strip().strip('"“”„*`')
        for line in write(spec, request, tokens + 200).splitlines()
    ]
    good = dict.fromkeys(line for line in lines if line and len(line) <= longest and line.isprintable())
    if not good:
        raise ModelError(
            f"{spec.who}: no usable line in its reply", fix="the same command again, or another model"
        )
    return list(good)


# Whole cases


def suggest_cases(
    path: Path, suite: Suite, name: str, spec: str, count: int, seed: int
) -> list[dict[str, str]]:
    """Return labelled texts of an endpoint for a functionality whose cases are single labelled texts."""
    _check_yaml(path)
    if spec == OURS or not is_remote(spec):
        raise ModelError(
            f"--cases with {spec}", why="only an endpoint writes cases", fix="openai:MODEL?url=URL"
        )
    cases = [case for case in suite.cases if case.groups["functionality"] == name]
    if not cases:
        raise DataError(
            f"{path}: no functionality {name!r}",
            why=f"it has {some(suite.functionalities, 12)}",
            fix=nearest(name, suite.functionalities) or "one of those",
        )
    if cases[0].groups["test type"] != "MFT" or len(cases[0].examples[0]) > 1:
        raise DataError(f"{name}: --cases is for labelled single texts", fix="write its cases by hand")
    drawn = np.random.default_rng(seed).permutation(len(cases))[:SHOWN_CASES].tolist()
    shown = [f"{(cases[at].labels or ('',))[0]}: {cases[at].examples[0][0]}" for at in drawn]
    labels = sorted({str(label) for case in cases for label in case.labels or ()})
    request = (
        f"Test cases for a text classifier, as label: text.\n{suite.descriptions.get(name, name)}\n"
        + "\n".join(shown)
        + f"\nWrite {count} more of the same kind, each about something else. Labels: {', '.join(labels)}. "
        "One per line, as label: text, without numbers or explanations."
    )
    known = {case.examples[0][0].casefold() for case in cases}
    suggested = []
    for line in _lines(parse_spec(spec), request, LONGEST_CASE, 60 * count):
        label, _, text = (part.strip() for part in line.partition(":"))
        if label in labels and text and text.casefold() not in known:
            suggested.append({"text": text, "label": label})
    if not suggested:
        raise ModelError(f"{spec}: no new case in its reply", fix="the same command again, or another model")
    return suggested[:count]


# In the file


def write_suggested(path: Path, entry: Mapping[str, Any]) -> None:
    """Add entries to a suite file's `suggested`, and leave every other byte as it is."""
    content = whole_bytes(path).decode()
    fields = read_yaml(path).table("a suite")
    before = fields["suggested"].plain() if "suggested" in fields else {}
    merged = _merged(before if isinstance(before, dict) else {}, entry)
    body = yaml.safe_dump(merged, allow_unicode=True, sort_keys=False, width=110, default_flow_style=None)
    newline = "\r\n" if "\r\n" in content else "\n"
    block = (HEAD + "".join(f"  {line}\n" for line in body.splitlines())).replace("\n", newline)
    if SUGGESTED.search(content):
        changed = SUGGESTED.sub(lambda _: block, content, count=1)
    else:
        changed = content + ("" if content.endswith("\n") else newline) + newline + block
    wanted = {name: part.plain() for name, part in fields.items()} | {"suggested": merged}
    is_same = False  # for example with braces around the whole file
    with suppress(yaml.YAMLError):
        is_same = yaml.load(changed, yaml.BaseLoader) == wanted
    if not is_same:
        raise DataError(
            f"{path}: cannot add `suggested` without changing other lines",
            fix="delete `suggested`, and write the file as `name: value` lines",
        )
    with writing(path) as stream:
        stream.write(changed)


def _merged(before: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return both: earlier words and cases first, each once."""
    merged = {**before, **entry}
    for name in before.keys() & entry.keys():
        former, part = before[name], entry[name]
        if isinstance(part, dict) and isinstance(former, dict):
            merged[name] = _merged(former, part)
        elif isinstance(part, list) and isinstance(former, list):
            merged[name] = former + [each for each in part if each not in former]
    return merged


def _check_yaml(path: Path) -> None:
    if not is_yaml(path):
        raise DataError(
            f"{path}: suggestions are for suites in YAML", fix="shoal new suite NAME writes one to start from"
        )
