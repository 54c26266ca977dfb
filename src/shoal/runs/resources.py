"""What a plan's jobs take of a machine: cores, GPUs, memory. This decides where a job fits, never what it says.

[resources]
cores = 2
memory = "4 GB"
checkpoints = 10         # minutes of training between two; 0: none

[resources.merge]        # of this protocol's jobs
gpus = 0.5
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from ..core.errors import PlanError, nearest

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True, slots=True)
class Resources:
    """What one job takes while it runs; a fraction of a GPU where several share one."""

    cores: float | None = None
    """None: as many as the job has threads to train with, else one."""
    gpus: float = 0.0
    memory: int = 0
    """Bytes; 0: not said."""
    checkpoints: float | None = None
    """Minutes after which a training is kept in its middle; 0: it is not. None: the store's own."""

    def words(self) -> str:
        """For messages."""
        parts = [f"{self.cores or 1:g} cores"]
        parts += [f"{self.gpus:g} GPUs"] if self.gpus else []
        parts += [f"{self.memory / 10**9:g} GB of memory"] if self.memory else []
        return ", ".join(parts)


NAMES = tuple(field.name for field in fields(Resources))


def read_resources(table: Any, protocols: Sequence[str], where: str) -> dict[str, Resources]:
    """What `[resources]` says: for every protocol, under its name."""
    known = (*NAMES, *protocols)
    if not isinstance(table, Mapping):
        raise PlanError(
            f"{where}: [resources] must be a table, found {table!r}",
            fix="[resources] on a line of its own, cores = 2 below it",
        )
    general = _read({key: value for key, value in table.items() if key not in protocols}, known, where)
    found = {}
    for protocol in protocols:
        own = table.get(protocol, {})
        place = f"{where}.{protocol}"
        if not isinstance(own, Mapping):
            raise PlanError(
                f"{place} = {own!r}",
                why="a table is expected",
                fix=f"[resources.{protocol}], gpus = 1 below it",
            )
        found[protocol] = replace(general, **_values(own, NAMES, place))
    return found


def _read(table: Mapping[str, Any], known: Sequence[str], where: str) -> Resources:
    return Resources(**_values(table, known, where))


def _values(table: Mapping[str, Any], known: Sequence[str], where: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in NAMES:
            raise PlanError(
                f'{where}: unknown key "{name}"',
                why=f"known: {', '.join(known)}",
                fix=nearest(name, known) or "one of those",
            )
        values[name] = READERS.get(name, partial(_amount, name))(value, where)
    return values


def _amount(name: str, value: Any, where: str) -> float:
    """So many cores or GPUs: whole ones, or a fraction of one."""
    least = 0 if name == "gpus" else None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not (value > 0 or value == least) or (value > 1 and value != int(value)):
        raise PlanError(
            f"{where}: {name} = {value!r}",
            why="a whole number, or a fraction below 1, is expected",
            fix=f"{name} = 1, or {name} = 0.5 where two jobs share one",
        )
    return float(value)


def _minutes(value: Any, where: str) -> float:
    """So many minutes, or none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise PlanError(
            f"{where}: checkpoints = {value!r}",
            why="minutes of training between two are expected",
            fix="checkpoints = 5, or 0 for none",
        )
    return float(value)


def _bytes(value: Any, where: str) -> int:
    """An amount of memory.

    >>> _bytes("1.5 GB", "[resources]")
    1500000000
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?B?)", str(value).strip())
    unit = found[2] if found else "?"
    if found is None or isinstance(value, bool) or unit not in UNITS or not float(found[1]) > 0:
        raise PlanError(f"{where}: memory = {value!r}", fix='memory = "4 GB"')
    return int(float(found[1]) * UNITS[unit])


READERS: dict[str, Callable[[Any, str], Any]] = {"memory": _bytes, "checkpoints": _minutes}
