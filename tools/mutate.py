"""Flip every comparison, swap every `and`/`or`, `&`/`|`, `+`/`-`, one at a time, and list what no test notices.

    python tools/mutate.py [MODULE ...] [-- PYTEST ARGUMENT ...]

Modules are paths under src/shoal; by default those that decide pass and fail. Works on a copy: the tree is not touched.
"""

import ast
import copy
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = [f"protocols/behaviour/{name}.py" for name in ("rules", "judge", "score", "build")]
TESTS = [
    "tests/protocols/behaviour",
    "-p",
    "no:cacheprovider",
    "-q",
    "-x",
    "--no-header",
    "-k",
    "not suites and not perturb",
]

FLIPS: dict[type[ast.AST], list[type[ast.AST]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
}


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Each flipped source, with a line that says what was flipped."""
    tree = ast.parse(source)
    places = [node for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp)]
    for index, node in enumerate(places):
        operators = node.ops if isinstance(node, ast.Compare) else [node.op]
        for position, operator in enumerate(operators):
            for flipped in FLIPS.get(type(operator), []):
                twin = copy.deepcopy(tree)
                found = [n for n in ast.walk(twin) if isinstance(n, ast.Compare | ast.BoolOp | ast.BinOp)][
                    index
                ]
                if isinstance(found, ast.Compare):
                    found.ops[position] = flipped()  # type: ignore[call-overload]
                else:
                    found.op = flipped()  # type: ignore[assignment]
                what = f"line {node.lineno}: {type(operator).__name__} -> {flipped.__name__}"
                yield ast.unparse(twin), f"{what}: {ast.unparse(node)[:90]}"


def main() -> None:
    """Run the tests on every mutant."""
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    modules, tests = sys.argv[1:cut] or MODULES, sys.argv[cut + 1 :] or TESTS
    survivors, total = [], 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copied)
        environment = {**os.environ, "PYTHONPATH": str(copied), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", *tests]

        def tests_pass() -> bool:
            try:
                return not subprocess.run(
                    command, cwd=ROOT, env=environment, capture_output=True, timeout=120
                ).returncode
            except subprocess.TimeoutExpired:
                return False

        if not tests_pass():
            sys.exit("the tests fail before anything is flipped")
        for module in modules:
            source = (ROOT / "src" / "shoal" / module).read_text()
            for mutant, what in mutants(source):
                (copied / "shoal" / module).write_text(mutant)
                total += 1
                if tests_pass():
                    survivors.append(f"{module} {what}")
                    print(f"SURVIVED {survivors[-1]}", flush=True)
            (copied / "shoal" / module).write_text(source)
    print(f"{total} flips, {total - len(survivors)} noticed, {len(survivors)} survived")


if __name__ == "__main__":
    main()
