"""HateCheck (Röttger et al. 2021) and Multilingual HateCheck (2022): one labelled sentence per row.

The functionality's prefix names its class in the paper's Table 1; `templ_id` becomes the cluster.
"""

from pathlib import Path
from typing import Any

from . import Glimpse, SuiteRows
from .invalid import InvalidRows
from .tables import read_table, require_columns

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
    """Return whether a table has HateCheck's columns."""
    return {"functionality", "test_case", "label_gold"} <= set(look.columns)


def read(path: Path) -> SuiteRows:
    """Return HateCheck's rows as cases of one sentence each."""
    invalid = InvalidRows()
    columns, rows = read_table(path, invalid.add)
    id_column = "mhc_case_id" if "mhc_case_id" in columns else "case_id"
    require_columns(path, columns, [id_column])
    lost = [f"column {name!r}" for name in columns if name and name not in CARRIED]
    header = {"suite": path.name.split(".")[0], "task": "hate speech detection", "label_names": list(LABELS)}
    cases = ((line, _case(row, id_column)) for line, row in rows)
    return SuiteRows(header, cases, lost, invalid=invalid)


def _case(row: dict[str, str], id_column: str) -> dict[str, Any]:
    return {
        "functionality": row["functionality"],
        "capability": CAPABILITIES.get(row["functionality"].split("_")[0], "other"),
        "type": "MFT",
        "case_id": row[id_column],
        "examples": [{"text": row["test_case"]}],
        "labels": row["label_gold"],
        "cluster": row.get("templ_id", ""),
        "meta": {name: row[name] for name in KEPT if row.get(name)},
    }
