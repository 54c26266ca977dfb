"""Tables of shares: what is read, what is left out, what is drawn, and what is refused."""

import json

import numpy as np
import pytest
from scipy import stats

from shoal.core.errors import DataError
from shoal.protocols.ranking.drawn import means_of
from shoal.protocols.ranking.rates import read_rates

KINDS = ("easy", "fair", "hard", "harder")
SIZES = (100, 200, 100, 50)


def shares(models: int = 8, seed: int = 0) -> np.ndarray:
    """Of models from bad to good, as counts over sizes."""
    rng = np.random.default_rng(seed)
    rates = np.linspace(0.5, 0.8, models)[:, None] + np.array([0.15, 0.05, -0.1, -0.2])
    return rng.binomial(SIZES, rates) / SIZES


def written(table: np.ndarray, *, summed_up: bool = True) -> str:
    """As people publish such tables: a byte order mark, a mean over kinds, summaries, blank rows."""
    lines = [",".join(["Run", "At home", *KINDS, "All"])]
    table = np.column_stack([table, table.mean(axis=1)])
    rows = [(f"Run {n}", row) for n, row in enumerate(table)]
    if summed_up:
        rows += [("Minimum", table.min(axis=0)), ("Maximum", table.max(axis=0)), ("Mean", table.mean(axis=0)),
                 ("Standard deviation", table.std(axis=0, ddof=1))]  # fmt: skip
    lines += [
        ",".join([name, "0.84" if name != "Standard deviation" else "0", *(f"{cell:.9g}" for cell in row)])
        for name, row in rows
    ]
    return "\ufeff" + "\n".join([*lines, ",,,,,,", ",,,,,,"]) + "\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.csv").write_text(written(shares()), encoding="utf-8")
    examples = [kind for kind, size in zip(KINDS, SIZES, strict=True) for _ in range(size)]
    (tmp_path / "examples.csv").write_text(
        "id,kind,label\n" + "".join(f"{n},{kind},yes\n" for n, kind in enumerate(examples))
    )
    return tmp_path


def test_a_published_table_is_read_as_it_is(files):
    rates = read_rates(files / "rates.csv", str(files / "examples.csv"))
    assert rates.models == [f"Run {n}" for n in range(8)] and rates.kinds == list(KINDS)
    assert rates.sizes.tolist() == list(SIZES) and (rates.shares == shares()).all()
    assert rates.summaries == ["Minimum", "Maximum", "Mean", "Standard deviation"]
    assert rates.columns == ["At home", "All"]
    assert rates.accuracies == pytest.approx(shares() @ np.array(SIZES) / sum(SIZES))


def test_models_come_in_order_and_what_was_drawn_and_left_out_is_said(rank, files):
    printed = rank("--rates", "rates.csv", "--examples", "examples.csv").output
    words = " ".join(printed.split())
    assert "Run 7 is best on these shares (81.3 %, Run 6 74.9 %)" in words
    assert "shoal draws answers independently across models" in words
    assert "4 rows that sum up those above them: Minimum, Maximum, Mean, Standard deviation" in words
    assert "2 columns that are no kind of example: At home, All" in words
    assert "decided" not in words.replace("undecided", "") and "e value" not in words
    assert "Shares do not show when to stop labelling" in words


def test_few_shot_accuracy_is_that_of_independent_answers(rank, files):
    """Against the exact chance: each example goes to one model, to the other, or to neither."""
    call = ("Run 0", "Run 7", "--rates", "rates.csv", "--examples", "examples.csv", "--json")
    rows = json.loads(rank(*call, "--set", "probe_sets=20000", "--set", "probe_sizes=5").stdout)["measures"]
    (stated,) = (row["value"] for row in rows if row["name"] == "pairwise accuracy")
    chances, (worse, better) = np.array(SIZES) / sum(SIZES), shares()[[0, 7]]
    up, down = (chances * better * (1 - worse)).sum(), (chances * worse * (1 - better)).sum()
    exact = sum(
        stats.multinomial.pmf([b, c, 5 - b - c], 5, [up, down, 1 - up - down]) * (1 + np.sign(b - c)) / 2
        for b in range(6)
        for c in range(6 - b)
    )
    assert stated == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))


def test_the_probability_is_that_of_the_counts_to_expect(rank, files):
    call = ("Run 0", "Run 7", "--rates", "rates.csv", "--examples", "examples.csv", "--json")
    (row,) = (
        row for row in json.loads(rank(*call).stdout)["measures"] if row["name"] == "probability better"
    )
    worse, better = shares()[[0, 7]]
    sizes = np.array(SIZES)
    b, c = (sizes * better * (1 - worse)).sum(), (sizes * worse * (1 - better)).sum()
    assert row["value"] == pytest.approx(stats.beta(b + 1, c + 1).sf(0.5))
    assert row["facts"]["only first"] - row["facts"]["only second"] == pytest.approx(b - c, abs=1)


def test_probe_means_follow_the_kinds():
    means = means_of(
        np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.25, 0.75]), 8, 4_000, np.random.default_rng(0)
    )
    assert (means.sum(axis=1) == 1).all(), "one of the two is right on every example, by its kind"
    assert means.mean(axis=0) == pytest.approx([0.25, 0.75], abs=0.01)


def test_the_order_of_rows_changes_nothing(rank, files):
    text = (files / "rates.csv").read_text("utf-8").splitlines()
    (files / "turned.csv").write_text("\n".join([text[0], *text[1:9][::-1]]) + "\n", encoding="utf-8")
    first, second = (
        json.loads(rank("--rates", name, "--examples", "examples.csv", "--json").stdout)["measures"]
        for name in ("rates.csv", "turned.csv")
    )
    assert first == second


def test_many_models_are_shortened_on_the_screen_and_whole_in_json(rank, files):
    (files / "rates.csv").write_text(written(shares(40)), encoding="utf-8")
    call = ("--rates", "rates.csv", "--examples", "examples.csv", "--set", "probe_sizes=5")
    assert "… 25 others; --json has all" in rank(*call).output
    rows = json.loads(rank(*call, "--json").stdout)["measures"]
    assert sum(row["name"] == "accuracy" for row in rows) == 40


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--examples", "100"), "is the mean of"),
        (("--examples", "30", "--kinds", "easy", "--kinds", "hard"), "no share of 30 examples"),
        (("Runn*", "--examples", "examples.csv"), "no row 'Runn*'"),
        (("Run 1", "--examples", "examples.csv"), "one model only"),
        (("--examples", "examples.csv", "--kinds", "hart*"), "no column 'hart*'"),
        (("--examples", "rates.csv"), "cannot be told"),
        (("--examples", "examples.csv", "--kinds", "hard*"), "no share for 'easy'"),
        (("--examples", "examples.csv", "--set", "factors=ACC,CONF"), "'CONF' is not applicable"),
        (("Mean", "Run 1", "--examples", "examples.csv"), "no share of"),
    ],
)
def test_what_cannot_be_told_is_refused_in_words(rank, files, arguments, words):
    assert words in rank("--rates", "rates.csv", *arguments, code=1).output


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rates", "rates.csv"),
        ("--rates", "rates.csv", "--examples", "examples.csv", "--data", "examples.csv"),
        ("tiny:sentiment", "--examples", "5"),
        (),
    ],
)
def test_options_that_do_not_go_together_are_refused(rank, files, arguments):
    rank(*arguments, code=2)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("\nMean,", "\nGemiddelde,", "'Gemiddelde' a model, or does it sum up"),
        ("\nRun 7,", "\nMean of us,", None),
        ("\nRun 7,", "\nOverall,", "'Overall' a model, or does it sum up"),
        ("\nRun 7,", "\nRun 1,", "'Run 1' is there twice"),
        ("\nRun 7,0.84,", "\nRun 7,0.84,1", "a share from 0 to 1"),
    ],
)
def test_rows_that_may_or_may_not_be_models_are_asked_about(files, old, new, words):
    text = written(shares())
    assert old in text
    (files / "rates.csv").write_text(text.replace(old, new), encoding="utf-8")
    if words is None:
        assert "Mean of us" in read_rates(files / "rates.csv", str(files / "examples.csv")).models
        return
    with pytest.raises(DataError, match=words):
        read_rates(files / "rates.csv", str(files / "examples.csv"))


def test_models_that_get_the_same_share_right_are_not_ordered(rank, files):
    (files / "rates.csv").write_text("model,easy,hard\na,0.5,0.7\nb,0.7,0.5\n")
    printed = rank("--rates", "rates.csv", "--examples", "10").output
    assert "Not ordered: all 2 models get the same share right, 60.0 %" in " ".join(printed.split())
    assert "better than" not in printed
