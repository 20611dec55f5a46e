# make demo · make test · make test-all · make lint · make bench · make soak · make sanitize · make scatter · make gpu ·
# make clean
# make bench BENCH='--scale 16 --threads 1' passes options on; GAPBS=folder lets the GAP benchmark suite take part.
# Everything happens in .venv; python3, make and (for the compiled kernels) g++ are all that a machine needs.

PYTHON ?= python3
GRAPH ?=
BENCH ?=
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard tgraph/kernels/native/*.cpp tgraph/kernels/native/*.hpp)
INSTALL := $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt
# Compiles with what .venv has for it: in a new environment of pip's own all paths would be other ones, and no object
# file up to date. They are kept in build/.
COMPILE := $(INSTALL) --no-build-isolation

.PHONY: demo test test-all lint bench soak sanitize scatter gpu clean

demo: $(VENV)/.demo
	$(BIN)/tgraph demo $(GRAPH)

# A process for each core; the tests of a file stay together, since they share what the first of them compiles. Before
# a commit those that take minutes are left out; all of them are what a change has to pass.
TESTS := $(BIN)/pytest -q -n auto --dist loadfile

test: $(VENV)/.dev
	$(TESTS) -m 'not soak and not thorough'

test-all: $(VENV)/.dev
	$(TESTS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy tgraph algorithms

bench: $(VENV)/.bench
	$(BIN)/python bench/csr.py
	$(BIN)/python bench/reading.py
	$(BIN)/python bench/frontier.py
	$(BIN)/python -m bench.layouts
	$(BIN)/python -m bench.streaming
	$(BIN)/python -m bench.analytics $(BENCH)

# Faults on purpose: processes are killed at many moments, files damaged and cut short at many places, disks filled.
soak: $(VENV)/.dev
	$(BIN)/pytest -q -m fault

# The tests against kernels built with AddressSanitizer and UndefinedBehaviorSanitizer, beside the ordinary ones, and of
# CUDA kernels in an emulation built with them; then those of the native kernels with ThreadSanitizer.
NATIVE_TESTS := tests/test_native.py tests/test_csr.py tests/kernels

sanitize: build/sanitize/TGRAPH_SANITIZE build/sanitize/TGRAPH_SANITIZE_THREADS
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	    TGRAPH_NATIVE="$$(ls $(CURDIR)/build/sanitize/TGRAPH_SANITIZE/tgraph/_native*.so)" OMP_NUM_THREADS=2 \
	    TGRAPH_SHIM_SANITIZE=1 \
	    $(BIN)/pytest -q $(NATIVE_TESTS) tests/test_operators.py tests/test_engine.py tests/algorithms \
	    --ignore tests/kernels/cuda/test_nvrtc.py
	LD_PRELOAD="$$(g++ -print-file-name=libtsan.so)" TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1" \
	    TGRAPH_NATIVE="$$(ls $(CURDIR)/build/sanitize/TGRAPH_SANITIZE_THREADS/tgraph/_native*.so)" OMP_NUM_THREADS=3 \
	    $(BIN)/pytest -q $(NATIVE_TESTS) --ignore tests/kernels/cuda

build/sanitize/%: $(VENV)/.dev $(SOURCES)
	rm -rf $@
	$(COMPILE) --no-deps --target $@ -C build-dir=build/sanitize/objects-$* -C cmake.define.$*=ON -C install.strip=false .

# torch-scatter is built from its source, for minutes, against the torch of .venv (pip would keep what it built for
# another torch); its tests then run with the others.
scatter: $(VENV)/.scatter
	$(BIN)/pytest -q tests/kernels/test_torch_scatter.py

# On a machine with a GPU, a CUDA build of torch and the extra for it in .venv: the tests there, again under
# compute-sanitizer if that is installed, and the comparison with other systems.
gpu: $(VENV)/.dev
	$(BIN)/pytest -q -m gpu
	if command -v compute-sanitizer; then \
	    compute-sanitizer --error-exitcode 1 $(BIN)/pytest -q -m gpu -k 'not hundred and not captured'; fi
	$(BIN)/python -m bench.gpu

clean:
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp per set of extras: the package is installed again when what it is built from has changed, and what has been
# compiled is found up to date. The Python files are used in place, so that changing one needs no installation.
$(VENV)/.demo: $(SOURCES) | $(VENV)/.build
	$(COMPILE) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(COMPILE) -e '.[dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.demo
	$(COMPILE) -e '.[bench]'
	touch $@

$(VENV)/.build: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) scikit-build-core nanobind cmake ninja
	touch $@

$(VENV)/.scatter: constraints.txt | $(VENV)/.dev
	$(INSTALL) setuptools
	$(INSTALL) --no-build-isolation --no-deps --no-cache-dir --force-reinstall torch-scatter
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
