"""What a MERGE audit can be told; numbers are the poster's (`docs/method/merge.md` 4.2), options those of 4.10."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...core.errors import PlanError
from ...core.files import digest
from ...core.ranges import AtLeastOne, Count, Level, Seed
from ..base import Profiled, changes, file_content

Filter = Literal["default", "pos", "probability", "none", "scrambled"]
Masking = Literal["all", "one at a time", "union"]
WordClass = Literal["noun", "verb", "adjective"]

OURS = "example"
"""The problems, and the suggester, that need no file."""
HEADLINE = (0.5, 0.9, 0.95, 1.0)
"""Shares of variants that are shown, compared and gated; the curve has more."""
FEWEST_REFERENCES = 3


def _suggesters(settings: "Settings") -> Any:
    from .suggest import fingerprints

    return fingerprints(settings.suggesters)


def _audited(settings: "Settings") -> Any:
    return [{"content": digest(Path(name))} if Path(name).is_file() else name for name in settings.audited]


def _generates(settings: "Settings") -> bool:
    """Whether variants are made here, not read."""
    return not (settings.group or settings.paraphrase or settings.variants)


def _references(settings: "Settings") -> Any:
    from .references import what_they_are

    return what_they_are(settings.references)


def _has_references(settings: "Settings") -> bool:
    return bool(settings.references)


@dataclass(frozen=True, slots=True)
class Settings(Profiled):
    """What `[merge]` in a plan, or `--set` on the command line, may say."""

    VERSION: ClassVar[int] = 3

    data: str = changes("cases", OURS, resolve=file_content("data"))
    """Labelled pairs or single texts: a table, or `example`, problems of our own."""
    text: tuple[str, ...] = changes("cases", ())
    """The column of the text, or the two of a pair; told from the usual names if not given."""
    label: str = changes("cases", "")
    """The column of the label."""
    label_names: tuple[str, ...] = changes("cases", ())
    """What labels 0, 1, 2 … of the file are called: entailment,neutral,contradiction."""
    group: str = changes("cases", "")
    """A column that says which rows are variants of one another: nothing is generated then."""
    paraphrase: tuple[str, ...] = changes("cases", ())
    """Columns with other wordings of the last text: each row is a group, and nothing is generated."""
    variants: str = changes("cases", "", resolve=file_content("variants"))
    """A file of variants that was exported before, or made elsewhere: nothing is generated."""
    limit: AtLeastOne | None = changes("cases", None)
    """Only so many problems, chosen by `draw_seed`."""
    suggesters: tuple[str, ...] = changes("cases", (OURS,), when=_generates, resolve=_suggesters)
    """Masked language models, as model specs, that suggest replacements; `example` needs none."""
    suggestions: AtLeastOne = changes("cases", 200, when=_generates)
    """How many of the likeliest words each suggests for each occurrence."""
    masking: Masking = changes("cases", "all", when=_generates)
    """All occurrences hidden at once; or one at a time, the others in sight; union: suggested for any of them."""
    context: Literal["pair", "sentence"] = changes("cases", "pair", when=_generates)
    """Whether the suggester sees both texts of a pair, or each by itself."""
    targets: Literal["shared", "any"] | None = changes("cases", None, when=_generates)
    """Words that are replaced: those that both texts of a pair share (by default), or any (in single texts)."""
    word_classes: tuple[WordClass, ...] = changes("cases", ("noun", "verb", "adjective"), when=_generates)
    """Of which classes the replaced words may be."""
    proper_nouns: bool = changes("cases", False, when=_generates)
    """Replace names too; they count as nouns."""
    relatives: bool = changes("cases", True, when=_generates)
    """Leave out suggestions with the same lemma or stem as the word."""
    wordnet: str = changes("cases", "", when=_generates, resolve=file_content("wordnet"))
    """The folder of WordNet's `data.noun` and so on: words that it links by derivation are relatives too."""
    same_form: bool = changes("cases", False, when=_generates)
    """The suggestion must agree in number or tense too, not in its class alone."""
    tag_alone: bool = changes("cases", False, when=_generates)
    """Tag a suggestion by itself, not in its sentence."""
    probable_on: Literal["every", "mean"] = changes("cases", "every", when=_generates)
    """More probable than the original word at every occurrence, or on average."""
    as_probable: bool = changes("cases", False, when=_generates)
    """Keep suggestions that are exactly as probable as the original word, too."""
    filters: tuple[Filter, ...] = changes("cases", ("default",), when=_generates)
    """Filter conditions: default; POS or probability alone; none of the two; or scrambled letters of the default's."""
    minimum: AtLeastOne = changes("cases", 20, when=_generates)
    """A problem's class of words needs so many suggestions; fewer are never padded."""
    minimum_of: Literal["class", "word", "model"] = changes("cases", "class", when=_generates)
    """What needs so many: all suggestions of a class together; those for each word; or those of each suggester."""
    sample: AtLeastOne = changes("cases", 20, when=_generates)
    """Variants of each problem and class of words in one draw."""
    draws: Count = changes("cases", 10, when=_generates)
    """How often variants are drawn; 0: all are asked, and the mean over all possible draws is computed."""
    by_source: Literal["equal", "split"] = changes("cases", "equal", when=_generates)
    """Compare sources at equal numbers on the same problems, or split the drawn variants as the poster does."""
    source_sample: AtLeastOne = changes("cases", 5, when=_generates)
    """Variants of each problem and source in one draw, where numbers are equal."""
    fix_articles: bool = changes("cases", False, when=_generates)
    """Make "a" and "an" fit the new word."""
    references: tuple[str, ...] = changes("cases", (), when=_has_references, resolve=_references)
    """Three other models or more: how many problems are solved without the variants that all of them fail."""
    draw_seed: Seed = changes("cases", 0)
    """For the draws, the scrambling and `limit`."""
    count_seed: bool | None = changes("scoring", None)
    """Whether the original is one more variant; by default in groups of the user's own, not where variants are made."""
    patterns: Literal["problem", "unit"] = changes("scoring", "problem")
    """Over all classes: one pattern per problem, or one per problem and class."""
    threshold: Level = changes("scoring", 0.9)
    """The share of its variants with which a problem passes, for lists of failing problems and gates."""
    audit_sample: AtLeastOne = changes("scoring", 200)
    """For how many variants, and their originals, `shoal export` asks people whether the label is right."""
    audited: tuple[str, ...] = changes("scoring", (), resolve=_audited)
    """What people said of such a sample: the sheet that they filled in, or the files that their pages saved."""
    seed: Seed = changes("scoring", 0)
    """For random sign flips in comparisons of models, and the sample that people judge."""

    def __post_init__(self) -> None:
        named = [name for name in ("group", "paraphrase", "variants") if getattr(self, name)]
        if len(named) > 1:
            raise PlanError(
                f"{' and '.join(named)} are given",
                why="each of them says where the variants come from",
                fix=f"leave out {named[1]}",
            )
        if self.sample > self.minimum:
            raise PlanError(
                f"sample = {self.sample} and minimum = {self.minimum}",
                why="so many cannot be drawn where fewer are left",
                fix=f"minimum = {self.sample}",
            )
        if not self.suggesters or not self.filters or not self.word_classes:
            raise PlanError(
                "suggesters, filters and word_classes need one entry at least",
                fix="leave the empty one out: its default is taken",
            )

        if 0 < len(set(self.references)) < FEWEST_REFERENCES:
            raise PlanError(
                f"references: {', '.join(self.references)}",
                why="one or two models fail much that is right",
                fix=f"name {FEWEST_REFERENCES} different ones at least, none of which is audited itself",
            )

    @property
    def generates(self) -> bool:
        """Whether variants are made here, not read."""
        return _generates(self)

    @property
    def counts_seed(self) -> bool:
        """Whether the original is one more variant."""
        return not self.generates and not self.variants if self.count_seed is None else self.count_seed
