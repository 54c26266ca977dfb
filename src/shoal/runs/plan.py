"""A plan file to jobs.

    models = ["predictions:answers.jsonl", "python:my_model:predict"]

    [behaviour]
    suite = "sentiment"
    split = "test"

One TOML file, and it is data: no includes, no functions, no inheritance. Models multiply; seeds multiply the jobs that
draw at random, prompts the models that are asked in words; what a list inside a protocol's table means is that
protocol's to say. Everything is checked before anything runs.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote, unquote_plus

from ..core.errors import PlanError, ShoalError, nearest
from ..core.files import read_toml
from ..core.ranges import LARGEST_SEED
from ..models import SCHEMES, asked_in_words, load_model, parse_spec
from ..models.labels import labels_option
from ..protocols import PROTOCOLS, find_protocol
from ..protocols.base import identity, is_random
from .resources import Resources, read_resources
from .settings import make_settings

TOP = ("models", "prompts", "seeds", "groups", "resources")


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
    """The name of the cases it is asked, shared with every job that is asked the same."""
    given: Any = field(default=None, compare=False, repr=False)
    """The model itself, where it is an object and no spec names it."""

    def as_json(self) -> dict[str, Any]:
        """What `job.json` says."""
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
    """What a plan file says, checked."""

    models: Mapping[str, str]
    """Name to spec; a model that was not named goes by its spec."""
    tables: Mapping[str, Any]
    """Protocol to settings."""
    seeds: tuple[int, ...] = (0,)
    groups: Mapping[str, "Group"] = field(default_factory=dict)
    where: str = "plan"
    resources: Mapping[str, Resources] = field(default_factory=dict)
    """Protocol to what each of its jobs takes of a machine."""

    def jobs(self) -> list[Job]:
        """Every job the plan means."""
        jobs: dict[str, Job] = {}
        fingerprints = {spec: fingerprint_of(spec) for spec in self.models.values()}
        for protocol, settings in self.tables.items():
            module = find_protocol(protocol)
            for part in module.parts(settings):
                for spec, fingerprint in fingerprints.items():
                    seeds = self.seeds if is_random(part, module.recipe(part, spec)) else self.seeds[:1]
                    for seed in seeds:
                        job = make_job(protocol, spec, replace(part, seed=seed), fingerprint)
                        jobs.setdefault(job.id, job)
        return list(jobs.values())

    def group_of(self, spec: str) -> dict[str, Any]:
        """The group of checkpoints that a model belongs to, empty if to none, and its step and run where told."""
        for name, group in self.groups.items():
            if spec in group.models:
                return {"group": name, **group.place_of(spec), **self._made_of(group, spec)}
        return {"group": ""}

    def _made_of(self, group: "Group", spec: str) -> dict[str, str]:
        """The model that this one was made of, and its group, where the plan says so."""
        if not group.before:
            return {}
        return {
            "before": group.before,
            "before model": self.groups[group.before].models[group.models.index(spec)],
        }


@dataclass(frozen=True, slots=True)
class Group:
    """Checkpoints of one recipe, by a list of models; with an axis where they are of several moments of a training."""

    models: tuple[str, ...]
    steps: tuple[int, ...] = ()
    """The training step of each model, or none."""
    seeds: tuple[int, ...] = ()
    """The training run of each model; none needed where every model is another run."""
    before: str = ""
    """Another group, of whose model in the same place each of these was made: one and the same before and after."""

    def place_of(self, spec: str) -> dict[str, int]:
        """The step and the run of a model."""
        place = self.models.index(spec)
        axes = {"step": self.steps, "run": self.seeds}
        return {name: values[place] for name, values in axes.items() if values}


def make_job(
    protocol: str,
    spec: str,
    settings: Any,
    fingerprint: Mapping[str, Any] | None = None,
    given: Any = None,
) -> Job:
    """A job, named by what it is and by a hash of everything that can change its answers."""
    module = find_protocol(protocol)
    cases, cases_name = _cases_of(protocol, settings)
    decisive = {
        "cases": cases,
        "answers": identity(settings, "answers"),
        "model": fingerprint_of(spec) if fingerprint is None else fingerprint,
    }
    title = name = slug(module.title(settings))
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
    decisive = json.loads(json.dumps(decisive))
    return Job(
        f"{protocol}-{model_name(spec)}-{name}-{short_hash(decisive)}",
        protocol,
        spec,
        settings,
        decisive,
        cases_name,
        given,
    )


def unasked_job(protocol: str, settings: Any) -> Job:
    """A job that asks nobody: its cases, which jobs with the same settings share."""
    cases, name = _cases_of(protocol, settings)
    return Job("", protocol, "", settings, {"cases": cases}, name)


def _cases_of(protocol: str, settings: Any) -> tuple[dict[str, Any], str]:
    """Everything that decides the cases, and what they are called."""
    module = find_protocol(protocol)
    cases = {"protocol": protocol, "version": module.Settings.VERSION, **identity(settings, "cases")}
    return cases, f"{protocol}-{slug(module.title(settings))}-{short_hash(cases)}"


def fingerprint_of(spec: str) -> dict[str, Any]:
    """What decides a model's answers, resolved: the content of its files."""
    return {"scheme": parse_spec(spec).scheme, **load_model(spec).fingerprint()}


def model_name(spec: str) -> str:
    """What to call a model in a job's name: its folder, file or object; `tiny:` says more than the name alone.

    >>> [model_name(spec) for spec in ("hf:runs/my-bert", "predictions:a/b.csv?label=x", "tiny:sentiment")]
    ['my-bert', 'b', 'tiny-sentiment']
    """
    parsed = parse_spec(spec)
    last = parsed.name.rstrip("/").rpartition("/")[2]
    if "prompt" in parsed.options:
        return slug(f"{slug(last)} {PurePath(parsed.options['prompt']).stem}", 60)
    if "without" in parsed.options:
        return slug(f"{slug(last)} without {PurePath(parsed.options['without']).stem}", 60)
    return slug(f"tiny {last}" if parsed.scheme == "tiny" else last)


def slug(text: str, longest: int = 40) -> str:
    """Text as part of a file name.

    >>> slug("My Model (v2).jsonl.gz")
    'my-model-v2'
    """
    stem = re.sub(r"(\.jsonl|\.json|\.csv|\.tsv|\.txt|\.gz)+$", "", text.lower())
    return re.sub(r"[^a-z0-9.]+", "-", stem).strip("-.")[:longest] or "x"


def short_hash(resolved: Mapping[str, Any], letters: int = 8) -> str:
    """Some letters that change when anything in the mapping does."""
    return hashlib.sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()[:letters]


def read_plan(path: Path) -> Plan:
    """A plan file, checked whole: unknown keys, wrong types, missing files, two sources for one value."""
    table = read_toml(
        path, 'lines such as models = ["predictions:answers.jsonl"], and a table such as [behaviour]'
    )
    try:
        return make_plan(_located(table, path.parent), str(path))
    except PlanError as problem:
        raise problem if str(problem).startswith(str(path)) else problem.at(str(path)) from None


def _located(value: Any, folder: Path) -> Any:
    """What a plan says, its relative paths as they are seen from here: they start at the plan's own folder."""
    if isinstance(value, Mapping):
        return {key: _located(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_located(inner, folder) for inner in value]
    if not isinstance(value, str) or not value or "\0" in value:
        return value
    scheme, colon, name = value.partition(":")
    if colon and scheme in SCHEMES:
        head, mark, options = name.partition("?")
        located = "&".join(_located_option(option, folder) for option in options.split("&"))
        return f"{scheme}:{_seen_from_here(head, folder)}{mark}{located}"
    path, colon, part = value.rpartition(":")
    if colon and "." in path:
        return f"{_seen_from_here(path, folder)}:{part}"
    return _seen_from_here(value, folder) if "." in value or "/" in value else value


def _located_option(option: str, folder: Path) -> str:
    """An option of a spec; one that names a file, as it is seen from here."""
    key, _, value = option.partition("=")
    return (
        f"{key}={quote(_seen_from_here(unquote_plus(value), folder), safe=QUOTED)}"
        if key in FILE_OPTIONS
        else option
    )


def _seen_from_here(name: str, folder: Path) -> str:
    """A path that is there from the plan's folder, as it is from here; anything else as it is."""
    there = folder / name
    try:
        if not name or Path(name).is_absolute() or not there.exists():
            return name
        if not Path(name).exists():
            return os.path.relpath(there)
        if there.samefile(name):
            return name
    except OSError:  # no name of a file
        return name
    raise PlanError(
        f"{name} is in the plan's folder and another one in the folder you are in: which is meant?",
        why="paths in a plan start at its own folder; where nothing is there, at the folder you are in",
        fix=f"run it from {folder}, or write {there.resolve()}",
    )


def make_plan(table: Mapping[str, Any], where: str = "plan") -> Plan:
    """A plan from plain data."""
    known = (*TOP, *PROTOCOLS)
    for key in table:
        if key not in known:
            why = f"known: {', '.join(known)}"
            raise PlanError(
                f'{where}: unknown key "{key}"', why=why, fix=nearest(key, known) or "one of those"
            )
    protocols = [name for name in PROTOCOLS if name in table]
    if not protocols:
        raise PlanError(
            f"{where}: no protocol", why=f"known: {', '.join(PROTOCOLS)}", fix="a table such as [behaviour]"
        )
    groups = _groups(table.get("groups", {}), where)
    models = _prompted(_models(table.get("models", {}), where), table.get("prompts", []), where)
    models |= {spec: spec for group in groups.values() for spec in group.models}
    if not models:
        raise PlanError(f"{where}: no models", fix='models = ["predictions:answers.jsonl"]')
    seeds = _seeds(table, where)
    tables = {}
    for name in protocols:
        values = table[name]
        if not isinstance(values, Mapping):
            raise PlanError(
                f"{where}: [{name}] must be a table, found {values!r}",
                fix=f"[{name}] on a line of its own, its settings below it",
            )
        if "seed" in values and "seeds" in table:
            raise PlanError(
                f"{where}: [{name}] seed and the plan's seeds: two sources for one value", fix="keep seeds"
            )
        tables[name] = make_settings(find_protocol(name).Settings, values, f"{where}: [{name}]")
        seeds = (tables[name].seed,) if "seed" in values else seeds
    resources = read_resources(table.get("resources", {}), tuple(PROTOCOLS), f"{where}: [resources]")
    return Plan(models, tables, seeds, groups, where, resources)


def _seeds(table: Mapping[str, Any], where: str) -> tuple[int, ...]:
    seeds = table.get("seeds", [0])
    whole = isinstance(seeds, list) and all(isinstance(s, int) and not isinstance(s, bool) for s in seeds)
    if (
        not whole
        or not seeds
        or len(set(seeds)) < len(seeds)
        or not 0 <= min(seeds) <= max(seeds) <= LARGEST_SEED
    ):
        raise PlanError(
            f"{where}: seeds = {seeds!r}",
            why=f"a list of different whole numbers from 0 to {LARGEST_SEED:,} is expected",
            fix="seeds = [0, 1, 2]",
        )
    return tuple(seeds)


def _models(given: Any, where: str) -> dict[str, str]:
    """Specs from a list, or from tables `[models.NAME]` with a spec and its options."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list) and all(isinstance(spec, str) for spec in given):
        twice = next((spec for spec in given if given.count(spec) > 1), None)
        if twice:
            raise PlanError(f"{where}: model {twice!r} is there twice", fix="name each model once")
        return {spec: spec for spec in given}
    if not isinstance(given, Mapping):
        why = "a list of model specs, or tables [models.NAME], is expected"
        raise PlanError(f"{where}: models = {given!r}", why=why, fix='models = ["predictions:answers.jsonl"]')
    return {name: _spec(name, table, where) for name, table in given.items()}


def _prompted(models: dict[str, str], prompts: Any, where: str) -> dict[str, str]:
    """Every model that is asked in words once for each prompt; others as they are."""
    if not isinstance(prompts, list) or not all(isinstance(prompt, str) for prompt in prompts):
        raise PlanError(
            f"{where}: prompts = {prompts!r}",
            why="a list of prompt files, or of names in shoal list prompts, is expected",
            fix='prompts = ["sentiment-plain", "mine.toml"]',
        )
    if len(set(prompts)) < len(prompts):
        raise PlanError(f"{where}: a prompt is there twice", fix="name each prompt once")
    made: dict[str, str] = {}
    for name, spec in models.items():
        own = prompts if prompts and asked_in_words(spec) else []
        if own and "prompt" in parse_spec(spec).options:
            raise PlanError(
                f"{where}: model {name} has a prompt, and the plan has prompts: two sources for one value",
                fix="keep one of them",
            )
        mark = "&" if "?" in spec else "?"
        each = {prompt: f"{spec}{mark}prompt={quote(prompt, safe=QUOTED)}" for prompt in own}
        made |= {f"{name} {prompt}": one for prompt, one in each.items()} or {name: spec}
    return made


def _spec(name: str, table: Any, where: str) -> str:
    place = f"{where}: [models.{name}]"
    if not isinstance(table, Mapping) or not isinstance(table.get("spec"), str):
        raise PlanError(f"{place}: no spec", fix='spec = "predictions:answers.jsonl"')
    options = {key: value for key, value in table.items() if key != "spec"}
    given = parse_spec(table["spec"]).options
    both = sorted(set(options) & set(given))
    if both:
        raise PlanError(
            f"{place}: {both[0]} stands in the spec and in the table: two sources for one value",
            fix="keep one of them",
        )
    words = {key: _option(value) for key, value in options.items()}
    joined = "&".join(f"{key}={quote(value, safe=QUOTED)}" for key, value in {**given, **words}.items())
    return str(table["spec"]).partition("?")[0] + (f"?{joined}" if joined else "")


FILE_OPTIONS = ("prompt", "without")
"""Options of a spec that name a file."""
QUOTED = ",:/\\ "
"""What stands in an option as it is; the rest is quoted, so that a label's name may hold `&`."""


def _option(value: Any) -> str:
    """A value of a plan as it stands behind a spec; a list or a table is one of names."""
    if isinstance(value, Mapping):
        return labels_option({key: str(word) for key, word in value.items()})
    if isinstance(value, list):
        return labels_option(list(map(str, value)))
    return str(value)


def _groups(given: Any, where: str) -> dict[str, Group]:
    if not isinstance(given, Mapping):
        raise PlanError(
            f"{where}: [groups] must be a table of lists of models, found {given!r}",
            fix='[groups] with base = ["hf:one", "hf:two"]',
        )
    groups = {name: _group(value, f"{where}: [groups] {name}") for name, value in given.items()}
    specs = [spec for group in groups.values() for spec in group.models]
    twice = next((spec for spec in specs if specs.count(spec) > 1), None)
    if twice:
        raise PlanError(f"{where}: model {twice!r} is twice in [groups]", fix="a checkpoint has one place")
    for name, group in groups.items():
        others = {other: len(groups[other].models) for other in groups if other != name}
        if group.before and others.get(group.before) != len(group.models):
            raise PlanError(
                f"{where}: [groups] {name}: before = {group.before!r}",
                why=f"a group of as many models ({len(group.models)}) is expected, each what the one here was made of",
                fix=_what_before(group.before, others),
            )
    return groups


def _what_before(given: str, others: Mapping[str, int]) -> str:
    if given in others:
        return f"{given} has {others[given]}: as many in both, in the same order"
    return nearest(given, others) or "the name of that group, its models in the same order"


def _group(given: Any, place: str) -> Group:
    """A list of specs, or a table of models and, one for each of them, steps and seeds."""
    table = given if isinstance(given, Mapping) else {"models": given}
    unknown = next((key for key in table if key not in GROUP), None)
    if unknown:
        raise PlanError(
            f"{place}: unknown key {unknown!r}",
            why=f"known: {', '.join(GROUP)}",
            fix=nearest(unknown, GROUP) or "one of those",
        )
    specs = table.get("models")
    if not isinstance(specs, list) or not specs or not all(isinstance(spec, str) for spec in specs):
        raise PlanError(
            f"{place} = {specs!r}",
            why="a list of model specs is expected",
            fix='["hf:seed-0", "hf:seed-1"], or a table with models and steps',
        )
    for axis in ("steps", "seeds"):
        numbers = table.get(axis, [])
        whole = isinstance(numbers, list) and all(
            isinstance(number, int) and not isinstance(number, bool) and number >= 0 for number in numbers
        )
        if not whole or (axis in table and len(numbers) != len(specs)):
            raise PlanError(
                f"{place}: {axis} = {numbers!r}",
                why=f"a whole number for each of the {len(specs)} models is expected",
                fix=f"{axis} = {list(range(len(specs)))}",
            )
    before = table.get("before", "")
    if not isinstance(before, str):
        raise PlanError(f"{place}: before = {before!r}", fix='the name of another group: before = "base"')
    group = Group(tuple(specs), tuple(table.get("steps", ())), tuple(table.get("seeds", ())), before)
    places = list(zip(group.seeds or group.models, group.steps or group.seeds, strict=False))
    if "steps" in table and "seeds" not in table:
        raise PlanError(
            f"{place}: steps without seeds",
            why="which models are moments of one and the same training cannot be told",
            fix=f"seeds = {[0] * len(specs)}, the training of each model",
        )
    if len(set(places)) < len(places):
        raise PlanError(f"{place}: two models with one seed and step", fix="a place of its own for each")
    _refuse_early_ends(group, place)
    return group


def _refuse_early_ends(group: Group, place: str) -> None:
    """The trainings of a group end at one step: who ended earlier is another recipe, or lacks its last model."""
    ends: dict[int, int] = {}
    for seed, step in zip(group.seeds, group.steps, strict=False):
        ends[seed] = max(step, ends.get(seed, 0))
    last = max(ends.values(), default=0)
    early = next((seed for seed, end in ends.items() if end < last), None)
    if early is not None:
        raise PlanError(
            f"{place}: seed {early} ends at step {ends[early]:,}, another at {last:,}",
            why="the last step of each training is a checkpoint of the recipe",
            fix=f"its model at step {last:,} too, or leave that training out",
        )


GROUP = ("models", "steps", "seeds", "before")


def check_plan(plan: Plan) -> list[Job]:
    """Every job, after making sure that each could start: files are there, models can be found."""
    try:
        return plan.jobs()
    except ShoalError as problem:
        raise problem.at(plan.where) from None


def reachable(plan: Plan) -> tuple[Plan, list[Job], dict[str, str]]:
    """As much of a plan as can be looked at: its models that are found, their jobs, and why the others are not.

    What is done by now can be read although the folder of another model has gone.
    """
    try:
        return plan, plan.jobs(), {}
    except ShoalError:
        problems = {spec: problem for spec in plan.models.values() if (problem := _problem_of(spec))}
    models = {name: spec for name, spec in plan.models.items() if spec not in problems}
    narrowed = replace(plan, models=models) if models else plan
    return narrowed, check_plan(narrowed), problems


def _problem_of(spec: str) -> str:
    """Why a model cannot be found; empty where it can."""
    try:
        fingerprint_of(spec)
    except ShoalError as problem:
        return str(problem)
    return ""
