"""How long scoring the released SENT suite takes: 178,578 examples, from a predictions file to the printed table.

    python benchmarks/scoring.py DATA
    python benchmarks/scoring.py --cases 1000000     a made-up suite through every verb instead (`many_cases.py`)

The whole path is timed in a process of its own, start-up included.
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
from speed import record

from shoal import read_suite


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


def start_up() -> float:
    """Seconds for `shoal --help`."""
    start = time.perf_counter()
    command = [sys.executable, "-c", "from shoal.cli import main; main()", "--help"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Measure and record the rows."""
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
    record(
        "scoring",
        f"{lines:,} stored predictions, scored and printed",
        [seconds for seconds, _ in runs],
        memory=f"{max(megabytes for _, megabytes in runs):.0f} MB",
    )
    help_times = [start_up() for _ in range(3)]
    record("scoring", "`shoal --help`", help_times)


if __name__ == "__main__":
    main()
