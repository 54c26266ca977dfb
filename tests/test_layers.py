"""Imports point one way, and the front door stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "shoal"
LAYERS = [
    "core",
    "data stats",
    "models",
    "explaining",
    "training",
    "protocols",
    "comparing",
    "runs",
    "reproduce",
    "render",
    "cli pytest_plugin",
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}


def imported_layers(source: Path) -> set[str]:
    inside = len(source.relative_to(PACKAGE).parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == inside:
            found |= {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
    return found & set(RANK)


@pytest.mark.slow
def test_imports_point_one_way():
    wrong = []
    for source in sorted(PACKAGE.rglob("*.py")):
        layer = source.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if layer in ("__init__", "__main__"):
            continue
        assert layer in RANK, f"{layer} stands in no layer"
        others = imported_layers(source) - {layer}
        wrong += [
            f"{source.relative_to(PACKAGE)} imports {name}" for name in others if RANK[name] >= RANK[layer]
        ]
    assert not wrong


@pytest.mark.parametrize(
    "command",
    [
        "import shoal, shoal.pytest_plugin",
        "from shoal.cli import main; main(['--help'], standalone_mode=False)",
    ],
)
def test_the_front_door_loads_nothing_heavy(command):
    heavy = "{'numpy', 'scipy', 'pydantic', 'rich', 'torch', 'transformers', 'jinja2'} & set(sys.modules)"
    code = f"import sys\n{command}\nsys.exit(', '.join({heavy}) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_name_can_be_had():
    import shoal

    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        shoal.nonsense  # noqa: B018
