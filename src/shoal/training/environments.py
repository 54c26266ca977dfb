"""What is trained on: items that know what a training step shows of them, gathered into environments.

    Labelled    one example and its label                             MFT, i.i.d.
    Invariant   an original whose variants should be answered alike   INV
    Directed    the same, with a way the answer must not move         DIR of sentiment
    Several     examples with a label each, up to three per visit     DIR of paraphrase
    Answered    a context, a question, and where the answer stands    MFT, i.i.d. of reading
    Alike       a question whose variants have the answer's place     INV of reading

An item counts as one wherever sizes are counted, and `share` says how many places of a batch it takes
(`docs/method/beluga.md` 1.6). Labels are soft: probabilities in the order of the model's own labels.
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
class Labelled:
    """One example with its soft label."""

    example: Example
    target: Target
    share: ClassVar[int] = 1

    @property
    def examples(self) -> tuple[Example, ...]:
        """Everything that training may show of it."""
        return (self.example,)


@dataclass(frozen=True, slots=True)
class Invariant:
    """An original and its variants; each visit shows the original with one of them."""

    original: Example
    variants: tuple[Example, ...]
    share: ClassVar[int] = 2

    @property
    def examples(self) -> tuple[Example, ...]:
        """Everything that training may show of it."""
        return (self.original, *self.variants)


@dataclass(frozen=True, slots=True)
class Directed:
    """An original, its variants, and where the answer to them must not go."""

    original: Example
    variants: tuple[Example, ...]
    direction: str
    share: ClassVar[int] = 2

    @property
    def examples(self) -> tuple[Example, ...]:
        """Everything that training may show of it."""
        return (self.original, *self.variants)


@dataclass(frozen=True, slots=True)
class Several:
    """Examples with their soft labels; each visit shows up to three, the first among them if `keep_first`."""

    examples: tuple[Example, ...]
    targets: tuple[Target, ...]
    keep_first: bool = False
    share: ClassVar[int] = 3


@dataclass(frozen=True, slots=True)
class Answered:
    """A context and its question, with everywhere that the answer stands in the context."""

    example: Example
    places: tuple[tuple[int, int], ...]
    """Each as (first letter, behind the last letter)."""
    window: int = 0
    """Which part of a context that is longer than the model takes."""
    share: ClassVar[int] = 1

    @property
    def examples(self) -> tuple[Example, ...]:
        """Everything that training may show of it."""
        return (self.example,)


@dataclass(frozen=True, slots=True)
class Alike:
    """A context and its question, with variants in which the answer stands where it did; as with `Invariant`."""

    original: Example
    variants: tuple[Example, ...]
    share: ClassVar[int] = 2

    @property
    def examples(self) -> tuple[Example, ...]:
        """Everything that training may show of it."""
        return (self.original, *self.variants)


Item = Labelled | Invariant | Directed | Several | Answered | Alike


@dataclass(frozen=True, slots=True)
class Environment:
    """A group of items as a training method sees it: a functionality, or the i.i.d. data."""

    name: str
    kind: Kind
    items: Sequence[Item]

    def __post_init__(self) -> None:
        if not self.items:
            raise DataError(f"{self.name}: nothing to train on", fix="give it items, or leave it out")
        if len({type(item) for item in self.items}) > 1:
            raise DataError(
                f"{self.name}: items of different kinds cannot be one environment",
                fix="an environment for each kind",
            )
        for item in self.items:
            _check(item, self.name)

    def __len__(self) -> int:
        return len(self.items)

    def batch_size(self, batch: int) -> int:
        """How many items fill a batch of this many places.

        >>> pairs = Environment("typos", "INV", [Invariant(("good",), (("goood",),))])
        >>> pairs.batch_size(8)
        4
        """
        return max(1, batch // self.items[0].share)

    def batches(self, batch: int) -> int:
        """How many batches hold every item once."""
        return -(-len(self.items) // self.batch_size(batch))


def pools(environments: Iterable[Environment]) -> list[Environment]:
    """The same items by kind alone: what may share a batch where environments do not matter."""
    found: dict[tuple[Kind, type[Item]], list[Item]] = {}
    for environment in environments:
        found.setdefault((environment.kind, type(environment.items[0])), []).extend(environment.items)
    return [Environment(kind, kind, items) for (kind, _), items in found.items()]


def _check(item: Item, where: str) -> None:
    match item:
        case Invariant(variants=()) | Directed(variants=()) | Several(examples=()) | Alike(variants=()):
            raise DataError(
                f"{where}: an item without anything to set beside it",
                why=repr(item),
                fix="give it variants, or leave it out",
            )
        case Answered(places=()):
            raise DataError(
                f"{where}: an answer that stands nowhere in its context",
                why=repr(item)[:300],
                fix="an answer that is a piece of the context",
            )
        case Several(examples=examples, targets=targets) if len(examples) != len(targets):
            raise DataError(
                f"{where}: {len(examples)} examples and {len(targets)} labels",
                why=repr(item),
                fix="a label for each example",
            )
        case Directed(direction=direction) if direction not in DIRECTIONS:
            raise DataError(
                f"{where}: direction {direction!r}",
                why=f"known: {', '.join(DIRECTIONS)}",
                fix=nearest(direction, DIRECTIONS) or "one of those",
            )
