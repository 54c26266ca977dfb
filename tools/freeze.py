"""Record what shoal computes, and compare a later tree with the record.

    python tools/freeze.py record DIR     run every job and write DIR/reference.json.gz
    python tools/freeze.py compare DIR    run every job again; exit code 1 if a number changed

`freeze/jobs.toml` lists the jobs, `freeze/*.toml` their plans, `freeze/renames.toml` what has a new name since the
record. A job is a list of shoal commands that share a folder. Sentences, names of jobs, settings, paths and versions
are not compared: each output becomes rows of (kind, model, name, groups) with their numbers and verdicts. A row that
is only on one side is counted as removed or added, and as renamed where its numbers agree with an added row.
"""

import argparse
import atexit
import csv
import gzip
import io
import json
import math
import multiprocessing
import os
import shlex
import shutil
import sys
import tempfile
import time
import tomllib
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "tools" / "freeze"
REFERENCE = "reference.json.gz"
DATA = Path(os.environ.get("SHOAL_DATA", ROOT.parent / "shared" / "data"))

WORDS = {"status", "verdict", "judge", "flags", "interval method", "outcome"}
"""Fields whose text is compared: verdicts and methods, not sentences."""
SKIPPED = {
    "note",
    "reason",
    "text",
    "weight",
    "name",
    "groups",
    "model",
    "kind",
    "rule",
    "measure",
    "detail",
    "said",
}
TIMINGS = ("seconds", "duration", "elapsed", "bytes", "memory")
CONTAINERS = {"facts", "basis"}
"""Where a measure keeps further numbers; left out of their names, so that a fact may become a field."""
LONGEST = 24
"""Lists of more numbers are kept as sums."""

Row = tuple[str, dict[str, Any]]
Step = dict[str, Any]


def field_name(path: Sequence[str]) -> str:
    return ".".join(part.replace("_", " ") for part in path if part not in CONTAINERS)


def plain(text: str) -> str:
    """Return a model or group without folders and options, which differ from machine to machine."""
    return Path(text.split("?")[0]).name if "/" in text else text


def rounded(number: float) -> float:
    return float(f"{number:.13g}")


def numbers(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every number, truth value and verdict in a JSON value, by its path."""
    name = field_name(path)
    if any(word in name for word in TIMINGS):
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in SKIPPED or len(path) > 1:
                yield from numbers(inner, (*path, str(key)))
    elif (
        isinstance(value, list)
        and len(value) > LONGEST
        and all(isinstance(cell, int | float) for cell in value)
    ):
        yield from numbers(
            {"length": len(value), "sum": float(sum(value)), "moment": moment(enumerate(value))}, path
        )
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from numbers(inner, (*path, str(place)))
    elif isinstance(value, str):
        if path and any(part.replace("_", " ") in WORDS for part in path):
            yield name, value
    elif isinstance(value, float):
        yield name, rounded(value)
    elif value is not None or path in (("value",), ("interval",)):
        yield name, value


def moment(pairs: Iterable[tuple[object, float]]) -> float:
    """Return a sum whose weights depend on each key: two values that change places change it."""
    return math.fsum(value * (zlib.crc32(str(key).encode()) % 1009) / 1009 for key, value in pairs)


def keyed(kind: str, model: str, name: str, groups: Mapping[str, Any]) -> str:
    return json.dumps([kind, model, name, sorted([key, plain(str(value))] for key, value in groups.items())])


def measure_row(kind: str, model: str, row: Mapping[str, Any]) -> Row:
    of = row.get("of") or next((row[box].get("of") for box in CONTAINERS if row.get(box)), None)
    name = str(row.get("name", row.get("measure")))
    if isinstance(of, str):
        name = f"{name} of {of}"
    return keyed(kind, model, name, row.get("groups", {})), dict(numbers(row))


def json_rows(output: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of one `--json` object."""
    jobs = output.get("jobs", [])
    models = {plain(str(job.get("model", ""))) for job in jobs}
    model = models.pop() if len(models) == 1 else ""
    yield (
        keyed("jobs", "", "count", {}),
        {"n": len(jobs), **Counter(f"state {job.get('state', '')}" for job in jobs)},
    )
    for row in output.get("measures", []):
        yield measure_row("measure", model, row)
    for row in output.get("verdicts", []):
        yield measure_row("verdict", model, row)
    for row in output.get("findings", []):
        yield (
            keyed("finding", model, row["kind"], row.get("groups", {})),
            dict(numbers({"disqualifies": row.get("disqualifies"), "facts": row.get("facts", {})})),
        )
    for job in jobs:
        for check in job.get("checks", []):
            yield keyed("check", plain(str(job.get("model", ""))), check["name"], {}), {"ok": check["ok"]}
    rest = {
        key: value
        for key, value in output.items()
        if key not in ("jobs", "measures", "verdicts", "findings", "name", "store", "plan")
    }
    for key, value in rest.items():
        yield keyed("other", model, key, {}), dict(numbers({key: value}))


def table_rows(kind: str, table: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Yield a summary of each column of a table: sums of numbers, a checksum of the rest, in any order of rows."""
    for column in dict.fromkeys(name for row in table for name in row):
        # An export's first line is about the file: its columns are not those of the rows.
        cells = [(str(next(iter(row.values()))), row[column]) for row in table if column in row]
        fields: dict[str, Any] = {"n": len(cells)}
        found = [(key, number) for key, cell in cells if (number := as_number(cell)) is not None]
        fields["numbers"] = len(found)
        if found:
            fields["sum"] = rounded(math.fsum(value for _, value in found))
            fields["moment"] = rounded(moment(found))
        elif column not in SKIPPED | {"error", "job", "about"}:
            content = sorted(
                json.dumps([key, cell], ensure_ascii=False, sort_keys=True) for key, cell in cells
            )
            fields["checksum"] = zlib.crc32("\n".join(content).encode("utf-8", "surrogatepass"))
        yield keyed(kind, "", column, {}), fields


def as_number(cell: Any) -> float | None:
    if isinstance(cell, bool) or cell in ("", None):
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def read_table(text: str, form: str) -> list[dict[str, Any]]:
    if form == "jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return list(csv.DictReader(io.StringIO(text)))


def store_rows(store: Path) -> Iterator[Row]:
    """Yield the measures, outcomes and answers that a store keeps of each job."""
    for folder in sorted(store.glob("jobs/*")):
        job = json.loads((folder / "job.json").read_text())
        model = plain(str(job.get("model", "")))
        if (folder / "measures.json").exists():
            kept = json.loads((folder / "measures.json").read_text())
            for row in kept.get("measures", []):
                yield measure_row("stored measure", model, row)
            outcomes = str(kept.get("outcomes", ""))
            yield (
                keyed("stored outcomes", model, "", {}),
                {
                    **Counter(outcomes),
                    "checksum": zlib.crc32(outcomes.encode()),
                },
            )
        yield from answer_rows(model, folder)


def answer_rows(model: str, folder: Path) -> Iterator[Row]:
    """Yield one row for the answers of a job: how many, and the sum of each number in them."""
    columns: dict[str, list[tuple[str, float]]] = defaultdict(list)
    labels: Counter[str] = Counter()
    count = 0
    for path in sorted(folder.glob("answers*.jsonl")):
        for line in path.read_text().splitlines():
            answer = json.loads(line)
            count += 1
            said = answer.get("data")
            if isinstance(said, Mapping) and isinstance(said.get("label"), str):
                labels[f"label {said['label']}"] += 1
            for name, value in numbers(said, ("data",)):
                if isinstance(value, int | float):
                    # Positions in long lists, such as vectors, share a column.
                    column = ".".join(part for part in name.split(".") if not part.isdigit())
                    columns[column].append((f"{answer.get('example_id')} {name}", float(value)))
    fields: dict[str, Any] = {"n": count, **labels}
    for column, cells in columns.items():
        fields[f"{column} sum"] = rounded(math.fsum(value for _, value in cells))
        fields[f"{column} moment"] = rounded(moment(cells))
    yield keyed("stored answers", model, "", {}), fields


@dataclass(frozen=True)
class Job:
    """Commands that run one after the other in one folder; `{0}` names the first job of the first command."""

    name: str
    commands: Mapping[str, str]
    torch: str

    @property
    def needs_data(self) -> bool:
        plans = [
            HOME / word.removeprefix("freeze/")
            for command in self.commands.values()
            for word in command.split()
        ]
        texts = [path.read_text() for path in plans if path.suffix == ".toml" and path.is_file()]
        return any("data/" in text for text in [*self.commands.values(), *texts])


def read_jobs(wanted: Sequence[str]) -> list[Job]:
    table = tomllib.loads((HOME / "jobs.toml").read_text())
    unknown = set(wanted) - set(table)
    if unknown:
        sys.exit(f"freeze: unknown job {', '.join(sorted(unknown))}\n  known: {', '.join(table)}")
    return [
        Job(name, job["commands"], job.get("torch", ""))
        for name, job in table.items()
        if not wanted or name in wanted
    ]


def run_job(job: Job, folder: Path) -> dict[str, Step]:
    """Run the commands of a job and return what each printed, wrote and kept, as rows."""
    folder.mkdir()
    for name, target in (("examples", ROOT / "examples"), ("freeze", HOME), ("data", DATA)):
        (folder / name).symlink_to(target)
    steps: dict[str, Step] = {}
    ids: list[str] = []
    for name, command in job.commands.items():
        words = [word.format(*ids) if "{" in word else word for word in shlex.split(command)]
        begun = time.monotonic()
        code = run_command(words, folder, name)
        text = (folder / f"{name}.json").read_text()
        rows = list(output_rows(words, text, folder))
        if not ids and text.startswith("{"):
            ids = [str(one["id"]) for one in json.loads(text).get("jobs", [])]
        seconds = round(time.monotonic() - begun, 1)
        steps[f"{job.name}/{name}"] = {"exit": code, "rows": rows, "torch": job.torch, "seconds": seconds}
    if (folder / "runs").is_dir():
        rows = list(store_rows(folder / "runs"))
        steps[f"{job.name}/store"] = {"exit": 0, "rows": rows, "torch": job.torch, "seconds": 0.0}
    return steps


def output_rows(words: Sequence[str], text: str, folder: Path) -> Iterator[Row]:
    if "--csv" in words or "--jsonl" in words:
        yield from table_rows("table", read_table(text, "csv" if "--csv" in words else "jsonl"))
    elif text.startswith("{"):
        yield from json_rows(json.loads(text))
    if "--out" in words:
        path = folder / words[words.index("--out") + 1]
        if path.exists():
            yield from table_rows("file", read_table(path.read_text(), path.suffix[1:]))


def run_command(words: Sequence[str], folder: Path, name: str) -> int:
    """Run one shoal command in a fork, which spares it the import of torch, and return its exit code."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os.chdir(folder)
        for number, ending in ((1, "json"), (2, "err")):
            os.dup2(os.open(f"{name}.{ending}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os._exit(in_the_fork(words))
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def in_the_fork(words: Sequence[str]) -> int:
    import traceback

    from shoal.cli import main

    sys.path.insert(0, "")
    code = 0
    try:
        main(list(words), prog_name="shoal")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 70
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def run_all(jobs: Sequence[Job], workers: int, keep: Path | None) -> dict[str, Step]:
    """Run the jobs, at most two at a time, and return their steps; say how long each took."""
    import scipy.stats
    import torch
    from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification, AutoTokenizer  # noqa: F401

    import shoal.cli  # noqa: F401

    assert scipy.stats and torch.get_num_threads() == 1
    # Not a TemporaryDirectory: a fork runs the exit handlers it inherits, and would delete the folder.
    folder = Path(tempfile.mkdtemp()) if keep is None else keep
    folder.mkdir(exist_ok=True)
    steps: dict[str, Step] = {}
    todo = [job for job in jobs if DATA.is_dir() or not job.needs_data]
    for job in jobs:
        if job not in todo:
            print(f"{job.name}: skipped, {DATA} is missing")
    try:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
            folders = [folder / job.name for job in todo]
            for job, done in zip(todo, pool.map(run_job, todo, folders), strict=True):
                seconds = sum(step["seconds"] for step in done.values())
                codes = ", ".join(
                    f"{name.split('/')[1]} {step['exit']}" for name, step in done.items() if step["exit"]
                )
                print(
                    f"{seconds:6.1f} s  {job.name}{f'  (exit codes: {codes})' if codes else ''}", flush=True
                )
                steps |= done
    finally:
        if keep is None:
            shutil.rmtree(folder)
    return steps


def machine() -> str:
    """Return a checksum of what last digits depend on: the processor and the versions of the numerical packages."""
    import numpy
    import scipy
    import torch

    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    processor = next((line for line in lines if line.startswith("model name")), "")
    versions = (
        numpy.__version__,
        scipy.__version__,
        torch.__version__,
        torch.backends.cpu.get_cpu_capability(),
    )
    return f"{zlib.crc32(repr((processor, versions)).encode()):08x}"


def record(folder: Path, steps: Mapping[str, Step]) -> None:
    kept = {
        name: {"exit": step["exit"], "torch": step["torch"], "rows": sorted(step["rows"], key=json.dumps)}
        for name, step in sorted(steps.items())
    }
    text = json.dumps({"machine": machine(), "steps": kept}, separators=(",", ":"), sort_keys=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / REFERENCE).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    rows = sum(len(step["rows"]) for step in kept.values())
    print(
        f"{len(kept)} steps, {rows:,} rows, {(folder / REFERENCE).stat().st_size / 1000:.0f} KB: {folder / REFERENCE}"
    )


@dataclass
class Difference:
    """What differs in one step."""

    changed: list[str]
    removed: list[str]
    added: list[str]
    renamed: list[tuple[str, str]]
    fields: Counter[str]


def equal(old: Any, new: Any, tolerance: float) -> bool:
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (old, new))
    if not numeric:
        return bool(old == new)
    return (old != old and new != new) or math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance / 1000)


def differing(old: Mapping[str, Any], new: Mapping[str, Any], tolerance: float) -> list[str]:
    return [
        f"{name} {old[name]} → {new[name]}"
        for name in old
        if name in new and not equal(old[name], new[name], tolerance)
    ]


def renamed_row(row: Row, names: Mapping[str, str]) -> Row:
    """Return a row of the record under today's names."""
    kind, model, name, groups = json.loads(row[0])
    parts = [names.get(part, part) for part in name.split(" of ", 1)]
    whole = names.get(name, " of ".join(parts))
    today = {names.get(key, key): names.get(value, value) for key, value in groups}
    fields = {
        ".".join(names.get(part, part) for part in key.split(".")): names.get(value, value)
        if isinstance(value, str)
        else value
        for key, value in row[1].items()
    }
    return keyed(names.get(kind, kind), names.get(model, model), whole, today), fields


def compare_step(old: Step, new: Step, names: Mapping[str, str], tolerance: float) -> Difference:
    """Match rows by their key; those that share one are matched by their numbers first."""
    found = Difference([], [], [], [], Counter())
    if old["exit"] != new["exit"]:
        found.changed.append(f"exit code {old['exit']} → {new['exit']}")
    before, after = defaultdict(list), defaultdict(list)
    for row in old["rows"]:
        key, fields = renamed_row((row[0], row[1]), names)
        before[key].append(fields)
    for key, fields in new["rows"]:
        after[key].append(fields)
    gone, come = [], []
    for key in before.keys() | after.keys():
        olds, news = before.get(key, []), list(after.get(key, []))
        left = []
        for row in olds:
            same = next((other for other in news if not differing(row, other, tolerance)), None)
            if same is None:
                left.append(row)
                continue
            news.remove(same)
            found.fields.update(f"− {name}" for name in row.keys() - same.keys())
            found.fields.update(f"+ {name}" for name in same.keys() - row.keys())
        for row, other in zip(left, news, strict=False):
            found.changed.append(f"{shown(key)}: {', '.join(differing(row, other, tolerance)[:4])}")
        gone += [(key, row) for row in left[len(news) :]]
        come += [(key, row) for row in news[len(left) :]]
    match_renamed(gone, come, tolerance, found)
    return found


def match_renamed(gone: list[Row], come: list[Row], tolerance: float, found: Difference) -> None:
    """Tell rows that only have another name from those that are gone: value, n and interval of the two agree."""
    by_value = defaultdict(list)
    for key, row in come:
        by_value[row.get("value"), row.get("n")].append((key, row))
    for key, row in sorted(gone, key=lambda pair: pair[0]):
        twins = by_value[row.get("value"), row.get("n")]
        twin = next((pair for pair in twins if "n" in row and not differing(row, pair[1], tolerance)), None)
        if twin is None:
            found.removed.append(shown(key))
        else:
            twins.remove(twin)
            found.renamed.append((shown(key), shown(twin[0])))
    found.added += sorted(shown(key) for pairs in by_value.values() for key, _ in pairs)


def shown(key: str) -> str:
    kind, model, name, groups = json.loads(key)
    words = [
        kind,
        name,
        ", ".join(f"{group}={value}" for group, value in groups),
        f"({model})" if model else "",
    ]
    return " ".join(word for word in words if word)


def compare(folder: Path, steps: Mapping[str, Step], options: argparse.Namespace) -> bool:
    """Print what differs from the record, step by step, and return whether a number changed."""
    reference = json.loads(gzip.decompress((folder / REFERENCE).read_bytes()))
    names = tomllib.loads((HOME / "renames.toml").read_text()).get("names", {})
    here = reference["machine"] == machine()
    if not here:
        print(
            f"The record comes from another machine: {options.loose:g} for models asked here, trained not compared."
        )
    old_steps = {
        name: step
        for name, step in reference["steps"].items()
        if not options.job or name.split("/")[0] in options.job
    }
    totals: Counter[str] = Counter()
    for name in sorted(old_steps.keys() | steps.keys()):
        if name not in steps or name not in old_steps:
            print(f"{name}: only in {'the record' if name in old_steps else 'this tree'}")
            totals["steps on one side"] += 1
            continue
        torch = old_steps[name]["torch"]
        if torch == "trained" and not here:
            totals["steps not compared"] += 1
            continue
        tolerance = options.tolerance if here or not torch else options.loose
        found = compare_step(old_steps[name], steps[name], names, tolerance)
        totals["rows"] += len(old_steps[name]["rows"])
        for what in ("changed", "removed", "added", "renamed"):
            totals[what] += len(getattr(found, what))
        totals["fields on one side"] += found.fields.total()
        report(name, found, options.lines)
    print(", ".join(f"{count:,} {what}" for what, count in totals.items()))
    return totals["changed"] > 0


def report(name: str, found: Difference, lines: int) -> None:
    counts = {what: getattr(found, what) for what in ("changed", "removed", "added", "renamed")}
    if not any(counts.values()) and not found.fields:
        return
    print(f"{name}: " + ", ".join(f"{len(rows)} {what}" for what, rows in counts.items() if rows))
    for what, rows in counts.items():
        for row in rows[:lines]:
            print(f"  {what}  {row if isinstance(row, str) else ' → '.join(row)}")
    if found.fields:
        most = ", ".join(f"{field} ×{count}" for field, count in found.fields.most_common(2 * lines))
        print(f"  fields   {most}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the record, such as tools/freeze")
    parser.add_argument(
        "--job", action="append", default=[], help="only this job of jobs.toml; repeat for more"
    )
    parser.add_argument("--workers", type=int, choices=(1, 2), default=1, help="jobs at a time")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="relative, for floats [1e-9]")
    parser.add_argument(
        "--loose", type=float, default=1e-4, help="the same for torch on another machine [1e-4]"
    )
    parser.add_argument("--lines", type=int, default=5, help="differences shown per step and kind [5]")
    parser.add_argument("--keep", type=Path, metavar="NEW", help="keep all output in this new folder")
    options = parser.parse_args()
    if options.command == "record" and options.job:
        parser.error("a record has every job: leave out --job")
    begun = time.monotonic()
    steps = run_all(read_jobs(options.job), options.workers, options.keep and options.keep.resolve())
    print(f"{time.monotonic() - begun:.0f} s in all")
    if options.command == "record":
        record(options.folder, steps)
    elif compare(options.folder, steps, options):
        sys.exit(1)


if __name__ == "__main__":
    # Before numpy and torch are imported: more threads change the order of sums.
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    os.environ |= {"COLUMNS": "120", "PYTHONHASHSEED": "0"}
    sys.path.insert(0, str(ROOT / "src"))
    main()
