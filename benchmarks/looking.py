"""What it takes to look at a plan of 74 jobs that are done, and to try the embedded example.

    python benchmarks/looking.py                 examples/learning.toml is run first, about two minutes
    python benchmarks/looking.py --into runs     with the store of an earlier run

Each command is a process of its own, start-up included: the least of three times on the clock, and of processor time.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAN = ROOT / "examples" / "learning.toml"
SHOAL = [sys.executable, "-m", "shoal"]
TIMES = 3


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path)
    into = parser.parse_args().into
    with tempfile.TemporaryDirectory() as folder:
        store = into.resolve() if into else Path(folder) / "runs"
        shoal("run", PLAN, "--into", store, folder=folder)  # a store that is done takes a second
        a, b, *_ = sorted(path.name for path in (store / "jobs").iterdir())
        rules = ROOT / "examples" / "gate.toml"
        commands: dict[str, list[object]] = {
            "try behaviour predictions:example": ["--suite", "sentiment"],
            f"status {PLAN}": ["--into", store],
            f"show {a}": ["--into", store],
            f"show {a} --failing": ["--into", store],
            f"gate {a}": ["--rules", rules, "--into", store],
            f"compare {a} {b}": ["--into", store],
            f"report {a}": ["--out", "a.html", "--into", store],
            f"report {PLAN}": ["--out", "plan.html", "--into", store],
            f"check {PLAN}": [],
        }
        for verb, more in commands.items():
            passed, used = zip(
                *[shoal(*verb.split(), *more, folder=folder) for _ in range(TIMES)], strict=True
            )
            name = verb.replace(str(PLAN), PLAN.name).replace(a, "JOB").replace(b, "JOB")
            print(f"{name:<36} {min(passed):>5.2f} s {min(used):>5.2f} s of a processor")


def shoal(*arguments: object, folder: str) -> tuple[float, float]:
    """Run a command; return the time on the clock and processor time."""
    before, start = processor_time(), time.perf_counter()
    command = [*SHOAL, *map(str, arguments)]
    subprocess.run(
        command, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False, capture_output=True
    )
    return time.perf_counter() - start, processor_time() - before


def processor_time() -> float:
    """Return the seconds of a processor that ended commands have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
