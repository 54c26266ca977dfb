"""What it costs to give jobs away, what it brings, and what survives.

    python benchmarks/scaling.py overhead [--jobs 40]     seconds a job beside the job itself: here, processes, Ray
    python benchmarks/scaling.py speed-up [--trainings 8] trainings by one worker and by two
    python benchmarks/scaling.py growth                   check and status of 100, 1,000 and 10,000 jobs
    python benchmarks/scaling.py kills [--kills 20]       nodes of a cluster killed at random moments, files compared

Overhead is the slope between few and many jobs, once everything is warm. `growth` prints processor time, the others
time by the clock: on a busy machine only the ratios within one run say something.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]
QUICK = "def answer(texts):\n    return [[0.25, 0.75]] * len(texts)\n\n\nanswer.classes_ = ('no', 'yes')\n"
SUITE = '{"suite": "s", "task": "t", "label_names": ["no", "yes"]}\n'
CASE = (
    '{"case_id": "%d", "functionality": "f", "capability": "c", "type": "MFT", '
    '"examples": ["text %d"], "labels": ["no"]}\n'
)
TRAINING = """
models = ["tiny:sentiment"]
seeds = {seeds}
[behaviour]
suite = "sentiment"
limit = 60
iid = "sentiment"
iid_limit = 200
hold_out = ["none"]
train.on = ["iid", "iid>suite"]
train.iid_epochs = 2
train.epochs = 2
resamples = 50
"""
MANY = """
models = ["tiny:sentiment"]
seeds = {seeds}
[behaviour]
suite = "sentiment"
limit = 40
iid = "sentiment"
iid_limit = 40
train.on = ["iid>suite"]
train.method = ["vanilla", "l2", "dropout", "lp", "lp-ft", "irm", "group-dro", "fish"]
hold_out = ["none"]
"""
LEARNING = """
models = ["tiny:sentiment"]
[behaviour]
suite = "sentiment"
limit = 60
iid = "sentiment"
iid_limit = 60
hold_out = ["test type"]
train.on = ["iid", "iid>suite"]
train.method = ["vanilla", "lp-ft"]
train.epochs = 0.3
train.iid_epochs = 0.3
resamples = 50
[bias]
diagnostic = "seat"
data = "example"
"""


def shoal(*words: object, folder: Path) -> float:
    """Seconds by the clock that a command takes."""
    start = time.perf_counter()
    done = subprocess.run(
        [*SHOAL, *map(str, words)],
        cwd=folder,
        env={"OMP_NUM_THREADS": "1", **os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - start


def overhead(jobs: int) -> None:
    """Seconds a job that does next to nothing, by executor."""
    few = max(2, jobs // 5)
    print(f"{'':<12} {few:>4} jobs {jobs:>4} jobs   a job   beside here")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "quick.py").write_text(QUICK)
        (folder / "suite.jsonl").write_text(SUITE + "".join(CASE % (n, n) for n in range(20)))
        plain = 0.0
        for executor in ("here", "processes", "ray:local"):
            seconds = []
            for count in (few, jobs):
                models = [f"python:quick:answer?version={number}" for number in range(count)]
                plan = folder / "plan.toml"
                plan.write_text(f'models = {models}\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 50\n')
                seconds.append(
                    shoal("run", plan, "--into", f"{executor}-{count}", "--on", executor, folder=folder)
                )
            each = (seconds[1] - seconds[0]) / (jobs - few)
            plain = each if executor == "here" else plain
            beside = f"{1000 * (each - plain):+6.0f} ms"
            print(f"{executor:<12} {seconds[0]:>8.1f}s {seconds[1]:>8.1f}s {1000 * each:>5.0f} ms   {beside}")


def speed_up(trainings: int) -> None:
    """Trainings by one worker and by two; each has one thread. Starting up is left out: it is measured with one job."""
    with tempfile.TemporaryDirectory() as name:
        folder, alone = Path(name), 0.0
        for label, words in {
            "here": ("--on", "here"),
            "2 processes": ("--workers", 2),
            "Ray, 2 tasks": ("--on", "ray:local", "--workers", 2),
        }.items():
            seconds = []
            for count in (1, trainings // 2 + 1):  # two trainings a seed
                plan = folder / "plan.toml"
                plan.write_text(TRAINING.format(seeds=list(range(count))))
                seconds.append(shoal("run", plan, "--into", f"{label}-{count}", *words, folder=folder))
            took = seconds[1] - seconds[0]
            alone = alone or took
            print(
                f"{label:<14} {trainings} trainings {took:6.1f} s, {alone / took:.2f} times as fast as here"
            )


def growth() -> None:
    """Processor seconds of check and status by the number of jobs."""
    code = (
        "import contextlib, io, resource, sys\nfrom shoal.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n    main(sys.argv[1:])\n"
        "print(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))\n"
    )
    with tempfile.TemporaryDirectory() as name:
        for verb in ("check", "status"):
            rows = []
            for count in (100, 1_000, 10_000):
                plan = Path(name) / "plan.toml"
                plan.write_text(MANY.format(seeds=list(range(count // 8))))
                done = subprocess.run(
                    [sys.executable, "-c", code, verb, str(plan)],
                    cwd=name,
                    env={"OMP_NUM_THREADS": "1", **os.environ},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                rows.append((count // 8 * 8, float(done.stdout.split()[-1])))
            (few, first), *_, (most, last) = rows
            each = 1000 * (last - first) / (most - few)
            print(f"{verb:<7}", *(f"{n:,} jobs {s:.1f} s;" for n, s in rows), f"{each:.2f} ms a job")


def kills(wanted: int, seed: int) -> None:
    """Whole runs of a plan on three nodes, of which one is killed now and then; every run gives the files of `here`."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    rng, small = random.Random(seed), {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster: Any = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(**small)
    killed = runs = 0
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "plan.toml").write_text(LEARNING)
            shoal("run", "plan.toml", "--into", "here", folder=folder)
            expected = contents(folder / "here")
            while killed < wanted:
                runs += 1
                killed += disturbed(folder, f"there{runs}", cluster, rng, small)
                same = contents(folder / f"there{runs}") == expected
                print(f"run {runs}: {killed} nodes killed so far, the same files: {same}", flush=True)
                if not same:
                    sys.exit(1)
    finally:
        cluster.shutdown()
    left = list(Path(tempfile.gettempdir()).glob("shoal-ray-*"))
    print(f"{killed} kills in {runs} runs; left behind: {left or 'nothing'}")


def disturbed(folder: Path, store: str, cluster: Any, rng: random.Random, node: dict[str, Any]) -> int:
    """One run during which nodes are killed; gives how many. A job that was done stays as it was."""
    process = subprocess.Popen(
        [*SHOAL, "run", "plan.toml", "--into", store, "--on", f"ray:{cluster.address}"],
        cwd=folder,
        env={"OMP_NUM_THREADS": "1", **os.environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    killed, done = 0, dict[Path, int]()
    while process.poll() is None:
        time.sleep(rng.uniform(1, 25))
        again = [path for path, age in done.items() if path.stat().st_mtime_ns != age]
        if again:
            sys.exit(f"done again: {again}")
        done |= {path: path.stat().st_mtime_ns for path in (folder / store).glob("jobs/*/answers.jsonl")}
        if process.poll() is None:
            cluster.remove_node(rng.choice(list(cluster.worker_nodes)), allow_graceful=False)
            cluster.add_node(**node)
            killed += 1
    if process.returncode:
        sys.exit(f"the run ended with {process.returncode}")
    return killed


def contents(store: Path) -> dict[str, bytes]:
    """Every file of a store but the locks."""
    kept = [path for path in store.rglob("*") if path.is_file() and "locks" not in path.parts]
    return {str(path.relative_to(store)): path.read_bytes() for path in kept}


def main() -> None:
    """One of the four."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["overhead", "speed-up", "growth", "kills"])
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--trainings", type=int, default=8)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    match options.what:
        case "overhead":
            overhead(options.jobs)
        case "speed-up":
            speed_up(options.trainings)
        case "growth":
            growth()
        case "kills":
            kills(options.kills, options.seed)


if __name__ == "__main__":
    main()
