"""Settings of MERGE; the defaults are the poster's (`docs/method/merge.md` 4.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
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


def _generates(settings: "Settings") -> bool:
    return not (settings.group or settings.paraphrase or settings.variants)


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """Settings of `[merge]` in a plan, or of `--set` on the command line."""

    VERSION: ClassVar[int] = 3
    REMOVED: ClassVar[Mapping[str, str]] = {
        "same_form": "filters = default, which compares word classes",
        "references": "compare the models with shoal compare",
        "count_seed": "set by group and paraphrase",
        "minimum": "sample, which is also the number of suggestions that a word class needs",
    }

    data: str = changes("cases", OURS, resolve=file_content("data"))
    """Labelled pairs or single texts: a table, or `example`, the built-in problems."""
    text: tuple[str, ...] = changes("cases", (), advanced=True)
    """Column of the text, or the two columns of a pair; by default the usual names."""
    label: str = changes("cases", "", advanced=True)
    """Column of the label."""
    label_names: tuple[str, ...] = changes("cases", ())
    """Names of the labels 0, 1, 2 … in the file: entailment,neutral,contradiction."""
    group: str = changes("cases", "")
    """Column that names the group of a row; its rows are variants of one another and nothing is generated."""
    paraphrase: tuple[str, ...] = changes("cases", ())
    """Columns with paraphrases of the last text: each row is a group and nothing is generated."""
    variants: str = changes("cases", "", resolve=file_content("variants"))
    """File of variants that `shoal export` wrote; nothing is generated."""
    limit: AtLeastOne | None = changes("cases", None)
    """Number of problems to use, a fixed random choice."""
    suggesters: tuple[str, ...] = changes("cases", (OURS,), when=_generates, resolve=_suggesters)
    """Masked language models, as model specs, that suggest replacements; `example` is built in."""
    filters: tuple[Filter, ...] = changes("cases", ("default",), when=_generates)
    """Filter conditions: default, pos only, probability only, none, or the default's words scrambled."""
    sample: AtLeastOne = changes("cases", 20, when=_generates)
    """Variants per problem and word class in one draw; a class with fewer suggestions is dropped."""
    draws: AtLeastOne = changes("cases", 10, when=_generates)
    """Number of draws."""
    by_source: Literal["equal", "split"] = changes("cases", "equal", when=_generates, advanced=True)
    """Compare sources at equal numbers on the same problems, or split the draws as the poster does."""
    threshold: Level = changes("scoring", 0.9)
    """Share of its variants that must be right for a problem to pass, in lists and gates."""
    audited: tuple[str, ...] = changes("scoring", (), resolve=file_content("audited"), advanced=True)
    """Files with human judgements, with columns id and label, as the page of `shoal export` saves them."""
    seed: Seed = changes("scoring", 0)
    """Seed of the sign flips in comparisons and of the audit sample."""

    def __post_init__(self) -> None:
        sources = [name for name in ("group", "paraphrase", "variants") if getattr(self, name)]
        if len(sources) > 1:
            raise PlanError(
                f"{' and '.join(sources)} are both set",
                why="each of them defines the variants",
                fix=f"leave out {sources[1]}",
            )
        if not self.suggesters or not self.filters:
            raise PlanError(
                "suggesters and filters need at least one entry",
                fix="leave the empty setting out to use its default",
            )

    @property
    def generates(self) -> bool:
        """Whether shoal generates the variants."""
        return _generates(self)

    @property
    def counts_seed(self) -> bool:
        """Whether the original counts as one of its variants, as in groups of the user's own."""
        return bool(self.group or self.paraphrase)
