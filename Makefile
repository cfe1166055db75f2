# Nothing but Python 3.11+, git and make need be there; the rest goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test test-exports format lint types bench docs clean

help:
	@echo "make demo    plan a first training run"
	@echo "make test    run the whole test suite"
	@echo "make format  format the code        make lint   check its style"
	@echo "make types   check the types        make bench  time every phase"
	@echo "make docs    write the generated pages anew"
	@echo "make test-exports  check exported files with the programs' own parsers (5 GB)"

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gpuplan needs Python 3.11 or newer: make PYTHON=python3.x")'
	@echo "creating .venv"
	@$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml | .venv/bin/python
	@echo "installing gpuplan and what it needs into .venv (a minute or so)"
	@$(PIP) install --editable .
	@touch $@

.venv/.installed-dev: pyproject.toml | .venv/bin/python
	@echo "installing gpuplan and the tools of its developers into .venv"
	@$(PIP) install --editable '.[dev]'
	@touch $@ .venv/.installed

demo: .venv/.installed
	$(BIN)/gpuplan solve quickstart-7b

test: .venv/.installed-dev
	$(BIN)/python -m pytest --numprocesses 2 --quiet

# an environment of its own: PyTorch and what runs on it are large, and none is needed else
# Frameworks and launchers do not agree on what they need: each set has its own place.
.venv-%/.installed: pyproject.toml
	@$(PYTHON) -m venv .venv-$*
	@echo "installing what reads exported files into .venv-$*"
	@.venv-$*/bin/python -m pip --disable-pip-version-check --quiet install editables hatchling psutil setuptools wheel torch
	@.venv-$*/bin/python -m pip --disable-pip-version-check --quiet install --no-build-isolation --editable '.[dev,$*]'
	@touch $@

test-exports: .venv-exports/.installed .venv-launchers/.installed
	.venv-exports/bin/python -m pytest --quiet tests/exporting
	.venv-launchers/bin/python -m pytest --quiet tests/exporting

format: .venv/.installed-dev
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

lint: .venv/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/.installed-dev
	$(BIN)/mypy

bench: .venv/.installed-dev
	$(BIN)/python -m tests.benchmarks

docs: .venv/.installed-dev
	$(BIN)/python tools/build_docs.py

clean:
	rm -rf .venv .venv-exports .venv-launchers build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
