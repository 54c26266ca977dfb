"""What a behaviour audit can be told, and what each profile says where papers and code differ."""

from dataclasses import dataclass, field
from typing import Any, Literal

SPLITS = ("train", "validation", "test")

Profile = Literal["recommended", "paper", "reference"]

PROFILES: dict[str, dict[str, Any]] = {
    "recommended": {
        "edits": "repaired",
        "split_by": "content",
        "tolerance": None,
        "slack": 1e-9,
        "directional": "checklist",
        "band": "inclusive",
    },
    "paper": {
        "edits": "beluga",
        "split_by": "id",
        "tolerance": 0.0,
        "slack": 1e-9,
        "directional": "paper",
        "band": "inclusive",
    },
    "reference": {
        "edits": "beluga",
        "split_by": "id",
        "tolerance": None,
        "slack": 0.0,
        "directional": "checklist",
        "band": "strict",
    },
}
"""`recommended` is ours, `paper` the text of the BELUGA paper, `reference` its code, quirks included."""


def changes(what: Literal["cases", "answers", "scoring"], default: Any) -> Any:
    """A setting, with which step it bears on: those that only change scoring are not part of the answers' hash."""
    return field(default=default, metadata={"changes": what})


@dataclass(frozen=True, slots=True)
class Settings:
    """What `[behaviour]` in a plan, or `--set` on the command line, may say."""

    suite: str = changes("cases", "sentiment")
    """The name of a suite that ships with shoal, or a file."""
    split: str = changes("cases", "")
    """Only this part of the suite: train, validation, test, FILE (its test part) or FILE:train. Empty: all of it."""
    limit: int = changes("cases", 0)
    """Only a random sample of this many cases; 0 is all."""
    seed: int = changes("cases", 0)
    """For the sample and for resampled intervals."""
    profile: Profile = changes("scoring", "recommended")
    """Where papers and code differ: recommended, paper or reference."""
    edits: Literal["none", "beluga", "repaired"] | None = changes("cases", None)
    """Mend known defects of the released suites; by default as the profile says."""
    split_by: Literal["content", "id"] | None = changes("cases", None)
    """Keep cases that read the same on one side of the split, or go by their ids; by default as the profile says."""
    tolerance: float | None = changes("scoring", None)
    """How far a probability may move in INV and DIR tests; by default as the suite and the profile say."""
    slack: float | None = changes("scoring", None)
    """Added to every tolerance against rounding noise; by default 1e-9, and 0 in profile reference."""
    directional: Literal["checklist", "paper"] | None = changes("scoring", None)
    """Judge DIR tests by CheckList's rules, or by the paper's strict inequality."""
    band: Literal["inclusive", "strict"] | None = changes("scoring", None)
    """Edges of the neutral band that makes three classes of a two-class sentiment model."""
    resamples: int = changes("scoring", 2000)
    """Bootstrap resamples behind the intervals of means."""

    def resolved(self, name: str) -> Any:
        """A setting's value, the profile's where the user gave none."""
        own = getattr(self, name)
        return PROFILES[self.profile][name] if own is None else own
