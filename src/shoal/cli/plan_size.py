"""`plan-size`: how many cases or seeds a comparison needs, before they are made."""

from pathlib import Path

import click

from .compare import PROTOCOL, SETTINGS, first_protocol
from .options import AS_JSON, INTO, echo_object, refuse_dead


@click.command("plan-size")
@click.argument("names", nargs=-1, metavar="[A [B]]")
@click.option("--a", "seeds_a", multiple=True, metavar="A", help="A seed of side A; repeat for more.")
@click.option("--b", "seeds_b", multiple=True, metavar="B", help="A seed of side B; repeat for more.")
@click.option(
    "--difference",
    type=float,
    required=True,
    metavar="SHARE",
    help="What is to be found: 0.05 for five points.",
)
@click.option("--power", type=float, default=0.8, show_default=True, help="How often it is to be found.")
@click.option(
    "--differing",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Of one model alone: the share of cases on which the two to be compared will differ.",
)
@click.option(
    "--row", default="", metavar="NAME", help="A row of compare, such as a functionality; else the headline."
)
@click.option(
    "--adjust",
    type=click.Choice(["holm", "none"]),
    default="holm",
    show_default=True,
    help="Whether the row is one of compare's table or the only test.",
)
@click.option(
    "--simulations", type=click.IntRange(50, 100_000), default=400, show_default=True, help="Per size."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the simulation.")
@SETTINGS
@INTO
@PROTOCOL
@AS_JSON
def plan_size_command(
    names: tuple[str, ...],
    seeds_a: tuple[str, ...],
    seeds_b: tuple[str, ...],
    difference: float,
    power: float,
    differing: float | None,
    row: str,
    adjust: str,
    simulations: int,
    seed: int,
    pairs: tuple[str, ...],
    into: Path,
    protocol: str | None,
    as_json: bool,
) -> None:
    """Say how many cases, and how many seeds, it takes to find a difference, from a pilot.

    The pilot is a model or a job, two of them, or several seeds with --a and --b. Comparisons of other sizes are
    simulated from it, with the test that `shoal compare` makes.

    \b
    Examples:
      shoal plan-size predictions:old.jsonl predictions:new.jsonl --set suite=suite.jsonl --difference 0.03
      shoal plan-size 3f9c1a2b --into runs --difference 0.05 --differing 0.1
      shoal plan-size --a seed1 --a seed2 --a seed3 --into runs --difference 0.02
    """
    import numpy as np

    from ..comparing.sizing import make_pilot, plan_size
    from ..comparing.sizing_view import sizing_sections
    from ..runs.results import find_results, with_outcomes
    from ..runs.settings import parse_pairs
    from ..show.progress import progress_bar
    from ..show.terminal import print_sections

    if bool(names) == bool(seeds_a or seeds_b) or len(names) > 2:
        raise click.UsageError("give a model A, or two, A and B; or seeds with --a A1 --a A2")
    side_a, side_b = (names[:1], names[1:]) if names else (seeds_a, seeds_b)
    if not side_a:
        raise click.UsageError("--b needs --a beside it")
    given = [*side_a, *side_b]
    with progress_bar() as progress:
        results = find_results(given, protocol or first_protocol(), parse_pairs(pairs), into, progress)
    results = [with_outcomes(result, name) for result, name in zip(results, given, strict=True)]
    refuse_dead(results)
    a, b = results[: len(side_a)], results[len(side_a) :]
    pilot = make_pilot(a, b, row=row, differing=differing, adjust=adjust != "none")
    sizing = plan_size(pilot, difference, np.random.default_rng(seed), power, simulations)
    if as_json:
        echo_object([result.job for result in results], sizing.measures, ())
    else:
        print_sections(sizing_sections(sizing))
