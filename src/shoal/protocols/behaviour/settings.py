"""Settings of `[behaviour]`, and the values of each profile where papers and code differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from ...core.ranges import Count, Seed, Within
from ..base import Profiled, changes

SPLITS = ("train", "validation", "test")

Profile = Literal["recommended", "paper", "reference"]

BY_CODE = {
    "edits": "beluga",
    "duplicates": "keep",
    "split_by": "id",
    "tolerance": None,
    "directional": "checklist",
    "band": "strict",
}
PROFILES: dict[str, dict[str, Any]] = {
    "recommended": {**BY_CODE, "edits": "repaired", "split_by": "content", "band": "inclusive"},
    "paper": {**BY_CODE, "tolerance": 0.0, "directional": "paper", "band": "inclusive"},
    "reference": BY_CODE,
}
"""`recommended` is ours, `paper` the text of the BELUGA paper, `reference` its code, quirks included."""


TRAINING = (
    "train", "iid", "iid_test", "iid_halves", "iid_texts", "iid_label", "iid_labels", "iid_limit", "ood", "hold_out",
    "hold_out_sample", "hold_out_asks", "sample_seed", "fold", "s_iid_mode", "shuffles",
)  # fmt: skip
IN_LEARNING = (
    'put it into a table [learning], which trains: [learning] suite = "sentiment", iid = "sentiment"'
)


def _suite(settings: "Settings") -> Any:
    from ...core.files import stamp
    from .build import suite_digest

    return suite_digest(settings.suite, stamp(settings.suite))


def _split(settings: "Settings") -> Any:
    from .build import split_identity

    return split_identity(settings, settings.split)


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """Settings of `[behaviour]` in a plan, or of `--set` on the command line."""

    REMOVED: ClassVar[Mapping[str, str]] = dict.fromkeys(TRAINING, IN_LEARNING) | {
        "slack": 'profile = "reference" compares without it'
    }
    PROFILES: ClassVar[Mapping[str, Mapping[str, Any]]] = PROFILES

    suite: str = changes("cases", "sentiment", resolve=_suite)
    """A suite that ships with shoal, or a file: YAML, a spreadsheet, a module (.py), or as in `list formats`."""
    split: str = changes("cases", "", resolve=_split)
    """Only this part of the suite: train, validation, test, FILE (its test part) or FILE:train. Empty: all of it."""
    limit: Count = changes("cases", 0)
    """Only a random sample of this many cases; 0 is all."""
    only: tuple[str, ...] = changes("cases", (), when=lambda settings: bool(settings.only))
    """Only the cases of these groups: functionality=neg*, capability=negation."""
    seed: Seed = changes("cases", 0, when=lambda settings: bool(settings.limit))
    """Seed of the sample of `limit`."""
    profile: Profile = changes("scoring", "recommended")
    """Where papers and code differ: recommended, paper or reference."""
    edits: Literal["none", "beluga", "repaired"] | None = changes("cases", None, advanced=True)
    """Repair known defects of the released suites; by default as the profile says."""
    duplicates: Literal["keep", "drop"] | None = changes("cases", None)
    """Cases with the same examples and labels in one functionality: keep all, or the first; by default as the profile
    says, which is to keep them."""
    split_by: Literal["content", "id"] | None = changes("cases", None, advanced=True)
    """Keep cases that read the same on one side of the split, or go by their ids; by default as the profile says."""
    tolerance: Annotated[float, Within(0, 2)] | None = changes("scoring", None)
    """How far a probability may move in INV and DIR tests; by default as the suite and the profile say."""
    directional: Literal["checklist", "paper"] | None = changes("scoring", None, advanced=True)
    """Judge DIR tests by CheckList's rules, or by the paper's strict inequality."""
    band: Literal["inclusive", "strict"] | None = changes("scoring", None, advanced=True)
    """Edges of the neutral band that makes three classes of a two-class sentiment model."""
    unparsed: Literal["error", "fail"] = changes("scoring", "error")
    """Count an answer that is none of the labels as an error, or as a failure."""
    resamples: Annotated[int, Within(10, 1_000_000)] = changes("scoring", 2000, advanced=True)
    """Draws of cases behind the intervals of G in behavioural learning; other intervals draw nothing."""

    @property
    def slack(self) -> float:
        """Return the allowance for rounding, added to every tolerance."""
        return 0.0 if self.profile == "reference" else 1e-9
