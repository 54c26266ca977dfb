"""The verbs `try` and `list`."""

from typing import Any

import click

from ..core.errors import PlanError
from .options import AS_JSON, echo_json, refuse_dead


@click.command("list")
@click.argument(
    "what",
    type=click.Choice(
        [
            "protocols",
            "models",
            "prompts",
            "suites",
            "rules",
            "formats",
            "profiles",
            "executors",
            "explainers",
            "factors",
        ]
    ),
    required=False,
)
def list_command(what: str | None) -> None:
    """List protocols, suites, formats, rules and models.

    \b
    Example:
      shoal list suites
    """
    from .catalogue import catalogue

    click.echo(catalogue(what))


@click.command("try")
@click.argument("protocol")
@click.argument("model")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the protocol; repeat for more.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="GROUP=NAME",
    help="Use only these cases, such as functionality=neg*; repeat for more.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Use a random sample of this many cases.")
@click.option(
    "--over",
    type=click.Choice(["cases", "templates"]),
    default="cases",
    show_default=True,
    help="Intervals for new cases of the same templates, or for new templates.",
)
@click.option("--full", is_flag=True, help="Show every row and note, with intervals for new templates.")
@AS_JSON
def try_command(
    protocol: str,
    model: str,
    pairs: tuple[str, ...],
    only: tuple[str, ...],
    limit: int | None,
    over: str,
    full: bool,
    as_json: bool,
) -> None:
    """Audit one model and print the result.

    MODEL is a spec such as hf:NAME; predictions:FILE has answers that were computed elsewhere.

    \b
    Examples:
      shoal try behaviour predictions:example --set suite=sentiment
      shoal try behaviour predictions:answers.jsonl --set suite=suite.jsonl --set split=test --json
      shoal try behaviour "predictions:answers.csv?label=pred_a" --set suite=hatecheck.csv
      shoal try behaviour tiny:sentiment --only "functionality=neg*"
    """
    from ..core.records import for_new_templates
    from ..render.progress import progress_bar
    from ..runs.results import audit_with
    from ..runs.settings import parse_pairs

    values: dict[str, Any] = dict(parse_pairs([*pairs, *([f"limit={limit}"] if limit else [])]))
    if only and "only" in values:
        raise PlanError("--only and --set only: two sources for one value", fix="keep --only")
    values |= {"only": list(only)} if only else {}
    with progress_bar() as progress:
        result = audit_with(protocol, model, values, "--set", progress)
    if over == "templates":
        result = for_new_templates(result)
    if as_json:
        echo_json(result)
    else:
        from ..render.terminal import print_sections
        from ..runs.viewing import result_sections

        print_sections(result_sections(result), full=full)
    refuse_dead([result])
