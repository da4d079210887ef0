# The front door. Needs python3 (3.11 or later), cargo and make; everything else is fetched, pinned
# by version and hash, into .tools/ and .venv/. `make help` lists the targets.

PYTHON ?= python3
PROCESSES ?= 2
FUZZ_SECONDS ?= 10
PGO ?= 1

VENV := .venv
BIN := $(VENV)/bin
UV := .tools/uv/bin/uv
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header

UV_READY := .tools/uv/.ready
TOOLS_READY := $(VENV)/.ready-tools
ENGINE := python/homenode/_engine.abi3.so
DOCS_READY := .tools/docs/.ready
PEERS_READY := .tools/peers/.ready
LINE_READY := .tools/line/.ready
FUZZ_READY := .tools/fuzz/.ready-0.13.2
CLIENTS_READY := .tools/clients/.ready

# Counts of what an engine does where it is trained are read by rustc's own tool, if it is installed.
DIST := dist
COUNTS_READER = $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata)
TRAINED = $(if $(filter-out 0,$(PGO)),$(if $(COUNTS_READER),--pgo))

ENGINE_SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates -path '*/src/*.rs' -o -path '*/src/*.json' -o -name Cargo.toml)

# Both builds of the bindings see the same interpreter, so that neither undoes the other's cache.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export UV_PYTHON_DOWNLOADS := never

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup build demo test clients check lint fmt bench bench-peers bench-placement fuzz studies fingerprints validate-steady \
	docs lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(TOOLS_READY) ## make .venv with all pinned tools and libraries

build: $(ENGINE) ## compile the engine and install homenode into .venv (editable)

demo: build ## the main job: what poor affinity costs four LPARs of a Power 795, and why
	$(BIN)/homenode demo

.PHONY: wheel test-wheel
wheel: $(TOOLS_READY) ## a source archive and the abi3 wheel made from it, into dist/ (PGO=0: untrained, quicker)
	rm -rf $(DIST)
	@$(if $(TRAINED),,echo 'make: the engine is not trained: PGO=0, or no llvm-profdata beside rustc' >&2)
	PATH="$(CURDIR)/.tools/uv/bin:$$PATH" $(BIN)/maturin build --release --locked --sdist \
		--out $(DIST) $(TRAINED)

test-wheel: build wheel ## install the wheel where nothing else is, and use it as anybody would; same bytes?
	$(BIN)/python tests/wheel/installed.py $(DIST) --uv $(UV)
	$(BIN)/python tests/wheel/gain.py $(ENGINE) $(DIST)/*.whl --rounds 1

test: build $(CLIENTS_READY) ## all tests: Rust, then Python
	cargo test --workspace --locked --quiet
	$(BIN)/pytest -n $(PROCESSES) --dist worksteal

clients: ## fetch the real programs (Debian packages) that judge exports; say which cannot be had
	@mkdir -p .tools/clients && rm -f $(CLIENTS_READY)
	@$(MAKE) --no-print-directory $(CLIENTS_READY)

check: ## format, lints and types, then `make test`; CI (.ci/run) adds what is slow
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test

lint: $(TOOLS_READY) ## format, lints and types without the tests
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy

fmt: $(TOOLS_READY) ## format all sources, repair what ruff can repair
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet || true
	$(BIN)/ruff format --quiet

bench: build ## the engine against the bare loop, a run's other parts, a command's start: ratios
	cargo run --release --locked --quiet -p homenode-benches
	$(BIN)/python benches/front.py
	$(BIN)/python benches/start.py
	$(BIN)/python benches/steady/speed.py
	$(BIN)/python benches/consolidate.py
	$(BIN)/python benches/serve.py

validate-steady: $(LINE_READY) build ## solved layouts against simulated ones: random scenarios of each platform (COUNT=N of each)
	$(BIN)/python benches/steady/opinion.py .tools/line/bin/python
	$(BIN)/python benches/steady/validate.py $(if $(COUNT),--count $(COUNT)) $(PLATFORMS)

bench-placement: build ## placement beside the best known costs, 60 and 300 s an instance (ONLY="NAME ...")
	$(BIN)/python benches/placement/bench.py $(if $(ONLY),--only $(ONLY))

bench-peers: $(PEERS_READY) build ## other simulators, and another reader of nmon, on the same work
	.tools/peers/bin/python benches/peers/run.py
	$(BIN)/python benches/peers/nmon.py

fuzz: $(FUZZ_READY) ## every parser against broken input, FUZZ_SECONDS each; needs nightly Rust
	$(PYTHON) fuzz/run.py --cargo-fuzz .tools/fuzz/bin/cargo-fuzz --seconds $(FUZZ_SECONDS) $(TARGETS)

studies: build ## every published result, side by side; fails where a page says something else (WRITE=1: write down)
	$(BIN)/python docs/tools/studies.py $(if $(WRITE),--write) $(STUDIES)

fingerprints: build ## has anything simulated moved? ONLY="NAME ..." picks, RECORD=1 records anew
	$(BIN)/python tests/fingerprints/check.py $(if $(RECORD),--record) \
		$(if $(ONLY),--only $(foreach name,$(ONLY),'$(name)')) $(if $(KEEP),--keep '$(KEEP)')

docs: build $(DOCS_READY) ## refresh the reference from the code, then build the pages into site/
	$(BIN)/python docs/tools/refresh.py
	$(BIN)/python docs/tools/gallery.py
	NO_MKDOCS_2_WARNING=1 .tools/docs/bin/mkdocs build --strict --quiet

lock: $(UV_READY) ## pin anew what pyproject.toml and requirements/*.in ask for
	$(COMPILE) --upgrade pyproject.toml -o requirements/run.txt
	$(COMPILE) --upgrade requirements/dev.in -o requirements/dev.txt
	$(COMPILE) --upgrade requirements/docs.in -o requirements/docs.txt
	$(COMPILE) --upgrade requirements/peers.in -o requirements/peers.txt
	$(COMPILE) --upgrade requirements/line.in -o requirements/line.txt
	$(COMPILE) --upgrade requirements/uv.in -o requirements/uv.txt

clean: ## remove all that was built or fetched here; kept runs stay
	rm -rf target $(VENV) .tools site $(DIST) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/homenode/*.so

$(UV_READY): requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'make: python3 3.11 or later is needed; set PYTHON=/path/to/it' >&2; exit 1; }
	$(PYTHON) -m venv .tools/uv
	.tools/uv/bin/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	@touch $@

$(TOOLS_READY): $(UV_READY) requirements/dev.txt
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@touch $@

$(ENGINE): $(TOOLS_READY) $(ENGINE_SOURCES)
	PATH="$(CURDIR)/.tools/uv/bin:$$PATH" $(BIN)/maturin develop --profile local --locked --uv --quiet
	@touch $@

$(DOCS_READY): $(UV_READY) requirements/docs.txt
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .tools/docs
	$(UV) pip install --quiet --python .tools/docs/bin/python --require-hashes -r requirements/docs.txt
	@touch $@

$(PEERS_READY): $(UV_READY) requirements/peers.txt
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .tools/peers
	$(UV) pip install --quiet --python .tools/peers/bin/python --require-hashes -r requirements/peers.txt
	@touch $@

$(LINE_READY): $(UV_READY) requirements/line.txt
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .tools/line
	$(UV) pip install --quiet --python .tools/line/bin/python --require-hashes -r requirements/line.txt
	@touch $@

# What cannot be had is no failure: the tests that need it are skipped and say why.
$(CLIENTS_READY): tests/clients/fetch.py
	@$(PYTHON) tests/clients/fetch.py .tools/clients
	@touch $@

$(FUZZ_READY):
	cargo install --quiet --locked --root .tools/fuzz --version $(@:.tools/fuzz/.ready-%=%) cargo-fuzz
	@touch $@
