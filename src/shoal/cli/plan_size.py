"""`plan-size`: the sample size of a comparison, estimated from a pilot."""

from pathlib import Path
from typing import Any

import click

from .compare import PROTOCOL, SETTINGS, find_sides
from .options import AS_JSON, INTO, echo_object


@click.command("plan-size")
@click.argument("names", nargs=-1, metavar="[A [B]]")
@click.option("--a", "seeds_a", multiple=True, metavar="A", help="A run of side A; repeat for more.")
@click.option("--b", "seeds_b", multiple=True, metavar="B", help="A run of side B; repeat for more.")
@click.option(
    "--difference", "drop", type=float, required=True, metavar="SHARE", help="The drop; 0.05 is five points."
)
@click.option("--power", type=float, default=0.8, show_default=True, help="Chance to detect the drop.")
@click.option("--differing", type=float, help="Share of cases on which the models differ.")
@click.option("--row", default="", metavar="NAME", help="A row of compare; by default the headline.")
@SETTINGS
@INTO
@PROTOCOL
@AS_JSON
def plan_size_command(
    names: tuple[str, ...],
    seeds_a: tuple[str, ...],
    seeds_b: tuple[str, ...],
    pairs: tuple[str, ...],
    into: Path,
    protocol: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Estimate the sample size for a comparison.

    The pilot is one model or job with --differing, two of them, or several runs with --a and --b.

    \b
    Examples:
      shoal plan-size predictions:old.jsonl predictions:new.jsonl --set suite=suite.jsonl --difference 0.03
      shoal plan-size 3f9c1a2b --into runs --difference 0.05 --differing 0.1
      shoal plan-size --a seed1 --a seed2 --a seed3 --into runs --difference 0.02
    """
    from ..comparing.power import plan_sections, plan_size
    from ..render.terminal import print_sections

    if bool(names) == bool(seeds_a) or (names and seeds_b) or len(names) > 2:
        raise click.UsageError("give a model A, or two, A and B; or runs with --a A1 --a A2")
    side_a, side_b = (names[:1], names[1:]) if names else (seeds_a, seeds_b)
    a, b = find_sides(side_a, side_b, protocol, pairs, into)
    plan = plan_size(a, b, **options)
    if as_json:
        echo_object([result.job for result in (*a, *b)], plan.measures, ())
    else:
        print_sections(plan_sections(plan))
