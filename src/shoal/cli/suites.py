"""The verbs about suites: `check`, `import`, `export`, `new` and `suggest`."""

import json
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import DataError, PlanError, ShoalError
from ..core.files import is_file, is_folder
from ..core.text import printable
from ..render.progress import progress_bar
from .options import AS_JSON, EXISTING, INTO, OUT, OUT_ANY, inputs, refuse_overwrite

if TYPE_CHECKING:
    from ..render.result_logs import AnsweredResult
    from ..runs.plan import Job
    from ..runs.store import RunStore
    from ..training.stage import Progress


@click.command("check")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE ...", type=click.Path(dir_okay=False, path_type=Path)
)
@click.option("--prompts", type=click.IntRange(min=0), default=0, help="Show this many prompts of each job.")
@click.option(
    "--cases",
    type=click.IntRange(min=0),
    help="Show this many cases of each functionality.  [default: 10 for YAML and sheets, else 0]",
)
@AS_JSON
def check_command(files: tuple[Path, ...], prompts: int, cases: int | None, as_json: bool) -> None:
    """Check suite or plan files without running them.

    For a plan (.toml), the command prints jobs, expected time and cost. Any other file is a suite, as is the name of
    a suite that ships with shoal.

    \b
    Examples:
      shoal check suite.jsonl
      shoal check hotels.yaml restaurants.yaml
      shoal check sentiment --cases 3
      shoal check plan.toml
      shoal check plan.toml --prompts 3
    """
    problems = []
    for file in files:
        try:
            if file.suffix == ".toml":
                _check_plan(file, prompts, as_json)
            else:
                _check_suite(file, cases, as_json)
        except ShoalError as problem:
            problems.append(problem)
    if problems:
        raise ShoalError.together(problems)


def _check_suite(file: Path, cases: int | None, as_json: bool) -> None:
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.hygiene import examine
    from ..protocols.behaviour.template_suites import is_sheet, is_yaml, waiting
    from ..render.terminal import print_sections
    from .suite_view import case_sections, describe_suite, suite_sections

    suite = load_suite(str(file))
    content, hygiene = describe_suite(suite), examine(suite)
    if as_json:
        click.echo(json.dumps(content | hygiene.as_json()))
    else:
        each = (10 if is_yaml(file) or is_sheet(file) else 0) if cases is None else cases
        print_sections([*suite_sections(content, hygiene), *case_sections(suite, each)])
        if note := waiting(str(file)):
            click.echo(f"\n{note}")


def _check_plan(file: Path, prompts: int, as_json: bool) -> None:
    from ..render.terminal import print_sections
    from ..runs.estimate import bill, estimate, prompts_shown
    from ..runs.plan import check_plan, read_plan
    from .views import plan_sections

    with progress_bar() as progress:
        progress("reading models", 0, 1)
        jobs = check_plan(read_plan(file))
        progress("reading models", 1, 1)
        time, cost = estimate(jobs, progress), bill(jobs, progress)
    shown = {job.id: prompts_shown(job, prompts) for job in jobs} if prompts else {}
    if as_json:
        more = {"estimate": asdict(time)} if time else {}
        more |= {"bill": asdict(cost)} if cost else {}
        more |= {"prompts": shown} if shown else {}
        click.echo(json.dumps({"jobs": [job.as_json() for job in jobs], "measures": [], **more}))
        return
    print_sections(plan_sections(jobs, time, cost))
    for job_id, texts in shown.items():
        for number, prompt in enumerate(texts, start=1):
            click.echo(f"\n{job_id}, prompt {number}\n{printable(prompt)}")


def _column(name: str, about: str, field: str = "") -> Callable[[Any], Any]:
    """Return an option that names a column; a field of its own may be repeated."""
    if field:
        return click.option(f"--{name}", field, multiple=True, metavar="COLUMN", help=about)
    return click.option(f"--{name}", default="", metavar="COLUMN", help=about)


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=OUT, required=True, help="The suite file to write.")
@_column("text", "Column of the text; give two for pairs.", "texts")
@_column("label", "Column of the label.")
@click.option(
    "--labels",
    "names",
    multiple=True,
    metavar="VALUE=NAME",
    help="Name of a value of the label; repeat, in the order of the model's outputs.",
)
@_column("original", "Column of the original text, for INV and DIR.")
@_column("variant", "Column of a changed text; repeat for more.", "variants")
@click.option(
    "--type",
    "test_type",
    type=click.Choice(["MFT", "INV", "DIR"]),
    default="MFT",
    show_default=True,
    help="Expectation: the label, the same prediction, or confidence that moves one way.",
)
@click.option("--expect", default="", metavar="RULE", help="The rule of the cases; see `shoal list rules`.")
@_column("functionality", "Column of the functionality's name.")
@_column("capability", "Column of the capability's name.")
@_column("id", "Column of the case's id.")
@_column("cluster", "Column of the sampling unit, such as a template.")
@click.option(
    "--templates", is_flag=True, help="Infer templates: cases that differ in one place share a template."
)
@click.option("--skip-invalid", is_flag=True, help="Leave invalid rows out, and count them.")
def import_command(
    file: Path, out: Path, names: tuple[str, ...], templates: bool, skip_invalid: bool, **columns: Any
) -> None:
    """Convert a file to a suite file.

    HateCheck, Multilingual HateCheck, released CheckList suites and saved forms are recognised by their content, a
    suite in Python by its suffix. For any other table (CSV, TSV, JSON, Parquet, Arrow, xlsx, a saved Hugging Face
    dataset), name the columns. A path names a value in nested JSON: choices.0.text.

    \b
    Examples:
      shoal import test_suite_cases.csv --out hatecheck.jsonl
      shoal import reviews.tsv --out reviews.jsonl --text sentence --label label \\
          --functionality topic
      shoal import sst.csv --out sst.jsonl --text text --label y \\
          --labels 0=negative --labels 1=positive
      shoal import "imdb?split=test" --out imdb.jsonl --text text --label label
      shoal import suite.jsonl --out suite-with-templates.jsonl --templates
      shoal import typos.csv --out typos.jsonl --type INV --original before \\
          --variant after
    """
    from ..data.columns import Named
    from ..protocols.behaviour.suite_files import import_suite
    from ..render.terminal import print_sections
    from .suite_view import import_sections

    named = Named(**columns)
    if (named.test_type != "MFT" or named.expect) and not named.all():
        raise click.UsageError("--type and --expect are for tables whose columns are named")
    suite, changes = import_suite(
        file, out, named, _label_names(names), by_template=templates, skip_invalid=skip_invalid
    )
    print_sections(import_sections(suite, changes, out))


def _label_names(pairs: Sequence[str]) -> dict[str, str]:
    """Return the label names of repeated `--labels value=name`."""
    names: dict[str, str] = {}
    for pair in pairs:
        value, _, name = map(str.strip, pair.rpartition("="))
        if not value or not name or value in names:
            why = "once VALUE=NAME for each value of the label is expected"
            raise DataError(f"--labels {pair}", why=why, fix="--labels 0=negative --labels 1=positive")
        names[value] = name
    return names


TARGETS = ("lm-eval", "inspect", "eee", "csv", "parquet")


@click.command("export")
@click.argument("what")
@click.option("--out", type=OUT_ANY, help="The file to write; without --to, its suffix chooses the format.")
@click.option("--to", "target", type=click.Choice(TARGETS), help="Write a task or a log for another tool.")
@inputs
@INTO
@click.option("--verbatim", is_flag=True, help="CSV: do not escape cells that look like formulas.")
def export_command(
    what: str, out: Path | None, target: str | None, pairs: tuple[str, ...], into: Path, verbatim: bool
) -> None:
    """Export a suite, a result or cases to other formats.

    No model is queried.

    A suite: its texts with their ids (.csv, .jsonl), to add a model's answers and use as predictions:FILE; a form
    (.html), in which people without shoal correct and add cases; or, with --to, a task of lm-eval or inspect.

    A result, which is a job or `last`, with --to: a row per case (csv, parquet), a log of lm-eval or inspect, or an
    Every Eval Ever record (eee).

    merge, by settings or by job: the variants with their metadata (.jsonl), or a sample for human annotation (.html).

    \b
    Examples:
      shoal export sentiment --out cases.jsonl
      shoal export hotels.yaml --out form.html
      shoal export sentiment --to lm-eval --out task
      shoal export last --to csv --out result.csv
      shoal export merge --data nli.tsv --set suggesters=hf:bert \\
          --out variants.jsonl
    """
    from ..protocols import PROTOCOLS
    from ..protocols.behaviour.suites import SUITES
    from ..runs.results import LAST, SPEC, export
    from ..runs.settings import parse_pairs
    from ..runs.store import RunStore

    store = RunStore(into)
    is_path = is_file(Path(what)) or is_folder(Path(what))
    is_job = what == LAST or (not is_path and any(what in job for job in store.job_ids()))
    is_suite = what in SUITES or not (is_job or what in PROTOCOLS)
    if pairs and (is_suite or target):
        raise click.UsageError("--set is for a protocol or a job; a suite is written whole")
    if verbatim and (not is_suite or target):
        raise click.UsageError("--verbatim is for the texts of a suite")
    if target and (what in PROTOCOLS or SPEC.match(what)):
        result = f"shoal try behaviour MODEL, then shoal export last --to {target}"
        raise click.UsageError(f"--to writes a suite or the result of a job: {result}")
    if what == LAST and not target:
        raise click.UsageError("a result needs --to: shoal export last --to csv")
    if target:
        path, content = (_export_task if is_suite else _export_result)(target, what, out, store)
    elif out is None:
        raise click.UsageError("Missing option '--out'.")
    elif is_suite:
        path, content = out, _export_suite(what, out, verbatim)
    else:
        with progress_bar() as progress:
            path, content = out, export(what, parse_pairs(pairs), out, store, progress)
    click.echo(printable(f"{path}: {content}"))


def _export_result(target: str, name: str, out: Path | None, store: "RunStore") -> tuple[Path, str]:
    from ..render.result_logs import RESULT_FORMS, samples_file
    from ..runs.results import find_job

    job, holder = find_job(name, store)
    ending, write = RESULT_FORMS[target]
    path = out or Path(f"{job.id}{ending}")
    for file in (path, samples_file(path)) if target == "eee" else (path,):
        _refuse_existing(file)
    with progress_bar() as progress:
        result = _answered_result(job, name, holder, progress)
    write(result, path)
    failed = sum(bool(row.error) for row in result.cases)
    counts = f"{len(result.cases):,} cases" + (f", {failed:,} without an answer" if failed else "")
    return path, f"{counts}; the cases are in {samples_file(path)}" if target == "eee" else counts


def _answered_result(job: "Job", name: str, store: "RunStore", progress: "Progress") -> "AnsweredResult":
    """Return the cases of a finished job of `behaviour`, in the order of its suite, with their answers.

    `name` is how the user called the job.
    """
    from ..protocols.behaviour.judge import with_neutral_band
    from ..protocols.behaviour.score import confidence_of, final_answers
    from ..render.result_logs import AnsweredCase, AnsweredResult
    from ..runs.scoring import answers_of, brief_result, load_for

    if job.protocol != "behaviour":
        raise PlanError(
            f"{name}: --to is for results of behaviour, and this is a result of {job.protocol}",
            why="the formats of --to hold graded answers to single cases",
            fix=f"shoal show {name} --csv",
        )
    built = store.built(job, progress)
    model = None if "training" in job.identity else load_for(job)
    answers = final_answers(job.settings, answers_of(job, store, built, model))
    shown = with_neutral_band(answers, built.cases, job.settings.resolved("band"))
    words = list(shown.texts) or [shown.labels[code] for code in shown.predictions.tolist()]
    chances = [math.nan] * len(words) if shown.texts else confidence_of(shown).tolist()
    given = iter(
        (None, None) if place in answers.errors else (word, None if math.isnan(chance) else chance)
        for place, (word, chance) in enumerate(zip(words, chances, strict=True))
    )
    result = brief_result(job, store, progress)
    rows = []
    for case, outcome in zip(built.cases, result.outcomes, strict=True):
        predicted, sure = zip(*islice(given, len(case.examples)), strict=True)
        rows.append(AnsweredCase(case, predicted, sure, outcome.passed, outcome.error))
    answered_at = (store.job_folder(job.id) / "answers.jsonl").stat().st_mtime
    suite = Path(job.settings.suite).name.split(".")[0]
    return AnsweredResult(job.id, job.model, suite, answered_at, rows, result.measures)


def _export_task(target: str, name: str, out: Path | None, _store: "RunStore") -> tuple[Path, str]:
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.harness_tasks import TASKS, task_name

    if target not in TASKS:
        raise click.UsageError(
            f"--to {target} is for the result of a job; a suite: {' or '.join(f'--to {name}' for name in TASKS)}, "
            "or --out cases.csv"
        )
    suite = load_suite(name)
    folder = out or Path(f"{task_name(suite)}-{target}")
    _refuse_existing(folder)
    command = TASKS[target](suite, folder)
    texts = sum(len(case.examples) for case in suite.cases)
    return folder, f"a task of {texts:,} texts from {len(suite.cases):,} cases\nThen: {command}"


def _refuse_existing(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise ShoalError(f"{path}: exists already", fix="--out with another name, or remove it")


def _export_suite(name: str, out: Path, verbatim: bool) -> str:
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.suite_files import export_suite, form_data

    refuse_overwrite(out, (name,))
    suite = load_suite(name)
    if out.suffix == ".html":
        from ..render.writing import write_form

        write_form(form_data(suite), out)
        then = "shoal import NAME-edited.json --out suite.jsonl"
        return f"a form with {len(suite.cases):,} cases\nThen: {then}"
    return f"{export_suite(suite, out, verbatim=verbatim):,} examples of {len(suite.cases):,} cases"


@click.command("new")
@click.argument("what", type=click.Choice(["suite"]))
@click.argument("name")
@click.option(
    "--from", "source", type=EXISTING, help="Propose functionalities from this table of labelled texts."
)
@click.option(
    "--text", "texts", multiple=True, metavar="COLUMN", help="--from: column of the text; two for pairs."
)
@click.option("--label", default="", metavar="COLUMN", help="--from: column of the label.")
@click.option(
    "--by",
    default="",
    metavar="COLUMN",
    help="--from: propose one functionality per value of this column; default: one per word.",
)
def new_command(
    what: str, name: str, source: Path | None, texts: tuple[str, ...], label: str, by: str
) -> None:
    """Write a suite file to start from.

    The file NAME.yaml is a commented example, or a proposal from your own labelled texts. Edit it, then check it.

    \b
    Examples:
      shoal new suite hotels
      shoal new suite hotels --from reviews.csv --by topic
    """
    from ..core.files import writing
    from ..data.labelled import read_labelled
    from ..data.tables import open_rows, require_columns
    from ..protocols.behaviour.starter import proposed, starter

    out = Path(name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
    if (texts or label or by) and not source:
        raise click.UsageError("--text, --label and --by describe a table: give --from FILE")
    if out.exists():
        raise DataError(f"{out}: the file exists", fix="another name, or delete it first")
    if not out.parent.is_dir():
        raise DataError(f"{out.parent}: no such folder", fix=f"mkdir {out.parent}")
    content = starter(out.stem)
    if source:
        require_columns(source, open_rows(source).columns, [by] if by else [])
        table = read_labelled(source, texts, label, more=[by] if by else [])
        content = proposed(out.stem, table, by)
    with writing(out) as stream:
        stream.write(content)
    click.echo(printable(f"{out}: a suite to edit.\nNext: shoal check {shlex.quote(str(out))} --cases 3"))


@click.command("suggest")
@click.argument("suite", type=EXISTING)
@click.option("--slot", default="", metavar="NAME", help="Suggest words for this slot of the templates.")
@click.option(
    "--cases", default="", metavar="NAME", help="Suggest cases for this functionality (openai: only)."
)
@click.option("--model", required=True, metavar="SPEC", help="A masked or causal hf: model, or openai:MODEL.")
@click.option(
    "--count",
    type=click.IntRange(1, 200),
    default=20,
    show_default=True,
    help="Largest number of suggestions.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed for drawing the sentences in which the model fills the slot.",
)
@click.option(
    "--pos",
    type=click.Choice(["NOUN", "ADJ", "VERB", "NAME"]),
    help="Word class of the suggestions, such as ADJ; default: that of the slot's words.",
)
def suggest_command(
    suite: Path, slot: str, cases: str, model: str, count: int, seed: int, pos: str | None
) -> None:
    """Use a model to suggest words or cases for a suite.

    The command prints suggestions, best first, and writes them to the suite file under the key `suggested`. They do
    not count until you move them to `words` or `cases`.

    \b
    Examples:
      shoal suggest hotels.yaml --slot thing --model hf:bert-base-uncased
      shoal suggest hotels.yaml --slot praise --model hf:gpt2 --pos ADJ
      shoal suggest hotels.yaml --cases irony_is_seen --model "openai:gpt-4o-mini"
    """
    from ..protocols.behaviour import suggesting

    if bool(slot) == bool(cases):
        raise click.UsageError("give --slot NAME or --cases NAME")
    if slot:
        slot, home = slot.strip("{}"), "words"
        words = suggesting.suggest_words(suite, slot, model, count, seed, pos or "")
        suggesting.write_suggested(suite, {slot: words})
        title = f"{len(words)} word{'s' * (len(words) != 1)} for {{{slot}}}, best first:"
        lines = [", ".join(words)]
    else:
        from ..protocols.behaviour.build import load_suite

        home = "cases"
        written = suggesting.suggest_cases(suite, load_suite(str(suite)), cases, model, count, seed)
        suggesting.write_suggested(suite, {"cases": {cases: written}})
        title = f"{len(written)} case{'s' * (len(written) != 1)} for {cases}:"
        lines = [f"{case['label']}: {case['text']}" for case in written]
    click.echo(printable(f"{title}\n"))
    for line in lines:
        click.echo(click.wrap_text(printable(line), 80, "  ", "  "))
    click.echo(printable(f"\nWritten to {suite} under `suggested`. Move those you accept to `{home}`."))
