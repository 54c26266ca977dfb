"""The verb `export`: cases as files for models and people elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..core.files import is_file, is_folder
from .options import INTO, OUT, refuse_overwrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runs.store import RunStore


@click.command("export")
@click.argument("what")
@click.option(
    "--out",
    type=OUT,
    required=True,
    help="The file to write; its suffix chooses the format.",
)
@click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A setting of the protocol; repeat for more."
)
@INTO
@click.option(
    "--verbatim", is_flag=True, help="CSV: do not escape cells that a spreadsheet would run as formulas."
)
def export_command(what: str, out: Path, pairs: tuple[str, ...], into: Path, verbatim: bool) -> None:
    """Write the cases of a suite or job to a file.

    No model is queried.

    A suite: its texts with their ids (.csv, .jsonl). Add a model's answers (label, or a column of probabilities per
    label; pred and conf in JSON Lines), and use the file as predictions:FILE.

    merge, by settings or by job: the variants with their metadata (.jsonl), or a sample for human annotation
    as a page (.html). Variants are generated once and stored in --into, where
    `shoal run` finds them.

    \b
    Examples:
      shoal export sentiment --out cases.jsonl
      shoal try behaviour predictions:cases.jsonl --set suite=sentiment
      shoal export merge --set data=nli.tsv --set suggesters=hf:bert --out variants.jsonl
      shoal export 3f9c1a2b --out form.html
    """
    from ..core.text import printable
    from ..protocols import PROTOCOLS
    from ..protocols.behaviour.suites import SUITES
    from ..runs.store import RunStore

    store = RunStore(into)
    is_suite = what in SUITES or (what not in PROTOCOLS and not _is_job(store, what))
    if is_suite and pairs:
        raise click.UsageError("--set is for a protocol or a job; a suite is written whole")
    if verbatim and not is_suite:
        raise click.UsageError("--verbatim is for the texts of a suite")
    told = _suite(what, out, verbatim) if is_suite else _cases(what, out, pairs, store)
    click.echo(printable(f"{out}: {told}"))


def _is_job(store: "RunStore", name: str) -> bool:
    """Return whether the name is a job of the store and not a file."""
    return not (is_file(Path(name)) or is_folder(Path(name))) and any(name in job for job in store.job_ids())


def _suite(name: str, out: Path, verbatim: bool) -> str:
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.suite_files import export_suite

    refuse_overwrite(out, (name,))
    made = load_suite(name)
    count = export_suite(made, out, verbatim=verbatim)
    return f"{count:,} examples of {len(made.cases):,} cases"


def _cases(name: str, out: Path, pairs: "Sequence[str]", store: "RunStore") -> str:
    from ..render.progress import progress_bar
    from ..runs.results import export
    from ..runs.settings import parse_pairs

    with progress_bar() as progress:
        return export(name, parse_pairs(pairs), out, store, progress)
