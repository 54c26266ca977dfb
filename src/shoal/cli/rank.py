"""The verb `rank`: models in order for a new domain, from a few labelled examples or a table of accuracies."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import PlanError
from .options import AS_JSON, INTO, OUT, echo_object, refuse_dead, refuse_overwrite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.records import Result
    from ..protocols.base import Compared

PROTOCOL = "ranking"
"""The protocol whose verb this is."""
SIZES = [5, 10, 20, 50, 100, 200, 500]
"""Probe sets of a table of accuracies; larger ones are free, since no model is queried."""


@click.command("rank")
@click.argument("models", nargs=-1, metavar="MODEL MODEL ...")
@click.option(
    "--data",
    "data",
    multiple=True,
    metavar="FILE",
    help="Labelled examples of the new domain; repeat for further files.",
)
@click.option("--pool", default="", metavar="FILE", help="Unlabelled examples to choose from.")
@click.option(
    "--out",
    type=OUT,
    help="Write the examples to label next to this file (.csv or .jsonl).",
)
@click.option(
    "--rates",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Instead of answers: a table of what each model (row) gets right of each kind of example (column), 0 to 1. "
    "MODELs then name rows, such as 'run*'; without any, all of them.",
)
@click.option(
    "--examples",
    default="",
    metavar="N|FILE",
    help="With --rates: how many examples each share is of, or a file with a row per example.",
)
@click.option(
    "--kinds",
    multiple=True,
    metavar="COLUMN",
    help="With --rates: columns to count, such as 'a_*'; repeat for more.",
)
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting, such as text=COLUMN, label=COLUMN, id=COLUMN or labels=NAME,NAME; repeat for more.",
)
@INTO
@click.option("--keep", is_flag=True, help="Store the models' answers in --into.")
@AS_JSON
def rank_command(
    models: tuple[str, ...],
    data: tuple[str, ...],
    pool: str,
    out: Path | None,
    rates: Path | None,
    examples: str,
    kinds: tuple[str, ...],
    pairs: tuple[str, ...],
    into: Path,
    keep: bool,
    as_json: bool,
) -> None:
    """Rank models for a new domain from few labelled examples.

    Prints the probability that each model is better than the next. With --pool it also names the examples to label
    next and when to stop. Label those, add them with another --data, and repeat as often as you like. In
    predictions:FILE?label=COLUMN, a * in COLUMN matches several columns, one model each.

    \b
    Examples:
      shoal rank hf:runs/a hf:runs/b hf:runs/c --data ten_examples.csv
      shoal rank hf:runs/a hf:runs/b --data ten_examples.csv --pool unlabelled.csv --out to_label.csv
      shoal rank hf:runs/a hf:runs/b --data ten_examples.csv --data to_label.csv --pool unlabelled.csv
      shoal rank predictions:a.csv predictions:b.csv --data nli.csv --set text=premise,hypothesis
      shoal rank "predictions:answers.csv?label=pred_*" --data examples.csv
      shoal rank --rates accuracies_by_run.csv --examples test_set.csv
    """
    from ..runs.settings import parse_pairs

    if rates:
        _check_rates(data, pool, out, keep, examples)
        return _rank_rates(rates, examples, models, kinds, parse_pairs(pairs), as_json)
    if examples or kinds:
        raise click.UsageError("--examples and --kinds are for a table of shares: --rates FILE")
    from ..models.stored.several import every_model
    from ..protocols import find_protocol
    from ..protocols.ranking.export import export
    from ..render.progress import progress_bar
    from ..runs.results import audit_all
    from ..runs.store import RunStore

    specs = every_model(models)
    _check(specs, data, pool, out)
    if out:
        refuse_overwrite(out, (*models, *data, pool))
    given = {"data": list(data), "pool": pool, "probe_sizes": [], **parse_pairs(pairs)}
    store = RunStore(into) if keep else None
    with progress_bar() as progress:
        results = audit_all(specs, PROTOCOL, given, progress, store)
    refuse_dead(results)
    compared = find_protocol(PROTOCOL).compare(results[0].settings, results)
    if out:
        number = export(compared.findings, results[0].job["about"]["columns"], out)
        click.echo(f"{out}: {number:,} examples to label", err=as_json)
    _show(results[0].settings, results, compared, as_json)


def _rank_rates(
    path: Path,
    examples: str,
    models: "Sequence[str]",
    kinds: "Sequence[str]",
    given: "Mapping[str, Any]",
    as_json: bool,
) -> None:
    from ..protocols import find_protocol
    from ..protocols.ranking.drawn import compare_rates
    from ..protocols.ranking.rates import read_rates
    from ..runs.settings import make_settings

    usual = {"probe_sizes": SIZES, "factors": ["ACC"]}
    settings = make_settings(find_protocol(PROTOCOL).Settings, {**usual, **given}, "--set")
    table = read_rates(path, examples, models, kinds)
    _show(settings, [], compare_rates(settings, table), as_json)


def _show(settings: Any, results: "Sequence[Result]", compared: "Compared", as_json: bool) -> None:
    from ..protocols import find_protocol
    from ..render.terminal import print_sections

    if as_json:
        echo_object([result.job for result in results], compared.measures, compared.findings)
    else:
        print_sections(find_protocol(PROTOCOL).view(settings, results, compared.measures, compared.findings))


def _check(models: "Sequence[str]", data: tuple[str, ...], pool: str, out: Path | None) -> None:
    if not models:
        raise click.UsageError("name two models or more, or a table of what they get right with --rates")
    if len(models) < 2:
        raise PlanError("one model only", why="an order needs two", fix=f"shoal rank {models[0]} MODEL …")
    twice = next((model for model in models if models.count(model) > 1), None)
    if twice:
        raise PlanError(f"model {twice!r} is there twice", fix="name it once")
    if not data and not pool:
        raise click.UsageError("give labelled examples with --data, or examples without labels with --pool")
    if out and not pool:
        raise click.UsageError("--out writes what to label next, and needs --pool")


def _check_rates(data: tuple[str, ...], pool: str, out: Path | None, keep: bool, examples: str) -> None:
    for option, is_given in {"--data": data, "--pool": pool, "--out": out, "--keep": keep}.items():
        if is_given:
            raise click.UsageError(
                f"--rates and {option} do not go together: a table of shares has no answers"
            )
    if not examples:
        raise click.UsageError(
            "how many examples is each share of? --examples NUMBER, or --examples FILE with a row per example"
        )
