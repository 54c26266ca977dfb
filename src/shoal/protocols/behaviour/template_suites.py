"""Suites without code: functionalities with templates, word lists and named perturbations, in YAML or a spreadsheet.

    suite: hotels
    labels: [negative, positive]
    words:
      thing: [room, breakfast]
      praise: adjectives.positive
    tests:
      negated_praise_is_negative:
        capability: negation
        label: negative
        templates: ["The {thing} was not {praise}."]

The fillings are those of `filling.fill` and the variants those of `perturb`, so that the same suite in Python has the
same cases. `docs/how-to/write-a-suite.md` has every field.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.random import Generator

from ...core.errors import DataError, nearest
from ...core.records import Case
from ...data.placed import Placed, errors_in, read_yaml, sheet_rows
from ...data.tables import open_rows
from . import perturb
from .expect import DIRECTIONS
from .filling import Filled, Template, fill, fill_one, slot_names
from .lexicons import LEXICONS, word_list
from .suite import Definition, Suite, case

SUITE_FIELDS = ("suite", "task", "language", "labels", "version", "words", "suggested", "tests")
TEST_FIELDS = (
    "description", "capability", "type", "label", "templates", "variants", "perturb", "cases", "expect", "na_if",
    "tolerance", "except", "sample", "seed", "words",
)  # fmt: skip
SHEET_FIELDS = (
    "functionality", "description", "capability", "type", "label", "template", "variant", "perturb", "case",
    "expect", "na_if", "tolerance", "except", "sample", "seed", "slot", "words",
)  # fmt: skip
REPEATED = {
    "template": "templates",
    "variant": "variants",
    "perturb": "perturb",
    "case": "cases",
    "except": "except",
}
"""Columns of a sheet that may be filled in several rows of a functionality, and their fields."""
TYPOS = 3
"""Typos per text, as many other names, places and numbers."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words that a functionality may use: labels and lists."""

    language: str
    labels: Sequence[str]
    """The suite's labels; empty if the file does not name them."""
    lists: Mapping[str, Sequence[str]]


def is_yaml(path: Path) -> bool:
    """Return whether a file is a suite in YAML."""
    return path.suffix.lower() in (".yaml", ".yml")


def is_sheet(path: Path) -> bool:
    """Return whether a file is a spreadsheet of templates or cases."""
    if path.suffix.lower() not in (".csv", ".tsv", ".xlsx") or not path.is_file():
        return False
    columns = set(open_rows(path).columns)
    return "functionality" in columns and not columns.isdisjoint(("template", "case"))


def read_template_suite(path: Path) -> Suite:
    """Return the suite of a YAML file."""
    fields = read_yaml(path).table("a suite", SUITE_FIELDS)
    return _suite(path, fields)


def read_sheet_suite(path: Path) -> Suite:
    """Return the suite of a spreadsheet: a row per template, and rows with `slot` and `words` for word lists."""
    words: dict[str, Placed] = {}
    tests: dict[str, dict[str, Placed]] = {}
    labels: dict[str, Placed] = {}
    for row in sheet_rows(path, SHEET_FIELDS):
        first = next(iter(row.values()))
        if "slot" in row:
            words[row["slot"].text("slot")] = _listed(row.get("words", first))
            continue
        if "functionality" not in row:
            raise first.error("no functionality", "name one, or fill in slot and words for a word list")
        name = row.pop("functionality")
        test = tests.setdefault(name.text("functionality"), {})
        _add_row(test, row)
        if "label" in row:
            labels.setdefault(row["label"].text("label").removeprefix("not_"), row["label"])
    where = str(path)
    fields = {
        "suite": Placed(path.name.split(".")[0], where),
        "words": Placed(words, where),
        "tests": Placed({name: Placed(test, where) for name, test in tests.items()}, where),
    }
    if len(labels) > 1:
        fields["labels"] = Placed([Placed(name, labels[name].where) for name in sorted(labels)], where)
    return _suite(path, fields)


def read_slots(path: Path) -> tuple[str, dict[str, Sequence[str]], list[Template]]:
    """Return the language, word lists, and all templates and variants of a suite in YAML."""
    fields = read_yaml(path).table("a suite", SUITE_FIELDS)
    language = fields["language"].text("language") if "language" in fields else "en"
    labels = fields["labels"].texts("labels") if "labels" in fields else ()
    words = _with_lists(Words(language, labels, {}), fields.get("words"))
    templates: dict[Template, None] = {}
    for name, test in fields["tests"].table("tests").items() if "tests" in fields else ():
        parts = test.table(name, TEST_FIELDS)
        words = _with_lists(words, parts.get("words"))
        templates |= dict.fromkeys(_templates(parts, words) if "templates" in parts else ())
        variants = parts["variants"].parts("variants") if "variants" in parts else ()
        templates |= dict.fromkeys(_template(entry) for entry in variants)
    return language, dict(words.lists), list(templates)


def _listed(cell: Placed) -> Placed:
    """Return the words of a cell: separated by commas or semicolons, or the name of one of our lists."""
    text = cell.text("words")
    words = [word.strip() for word in text.replace(";", ",").split(",")]
    return (
        Placed([Placed(word, cell.where) for word in words if word], cell.where) if len(words) > 1 else cell
    )


def _add_row(test: dict[str, Placed], row: dict[str, Placed]) -> None:
    """Add a row of a sheet to its functionality: lists grow, and templates of several labels are kept by label."""
    if "case" in row and "variant" in row:
        about = {"text": row["case"], "variants": Placed([row.pop("variant")], row["case"].where)}
        row["case"] = Placed(about, row["case"].where)
    for name, cell in row.items():
        if name in REPEATED:
            field = REPEATED[name]
            entry = _with_argument(cell) if name == "perturb" else cell
            if "label" in row and name in ("template", "case"):
                entry = Placed({"text": cell, "label": row["label"]}, cell.where)
            former = test.get(field, Placed([], cell.where))
            test[field] = Placed([*former.value, entry], former.where)
        elif name == "label":
            continue
        elif name in test and test[name].value != cell.value:
            raise cell.error(
                f"{name} changes from {test[name].value!r} to {cell.value!r} within a functionality",
                "the same in every row, or only in the first",
            )
        else:
            test[name] = cell


def _with_argument(cell: Placed) -> Placed:
    """Return a perturbation of a cell such as `typo: 3` as a name with its argument."""
    name, colon, argument = cell.text("perturb").partition(":")
    return Placed({name.strip(): Placed(argument.strip(), cell.where)}, cell.where) if colon else cell


def _suite(path: Path, fields: Mapping[str, Placed]) -> Suite:
    language = fields["language"].text("language") if "language" in fields else "en"
    if "language" in fields and language not in LEXICONS and "words" not in fields:
        raise fields["language"].error(
            f"no word lists for language {language!r}", f"one of {', '.join(LEXICONS)}"
        )
    labels = fields["labels"].texts("labels") if "labels" in fields else None
    with errors_in(fields["labels"].where if "labels" in fields else str(path)):
        suite = Suite(
            fields["suite"].text("suite") if "suite" in fields else path.name.split(".")[0],
            labels,
            task=fields["task"].text("task") if "task" in fields else "",
            version=fields["version"].text("version") if "version" in fields else "",
        )
    words = _with_lists(Words(language, suite.labels or (), {}), fields.get("words"))
    tests = fields["tests"].table("tests") if "tests" in fields else {}
    if not tests:
        raise DataError(f"{path}: no tests", fix="tests: with a functionality and its templates below")
    for name, test in tests.items():
        _add_test(suite, name, test, words)
    return suite


def _with_lists(words: Words, more: Placed | None) -> Words:
    """Return the words with further lists: words written out, or the name of one of ours."""
    lists = dict(words.lists)
    for name, listed in more.table("words").items() if more else ():
        if not name.isidentifier():
            raise listed.error(f"{name!r} cannot be a slot", "letters, digits and underscores: room_type")
        if isinstance(listed.value, str):
            with errors_in(listed.where):
                lists[name] = word_list(listed.text("words").strip(), words.language)
            continue
        entries = listed.texts(f"words.{name}")
        twice = next((word for word in entries if entries.count(word) > 1), None)
        if twice is not None:
            raise listed.error(f"{twice!r} is there twice in words.{name}", "keep one of them")
        lists[name] = entries
    return replace(words, lists=lists)


# One functionality


def _add_test(suite: Suite, name: str, test: Placed, words: Words) -> None:
    fields = test.table(name, TEST_FIELDS)
    words = _with_lists(words, fields.get("words"))
    kind = fields["type"].text("type").strip() if "type" in fields else "MFT"
    if kind not in KINDS:
        raise fields["type"].error(f"type {kind!r} is not one of {', '.join(KINDS)}", "type: MFT")
    if "perturb" not in fields and "variants" not in fields and "cases" not in fields and kind != "MFT":
        raise test.error(f"{name} ({kind}) has no variants", "perturb: typo, or variants:, or cases:")
    if kind == "MFT" and ("perturb" in fields or "variants" in fields):
        raise test.error(f"{name}: variants make an INV or DIR test", "type: INV")
    if "templates" not in fields and "cases" not in fields:
        raise test.error(f"{name} has no templates and no cases", 'templates: ["The {thing} was great."]')
    define = KINDS[kind](suite, fields, test)

    def cases() -> Iterator[Case]:
        if "templates" in fields:
            yield from _filled_cases(name, fields, words, kind)
        rng = _rng(fields)
        for entry in fields["cases"].parts("cases") if "cases" in fields else ():
            if kind != "MFT" and ("perturb" in fields or "variants" in fields):
                yield from _perturbed_case(entry, fields, words, rng)
            else:
                yield _written_case(entry, fields.get("label"), kind, words)

    cases.__name__ = name
    cases.__doc__ = fields["description"].text("description") if "description" in fields else ""
    with errors_in(test.where):
        define(cases)


def _minimum(suite: Suite, fields: Mapping[str, Placed], test: Placed) -> Definition:
    rule = fields["expect"].text("expect") if "expect" in fields else "pred_equals_label"
    return suite.minimum(capability=_capability(fields), expect=rule)


def _invariance(suite: Suite, fields: Mapping[str, Placed], test: Placed) -> Definition:
    rule = fields["expect"].text("expect") if "expect" in fields else ""
    return suite.invariance(capability=_capability(fields), expect=rule, tolerance=_tolerance(fields))


def _directional(suite: Suite, fields: Mapping[str, Placed], test: Placed) -> Definition:
    if "expect" not in fields:
        raise test.error(
            "DIR does not say which way confidence may move", f"expect: one of {', '.join(DIRECTIONS)}"
        )
    na_if = fields["na_if"].text("na_if") if "na_if" in fields else ""
    rule = fields["expect"].text("expect")
    return suite.directional(
        capability=_capability(fields), expect=rule, tolerance=_tolerance(fields), na_if=na_if
    )


KINDS: Mapping[str, Callable[[Suite, Mapping[str, Placed], Placed], Definition]] = {
    "MFT": _minimum,
    "INV": _invariance,
    "DIR": _directional,
}


def _capability(fields: Mapping[str, Placed]) -> str:
    return fields["capability"].text("capability") if "capability" in fields else "other"


def _tolerance(fields: Mapping[str, Placed]) -> float:
    if "tolerance" not in fields:
        return 0.1
    text = fields["tolerance"].text("tolerance")
    try:
        tolerance = float(text)
    except ValueError:
        tolerance = -1.0
    if not 0 <= tolerance <= 2:
        raise fields["tolerance"].error(
            f"tolerance must be a number from 0 to 2, found {text!r}", "tolerance: 0.1"
        )
    return tolerance


# Its cases


def _filled_cases(name: str, fields: Mapping[str, Placed], words: Words, kind: str) -> Iterator[Case]:
    """Yield the cases of the templates: filled, labelled, and with their variants."""
    labels = _templates(fields, words)
    where = fields["templates"]
    sample = fields["sample"].number("sample", 1) if "sample" in fields else 0
    exclude = fields["except"].texts("except") if "except" in fields else []
    rng = _rng(fields)
    count = 0
    with errors_in(where.where):
        for filled in fill(list(labels), words.lists, sample, _seed(fields), exclude):
            variants = _variants(filled, fields, words, rng) if kind != "MFT" else []
            if kind != "MFT" and not variants:
                continue
            count += 1
            label = labels[filled.template]
            if kind == "MFT" and label is None and "expect" not in fields:
                raise where.error(f"{name}: no label", "label: negative")
            examples = [_example(texts) for texts in (filled.texts, *variants)]
            yield case(*examples, label=label, cluster=filled.source)
    if not count:
        raise where.error(f"{name}: no case is left", "other templates, words or perturbations")
    if count < sample and kind == "MFT":
        raise where.error(
            f"{name}: sample asks for {sample:,} cases, the words make {count:,}",
            f"sample: {count}, or more words",
        )


def _seed(fields: Mapping[str, Placed]) -> int:
    return fields["seed"].number("seed", 0) if "seed" in fields else 0


def _rng(fields: Mapping[str, Placed]) -> Generator:
    return np.random.default_rng(_seed(fields))


def _example(texts: tuple[str, ...]) -> str | tuple[str, ...]:
    return texts[0] if len(texts) == 1 else texts


def _templates(fields: Mapping[str, Placed], words: Words) -> dict[Template, str | None]:
    """Return each template's label: of a list of templates, of lists by label, or of entries with text and label."""
    listed, label = fields["templates"], _label(fields.get("label"), words)
    if isinstance(listed.value, dict):
        groups = [(part, _label(Placed(name, part.where), words)) for name, part in listed.value.items()]
    else:
        groups = [(listed, label)]
    labels: dict[Template, str | None] = {}
    for part, own in groups:
        for entry in part.parts("templates"):
            text, named = entry, own
            if isinstance(entry.value, dict):
                table = entry.table("a template", ("text", "label"))
                if "text" not in table:
                    raise entry.error("a template without text", 'text: "The {thing} was great."')
                text, named = table["text"], _label(table.get("label"), words) or own
            template = _template(text)
            if template in labels:
                raise entry.error(f"the template {template!r} is there twice", "keep one of them")
            labels[template] = named
    return labels


def _template(entry: Placed) -> Template:
    """Return a template of one text, or of the two texts of a pair."""
    if isinstance(entry.value, list):
        texts = entry.texts("a pair of templates")
        if len(texts) != 2:
            raise entry.error(f"a pair has two texts, found {len(texts)}", '["How far is it?", "Is it far?"]')
        return tuple(texts)
    return entry.text("a template")


def _label(label: Placed | None, words: Words) -> str | None:
    """Return a label of the suite, or "not_" before one."""
    if label is None:
        return None
    name = label.text("label").strip()
    if words.labels and name.removeprefix("not_") not in words.labels:
        known = ", ".join(words.labels)
        raise label.error(
            f"label {name!r} is not one of {known}", nearest(name, words.labels) or f"one of {known}"
        )
    return name


def _written_case(entry: Placed, label: Placed | None, kind: str, words: Words) -> Case:
    """Return a case that is written out: a text, an original with its variants, or either with its own label."""
    own = _label(label, words)
    if isinstance(entry.value, dict):
        table = entry.table("a case", ("text", "variants", "label"))
        if "text" not in table:
            raise entry.error("a case without text", 'text: "The room was great."')
        own = _label(table.get("label"), words) or own
        more = table["variants"].parts("variants") if "variants" in table else []
        texts = [_example(_pair(part)) for part in (table["text"], *more)]
    elif kind == "MFT":
        texts = [_example(_pair(entry))]
    else:
        texts = [_example(_pair(part)) for part in entry.parts("an original and its variants")]
    if kind != "MFT" and len(texts) < 2:
        raise entry.error("an original without a variant", '["The room was great.", "The rooom was great."]')
    with errors_in(entry.where):
        if kind == "MFT" and own is None:
            raise entry.error("no label", "label: negative")
        return case(*texts, label=own)


def _perturbed_case(
    entry: Placed, fields: Mapping[str, Placed], words: Words, rng: Generator
) -> Iterator[Case]:
    """Yield a text that is written out with its perturbed variants; nothing if no perturbation changes it."""
    if "variants" in fields:
        raise fields["variants"].error(
            "variants are for templates", "perturb:, or the variants next to each text"
        )
    original = Filled((entry.text("a case"),), entry.text("a case"), {})
    variants = _variants(original, fields, words, rng)
    if variants:
        yield case(original.text, *(_example(texts) for texts in variants))


def _pair(entry: Placed) -> tuple[str, ...]:
    template = _template(entry)
    return (template,) if isinstance(template, str) else template


# Variants


def _variants(
    filled: Filled, fields: Mapping[str, Placed], words: Words, rng: Generator
) -> list[tuple[str, ...]]:
    """Return the different variants of a filling, in the order of the file."""
    made: dict[tuple[str, ...], None] = {}
    for entry in fields["variants"].parts("variants") if "variants" in fields else ():
        made |= dict.fromkeys(_from_template(entry, filled, words))
    for entry in fields["perturb"].parts("perturb") if "perturb" in fields else ():
        made |= dict.fromkeys((text,) for text in _perturbed(entry, filled, words, rng))
    made.pop(filled.texts, None)
    return list(made)


def _from_template(entry: Placed, filled: Filled, words: Words) -> Iterator[tuple[str, ...]]:
    """Yield a variant template with the words of the original, and every word of its further slots."""
    template = _template(entry)
    known = {name: [word] for name, word in filled.words.items() if name in slot_names(template)}
    with errors_in(entry.where):
        for variant in fill([template], {**words.lists, **known}):
            yield variant.texts


def _perturbed(entry: Placed, filled: Filled, words: Words, rng: Generator) -> Iterator[str]:
    """Yield the changed texts of one entry of `perturb`: a name, or a name with its argument."""
    if isinstance(entry.value, dict):
        if len(entry.value) != 1:
            raise entry.error("a perturbation is one name with its argument", "- typo: 3")
        (name, argument), *_ = entry.value.items()
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
    yield from PERTURBATIONS[name](filled, argument, entry, words, rng)


def _typo(filled: Filled, times: Placed | None, entry: Placed, words: Words, rng: Generator) -> Iterator[str]:
    swaps = times.number("typo", 1) if times else 1
    yield from (perturb.swap_letters(filled.text, rng, swaps) for _ in range(TYPOS))


def _contraction(filled: Filled, *_: object) -> Iterator[str]:
    yield perturb.contract(filled.text)


def _punctuation(filled: Filled, *_: object) -> Iterator[str]:
    yield from perturb.vary_punctuation(filled.text)


def _case(filled: Filled, *_: object) -> Iterator[str]:
    yield from (filled.text.lower(), filled.text.upper())


def _swap(filled: Filled, what: Placed | None, entry: Placed, words: Words, rng: Generator) -> Iterator[str]:
    """Yield the text with other words in a slot; or for names, places and numbers with another first one."""
    if what is None:
        raise entry.error("swap needs a word list", "- swap: names")
    name = what.text("swap").strip()
    if name == "numbers":
        yield from (change.text for change in perturb.change_numbers(filled.text, rng, TYPOS))
    elif name in filled.words:
        others = [word for word in words.lists[name.rstrip("0123456789") if name not in words.lists else name]
                  if word != filled.words[name]]  # fmt: skip
        drawn = sorted(rng.permutation(len(others))[:TYPOS].tolist())
        for place in drawn:
            (text,) = fill_one(filled.template, {**filled.words, name: others[place]})
            yield text
    else:
        with errors_in(what.where):
            known = words.lists[name] if name in words.lists else word_list(name, words.language)
        yield from (change.text for change in perturb.change_first(filled.text, (known,), rng, TYPOS))


def _negation(filled: Filled, *_: object) -> Iterator[str]:
    negated = perturb.negate(filled.text)
    yield from [negated] if negated else []


def _add(filled: Filled, phrases: Placed | None, entry: Placed, *_: object) -> Iterator[str]:
    if phrases is None:
        raise entry.error("add needs a phrase", '- add: "It was a Tuesday."')
    yield from (perturb.add_after(filled.text, phrase) for phrase in phrases.texts("add"))


def _prefix(filled: Filled, phrases: Placed | None, entry: Placed, *_: object) -> Iterator[str]:
    if phrases is None:
        raise entry.error("prefix needs a phrase", '- prefix: "Honestly,"')
    yield from (perturb.add_before(filled.text, phrase) for phrase in phrases.texts("prefix"))


def _noise(filled: Filled, argument: object, entry: object, words: Words, rng: Generator) -> Iterator[str]:
    yield from perturb.add_noise(filled.text, rng)


PERTURBATIONS: Mapping[str, Callable[..., Iterator[str]]] = {
    "typo": _typo,
    "contraction": _contraction,
    "punctuation": _punctuation,
    "case": _case,
    "swap": _swap,
    "negation": _negation,
    "add": _add,
    "prefix": _prefix,
    "noise": _noise,
}
"""Named perturbations. Those with random draws take them from the functionality's seed, case after case."""
ENGLISH_ONLY = ("contraction", "negation")
