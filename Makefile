# Two commands for newcomers: `make demo` and `make test`. `make check` is what a commit must pass.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: setup demo test lint types unit check bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "flowengine needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,diagram]'
	touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py

test: check

check: lint types unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/basedpyright

unit: $(READY)
	$(BIN)/python -m pytest -n auto

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/turn.py
	$(BIN)/python benchmarks/pipeline.py

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
