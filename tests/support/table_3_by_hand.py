"""Table 3 of a plan of several tasks from its files alone, without shoal: `python -I table_3_by_hand.py PLAN`.

For suites of minimum functionality tests, stored predictions and `profile = "reference"`.
"""

import csv
import json
import math
import sys
import tomllib
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np


def tested(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the test quarter of each functionality (`docs/method/beluga.md` 1.2)."""
    chosen = []
    for name in {row["functionality"] for row in rows}:
        own = sorted((row for row in rows if row["functionality"] == name), key=lambda row: row["case_id"])
        held = np.random.RandomState(123).permutation(len(own))[: math.ceil(len(own) / 2)]
        order = np.random.RandomState(123).permutation(len(held))
        chosen += [own[place] for place in held[order][: math.ceil(len(held) / 2)]]
    return chosen


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def suite_score(suite: Path, answers: Path) -> float:
    said = {(row["functionality"], row["case_id"]): row["pred"] for row in lines(answers)}
    rates: dict[str, list[bool]] = {}
    for row in tested([row for row in lines(suite) if "functionality" in row]):
        right = said[row["functionality"], row["case_id"]] == row["labels"]
        rates.setdefault(row["functionality"], []).append(right)
    return fmean(map(fmean, rates.values()))


def iid_score(test: Path, answers: Path, names: list[str]) -> float:
    with test.open() as stream:
        right = [names[int(row["label"])] for row in csv.DictReader(stream, delimiter="\t")]
    with answers.open() as stream:
        said = {int(row["id"]): row["label"] for row in csv.DictReader(stream)}
    return fmean(said[number] == label for number, label in enumerate(right))


def table_3(plan: Path) -> dict[str, Any]:
    folder, table = plan.parent, tomllib.loads(plan.read_text())["learning"]
    shared = {name: value for name, value in table.items() if name != "tasks"}
    rows: dict[str, Any] = {"iid": {}, "suite": {}}
    g: dict[str, list[float]] = {"iid": [], "suite": []}
    for task, own in table["tasks"].items():
        settings = shared | own
        for name, file in settings["predictions"].items():
            row = "iid" if name == "iid" else "suite"
            answers = settings["iid_predictions"]["iid" if name == "iid" else "seen"]
            s_iid = iid_score(folder / settings["iid_test"], folder / answers, settings["iid_labels"])
            s_t = suite_score(folder / settings["suite"], folder / file)
            score = 2 * s_t * s_iid / (s_t + s_iid)
            rows[row] |= {f"{task} i.i.d.": s_iid, f"{task} {name}": score}
            g[row] += [score]
    columns = len(g["suite"])
    rows["iid"]["Avg"] = fmean(g["iid"] * (columns // len(g["iid"])))
    rows["suite"]["Avg"] = fmean(g["suite"])
    return rows


if __name__ == "__main__":
    print(json.dumps(table_3(Path(sys.argv[1]))))
