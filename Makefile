# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test check format clean

$(VENV)/demo-ready: pyproject.toml constraints/cpu.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e .
	touch $@

$(VENV)/dev-ready: pyproject.toml constraints/cpu.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e ".[dev]"
	touch $@

demo: $(VENV)/demo-ready  ## score the embedded sentiment suite from the predictions the package ships
	$(BIN)/shoal try behaviour predictions:example --set suite=sentiment

check: $(VENV)/dev-ready  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --allow-untyped-defs --allow-incomplete-defs tests

test: check  ## every check, golden tests and simulations included
	$(BIN)/pytest -n 2

format: $(VENV)/dev-ready
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist runs
