"""Resources of a plan's jobs: cores, GPUs, memory. They decide where a job runs, never its results.

[resources]
cores = 2
memory = "4 GB"
checkpoints = 10         # minutes between two checkpoints of a training; 0 for none

[resources.merge]        # for the jobs of this protocol
gpus = 0.5
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ByteSize
from pydantic_core import PydanticCustomError

from ..core.errors import PlanError
from ..core.ranges import Within
from .settings import make_settings


def _amount(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value < 0 or (value > 1 and value % 1 != 0):
        raise PydanticCustomError("amount", "a whole number, or a fraction below 1, is expected")
    return float(value)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of one job; a fraction of a GPU if several jobs share it."""

    cores: Annotated[float, BeforeValidator(_amount), Within(0, above=True)] | None = None
    """None: the number of training threads of the job, or one."""
    gpus: Annotated[float, BeforeValidator(_amount)] = 0.0
    memory: ByteSize = ByteSize(0)
    """Bytes, also written as "4 GB"; 0 if unknown."""
    checkpoints: Annotated[float, Within(0)] | None = None
    """Minutes between two checkpoints of a training; 0 for none, None for the store's default."""

    def words(self) -> str:
        parts = [f"{self.cores or 1:g} cores"]
        parts += [f"{self.gpus:g} GPUs"] if self.gpus else []
        parts += [f"{self.memory / 10**9:g} GB of memory"] if self.memory else []
        return ", ".join(parts)


def read_resources(table: Any, protocols: Sequence[str], where: str) -> dict[str, Resources]:
    """Return the resources of every protocol from the table `[resources]`."""
    general = {key: value for key, value in _table(table, where).items() if key not in protocols}
    resources = {}
    for protocol in protocols:
        specific, place = table.get(protocol, {}), f"{where}.{protocol}"
        merged = {**general, **_table(specific, place)}
        resources[protocol] = make_settings(Resources, merged, place if specific else where)
    return resources


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        fix = f"{where.rpartition(' ')[2]} on a line of its own, cores = 2 below it"
        raise PlanError(f"{where} must be a table, found {value!r}", fix=fix)
    return value
