"""Settings of MERGE; the defaults are the poster's (`docs/method/merge.md` 4.2)."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal

from ...core.errors import PlanError
from ...core.ranges import AtLeastOne, Level, Seed
from ..base import Profiled, changes, file_content

Filter = Literal["default", "pos", "probability", "none", "scrambled"]
WordClass = Literal["noun", "verb", "adjective"]
WORD_CLASSES: tuple[WordClass, ...] = ("noun", "verb", "adjective")
"""Classes of the words to replace."""

OURS = "example"
"""The built-in problems and the built-in suggester."""
HEADLINE = (0.5, 0.9, 0.95, 1.0)
"""Thresholds that are shown, compared and gated; the curve has more."""


def _suggesters(settings: "Settings") -> Any:
    from .suggest import fingerprints

    return fingerprints(settings.suggesters)


_generates = attrgetter("generates")


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """Settings of `[merge]` in a plan, or of `--set` on the command line."""

    VERSION: ClassVar[int] = 3

    data: str = changes("cases", OURS, resolve=file_content("data"))
    """Labelled pairs or single texts: a file, or `example` (built in)."""
    text: tuple[str, ...] = changes("cases", (), advanced=True)
    """Column of the text, or the two columns of a pair. Default: found by name."""
    label: str = changes("cases", "", advanced=True)
    """Column of the label. Default: found by name."""
    label_names: tuple[str, ...] = changes("cases", ())
    """Names of the labels 0, 1, 2 …: entailment,neutral,contradiction."""
    group: str = changes("cases", "")
    """Column of the group. Rows of a group are variants of one another; shoal generates no variants."""
    paraphrase: tuple[str, ...] = changes("cases", ())
    """Columns with paraphrases of the last text. Each row is a group; shoal generates no variants."""
    variants: str = changes("cases", "", resolve=file_content("variants"))
    """File of variants from `shoal export`; shoal generates no others."""
    limit: AtLeastOne | None = changes("cases", None)
    """Use a fixed random sample of this many problems."""
    suggesters: tuple[str, ...] = changes("cases", (OURS,), when=_generates, resolve=_suggesters)
    """Masked language models (specs) that suggest replacements; `example` is built in."""
    filters: tuple[Filter, ...] = changes("cases", ("default",), when=_generates)
    """Filters of suggestions. default is pos and probability; scrambled also shuffles the letters of new words."""
    sample: AtLeastOne = changes("cases", 20, when=_generates)
    """Variants per problem and word class in one draw. A class with fewer suggestions is left out."""
    draws: AtLeastOne = changes("cases", 10, when=_generates)
    """Number of draws."""
    by_source: Literal["equal", "split"] = changes("cases", "equal", when=_generates, advanced=True)
    """Compare suggesters with equal numbers of variants, or split the draws as the poster does."""
    threshold: Level = changes("scoring", 0.9)
    """A problem passes if this share of its variants is right (in lists and gates)."""
    audited: tuple[str, ...] = changes("scoring", (), resolve=file_content("audited"), advanced=True)
    """Human judgements: files with id and label, saved by the page of `shoal export`."""
    seed: Seed = changes("scoring", 0)
    """Seed of sign flips and of the audit sample."""

    def __post_init__(self) -> None:
        sources = [name for name in ("group", "paraphrase", "variants") if getattr(self, name)]
        if len(sources) > 1:
            raise PlanError(
                f"{' and '.join(sources)} are both set",
                why="each of them defines the variants",
                fix=f"leave out {sources[1]}",
            )

    @property
    def generates(self) -> bool:
        """Whether shoal generates the variants."""
        return not (self.group or self.paraphrase or self.variants)

    @property
    def counts_seed(self) -> bool:
        """Whether the original counts as one of its variants, as in groups of the user's own."""
        return bool(self.group or self.paraphrase)
