"""BELUGA from stored predictions (`docs/method/prompted.md` 8.6): four language models, the baseline and three columns.

The expected values come from the published pass rates and the answers to SST-2, with nothing of shoal.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest

pytestmark = pytest.mark.golden

SCENARIOS = {"iid": "baseline_zero", "seen": "seen", "functionality": "funcOut", "capability": "classOut"}
HOLD_OUTS = {"seen": "seen", "functionality": "functionality", "capability": "capability"}
MODELS = ("flan-t5-small", "flan-t5-base", "flan-t5-large", "chatGPT")


def write_plan(data: Path, folder: Path, model: str) -> Path:
    """Write the plan in the form of the method page, its suite as plain JSON Lines beside it."""
    suite = folder / "sentiment.jsonl"
    suite.write_bytes(gzip.decompress((data / "checklist" / "sentiment.jsonl.gz").read_bytes()))
    runs = data / "llm_generations"
    files = {name: runs / "sentiment" / f"{model}.{run}.jsonl.gz" for name, run in SCENARIOS.items()}
    rows = {name: runs / "sst2" / f"{model}.{SCENARIOS[name]}.csv" for name in ("iid", "seen")}
    plan = folder / "plan.toml"
    plan.write_text(
        f'models = ["{model}"]\n[learning]\nsuite = "sentiment.jsonl"\nsplit = "test"\nprofile = "reference"\n'
        f'iid_test = "{data / "sst2" / "test.tsv"}"\niid_labels = ["negative", "positive"]\n'
        "resamples = 100\nshuffles = 200\n"
        + "[learning.predictions]\n"
        + "".join(f'{name} = "{file}"\n' for name, file in files.items())
        + "[learning.iid_predictions]\n"
        + "".join(f'{name} = "{file}"\n' for name, file in rows.items())
    )
    return plan


def accuracy(data: Path, model: str, run: str) -> float:
    with (data / "sst2" / "test.tsv").open() as stream:
        right = [
            ("negative", "positive")[int(row["label"])] for row in csv.DictReader(stream, delimiter="\t")
        ]
    with (data / "llm_generations" / "sst2" / f"{model}.{run}.csv").open() as stream:
        said = {int(row["id"]): row["label"] for row in csv.DictReader(stream)}
    return fmean(said[number] == label for number, label in enumerate(right))


def expected(data: Path, model: str) -> dict[str, tuple[float, float]]:
    """Return s_T and G of every scenario from published pass rates and the answers to SST-2."""
    runs = json.loads((data / "llm_generations" / "reference_pass_rates.json").read_text())
    rates = {run["scenario"]: run["pass_rates"] for run in runs if run["model"] == model}
    common = [name for name in rates["seen"] if all(run.get(name) is not None for run in rates.values())]
    assert len(common) == 36
    values = {}
    for scenario, run in SCENARIOS.items():
        suite = fmean(rates[run][name] / 100 for name in common)
        iid = accuracy(data, model, "baseline_zero" if scenario == "iid" else "seen")
        values[scenario] = suite, 2 * suite * iid / (suite + iid)
    return values


def shoal(*arguments: object) -> str:
    """Run the command where nothing can be downloaded, and fail if torch is imported."""
    code = (
        "import sys; from shoal.cli import main\n"
        "try: main(standalone_mode=False)\n"
        "finally: assert 'torch' not in sys.modules, 'torch'"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("model", MODELS)
def test_table_3_of_stored_predictions_is_the_published_one(model: str, data: Path, tmp_path: Path):
    plan, runs = write_plan(data, tmp_path, model), tmp_path / "runs"
    shoal("run", plan, "--into", runs)
    measures = json.loads(shoal("status", plan, "--into", runs, "--json"))["measures"]
    printed = {
        (row["name"], row["groups"]["hold out"]): row
        for row in measures
        if row["name"] in ("suite score", "G") and "seed" not in row["groups"]
    }
    for scenario, (suite, g) in expected(data, model).items():
        hold_out = HOLD_OUTS.get(scenario, "none")
        assert printed["suite score", hold_out]["value"] == pytest.approx(suite, abs=1e-9)
        assert printed["G", hold_out]["value"] == pytest.approx(g, abs=1e-9)
        assert printed["G", hold_out]["interval"]
    tested = {row["groups"]["hold out"] for row in measures if row["name"] == "p value"}
    assert {"seen", "functionality", "capability", "all"} <= tested
