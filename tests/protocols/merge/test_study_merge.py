"""The numbers of the study's page stand in the files beside it."""

import csv
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[3] / "docs" / "studies" / "merge"
STEPS = ("suggested", "another word", "no relative", "same class", "more probable")
MODELS = ("small", "large")
CLASSES = ("noun", "verb", "adjective")
LABELS = ("entailment", "neutral", "contradiction")
FILTERS = {
    "default": "default filter",
    "pos": "same class only",
    "probability": "more probable only",
    "none": "no filter",
    "scrambled": "scrambled",
}
POSTER = {"noun": (46.1, 31.3, 22.6), "verb": (55.2, 28.1, 16.6), "adjective": (44.8, 32.5, 22.5)}
"""Table 1 of the poster: entailment, neutral (that of nouns corrected) and contradiction in per cent."""

with (STUDY / "measures.csv").open(encoding="utf-8", newline="") as stream:
    ROWS = list(csv.DictReader(stream))
with (STUDY / "variants.csv").open(encoding="utf-8", newline="") as stream:
    VARIANTS = list(csv.DictReader(stream))


def of(measure: str, column: str = "value", **about: str) -> float:
    """The one number of these; what is not said is empty."""
    names = ("model", "filter", "word class", "source", "seed", "label", "step", "threshold")
    wanted = {"measure": measure, **dict.fromkeys(names, "")}
    wanted |= {name.replace("_", " "): value for name, value in about.items()}
    (row,) = [row for row in ROWS if all(row[name] == value for name, value in wanted.items())]
    return float(row[column])


def per_cent(measure: str, **about: str) -> str:
    return f"{100 * of(measure, **about):.1f}"


def with_ends(measure: str, **about: str) -> str:
    low, high = (f"{100 * of(measure, end, **about):.1f}" for end in ("low", "high"))
    return f"{per_cent(measure, **about)} ({low} to {high})"


def funnel_row(step: str) -> list[str]:
    counts = [of("variants", step=step, word_class=name) for name in ("", *CLASSES)]
    return [step, *(f"{count:,.0f}" for count in counts)]


def class_row(name: str) -> list[str]:
    problems = of("problems", word_class=name)
    asked = of("variants in the file", filter="default", word_class=name)
    shares = [100 * of("problems", word_class=name, label=label) / problems for label in LABELS]
    cells = [f"{share:.1f} ({poster})" for share, poster in zip(shares, POSTER[name], strict=True)]
    return [name, f"{problems:,.0f}", f"{asked:,.0f}", *cells]


def filter_row(model: str, condition: str) -> list[str]:
    about = {"model": model, "filter": condition}
    whole = condition == "default"
    return [
        f"{model}, {FILTERS[condition]}",
        with_ends("seed accuracy", model=model) if whole else "",
        (with_ends if whole else per_cent)("sample accuracy", **about),
        with_ends("pattern accuracy", threshold="0.9", **about),
        (with_ends if whole else per_cent)("pattern accuracy", threshold="1", **about),
        f"{of('intra-problem correlation', **about):.2f}".removeprefix("0"),
    ]


def page() -> str:
    return " ".join((STUDY / "README.md").read_text(encoding="utf-8").split())


def both(measure: str, **about: str) -> list[str]:
    """Of the two classifiers, in per cent."""
    return [per_cent(measure, model=model, **about) for model in MODELS]


def solved(threshold: str = "0.9", **about: str) -> list[str]:
    return both("pattern accuracy", threshold=threshold, **{"filter": "default", **about})


def solved_at_90(condition: str) -> list[float]:
    return [of("pattern accuracy", model=model, filter=condition, threshold="0.9") for model in MODELS]


@pytest.mark.parametrize(
    "row",
    [
        *map(funnel_row, STEPS),
        *map(class_row, CLASSES),
        *(filter_row(model, name) for name in FILTERS for model in MODELS),
    ],
    ids=lambda row: row[0],
)
def test_the_tables_are_in_the_file(row):
    assert "| " + " ".join(" | ".join(row).split()) + " |" in page()


def test_what_is_said_of_the_funnel_is_in_the_file():
    steps = ("with a word to replace", "with suggestions", "with 20 suggestions for a class")
    words, suggested, enough = (int(of("problems", step=step)) for step in steps)
    assert f"Of 1,000 problems {words} have a word to replace, {suggested} of them one" in page()
    assert f"and {enough} have 20 suggestions or more" in page()
    drawn, default = (
        of("variants", step="drawn"),
        of("variants in the file", "n", filter="default", word_class="noun"),
    )
    assert f"ask {drawn:,.0f} variants over the five conditions, {default:,.0f} of them" in page()
    assert (
        f"they are of another class: {of('words left out', step='of another class elsewhere'):.0f};" in page()
    )
    assert f"for them: {of('words left out', step='not one piece for masked-a'):.0f}." in page()
    assert of("words left out", step="not one piece for masked-b") == 33
    kept = {
        name: of("variants", step="no relative", word_class=name)
        / of("variants", step="same class", word_class=name)
        for name in ("verb", "adjective")
    }
    assert {name: round(share) for name, share in kept.items()} == {"verb": 10, "adjective": 6}


def test_what_is_said_of_the_classifiers_is_in_the_file():
    text = page()
    small, large = both("seed accuracy", seed="every problem")
    assert f"`small` is right in {small} % and `large` in {large} %" in text
    right = [of("sample accuracy", model=model, filter="default") for model in MODELS]
    apart = [
        f"{100 * (share - at_90):.1f}" for share, at_90 in zip(right, solved_at_90("default"), strict=True)
    ]
    assert f"is {' and '.join(apart)} points below the share of variants" in text
    reference = of("independence reference", model="small", filter="default", threshold="0.9")
    assert f"({100 * reference:.1f} % for `small`)" in text
    assert f"original is right, {' and '.join(solved(seed='right'))} % are solved at 90 %" in text
    gains = {
        m: [-100 * of("drop from seeds", c, model=m, filter="default") for c in ("value", "high", "low")]
        for m in MODELS
    }
    assert "variants are right {:.1f} points ({:.1f} to {:.1f}) more often".format(*gains["small"]) in text
    assert "{:.1f} ({:.1f} to {:.1f}) for `large`".format(*gains["large"]) in text
    pairs = zip(solved_at_90("default"), solved_at_90("none"), strict=True)
    fewer = [f"{100 * (with_both - without):.1f}" for with_both, without in pairs]
    assert f"without any, {' and '.join(fewer)} points fewer are solved" in text
    drops = [with_ends("drop from seeds", model=m, filter="scrambled") for m in MODELS]
    values, ends = zip(*(drop.rstrip(")").split(" (") for drop in drops), strict=True)
    assert f"{' and '.join(values)} points below the originals ({', '.join(ends)})" in text


def test_what_is_said_of_sources_and_classes_is_in_the_file():
    text = page()
    names = ("both", "masked-a only", "masked-b only")
    whole = [" and ".join(solved("1", source=name)) for name in names]
    about = {"model": "small", "filter": "default", "source": "both", "threshold": "1"}
    assert f"on the {of('pattern accuracy', 'n', **about):.0f} problems" in text
    assert f"{whole[0]} % of the problems are solved" in text
    assert f"{whole[1]} % with those of the first alone, {whole[2]} % with those of the second" in text
    small, large = zip(*(solved("0.5", source=name) for name in names), strict=True)
    said = [f"{one[0]} beside {one[1]} and {one[2]}" for one in (small, large)]
    assert f"({'; '.join(said)})" in text
    nouns, verbs, adjectives = (" and ".join(solved(word_class=name)) for name in CLASSES)
    assert f"nouns {nouns}, adjectives {adjectives}, verbs {verbs}" in text
    ends = [
        " to ".join(
            f"{100 * of('pattern accuracy', end, model=m, filter='default', word_class='verb', threshold='0.9'):.0f}"
            for end in ("low", "high")
        )
        for m in MODELS
    ]
    assert f"intervals from {ends[0]} and from {ends[1]};" in text


def test_the_words_that_were_read_are_in_their_file():
    assert len(VARIANTS) == 50 and {row["class"] for row in VARIANTS} == {"noun"}
    pairs = {(row["word"], row["replacement"]) for row in VARIANTS}
    said = (
        "animal stands, mouse bike, cafe playing, dance hat, chair jeans, jackets blue, delivery tree, "
        "project fence, coconuts dirt, helicopter hat, stares sidewalk, horse back, child city, teenagers book"
    )
    assert {tuple(pair.split()) for pair in said.split(", ")} <= pairs
    replacements = {row["replacement"] for row in VARIANTS}
    assert {"playing", "inside", "walking", "sitting", "blue", "yellow"} <= replacements
    assert {"day", "road", "baseball", "trees", "air", "jeans", "hair"} <= replacements
    text = page()
    assert all(f"*{word}*" in text for pair in said.split(", ") for word in pair.split())
