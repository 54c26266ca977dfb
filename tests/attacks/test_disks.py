"""Full disks: every verb says so, leaves nothing half written, and works once there is room."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_world import run_shoal as shoal
from small_world import write_world

SUITE = ("--set", "suite=suite.jsonl", "--set", "resamples=10")
MODELS = ("predictions:answers.jsonl", "python:models_on_disk:by_length")
VERBS: dict[str, tuple[str, ...]] = {
    "run": ("run", "plan.toml"),
    "report": ("report", "plan.toml", "--into", "done"),
    "report --format latex": ("report", "plan.toml", "--into", "done", "--format", "latex"),
    "report --figures": (
        *("report", "plan.toml", "--into", "done"),
        *("--out", "/dev/null", "--figures", "figures"),
    ),
    "import": ("import", "table.csv", "--text", "text", "--label", "label", "--out", "out.jsonl"),
    "export": ("export", "suite.jsonl", "--out", "out.jsonl"),
    "gate --junit": ("gate", MODELS[0], "--rules", "gate.toml", *SUITE, "--junit", "out.xml"),
    "compare --out": ("compare", *MODELS, *SUITE, "--out", "out.html"),
    "compare --keep": ("compare", *MODELS, *SUITE, "--keep"),
    "rank --keep": ("rank", MODELS[1], "python:models_on_disk:positive", "--data", "table.csv", "--keep"),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_world(tmp_path)
    (tmp_path / "models_on_disk.py").write_text(
        "def by_length(texts):\n    return ['positive' if len(text) % 2 else 'negative' for text in texts]\n"
        "def positive(texts):\n    return ['positive' for _ in texts]\n"
    )
    (tmp_path / "plan.toml").write_text(
        f'models = ["{MODELS[0]}", "{MODELS[1]}"]\n[behaviour]\nsuite = "suite.jsonl"\nresamples = 10\n'
    )
    assert shoal("run", "plan.toml", "--into", "done").exit_code == 0
    return tmp_path


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes: the system refuses the rest, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("verb", VERBS)
def test_a_full_disk_is_named_and_the_same_command_works_once_there_is_room(world, verb):
    if "figures" in verb:
        pytest.importorskip("matplotlib", reason="needs shoal[plots]")
    for size in (0, 700):
        with room_for(size):
            done = shoal(*VERBS[verb])
        if done.exit_code == 0:
            continue  # small files fit
        assert "cannot be written\n  why: File too large\n  try: " in done.output, done.output
        assert "Errno" not in done.output
        assert not list(world.rglob("*.tmp"))
    assert size and shoal(*VERBS[verb]).exit_code == 0


def test_weights_that_do_not_fit_are_a_full_disk_too(world):
    pytest.importorskip("torch", reason="needs shoal[hf]")
    (world / "learn.toml").write_text(
        'models = ["tiny:sentiment"]\n[learning]\nsuite = "suite.jsonl"\niid = "sentiment"\niid_limit = 30\n'
        'resamples = 10\nshuffles = 10\ntrain = { on = ["iid", "iid>suite"], iid_epochs = 1, epochs = 1 }\n'
    )
    with room_for(20_000):
        done = shoal("run", "learn.toml")
    assert ".safetensors: cannot be written" in done.output, done.output
    assert "try: free some space and run the same command again" in done.output
