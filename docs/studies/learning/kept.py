"""What the trainings of a plan came to, as small files: a line for each job, and the table that they make.

    python docs/studies/learning/kept.py PLAN STORE OUT

OUT.csv has the scores of each finished job, by capability. OUT-table.csv has every number of the table with its
interval and its p; cells that are not complete are not in it. OUT-findings.csv has what is said of whole rows.
"""

import csv
import sys
from pathlib import Path

from shoal.protocols.behaviour.learning.against_iid import RECIPE_P
from shoal.records import Finding, Measure
from shoal.runs.plan import Job, reachable, read_plan
from shoal.runs.results import find_stored
from shoal.runs.scoring import compare_jobs
from shoal.runs.store import RunStore

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


def of_jobs(jobs: list[Job], store: RunStore) -> list[dict[str, str]]:
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


def of_table(measures: list[Measure]) -> list[dict[str, str]]:
    """Every number of the table, and what it is compared by."""
    return [
        {
            "name": row.name,
            **{name: row.groups.get(name, "") for name in ("config", "method", "hold out", "score")},
            "value": rounded(row.value),
            "low": rounded(row.interval[0]) if row.interval else "",
            "high": rounded(row.interval[1]) if row.interval else "",
            "n": str(row.n),
            **({"p over seeds": rounded(row.facts[RECIPE_P])} if RECIPE_P in row.facts else {}),
        }
        for row in measures
        if row.name in TOLD and not row.groups.keys() & NARROW and row.value is not None
    ]


def of_rows(findings: list[Finding]) -> list[dict[str, str]]:
    """What is said of all of the table and of whole rows, not of single models."""
    return [
        {"kind": one.kind, **{name: one.groups.get(name, "") for name in ROW}, "text": one.text}
        for one in findings
        if one.groups.keys() <= set(ROW)
    ]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """The rows with every column that one of them has."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main(plan: str, into: str, out: str) -> None:
    """Write both."""
    store = RunStore(Path(into))
    wanted, jobs, _ = reachable(read_plan(Path(plan)))
    write(Path(f"{out}.csv"), of_jobs(list(jobs), store))
    (compared,) = compare_jobs(wanted, jobs, store).values()
    write(Path(f"{out}-table.csv"), of_table(list(compared.measures)))
    write(Path(f"{out}-findings.csv"), of_rows(list(compared.findings)))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
