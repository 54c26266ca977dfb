"""How long scoring the released SENT suite takes: 178,578 examples, from a predictions file to the printed table.

    python benchmarks/scoring.py DATA
    python benchmarks/scoring.py --cases 1000000     a made-up suite through every verb instead (`many_cases.py`)

Prints a table. The whole path is timed in a process of its own, start-up included.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from many_cases import print_many_cases

from shoal import Answers, read_suite
from shoal.protocols.behaviour.judge import judge
from shoal.protocols.behaviour.settings import Settings


def write_predictions(path: Path, suite_file: Path, rng: np.random.Generator) -> int:
    """Made-up probabilities for every example of the suite."""
    suite = read_suite(suite_file)
    lines = 0
    with path.open("w") as stream:
        for case in suite.cases:
            name = case.groups["functionality"]
            for number in range(len(case.examples)):
                p = rng.dirichlet([0.4, 0.2, 0.4])
                row = {"functionality": name, "case_id": case.id[len(name) + 1 :], "example_idx": number}
                stream.write(json.dumps({**row, "pred": int(p.argmax()), "conf": p.tolist()}) + "\n")
                lines += 1
    return lines


def whole_path(predictions: Path, suite_file: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of the command, from start to printed table."""
    command = [sys.executable, "-m", "shoal.cli", "try", "behaviour", f"predictions:{predictions}"]
    command = [sys.executable, "-c", "from shoal.cli import main; main()", *command[3:]]
    start = time.perf_counter()
    subprocess.run(
        [*command, "--set", f"suite={suite_file}", "--set", "profile=reference"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def scoring_alone(suite_file: Path, rng: np.random.Generator) -> float:
    """Seconds from answers in memory to outcomes; the best of five."""
    suite = read_suite(suite_file)
    n = sum(len(case.examples) for case in suite.cases)
    vectors = rng.dirichlet([0.4, 0.2, 0.4], n)
    answers = Answers(suite.labels or (), vectors.argmax(axis=1), vectors)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        judge(Settings(profile="reference"), suite.cases, answers)
        times.append(time.perf_counter() - start)
    return min(times)


def start_up() -> float:
    """Seconds for `shoal --help`; the best of five."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "from shoal.cli import main; main()", "--help"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="the folder of public data")
    parser.add_argument("--cases", type=int, help="take a made-up suite of so many cases through every verb")
    given = parser.parse_args()
    if given.cases:
        print_many_cases(given.cases)
        return
    if given.data is None:
        parser.error("the folder of public data, or --cases")
    data = given.data
    suite_file = data / "checklist" / "sentiment.jsonl.gz"
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder) / "predictions.jsonl"
        lines = write_predictions(predictions, suite_file, rng)
        runs = [whole_path(predictions, suite_file) for _ in range(3)]
    rows = [
        (f"{lines:,} predictions to printed table", f"{min(s for s, _ in runs):.2f} s", "4 s"),
        ("  peak memory", f"{max(m for _, m in runs):.0f} MB", "500 MB"),
        ("answers in memory to outcomes", f"{scoring_alone(suite_file, rng):.3f} s", "0.25 s"),
        ("shoal --help", f"{start_up():.2f} s", "0.3 s"),
    ]
    for name, measured, wanted in rows:
        print(f"{name:<46} {measured:>10}   at most {wanted}")


if __name__ == "__main__":
    main()
