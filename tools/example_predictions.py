"""Write the predictions that ship with the package as `predictions:example`.

    python tools/example_predictions.py

The model is the simplest that can be called one: naive Bayes over words, trained on the package's own i.i.d.
sentences. It is right on those and blind to everything that word counts cannot see, which the suite then shows.
"""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np

from shoal.data.grammar import Row, make_rows
from shoal.protocols.behaviour.build import load_suite

OUT = Path(__file__).parents[1] / "src" / "shoal" / "models" / "example.jsonl.gz"


class NaiveBayes:
    """Word counts per class, add-one smoothed."""

    def __init__(self, rows: list[Row]) -> None:
        counts = {label: Counter[str]() for label in ("negative", "positive")}
        for row in rows:
            counts[row.label].update(words(row.texts[0]))
        known = sorted(set().union(*counts.values()))
        total = {label: sum(count.values()) + len(known) for label, count in counts.items()}
        self.log_odds = {
            word: float(
                np.log((counts["positive"][word] + 1) / total["positive"])
                - np.log((counts["negative"][word] + 1) / total["negative"])
            )
            for word in known
        }

    def positive(self, text: str) -> float:
        """The probability of positive; 0.5 where no word is known."""
        return float(1 / (1 + np.exp(-sum(self.log_odds.get(word, 0.0) for word in words(text)))))


def words(text: str) -> list[str]:
    """Lower-case words."""
    return re.findall(r"[a-z']+", text.lower())


def predictions() -> bytes:
    """The file's content: the same bytes on every machine."""
    model = NaiveBayes(make_rows("sentiment", "train"))
    lines = [json.dumps({"label_names": ["negative", "positive"]})]
    for case in load_suite("sentiment").cases:
        name = case.groups["functionality"]
        for number, (text,) in enumerate(case.examples):
            p = round(model.positive(text), 6)
            row = {"functionality": name, "case_id": case.id[len(name) + 1 :], "example_idx": number}
            lines.append(json.dumps({**row, "pred": int(p > 0.5), "conf": [round(1 - p, 6), p]}))
    return gzip.compress("\n".join(lines).encode() + b"\n", mtime=0)


def accuracy() -> float:
    """On the i.i.d. test sentences."""
    model = NaiveBayes(make_rows("sentiment", "train"))
    rows = make_rows("sentiment", "test")
    return float(np.mean([(model.positive(row.texts[0]) > 0.5) == (row.label == "positive") for row in rows]))


if __name__ == "__main__":
    OUT.write_bytes(predictions())
    print(f"{OUT.name}: {OUT.stat().st_size:,} bytes; i.i.d. accuracy {accuracy():.3f}")
