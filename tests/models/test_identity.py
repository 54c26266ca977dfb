"""What a `python:` model is known by: its source, what it imports, what it reads; nothing else."""

import importlib
import sys
from pathlib import Path

import pytest

from shoal import load_model
from shoal.core.errors import ModelError
from shoal.models import identity
from shoal.models.asking import classify_safely

# Users write open(...).read().
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

LABELS = ("no", "yes")
ANSWER = 'def model(texts):\n    return ["yes" for text in texts]\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder of the user's, with a module in it; `write` changes a file, and imports begin anew."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def write(**files: str | bytes) -> None:
        for name, content in files.items():
            path = tmp_path / name.replace("__dot__", ".").replace("__in__", "/")
            path = path if path.suffix else path.with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        forget(tmp_path)

    yield write
    forget(tmp_path)


def forget(folder: Path) -> None:
    """As in a new process."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
    importlib.invalidate_caches()
    identity._read_by.clear()
    for cache in folder.rglob("*.pyc"):
        cache.unlink()


def known_by(spec="python:mine:model"):
    return load_model(spec).fingerprint()


def test_the_modules_own_text_counts(project):
    project(mine=ANSWER)
    before = known_by()
    assert before["keyed by"] == ["mine.py"]
    forget(Path.cwd())
    assert known_by() == before
    project(mine=ANSWER + "# more\n")
    assert known_by() != before


@pytest.mark.parametrize(
    "imports",
    ["import helper", "from helper import x", "def later():\n    import helper\n", "import middle"],
)
def test_modules_of_the_same_folder_count_however_they_are_imported(project, imports):
    project(mine=f"{imports}\n{ANSWER}", helper="x = 1\n", middle="import helper\n", stranger="y = 1\n")
    before = known_by()
    assert "helper.py" in before["keyed by"] and "stranger.py" not in before["keyed by"]
    project(helper="x = 2\n")
    assert known_by()["source"] != before["source"]
    project(helper="x = 1\n", stranger="y = 2\n")
    assert known_by() == before


def test_what_is_installed_does_not_count(project):
    reads = "import importlib.metadata, json, numpy, shoal\nimportlib.metadata.version('numpy')\n"
    project(mine=reads + "open('/proc/self/status').read()\n" + ANSWER)
    assert known_by()["keyed by"] == ["mine.py"]


def test_files_that_are_read_while_it_is_imported_count(project):
    project(mine='weights = open("data.txt").read()\n' + ANSWER, data__dot__txt="1")
    before = known_by()
    assert before["keyed by"] == ["mine.py", "data.txt"]
    project(data__dot__txt="2")
    after = known_by()
    assert after["read"] != before["read"] and after["source"] == before["source"]


def test_files_that_an_imported_module_reads_count_in_whatever_order_models_are_loaded(project):
    project(
        first="from shared import weights\n" + ANSWER,
        second='extra = open("more.txt").read()\nfrom shared import weights\n' + ANSWER,
        shared='weights = open("data.txt").read()\n',
        data__dot__txt="1",
        more__dot__txt="1",
    )
    specs = ["python:first:model", "python:second:model", "python:shared:weights"]
    orders = []
    for order in (specs, specs[::-1], specs[1:] + specs[:1]):
        forget(Path.cwd())
        orders.append({spec: known_by(spec) for spec in order})
    assert orders[0] == orders[1] == orders[2]
    assert orders[0]["python:first:model"]["keyed by"] == ["first.py", "shared.py", "data.txt"]
    assert orders[0]["python:second:model"]["keyed by"] == ["second.py", "shared.py", "data.txt", "more.txt"]


LAZY = """
from pathlib import Path
def model(texts):
    (Path(__file__).parent / "folder" / "weights.npy").read_bytes()
    return ["yes" for text in texts]
"""


def test_weights_that_the_source_names_count_although_they_are_read_later(project):
    project(mine=LAZY, folder__in__weights__dot__npy="1")
    before = known_by()
    assert before["keyed by"] == ["mine.py", "weights.npy"]
    project(folder__in__weights__dot__npy="2")
    assert known_by()["read"] != before["read"]


def test_of_a_transformers_folder_the_weights_count(project):
    source = (
        'import json\nfolder = "check" + "point"\nconfig = json.load(open(folder + "/config.json"))\n'
        + ANSWER
    )
    for text in (source, 'folder = "checkpoint"\n' + ANSWER):
        project(
            mine=text, checkpoint__in__config__dot__json="{}", checkpoint__in__model__dot__safetensors="1"
        )
        before = known_by()
        assert before["keyed by"] == ["mine.py", "config.json", "model.safetensors"]
        project(checkpoint__in__model__dot__safetensors="2")
        assert known_by()["read"] != before["read"]


def test_a_version_takes_the_place_of_what_is_read(project):
    project(mine='weights = open("data.txt").read()\n' + ANSWER, data__dot__txt="1")
    before = known_by("python:mine:model?version=1")
    assert before["keyed by"] == ["mine.py", "version 1"]
    project(data__dot__txt="2")
    assert known_by("python:mine:model?version=1") == before
    assert known_by("python:mine:model?version=2") != before
    assert known_by() != before


def test_a_module_that_cannot_be_imported_has_its_source_until_it_is_asked(project):
    project(mine="import helper\n1 / 0\n" + ANSWER, helper="x = 1\n")
    before = known_by()
    assert before["keyed by"] == ["helper.py", "mine.py"]
    with pytest.raises(ModelError, match=r"importing its module failed[\s\S]*ZeroDivisionError[\s\S]*try: "):
        classify_safely(load_model("python:mine:model"), [("a",), ("b",)], LABELS)
