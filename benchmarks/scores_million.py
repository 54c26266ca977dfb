"""Compare two logs of a million samples: seconds and the largest memory of `shoal compare scores:A scores:B`.

python benchmarks/scores_million.py [SAMPLES]
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def write_log(path: Path, samples: int, accuracy: float, seed: int) -> None:
    """Write lines as lm-evaluation-harness does, in an order of their own."""
    draw = random.Random(seed)
    numbers = list(range(samples))
    draw.shuffle(numbers)
    with path.open("w") as stream:
        for number in numbers:
            row = {
                "doc_id": number,
                "doc": {"question": f"What is {number} plus {number % 7}?", "category": f"c{number % 5}"},
                "target": str(number + number % 7),
                "arguments": {"gen_args_0": {"arg_0": f"What is {number} plus {number % 7}?"}},
                "resps": [["a number"]],
                "filtered_resps": ["a number"],
                "filter": "none",
                "metrics": ["exact_match"],
                "exact_match": float(draw.random() < accuracy),
            }
            stream.write(json.dumps(row) + "\n")


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.jsonl", "b.jsonl")]
        for seed, (path, accuracy) in enumerate(zip(paths, (0.70, 0.71), strict=True)):
            write_log(path, samples, accuracy, seed)
        size = sum(path.stat().st_size for path in paths)
        start = time.perf_counter()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "shoal",
                "compare",
                *(f"scores:{path}?group=doc.category" for path in paths),
            ],
            check=True,
        )
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # ru_maxrss is in KiB on Linux and in bytes on macOS.
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(
        f"{samples:,} samples, two files of {size / 2e6:,.0f} MB: {seconds:.1f} s ({used.ru_utime:.1f} s of CPU), "
        f"{peak / 1e6:,.0f} MB"
    )


if __name__ == "__main__":
    main()
