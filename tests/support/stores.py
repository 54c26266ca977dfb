"""The files of a run, and the log of its queries."""

import json
from pathlib import Path


def files(store: Path) -> dict[str, bytes]:
    """Every file of a store that its jobs leave."""
    others = {"locks", "comparisons"}
    kept = [path for path in store.rglob("*") if path.is_file() and others.isdisjoint(path.parts)]
    return {str(path.relative_to(store)): path.read_bytes() for path in kept}


def asked(log: Path) -> list[tuple[int, tuple[str, ...]]]:
    """Return the logged batches with their processes; queries of the self-check have another size."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(pid, tuple(texts)) for pid, texts in map(json.loads, lines) if len(texts) == 4]
