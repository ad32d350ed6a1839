PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check guard format bench wheel browser clean venv-module

help:
	@echo "make demo    set up, then run the demo table on embedded data"
	@echo "make test    set up, then run every test"
	@echo "make check   format, lint, types, and the import order of the rooms"
	@echo "make guard   run the demo and hold its mistakes against results/"
	@echo "make bench   speed and memory, as ratios measured in one run"
	@echo "make format  put the sources in order"
	@echo "make wheel   build the wheel and the source archive in dist/"

demo: $(READY)
	$(BIN)/okbench run demo

test: $(READY)
	$(BIN)/python -m pytest -q -n auto

check: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

guard: $(READY)
	@rm -rf .guard
	$(BIN)/okbench run demo --results .guard --format csv >/dev/null
	$(BIN)/okbench check results/demo.jsonl .guard

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

wheel: $(READY)
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "okbench needs Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory venv-module
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)

APT = sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
  $$sudo apt-get update -qq && $$sudo apt-get install -qq --yes

# Debian keeps Python's venv module in a package of its own.
venv-module:
	@command -v apt-get >/dev/null \
	  || { echo "Python's venv module is missing: install it, then make again" >&2; exit 1; }
	@$(APT) python3-venv >/dev/null

# The tests of the pages open them in a browser, and say so where there is none.
browser:
	@{ command -v chromium && command -v chromedriver; } >/dev/null \
	  || { $(APT) chromium chromium-driver >/dev/null; }
