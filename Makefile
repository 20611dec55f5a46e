# make demo · make test · make quick · make emulated · make browser · make test-all · make lint · make bench · make soak
# make lines · make fuzz · make sanitize · make isa · make scatter · make networkx · make networkx-listing · make docs · make pages
# make pyg · make gpu · make xla · make jax · make wheel · make sdist · make package-test · make bare · make arm
# make types · make workflows · make clean
# make bench BENCH='--scale 16 --threads 1' passes options on; GAPBS=folder lets the GAP benchmark suite take part.
# Everything happens in .venv; python3, make and (for the compiled kernels) g++ are all that a machine needs.

PYTHON ?= python3
GRAPH ?=
BENCH ?=
DRY ?=
MINUTES ?= 10
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt \
    $(wildcard tgraph/kernels/native/*/*.[ch]pp tgraph/kernels/native/*/*/*.[ch]pp)
INSTALL := $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt
# Compiles with what .venv has for it: in a new environment of pip's own all paths would be other ones, and no object
# file up to date. They are kept in build/.
COMPILE := $(INSTALL) --no-build-isolation

# Runs pip, whose output goes to a file, and shows which package it installs and how far the compiler is; the options
# undo the -q of INSTALL.
shown = @mkdir -p build; \
    { $(1) -v -v 2>&1; echo $$? > build/status; } | tee build/install.log | \
        grep --line-buffered -E '^(Collecting|Downloading|Installing collected) | *\[[0-9]+/[0-9]+\] ' || :; \
    test "$$(cat build/status)" = 0 || { cat build/install.log; exit 1; }

# Processes that tests start would compile all Python again where the environment keeps bytecode from being written.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test quick emulated browser test-all lint lines bench soak fuzz sanitize isa scatter networkx networkx-listing docs \
    pages pyg gpu xla jax wheel sdist package-test bare arm types workflows clean

demo: $(VENV)/.demo
	$(BIN)/tgraph demo $(GRAPH)

# A process for each core; the tests of a file stay together, since they share what the first of them compiles, and files
# come in the order of their names: files of few tests, some of which take long, would else be the last. Before a commit
# those that take minutes are left out, those that run CUDA kernels on the CPU, `make emulated`, and those that open pages
# in Chromium, `make browser`; all of them are what a change has to pass. While one works, `make quick` runs the tests
# that what differs from the last commit reaches, or from where the work left BASE (tests/reached.py).
# numpy's threads would wait for cores that other tests compute on.
TESTS := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder
QUICK := --hypothesis-profile=quick
SELECTED := -m 'not soak and not thorough and not emulated and not browser'
BASE ?= HEAD

test: $(VENV)/.dev
	$(TESTS) $(QUICK) $(SELECTED) --durations=10

quick: $(VENV)/.dev
	reached=$$($(BIN)/python tests/reached.py $(BASE)) && if test -n "$$reached"; then \
	    $(TESTS) $(QUICK) $(SELECTED) $$reached; fi

emulated: $(VENV)/.dev
	$(TESTS) $(QUICK) -m 'emulated and not soak and not thorough' tests/kernels/cuda

browser: $(VENV)/.dev
	$(BIN)/pytest -q $(QUICK) -m 'browser and not soak and not thorough'

test-all: $(VENV)/.dev
	$(TESTS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy tgraph algorithms

# Lines of code by room, and how many more than at the commit SINCE.
lines:
	$(PYTHON) -m bench.lines $(if $(SINCE),--since $(SINCE))

bench: $(VENV)/.bench
	$(BIN)/python -m bench.csr
	$(BIN)/python -m bench.files --edges 30000000 --formats .el
	$(BIN)/python -m bench.frontier
	$(BIN)/python -m bench.layouts
	$(BIN)/python -m bench.streaming
	$(BIN)/python -m bench.analytics $(BENCH)

# Faults on purpose: processes are killed at many moments, files damaged and cut short at many places, disks filled.
soak: $(VENV)/.dev
	$(BIN)/pytest -q -m fault

# Damaged files in every format: FUZZ='--inputs 100000', or '--minutes 10 --seed 3'.
FUZZ ?= --minutes 2

fuzz: $(VENV)/.dev
	$(BIN)/python -m bench.fuzz $(FUZZ) --keep build/fuzz

# The tests against kernels built with AddressSanitizer and UndefinedBehaviorSanitizer, beside the ordinary ones, and of
# CUDA kernels in an emulation built with them; then those of the native kernels, and of CUDA kernels on several threads,
# with ThreadSanitizer. A fault ends the process that tests it, and another takes over (which it cannot where tests are
# shared out by files); the test is named, and what AddressSanitizer or ThreadSanitizer said is in
# build/sanitize/report.*. UndefinedBehaviorSanitizer says it where the test named is run alone with -s. The tests of the
# shim fork, which ThreadSanitizer allows where a process has one thread, and read its reports.
NATIVE_TESTS := tests/core/system/test_native.py tests/core/building tests/kernels \
    tests/formats tests/primitives tests/sampling tests/dynamic tests/stream/run/test_relax.py
REPORT := log_path=$(CURDIR)/build/sanitize/report
ASAN := LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:$(REPORT)
TSAN := LD_PRELOAD="$$(g++ -print-file-name=libtsan.so)" \
    TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1

SANITIZED := $(BIN)/pytest -v -n auto --dist load

sanitize: build/sanitize/TGRAPH_SANITIZE build/sanitize/TGRAPH_SANITIZE_THREADS
	rm -f build/sanitize/report.*
	$(ASAN) TGRAPH_NATIVE="$$(ls $(CURDIR)/build/sanitize/TGRAPH_SANITIZE/tgraph/_native*.so)" OMP_NUM_THREADS=2 \
	    TGRAPH_SHIM_SANITIZE=1 \
	    $(SANITIZED) $(NATIVE_TESTS) tests/model/test_operators.py tests/engine/test_run.py tests/algorithms \
	    --ignore tests/kernels/cuda/test_nvrtc.py
	$(TSAN):$(REPORT) TGRAPH_NATIVE="$$(ls $(CURDIR)/build/sanitize/TGRAPH_SANITIZE_THREADS/tgraph/_native*.so)" OMP_NUM_THREADS=3 \
	    $(SANITIZED) $(NATIVE_TESTS) --ignore tests/kernels/cuda
	$(TSAN):$(REPORT) TGRAPH_SHIM_THREADS=3 OMP_NUM_THREADS=1 \
	    $(SANITIZED) tests/kernels/cuda --ignore tests/kernels/cuda/test_nvrtc.py --ignore tests/kernels/cuda/test_shim.py
	$(TSAN) TGRAPH_SHIM_THREADS=3 OMP_NUM_THREADS=1 $(BIN)/pytest -q -s tests/kernels/cuda/test_shim.py

build/sanitize/%: $(VENV)/.dev $(SOURCES)
	rm -rf $@
	$(COMPILE) --no-deps --target $@ -C build-dir=build/sanitize/objects-$* -C cmake.define.$*=ON -C install.strip=false .

# The kernels as on a processor without AVX-512, or with ISA=sse2 without AVX2 either, and their tests. Benchmarks time
# them with TGRAPH_NATIVE set to the file.
ISA := avx2
isa: build/isa/$(ISA)
	TGRAPH_NATIVE="$$(ls $(CURDIR)/build/isa/$(ISA)/tgraph/_native*.so)" $(TESTS) $(QUICK) $(SELECTED) $(NATIVE_TESTS) \
	    tests/nn --ignore tests/kernels/cuda

build/isa/%: $(VENV)/.dev $(SOURCES)
	rm -rf $@
	$(COMPILE) --no-deps --target $@ -C build-dir=build/isa/objects-$* -C cmake.define.TGRAPH_ISA=$* .

# torch-scatter is built from its source, for minutes, against the torch of .venv (pip would keep what it built for
# another torch), its four modules at once; its tests then run with the others.
scatter: $(VENV)/.scatter
	$(BIN)/pytest -q tests/kernels/test_torch_scatter.py

# The tests of networkx, with its functions run by tgraph: what is not among these is expected to fail, then runs in
# networkx; NETWORKX=networkx.algorithms.link_analysis runs those of a package, RELEASE=3.5 those of another release
# than the one installed, from a folder in build/. Processes share the cores, so that torch has one thread in each.
NETWORKX ?= networkx
RELEASE ?=
OTHER := $(if $(RELEASE),$(CURDIR)/build/networkx-$(RELEASE))

networkx: $(VENV)/.dev $(OTHER)
	failed=0; for fallback in '' True; do \
	    (cd $(VENV) && PYTHONPATH=$(OTHER) OMP_NUM_THREADS=1 NETWORKX_TEST_BACKEND=tgraph \
	        NETWORKX_FALLBACK_TO_NX=$$fallback bin/python -m pytest -q -n auto --dist worksteal -p no:cacheprovider \
	        -c /dev/null --rootdir . --pyargs $(NETWORKX)) || failed=1; \
	done; exit $$failed

$(CURDIR)/build/networkx-%: | $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --target $@ networkx==$*

networkx-listing: $(VENV)/.dev
	$(BIN)/python -m tgraph.networkx.listing

# The site, in build/docs: runs every example, for minutes, and later those that have changed. `make browser` tests it.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W --keep-going -j auto -b html docs build/docs

# The pages that follow from the code.
pages: $(VENV)/.dev
	$(BIN)/python docs/pages.py
	$(BIN)/python tests/weighted_calls.py

# The tests of PyTorch Geometric, in the folder test/ of its repository, with our layers in the place of its own: those of
# tg.nn, then its own after tg.nn.accelerate. PYG_PARTS are the parts that concern layers, PYG_LOADERS those for loaders
# and stores, over each of PYG_STORES.
PYG_TESTS ?=
PYG_STORES ?= memory disk
PYG_PARTS ?= nn/conv nn/models nn/pool nn/test_to_hetero*.py nn/test_sequential.py nn/test_model_summary.py explain \
    utils/test_embedding.py utils/test_subgraph.py utils/test_total_influence.py
PYG_LOADERS ?= loader/test_neighbor_loader.py loader/test_link_neighbor_loader.py loader/test_hgt_loader.py \
    loader/test_random_node_loader.py loader/test_cluster.py loader/test_shadow.py loader/test_graph_saint.py \
    loader/test_mixin.py loader/test_cache.py loader/test_prefetch.py loader/test_imbalanced_sampler.py \
    loader/test_zip_loader.py sampler/test_sampler_neighbor_sampler.py data/test_feature_store.py \
    data/test_graph_store.py data/test_remote_backend_utils.py

pyg: $(VENV)/.dev
	test -d '$(PYG_TESTS)/nn/conv' || { echo 'PYG_TESTS: give the folder test/ of PyTorch Geometric'; exit 2; }
	failed=0; for layers in plain accelerated; do \
	    (cd '$(PYG_TESTS)' && TGRAPH_LAYERS=$$layers PYTHONPATH='$(CURDIR)/tests/nn' '$(CURDIR)/$(BIN)/pytest' -q \
	        --rootdir . -p in_pyg -p no:cacheprovider $(PYG_PARTS)) || failed=1; \
	done; \
	for store in $(PYG_STORES); do \
	    (cd '$(PYG_TESTS)' && TGRAPH_STORE=$$store FULL_TEST=1 PYTHONPATH='$(CURDIR)/tests/pyg' \
	        '$(CURDIR)/$(BIN)/pytest' -q --rootdir . -p loaders_in_pyg -p stores_in_pyg -p no:cacheprovider \
	        $(PYG_LOADERS)) || failed=1; \
	done; exit $$failed

# On a machine with a GPU, its driver and python3: tests and the comparison with other systems, in ten minutes (or
# MINUTES=60) and an environment of its own. DRY=1 prepares all of it without a GPU, up to the launches.
gpu:
	$(if $(DRY),$(BIN)/python,$(PYTHON)) bench/gpu_check.py $(if $(DRY),--dry --python $(BIN)/python) --minutes $(MINUTES)

# The algorithms on an XLA device (on the CPU; a TPU by XLA_DEVICE=TPU), in an environment of its own: torch_xla serves
# one torch only, and that torch comes with gigabytes of CUDA.
XLA_DEVICE ?= CPU

xla: .venv-xla/.ready
	TGRAPH_NATIVE=0 PJRT_DEVICE=$(XLA_DEVICE) .venv-xla/bin/python -m pytest -q tests/test_xla.py

.venv-xla/.ready:
	$(PYTHON) -m venv .venv-xla
	.venv-xla/bin/pip install -q --disable-pip-version-check torch==2.9.0 torch_xla==2.9.0 numpy pyarrow safetensors \
	    xxhash pandas tqdm typer filelock pytest pytest-xdist hypothesis networkx scipy
	touch $@

# The same on arrays of JAX.
jax: .venv-jax/.ready
	cd tests/jax && TGRAPH_NATIVE=0 PYTHONPATH=$(CURDIR) ../../.venv-jax/bin/python -m pytest -q --noconftest -c /dev/null --rootdir . .

.venv-jax/.ready: constraints.txt
	$(PYTHON) -m venv .venv-jax
	.venv-jax/bin/pip install -q --disable-pip-version-check -c constraints.txt torch numpy pyarrow safetensors \
	    xxhash pandas tqdm typer filelock pytest jax torchax
	touch $@

# A wheel for this system and, from 3.12 on, all later Pythons, in dist/: on Linux for every distribution whose C library
# is not older than the one here.
wheel: $(VENV)/.package
	rm -rf build/wheel && mkdir -p dist
	$(BIN)/pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w build/wheel .
ifeq ($(shell uname),Linux)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair -w dist build/wheel/*.whl
else
	cp build/wheel/*.whl dist
endif
	for wheel in dist/*abi3*.whl; do test ! -e "$$wheel" || $(BIN)/abi3audit --strict --summary "$$wheel" || exit 1; done

sdist: $(VENV)/.package
	$(BIN)/python -m build --sdist --no-isolation -o dist .

# Both installed into empty environments, away from the repository: what pip downloads and compiles takes minutes.
package-test: $(VENV)/.dev
	rm -rf dist
	$(MAKE) wheel sdist
	$(BIN)/pytest -q tests/check_package.py

# Without what Linux has and other systems have not (tests/bare_system.py), without the compiled kernels, and with kernels
# that are compiled as for another system.
BARE := PYTHONPATH=tests $(BIN)/pytest -q -p bare_system -m 'not soak and not thorough and not emulated' $(QUICK)

bare: $(VENV)/.dev build/bare
	$(BARE) tests/files tests/stream/file tests/stream/features tests/dynamic/test_blocks.py \
	    tests/dynamic/durable/test_log.py tests/dynamic/durable/test_opening.py tests/core/system
	TGRAPH_NATIVE=0 $(BARE) tests/test_smoke.py
	TGRAPH_NATIVE="$$(ls $(CURDIR)/build/bare/tgraph/_native*.so)" $(BARE) tests/test_smoke.py tests/stores/test_direct.py \
	    tests/kernels/native/base \
	    --deselect tests/core/system/test_pages.py::test_only_a_lack_of_huge_pages_stops_asking_and_that_for_a_while

# The kernels as for a system that is not Linux.
build/bare: $(VENV)/.dev $(SOURCES)
	rm -rf $@
	CXXFLAGS=-U__linux__ $(COMPILE) --no-deps --target $@ -C build-dir=build/objects-bare -C install.strip=false .

# The kernels for aarch64 by a cross compiler, and the smoke tests on them in an emulator: tests/arm.sh says what of
# these has to be installed.
arm: $(VENV)/.dev
	tests/arm.sh

# What type checkers of users see: at least 95 % of the public names have a type without a doubt, and the modules that
# export them pass the strict rules.
types: $(VENV)/.package
	$(BIN)/python tests/check_types.py 95

workflows: $(VENV)/.package
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline --min-severity medium .github
	! command -v actionlint || actionlint

clean:
	rm -rf $(VENV) .venv-gpu .venv-xla .venv-jax build dist docs/gallery docs/pictures docs/reference .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp per set of extras: the package is installed again when what it is built from has changed, and what has been
# compiled is found up to date. The Python files are used in place, so that changing one needs no installation.
$(VENV)/.demo: $(SOURCES) | $(VENV)/.build
	@echo 'Installing the dependencies that are missing, and compiling the kernels that have changed.'
	$(call shown,$(COMPILE) -e .)
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	@echo 'Installing what the tests need: about a minute.'
	$(call shown,$(COMPILE) -e '.[dev]')
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(COMPILE) -e '.[docs]'
	touch $@

$(VENV)/.package: $(VENV)/.demo
	$(COMPILE) -e '.[package]'
	touch $@

$(VENV)/.bench: $(VENV)/.demo
	$(COMPILE) -e '.[bench]'
	touch $@

$(VENV)/.build: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) scikit-build-core nanobind cmake ninja
	touch $@

$(VENV)/.scatter: constraints.txt | $(VENV)/.dev
	$(INSTALL) setuptools
	printf '[build_ext]\nparallel = 4\n' > $(VENV)/parallel.cfg
	DIST_EXTRA_CONFIG=$(CURDIR)/$(VENV)/parallel.cfg $(INSTALL) --no-build-isolation --no-deps --no-cache-dir \
	    --force-reinstall torch-scatter
	touch $@

$(BIN)/python:
	@echo 'Setting up $(VENV): torch and other dependencies are installed, the kernels compiled: two to three minutes on two cores.'
	$(PYTHON) -m venv $(VENV)
