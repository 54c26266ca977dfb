"""Results, measures, comparisons and gates as HTML in a notebook: the blocks of the report page, with a small style.

Every text from data is escaped, as on the page; there are no scripts.
"""

from importlib.resources import files

from markupsafe import Markup

from ..comparing.pairs import Comparison
from ..comparing.view import IN_PYTHON, comparison_sections, verdict_sections
from ..core.display import result_text
from ..core.measures import unit_word
from ..core.records import Measures, Result
from ..core.views import Cell, Column, Number, Row, Section, Table, to_read
from ..runs.decisions import Gate
from ..runs.viewing import result_sections
from .html_blocks import joined, section_html
from .tables import is_defined
from .terminal import section_lines

SHOWN = 20
"""The most measures that a text or a notebook lists."""
WIDTH = 80


def html_of(thing: Result | Measures | Comparison | Gate) -> str:
    """Return an object as HTML."""
    if isinstance(thing, Result):
        # The views of most protocols need cases, which a result file has not.
        about = Section(text=result_text(thing))
        sections = result_sections(thing) if thing.outcomes else [about, _measures_section(thing.measures)]
    elif isinstance(thing, Measures):
        sections = [_measures_section(thing)]
    elif isinstance(thing, Comparison):
        sections = comparison_sections(thing, hints=IN_PYTHON)
    else:
        sections = verdict_sections(thing.verdicts, thing.result, every=True)
    style = Markup(files("shoal.render").joinpath("templates/notebook.css").read_text("utf-8"))
    body = joined(map(section_html, to_read(sections)))
    return str(Markup('<div class="shoal"><style>{}</style>{}</div>').format(style, body))


def measures_text(measures: Measures) -> str:
    """Return the first measures as a table of plain text."""
    lines = section_lines([_measures_section(measures)], WIDTH, coloured=False) if measures else []
    return "\n".join(line.plain for line in lines) or "no measures"


def _measures_section(measures: Measures) -> Section:
    """Return a table of the first measures."""
    groups = list(dict.fromkeys(name for row in measures[:SHOWN] for name in row.groups))
    columns = [Column("measure", "left", once=True), *(Column(name, "left") for name in groups)]
    columns += [Column("value"), Column("95 % CI"), Column("n")]
    rows = []
    for row in measures[:SHOWN]:
        number: Cell = [Number(row, instead="–"), unit_word(row) if is_defined(row) else ""]
        name = f"{row.name} of {row.of}" if row.of else row.name
        values = [row.groups.get(group, "") for group in groups]
        rows.append(Row([name, *values, number, Number(row, part="interval"), f"{row.n:,}"]))
    more = len(measures) - SHOWN
    return Section(blocks=[Table(columns, rows)], notes=[f"{more:,} more: .to_pandas()"] if more > 0 else [])
