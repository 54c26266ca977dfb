"""What the core install costs, without extras: packages, megabytes, seconds.

    python benchmarks/install.py

Makes a virtual environment of its own and throws it away.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        site = next(Path(folder).glob("lib/python*/site-packages"))
        before, packages_before = megabytes(site), packages(python)
        start = time.perf_counter()
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        added = sorted(packages(python) - packages_before)
        print(f"packages  {len(added):>6}   {', '.join(added)}")
        print(f"megabytes {megabytes(site) - before:>6.0f}")
        print(f"seconds   {seconds:>6.0f}   downloads included")


def packages(python: Path) -> set[str]:
    """The names of what is installed."""
    listed = subprocess.run(
        [str(python), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        check=True,
        capture_output=True,
        text=True,
    )
    return {line.partition("==")[0].partition(" @")[0] for line in listed.stdout.split("\n") if line}


def megabytes(folder: Path) -> float:
    """The size of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
