"""Resources of a plan's jobs: cores, GPUs, memory. They decide where a job runs, never its results.

[resources]
cores = 2
memory = "4 GB"
checkpoints = 10         # minutes between two checkpoints of a training; 0 for none

[resources.merge]        # for the jobs of this protocol
gpus = 0.5
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from ..core.errors import PlanError
from ..core.ranges import Within
from .settings import make_settings

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def _amount(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value < 0 or (value > 1 and value % 1 != 0):
        raise PydanticCustomError("amount", "a whole number, or a fraction below 1, is expected")
    return float(value)


def _bytes(value: Any) -> int:
    """Return an amount of memory in bytes.

    >>> _bytes("1.5 GB")
    1500000000
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?B?)", str(value).strip())
    if match is None or isinstance(value, bool) or match[2] not in UNITS:
        raise PydanticCustomError("memory", 'an amount such as "4 GB" is expected')
    return int(float(match[1]) * UNITS[match[2]])


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of one job; a fraction of a GPU if several jobs share it."""

    cores: Annotated[float, BeforeValidator(_amount), Within(0, above=True)] | None = None
    """None: the number of training threads of the job, or one."""
    gpus: Annotated[float, BeforeValidator(_amount)] = 0.0
    memory: Annotated[int, BeforeValidator(_bytes)] = 0
    """Bytes; 0 if unknown."""
    checkpoints: Annotated[float, Within(0)] | None = None
    """Minutes between two checkpoints of a training; 0 for none, None for the store's default."""

    def words(self) -> str:
        parts = [f"{self.cores or 1:g} cores"]
        parts += [f"{self.gpus:g} GPUs"] if self.gpus else []
        parts += [f"{self.memory / 10**9:g} GB of memory"] if self.memory else []
        return ", ".join(parts)


def read_resources(table: Any, protocols: Sequence[str], where: str) -> dict[str, Resources]:
    """Return the resources of every protocol from the table `[resources]`."""
    if not isinstance(table, Mapping):
        raise PlanError(
            f"{where} must be a table, found {table!r}",
            fix="[resources] on a line of its own, cores = 2 below it",
        )
    general = {key: value for key, value in table.items() if key not in protocols}
    resources = {}
    for protocol in protocols:
        specific, place = table.get(protocol, {}), f"{where}.{protocol}"
        if not isinstance(specific, Mapping):
            fix = f"[resources.{protocol}], gpus = 1 below it"
            raise PlanError(f"{place} = {specific!r}", why="a table is expected", fix=fix)
        resources[protocol] = make_settings(Resources, {**general, **specific}, place if specific else where)
    return resources
