"""A million stored predictions: the pass rate of each functionality, by shoal and by duckdb, polars or pandas.

    python benchmarks/million.py [--cases 1000000] [--repeats 3]

The suite and both predictions files are JSON Lines. Every way is a process of its own, start-up included. Seconds are
processor time, which other programs disturb less. By hand, the files are trusted: no ids, labels or probabilities are
checked. Those of the libraries that are installed take part.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from many_cases import LABELS, TEMPLATES, TOPICS, VERB, write_predictions
from numpy.typing import NDArray
from speed import record

DUCKDB = """
import duckdb
duckdb.sql('''
select functionality, avg((pred = list_position(['negative', 'neutral', 'positive'], labels) - 1)::int)
from (select * from read_json_auto('suite.jsonl') where case_id is not null) as suite
join read_json_auto('a.jsonl') as answers using (functionality, case_id) group by 1
''').fetchall()
"""
POLARS = """
import polars as pl
suite, answers = pl.read_ndjson("suite.jsonl", infer_schema_length=None), pl.read_ndjson("a.jsonl")
codes = {"negative": 0, "neutral": 1, "positive": 2}
rows = suite.join(answers, on=["functionality", "case_id"])
right = pl.col("labels").replace_strict(codes) == pl.col("pred")
rows.group_by("functionality").agg(right.mean())
"""
PANDAS = """
import pandas as pd
suite, answers = pd.read_json("suite.jsonl", lines=True)[1:], pd.read_json("a.jsonl", lines=True)
codes = {"negative": 0, "neutral": 1, "positive": 2}
suite["case_id"] = suite["case_id"].astype(int)
rows = suite.merge(answers, on=["functionality", "case_id"])
(rows["labels"].map(codes) == rows["pred"]).groupby(rows["functionality"]).mean()
"""
BY_HAND = {"duckdb": DUCKDB, "polars": POLARS, "pandas": PANDAS}
PEAK = """
lines = open("/proc/self/status").read().splitlines()
open("peak", "w").write(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def write_suite(path: Path, gold: NDArray[np.int64]) -> None:
    """Write a case per label, in 100 functionalities of 5,000 templates."""
    with path.open("w") as stream:
        stream.write(json.dumps({"suite": "million", "label_names": LABELS}) + "\n")
        for number, label in enumerate(gold.tolist()):
            text = f"Sentence {number} says something about the film that the audience saw on day {number % 365}."
            row = {
                "functionality": f"topic {number % TOPICS}",
                "capability": f"area {number % 10}",
                "type": "MFT",
            }
            row |= {
                "case_id": str(number),
                "labels": LABELS[label],
                "cluster": f"template {number % TEMPLATES}",
            }
            stream.write(json.dumps({**row, "examples": [{"text": text}]}) + "\n")


def measured(folder: Path, code: str, *arguments: str) -> tuple[float, int]:
    """Return the processor time of a program, and its peak memory in MB."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(arguments) or code} failed")
    return usage.ru_utime + usage.ru_stime, int((folder / "peak").read_text()) // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    gold = rng.integers(0, len(LABELS), given.cases)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder / "suite.jsonl", gold)
        for side, accuracy in (("a", 0.9), ("b", 0.88)):
            write_predictions(folder / f"{side}.jsonl", gold, accuracy, rng)
        libraries = [library for library in BY_HAND if find_spec(library)]
        ways = {library: [measured(folder, BY_HAND[library] + PEAK)] for library in libraries}
        one = ["try", "behaviour", "predictions:a.jsonl", "--suite=suite.jsonl", "--json"]
        two = ["compare", "predictions:a.jsonl", "predictions:b.jsonl", "--suite=suite.jsonl", "--json"]
        tried, compared = [], []
        for repeat in range(given.repeats):
            for library in libraries if repeat else ():
                ways[library].append(measured(folder, BY_HAND[library] + PEAK))
            tried.append(measured(folder, VERB, *one))
            compared.append(measured(folder, VERB, *two))
        best = min(libraries, key=lambda library: min(ways[library]), default="")
        for library, times in ways.items():
            print(f"{library}: {min(times)[0]:.2f} s, {max(peak for _, peak in times)} MB")
        hand = [seconds for seconds, _ in ways.get(best, ())]
        works = {"pass rates": (tried, best, hand), "comparison of two models": (compared, "", ())}
        for work, (times, by_hand, others) in works.items():
            record(
                "million",
                f"{given.cases:,} stored predictions, {work}",
                [seconds for seconds, _ in times],
                by_hand,
                others,
                f"{max(peak for _, peak in times)} MB",
                f"{best} {version(best)}" if best else "",
            )


if __name__ == "__main__":
    main()
