# make demo · make test · make lint · make bench · make sanitize · make clean
# make bench BENCH='--scale 16 --threads 1' passes options on; GAPBS=folder lets the GAP benchmark suite take part.
# Everything happens in .venv; python3, make and (for the compiled kernels) g++ are all that a machine needs.

PYTHON ?= python3
GRAPH ?=
BENCH ?=
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard tgraph/kernels/native/*.cpp tgraph/kernels/native/*.hpp)
INSTALL := $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint bench sanitize clean

demo: $(VENV)/.demo
	$(BIN)/tgraph demo $(GRAPH)

test: $(VENV)/.dev
	$(BIN)/pytest -q

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy tgraph algorithms

bench: $(VENV)/.bench
	$(BIN)/python bench/csr.py
	$(BIN)/python bench/reading.py
	$(BIN)/python bench/frontier.py
	$(BIN)/python -m bench.analytics $(BENCH)

# The native tests against kernels built with AddressSanitizer and UndefinedBehaviorSanitizer, beside the ordinary ones.
sanitize: $(VENV)/.dev
	rm -rf build/sanitize
	$(INSTALL) --no-deps --target build/sanitize/package -C build-dir=build/sanitize/objects \
	    -C cmake.define.TGRAPH_SANITIZE=ON -C install.strip=false .
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	    TGRAPH_NATIVE="$$(ls $(CURDIR)/build/sanitize/package/tgraph/_native*.so)" \
	    $(BIN)/pytest -q tests/test_native.py tests/test_csr.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp per set of extras: the package is installed again when what it is built from has changed. The Python files
# are used in place, so that changing one needs no installation.
$(VENV)/.demo: $(SOURCES) | $(BIN)/python
	$(INSTALL) -e .
	touch $@

$(VENV)/.dev: $(SOURCES) | $(BIN)/python
	$(INSTALL) -e '.[dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.bench: $(SOURCES) | $(BIN)/python
	$(INSTALL) -e '.[bench]'
	touch $@ $(VENV)/.demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
