"""A made-up suite of many cases with two predictions files, taken through every verb: seconds and peak memory of each.

    python benchmarks/many_cases.py            a million cases
    python benchmarks/many_cases.py 10000 100000 1000000   and how it grows
    python benchmarks/many_cases.py --jobs 10000   a plan of many jobs instead: check, and status of none done
    python benchmarks/many_cases.py --folder DIR --verb run   one verb, with what earlier calls left in that folder

Every verb is a process of its own, start-up included. `seconds` is processor time, which other programs on the machine
disturb less than time on the clock; `passed` is that.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from speed import record

LABELS = ("negative", "neutral", "positive")
RULES = """
[[rule]]
at_least = 0.85

[[rule]]
functionality = "*"
no_worse_than_baseline_by = 0.05
judge = "upper bound"
"""
TOPICS, TEMPLATES = 100, 5_000


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took."""

    passed: float
    seconds: float
    megabytes: float


def write_table(path: Path, gold: NDArray[np.int64]) -> None:
    """The texts with their labels, as somebody would bring them."""
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "text", "label", "topic", "area", "template"])
        for number, label in enumerate(gold.tolist()):
            text = f"Sentence {number} says something about the film that the audience saw on day {number % 365}."
            topic, template = number % TOPICS, number % TEMPLATES
            rows.writerow(
                [number, text, LABELS[label], f"topic {topic}", f"area {topic % 10}", f"template {template}"]
            )


def write_predictions(path: Path, gold: NDArray[np.int64], accuracy: float, rng: np.random.Generator) -> None:
    """A model's answers with their probabilities, right so often."""
    right = rng.random(len(gold)) < accuracy
    answers = np.where(right, gold, (gold + rng.integers(1, 3, len(gold))) % 3)
    chances = np.sort(rng.dirichlet([0.4, 0.4, 0.4], len(gold)), axis=1)
    with path.open("w") as stream:
        for number, (answer, (low, middle, high)) in enumerate(
            zip(answers.tolist(), chances.tolist(), strict=True)
        ):
            vector = [low, middle]
            vector.insert(answer, high)
            row = {"functionality": f"topic {number % TOPICS}", "case_id": str(number)}
            stream.write(json.dumps({**row, "pred": answer, "conf": vector}) + "\n")


def write_all(folder: Path, count: int) -> None:
    """Everything that the verbs read."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, count)
    write_table(folder / "table.csv", gold)
    write_predictions(folder / "a.jsonl", gold, 0.9, rng)
    write_predictions(folder / "b.jsonl", gold, 0.88, rng)
    plan = 'models = ["predictions:a.jsonl", "predictions:b.jsonl"]\n[behaviour]\nsuite = "suite.jsonl"\n'
    (folder / "plan.toml").write_text(plan)
    (folder / "gate.toml").write_text(RULES)


def cost(folder: Path, *arguments: str) -> Cost:
    """Run a command there; what it, and nothing else, has taken."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", VERB, *arguments], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):  # 3: a gate that is not met
        raise SystemExit(f"shoal {' '.join(arguments)} failed")
    peak = int((folder / "peak").read_text()) / 1024
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak)


VERB = """
import atexit
from shoal.cli import main
def peak():  # not ru_maxrss: a child begins with its parent's
    lines = open("/proc/self/status").read().splitlines()
    open("peak", "w").write(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
atexit.register(peak)
main()
"""


def verbs(folder: Path) -> Iterator[tuple[str, list[str], str]]:
    """Each verb with its arguments and its goal, in an order in which each has what it needs."""
    names = [f"--labels={name}={name}" for name in LABELS]
    columns = ["--text=text", "--label=label", "--id=id", "--functionality=topic", "--capability=area"]
    yield "import", ["import", "table.csv", "--out=suite.jsonl", "--cluster=template", *columns, *names], ""
    yield "check", ["check", "suite.jsonl"], ""
    scored = ["--set", "suite=suite.jsonl"]
    yield "try", ["try", "behaviour", "predictions:a.jsonl", *scored], ""
    yield "compare", ["compare", "predictions:a.jsonl", "predictions:b.jsonl", *scored], ""
    yield "run of two jobs", ["run", "plan.toml"], "120 s"
    yield "status", ["status", "plan.toml"], "5 s"
    yield "report", ["report", "plan.toml"], "40 s"
    jobs = sorted(path.name for path in folder.glob("runs/jobs/*"))
    yield "gate, with a baseline", ["gate", *jobs[:1], "--rules=gate.toml", "--baseline", *jobs[1:]], ""


def print_many_cases(count: int, kept: Path | None = None, only: str = "") -> dict[str, Cost]:
    """The table of every verb, or of one in a folder that is kept; each line as soon as it is known."""
    costs = {}
    with tempfile.TemporaryDirectory() as place:
        folder = kept or Path(place)
        if not (folder / "gate.toml").exists():
            folder.mkdir(exist_ok=True)
            write_all(folder, count)
        print(f"{count:,} cases{'':<11} passed  seconds  peak memory   at most")
        for verb, arguments, goal in verbs(folder):
            if not verb.startswith(only):
                continue
            taken = costs[verb] = cost(folder, *arguments)
            if count == 1_000_000:
                record(
                    "many_cases",
                    f"1,000,000 cases, {verb}",
                    [taken.passed],
                    memory=f"{taken.megabytes:.0f} MB",
                )
            at_most = f"{goal + ', ' if goal else ''}1,000 MB"
            print(
                f"{verb:<24} {taken.passed:8.1f} {taken.seconds:8.1f} {taken.megabytes:9.0f} MB   {at_most}",
                flush=True,
            )
    return costs


def print_growth(costs: Mapping[int, Mapping[str, Cost]]) -> None:
    """Every verb in a row; `per case` is what each case between the first column and the last has added."""
    few, *_, most = costs
    print(f"\n{'':<22}", *(f"{count:>11,} cases" for count in costs), "       per case")
    for verb in costs[few]:
        cells = [f"{of[verb].seconds:6.1f} s {of[verb].megabytes:5.0f} MB" for of in costs.values()]
        first, last = costs[few][verb], costs[most][verb]
        each = 1e6 * (last.seconds - first.seconds) / (most - few)
        room = 1e3 * (last.megabytes - first.megabytes) / (most - few)
        print(f"{verb:<22} ", *cells, f"{each:6.0f} µs {room:5.2f} kB")


def print_many_jobs(count: int) -> None:
    """What a plan of many jobs costs before any is done."""
    seeds = list(range(count))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "plan.toml").write_text(
            f'models = ["predictions:example"]\nseeds = {seeds}\n[behaviour]\nsuite = "sentiment"\nlimit = 50\n'
        )
        print(f"a plan of {count:,} jobs{'':<6} passed  seconds  peak memory")
        for verb in ("check", "status"):
            taken = cost(folder, verb, "plan.toml")
            print(f"{verb:<24} {taken.passed:8.1f} {taken.seconds:8.1f} {taken.megabytes:9.0f} MB")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--jobs", type=int, help="measure a plan of so many jobs instead")
    parser.add_argument("--folder", type=Path, help="where to keep what the verbs read and write")
    parser.add_argument("--verb", default="", help="only this one")
    given = parser.parse_args()
    if given.jobs:
        print_many_jobs(given.jobs)
    else:
        costs = {count: print_many_cases(count, given.folder, given.verb) for count in given.cases}
        if len(costs) > 1:
            print_growth(costs)


if __name__ == "__main__":
    main()
