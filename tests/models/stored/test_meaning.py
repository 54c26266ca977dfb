"""Labels are never guessed: whatever a file calls them, it is read right or refused with the line to add."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from shoal.core.errors import DataError

# Every way to write down a model's labels, for every kind of suite


class Kind:
    """A kind of suite: how it calls its labels, and what people call them elsewhere."""

    def __init__(
        self, header: tuple[str, ...] | None, labels: tuple[str, ...], elsewhere: tuple[str, ...]
    ) -> None:
        self.header, self.labels, self.elsewhere = header, labels, elsewhere


SENTIMENT = ("negative", "neutral", "positive")
KINDS = {
    "two names": Kind(("non-hateful", "hateful"), ("non-hateful", "hateful"), ("nothate", "hate")),
    "three names": Kind(SENTIMENT, SENTIMENT, ("neg", "neu", "pos")),
    "unsorted names": Kind(("b", "c", "a"), ("b", "c", "a"), ("x", "y", "z")),
    "names of digits": Kind(("1", "2", "3"), ("1", "2", "3"), ("one", "two", "three")),
    "numbers from 0": Kind(None, ("0", "1"), ("non-hateful", "hateful")),
    "numbers from 1": Kind(None, ("1", "2"), ("non-hateful", "hateful")),
    "three numbers": Kind(None, ("0", "1", "2"), SENTIMENT),
}  # fmt: skip
TRUTH = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1] * 5  # classes of the suite's cases, without the third label
THREE = [0, 1, 2, 2, 1, 0, 0, 2, 1, 1, 0, 2] * 5


def truth(kind: Kind) -> list[int]:
    return TRUTH if len(kind.labels) == 2 else THREE


Write = Callable[[Path, Kind, Sequence[int]], str]
"""Write classes down in a file of that folder; the spec's end that names the file."""


def table(names: Callable[[Kind], Sequence[object]], suffix: str = "csv") -> Write:
    """A label per row, by the name that each class has there."""

    def written(folder: Path, kind: Kind, classes: Sequence[int]) -> str:
        called = names(kind)
        if suffix == "csv":
            rows = [f"{number},{called[code]}" for number, code in enumerate(classes, start=1)]
            (folder / "p.csv").write_text("\n".join(["id,label", *rows]) + "\n")
        else:
            lines = [
                {"case_id": str(number), "pred": called[code]} for number, code in enumerate(classes, start=1)
            ]
            (folder / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return f"p.{suffix}"

    return written


def columns(names: Callable[[Kind], Sequence[str]], order: Callable[[int], Sequence[int]]) -> Write:
    """A probability column per class, in some order, under some names."""

    def written(folder: Path, kind: Kind, classes: Sequence[int]) -> str:
        called, places = names(kind), order(len(kind.labels))
        rows = [",".join(["id", *(called[code] for code in places)])]
        for number, code in enumerate(classes, start=1):
            sure = np.where(np.arange(len(places)) == code, 0.8, 0.2 / (len(places) - 1))
            rows.append(",".join([str(number), *(repr(float(sure[place])) for place in places)]))
        (folder / "p.csv").write_text("\n".join(rows) + "\n")
        return "p.csv"

    return written


def given(write: Write, option: Callable[[Kind], str]) -> Write:
    return lambda folder, kind, classes: f"{write(folder, kind, classes)}?{option(kind)}"


def backwards(n: int) -> list[int]:
    return list(range(n))[::-1]


def alphabetical(kind: Kind) -> list[int]:
    """The number of each class where names are numbered in the order of the alphabet, as scikit-learn does."""
    return [sorted(kind.elsewhere).index(name) for name in kind.elsewhere]


ENCODINGS: dict[str, Write] = {
    "names": table(lambda k: k.labels),
    "names in capitals": table(lambda k: [f" {name.upper()} " for name in k.labels]),
    "names with other hyphens": table(lambda k: [name.replace("-", "_") for name in k.labels]),
    "names in JSON": table(lambda k: k.labels, "jsonl"),
    "other names": table(lambda k: k.elsewhere),
    "other names in JSON": table(lambda k: k.elsewhere, "jsonl"),
    "other names, mapped": given(
        table(lambda k: k.elsewhere),
        lambda k: "labels=" + ",".join(map(":".join, zip(k.elsewhere, k.labels, strict=True))),
    ),
    "numbers": table(lambda k: range(len(k.labels))),
    "numbers, listed": given(table(lambda k: range(len(k.labels))), lambda k: f"labels={','.join(k.labels)}"),
    "numbers from 1": table(lambda k: range(1, len(k.labels) + 1)),
    "numbers by the alphabet": table(alphabetical),
    "numbers backwards": table(lambda k: backwards(len(k.labels))),
    "numbers backwards, listed": given(
        table(lambda k: backwards(len(k.labels))), lambda k: f"labels={','.join(k.labels[::-1])}"
    ),
    "numbers with a point": table(lambda k: [f"{name}.0" for name in range(len(k.labels))]),
    "numbers of both signs": table(lambda k: [-1, 1, 0]),
    "truth values": table(lambda k: ["False", "True", "None"]),
    "truth values in JSON": table(lambda k: [False, True, None], "jsonl"),
    "columns": columns(lambda k: k.labels, range),
    "columns backwards": columns(lambda k: k.labels, backwards),
    "columns of other names": columns(lambda k: k.elsewhere, range),
    "columns of other names, listed": given(
        columns(lambda k: k.elsewhere, backwards),
        lambda k: f"probabilities={','.join(k.elsewhere[::-1])}&labels={','.join(k.labels[::-1])}",
    ),
    "columns of other names, mapped": given(
        columns(lambda k: k.elsewhere, backwards),
        lambda k: "labels=" + ",".join(map(":".join, zip(k.elsewhere, k.labels, strict=True))),
    ),
    "columns 0 and on": columns(lambda k: list(map(str, range(len(k.labels)))), range),
    "columns 0 and on, backwards": columns(lambda k: list(map(str, range(len(k.labels)))), backwards),
}
ALWAYS = (
    "names", "names in capitals", "names with other hyphens", "other names, mapped", "numbers, listed",
    "numbers backwards, listed", "columns", "columns backwards", "columns of other names, listed",
    "columns of other names, mapped",
)  # fmt: skip
COUNTED = ("numbers", "numbers with a point", "columns 0 and on", "columns 0 and on, backwards")
READ = {
    *((encoding, kind) for kind in KINDS for encoding in ALWAYS),
    *(("names in JSON", kind) for kind in KINDS if kind != "names of digits"),
    *((encoding, kind) for kind in ("numbers from 0", "three numbers") for encoding in COUNTED),
    *(("numbers from 1", kind) for kind in ("numbers from 1", "names of digits")),
}
"""What must be read; all else must be refused."""


def says_the_truth(encoding: str, kind: str) -> bool:
    """Bare numbers say what a suite of bare numbers asks only if both count alike: no reader can know otherwise."""
    first = KINDS[kind].labels[0]
    if not first.isdigit():
        return True
    starts = {
        "numbers from 1": "1",
        "numbers of both signs": "",
        "numbers by the alphabet": "",
        "numbers backwards": "",
    }
    return starts.get(encoding, "0" if encoding in COUNTED else first) == first


PAIRS = [(encoding, kind) for encoding in ENCODINGS for kind in KINDS if says_the_truth(encoding, kind)]


@pytest.mark.parametrize(("encoding", "kind"), PAIRS)
def test_labels_are_read_right_or_refused(tmp_path, labelled, ask, named, encoding, kind):
    asked = KINDS[kind]
    suite = labelled(asked.header, [asked.labels[code] for code in truth(asked)])
    spec = ENCODINGS[encoding](tmp_path, asked, truth(asked))
    if (encoding, kind) not in READ:
        with pytest.raises(DataError, match="\n  try: ") as caught:
            ask(tmp_path / spec, suite)
        assert len(str(caught.value)) < 700
        return
    answers = ask(tmp_path / spec, suite)
    assert named(answers) == [asked.labels[code] for code in truth(asked)]
    assert set(answers.label_map.values()) == set(asked.labels)


def test_what_the_user_says_of_named_columns_comes_before_their_names(tmp_path, labelled, ask, named, write):
    suite = labelled(("negative", "positive"), [0, 1])
    path = write(tmp_path / "p.csv", ["id,negative,positive", "1,.2,.8", "2,.9,.1"])
    listed = ask(path, suite, "?probabilities=negative,positive&labels=positive,negative")
    mapped = ask(path, suite, "?labels=positive:negative,negative:positive")
    assert named(listed) == named(mapped) == ["negative", "positive"]
    assert listed.label_map == mapped.label_map == {"positive": "negative", "negative": "positive"}
    assert named(ask(path, suite, "?labels=positive,negative")) == [
        "positive",
        "negative",
    ]  # columns found by name


def softmax(code: int, width: int) -> str:
    return " ".join("0.8" if place == code else f"{0.2 / (width - 1):.6f}" for place in range(width))


TEXTS: dict[str, Callable[[int, int], str]] = {
    "pred_only": lambda code, width: str(code),
    "softmax": softmax,
    "pred_and_conf": lambda code, width: f"{code} 0.8",
    "pred_and_softmax": lambda code, width: f"{code} {softmax(code, width)}",
    "binary_conf": lambda code, width: "0.8" if code else "0.2",
}


@pytest.mark.parametrize(
    "kind", ["two names", "three names", "unsorted names", "numbers from 0", "three numbers"]
)
@pytest.mark.parametrize("name", TEXTS)
def test_in_checklists_formats_numbers_count_the_suites_labels(
    tmp_path, labelled, ask, named, write, name, kind
):
    asked = KINDS[kind]
    suite = labelled(asked.header, [asked.labels[code] for code in truth(asked)])
    path = write(tmp_path / "p.txt", [TEXTS[name](code, len(asked.labels)) for code in truth(asked)])
    if name == "binary_conf" and len(asked.labels) == 3:
        with pytest.raises(DataError, match="2 probabilities without names"):
            ask(path, suite, f"?format={name}")
        return
    answers = ask(path, suite, f"?format={name}")
    assert named(answers) == [asked.labels[code] for code in truth(asked)]
    assert answers.label_map == dict(zip(map(str, range(3)), asked.labels, strict=False))


@pytest.mark.parametrize("kind", ["three names", "three numbers"])
@pytest.mark.parametrize("options", ["?format=pred_only", ""])
@pytest.mark.parametrize("numbers", [(0, 1), (1, 2)])
def test_two_numbers_for_three_labels_may_be_those_of_a_two_class_model(
    tmp_path, labelled, ask, named, write, kind, options, numbers
):
    """A 1 that means positive is not read as neutral."""
    asked = KINDS[kind]
    suite = labelled(asked.header, [asked.labels[code] for code in THREE])
    said = [numbers[code // 2] for code in THREE]
    lines = [{"case_id": str(number), "pred": code} for number, code in enumerate(said, start=1)]
    path = write(tmp_path / "p", map(str, said) if options else lines)
    with pytest.raises(DataError, match=r"the only answers are . and .[\s\S]*try: \?labels="):
        ask(path, suite, options)
    pairs = ",".join(f"{numbers[end]}:{asked.labels[2 * end]}" for end in (0, 1))
    answers = ask(path, suite, f"{options or '?format=jsonl'}&labels={pairs}")
    assert named(answers) == [asked.labels[2 * (code // 2)] for code in THREE]


def two_columns(write, path, names):
    return write(path, [f"id,{names}", "1,.2,.8", "2,.9,.1", "3,.5,.5"])


def test_the_neutral_band_is_in_force_only_where_names_say_which_ends_are_answered(
    tmp_path, labelled, ask, write
):
    suite = labelled(("negative", "neutral", "positive"), [2, 0, 1])
    path = two_columns(write, tmp_path / "p.csv", "NEGATIVE,POSITIVE")
    answers = ask(path, suite)
    assert answers.band and answers.labels == ("negative", "positive")
    assert answers.label_map == {"NEGATIVE": "negative", "POSITIVE": "positive"}
    assert not ask(path, suite, "?probabilities=no&label=id&labels=1:positive,2:negative,3:neutral").band
    middle = two_columns(write, tmp_path / "q.csv", "negative,neutral")
    with pytest.raises(DataError, match=r"probabilities of negative, neutral[\s\S]*missing: positive"):
        ask(middle, suite)


@pytest.mark.parametrize(
    ("header", "right", "said", "message"),
    [
        (None, ["0", "1"], ["hateful", "fine"],
         r"it has answers fine, hateful; the suite's labels are 0, 1[\s\S]*\?labels=hateful:NAME,fine:NAME"),
        (None, [0, 1], [0, 2], r"line 3: label '2' is not one of 0, 1[\s\S]*\?labels=0:NAME,2:NAME"),
        (("no", "yes"), [0, 1], ["no", "maybe"],
         r"line 3: label 'maybe' is not one of no, yes[\s\S]*\?labels=maybe:NAME"),
        (("no", "yes"), [0, 1], ["no", ""], r"line 3: no label[\s\S]*try: fill it in"),
        (("negative", "positive"), [0, 1], ["neg", "pos"], r"try: \?labels=neg:negative,pos:positive$"),
    ],
)  # fmt: skip
def test_what_is_refused_names_both_sides_and_the_line_to_add(
    tmp_path, labelled, ask, write, header, right, said, message
):
    suite = labelled(header, right)
    path = write(
        tmp_path / "p.csv", ["id,label", *(f"{number},{word}" for number, word in enumerate(said, start=1))]
    )
    with pytest.raises(DataError, match=message) as caught:
        ask(path, suite)
    assert len(str(caught.value)) < 600


def test_numbers_do_not_count_labels_whose_order_nobody_wrote_down(tmp_path, labelled, ask, named, write):
    """Labels "0" and "yes": there are names, but which is the second of them was never said."""
    suite = labelled(None, ["0", "yes"])
    path = write(tmp_path / "p.jsonl", [{"case_id": "1", "pred": 0}, {"case_id": "2", "pred": 1}])
    with pytest.raises(DataError, match=r"line 2: label 1 is not one of 0, yes[\s\S]*try: \?labels="):
        ask(path, suite)
    assert named(ask(path, suite, "?labels=0:0,1:yes")) == ["0", "yes"]
    path = write(tmp_path / "p.txt", [".8 .2", ".3 .7"])
    with pytest.raises(DataError, match="2 probabilities without names"):
        ask(path, suite, "?format=softmax")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "?probabilities=no&labels=no,yse",
            r"labels= names 'yse'; the suite's labels are no, yes[\s\S]*try: \"yes\"",
        ),
        ("?probabilities=a,b&labels=no", "2 probabilities and 1 names of labels"),
    ],
)
def test_what_the_user_says_is_checked(tmp_path, labelled, ask, write, options, message):
    suite = labelled(("no", "yes"), [0, 1])
    path = write(tmp_path / "p.csv", ["id,a,b,label", "1,.7,.3,0", "2,.2,.8,1"])
    with pytest.raises(DataError, match=message):
        ask(path, suite, options)
