# Two commands do everything: `make demo` runs the main job, `make test` runs the tests.
# Both create the virtual environment and install what they need.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n 2 --dist loadgroup
EXTRAS := training,sentence-transformers,grid,plots,ranking,mteb,demo,tests

.PHONY: demo test lint clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[$(EXTRAS)]'
	# DeepSpeed in a folder of its own, for the tests that ask for it: installed beside the rest it would
	# speak up in every run that uses Accelerate.
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --constraint constraints.txt \
	    --target $(VENV)/deepspeed --upgrade deepspeed einops hjson msgpack ninja py-cpuinfo
	touch $@

demo: $(VENV)/.installed
	$(BIN)/python training/demo.py $(if $(SOURCE),--source $(SOURCE)) $(if $(MODEL),--model $(MODEL))

test: $(VENV)/.installed
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
