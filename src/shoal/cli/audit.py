"""The verbs `try` and `explain`."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import DataError, PlanError
from ..core.text import printable
from ..render.progress import progress_bar
from . import options

if TYPE_CHECKING:
    from ..core.records import Result


@click.command("try")
@click.argument("protocol")
@click.argument("model")
@options.inputs
@options.LABELS
@click.option(
    "--only",
    multiple=True,
    metavar="GROUP=NAME",
    help="Use only these cases, such as functionality=neg*; repeat for more.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Use a random sample of this many cases.")
@options.OVER
@click.option("--full", is_flag=True, help="Show every row and note, with intervals for new templates.")
@click.option("--html", type=options.OUT, help="Also write an HTML page.")
@options.AS_JSON
def try_command(
    protocol: str,
    model: str,
    pairs: tuple[str, ...],
    labels: str | None,
    only: tuple[str, ...],
    limit: int | None,
    over: str,
    full: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Audit one model and print the result.

    MODEL is a spec such as hf:NAME; predictions:FILE has answers that were computed elsewhere. See `shoal help models`.
    The folder .shoal/ keeps the result until the next `shoal try`. `show`, `report`, `gate` and `compare` call it
    last.

    \b
    Examples:
      shoal try behaviour predictions:example --suite sentiment
      shoal try behaviour predictions:answers.jsonl --suite suite.jsonl --json
      shoal try behaviour tiny:sentiment --only "functionality=neg*"
      shoal try behaviour hf:my-model --suite sentiment \\
          --labels LABEL_0:negative,LABEL_1:positive
      shoal try behaviour tiny:sentiment --html page.html
    """
    from ..core.records import for_new_templates
    from ..runs.results import audit_and_keep, labelled
    from ..runs.settings import parse_pairs

    _refuse_unused_options(protocol)
    values: dict[str, Any] = dict(parse_pairs([*pairs, *([f"limit={limit}"] if limit else [])]))
    if only and "only" in values:
        raise PlanError("--only and --set only: two sources for one value", fix="keep --only")
    values |= {"only": list(only)} if only else {}
    options.refuse_overwrite(html, (model, *pairs))
    options.check_page(html)
    model = labelled(model, labels)
    with progress_bar() as progress:
        result, not_kept, spent = audit_and_keep(protocol, model, values, progress)
    if over == "templates":
        result = for_new_templates(result)
    if as_json:
        options.echo_json(result)
    else:
        _print_result(result, str(values.get("suite", "")), model, spent, full)
    options.refuse_dead([result])
    if html:
        from ..render.writing import write_report

        write_report([result], html)
        click.echo(f"\nWrote {html}: 1 job.", err=as_json)
    if not as_json:
        kept = "Next: shoal show last --failing    shoal report last"
        click.echo("\n" + (printable(f"The result was not kept: {not_kept}") if not_kept else kept))


def _refuse_unused_options(protocol: str) -> None:
    """Raise an error for an option that the protocol does not have."""
    from ..protocols import find_protocol

    kind = find_protocol(protocol).Settings
    known = [field.name for field in fields(kind)]
    given = click.get_current_context().params
    for name in ("suite", "data", "only", "limit"):
        if given[name] and name not in [*known, *getattr(kind, "REMOVED", {})]:
            why = f"its settings are {', '.join(known)}"
            raise PlanError(f"--{name}: {protocol} has no such setting", why=why, fix=f"remove --{name}")


def _print_result(result: "Result", suite: str, model: str, spent: Any, full: bool) -> None:
    from ..protocols.behaviour.template_suites import waiting
    from ..render.terminal import print_sections
    from ..runs.viewing import result_sections
    from .views import spending_words

    print_sections(result_sections(result), full=full)
    if note := waiting(suite):
        click.echo(f"\n{note}")
    if words := spending_words([(model, spent)]):
        click.echo(f"\nSpent: {words}")


@click.command("explain")
@click.argument("model")
@click.argument("text")
@click.argument("second", required=False)
@click.option("--method", default="shapley", show_default=True, help="lime, shapley or gradients.")
@click.option("--label", default="", help="Explain this label instead of the predicted one.")
@click.option(
    "--samples", type=click.IntRange(min=1), help="Number of copies of the text, or of steps of the integral."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draws.")
@options.suite_and_data
@options.LABELS
@options.AS_JSON
def explain_command(
    model: str,
    text: str,
    second: str | None,
    method: str,
    suite: str | None,
    data: str | None,
    labels: str | None,
    as_json: bool,
    **draws: Any,
) -> None:
    """Show which words of a text decide a prediction.

    Words for the prediction are green, words against it red. SECOND is the second text of a pair.
    With --suite or --data (a file of labelled texts), the labels have the names used there.

    \b
    Examples:
      shoal explain tiny:sentiment "The food was great, but the film was not."
      shoal explain tiny:paraphrase "Is it far?" "How far is it?" \\
          --method gradients
      shoal explain tiny:sentiment "I do not love it." --suite sentiment
      shoal explain hf:my-model "A fine film." --method lime --samples 1000
    """
    from ..explaining import explain
    from ..explaining.attributions import ExplainConfig, as_data
    from ..explaining.view import section
    from ..models import load_model
    from ..render.terminal import print_sections
    from ..runs.results import labelled

    example = (text,) if second is None else (text, second)
    for part in example:
        _check_text(part)
    model = labelled(model, labels)
    config = ExplainConfig(**draws)
    names = _label_names(suite, data)
    (explained,) = explain(load_model(model), [example], method, config, labels=names)
    if as_json:
        job = {"model": model, "method": method, "texts": list(example)}
        options.echo_object([job], [], [], attributions=[as_data(explained)])
    else:
        print_sections([section(example, explained, method)])


def _label_names(suite: str | None, data: str | None) -> Sequence[str] | None:
    """Return the label names of a suite or of labelled texts; None for the model's own."""
    from ..data.labelled import read_labelled
    from ..protocols.behaviour.build import load_suite

    if suite is not None and data is not None:
        raise click.UsageError("--suite and --data both name the labels: give one of them")
    if data is not None:
        return sorted({row.label for row in read_labelled(Path(data)).rows})
    names = load_suite(suite).labels if suite is not None else None
    if suite is not None and not names:
        raise PlanError(
            f"--suite {suite}: has no labels to explain",
            why="explain is about the probability of a label, and this suite judges texts",
            fix="leave --suite out",
        )
    return names


def _check_text(text: str) -> None:
    """Raise an error for a text without words."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"half of a character in {text!r}", fix="write the whole character") from None
    if not text.strip():
        raise DataError("a blank text has no words to explain", fix='a text such as "A fine film."')
