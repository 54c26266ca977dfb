"""Resources of a plan's jobs: cores, GPUs, memory. They decide where a job runs, never its results.

[resources]
cores = 2
memory = "4 GB"
checkpoints = 10         # checkpoints = 10         # minutes between two checkpoints of a training; 0 for none

[resources.merge]        # [resources.merge]        # for the jobs of this protocol
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
    """Resources of one job; a fraction of a GPU if several jobs share it."""

    cores: float | None = None
    """None: the number of training threads of the job, or one."""
    gpus: float = 0.0
    memory: int = 0
    """Bytes; 0 if unknown."""
    checkpoints: float | None = None
    """Minutes between two checkpoints of a training; 0 for none, None for the store's default."""

    def words(self) -> str:
        """Return the resources in words."""
        parts = [f"{self.cores or 1:g} cores"]
        parts += [f"{self.gpus:g} GPUs"] if self.gpus else []
        parts += [f"{self.memory / 10**9:g} GB of memory"] if self.memory else []
        return ", ".join(parts)


NAMES = tuple(field.name for field in fields(Resources))


def read_resources(table: Any, protocols: Sequence[str], where: str) -> dict[str, Resources]:
    """Return the resources of every protocol from the table `[resources]`."""
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
    """Return a number of cores or GPUs: a whole number, or a fraction of one."""
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
    """Return a number of minutes."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise PlanError(
            f"{where}: checkpoints = {value!r}",
            why="minutes of training between two are expected",
            fix="checkpoints = 5, or 0 for none",
        )
    return float(value)


def _bytes(value: Any, where: str) -> int:
    """Return an amount of memory in bytes.

    >>> _bytes("1.5 GB", "[resources]")
    1500000000
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?B?)", str(value).strip())
    unit = found[2] if found else "?"
    if found is None or isinstance(value, bool) or unit not in UNITS or not float(found[1]) > 0:
        raise PlanError(f"{where}: memory = {value!r}", fix='memory = "4 GB"')
    return int(float(found[1]) * UNITS[unit])


READERS: dict[str, Callable[[Any, str], Any]] = {"memory": _bytes, "checkpoints": _minutes}
