"""Cases by the names of their groups, with `*`: at try, at show, and in Python."""

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shoal.cli import main
from shoal.core.errors import DataError
from shoal.core.records import Case
from shoal.core.selection import choose

NAMES = ("negated praise", "negated blame", "typos", "a=b", "what?", "[x]")
CASES = [
    Case(f"{name}/1", ((name,),), groups={"functionality": name, "test type": kind})
    for name in NAMES
    for kind in ("MFT", "INV")
]


@pytest.mark.parametrize(
    ("patterns", "names", "kinds"),
    [
        (["functionality=neg*"], NAMES[:2], ("MFT", "INV")),
        (["typos", "negated praise"], (NAMES[0], NAMES[2]), ("MFT", "INV")),
        (["functionality=neg*", "test_type=INV"], NAMES[:2], ("INV",)),
        (["a=b"], ("a=b",), ("MFT", "INV")),
        (["functionality=what?"], ("what?",), ("MFT", "INV")),
        (["[x]"], ("[x]",), ("MFT", "INV")),
    ],
)
def test_cases_are_chosen_by_their_groups(patterns, names, kinds):
    chosen = [tuple(CASES[position].groups.values()) for position in choose(CASES, patterns)]
    assert chosen == [
        (name, kind) for name in NAMES for kind in ("MFT", "INV") if name in names and kind in kinds
    ]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("functionality=typo", 'try: "typos"'),
        ("functionality=zzz", "there are negated praise, negated blame"),
        ("functionalty=typos", "groups are functionality, test type"),
        ("Typos", 'try: "typos"'),
        ("", "no case is in ''"),
    ],
)
def test_what_fits_no_case_is_refused(pattern, words):
    with pytest.raises(DataError) as caught:
        choose(CASES, ["typos", pattern])
    assert words in str(caught.value) and "\n  try: " in str(caught.value)


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, arguments)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    plan = folder / "plan.toml"
    plan.write_text('models = ["predictions:example"]\n[behaviour]\nresamples = 10\n')
    assert run("run", str(plan), "--into", str(folder / "runs")).exit_code == 0
    return folder / "runs"


def rows(*options: str, store: Path) -> list[dict[str, str]]:
    done = run("show", "example", "--into", str(store), "--csv", *options)
    assert done.exit_code == 0, done.output
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_show_lists_the_chosen_cases_and_never_ignores_a_choice(store):
    chosen_rows = rows("--only", "capability=negation", store=store)
    assert chosen_rows and {row["capability"] for row in chosen_rows} == {"negation"}
    done = run("show", "example", "--into", str(store), "--failing", "--only", "negated_praise*")
    assert "negated_praise_is_negative" in done.stdout and "80 of 80 cases fail" in done.stdout
    for options in (["--only", "negation"], ["--only", "negation", "--json"], ["--failing", "--json"]):
        done = run("show", "example", "--into", str(store), *options)
        assert done.exit_code == 2 and "Usage:" in done.output
