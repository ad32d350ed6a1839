PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OLDEST := .venv-oldest
# The lowest Numba that pyproject.toml allows; pip finds the NumPy that goes with it.
LOWEST_NUMBA = $(shell sed -n 's/^ *"numba>=\([0-9.]*\),.*/\1/p' pyproject.toml)

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow chaos chaos-slice numba-oldest check guard docs format bench wheel browser latex clean venv-module

help:
	@echo "make demo    set up, then run the demo table on embedded data"
	@echo "make test    set up, then run the quick tests"
	@echo "make test-slow  run the rest: clusters, a browser, LaTeX, the wheel, cold code, mirrors"
	@echo "make chaos   kill runs, fill disks, mutate files; MINUTES=5 SEED=0"
	@echo "make numba-oldest  run the tests of the learners with the oldest Numba supported"
	@echo "make check   format, lint, types, and the import order of the packages"
	@echo "make guard   run the demo and compare its mistakes with results/"
	@echo "make docs    the documents as a site in dist/docs"
	@echo "make bench   speed and memory, as ratios measured in one run"
	@echo "make format  put the sources in order"
	@echo "make wheel   build the wheel and the source archive in dist/"

demo: $(READY)
	$(BIN)/okbench run demo

# What learners call is compiled once, into a folder that the processes of the tests share.
test test-slow: export NUMBA_CACHE_DIR = $(CURDIR)/.compiled

test: $(READY)
	$(BIN)/python -m tests.learners.compiled_once
	$(BIN)/python -m pytest -q -n auto -m "not slow"

test-slow: $(READY)
	$(BIN)/python -m tests.learners.compiled_once
	$(BIN)/python -m pytest -q -n auto -m slow

chaos: MINUTES = 5
chaos: SEED = 0
chaos: $(READY)
	$(BIN)/python -m tests.chaos --minutes $(MINUTES) --seed $(SEED)

chaos-slice: $(READY)
	$(BIN)/python -m tests.chaos --slice

numba-oldest: $(OLDEST)/.ready
	@$(OLDEST)/bin/python -c 'import numba, numpy; \
	  print(f"Numba {numba.__version__}, NumPy {numpy.__version__}")'
	$(OLDEST)/bin/python -m pytest -q -n auto tests/learners tests/trials/test_replay_conformance.py

check: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

guard: $(READY)
	@rm -rf .guard
	$(BIN)/okbench run demo --results .guard --format csv >/dev/null
	$(BIN)/okbench check results/demo.jsonl .guard

docs: $(READY)
	$(BIN)/python -m mkdocs build --strict --quiet
	@echo "dist/docs/index.html"

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY)
	$(BIN)/python -m benchmarks

wheel: $(READY)
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) $(OLDEST) dist .chaos .compiled .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): GIVEN = --group dev
$(OLDEST)/.ready: GIVEN = --group test 'numba==$(LOWEST_NUMBA)'

$(READY) $(OLDEST)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "okbench needs Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory venv-module
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --editable . $(GIVEN)
	@touch $@

APT = sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
  $$sudo apt-get update -qq && $$sudo apt-get install -qq --yes

# Debian keeps Python's venv module in a package of its own.
venv-module:
	@command -v apt-get >/dev/null \
	  || { echo "Python's venv module is missing: install it, then make again" >&2; exit 1; }
	@$(APT) python3-venv >/dev/null

# A test compiles the tables of `report --format latex`.
latex:
	@command -v pdflatex >/dev/null \
	  || { $(APT) --no-install-recommends texlive-latex-base texlive-latex-recommended >/dev/null; }

# The tests of the pages open them in a browser, and say so where there is none.
browser:
	@{ command -v chromium && command -v chromedriver; } >/dev/null \
	  || { $(APT) chromium chromium-driver >/dev/null; }
