"""Commands that look at results: seconds of each, start-up included.

python benchmarks/commands.py [--jobs 74] [--repeats 3]

The jobs are predictions files of the embedded suite, one model each; `status` is timed before and after they are run.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from speed import record

import shoal

EXAMPLE = Path(shoal.__file__).parent / "models" / "example.jsonl.gz"


def timed(folder: Path, repeats: int, *arguments: str) -> list[float]:
    """Return the seconds of a command, as often."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        command = [sys.executable, "-m", "shoal", *arguments]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=74)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(given.jobs):
            shutil.copy(EXAMPLE, folder / f"model-{number}.jsonl.gz")
        models = [f"predictions:model-{number}.jsonl.gz" for number in range(given.jobs)]
        (folder / "plan.toml").write_text(f'models = {models}\n[behaviour]\nsuite = "sentiment"\n')
        example = ("try", "behaviour", "predictions:example", "--suite", "sentiment")
        record("commands", "`try` of the embedded example", timed(folder, given.repeats, *example))
        jobs = f"{given.jobs} jobs"
        record("commands", f"`check` of {jobs}", timed(folder, given.repeats, "check", "plan.toml"))
        record(
            "commands", f"`status` of {jobs}, none done", timed(folder, given.repeats, "status", "plan.toml")
        )
        timed(folder, 1, "run", "plan.toml")
        record(
            "commands", f"`status` of {jobs}, all done", timed(folder, given.repeats, "status", "plan.toml")
        )


if __name__ == "__main__":
    main()
