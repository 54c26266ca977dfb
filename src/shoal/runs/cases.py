"""What was built, on disk: one way for all protocols.

A line says what it is about, then comes a line per case, then one that says how many there were. Groups and meta that
are those of the line before are left out, so that a large suite stays small and can still be read by eye.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.errors import DataError, StoreError
from ..core.files import Alike, collector_paused, json_object, read_lines, writing
from ..core.records import Case, Large, as_json, from_json
from ..protocols.base import Built


class DamagedError(StoreError):
    """A file of cases that is not whole: it can be built again."""


FORMAT = 2
SHARED = ("groups", "meta")
ASKED, WHOLE = "asked", "whole"
LONG = 16_384
"""Letters of a line whose case knows so much that it is better held compressed."""


def save_built(built: Built, path: Path) -> None:
    """Write what was built, the rest of what it was chosen from too."""
    head = {
        "shoal cases": FORMAT,
        "labels": built.labels,
        "asks": built.asks,
        "about": built.about,
        "measures": [as_json(measure) for measure in built.measures],
    }
    content, count = hashlib.sha256(), 0
    encode = json.JSONEncoder(ensure_ascii=False).encode
    first = json.dumps(head, ensure_ascii=False)
    with writing(path) as stream:
        stream.write(first + "\n")
        for row in _rows(built):
            count += 1
            line = encode(row)
            content.update(_bytes(line))
            stream.write(line + "\n")
        stream.write(json.dumps(_end(count, content) | {"head": _head_digest(first)}) + "\n")


def _rows(built: Built) -> Iterator[dict[str, Any]]:
    """Every case as a plain object; one that is only in the whole, or only asked, says so."""
    before: dict[str, Any] = {}
    if built.whole is built.cases:
        for case in built.cases:
            row, before = _row(case, before)
            yield row
        return
    asked = {case.id: case for case in built.cases}
    known = set()
    for case in built.whole:
        known.add(case.id)
        row, before = _row(asked.get(case.id, case), before)
        yield row if case.id in asked else {**row, "only": WHOLE}
    for case in built.cases:
        if case.id not in known:
            row, before = _row(case, before)
            yield {**row, "only": ASKED}


def _row(case: Case, before: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    shared = {"groups": case.groups, "meta": case.meta}
    row: dict[str, Any] = {"id": case.id, "examples": case.examples}
    row |= {"labels": case.labels} if case.labels is not None else {}
    row |= {"cluster": case.cluster} if case.cluster else {}
    for name, value in shared.items():
        if value is not before.get(name) and dict(value) != before.get(name):
            row[name] = dict(value)
    return row, shared


def load_built(path: Path) -> Built:
    """What `save_built` wrote; a file that was cut or changed is refused."""
    try:
        return _load(path)
    except (DataError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as problem:
        why = str(problem).splitlines()[0]
        raise DamagedError(f"{path}: damaged", why=why, fix=f"rm {path}: it is built again") from None


def is_whole(path: Path) -> bool:
    """Whether a file is what `save_built` wrote, told without making its cases."""
    content, count, first, last = hashlib.sha256(), 0, "", ""
    try:
        for number, line in read_lines(path):
            if number > 2:
                content.update(_bytes(last))
                count += 1
            elif number == 2:
                first = last
            last = line
        whole = _ends_well(json_object(last), first, count, content)
        return whole and json_object(first).get("shoal cases") == FORMAT
    except (DataError, ValueError):
        return False


def _end(count: int, content: "hashlib._Hash") -> dict[str, Any]:
    return {"cases": count, "digest": content.hexdigest()[:16]}


def _ends_well(end: dict[str, Any], first: str, count: int, content: "hashlib._Hash") -> bool:
    """Whether the last line fits those before it; files of before do not cover the first line."""
    return end.pop("head", _head_digest(first)) == _head_digest(first) and end == _end(count, content)


def _head_digest(first: str) -> str:
    return hashlib.sha256(_bytes(first)).hexdigest()[:16]


def _bytes(line: str) -> bytes:
    return f"{line}\n".encode("utf-8", "surrogatepass")


def _load(path: Path) -> Built:
    lines = read_lines(path)
    _, first = next(lines, (1, "{}"))
    head = json_object(first)
    if head.get("shoal cases") != FORMAT:
        raise DamagedError(f"{path}: not cases of this version of shoal", fix=f"rm {path}: it is built again")
    whole, asked = [], []
    shared: dict[str, Any] = {"groups": {}, "meta": {}}
    content, count, end = hashlib.sha256(), 0, {}
    alike = Alike()
    with collector_paused():
        for _, line in lines:
            row = json_object(line)
            if "cases" in row and "id" not in row:
                end = row
                break
            content.update(_bytes(line))
            count += 1
            if len(line) > LONG and "meta" in row:
                row["meta"] = Large(row["meta"])
            if "groups" in row:
                row["groups"] = alike.groups(row["groups"])
            shared = {name: row.get(name, shared[name]) for name in SHARED}
            case = _case(row, shared, alike)
            only = row.get("only")
            if only != ASKED:
                whole.append(case)
            if only != WHOLE:
                asked.append(case)
    if not _ends_well(end, first, count, content):
        raise DamagedError(f"{path}: cut off or changed", fix=f"rm {path}: it is built again")
    labels = head["labels"]
    return Built(
        asked,
        None if labels is None else tuple(labels),
        head["asks"],
        [from_json(measure) for measure in head["measures"]],
        head["about"],
        () if len(whole) == len(asked) == count else whole,
    )


def _case(row: dict[str, Any], shared: dict[str, Any], alike: Alike) -> Case:
    examples = tuple([tuple(example) for example in row["examples"]])
    labels = alike.texts(tuple(row["labels"])) if "labels" in row else None
    return Case(
        row["id"], examples, labels, shared["groups"], alike.text(row.get("cluster", "")), shared["meta"]
    )
