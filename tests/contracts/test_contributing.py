"""CONTRIBUTING's table of what one adds, and what that costs, against the code."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "src" / "shoal"
HOMES = {
    "PROTOCOLS": "shoal.protocols",
    "DIAGNOSTICS": "shoal.protocols.bias",
    "FACTORS": "shoal.protocols.ranking.factors",
    "SUITES": "shoal.protocols.behaviour.suites",
    "RULES": "shoal.protocols.behaviour.rules",
    "FORMATS": "shoal.data",
    "READERS": "shoal.models.stored",
    "SCHEMES": "shoal.models",
    "METHODS": "shoal.training.methods",
    "EXPLAINERS": "shoal.explaining",
    "MEASURES": "shoal.core.measures",
    "EXECUTORS": "shoal.runs.executors",
}
WANTED = [
    "a protocol", "a bias diagnostic", "a suite", "an expectation rule", "a suite format", "a predictions format",
    "a model adapter", "an explainer", "a ranking factor", "a training method", "a measure",
    "a report block", "an executor",
]  # fmt: skip


def rows() -> dict[str, tuple[str, str]]:
    lines = (ROOT / "CONTRIBUTING.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {name: (write, line) for name, write, line in cells if name not in ("to add", "---")}


@pytest.mark.parametrize("name", [name for name in WANTED if name != "a report block"])
def test_a_new_thing_is_one_file_and_one_line_in_a_table_that_is_there(name):
    write, line = rows()[name]
    (table,) = re.findall(r"a line in `([A-Z]+)`", line)
    module = import_module(HOMES[table])
    if not hasattr(module, table):
        module = import_module(f"{HOMES[table]}.build")
    assert len(getattr(module, table)) > 1
    for path in re.findall(r"`([a-z_/]+/)<name>", write):
        assert (PACKAGE / path).is_dir()
    for path in re.findall(r"`([a-z_/]+\.py)`", write):
        assert (PACKAGE / path).is_file()


def test_every_block_has_a_line_in_every_renderer():
    tree = ast.parse((PACKAGE / "core" / "views.py").read_text())
    union = next(
        node.value for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "Block"
    )  # fmt: skip
    kinds = {node.id for node in ast.walk(union) if isinstance(node, ast.Name)}
    for renderer in ("terminal", "markdown", "latex", "csv_tables", "html_blocks"):
        blocks = import_module(f"shoal.render.{renderer}").BLOCKS
        assert {kind.__name__ for kind in blocks} == kinds, renderer
