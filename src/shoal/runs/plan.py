"""Plan files: from TOML to jobs.

    models = ["predictions:answers.jsonl", "python:my_model:predict"]

    [behaviour]
    suite = "sentiment"
    split = "test"

A plan is data: no includes, no functions, no inheritance. Every model gets a job per protocol; seeds multiply the jobs
that are random, prompts multiply the prompted models. A protocol decides what a list in its table means. The whole plan
is checked before anything runs.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, unquote_plus

from ..core.errors import PlanError, ShoalError, errors_at, nearest
from ..core.files import SPLIT, read_toml, split_name
from ..core.ranges import LARGEST_SEED, Count, Within
from ..models import SCHEMES, is_prompted, load_model, parse_spec
from ..models.interface import StoredAnswers
from ..models.labels import labels_option
from ..protocols import PROTOCOLS, find_protocol
from ..protocols.base import NamesModels, ReplacesModels, identity, is_random
from .settings import Resources, make_settings, read_resources

if TYPE_CHECKING:
    from ..training.stage import Recipe

TOP = ("models", "prompts", "orders", "seeds", "groups", "resources")


@dataclass(frozen=True, slots=True)
class _Lists:
    """What multiplies the jobs of a plan."""

    prompts: tuple[str, ...] = ()
    orders: tuple[Count, ...] = ()
    seeds: tuple[Annotated[int, Within(0, LARGEST_SEED)], ...] = (0,)


@dataclass(frozen=True, slots=True)
class Job:
    """One protocol on one model: the unit of work and of resume.

    `identity` holds, resolved, everything that can change the answers; `id` ends in its hash.
    """

    id: str
    protocol: str
    model: str
    settings: Any
    identity: Mapping[str, Any]
    cases: str
    """The name of its cases; jobs with the same cases share them."""
    given: Any = field(default=None, compare=False, repr=False)
    """The model itself, if it is an object without a spec."""
    recipe: "Recipe | None" = field(default=None, compare=False, repr=False)
    """The training before the model is queried, derived once; None if there is none, or after pickling."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the recipe, which holds functions; a worker derives it again."""
        return Job, (self.id, self.protocol, self.model, self.settings, self.identity, self.cases, self.given)

    def as_json(self) -> dict[str, Any]:
        """Return the job as the public `--json` object shows it."""
        return {
            "id": self.id,
            "protocol": self.protocol,
            "model": self.model,
            "settings": asdict(self.settings),
            "identity": dict(self.identity),
            "cases": self.cases,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The checked content of a plan file."""

    models: Mapping[str, str]
    """Name to spec; a model without a name has its spec as name."""
    tables: Mapping[str, Any]
    """Protocol to settings."""
    seeds: tuple[int, ...] = (0,)
    groups: Mapping[str, "Group"] = field(default_factory=dict)
    where: str = "plan"
    resources: Mapping[str, Resources] = field(default_factory=dict)
    """Protocol to the resources of each of its jobs."""

    def jobs(self) -> list[Job]:
        """Return every job of the plan; each recipe is derived once."""
        jobs: dict[str, Job] = {}
        fingerprints: dict[str, Mapping[str, Any]] = {}
        for protocol, settings in self.tables.items():
            module = find_protocol(protocol)
            for part in module.parts(settings):
                for spec in self._specs_of(protocol, part):
                    other = replaced_model(protocol, part, spec)
                    if isinstance(other, StoredAnswers):
                        self._refuse_several("stored predictions")
                    if other is None and spec not in fingerprints:
                        fingerprints[spec] = fingerprint_of(spec)
                    for seed in self.seeds:
                        job = make_job(protocol, spec, replace(part, seed=seed), fingerprints.get(spec))
                        jobs.setdefault(job.id, job)
                        if not is_random(part, job.recipe):
                            break
        return list(jobs.values())

    def _specs_of(self, protocol: str, part: Any) -> list[str]:
        """Return the models of a part: the plan's, or its own in their place."""
        module = find_protocol(protocol)
        own = module.own_model(part) if isinstance(module, NamesModels) else ""
        if own:
            self._refuse_several(own)
        return [own] if own else list(self.models.values())

    def _refuse_several(self, answering: str) -> None:
        """Stop if one thing would answer for each of several models."""
        if len(self.models) > 1:
            raise PlanError(
                f"{self.where}: {answering} would be used for each of {len(self.models)} models",
                why="stored predictions, and the model of a task, belong to one model",
                fix="a plan for each model",
            )

    def group_of(self, spec: str) -> dict[str, Any]:
        """Return the group of a model, with its step and run if the plan has them."""
        for name, group in self.groups.items():
            if spec in group.models:
                place = group.models.index(spec)
                axes = {"step": group.steps, "run": group.seeds}
                return {"group": name} | {axis: values[place] for axis, values in axes.items() if values}
        return {"group": ""}


@dataclass(frozen=True, slots=True)
class Group:
    """Checkpoints of one recipe, possibly from several steps of a training."""

    models: tuple[str, ...]
    steps: tuple[Count, ...] = ()
    """The training step of each model; may be empty."""
    seeds: tuple[Count, ...] = ()
    """The training run of each model; may be empty if every model is a run of its own."""


def make_job(
    protocol: str,
    spec: str,
    settings: Any,
    fingerprint: Mapping[str, Any] | None = None,
    given: Any = None,
) -> Job:
    """Return a job, named by protocol, model and cases, and by a hash of everything that can change its answers."""
    module = find_protocol(protocol)
    cases, cases_name = _cases_of(protocol, settings)
    other = replaced_model(protocol, settings, spec)
    if other is not None:
        fingerprint = {"name": spec, **other.fingerprint()}
    decisive = {
        "cases": cases,
        "answers": identity(settings, "answers"),
        "model": fingerprint_of(spec) if fingerprint is None else fingerprint,
    }
    title = name = slug(module.title(settings))
    if other is not None and isinstance(module, ReplacesModels):
        name = slug(f"{title}-{module.part_title(settings)}", 100)
    recipe = module.recipe(settings, spec)
    if recipe is not None:
        trained = recipe.stages[-1].title if recipe.stages else "untrained"
        name = slug(f"{title}-{trained}-seed-{settings.seed}", 100)
        decisive["training"] = {
            "base": dict(recipe.identity),
            "stages": [dict(stage.identity) for stage in recipe.stages],
            "seed": settings.seed,
            "threads": recipe.threads,
        }
    resolved = plain(decisive)
    job_id = f"{protocol}-{model_name(spec)}-{name}-{short_hash(resolved)}"
    return Job(job_id, protocol, spec, settings, resolved, cases_name, given, recipe)


def cases_job(protocol: str, settings: Any) -> Job:
    """Return a job without a model, for its cases."""
    cases, name = _cases_of(protocol, settings)
    return Job("", protocol, "", settings, {"cases": cases}, name)


def _cases_of(protocol: str, settings: Any) -> tuple[dict[str, Any], str]:
    """Return everything that decides the cases, and their name."""
    module = find_protocol(protocol)
    cases = {"protocol": protocol, "version": module.Settings.VERSION, **identity(settings, "cases")}
    return cases, f"{protocol}-{slug(module.title(settings))}-{short_hash(cases)}"


def replaced_model(protocol: str, settings: Any, spec: str) -> Any:
    """Return what a job queries in place of the model that its spec names; None if it queries that model."""
    module = find_protocol(protocol)
    return module.replace_model(settings, spec) if isinstance(module, ReplacesModels) else None


def fingerprint_of(spec: str) -> dict[str, Any]:
    """Return everything that decides a model's answers, such as digests of its files."""
    return {"scheme": parse_spec(spec).scheme, **load_model(spec).fingerprint()}


def model_name(spec: str) -> str:
    """Return a model's name for job ids: its folder, file or object.

    >>> [model_name(spec) for spec in ("hf:runs/my-bert", "predictions:a/b.csv?label=x", "tiny:sentiment")]
    ['my-bert', 'b', 'tiny-sentiment']
    """
    parsed = parse_spec(spec)
    last = parsed.name.rstrip("/").rpartition("/")[2]
    if "prompt" in parsed.options:
        return slug(f"{slug(last)} {PurePath(parsed.options['prompt']).stem}", 60)
    return slug(f"tiny {last}" if parsed.scheme == "tiny" else last)


def slug(text: str, longest: int = 40) -> str:
    """Return text as part of a file name.

    >>> slug("My Model (v2).jsonl.gz")
    'my-model-v2'
    """
    stem = re.sub(r"(\.jsonl|\.json|\.csv|\.tsv|\.txt|\.gz)+$", "", text.lower())
    return re.sub(r"[^a-z0-9.]+", "-", stem).strip("-.")[:longest] or "x"


def plain(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as JSON reads it back: tuples become lists, keys text."""
    read_back: dict[str, Any] = json.loads(json.dumps(resolved))
    return read_back


def short_hash(resolved: Mapping[str, Any], letters: int = 8) -> str:
    return hashlib.sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()[:letters]


def read_plan(path: Path) -> Plan:
    """Read a plan file; raise on unknown keys, wrong types, missing files and values given twice."""
    table = read_toml(
        path, 'lines such as models = ["predictions:answers.jsonl"], and a table such as [behaviour]'
    )
    try:
        return make_plan(_located(table, path.parent), str(path))
    except PlanError as problem:
        raise problem.at(str(path)) from None


def _located(value: Any, folder: Path) -> Any:
    """Return the plan with its relative paths, which start at its own folder, relative to the current folder."""
    if isinstance(value, Mapping):
        return {key: _located(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_located(inner, folder) for inner in value]
    if not isinstance(value, str) or not value or "\0" in value:
        return value
    scheme, colon, name = value.partition(":")
    if colon and scheme in SCHEMES:
        head, mark, options = name.partition("?")
        for option in options.split("&"):
            key, _, file = option.partition("=")
            if key == "prompt":
                place = quote(_relative(unquote_plus(file), folder), safe=UNQUOTED)
                options = options.replace(option, f"prompt={place}")
        return f"{scheme}:{_relative(head, folder)}{mark}{options}"
    path, colon, part = value.rpartition(":")
    if colon and "." in path:
        return f"{_relative(path, folder)}:{part}"
    return _relative(value, folder) if "." in value or "/" in value else value


def _relative(name: str, folder: Path) -> str:
    """Return a path that exists in the plan's folder, relative to the current folder; other words unchanged."""
    place, split = split_name(name)
    if split:
        return f"{_relative(str(place), folder)}{SPLIT}{split}"
    there = folder / name
    if is_pattern(name) and any(folder.glob(name)):
        return os.path.relpath(there)
    try:
        if not name or Path(name).is_absolute() or not there.exists():
            return name
        if not Path(name).exists():
            return os.path.relpath(there)
        if there.samefile(name):
            return name
    except OSError:  # not a file name
        return name
    raise PlanError(
        f"{name} exists both in the plan's folder and in the current folder",
        why="paths in a plan start at its own folder, or else at the current folder",
        fix=f"run it from {folder}, or write {there.resolve()}",
    )


def make_plan(table: Mapping[str, Any], where: str = "plan") -> Plan:
    known = (*TOP, *PROTOCOLS)
    for key in table:
        if key not in known:
            fix = nearest(key, known) or "one of those"
            raise PlanError(f'{where}: unknown key "{key}"', why=f"known: {', '.join(known)}", fix=fix)
    protocols = [name for name in PROTOCOLS if name in table]
    if not protocols:
        raise PlanError(
            f"{where}: no protocol", why=f"known: {', '.join(PROTOCOLS)}", fix="a table such as [behaviour]"
        )
    listed, groups = table.get("models", {}), _groups(table.get("groups", {}), where)
    if is_pattern(listed):
        listed, groups = {}, groups | _groups({"checkpoints": listed}, where)
    lists = _lists(table, where)
    models = _prompted(_models(listed, where), lists, where)
    models |= {spec: spec for group in groups.values() for spec in group.models}
    if not models:
        raise PlanError(f"{where}: no models", fix='models = ["predictions:answers.jsonl"]')
    seeds, tables = lists.seeds, {}
    for name in protocols:
        values = table[name]
        if not isinstance(values, Mapping):
            raise PlanError(
                f"{where}: [{name}] must be a table, found {values!r}",
                fix=f"[{name}] on a line of its own, its settings below it",
            )
        if "seed" in values and "seeds" in table:
            why = "two sources for one value"
            raise PlanError(f"{where}: [{name}] seed and the plan's seeds: {why}", fix="keep seeds")
        tables[name] = make_settings(find_protocol(name).Settings, values, f"{where}: [{name}]")
        seeds = (tables[name].seed,) if "seed" in values else seeds
    resources = read_resources(table.get("resources", {}), tuple(PROTOCOLS), f"{where}: [resources]")
    return Plan(models, tables, seeds, groups, where, resources)


def _lists(table: Mapping[str, Any], where: str) -> _Lists:
    names = [field.name for field in fields(_Lists)]
    lists: _Lists = make_settings(_Lists, {name: table[name] for name in names if name in table}, where)
    for name in names:
        values = getattr(lists, name)
        is_bool = any(isinstance(value, bool) for value in table.get(name, ()))
        if is_bool or len(set(values)) < len(values) or (name == "seeds" and not values):
            why = "a list of different values is expected"
            raise PlanError(f"{where}: {name} = {list(values)}", why=why, fix="list each value once")
    return lists


def _models(value: Any, where: str) -> dict[str, str]:
    """Return specs by name, from a list or from tables `[models.NAME]` with a spec and its options."""
    value = [value] if isinstance(value, str) else value
    if isinstance(value, list) and all(isinstance(spec, str) for spec in value):
        if twice := next((spec for spec in value if value.count(spec) > 1), None):
            raise PlanError(f"{where}: model {twice!r} is listed twice", fix="list each model once")
        return {spec: spec for spec in value}
    if not isinstance(value, Mapping):
        why = "a list of model specs, or tables [models.NAME], is expected"
        raise PlanError(f"{where}: models = {value!r}", why=why, fix='models = ["predictions:answers.jsonl"]')
    return {name: _spec(name, table, where) for name, table in value.items()}


def _prompted(models: dict[str, str], lists: _Lists, where: str) -> dict[str, str]:
    """Return the models, prompted ones once per prompt and per order of its labels."""
    made: dict[str, str] = {}
    for name, spec in models.items():
        variants = {name: spec}
        for option, values in (("prompt", lists.prompts), ("order", lists.orders)):
            applicable = values if values and is_prompted(spec) else ()
            if applicable and option in parse_spec(spec).options:
                raise PlanError(
                    f"{where}: both model {name} and the plan name {option}s", fix="keep one of them"
                )
            variants = {
                f"{known} {value}": with_option(former, option, str(value))
                for known, former in variants.items()
                for value in applicable
            } or variants
        made |= variants
    return made


def _spec(name: str, table: Any, where: str) -> str:
    place = f"{where}: [models.{name}]"
    if not isinstance(table, Mapping) or not isinstance(table.get("spec"), str):
        raise PlanError(f"{place}: no spec", fix='spec = "predictions:answers.jsonl"')
    options = {key: value for key, value in table.items() if key != "spec"}
    in_spec = parse_spec(table["spec"]).options
    if both := sorted(set(options) & set(in_spec)):
        raise PlanError(
            f"{place}: {both[0]} is given twice, in the spec and in the table", fix="keep one of them"
        )
    spec = str(table["spec"])
    for key, value in options.items():
        if isinstance(value, Mapping):
            value = labels_option({word: str(name) for word, name in value.items()})
        elif isinstance(value, list):
            value = labels_option(list(map(str, value)))
        spec = with_option(spec, key, str(value))
    return spec


UNQUOTED = ",:/\\ "
"""Characters that an option need not quote; a label may contain `&`, which it must."""


def with_option(spec: str, name: str, value: str) -> str:
    """Return a spec with one more option.

    >>> with_option("hf:bert?device=cpu", "labels", "bad & ugly,good")
    'hf:bert?device=cpu&labels=bad %26 ugly,good'
    """
    return f"{spec}{'&' if '?' in spec else '?'}{name}={quote(value, safe=UNQUOTED)}"


def _groups(value: Any, where: str) -> dict[str, Group]:
    if not isinstance(value, Mapping):
        fix = '[groups] with base = ["hf:one", "hf:two"]'
        raise PlanError(f"{where}: [groups] must be a table of lists of models, found {value!r}", fix=fix)
    groups = {name: _group(entry, f"{where}: [groups] {name}") for name, entry in value.items()}
    specs = [spec for group in groups.values() for spec in group.models]
    if twice := next((spec for spec in specs if specs.count(spec) > 1), None):
        raise PlanError(f"{where}: model {twice!r} is twice in [groups]", fix="list each checkpoint once")
    return groups


def _group(value: Any, place: str) -> Group:
    """Return a group from a list of specs, or from a table with a step and a seed for each model."""
    table = value if isinstance(value, Mapping) else {"models": value}
    if is_pattern(table.get("models")):
        matched = _checkpoints(table["models"], place)
        table = {**matched, **table, "models": matched["models"]}
    group: Group = make_settings(Group, table, place)
    if not group.models:
        fix = '["hf:seed-0", "hf:seed-1"], or a table with models and steps'
        raise PlanError(f"{place}: no models", fix=fix)
    count = len(group.models)
    for axis, values in (("steps", group.steps), ("seeds", group.seeds or group.steps)):
        if (values and len(values) != count) or (axis == "seeds" and group.steps and not group.seeds):
            raise PlanError(
                f"{place}: {axis} = {list(getattr(group, axis))}",
                why=f"a whole number for each of the {count} models is expected; seeds say which models belong to the "
                "same training",
                fix=f"{axis} = {[0] * count if axis == 'seeds' else list(range(count))}",
            )
    places = list(zip(group.seeds, group.steps or group.seeds, strict=True))
    if len(set(places)) < len(places):
        raise PlanError(f"{place}: two models have the same seed and step", fix="another seed or step")
    _refuse_early_ends(group, place)
    return group


def _refuse_early_ends(group: Group, place: str) -> None:
    """Raise if the trainings of a group end at different steps."""
    ends = dict(sorted(zip(group.seeds, group.steps, strict=False)))
    if len(set(ends.values())) > 1:
        raise PlanError(
            f"{place}: the trainings end at different steps: {', '.join(f'{n:,}' for n in sorted(ends.values()))}",
            why="the last step of every training is compared",
            fix="add the missing models, or leave those trainings out",
        )


def check_plan(plan: Plan) -> list[Job]:
    """Return every job; raise if a file or model is missing."""
    with errors_at(plan.where):
        return plan.jobs()


def reachable(plan: Plan) -> tuple[Plan, list[Job], dict[str, str]]:
    """Return the plan without the models that cannot be loaded, its jobs, and the error of each of those models.

    So the finished jobs of a plan stay readable after the folder of another model is gone.
    """
    try:
        return plan, plan.jobs(), {}
    except ShoalError:
        problems = {}
    for spec in plan.models.values():
        try:
            fingerprint_of(spec)
        except ShoalError as problem:
            problems[spec] = str(problem)
    models = {name: spec for name, spec in plan.models.items() if spec not in problems}
    narrowed = replace(plan, models=models) if models else plan
    return narrowed, check_plan(narrowed), problems


# Checkpoints by a pattern: `ckpt/seed-*/step-*`

AXES = {"seeds": ("seed", "run"), "steps": ("step", "checkpoint")}
"""Axis of a group to the words before a number in a path."""
NUMBER = re.compile(r"(\d+)([km]?)", re.IGNORECASE)
FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}


def is_pattern(spec: Any) -> bool:
    """Return whether a value of a plan is a pattern of checkpoints."""
    return isinstance(spec, str) and "*" in spec.partition("?")[0]


def _checkpoints(spec: str, where: str) -> dict[str, list[Any]]:
    """Return the models that a pattern matches, with their seeds and steps, as a group of a plan has them."""
    parsed, options = parse_spec(spec), spec.partition("?")[1:]
    pattern = Path(parsed.name)
    root = Path(pattern.anchor)
    folders = [path.parent for path in root.glob(str((pattern / "config.json").relative_to(root)))]
    if not folders:
        raise PlanError(
            f"{where}: no checkpoint matches {parsed.name}",
            why="expected folders with a config.json",
            fix="the path of the folders, with * for the numbers",
        )
    numbers = {path: _numbers(path, pattern, where) for path in folders}
    ordered = sorted(folders, key=lambda path: (sorted(numbers[path].items()), str(path)))
    group: dict[str, list[Any]] = {"models": [f"hf:{path}{''.join(options)}" for path in ordered]}
    group |= {axis: [numbers[path][axis] for path in ordered] for axis in numbers[ordered[0]]}
    return group if "steps" not in group else {"seeds": [0] * len(ordered), **group}


def _numbers(path: Path, pattern: Path, where: str) -> dict[str, int]:
    """Return the number of each axis in a path: the last number of the folder whose pattern names the axis."""
    numbers: dict[str, int] = {}
    for part, named in zip(path.parts, pattern.parts, strict=True):
        axes = [axis for axis, words in AXES.items() if any(word in named.lower() for word in words)]
        if not axes or "*" not in named:
            continue
        matches = NUMBER.findall(part)
        if not matches:
            raise PlanError(f"{where}: {path} has no number of {axes[0]} in {part!r}", fix="a number there")
        digits, unit = matches[-1]
        numbers[axes[0]] = int(digits) * FACTORS[unit.lower()]
    return numbers
