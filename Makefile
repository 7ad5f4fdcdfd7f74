# `make check` sets everything up in .venv and checks everything; CI runs the same.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: check lint types test demo bench docs

check: lint types test

$(BIN)/swath: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

lint: $(BIN)/swath
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(BIN)/swath
	$(BIN)/mypy

test: $(BIN)/swath
	$(BIN)/pytest -n 2

demo: $(BIN)/swath
	$(BIN)/swath demo

docs: $(BIN)/swath
	$(BIN)/swath tools --markdown > docs/tools.md
	$(BIN)/python docs/command_line.py > docs/command-line.md
	$(BIN)/python docs/questions.py > docs/questions.md

bench: $(BIN)/swath
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/sandbox.py
	$(BIN)/python benchmarks/kernels.py
