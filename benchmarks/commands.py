"""Commands that look at results: seconds of each on the clock, start-up included.

    python benchmarks/commands.py                 examples/learning.toml is run first, about two minutes
    python benchmarks/commands.py --into runs     with the store of an earlier run

The plan has 74 jobs. Each command is a process of its own and runs three times.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from speed import record

ROOT = Path(__file__).resolve().parents[1]
PLAN = ROOT / "examples" / "learning.toml"
RULES = ROOT / "examples" / "gate.toml"
TIMES = 3


def main() -> None:
    """Time the commands and record a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path)
    into = parser.parse_args().into
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = into.resolve() if into else folder / "runs"
        measure(folder, "`status` of 74 jobs, none done", "status", PLAN, "--into", folder / "empty")
        shoal(folder, "run", PLAN, "--into", store)  # a finished store takes a second
        a, b, *_ = sorted(path.name for path in (store / "jobs").iterdir())
        jobs = len(list((store / "jobs").iterdir()))
        measure(folder, f"`status` of {jobs} jobs, all done", "status", PLAN, "--into", store)
        measure(folder, f"`check` of {jobs} jobs", "check", PLAN)
        example = ("try", "behaviour", "predictions:example", "--suite", "sentiment")
        measure(folder, "`try` of the embedded example", *example)
        measure(folder, "`show` of a finished job", "show", a, "--into", store)
        measure(folder, "`gate` of a finished job", "gate", a, "--rules", RULES, "--into", store)
        measure(folder, "`compare` of two finished jobs", "compare", a, b, "--into", store)
        page = ("--out", "plan.html", "--into", store)
        measure(folder, f"`report` of {jobs} jobs", "report", PLAN, *page)


def measure(folder: Path, work: str, *arguments: object) -> None:
    """Run a command three times and record its seconds."""
    record("commands", work, [shoal(folder, *arguments) for _ in range(TIMES)])


def shoal(folder: Path, *arguments: object) -> float:
    """Run a command and return the seconds it took; a gate that is not met (3) is a result."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "shoal", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
