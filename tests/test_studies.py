"""The numbers of the studies stand in the files that are committed beside them."""

import csv
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

STUDIES = Path(__file__).parents[1] / "docs" / "studies"

Rows = list[dict[str, str]]


def kept(name: str) -> Rows:
    """A file of numbers, row by row."""
    with (STUDIES / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def table(page: str, first: str) -> list[list[str]]:
    """The cells of the table whose heading begins so, without the heading."""
    lines = (STUDIES / page).read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(first))
    cells = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        cells.append([cell.strip().strip("*") for cell in line.strip("|").split("|")])
    return cells


def value(rows: Rows, column: str = "value", **wanted: str) -> float:
    """The one number of the rows that agree."""
    (row,) = [row for row in rows if all(row[name] == word for name, word in wanted.items())]
    return float(row[column])


def per_cent(number: float) -> str:
    return f"{100 * number:.1f}".replace("-", "−")


def is_shown(cell: str, number: float, kept_digits: int = 4) -> bool:
    """Whether a cell shows this share in per cent; the file has rounded it before."""
    digits = len(cell.partition(".")[2])
    rounding = 0.5 * 0.1**digits + 50 * 0.1**kept_digits + 1e-9
    return abs(float(cell.replace("−", "-")) - 100 * number) <= rounding


def shows(
    cell: str, rows: Rows, kept_digits: int = 4, columns: str = "value low high", **wanted: str
) -> bool:
    """Return whether a cell shows the number of the one row that agrees, and its interval where it has one."""
    numbers = [number.replace("+", "") for number in re.findall(r"[−+]?[\d.]+", cell)]
    known = [value(rows, column, **wanted) for column in columns.split()[: len(numbers)]]
    return all(is_shown(*pair, kept_digits) for pair in zip(numbers, known, strict=True))


# Bias

MEASURES = kept("bias/measures.csv")


def spread(diagnostic: str, category: str, task: str) -> dict[str, str]:
    """A row of Table 1 as it is printed."""
    wanted = {"diagnostic": diagnostic, "category": category, "task": task, "of": "stereotype score"}

    def of(name: str, column: str = "value") -> float:
        return value(MEASURES, column, name=name, **wanted)

    ends = (of("sd over checkpoints", end) for end in ("low", "high"))
    ratio = of("over-dispersion ratio")
    return {
        "n": f"{int(of('mean over checkpoints', 'n')):,}",
        "mean": per_cent(of("mean over checkpoints")),
        "sd": per_cent(of("sd over checkpoints")),
        "of sd": "–".join(map(per_cent, ends)),
        "floor": per_cent(of("floor sd")),
        "ratio": f"{ratio:.1f}",
        "range": " – ".join(per_cent(of(f"{end} checkpoint")) for end in ("lowest", "highest")),
    }


@pytest.mark.parametrize(
    "cells", table("bias-reliability.md", "| category | n |"), ids=lambda cells: cells[0]
)
def test_the_table_of_crows_is_in_its_file(cells):
    row = spread("crows", cells[0], "")
    assert cells[1:] == [row[name] for name in ("n", "mean", "sd", "of sd", "floor", "ratio", "range")]


@pytest.mark.parametrize("cells", table("bias-reliability.md", "| | n | mean |"), ids=lambda cells: cells[0])
def test_the_table_of_stereoset_is_in_its_file(cells):
    tasks = {"intra-sentence": "intrasentence", "inter-sentence": "intersentence"}
    row = spread("stereoset", "all" if cells[0] in tasks else cells[0], tasks.get(cells[0], "all"))
    assert cells[1:] == [row[name] for name in ("n", "mean", "sd", "floor", "ratio")]


@pytest.mark.parametrize("cells", table("bias-reliability.md", "| concept |"), ids=lambda cells: cells[0])
def test_two_diagnostics_of_one_concept_are_in_the_file(cells):
    apart, together = (
        value(MEASURES, name=f"{what} between diagnostics", category=cells[0])
        for what in ("difference", "correlation")
    )
    assert cells[1] == per_cent(apart).replace("−", "–")
    assert cells[2] == f"{together:.2f}".replace("-0.", "–.")


@pytest.mark.parametrize(
    "cells", table("bias-reliability.md", "| test | concepts |"), ids=lambda cells: "-".join(cells[:2])
)
def test_clusters_over_training_are_in_their_file(cells):
    rows = [row for row in kept("bias/over-training.csv") if row["test"] == cells[0]]
    words = re.split(r"[/ ]", cells[1].lower())
    wanted = {
        row["category"] for row in rows if all(word.strip("'s") in row["category"].lower() for word in words)
    }
    (category,) = wanted
    about = {"representation": "cls", "category": category}
    for step, cell in zip(("200", "400", "600", "800", "1200"), cells[2:7], strict=True):
        mean, sd = (
            per_cent(value(rows, column, score="cluster accuracy", step=step, **about))
            for column in ("mean", "sd")
        )
        assert cell == f"{mean} ± {sd}"
    assert cells[7] == per_cent(value(rows, "mean", score="chance accuracy", step="1200", **about))


@pytest.mark.parametrize(
    "cells", table("bias-reliability.md", "| task | trained on |"), ids=lambda cells: cells[0]
)
def test_downstream_scores_are_in_their_file(cells):
    rows = [row for row in kept("bias/downstream.csv") if row["task"] == cells[0]]
    (row,) = rows
    assert cells[2] == f"{per_cent(float(row['mean']))} ± {per_cent(float(row['sd']))}"
    assert cells[3] == " – ".join(per_cent(float(row[end])) for end in ("min", "max"))
    assert cells[4] == per_cent(float(row["equivalence_p high"]))


SMOLLM2 = kept("bias/smollm2.csv")


def with_interval(rows: Rows, **wanted: str) -> str:
    number, low, high = (per_cent(value(rows, column, **wanted)) for column in ("value", "low", "high"))
    return f"{number} ({low}–{high})"


@pytest.mark.parametrize("cells", table("bias-reliability.md", "| StereoSet |"), ids=lambda cells: cells[0])
def test_the_scores_of_one_real_model_are_in_their_file(cells):
    task = {"intra-sentence": "intrasentence", "inter-sentence": "intersentence"}.get(cells[0], "all")
    known = {"diagnostic": "stereoset", "category": "all", "task": task}
    names = "stereotype score", "language modelling score", "icat"
    assert cells[1:] == [with_interval(SMOLLM2, name=name, **known) for name in names]


# MERGE


@pytest.mark.parametrize("cells", table("merge/README.md", "| in per cent, 423"), ids=lambda cells: cells[0])
def test_the_classifiers_of_merge_are_in_their_file(cells):
    rows = kept("merge/measures.csv")
    model, condition = cells[0].split(", ")
    filters = {
        "default filter": "default",
        "same class only": "pos",
        "more probable only": "probability",
        "no filter": "none",
        "scrambled": "scrambled",
    }
    names = {row["filter"] for row in rows}
    assert filters[condition] in names, names
    about = {"model": model, "filter": filters[condition], "word class": "", "source": "", "seed": ""}

    correlation = value(rows, measure="intra-problem correlation", threshold="", **about)
    assert shows(cells[2], rows, 5, measure="sample accuracy", threshold="", **about)
    assert shows(cells[3], rows, 5, measure="pattern accuracy", threshold="0.9", **about)
    assert shows(cells[4], rows, 5, measure="pattern accuracy", threshold="1", **about)
    assert cells[5] == f"{correlation:.2f}".removeprefix("0")


# Ranking


@pytest.mark.parametrize("cells", table("ranking.md", "| round | factor |"), ids=" ".join)
def test_eight_models_on_anli_are_in_their_file(cells):
    rows = [row for row in kept("ranking/anli.csv") if row["tag"] == "all" and row["round"] == cells[0]]
    for t, cell in zip(("5", "10", "20"), cells[2:5], strict=True):
        assert is_shown(cell, value(rows, "right order", factor=cells[1], t=t))
    for cell, end in zip(cells[5].split(" – "), ("low", "high"), strict=True):
        assert is_shown(cell, value(rows, end, factor=cells[1], t="10"))
    assert is_shown(cells[6], value(rows, "better direction", factor=cells[1], t="10"))


@pytest.mark.parametrize(
    ("first", "part", "names"),
    [
        ("| stated | pairs |", "calibration", 1),
        ("| accuracies of the models |", "neighbours", 3),
        ("| models | drawn |", "level", 2),
        ("| chances of being drawn |", "torn", 1),
        ("| accuracies | drawn |", "savings", 2),
    ],
)
def test_what_was_simulated_of_rankings_is_in_its_file(first, part, names):
    known: dict[str, list[str]] = {}
    for row in kept("ranking/simulated.csv"):
        if row["part"] == part:
            known.setdefault(row["row"], []).append(row["value"])
    words = {"where they disagree": "disagreement", "weighed, as `rank` does": "weighed"}
    shown = {
        ", ".join(words.get(cell, cell) for cell in cells[:names]): [
            f"0{cell}" if cell.startswith(".") else cell.removeprefix("over ") for cell in cells[names:]
        ]
        for cells in table("ranking.md", first)
    }
    assert shown == known


# Inoculation

DOSES = ("2% L", "2% L 1% S", "2% L 2% S", "none", "1% L 2% S", "2% S")
WINDOWS = {"MORPH": "IRREG", "VERB": "VERB", "ADJECT": "ADJ"}
EXPLAINERS = ("lime", "shapley", "gradients")


def inoculated(heading: str) -> list[list[str]]:
    """The rows of a table that are ours, not the paper's."""
    rows = table("inoculation.md", heading)
    return [cells for cells in rows if "paper" not in cells[1]]


@pytest.mark.parametrize("cells", inoculated("| | | 2L |"), ids=lambda cells: cells[0])
def test_what_inoculated_models_get_right_is_in_their_file(cells):
    rows = kept(f"inoculation/{cells[0].lower()}.csv")
    for cell, dose in zip(cells[2:], DOSES, strict=True):
        assert shows(cell, rows, 3, measure="accuracy", **{"factor or model": dose})


@pytest.mark.parametrize("cells", inoculated("| | t | ACC |"), ids=lambda cells: " ".join(cells[:2]))
def test_how_well_factors_order_inoculated_models_is_in_their_file(cells):
    feature, t, *numbers = cells
    rows = kept(f"inoculation/{feature.lower()}.csv")
    factors = ["ACC", "CONF", "CONF-GT", *(f"{WINDOWS[feature]} ({name})" for name in EXPLAINERS)]
    for cell, factor in zip(numbers, factors, strict=True):
        about = {"factor or model": factor, "t": t}
        assert shows(cell, rows, 3, measure="few-shot accuracy", **about)
        if t == "10" and factor != "ACC":
            better = value(rows, measure="p value: better than ACC", **about)
            assert ("†" in cell) == (better <= 0.05)


@pytest.mark.parametrize("cells", table("inoculation.md", "| less ACC"), ids=lambda cells: cells[0])
def test_how_far_factors_are_from_accuracy_is_in_their_file(cells):
    rows = kept(f"inoculation/{cells[0].lower()}.csv")
    factors = ["CONF-GT", *(f"{WINDOWS[cells[0]]} ({name})" for name in EXPLAINERS)]
    for cell, factor in zip(cells[1:], factors, strict=True):
        assert shows(cell, rows, 3, measure="difference", t="10", **{"factor or model": factor})


@pytest.mark.parametrize("cells", table("inoculation.md", "| factor | LIME |"), ids=lambda cells: cells[0])
def test_factors_of_pairs_on_hans_are_in_their_file(cells):
    rows = kept("inoculation/hans.csv")
    for cell, name in zip(cells[1:4], EXPLAINERS, strict=True):
        about = {"factor or model": f"{cells[0]} ({name})", "t": "10"}
        assert shows(cell, rows, 3, measure="few-shot accuracy", **about)


def test_the_models_of_hans_are_in_their_file():
    rows = kept("inoculation/hans.csv")
    (cells,) = [cells for cells in table("inoculation.md", "| | ACC | CONF |") if cells[0] == "here"]
    for cell, factor in zip(cells[1:], ("ACC", "CONF", "CONF-GT", "RANDOM"), strict=True):
        assert shows(cell, rows, 3, measure="few-shot accuracy", t="10", **{"factor or model": factor})
    (accuracies,) = table("inoculation.md", "| 0 batches |")
    for cell, dose in zip(
        accuracies, ("none", *(f"{steps} steps hans" for steps in (4, 8, 16, 32))), strict=True
    ):
        assert shows(cell, rows, 3, measure="accuracy", **{"factor or model": dose})


# A hundred fine-tunings


@pytest.mark.parametrize(
    "first",
    ["| subcase | mean", "| subcases as items |", "| runs as items, subcases as raters |"],
    ids=lambda first: first[2:12],
)
def test_the_tables_of_hans_are_in_their_file(first):
    rows = [row for row in kept("hans/printed.csv") if row["table"] == first[2:].split(" |")[0]]
    cells = table("hans-reliability.md", first)
    assert [cell for row in cells for cell in row[1:]] == [row["value"] for row in rows]
    assert [row[0] for row in cells] == list(dict.fromkeys(row["row"] for row in rows))


def test_the_command_of_the_hundred_fine_tunings_prints_what_is_kept(data, capsys):
    benchmark = loaded(STUDIES.parents[1] / "benchmarks" / "resampling.py", "resampling_benchmark")
    benchmark.print_hans(data / "hans")
    printed = capsys.readouterr().out
    lines: dict[tuple[str, str], list[str]] = {}
    for row in kept("hans/printed.csv"):
        lines.setdefault((row["table"], row["row"]), []).append(row["value"])
    for (name, line), cells in lines.items():
        if name == "text":
            assert all(re.search(rf"(?<![\d.]){re.escape(cell)}\b", printed) for cell in cells), cells
        else:
            assert f"| {line} | {' | '.join(cells)} |" in printed


# Models that are in use


@pytest.mark.parametrize(
    "cells", table("real-models.md", "| functionality | pass rate | what"), ids=lambda cells: cells[0]
)
def test_pass_rates_of_a_model_in_use_are_in_their_file(cells):
    about = {"suite": "hatecheck", "measure": "pass rate", "functionality": cells[0].strip("`")}
    assert shows(cells[1], kept("real-models/measures.csv"), model="alt-profanity-check", **about)


# COOD


def test_the_main_table_of_cood_is_in_its_file():
    rows = kept("cood/intervals.csv")
    cells = table("cood.md", "| | fst/fst")
    for plan, at in (("tweets", 0), ("mnli", 2)):
        for kind, column in (("ID", 10), ("COOD", 11), ("beyond the shortcut", 13), ("OOD", 14)):
            found = [row for row in rows if (row["plan"], row["epoch"], row["of"]) == (plan, "", kind)]
            row = found[0]
            assert is_shown(cells[at][column], float(row["value"]))
            for cell, end in zip(re.split(" – | to ", cells[at + 1][column]), ("low", "high"), strict=True):
                assert is_shown(cell, float(row[end]))


COOD = kept("cood/intervals.csv")
USUAL = {"control": "none", "template": "It is <LABEL>", "names": "usual", "reveal": "0", "epoch": ""}


def cood(of: str, column: str = "value", **about: str) -> float:
    """Return a number of the study; its setup is the usual one but for `about`."""
    return value(COOD, column, of=of, **{**USUAL, **about})


def by_seed(of: str, **about: str) -> list[float]:
    usual = {"K": "1000", "control": "none", "epoch": "", "of": of}
    (row,) = [row for row in COOD if all(row[name] == word for name, word in {**usual, **about}.items())]
    return [float(number) for number in row["by seed"].split()]


def shortcut_alone(**about: str) -> float:
    return cood("COOD", **about) - cood("beyond the shortcut", **about)


@pytest.mark.parametrize(("plan", "at"), [("tweets", 0), ("mnli", 2)])
def test_the_cells_of_the_main_table_of_cood_are_in_their_file(plan, at):
    rows = [row for row in kept(f"cood/{plan}-cells.csv") if not row["epoch"]]
    shown = table("cood.md", "| | fst/fst")[at]
    order = (
        "fst/fst",
        "sec/sec",
        "neu/fst",
        "neu/sec",
        "fst/sec",
        "sec/fst",
        "fst/neu",
        "sec/neu",
        "neu/neu",
    )
    for cell, name in zip(shown[1:10], order, strict=True):
        rates = [float(row["accuracy"]) for row in rows if row["cell"] == name]
        assert is_shown(cell, sum(rates) / len(rates)), name
    assert is_shown(shown[12], shortcut_alone(plan=plan))


@pytest.mark.parametrize("shown", table("cood.md", "| tweets, seed | 0"), ids=lambda shown: shown[0])
def test_the_seeds_of_cood_are_in_their_file(shown):
    name, *seeds, mean, sd = shown
    assert all(
        is_shown(cell, number) for cell, number in zip(seeds, by_seed(name, plan="tweets"), strict=True)
    )
    assert is_shown(mean, cood(name, plan="tweets")) and is_shown(
        sd, cood(name, "sd over seeds", plan="tweets")
    )


@pytest.mark.parametrize("shown", table("cood.md", "| tweets, epoch |"), ids=lambda shown: shown[0])
def test_the_epochs_of_cood_are_in_their_file(shown):
    epochs = [str(epoch) for epoch in range(1, 6)]
    name = shown[0].partition(",")[0]
    if shown[0] != name:  # the lowest and the highest seed
        for cell, epoch in zip(shown[1:6], epochs, strict=True):
            rates = by_seed(name, plan="tweets", epoch=epoch)
            assert [float(end) for end in cell.split(" – ")] == [
                round(100 * min(rates)),
                round(100 * max(rates)),
            ]
        return
    for cell, epoch in zip(shown[1:6], epochs, strict=True):
        assert is_shown(cell, cood(name, plan="tweets", epoch=epoch))
    numbers = [number.replace("+", "") for number in re.findall(r"[−+]?[\d.]+", shown[6])]
    for number, column in zip(numbers, ("value", "low", "high"), strict=True):
        assert is_shown(number, value(COOD, column, plan="tweets", epoch="5 less 1", of=name))


@pytest.mark.parametrize("shown", table("cood.md", "| tweets, K |"), ids=lambda shown: shown[0])
def test_the_curve_of_cood_over_k_is_in_its_file(shown):
    about = {"plan": "tweets-k", "K": shown[0].replace(",", "")}
    for at, name in ((1, "ID"), (2, "COOD"), (6, "beyond the shortcut"), (9, "OOD")):
        assert is_shown(shown[at], cood(name, **about))
    assert is_shown(shown[5], shortcut_alone(**about))
    for at, name in ((3, "COOD"), (7, "beyond the shortcut")):
        assert shows(shown[at], COOD, columns="low high", of=name, **USUAL, **about)
        seeds = shown[at + 1].split(", ")
        assert all(is_shown(cell, number) for cell, number in zip(seeds, by_seed(name, **about), strict=True))


@pytest.mark.parametrize("shown", table("cood.md", "| tweets, seed 0 |"), ids=lambda shown: shown[0])
def test_the_controls_of_cood_are_in_their_files(shown):
    for cell, name in zip(shown[1:4], ("ID", "COOD", "OOD"), strict=True):
        if shown[0] == "no control":
            number = by_seed(name, plan="tweets")[0]
        else:
            number = cood(name, plan="tweets-controls", control=shown[0])
        assert is_shown(cell, number)


@pytest.mark.parametrize(
    "shown", table("cood.md", "| template | words"), ids=lambda shown: " ".join(shown[:2])
)
def test_other_words_and_templates_of_cood_are_in_their_files(shown):
    template = shown[0].replace("…", "<LABEL>")
    positive, neutral, negative = shown[1].split("/")
    names = f"negative={negative}, neutral={neutral}, positive={positive}"
    names = "usual" if names == "negative=terrible, neutral=okay, positive=great" else names
    for cell, name in zip(shown[2:5], ("ID", "COOD", "OOD"), strict=True):
        found = [
            row["by seed"].split()[0]
            for row in COOD
            if (row["K"], row["control"], row["epoch"], row["of"]) == ("1000", "none", "", name)
            and (row["template"], row["names"]) == (template, names)
            and row["plan"] not in ("mnli", "tweets-k")
        ]
        assert len(found) == 1 and is_shown(cell, float(found[0]))


def test_the_intervals_of_cood_are_what_their_script_makes_of_the_cells():
    made = loaded(STUDIES / "cood" / "intervals.py", "intervals_of_cood")
    for row, known in zip(made.rows(), COOD, strict=True):
        for name, cell in row.items():
            assert known[name] == (f"{cell:.4f}" if isinstance(cell, float) else str(cell)), (row, name)


# Coverage


def loaded(path: Path, name: str) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_level_power_and_coverage_are_those_of_their_files():
    benchmarks = STUDIES.parents[1] / "benchmarks"
    verbs = loaded(benchmarks / "verbs.py", "verbs_benchmark")
    summary = verbs.summary(list(verbs.worlds()), verbs.kept(verbs.KEPT))
    assert "\n".join(summary) in (STUDIES / "interval-coverage.md").read_text(encoding="utf-8")
    levels = loaded(benchmarks / "level_and_power.py", "level_and_power_benchmark")
    page = levels.PAGE.read_text(encoding="utf-8")
    assert levels.with_tables(page, levels.stored()) == page


# What checkpoints, recipes and downstream tasks are told to promise


def test_broken_promises_are_counted_by_the_script_beside_the_page():
    levels = loaded(STUDIES / "bias" / "levels.py", "levels_of_bias")
    row = next(levels.count(1))
    assert set(row) == set(kept("bias/levels.csv")[0]) and row["checkpoints"] == 3


# Behavioural learning

SCORES = kept("learning/methods.csv")
COLUMNS = ("iid score", "seen", "functionality", "capability", "test type")
MARKS = {(True, True): "▲", (True, False): "△", (False, True): "▼", (False, False): "▽"}


@pytest.mark.parametrize("cells", table("learning.md", "| model | trained on |"), ids=" ".join)
def test_how_well_methods_learn_is_in_its_file(cells):
    methods = ("vanilla", "l2", "dropout", "lp", "lp-ft", "irm", "group-dro", "fish", "lora")
    known = {
        row["method"]: float(row["iid score"])
        for row in SCORES
        if [row["model"], row["config"], row["seed"]] == [cells[0], cells[1].strip("`"), cells[2]]
    }
    assert cells[3:] == [f"{known[name]:.3f}".lstrip("0") if name in known else "" for name in methods]


def cell_of(config: str, method: str, column: str, rows: Rows) -> str:
    """A cell of Table 3 as it is printed: the value, and a mark where it differs from the iid row."""
    name = "iid score" if column == "iid score" else "G"
    held = "seen" if column == "iid score" else column
    if config == "iid":  # one G in all columns, but for those that are of a part
        parts = {row["hold out"] for row in rows if (row["name"], row["config"]) == ("G", "iid")}
        held = column if column in parts else "none"
    wanted = {"config": config, "method": method, "hold out": held}
    found = [
        row for row in rows if row["name"] == name and all(row[key] == word for key, word in wanted.items())
    ]
    if not found:
        return ""
    shown = f"{100 * float(found[0]['value']):.1f}"
    score = {"score": name, **wanted}
    tests = [
        row
        for row in rows
        if row["name"] == "adjusted p value" and all(row[key] == word for key, word in score.items())
    ]
    if not tests or float(tests[0]["value"]) > 0.05:
        return shown
    low, gain, high = (value(rows, column, name="difference", **score) for column in ("low", "value", "high"))
    (over_seeds,) = {
        row.get("p over seeds") or "0"
        for row in rows
        if row["name"] == "difference" and row.items() >= score.items()
    }
    return f"{shown} {MARKS[gain > 0, (low > 0 or high < 0) and float(over_seeds) <= 0.05]}"


@pytest.mark.parametrize(
    ("first", "file", "columns"),
    [
        ("| trained on | method | i.i.d. |", "tiny", COLUMNS),
        ("| three seeds | method |", "tiny-seeds", COLUMNS),
        ("| MiniLM | method |", "minilm", COLUMNS),
        ("| PARA | method |", "para", ("iid score", "seen", "test type")),
        ("| READ | method |", "read", ("iid score", "seen", "test type")),
    ],
)
def test_table_3_is_in_its_file(first, file, columns):
    rows = kept(f"learning/{file}-table.csv")
    for cells in table("learning.md", first):
        config, method, *shown = cells
        assert shown == [cell_of(config.strip("`"), method, column, rows) for column in columns], cells
