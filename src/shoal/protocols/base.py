"""The interface of a protocol.

A protocol is a folder whose module has these names. Nothing is inherited or registered; mypy checks each.

    Settings ──► parts ──► build ──► recipe ──► ask ──► score ──► compare ──► view
    a table      its       cases     training   rows    one       across      what
    of a plan    jobs      kept      shared     kept    job       jobs        to show

The identity of a job's cases, answers and measures is derived from the tags of its settings (`identity`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from ..core.errors import PlanError
from ..core.files import digest, split_name
from ..core.records import Answer, Case, Example, Finding, Measure, Outcome, Result
from ..core.views import Section, ShownCase, shown_cases

if TYPE_CHECKING:
    from ..training.stage import Progress, Recipe

Step = Literal["cases", "answers", "scoring"]
Asks = Literal["labels", "spans", "options", "tokens", "vectors", "attributions"]
"""options: labels whose meaning differs between examples, with the whole reply."""
CLASSIFIES: tuple[Asks, ...] = ("labels", "spans", "options")
"""The kind of answer a job needs. Predictions files hold labels or spans."""


# Settings


def changes(
    step: Step,
    default: Any = MISSING,
    *,
    when: Callable[[Any], bool] | None = None,
    resolve: Callable[[Any], Any] | None = None,
    advanced: bool = False,
) -> Any:
    """Declare a setting with the first step that it changes.

    If `when(settings)` is false, the setting changes scoring only. `resolve(settings)` replaces the value in the hash,
    for example by the content of a file. `advanced` settings are documented in the reference, not in the guide;
    plans may put them under `[PROTOCOL.advanced]`.
    """
    metadata = {"changes": step, "when": when, "resolve": resolve, "advanced": advanced}
    return field(default=default, metadata=metadata)


def file_content(name: str) -> Callable[[Any], Any]:
    """Return a `resolve` function: a file, folder or list of them counts by its content, another value as it is."""

    def content(value: Any) -> Any:
        if isinstance(value, tuple):
            return [content(each) for each in value]
        path, split = split_name(value) if isinstance(value, str) else (Path(value or ""), "")
        if not value or not path.exists():
            return value
        return {"content": digest(path)} | ({"split": split} if split else {})

    return lambda settings: content(getattr(settings, name))


@dataclass(frozen=True, slots=True)
class Profiled:
    """Settings whose unset values come from a profile."""

    VERSION: ClassVar[int] = 1
    """Increased when building or querying changes, so that old answers are not reused."""
    PROFILES: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def resolved(self, name: str) -> Any:
        """Return a setting's value, or the profile's if the user gave none."""
        given = getattr(self, name)
        return self.PROFILES[self.profile][name] if given is None else given  # type: ignore[attr-defined]


def identity(settings: Any, *steps: Step) -> dict[str, Any]:
    """Return the settings that change these steps, resolved."""
    return {
        setting.name: _decisive(settings, setting)
        for setting in fields(settings)
        if step_of(settings, setting) in steps
    }


def step_of(settings: Any, setting: "Field[Any]") -> Step:
    """Return the first step that a setting changes."""
    if "changes" not in setting.metadata:
        raise AssertionError(
            f"{type(settings).__module__}.Settings.{setting.name} has no tag for the step it changes"
        )
    step: Step = setting.metadata["changes"]
    when = setting.metadata["when"]
    return step if when is None or when(settings) else "scoring"


def _decisive(settings: Any, setting: "Field[Any]") -> Any:
    if setting.metadata["resolve"] is not None:
        return setting.metadata["resolve"](settings)
    value = getattr(settings, setting.name)
    if value is None:
        profile = getattr(settings, "profile", "")
        return getattr(settings, "PROFILES", {}).get(profile, {}).get(setting.name)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def differing(settings: Any) -> dict[str, Any]:
    """Return the settings that differ from their defaults, for the header of a result."""
    usual = type(settings)()
    aside = {"seed", "profile"}
    return {
        setting.name: getattr(settings, setting.name)
        for setting in fields(settings)
        if setting.name not in aside and getattr(settings, setting.name) != getattr(usual, setting.name)
    }


# Cases


@dataclass(frozen=True, slots=True)
class Built:
    """The cases, with all that querying and scoring need."""

    cases: Sequence[Case]
    """The cases to query and score."""
    labels: tuple[str, ...] | None = None
    """The label names, if the cases name them."""
    asks: Asks = "labels"
    measures: Sequence[Measure] = ()
    """Counts made while building, such as a funnel of exclusions."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Plain values about the whole suite, such as its name."""
    chosen_from: Sequence[Case] = ()
    """The complete suite, if `cases` is a part of it; stored predictions may cover all of it."""

    @property
    def whole(self) -> Sequence[Case]:
        return self.chosen_from or self.cases


@dataclass(frozen=True, slots=True)
class Scored:
    """The outcomes and measures of one job."""

    outcomes: Sequence[Outcome]
    measures: Sequence[Measure]
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    findings: Sequence[Finding] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """Results across the jobs of a plan."""

    measures: Sequence[Measure] = ()
    findings: Sequence[Finding] = ()


class ProtocolModule(Protocol):
    @property
    def Settings(self) -> type[Any]:  # noqa: N802 (a class)
        """The settings of a plan's table; each field is tagged with the step it changes."""
        ...

    def parts(self, settings: Any) -> list[Any]:
        """Return the settings of each job of one table."""
        ...

    def title(self, settings: Any) -> str:
        """Return a word or two for file and job names."""
        ...

    def build(self, settings: Any, progress: "Progress") -> Built:
        """Return the cases, the same for every model. Only the store calls this, and keeps the result.

        A long build may take a third argument, `so_far`: a file for resuming an interrupted build. The store locks
        it, and deletes it when the build is complete.
        """
        ...

    def recipe(self, settings: Any, model: str) -> "Recipe | None":
        """Return the training before the queries, or None to query the model as it is."""
        ...

    def ask(self, settings: Any, model: Any, built: Built, examples: Sequence[Example]) -> Sequence[Answer]:
        """Return the model's answers to one batch of examples, in order: the only step that uses the model.

        For stored answers the batch is every example of the cases, in order.
        """
        ...

    def score(self, settings: Any, built: Built, answers: Any) -> Scored:
        """Return outcomes, measures and findings of one job; pure.

        `answers` are by mark, the last is the end of training: `Answers` where labels or spans were asked for, else
        the rows of each case (`models.answer_rows.answers_by_mark`).
        """
        ...

    def compare(self, settings: Any, results: Sequence[Result]) -> Compared:
        """Return results across jobs; pure. `results` are those of the finished jobs."""
        ...

    def view(
        self,
        settings: Any,
        results: Sequence[Result],
        measures: Sequence[Measure],
        findings: Sequence[Finding],
    ) -> list[Section]:
        """Return the sections to show: of one result if `measures` is empty, else of the comparison."""
        ...


@runtime_checkable
class ReplacesModels(Protocol):
    """A protocol whose settings may decide what is queried in place of the model that a plan names."""

    def replace_model(self, settings: Any, spec: str) -> Any:
        """Return the model to query, such as stored answers; None to query the one that the spec names."""

    def part_title(self, settings: Any) -> str:
        """Return a word for the name of a job that no training names."""


@runtime_checkable
class NamesModels(Protocol):
    """A protocol whose settings may name a model of their own."""

    def own_model(self, settings: Any) -> str:
        """Return the spec of a job's own model; empty where it has the plan's."""


@dataclass(frozen=True, slots=True)
class Form:
    """A file format in which a protocol exports its cases."""

    what: str
    """The content of the file, in a few words."""
    write: Callable[[Any, Built, Path], int]
    """Writes the built cases to a file and returns their number."""


@dataclass(frozen=True, slots=True)
class Listing:
    """How `show --failing` lists the cases of a result whose outcomes are not plain passes."""

    words: str = "fail"
    """The verb of "3 of 40 cases fail"."""
    outcome: bool = False
    """The outcome of the listed cases."""
    shown: Callable[[Result, Sequence[Case]], list[ShownCase]] = shown_cases
    counts: Callable[[Case], bool] = lambda case: True
    """Whether a case belongs to the reported numbers."""


@runtime_checkable
class ListsCases(Protocol):
    """A protocol with its own words for failing cases."""

    def listing(self, result: Result) -> Listing:
        """Return how to list the failing cases of a result."""


@runtime_checkable
class WritesForms(Protocol):
    """A protocol whose cases can be exported (`shoal export`)."""

    FORMS: Mapping[str, Form]
    """File suffix to format."""


def is_random(settings: Any, recipe: "Recipe | None") -> bool:
    """Return whether the seed can change the answers: only then do a plan's seeds multiply its jobs."""
    seed = next((setting for setting in fields(settings) if setting.name == "seed"), None)
    samples = seed and seed.metadata.get("when") and step_of(settings, seed) != "scoring"
    return bool(samples or (recipe and recipe.stages))


def only_part(module: ProtocolModule, settings: Any) -> Any:
    """Return the settings of the only job, or raise if there are several."""
    parts = module.parts(settings)
    if len(parts) > 1:
        raise PlanError(
            f"these settings mean {len(parts)} jobs",
            why="one can be tried at a time",
            fix=f"{_chosen(parts)}, or all of them with shoal run PLAN",
        )
    return parts[0]


def _chosen(parts: Sequence[Any], prefix: str = "") -> str:
    """Return the option that chooses the first of several jobs."""
    for setting in fields(parts[0]):
        values = [getattr(part, setting.name) for part in parts]
        if all(value == values[0] for value in values):
            continue
        name = f"{prefix}{setting.name.removesuffix('_')}"
        if is_dataclass(values[0]):
            return _chosen(values, f"{name}.")
        value = values[0]
        return f"--set {name}={','.join(map(str, value)) if isinstance(value, tuple) else value}"
    return "one value of each setting"
