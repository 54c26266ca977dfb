"""Training data: items of several kinds, gathered into environments.

    Labelled    one example and its label                               MFT, i.i.d.
    Invariant   an original and variants with the same answer           INV
    Directed    the same, with a direction the answer must not move     DIR of sentiment
    Several     examples with a label each, up to three per visit       DIR of paraphrase
    Answered    a context, a question, and the positions of the answer  MFT, i.i.d. of reading
    Alike       a question and variants with the answer in its place    INV of reading

An item counts as one in sizes, and takes `share` places of a batch (`docs/method/beluga.md` 1.6). Labels are soft:
probabilities in the order of the model's labels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..core.errors import DataError, nearest
from ..core.records import Example

Kind = Literal["iid", "MFT", "INV", "DIR"]
Target = tuple[float, ...]
DIRECTIONS = ("not_less_2", "not_less_0", "not_more_conf", "not_less_conf")
"""Not more negative, not more positive, not more confident, not less confident."""


@dataclass(frozen=True, slots=True)
class _Single:
    """One example."""

    example: Example
    share: ClassVar[int] = 1

    @property
    def examples(self) -> tuple[Example, ...]:
        return (self.example,)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """An original and its variants; each visit shows the original with one of them."""

    original: Example
    variants: tuple[Example, ...]
    share: ClassVar[int] = 2

    @property
    def examples(self) -> tuple[Example, ...]:
        return (self.original, *self.variants)


@dataclass(frozen=True, slots=True)
class Labelled(_Single):
    """One example with its soft label."""

    target: Target


@dataclass(frozen=True, slots=True)
class Invariant(_Pairs):
    """An original and variants with the same answer."""


@dataclass(frozen=True, slots=True)
class Directed(_Pairs):
    """An original, its variants, and the direction in which their answer must not move."""

    direction: str


@dataclass(frozen=True, slots=True)
class Several:
    """Examples with their soft labels; each visit shows up to three, the first among them if `keep_first`."""

    examples: tuple[Example, ...]
    targets: tuple[Target, ...]
    keep_first: bool = False
    share: ClassVar[int] = 3


@dataclass(frozen=True, slots=True)
class Answered(_Single):
    """A context and its question, with every position of the answer in the context."""

    places: tuple[tuple[int, int], ...]
    """Each as (start, end) of characters."""
    window: int = 0
    """Which window of a context that exceeds the model's length."""


@dataclass(frozen=True, slots=True)
class Alike(_Pairs):
    """A context and its question, with variants in which the answer keeps its place."""


Item = Labelled | Invariant | Directed | Several | Answered | Alike


@dataclass(frozen=True, slots=True)
class Environment:
    """A group of items as a training method sees it: a functionality, or the i.i.d. data."""

    name: str
    kind: Kind
    items: Sequence[Item]

    def __post_init__(self) -> None:
        if not self.items:
            raise DataError(f"{self.name}: nothing to train on", fix="add items, or leave it out")
        if len({type(item) for item in self.items}) > 1:
            raise DataError(f"{self.name}: an environment cannot mix kinds of items", fix="one for each kind")
        unknown = {item.direction for item in self.items if isinstance(item, Directed)} - {*DIRECTIONS}
        if unknown:  # the loss would read it as another
            raise DataError(
                f"{self.name}: unknown direction {min(unknown)!r}",
                fix=nearest(min(unknown), DIRECTIONS) or f"one of {', '.join(DIRECTIONS)}",
            )

    def __len__(self) -> int:
        return len(self.items)

    def batch_size(self, batch: int) -> int:
        """Return how many items fill a batch of this many places.

        >>> pairs = Environment("typos", "INV", [Invariant(("good",), (("goood",),))])
        >>> pairs.batch_size(8)
        4
        """
        return max(1, batch // self.items[0].share)

    def batches(self, batch: int) -> int:
        """Return the number of batches that hold every item once."""
        return -(-len(self.items) // self.batch_size(batch))


def pools(environments: Iterable[Environment]) -> list[Environment]:
    """Return the items by kind alone, for methods that ignore environments."""
    by_kind: dict[tuple[Kind, type[Item]], list[Item]] = {}
    for environment in environments:
        by_kind.setdefault((environment.kind, type(environment.items[0])), []).extend(environment.items)
    return [Environment(kind, kind, items) for (kind, _), items in by_kind.items()]
