"""The verb `rank`: models in order for a new domain, from a few labelled examples."""

from collections.abc import Sequence
from pathlib import Path

import click

from ..core.errors import PlanError
from .options import AS_JSON, INTO, KEEP, OUT, SETTINGS, echo_object, refuse_dead, refuse_overwrite

PROTOCOL = "ranking"
"""The protocol whose verb this is."""


@click.command("rank")
@click.argument("models", nargs=-1, metavar="MODEL MODEL ...")
@click.option(
    "--data", multiple=True, metavar="FILE", help="Labelled examples of the new domain; repeat for more."
)
@click.option("--pool", default="", metavar="FILE", help="Unlabelled examples to choose from.")
@click.option("--out", type=OUT, help="Write the examples to label next to this file (.csv or .jsonl).")
@SETTINGS
@INTO
@KEEP
@AS_JSON
def rank_command(
    models: tuple[str, ...],
    data: tuple[str, ...],
    pool: str,
    out: Path | None,
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
      shoal rank hf:runs/a hf:runs/b --data ten_examples.csv \\
          --pool unlabelled.csv --out to_label.csv
      shoal rank hf:runs/a hf:runs/b --data ten_examples.csv --data to_label.csv \\
          --pool unlabelled.csv
      shoal rank predictions:a.csv predictions:b.csv --data nli.csv \\
          --set text=premise,hypothesis
      shoal rank "predictions:answers.csv?label=pred_*" --data examples.csv
      shoal rank scores:a.jsonl scores:b.jsonl scores:c.jsonl
    """
    from ..models.stored import every_model
    from ..protocols import find_protocol
    from ..protocols.ranking.labelling import export
    from ..protocols.scores import graded_results, is_graded, ranked
    from ..render.progress import progress_bar
    from ..render.terminal import print_sections
    from ..runs.results import audit_all
    from ..runs.settings import parse_pairs
    from ..runs.store import RunStore

    specs = every_model(models)
    _check(specs, data, pool, out)
    refuse_overwrite(out, (*models, *data, pool))
    given = {"data": list(data), "pool": pool, "probe_sizes": [], **parse_pairs(pairs)}
    store = RunStore(into) if keep else None
    if all(map(is_graded, specs)):
        results = ranked(graded_results(specs))
    else:
        with progress_bar() as progress:
            results = audit_all(specs, PROTOCOL, given, progress, store)
    refuse_dead(results)
    protocol, settings = find_protocol(PROTOCOL), results[0].settings
    compared = protocol.compare(settings, results)
    if out:
        number = export(compared.findings, results[0].job["about"]["columns"], out)
        click.echo(f"{out}: {number:,} examples to label. Then rank again with --data {out}", err=as_json)
    if as_json:
        echo_object([result.job for result in results], compared.measures, compared.findings)
    else:
        print_sections(protocol.view(settings, results, compared.measures, compared.findings))


def _check(models: Sequence[str], data: tuple[str, ...], pool: str, out: Path | None) -> None:
    if not models:
        raise click.UsageError("name two models or more")
    if len(models) < 2:
        raise PlanError("one model only", why="an order needs two", fix=f"shoal rank {models[0]} MODEL …")
    twice = next((model for model in models if models.count(model) > 1), None)
    if twice:
        raise PlanError(f"model {twice!r} is there twice", fix="name it once")
    graded = [model for model in models if model.startswith("scores:")]
    if graded and (len(graded) < len(models) or data or pool):
        raise PlanError(
            f"{graded[0]}: graded samples are ranked by themselves",
            why="other models, --data and --pool have other examples",
            fix=f"shoal rank {' '.join(graded)}",
        )
    if not data and not pool and not graded:
        raise click.UsageError("give labelled examples with --data, or examples without labels with --pool")
    if out and not pool:
        raise click.UsageError("--out writes the examples to label next, and needs --pool")
