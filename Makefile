PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOWEST := .venv-lowest
# PyTorch is left out of the lowest versions: it is large, and no test here needs it.
EXTRAS := plot,parquet,dask,ray
NEWER_PYTHONS := 3.12 3.13

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow chaos chaos-slice lowest pythons check guard docs format bench bench-compare wheel browser latex clean venv-module

help:
	@echo "make demo    set up, then run the demo table on embedded data"
	@echo "make test    set up, then run the quick tests"
	@echo "make test-slow  run the rest: clusters, a browser, LaTeX, the wheel, cold code, mirrors"
	@echo "make chaos   kill runs, fill disks, mutate files; MINUTES=5 SEED=0"
	@echo "make lowest  run quick tests with the lowest version of every dependency"
	@echo "make pythons make guard with each newer Python that this machine has"
	@echo "make check   format, lint, types, and the import order of the packages"
	@echo "make guard   run the demo and compare its mistakes with results/"
	@echo "make docs    the documents as a site in dist/docs"
	@echo "make bench   speed and memory, as ratios measured in one run; QUICK=1 ONLY=isolation"
	@echo "make bench-compare  speed of all learners against another commit; REF=COMMIT"
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

# What old packages warn of is theirs: it is printed, and no error.
lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/python -m pytest -q -n auto -m 'not slow' -W default tests/cli tests/learners tests/reports \
	  tests/trials/test_replay_conformance.py tests/trials/test_cluster_*.py

pythons: $(NEWER_PYTHONS:%=python-%)

# An interpreter that pyenv holds need not be its active one.
python-%:
	@found=$$(PATH="$$(printf '%s:' "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/*/bin)$$PATH" \
	    command -v python$*) && "$$found" -c '' 2>/dev/null \
	  || { echo "Python $*: not covered (no interpreter here)"; exit 0; }; \
	$(MAKE) --no-print-directory guard VENV=.venv-$* PYTHON="$$found" GIVEN= \
	  && echo "Python $*: the demo table has the mistakes of results/"

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
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

bench-compare: $(READY)
	$(BIN)/python -m benchmarks.compare $(REF) $(if $(LEARNERS),--learners $(LEARNERS)) \
	  $(if $(COLD),--cold) $(if $(COMMANDS),--commands "$(COMMANDS)")

wheel: $(READY)
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) $(LOWEST) $(NEWER_PYTHONS:%=.venv-%) dist .bench .chaos .compiled .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

GIVEN = --group dev

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "okbench needs Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory venv-module
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . $(GIVEN)
	@touch $@

$(LOWEST)/.ready: $(READY)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct \
	  --editable '.[$(EXTRAS)]' --group test
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
	@kpsewhich booktabs.sty >/dev/null 2>&1 \
	  || { $(APT) --no-install-recommends texlive-latex-base texlive-latex-recommended >/dev/null; }

# The tests of the pages open them in a browser, and say so where there is none.
browser:
	@{ command -v chromium && command -v chromedriver; } >/dev/null \
	  || { $(APT) chromium chromium-driver >/dev/null; }
