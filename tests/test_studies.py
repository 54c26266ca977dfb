"""The pages of docs/studies show the numbers of the files next to them."""

import re
from pathlib import Path

import studies

ROOT = Path(__file__).parents[1]

LENGTH = 900
"""Words of a page; a report fits one page."""


def test_generated_tables_and_files_are_up_to_date():
    stale = [
        str(path.relative_to(ROOT))
        for path, text in studies.outputs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"run `python tools/studies.py`: {stale}"


def test_every_table_of_numbers_is_generated():
    unmarked = []
    for page in studies.pages():
        rest = studies.MARKED.sub("", page.read_text(encoding="utf-8"))
        unmarked += [f"{page.name}: {line}" for line in rest.splitlines() if line.startswith("|")]
    assert not unmarked


def decimals(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w.])\d+\.\d+(?!\d)", text))


def test_decimals_in_the_text_are_in_a_table_or_file_of_the_study():
    """Prose may quote a generated table or a CSV file that the page links; anything else cannot be checked."""
    unknown = []
    for page in studies.pages():
        text = page.read_text(encoding="utf-8")
        sources = "".join(match[3] for match in studies.MARKED.finditer(text))
        for name in re.findall(r"\]\(([^)]+\.csv)\)", text):
            sources += (studies.STUDIES / name).read_text(encoding="utf-8")
        prose = re.sub(r"```.*?```", "", studies.MARKED.sub("", text), flags=re.DOTALL)
        unknown += [f"{page.name}: {number}" for number in sorted(decimals(prose) - decimals(sources))]
    assert not unknown


def test_a_study_fits_one_page():
    long = {page.name: len(page.read_text(encoding="utf-8").split()) for page in studies.pages()}
    assert not {name: words for name, words in long.items() if words > LENGTH}


def test_the_hans_command_prints_the_stored_numbers(data, capsys):
    benchmark = studies.load(ROOT / "benchmarks" / "resampling.py")
    benchmark.print_hans(data / "hans")
    printed = capsys.readouterr().out
    lines: dict[tuple[str, str], list[str]] = {}
    for row in studies.read("hans/printed.csv"):
        lines.setdefault((row["table"], row["row"]), []).append(row["value"])
    for (name, line), cells in lines.items():
        if name == "text":
            assert all(re.search(rf"(?<![\d.]){re.escape(cell)}\b", printed) for cell in cells), cells
        else:
            assert f"| {line} | {' | '.join(cells)} |" in printed
