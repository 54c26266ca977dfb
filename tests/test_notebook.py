"""The notebook in examples/ runs from top to bottom, offline, and is stored without outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebook.ipynb"
OFFLINE = """
import socket
def refuse(*address):
    raise OSError("the notebook must not use the network")
socket.socket.connect = refuse
"""


def test_the_notebook_is_stored_without_outputs():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    stored = [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
    assert cells and not stored


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_notebook_runs_and_shows_an_audit_a_comparison_and_a_gate(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("sklearn")
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(OFFLINE))
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    html = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    shown = "".join(html)
    assert not [output for output in outputs if output.output_type == "error"]
    assert all(
        words in shown
        for words in ("cases pass", "No clear difference overall", "Gate not met: 1 of 3 rules")
    )
