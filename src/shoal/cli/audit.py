"""The verbs `try`, `explain` and `list`."""

import shlex
from collections.abc import Sequence
from typing import Any

import click

from ..core.errors import DataError, PlanError
from ..core.text import printable
from .options import AS_JSON, OVER, SHORT, echo_json, echo_object, inputs, refuse_dead

TABLES = ["protocols", "models", "prompts", "suites", "rules", "formats", "profiles", "executors"]
TABLES += ["explainers", "factors"]


@click.command("list")
@click.argument("what", type=click.Choice(TABLES), required=False)
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
@inputs
@click.option(
    "--only",
    multiple=True,
    metavar="GROUP=NAME",
    help="Use only these cases, such as functionality=neg*; repeat for more.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Use a random sample of this many cases.")
@OVER
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
      shoal try behaviour predictions:example --suite sentiment
      shoal try behaviour predictions:answers.jsonl --suite suite.jsonl --set split=test --json
      shoal try behaviour "predictions:answers.csv?label=pred_a" --suite hatecheck.csv
      shoal try behaviour tiny:sentiment --only "functionality=neg*"
    """
    from ..core.records import for_new_templates
    from ..protocols.behaviour.suggesting import waiting
    from ..render.progress import progress_bar
    from ..render.terminal import print_sections
    from ..runs.results import audit_with
    from ..runs.settings import parse_pairs
    from ..runs.viewing import result_sections

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
        print_sections(result_sections(result), full=full)
        if note := waiting(str(values.get("suite", ""))):
            click.echo(f"\n{note}")
    refuse_dead([result])
    if not (as_json or only):
        click.echo(_next_commands(protocol, model, pairs))


def _next_commands(protocol: str, model: str, pairs: Sequence[str]) -> str:
    """Return the commands that compare and gate the same model."""
    words = [model, *(["--protocol", protocol] if protocol != "behaviour" else [])]
    for pair in pairs:
        name, _, value = pair.partition("=")
        words += [f"--{name}", value] if name in SHORT else ["--set", pair]
    same = printable(shlex.join(words))
    return f"\nNext: shoal compare OTHER {same}\n      shoal gate {same} --rules gate.toml"


@click.command("explain")
@click.argument("model")
@click.argument("text")
@click.argument("second", required=False)
@click.option("--method", default="shapley", show_default=True, help="lime, shapley or gradients.")
@click.option("--label", default="", help="Explain this label instead of the predicted one.")
@click.option("--samples", type=click.IntRange(min=1), help="Copies of the text, or steps of the integral.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draws.")
@AS_JSON
def explain_command(
    model: str, text: str, second: str | None, method: str, as_json: bool, **draws: Any
) -> None:
    """Show which words of a text decide a prediction.

    Words for the prediction are green, words against it red. SECOND is the second text of a pair.

    \b
    Examples:
      shoal explain tiny:sentiment "The food was great, but the film was not."
      shoal explain tiny:paraphrase "Is it far?" "How far is it?" --method gradients
      shoal explain hf:my-model "A fine film." --method lime --samples 1000
    """
    from ..explaining import explain
    from ..explaining.attributions import ExplainConfig, as_data
    from ..explaining.view import section
    from ..models import load_model
    from ..render.terminal import print_sections

    example = (text,) if second is None else (text, second)
    for part in example:
        _check_text(part)
    config = ExplainConfig(**draws)
    (explained,) = explain(load_model(model), [example], method, config)
    if as_json:
        job = {"model": model, "method": method, "texts": list(example)}
        echo_object([job], [], [], attributions=[as_data(explained)])
    else:
        print_sections([section(example, explained, method)])


def _check_text(text: str) -> None:
    """Raise an error for a text without words."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"half of a character in {text!r}", fix="write the whole character") from None
    if not text.strip():
        raise DataError("a blank text has no words to explain", fix='a text such as "A fine film."')
