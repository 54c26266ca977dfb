"""The verb `explain`: which words decide a prediction."""

import click

from ..core.errors import DataError
from .options import AS_JSON, echo_object


@click.command("explain")
@click.argument("model")
@click.argument("text")
@click.argument("second", required=False)
@click.option("--method", default="shapley", show_default=True, help="lime, shapley or gradients.")
@click.option(
    "--label", default="", help="Explain the probability of this label instead of the predicted one."
)
@click.option("--samples", type=click.IntRange(min=1), help="Copies of the text, or steps of the integral.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random draws."
)
@AS_JSON
def explain_command(
    model: str,
    text: str,
    second: str | None,
    method: str,
    label: str,
    samples: int | None,
    seed: int,
    as_json: bool,
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
    from ..explaining.view import sections
    from ..models import load_model

    config = ExplainConfig(samples, label=label, seed=seed)
    example = (text,) if second is None else (text, second)
    for part in example:
        check_text(part)
    loaded = load_model(model)
    (explained,) = explain(loaded, [example], method, config)
    if as_json:
        job = {"model": model, "method": method, "texts": list(example)}
        echo_object([job], [], [], attributions=[as_data(explained)])
    else:
        from ..render.terminal import print_sections

        print_sections(sections(example, explained, method))


def check_text(text: str) -> None:
    """Raise an error for a text without words."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"half of a character in {text!r}", fix="write the whole character") from None
    if not text.strip():
        raise DataError("a blank text has no words to explain", fix='a text such as "A fine film."')
