"""What a run leaves behind, and what was asked meanwhile."""

import json
from pathlib import Path


def files(store: Path) -> dict[str, bytes]:
    """Every file of a store that its jobs leave."""
    others = {"locks", "comparisons"}
    kept = [path for path in store.rglob("*") if path.is_file() and others.isdisjoint(path.parts)]
    return {str(path.relative_to(store)): path.read_bytes() for path in kept}


def asked(log: Path) -> list[tuple[int, tuple[str, ...]]]:
    """Which batches were asked, by which process; the self-check asks fewer or more at a time than a batch has."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(pid, tuple(texts)) for pid, texts in map(json.loads, lines) if len(texts) == 4]
