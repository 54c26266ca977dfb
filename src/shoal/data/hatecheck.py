"""HateCheck (Röttger et al. 2021) and Multilingual HateCheck (2022): one labelled sentence per row.

The functionality's prefix names its class in the paper's Table 1. Cases filled from one template stand or fall
together, so `templ_id` becomes the cluster that intervals resample.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..core.tables import read_table
from . import Glimpse, SuiteRows

LABELS = ("non-hateful", "hateful")

CAPABILITIES = {
    "derog": "derogation",
    "threat": "threatening language",
    "slur": "slur usage",
    "profanity": "profanity usage",
    "ref": "pronoun reference",
    "negate": "negation",
    "phrase": "phrasing",
    "ident": "non-hateful group identifier",
    "counter": "counter speech",
    "target": "abuse against non-protected targets",
    "spell": "spelling variations",
}

KEPT = ("target_ident", "direction", "ref_case_id", "ref_templ_id")
CARRIED = {"functionality", "test_case", "label_gold", "templ_id", "case_id", "mhc_case_id", *KEPT}


def fits(look: Glimpse) -> bool:
    """Whether a table with these columns is HateCheck."""
    return {"functionality", "test_case", "label_gold"} <= set(look.columns)


def read(path: Path) -> SuiteRows:
    """HateCheck's rows as cases of one sentence each."""
    columns, rows = read_table(path)
    number = "mhc_case_id" if "mhc_case_id" in columns else "case_id"
    if number not in columns:
        raise DataError(
            f"{path}, line 1: no column 'case_id' or 'mhc_case_id'",
            why=f"found: {', '.join(columns)}",
            fix="add one: what names each case",
        )
    lost = [f"column {name!r}" for name in columns if name and name not in CARRIED]
    header = {
        "suite": path.name.split(".")[0],
        "task": "hate speech detection",
        "label_names": list(LABELS),
    }
    return SuiteRows(header, _cases(rows, number), lost)


def _cases(rows: Iterator[tuple[int, dict[str, str]]], number: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, row in rows:
        yield (
            line,
            {
                "functionality": row["functionality"],
                "capability": CAPABILITIES.get(row["functionality"].split("_")[0], "other"),
                "type": "MFT",
                "case_id": row[number],
                "examples": [{"text": row["test_case"]}],
                "labels": row["label_gold"].strip(),
                "cluster": row.get("templ_id", ""),
                "meta": {name: row[name] for name in KEPT if row.get(name)},
            },
        )
