"""What the trainings of a plan came to, as small files: a line for each job, and the table that they make.

    python docs/studies/learning/kept.py PLAN STORE OUT [EARLIER]

OUT.csv has the scores of each finished job, by capability. OUT-table.csv has every number of the table with its
interval and its p; cells that are not complete are not in it. OUT-findings.csv has what is said of whole rows.

A plan may be run in parts, on machines whose stores are gone. EARLIER names the files of such a part: what this store
has not is taken from there, and p is adjusted over both. Jobs that both have must have the same scores to the last
digit that is kept, else nothing is written. A smallest difference that could be seen stays that of its part, and so
does what is said of rows (column `part`).
"""

import csv
import sys
from pathlib import Path

from shoal.core.records import Finding, Measure
from shoal.runs.plan import Job, reachable, read_plan
from shoal.runs.results import find_stored
from shoal.runs.scoring import compare_jobs
from shoal.runs.store import RunStore
from shoal.stats.multiplicity import holm

Rows = list[dict[str, str]]
TOLD = (
    "iid score",
    "suite score",
    "G",
    "difference",
    "p value",
    "adjusted p value",
    "minimum detectable effect",
)
NARROW = {"seed", "estimand", "functionality", "capability"}
ROW = ("config", "method")


def rounded(value: float | None) -> str:
    """As many digits as the page needs."""
    return "" if value is None else f"{value:.4f}"


def of_jobs(jobs: list[Job], store: RunStore) -> Rows:
    """The scores of each job that is done."""
    rows = []
    for job in jobs:
        if not store.is_done(job.id):
            continue
        result = find_stored(job.id, store)
        settings = result.job["settings"]
        row = {
            "config": settings["train"]["on"][0],
            "method": settings["train"]["method"][0],
            "hold out": settings["hold_out"][0],
            "fold": settings["fold"],
            "seed": str(settings["seed"]),
        }
        for measure in result.measures:
            if measure.name in ("iid score", "suite score") and not measure.groups:
                row[measure.name] = rounded(measure.value)
            elif measure.name == "pass rate" and set(measure.groups) == {"capability"}:
                row[measure.groups["capability"]] = rounded(measure.value)
        kinds = sorted({finding.kind for finding in result.findings})
        rows.append(row | {"findings": " ".join(kinds)})
    return rows


def of_table(measures: list[Measure]) -> Rows:
    """Every number of the table, and what it is compared by."""
    return [
        {
            "name": row.name,
            **{name: row.groups.get(name, "") for name in ("config", "method", "hold out", "score")},
            "value": rounded(row.value),
            "low": rounded(row.interval[0]) if row.interval else "",
            "high": rounded(row.interval[1]) if row.interval else "",
            "n": str(row.n),
        }
        for row in measures
        if row.name in TOLD and not row.groups.keys() & NARROW and row.value is not None
    ]


def of_rows(findings: list[Finding]) -> Rows:
    """What is said of all of the table and of whole rows, not of single models."""
    return [
        {"kind": one.kind, **{name: one.groups.get(name, "") for name in ROW}, "text": one.text}
        for one in findings
        if one.groups.keys() <= set(ROW)
    ]


# Parts that were run elsewhere

JOB = ("config", "method", "hold out", "fold", "seed")
CELL = ("name", "config", "method", "hold out", "score")


def read(path: Path) -> Rows:
    """The rows of a file that was kept."""
    if not path.is_file():
        sys.exit(f"{path}: no such file; EARLIER is what OUT was for the part that was run before")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def joined_jobs(rows: Rows, earlier: Rows) -> Rows:
    """The jobs of both parts; those that both have must agree."""
    ours = {tuple(row[name] for name in JOB): row for row in rows}
    for row in earlier:
        key = tuple(row[name] for name in JOB)
        mine = ours.setdefault(key, row)
        scores = [name for name in mine if name != "findings"]
        differing = [name for name in scores if (row.get(name) or "") != mine[name]]
        if differing:
            sys.exit(f"{' '.join(key)}: not what it was before in {', '.join(differing)}; nothing is written")
    return list(ours.values())


def joined_table(rows: Rows, earlier: Rows) -> Rows:
    """The cells of both parts, p adjusted over all comparisons with the iid row."""
    ours = {tuple(row[name] for name in CELL): row for row in rows}
    both = [*rows, *(row for row in earlier if tuple(row[name] for name in CELL) not in ours)]
    tests = [row for row in both if row["name"] == "p value" and row["score"] in ("G", "iid score")]
    for test, p in zip(tests, holm([float(row["value"]) for row in tests]).tolist(), strict=True):
        of_test = {name: test[name] for name in CELL} | {"name": "adjusted p value"}
        (adjusted,) = [row for row in both if row.items() >= of_test.items()]
        adjusted["value"] = rounded(p)
    return both


def write(path: Path, rows: Rows) -> None:
    """The rows with every column that one of them has."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main(plan: str, into: str, out: str, earlier: str = "") -> None:
    """Write all three."""
    store = RunStore(Path(into))
    wanted, jobs, _ = reachable(read_plan(Path(plan)))
    done = of_jobs(list(jobs), store)
    (compared,) = compare_jobs(wanted, jobs, store).values()
    table, told = of_table(list(compared.measures)), of_rows(list(compared.findings))
    if earlier:
        before = read(Path(f"{earlier}.csv"))
        both = len(done) + len(before) - len(done := joined_jobs(done, before))
        print(f"{len(done)} jobs; the {both} that both parts have came to the same scores")
        table = joined_table(table, read(Path(f"{earlier}-table.csv")))
        parts = {"2": told, "1": read(Path(f"{earlier}-findings.csv"))}
        told = [{**row, "part": part} for part, rows in parts.items() for row in rows]
    write(Path(f"{out}.csv"), done)
    write(Path(f"{out}-table.csv"), table)
    write(Path(f"{out}-findings.csv"), told)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
