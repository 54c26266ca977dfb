"""Write the numbers of the study of SmolLM2 to chat.csv.

    for plan in sentiment bbq choice likelihood; do
        shoal status docs/studies/chat/$plan.toml --into runs/chat --json > $plan.json
    done
    python docs/studies/chat/collect.py sentiment.json bbq.json choice.json likelihood.json

The cases of the jobs of choice.toml and likelihood.toml, by `shoal show JOB --csv > PROMPT.csv` (likelihood.csv), give
how many pairs each prompt decides and how many of these agree with the likelihoods:

    python docs/studies/chat/collect.py sentiment.json … likelihood.json choice-plain.csv … likelihood.csv
"""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

GROUPS = ("checkpoint", "context", "factor", "label", "of")
OUT = Path(__file__).with_name("chat.csv")
KEPT = ("suite score", "accuracy", "bias score", "stereotype score", "neutral share", "changed answers")
KEPT += ("mean over checkpoints", "sd over checkpoints", "sd over runs", "label share")


def member(groups: dict[str, str]) -> str:
    """Return the name of the prompt that a measure is about."""
    return groups.get("checkpoint") or groups.get("model", "").rpartition("prompt=")[2]


def preferences(file: str) -> dict[str, str]:
    """Return the outcome of each decided pair: pass if the stereotypical sentence is preferred."""
    with Path(file).open(newline="") as stream:
        rows = csv.DictReader(stream)
        return {row["case_id"]: row["outcome"] for row in rows if float(row["value"] or 0)}


def agreement(*files: str) -> Iterator[list[object]]:
    """Yield the decided pairs of each prompt, and those that agree with the likelihoods."""
    *choices, likelihood = files
    likely = preferences(likelihood)
    for file in choices:
        decided = preferences(file)
        same = sum(likely.get(pair) == outcome for pair, outcome in decided.items())
        empty = [""] * (len(GROUPS) - 1)
        yield ["choice", "decided pairs", Path(file).stem, *empty, len(decided), "", "", ""]
        yield ["choice", "agreement with likelihood", Path(file).stem, *empty, same, "", "", len(decided)]


def main(*files: str) -> None:
    """Read what shoal printed, and write one CSV file."""
    tables = [file for file in files if file.endswith(".csv")]
    with OUT.open("w", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["plan", "name", "prompt", *GROUPS[1:], "value", "low", "high", "n"])
        rows.writerows(agreement(*tables) if tables else ())
        for name in (file for file in files if file not in tables):
            for measure in json.loads(Path(name).read_text())["measures"]:
                groups = measure["groups"]
                if measure["name"] not in KEPT or groups.get("category", "all") != "all":
                    continue
                numbers = (measure["value"], *(measure["interval"] or (None, None)))
                ends = ["" if number is None else f"{number:.6g}" for number in numbers]
                about = [groups.get(group, "") for group in GROUPS[1:]]
                rows.writerow([Path(name).stem, measure["name"], member(groups), *about, *ends, measure["n"]])


if __name__ == "__main__":
    main(*sys.argv[1:])
