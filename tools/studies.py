"""Write the generated tables of docs/studies from the files next to them.

python tools/studies.py          write every table between its markers
python tools/studies.py --check  exit code 1 if a page or a generated file differs

A page marks a table with `<!-- table: NAME -->` and `<!-- end -->`. NAME is a key of TABLES.
"""

import csv
import importlib.util
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from shoal.core.records import Measure
from shoal.protocols.ranking import pool

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "docs" / "studies"
MARKED = re.compile(r"(<!-- table: (.+?) -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)

Rows = list[dict[str, str]]
Cells = Sequence[Sequence[str]]


# Reading and writing


@cache
def load(path: Path) -> ModuleType:
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(f"studies_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@cache
def read(name: str) -> Rows:
    """Return the rows of a CSV file below docs/studies."""
    with (STUDIES / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def select(rows: Rows, **wanted: str) -> Rows:
    """Return the rows whose columns have the wanted values; `_` in a name stands for a space."""
    names = {name.replace("_", " "): value for name, value in wanted.items()}
    return [row for row in rows if names.items() <= row.items()]


def number(rows: Rows, column: str = "value", **wanted: str) -> float:
    """Return the number of the only matching row."""
    (row,) = select(rows, **wanted)
    return float(row[column])


def percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}".replace("-", "−")


def interval(rows: Rows, digits: int = 1, **wanted: str) -> str:
    """Return a value in per cent with its interval."""
    value, low, high = (percent(number(rows, name, **wanted), digits) for name in ("value", "low", "high"))
    return f"{value} ({low}–{high})"


def table(head: str, rows: Cells, names: int = 1) -> Iterator[str]:
    """Yield a Markdown table; the first columns hold names, the others numbers."""
    titles = head.split(" | ")
    yield f"| {' | '.join(titles)} |"
    yield f"|{' --- |' * names}{' --: |' * (len(titles) - names)}"
    for cells in rows:
        assert len(cells) == len(titles), cells
        yield f"| {' | '.join(cells)} |"


def as_csv(lines: Sequence[str]) -> str:
    """Return a Markdown table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in (lines[0], *lines[2:]):
        writer.writerow([cell.strip() for cell in line.strip("|").split("|")])
    return text.getvalue()


# Level and power


def power() -> Iterator[str]:
    """Yield power by drop; in brackets a textbook test on the same draws, where it differs."""
    benchmark = load(ROOT / "benchmarks" / "level_and_power.py")
    shown = [(1, 1, 81), (1, 1, 500), (1, 23, 81), (1, 23, 500)]
    shown += [(2, 1, 81), (5, 1, 81), (2, 23, 81), (5, 23, 81)]
    rows = []
    for line in list(benchmark.main_table(benchmark.stored()))[2:]:
        runs, functionalities, cases, spread, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if spread == "even" and (int(runs), int(functionalities), int(cases)) in shown:
            pairs = [cell.split(" / ") for cell in cells]
            marked = [ours if ours == hand else f"{ours} ({hand})" for ours, hand in pairs]
            rows.append([runs, functionalities, cases, *marked])
    return table("runs per side | functionalities | cases each | 0 | 5 | 10 | 20 | 50 | 96", rows, 0)


PROMISES = {
    ("marks", "equal models, any mark at level functionality"): "Equal models, one run per side: any mark",
    (
        "marks of runs",
        "equal models, any mark at level functionality",
    ): "Equal models, several runs: any mark",
    ("marks", "interval of a difference covers"): "Interval of a difference covers",
    ("mde", "a drop as large as the minimum detectable drop of a functionality is marked"): (
        "The minimum detectable drop is marked"
    ),
    ("mde", "a drop of 10 points is marked at the number of cases that plan-size names"): (
        "`plan-size` for 10 points: the drop is marked"
    ),
    ("gates", "one functionality, baseline, lower bound: fails"): "Drop from 96 to 0: the gate fails",
    ("gates", 'equal models, "*" with no_worse_than_baseline_by = 0, upper bound: fails'): (
        'Gate `"*"` on equal models: fails'
    ),
    ("over templates", "equal models, any mark at level functionality"): (
        "Equal models, `--over templates`: any mark"
    ),
    (
        "other protocols",
        "equal models, any mark at level overall",
    ): "Equal models, bias, COOD, MERGE: any mark",
    ("crossed fillers", "interval of a rate covers"): "Shared fillers: interval covers",
    ("crossed fillers", "models with hard fillers of their own, equal over new fillers: marked"): (
        "Shared fillers, equal models: marked"
    ),
}


def promises() -> Iterator[str]:
    """Yield the promises that carry the conclusions."""
    benchmark = load(ROOT / "benchmarks" / "level_and_power.py")
    lines = {}
    for line in list(benchmark.promises_table(benchmark.stored()))[2:]:
        part, what, bound, measured, _, _, worst = (cell.strip() for cell in line.strip("|").split("|"))
        lines[part, what] = [bound, measured, worst.partition(" ±")[0]]
    rows = [[label, *lines[key]] for key, label in PROMISES.items()]
    return table("promise | bound | measured | worst", rows)


# Coverage


def protocols() -> Iterator[str]:
    """Yield coverage and false alarms by protocol."""
    benchmark = load(ROOT / "benchmarks" / "verbs.py")
    shown = (
        "helps or hurts, equal recipes", "difference of G, interval", "beyond the shortcut, interval",
        "SD over checkpoints, interval",
        "pattern accuracy, interval", "equal models, p", "equal models, any pair decided",
    )  # fmt: skip
    rows = []
    for line in list(benchmark.summary(list(benchmark.worlds()), benchmark.kept(benchmark.KEPT)))[2:]:
        verb, what, promised, measured, _, worst = (cell.strip() for cell in line.strip("|").split("|"))
        if what in shown:
            bound = f"≥ {promised.split()[0]}" if promised.endswith("more") else f"≤ {promised.split()[0]}"
            rows.append([f"{verb.rpartition(', ')[2]}: {what}", bound, measured, worst.partition(" ±")[0]])
    return table("quantity | bound | measured | worst size", rows)


def functions() -> Iterator[str]:
    """Yield the coverage of the interval functions by number of clusters."""
    wanted = ("one proportion", "clustered rate", "macro mean of four")
    shown = [row for row in read("coverage/functions.csv") if row["population"] in wanted]
    rows = [[f"{row['population']}, {row['interval']}", row["20"], row["100"], row["1000"]] for row in shown]
    return table("population, interval | 20 | 100 | 1,000", rows)


SMALL = (
    ("rate, cluster_wilson", "3 templates x 20, .8"),
    ("difference, paired t", "1 x 5, one case in ten changed"),
    ("suite score, macro_wilson", "30 x 5, .8"),
)


def small_samples() -> Iterator[str]:
    """Yield what remains of the promises with few templates and cases."""
    rows = []
    for what, size in SMALL:
        (row,) = select(read("coverage/small-samples.csv"), what=what, size=size)
        bound = row["promised"].replace("at most", "≤").replace("95", "≥ 95")
        rows.append([f"{what}: {size}", bound, f"{row['measured']} ± {row['standard error']}"])
    return table("quantity: size | bound | measured", rows)


# Behavioural learning

COLUMNS = ("iid score", "seen", "functionality", "capability", "test type")
HEADS = "trained on | method | i.i.d. | G_seen | G_func | G_class | G_type"


def learning_cell(rows: Rows, config: str, method: str, column: str) -> str:
    """Return a cell of Table 3, with ▲ or ▼ if it differs from the `iid` row after Holm's correction."""
    name, held = ("iid score", "seen") if column == "iid score" else ("G", column)
    if config == "iid":  # one G in all columns, except where a column covers only some functionalities
        parts = {row["hold out"] for row in select(rows, name="G", config="iid")}
        held = column if column in parts else "none"
    cell = {"config": config, "method": method, "hold out": held}
    shown = percent(number(rows, name=name, **cell))
    p = [float(row["value"]) for row in select(rows, name="adjusted p value", score=name, **cell)]
    if not p or p[0] > 0.05:
        return shown
    return f"{shown} {'▲' if number(rows, name='difference', score=name, **cell) > 0 else '▼'}"


def table3() -> Iterator[str]:
    """Yield the rows of Table 3 that carry the conclusions, three seeds."""
    rows = read("learning/tiny-seeds-table.csv")
    keys = dict.fromkeys(
        (row["config"], row["method"])
        for row in rows
        if row["method"] == "vanilla" or (row["config"], row["method"]) == ("iid>suite", "lp")
    )
    cells = [
        [f"`{key[0]}`", key[1], *(learning_cell(rows, *key, column) for column in COLUMNS)] for key in keys
    ]
    return table(HEADS, cells, 2)


PLANS = {
    "tiny": "two-layer model, 8 methods, 1 seed",
    "tiny-seeds": "two-layer model, 4 methods, 3 seeds",
    "minilm": "MiniLM, 3 methods, 1 seed",
}


def marks() -> Iterator[str]:
    """Yield how many rows of each plan are better and worse than `iid`."""
    lines = []
    for file, label in PLANS.items():
        rows = read(f"learning/{file}-table.csv")
        keys = dict.fromkeys((row["config"], row["method"]) for row in rows if row["method"])
        del keys["iid", "vanilla"]
        cells = []
        for column in COLUMNS:
            shown = [learning_cell(rows, *key, column)[-1] for key in keys]
            cells.append(f"{shown.count('▲')} / {shown.count('▼')}")
        lines.append([label, str(len(keys)), *cells])
    return table("plan | rows | i.i.d. | G_seen | G_func | G_class | G_type", lines)


def lost_task() -> Iterator[str]:
    """Yield how many models trained without a part of the suite have an i.i.d. score of at most 94 %."""
    rows = [row for row in read("learning/tiny-seeds.csv") if row["hold out"] not in ("none", "seen")]
    lines = []
    for config in ("iid>suite", "iid+suite", "iid>iid+suite"):
        cells = []
        for method in ("vanilla", "lp", "group-dro", "fish"):
            scores = [float(row["iid score"]) for row in select(rows, config=config, method=method)]
            assert len(scores) == 156, len(scores)
            cells.append(str(sum(score <= 0.94 for score in scores)))
        lines.append([f"`{config}`", *cells])
    return table("trained on | vanilla | lp | group-dro | fish", lines)


def capabilities() -> Iterator[str]:
    """Yield MiniLM's pass rates by capability: not trained, trained, trained on the others only."""
    rows = read("learning/minilm.csv")
    names = ("Vocabulary", "Robustness", "NER", "Temporal", "Fairness", "Negation", "SRL")
    only_iid = select(rows, config="iid")[0]
    trained = {"config": "iid>iid+suite", "method": "vanilla"}
    (full,) = select(rows, hold_out="seen", **trained)
    lines = [
        ["i.i.d. data only", *(percent(float(only_iid[name]), 0) for name in names)],
        ["the whole suite", *(percent(float(full[name]), 0) for name in names)],
        [
            "the suite without it",
            *(percent(number(rows, name, hold_out="capability", fold=name, **trained), 0) for name in names),
        ],
    ]
    return table(f"trained on | {' | '.join(name.lower() for name in names)}", lines)


# Bias


def spread(diagnostic: str, category: str, task: str = "") -> list[str]:
    """Return n, mean, SD, floor, ratio and range of a stereotype score over checkpoints."""
    wanted = {"diagnostic": diagnostic, "category": category, "task": task, "of": "stereotype score"}
    rows = select(read("bias/measures.csv"), **wanted)
    low, high = (percent(number(rows, name=f"{end} checkpoint")) for end in ("lowest", "highest"))
    return [
        f"{int(number(rows, 'n', name='mean over checkpoints')):,}",
        percent(number(rows, name="mean over checkpoints")),
        percent(number(rows, name="sd over checkpoints")),
        percent(number(rows, name="floor sd")),
        f"{number(rows, name='over-dispersion ratio'):.1f}",
        f"{low}–{high}",
    ]


def checkpoints() -> Iterator[str]:
    """Yield the spread of CrowS-Pairs and StereoSet over five seeds."""
    crows = ("all", "sexual-orientation", "age", "race-color", "gender", "religion")
    rows = [[f"CrowS-Pairs, {name}", *spread("crows", name)] for name in crows]
    rows += [[f"StereoSet, {name}", *spread("stereoset", name, "all")] for name in ("all", "race")]
    return table("stereotype score | items | mean | SD over seeds | floor | ratio | lowest–highest", rows)


def seat() -> Iterator[str]:
    """Yield how many SEAT tests have one sign, and how many are significant in none, some and all checkpoints."""
    rows = read("bias/measures.csv")
    lines = []
    for name in ("cls", "word_mean"):
        found = select(rows, diagnostic="seat", representation=name)
        shares = [float(row["value"]) for row in select(found, name="significant share")]
        signs = round(number(found, name="tests with one sign") * len(shares))
        counts = [sum(share == 0 for share in shares), sum(0 < share < 1 for share in shares)]
        lines.append([f"`{name}`", *map(str, (len(shares), signs, *counts, len(shares) - sum(counts)))])
    return table(
        "representation | tests | same sign in all five | significant in none | in some | in all five", lines
    )


def smollm2() -> Iterator[str]:
    """Yield the scores of SmolLM2-135M-Instruct."""
    rows = read("bias/smollm2.csv")
    lines = [
        ["CrowS-Pairs", interval(rows, name="stereotype score", diagnostic="crows", category="all"), "", ""]
    ]
    for label, task in {"within sentences": "intrasentence", "between sentences": "intersentence"}.items():
        about = {"diagnostic": "stereoset", "category": "all", "task": task}
        names = ("stereotype score", "language modelling score", "icat")
        lines.append([f"StereoSet {label}", *(interval(rows, name=name, **about) for name in names)])
    return table("SmolLM2-135M-Instruct | stereotype score | language modelling score | icat", lines)


def chat_bbq() -> Iterator[str]:
    """Yield accuracy and bias of SmolLM2 on BBQ under each prompt."""
    rows = select(read("chat/chat.csv"), plan="bbq")
    prompts = list(dict.fromkeys(row["prompt"] for row in rows if row["prompt"]))
    columns = [
        (name, context) for context in ("ambiguous", "disambiguated") for name in ("accuracy", "bias score")
    ]
    lines = [
        [
            f"`{prompt}`",
            *(interval(rows, prompt=prompt, name=name, context=context) for name, context in columns),
        ]
        for prompt in prompts
    ]
    return table("prompt | ambiguous: accuracy | bias | disambiguated: accuracy | bias", lines)


def chat_choice() -> Iterator[str]:
    """Yield how many pairs the order decides, and the likelihoods of the same pairs."""
    rows = select(read("chat/chat.csv"), plan="choice")
    lines = []
    for prompt in dict.fromkeys(row["prompt"] for row in rows if row["prompt"]):
        own = select(rows, prompt=prompt)
        counts = [f"{number(own, name=name):.0f}" for name in ("decided pairs", "agreement with likelihood")]
        lines.append([f"`{prompt}`", *counts, interval(own, name="stereotype score")])
    likely = select(read("chat/chat.csv"), plan="likelihood", name="stereotype score")
    lines.append(["likelihood, no prompt", likely[0]["n"], "", interval(likely)])
    return table("prompt | pairs decided | as by likelihood | stereotypical, % of all pairs", lines)


def downstream() -> Iterator[str]:
    """Yield the downstream scores of five checkpoints beside their CrowS-Pairs scores."""
    lines = [
        [row["task"], percent(float(row["mean"])), percent(float(row["sd"])),
         "–".join(percent(float(row[end])) for end in ("min", "max"))]
        for row in read("bias/downstream.csv")
    ]  # fmt: skip
    (crows,) = select(
        read("bias/over-training.csv"), test="crows", category="all", score="stereotype score", step="1200"
    )
    lines.append(
        ["CrowS-Pairs, 300 pairs", percent(float(crows["mean"])), percent(float(crows["sd"])),
         "–".join(percent(float(crows[end])) for end in ("min", "max"))]
    )  # fmt: skip
    return table("same five checkpoints | mean | SD over seeds | lowest–highest", lines)


# COOD

USUAL = {"control": "none", "template": "It is <LABEL>", "names": "usual", "epoch": ""}
KINDS = ("ID", "COOD", "beyond the shortcut", "OOD")


def cood_cell(kind: str, **about: str) -> str:
    return interval(read("cood/intervals.csv"), of=kind, **{**USUAL, **about})


def cood_main() -> Iterator[str]:
    """Yield ID, COOD, its part beyond the shortcut, and OOD; ours with intervals, then the paper's."""
    plans = {"tweets": "tweets, MiniLM, 5 seeds", "mnli": "MNLI, MiniLM, 3 seeds"}
    rows = [[label, *(cood_cell(kind, plan=plan) for kind in KINDS)] for plan, label in plans.items()]
    for row in read("cood/paper.csv"):
        rows.append(
            [f"paper: {row['data and model']}", *(row[name] for name in ("ID", "COOD", "beyond", "OOD"))]
        )
    return table("data, model | ID | COOD | beyond the shortcut | OOD", rows)


def seeds_of(kind: str, rows: Rows) -> list[str]:
    (row,) = select(rows, of=kind)
    seeds = [percent(float(value)) for value in row["by seed"].split()]
    return [*seeds, percent(float(row["sd over seeds"]))]


def cood_seeds() -> Iterator[str]:
    """Yield the scores of each seed."""
    rows = select(read("cood/intervals.csv"), plan="tweets", K="1000", **USUAL)
    lines = [[kind, *seeds_of(kind, rows)] for kind in ("ID", "COOD", "beyond the shortcut")]
    return table("tweets, seed | 0 | 1 | 2 | 3 | 4 | SD", lines)


def cood_controls() -> Iterator[str]:
    """Yield the controls, seed 0."""
    rows = read("cood/intervals.csv")
    labels = {
        "all cells": "trained on all nine cells",
        "text only": "template hidden",
        "template only": "text hidden",
        "majority": "constant answer",
    }
    lines = []
    for control, label in labels.items():
        about = {**USUAL, "control": control, "plan": "tweets-controls"}
        lines.append([label, *(percent(number(rows, of=kind, **about)) for kind in ("ID", "COOD", "OOD"))])
    return table("control | ID | COOD | OOD", lines)


def cood_sizes() -> Iterator[str]:
    """Yield the curve over K."""
    rows = []
    for size in ("125", "500", "1000"):
        about = {"plan": "tweets-k", "K": size}
        rows.append([size, *(cood_cell(kind, **about) for kind in ("ID", "COOD", "beyond the shortcut"))])
    return table("K, 3 seeds | ID | COOD | beyond the shortcut", rows)


# Ranking and inoculation


def simulated(part: str, rows: dict[str, str], columns: Sequence[str], head: str) -> Iterator[str]:
    """Yield some rows and columns of the simulations of `rank`."""
    known = {
        (row["row"], row["column"]): row["value"] for row in select(read("ranking/simulated.csv"), part=part)
    }
    return table(head, [[label, *(known[row, name] for name in columns)] for row, label in rows.items()])


def anli() -> Iterator[str]:
    """Yield how often a few labels order eight models correctly."""
    lines = []
    for round_, factor in ((r, f) for r in "12" for f in ("ACC", "CONF", "CONF-GT")):
        rows = select(read("ranking/anli.csv"), tag="all", round=round_, factor=factor)
        shares = [percent(number(rows, "right order", t=t)) for t in ("5", "10", "20")]
        ends = (percent(number(rows, end, t="10"), 0) for end in ("low", "high"))
        lines.append([round_, factor, *shares, "–".join(ends)])
    return table("round | factor | t = 5 | t = 10 | t = 20 | 95 % at t = 10", lines, 2)


FEATURES = {"MORPH": "IRREG", "VERB": "VERB", "ADJECT": "ADJ"}
PAIRS = {"HANS": "CONST", "PAWS": "SWAP-AVG"}
"""Data sets of pairs and the factor made for each."""
GENERAL = ("MAX-DIFF", "INDEX-DIFF", "SUM-DIFF", "FIRST-TOK")
EXPLAINERS = {"LIME": "lime", "Shapley": "shapley", "gradients": "gradients"}


def few_shot(file: str, factor: str) -> str:
    about = {"measure": "few-shot accuracy", "t": "10", "factor or model": factor}
    return percent(number(read(f"inoculation/{file}.csv"), **about))


def paper_few_shot(task: str, factor: str) -> str:
    about = {"task": task, "measure": "few-shot accuracy", "factor or model": factor}
    return select(read("inoculation/paper.csv"), **about)[0]["per cent"]


def inoculated() -> Iterator[str]:
    """Yield few-shot accuracy on the three features, HANS and PAWS, ours and the paper's."""
    lines = []
    for feature, factor in FEATURES.items():
        ours = [few_shot(feature.lower(), name) for name in ("ACC", "CONF-GT")]
        ours += [few_shot(feature.lower(), f"{factor} ({key})") for key in EXPLAINERS.values()]
        paper = [paper_few_shot(feature, name) for name in ("ACC", "CONF-GT", *EXPLAINERS)]
        lines += [[f"{feature}, here", *ours], [f"{feature}, paper", *paper]]
    for task, factor in PAIRS.items():
        ours = [few_shot(task.lower(), name) for name in ("ACC", "CONF-GT")]
        ours += [few_shot(task.lower(), f"{factor} ({key})") for key in EXPLAINERS.values()]
        paper = [paper_few_shot(task, name) for name in ("ACC", "CONF-GT")]
        paper += [paper_few_shot(task, f"{factor} ({name})") for name in EXPLAINERS]
        lines += [[f"{task}, here", *ours], [f"{task}, paper", *paper]]
    return table("t = 10 | ACC | CONF-GT | factor, LIME | factor, Shapley | factor, gradients", lines)


def inoculated_gaps() -> Iterator[str]:
    """Yield how far each factor is ahead of ACC, with intervals over other examples."""
    lines = []
    for feature, factor in (FEATURES | PAIRS).items():
        rows = select(read(f"inoculation/{feature.lower()}.csv"), measure="difference", t="10")
        names = ["CONF-GT", *(f"{factor} ({key})" for key in EXPLAINERS.values())]
        lines.append([feature, *(points(rows, name) for name in names)])
    return table("less ACC, points | CONF-GT | factor, LIME | factor, Shapley | factor, gradients", lines)


def pooled() -> Iterator[str]:
    """Yield general factors on HANS and PAWS together, ours and the paper's."""
    studies = {}
    for task in PAIRS:
        rows = read(f"inoculation/{task.lower()}.csv")
        models = len(select(rows, measure="accuracy"))
        studies[task] = [
            Measure(row["measure"], float(row["value"]), models * (models - 1) // 2,
                    {"factor": row["factor or model"], "probe size": row["t"]})
            for row in select(rows, measure="few-shot accuracy")
        ]  # fmt: skip
    both = {
        row.groups["factor"]: row.value or 0.0
        for row in pool(studies, {task: f"{factor} (shapley)" for task, factor in PAIRS.items()})
    }
    names = ["ACC", "SET-DEPENDENT", *(f"{name} (shapley)" for name in GENERAL)]
    lines = [
        ["HANS and PAWS, here", *(percent(both[name]) for name in names)],
        ["paper", *(paper_few_shot("pooled", name.replace("shapley", "Shapley")) for name in names)],
    ]
    return table(f"Shapley, t = 10 | {' | '.join(name.partition(' ')[0] for name in names)}", lines)


def points(rows: Rows, name: str) -> str:
    ends = [percent(number(rows, column, factor_or_model=name)) for column in ("value", "low", "high")]
    return f"{ends[0]} ({ends[1]} to {ends[2]})"


# HANS, models in use, MERGE


def printed(name: str, rows: Sequence[str], head: str) -> Iterator[str]:
    """Yield some rows of a table that `benchmarks/resampling.py --hans` prints."""
    known = select(read("hans/printed.csv"), table=name)
    return table(head, [[row, *(cell["value"] for cell in select(known, row=row))] for row in rows])


def hatecheck() -> Iterator[str]:
    """Yield the pass rates of a toxicity classifier that show what it reacts to."""
    rows = select(read("real-models/measures.csv"), model="alt-profanity-check", suite="hatecheck")
    meanings = {
        "profanity_h": "finds hate with swear words",
        "profanity_nh": "also flags harmless swearing",
        "slur_reclaimed_nh": "flags reclaimed slurs",
        "derog_neg_emote_h": "misses hate without swear words",
        "spell_leet_h": "misses hate with digits for letters",
    }
    lines = [
        [f"`{name}`", meaning, interval(rows, measure="pass rate", functionality=name)]
        for name, meaning in meanings.items()
    ]
    return table("functionality | the model | pass rate", lines, 2)


def embedded() -> Iterator[str]:
    """Yield the suite scores of the models that ship with the package."""
    lines = []
    for name in ("sentiment", "paraphrase", "reading"):
        rows = select(read("real-models/measures.csv"), model=f"tiny:{name}", suite=name)
        rates = [float(row["value"]) for row in select(rows, measure="pass rate") if row["value"]]
        failing = f"{sum(rate < 0.5 for rate in rates)} of {len(rates)}"
        iid = percent(number(rows, measure="iid score"))
        lines.append([f"`tiny:{name}`", iid, interval(rows, measure="suite score"), failing])
    return table("model | i.i.d. accuracy | suite score | functionalities below 50 %", lines)


FILTERS = {"default": "default filter", "none": "no filter", "scrambled": "scrambled"}


def merge() -> Iterator[str]:
    """Yield sample and pattern accuracy of both classifiers by filter."""
    rows = read("merge/measures.csv")
    lines = []
    for key, label in FILTERS.items():
        for model in ("small", "large"):
            about = {"model": model, "filter": key, "word class": "", "source": "", "seed": ""}
            sample = percent(number(rows, measure="sample accuracy", threshold="", **about))
            pattern = interval(rows, measure="pattern accuracy", threshold="0.9", **about)
            lines.append([label, model, sample, pattern])
    head = "variants | model | sample accuracy | pattern accuracy at 0.9"
    return table(head, lines, 2)


def funnel() -> Iterator[str]:
    """Yield how many suggestions each step keeps."""
    rows = read("merge/measures.csv")
    steps = ("suggested", "no relative", "same class", "more probable")
    lines = []
    for step in steps:
        counts = [
            number(rows, measure="variants", step=step, **{"word class": name})
            for name in ("", "noun", "verb", "adjective")
        ]
        lines.append([step, *(f"{int(count):,}" for count in counts)])
    return table("variants | all | noun | verb | adjective", lines)


# All of them

NEIGHBOURS = {
    "uniform, 10 to 90 %, 2, 10": "uniform, 10 to 90 %, 2 models",
    "uniform, 50 to 90 %, 2, 10": "uniform, 50 to 90 %, 2 models",
    "70 %, sd 10, 2, 10": "70 %, SD 10, 2 models",
    "70 %, sd 3, 2, 10": "70 %, SD 3, 2 models",
}
SAVINGS = {
    f"{rates}, {drawn}": f"{rates} %, {label}"
    for rates in ("90, 70", "90, 70, 70, 70")
    for drawn, label in {"uniform": "uniform", "disagreement": "by disagreement"}.items()
}
STOPPING = {
    f"{models}, {drawn}": f"{models} models, {label}"
    for models in (2, 5)
    for drawn, label in {"uniform": "uniform", "disagreement": "by disagreement"}.items()
}
UNSTABLE = (
    "ln_preposition", "ln_subject/object_swap", "ln_conjunction", "ln_relative_clause", "cn_embedded_under_if",
    "se_adjective",
)  # fmt: skip
HALVES = ("all 30", "entailed", "non-entailed")

TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "power": power,
    "promises": promises,
    "protocols": protocols,
    "functions": functions,
    "small samples": small_samples,
    "marks": marks,
    "three seeds": table3,
    "lost task": lost_task,
    "capabilities": capabilities,
    "checkpoints": checkpoints,
    "SEAT": seat,
    "SmolLM2": smollm2,
    "chat BBQ": chat_bbq,
    "chat choice": chat_choice,
    "downstream": downstream,
    "COOD": cood_main,
    "COOD seeds": cood_seeds,
    "COOD controls": cood_controls,
    "COOD sizes": cood_sizes,
    "neighbours": lambda: simulated(
        "neighbours",
        NEIGHBOURS,
        ("mean stated", "if close", "right"),
        "accuracies of the models | stated | if close | correct",
    ),
    "stopping": lambda: simulated(
        "level",
        STOPPING,
        ("runs", "any pair decided"),
        "equal models, labels drawn | runs | any pair decided",
    ),
    "savings": lambda: simulated(
        "savings",
        SAVINGS,
        ("decided", "the right one first"),
        "accuracies, labels drawn | decided within 120 labels | correctly",
    ),
    "ANLI": anli,
    "inoculated": inoculated,
    "inoculated gaps": inoculated_gaps,
    "pooled": pooled,
    "subcases": lambda: printed(
        "subcase", UNSTABLE, "subcase | mean | SD over runs | 95 % of SD | binomial SD | ratio"
    ),
    "variance": lambda: printed(
        "subcases as items",
        HALVES,
        "share of variance | run | subcase | both | ICC(2,1) | runs for .8 | for .9",
    ),
    "HateCheck": hatecheck,
    "embedded models": embedded,
    "MERGE": merge,
    "MERGE funnel": funnel,
}


def power_file() -> str:
    benchmark = load(ROOT / "benchmarks" / "level_and_power.py")
    return as_csv(list(benchmark.main_table(benchmark.stored())))


def promises_file() -> str:
    benchmark = load(ROOT / "benchmarks" / "level_and_power.py")
    return as_csv(list(benchmark.promises_table(benchmark.stored())))


def protocols_file() -> str:
    benchmark = load(ROOT / "benchmarks" / "verbs.py")
    return as_csv(list(benchmark.summary(list(benchmark.worlds()), benchmark.kept(benchmark.KEPT))))


FILES: dict[str, Callable[[], str]] = {
    "coverage/power-table.csv": power_file,
    "coverage/promises-table.csv": promises_file,
    "coverage/protocols-table.csv": protocols_file,
}
"""The whole tables of which the pages show some rows."""


def rendered(text: str) -> str:
    """Return a page with the table of every marker written anew."""
    return MARKED.sub(lambda match: match[1] + "\n".join(TABLES[match[2]]()) + "\n" + match[4], text)


def pages() -> list[Path]:
    return sorted(STUDIES.glob("*.md"))


def outputs() -> dict[Path, str]:
    """Return what every page and generated file should contain."""
    texts = {page: rendered(page.read_text(encoding="utf-8")) for page in pages()}
    return texts | {STUDIES / name: make() for name, make in FILES.items()}


def main() -> None:
    check = "--check" in sys.argv[1:]
    stale = [
        path
        for path, text in outputs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if check and stale:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        sys.exit(f"{names}: out of date; run `python tools/studies.py`")
    for path in () if check else stale:
        path.write_text(outputs()[path], encoding="utf-8")


if __name__ == "__main__":
    main()
