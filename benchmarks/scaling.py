"""What it costs to give jobs away, what it brings, and what survives.

    python benchmarks/scaling.py overhead [--jobs 40]     what a job costs beside itself: here, processes, Ray;
                                  [--seconds 0 1]         jobs that take no time, and a second each
    python benchmarks/scaling.py speed-up [--trainings 8] trainings by one worker and by two
    python benchmarks/scaling.py growth                   check and status of 100, 1,000 and 10,000 jobs, and
                                                          status of 100 and 1,000 that are done, each of a model
    python benchmarks/scaling.py kills [--kills 20]       nodes and drivers killed at random moments, files compared
    python benchmarks/scaling.py memory                   a training step in pieces: memory and time
    python benchmarks/scaling.py middle                   what it costs to keep a training in its middle

`growth` prints processor time, the others time by the clock: on a busy machine only the ratios within one run say
something. Growth with the number of cases is in `benchmarks/many_cases.py`.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]
QUICK = """
import time

def answer(texts):
    time.sleep({seconds} if len(texts) == 40 else 0)  # not when 32 are asked to see whether it can be trusted
    return [[0.25, 0.75]] * len(texts)

answer.classes_ = ("no", "yes")
"""
SUITE = '{"suite": "s", "task": "t", "label_names": ["no", "yes"]}\n'
CASE = (
    '{"case_id": "%d", "functionality": "f", "capability": "c", "type": "MFT", '
    '"examples": ["text %d"], "labels": ["no"]}\n'
)
TRAINING = """
models = ["tiny:sentiment"]
seeds = {seeds}
[learning]
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
[learning]
suite = "sentiment"
limit = 40
iid = "sentiment"
iid_limit = 40
train.on = ["iid>suite"]
train.method = ["vanilla", "l2", "dropout", "lp", "lp-ft", "irm", "group-dro", "fish"]
hold_out = ["none"]
"""
PLANS = {
    # Shared stages, folds, a frozen encoder; every training is kept in its middle.
    "learning": """
models = ["tiny:sentiment"]
[resources]
checkpoints = 0.001
memory = "50 MB"
[learning]
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
""",
    # Checkpoints made here; another for every seed.
    "bias": """
models = ["tiny:masked"]
seeds = [0, 1, 2]
[resources]
checkpoints = 0.001
[bias]
diagnostic = ["crows", "seat"]
data = "example"
pretrain.text = "text.txt"
pretrain.epochs = 3
pretrain.width = 32
pretrain.vocabulary = 1000
""",
    # A causal model, asked in words; its folder and its prompt travel from the plan's own.
    "prompted": """
models = ["hf:models/small & odd #1 ü?prompt=my prompt.toml"]
[behaviour]
suite = "sentiment"
limit = 400
resamples = 50
""",
}
PROMPT = """
task = "text"
user = "Review: {{ text }} Sentiment:"
[labels]
negative = "bad"
neutral = "so"
positive = "good"
"""
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
FAIR = {"OMP_NUM_THREADS": "1", "RAY_worker_niceness": "0"}
"""All executors alike: on a busy machine Ray's own niceness of 15 means never."""
BUSY = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "120",
    "RAY_worker_niceness": "0",
}


def shoal(*words: object, folder: Path) -> float:
    """Seconds by the clock that a command takes."""
    start = time.perf_counter()
    done = subprocess.run(
        [*SHOAL, *map(str, words)],
        cwd=folder,
        env={**FAIR, **os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - start


def overhead(jobs: int, lengths: Sequence[float]) -> None:
    """Jobs that do nothing but wait, by executor, one at a time: what each costs once what starts up is over.

    It is the time between the end of one of the first jobs and of the last, by how old their files are.
    """
    few = max(2, jobs // 5)
    with tempfile.TemporaryDirectory() as name:
        for seconds in lengths:
            print(f"{jobs} jobs of {seconds:g} s   the whole run   a job, once warm   beside here")
            folder, plain = Path(name) / f"{seconds:g}", 0.0
            _lay_out_waiting(folder, jobs, seconds)
            for executor in ("here", "processes", "ray:local"):
                whole = shoal("run", "plan.toml", "--into", executor, "--on", executor, folder=folder)
                done = sorted(
                    path.stat().st_mtime for path in (folder / executor).glob("jobs/*/measures.json")
                )
                each = (done[-1] - done[few - 1]) / (jobs - few)
                plain = each if executor == "here" else plain
                beside = f"{1000 * (each - plain):+6.0f} ms, {100 * (each / plain - 1):+.1f} %"
                print(f"{executor:<15} {whole:>11.1f} s {1000 * each:>14.0f} ms   {beside}", flush=True)


def _lay_out_waiting(folder: Path, jobs: int, seconds: float) -> None:
    """A plan of jobs that wait so long, each of which takes all cores."""
    folder.mkdir()
    (folder / "quick.py").write_text(QUICK.format(seconds=seconds))
    (folder / "suite.jsonl").write_text(SUITE + "".join(CASE % (n, n) for n in range(40)))
    models = [f"python:quick:answer?version={number}" for number in range(jobs)]
    (folder / "plan.toml").write_text(
        f'models = {models}\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 50\n'
        f"[resources]\ncores = {os.cpu_count()}\n"
    )


def speed_up(trainings: int) -> None:
    """Trainings by one worker and by two; each has one thread. Starting up is left out: two seeds more than none."""
    with tempfile.TemporaryDirectory() as name:
        folder, alone = Path(name), 0.0
        for label, words in {
            "here": ("--on", "here"),
            "2 processes": ("--workers", 2),
            "Ray, 2 tasks": ("--on", "ray:local", "--workers", 2),
        }.items():
            seconds = []
            for count in (2, trainings // 2 + 2):  # two trainings a seed
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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for verb in ("check", "status"):
            rows = []
            for count in (100, 1_000, 10_000):
                (folder / "plan.toml").write_text(MANY.format(seeds=list(range(count // 8))))
                rows.append((count // 8 * 8, _processor_seconds(verb, folder)))
            _print_growth(verb, rows)
        rows = []
        for count in (100, 1_000):
            _lay_out_waiting(folder / str(count), count, 0)
            shoal("run", "plan.toml", folder=folder / str(count))
            rows.append((count, _processor_seconds("status", folder / str(count))))
        _print_growth("status, all done", rows)


VERB = """
import contextlib, io, resource, sys
from shoal.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
"""


def _processor_seconds(verb: str, folder: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-c", VERB, verb, "plan.toml"],
        cwd=folder,
        env={**FAIR, **os.environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def _print_growth(what: str, rows: Sequence[tuple[int, float]]) -> None:
    (few, first), *_, (most, last) = rows
    each = 1000 * (last - first) / (most - few)
    print(
        f"{what:<16}", *(f"{n:,} jobs {s:.1f} s;" for n, s in rows), f"{each:.2f} ms a job more", flush=True
    )


def lay_out(plan: str, folder: Path) -> None:
    """A plan of that name in a folder, with all that it names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.toml").write_text(PLANS[plan])
    if plan == "bias":
        things = [f"the {who} {does} {n} letters" for who in ("nurse", "pilot") for does in ("writes", "reads")
                  for n in range(150)]  # fmt: skip
        (folder / "text.txt").write_text("\n".join(things))
    if plan == "prompted":
        _lay_out_prompted(folder)


def _lay_out_prompted(folder: Path) -> None:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    from shoal import load_model

    place = folder / "models" / "small & odd #1 ü"
    tokenizer = load_model("tiny:sentiment").tokenizer
    tokenizer.save_pretrained(place)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"n_embd": 64, "n_layer": 2, "n_head": 2, "n_positions": 256}
    sizes |= {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes)).save_pretrained(place)
    (folder / "my prompt.toml").write_text(PROMPT)


class Cluster:
    """Three nodes of one core on this machine."""

    def __init__(self) -> None:
        os.environ |= BUSY
        from ray.cluster_utils import Cluster as Nodes

        self.nodes: Any = Nodes(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        for _ in range(2):
            self.add()
        self.address: str = self.nodes.address

    def add(self) -> None:
        """One more."""
        self.nodes.add_node(**NODE)

    def lose(self, rng: random.Random) -> None:
        """One less, as when a machine is switched off; never the first, which is the cluster itself."""
        self.nodes.remove_node(rng.choice(list(self.nodes.worker_nodes)), allow_graceful=False)

    def objects(self) -> str:
        """What its object stores hold, in Ray's words."""
        from ray._private.internal_api import (
            get_memory_info_reply,
            get_state_from_address,
            store_stats_summary,
        )

        first, state = self.nodes.head_node, get_state_from_address(self.address)
        reply = get_memory_info_reply(state, first.node_ip_address, first.node_manager_port)
        summary: str = store_stats_summary(reply)
        return next(line for line in summary.splitlines() if "objects" in line)

    def shutdown(self) -> None:
        """All of it."""
        self.nodes.shutdown()


def start(folder: Path, store: str, *words: str) -> subprocess.Popen[str]:
    """`shoal run` of the plan in a folder."""
    return subprocess.Popen(
        [*SHOAL, "run", "plan.toml", "--into", store, *words],
        cwd=folder,
        env={"OMP_NUM_THREADS": "1", **os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def kills(wanted: int, seed: int, plans: Sequence[str]) -> None:
    """Whole runs of plans on three nodes, of which one, or the driver, is killed now and then: the files of `here`."""
    cluster = Cluster()
    try:
        with tempfile.TemporaryDirectory() as name:
            killed = kill_until(wanted, plans, Path(name), cluster, random.Random(seed))
    finally:
        cluster.shutdown()
    left = left_behind()
    print(f"{killed['nodes']} nodes, {killed['drivers']} drivers; left behind: {left or 'nothing'}")


def kill_until(
    wanted: int, plans: Sequence[str], folder: Path, cluster: Cluster, rng: random.Random
) -> Counter[str]:
    """Disturbed runs of the plans in turn until so many nodes were killed; ends where a file differs from `here`."""
    for plan in plans:
        lay_out(plan, folder / plan)
        shoal("run", "plan.toml", "--into", "here", folder=folder / plan)
    killed, runs = Counter[str](), 0
    while killed["nodes"] < wanted:
        plan = plans[runs % len(plans)]
        runs += 1
        store = folder / plan / f"there{runs}"
        killed += disturbed(folder / plan, store.name, cluster, rng)
        same, objects = contents(store) == contents(folder / plan / "here"), cluster.objects()
        print(
            f"run {runs}, {plan}: {killed['nodes']} nodes and {killed['drivers']} drivers killed so far, "
            f"the same files: {same}; {objects}",
            flush=True,
        )
        if not same or " 0 objects" not in objects:
            sys.exit(f"{store}: the files differ from {store.with_name('here')}, or objects are left")
    return killed


def disturbed(folder: Path, store: str, cluster: Cluster, rng: random.Random) -> Counter[str]:
    """One run during which nodes, and now and then the driver, are killed. A job that was done stays as it was."""
    on = ("--on", f"ray:{cluster.address}")
    process, killed, done = start(folder, store, *on), Counter[str](), dict[Path, int]()
    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(1, 12))
        done = refuse_again(folder / store, done)
        if process.poll() is not None:
            break
        if rng.random() < 0.2:
            process.kill()
            process.communicate()
            killed["drivers"] += 1
            process = start(folder, store, *on)
        else:
            cluster.lose(rng)
            cluster.add()
            killed["nodes"] += 1
    out, _ = process.communicate()
    if process.returncode:
        sys.exit(f"the run ended with {process.returncode}\n{out}")
    refuse_again(folder / store, done)
    return killed


def refuse_again(store: Path, done: dict[Path, int]) -> dict[Path, int]:
    """The jobs that are done and when; those that were done before must be as they were."""
    now = {path: path.stat().st_mtime_ns for path in store.glob("jobs/*/answers.jsonl")}
    again = [path for path, age in done.items() if now.get(path) != age]
    if again:
        sys.exit(f"done again: {again}")
    return now


def left_behind() -> list[Path]:
    """Folders of workers that are no more; those of another run that goes on beside this one do not count."""
    folders = Path(tempfile.gettempdir()).glob("shoal-ray-*")
    return [folder for folder in folders if not Path("/proc", folder.name.rpartition("-")[2]).exists()]


# A training: its memory, its middle

STEP = """
import resource, sys, time
import torch
from transformers import BertConfig, BertForSequenceClassification
from shoal.training.learner import Stepper
from shoal.training.config import TrainConfig
torch.set_num_threads(1)
dtype, rows = sys.argv[1], 32
torch.manual_seed(0)
sizes = dict(hidden_size=256, num_hidden_layers=6, num_attention_heads=4, intermediate_size=1024)
network = BertForSequenceClassification(BertConfig(vocab_size=2000, **sizes)).train()
def forward(inputs):
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
        return network(**inputs).logits.float()
stepper = Stepper(list(network.parameters()), TrainConfig(1e-4, rows, 1), 10)
inputs = {"input_ids": torch.randint(2000, (rows, 128)), "attention_mask": torch.ones(rows, 128, dtype=torch.long)}
def step():
    logits = forward(inputs)
    stepper.step(torch.nn.functional.cross_entropy(logits, torch.zeros(rows, dtype=torch.long)))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
step()
start = time.perf_counter()
step(); step()
print((time.perf_counter() - start) / 2, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
"""A network of 6 layers, a batch of 32 texts of 128 tokens: seconds a step, and kilobytes beside what was there."""


def memory() -> None:
    """Print time and memory of a training step in float32 and in bfloat16, on one core."""
    for dtype in ("float32", "bfloat16"):
        done = subprocess.run([sys.executable, "-c", STEP, dtype], capture_output=True, text=True, check=True)
        seconds, kilobytes = map(float, done.stdout.split()[-2:])
        print(
            f"{dtype:<9} {seconds:6.2f} s a step, {kilobytes / 1000:6.0f} MB beside the weights", flush=True
        )


def middle() -> None:
    """A training of 440 steps that is kept every so often, and one that is not; and what going on saves."""
    from shoal import load_model
    from shoal.training.checkpointing import Keeper, kept_midway
    from shoal.training.config import TrainConfig
    from shoal.training.environments import Environment, Labelled
    from shoal.training.loop import train
    from shoal.training.methods import make_method

    items = [
        Labelled((f"this film was {word} {n}",), target)
        for n in range(500)
        for word, target in (("good", (0.0, 1.0)), ("bad", (1.0, 0.0)))
    ]

    def seconds(keeper: Any) -> float:
        model = load_model("tiny:sentiment").with_fresh_head(("negative", "positive"), 0)
        start = time.perf_counter()
        with kept_midway(keeper):
            train(
                model, [Environment("a", "iid", items)], make_method("vanilla"), TrainConfig(5e-4, 16, 7), 0
            )
        return time.perf_counter() - start

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "middle.safetensors"
        seconds(None)
        plain = [seconds(None) for _ in range(3)]
        kept = [seconds(Keeper(path, every=1e-9)) for _ in range(3)]
        size = path.stat().st_size / 1e6
        print(
            f"not kept {min(plain):.1f} s; kept as often as allowed {min(kept):.1f} s; {size:.1f} MB each time"
        )


def contents(store: Path) -> dict[str, bytes]:
    """Every file of a store but the locks."""
    kept = [path for path in store.rglob("*") if path.is_file() and "locks" not in path.parts]
    return {str(path.relative_to(store)): path.read_bytes() for path in kept}


def main() -> None:
    """One of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["overhead", "speed-up", "growth", "kills", "memory", "middle"])
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--trainings", type=int, default=8)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plans", nargs="+", choices=list(PLANS), default=list(PLANS))
    options = parser.parse_args()
    match options.what:
        case "overhead":
            overhead(options.jobs, options.seconds)
        case "speed-up":
            speed_up(options.trainings)
        case "growth":
            growth()
        case "kills":
            kills(options.kills, options.seed, options.plans)
        case "memory":
            memory()
        case "middle":
            middle()


if __name__ == "__main__":
    main()
