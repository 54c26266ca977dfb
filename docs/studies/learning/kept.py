"""Write the results of a learning plan as small CSV files.

    python docs/studies/learning/kept.py PLAN STORE OUT [EARLIER]

OUT.csv has the scores of each finished job by capability. OUT-table.csv has every complete cell of the table with
interval and p. OUT-findings.csv has the findings about whole rows.

If a plan ran in parts and the first store no longer exists, EARLIER names the files of that part. Missing jobs are read
from there, and p is adjusted over both parts. If a job of both parts has different scores, the script stops. Minimum
detectable effects and findings (column `part`) stay those of their part.
"""

import csv
import sys
from pathlib import Path

from shoal.core.records import Finding, Measure
from shoal.runs.plan import Job, check_plan, read_plan
from shoal.runs.results import find_job
from shoal.runs.scoring import brief_result, compare_results, results_by_protocol
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
    """Return a number with four digits."""
    return "" if value is None else f"{value:.4f}"


def of_jobs(jobs: list[Job], store: RunStore) -> Rows:
    """Return the scores of each finished job."""
    rows = []
    for job in jobs:
        if not store.is_done(job.id):
            continue
        result = brief_result(*find_job(job.id, store))
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
    """Return every number of the table with its tests."""
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
    """Return the findings about the table and its rows, not about single models."""
    return [
        {"kind": one.kind, **{name: one.groups.get(name, "") for name in ROW}, "text": one.text}
        for one in findings
        if one.groups.keys() <= set(ROW)
    ]


# Parts that ran elsewhere

JOB = ("config", "method", "hold out", "fold", "seed")
CELL = ("name", "config", "method", "hold out", "score")


def read(path: Path) -> Rows:
    """Return the rows of an earlier file."""
    if not path.is_file():
        sys.exit(f"{path}: no such file; EARLIER is the OUT of the earlier part")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def joined_jobs(rows: Rows, earlier: Rows) -> Rows:
    """Return the jobs of both parts; jobs in both must agree."""
    ours = {tuple(row[name] for name in JOB): row for row in rows}
    for row in earlier:
        key = tuple(row[name] for name in JOB)
        mine = ours.setdefault(key, row)
        scores = [name for name in mine if name != "findings"]
        differing = [name for name in scores if (row.get(name) or "") != mine[name]]
        if differing:
            sys.exit(f"{' '.join(key)}: differs from the earlier part in {', '.join(differing)}")
    return list(ours.values())


def joined_table(rows: Rows, earlier: Rows) -> Rows:
    """Return the cells of both parts, p adjusted over all comparisons with the iid row."""
    ours = {tuple(row[name] for name in CELL): row for row in rows}
    both = [*rows, *(row for row in earlier if tuple(row[name] for name in CELL) not in ours)]
    tests = [row for row in both if row["name"] == "p value" and row["score"] in ("G", "iid score")]
    for test, p in zip(tests, holm([float(row["value"]) for row in tests]).tolist(), strict=True):
        of_test = {name: test[name] for name in CELL} | {"name": "adjusted p value"}
        (adjusted,) = [row for row in both if row.items() >= of_test.items()]
        adjusted["value"] = rounded(p)
    return both


def write(path: Path, rows: Rows) -> None:
    """Write rows with the union of their columns."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main(plan: str, into: str, out: str, earlier: str = "") -> None:
    """Write all three files."""
    store = RunStore(Path(into))
    wanted = read_plan(Path(plan))
    jobs = check_plan(wanted)
    done = of_jobs(list(jobs), store)
    (compared,) = compare_results(wanted, results_by_protocol(wanted, jobs, store)).values()
    table, told = of_table(list(compared.measures)), of_rows(list(compared.findings))
    if earlier:
        before = read(Path(f"{earlier}.csv"))
        both = len(done) + len(before) - len(done := joined_jobs(done, before))
        print(f"{len(done)} jobs; the {both} jobs of both parts have equal scores")
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
