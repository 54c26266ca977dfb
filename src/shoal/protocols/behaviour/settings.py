"""Settings of `[behaviour]`, and the values of each profile where papers and code differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from ...core.ranges import Count, Seed, Within
from ..base import Profiled, changes

SPLITS = ("train", "validation", "test")

Profile = Literal["recommended", "paper", "reference"]
SplitBy = Literal["content", "text", "id"]

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
    "train", "iid", "iid_test", "iid_halves", "iid_texts", "iid_label", "iid_labels", "iid_limit", "hold_out",
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
    """A built-in suite, or a file: YAML, spreadsheet, Python module, or a format of `list formats`."""
    split: str = changes("cases", "", resolve=_split)
    """Use only this part of the suite: train, validation, test, FILE (its test part) or FILE:train."""
    limit: Count = changes("cases", 0)
    """Use a random sample of this many cases; 0 is all."""
    only: tuple[str, ...] = changes("cases", (), when=lambda settings: bool(settings.only))
    """Use only these groups: functionality=neg*, capability=negation."""
    seed: Seed = changes("cases", 0, when=lambda settings: bool(settings.limit))
    """Seed of the sample of `limit`."""
    profile: Profile = changes("scoring", "recommended")
    """The definition to use where paper and code differ."""
    edits: Literal["none", "beluga", "repaired"] | None = changes("cases", None, advanced=True)
    """Repair known defects of the released suites. Default: from the profile."""
    duplicates: Literal["keep", "drop"] | None = changes("cases", None)
    """Identical cases of one functionality: keep all, or only the first. Default: keep."""
    split_by: SplitBy | None = changes("cases", None, advanced=True)
    """Keep identical cases on one side of the split (content), or all cases that share a text (text), or none (id).
    Default: from the profile."""
    tolerance: Annotated[float, Within(0, 2)] | None = changes("scoring", None)
    """Largest allowed change of a probability in INV and DIR tests. Default: from suite and profile."""
    directional: Literal["checklist", "paper"] | None = changes("scoring", None, advanced=True)
    """Judge DIR tests by CheckList's rules, or by the paper's strict inequality."""
    band: Literal["inclusive", "strict"] | None = changes("scoring", None, advanced=True)
    """Whether the edges of a two-class sentiment model's neutral band count as neutral."""
    unparsed: Literal["error", "fail"] = changes("scoring", "error")
    """Count a reply without a label as an error, or as a failure."""
    resamples: Annotated[int, Within(10, 1_000_000)] = changes("scoring", 2000, advanced=True)
    """Bootstrap draws for the intervals of G in `learning`."""

    @property
    def slack(self) -> float:
        """Return the allowance for rounding, added to every tolerance."""
        return 0.0 if self.profile == "reference" else 1e-9
