# Everything a newcomer or CI needs: `make demo`, `make test`, `make bench`. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Without make's job server, which recipes cannot reach and cargo warns of.
CARGO := env -u MAKEFLAGS -u MFLAGS cargo
SOURCES := Cargo.toml Cargo.lock .cargo/config.toml pyproject.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)

# Runs a command and records what it takes, in out/test-times.csv.
STAGE := $(PYTHON) scripts/stage_times.py
# Lines of stages that run at once stay whole, where make can do that (not in 3.81 of macOS).
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),-Oline)

# The locks name every package, and what is never imported is never compiled to bytecode.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile

# What builds the extension, and installs it unless `--skip-install` is given; its output is printed only if it fails.
MATURIN = sh -c 'output=$$(env -u MAKEFLAGS -u MFLAGS CARGO_TERM_QUIET=true PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) \
	$(BIN)/maturin develop --release --locked --quiet $(1) 2>&1) || { echo "$$output" >&2; exit 1; }'

# With the extension named beside it, so that both are linked from the same crates: the features of dependencies differ else.
SIMULATE := $(CARGO) build --release --locked --quiet -p hotband-python -p hotband-engine --bin simulate

# In CI nothing is built twice.
ifdef CI
export CARGO_INCREMENTAL := 0
endif

.PHONY: help setup demo test clippy test-rust test-python lint wheel bench bench-peers bench-waits growth budgets profile accuracy pictures browser clients programs lock clean
.DEFAULT_GOAL := help

help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

# The one package that compiling needs, so that the others are installed while it compiles.
$(VENV)/.builder: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("Hotband needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@command -v cargo >/dev/null || { echo "Hotband needs a stable Rust toolchain (cargo), 1.88 or newer"; exit 1; }
	@command -v cc >/dev/null || { echo "Hotband needs a C compiler (cc)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) "$$(grep '^maturin==' requirements.lock)"
	@touch $@

$(VENV)/.installed: $(VENV)/.builder
	@echo "Python: packages of requirements.lock into $(VENV)"
	@$(STAGE) run "download: Python packages" -- $(PIP_INSTALL) -r requirements.lock
	@touch $@

# What only lints and tests use.
$(VENV)/.tests: requirements-tests.lock | $(VENV)/.installed
	@$(STAGE) run "download: packages of tests" -- $(PIP_INSTALL) -r $<
	@touch $@

# The Rust dependencies are pinned in rust.lock, which is Cargo.lock without the registry's address.
Cargo.lock: rust.lock scripts/rust_lock.py
	@$(PYTHON) scripts/rust_lock.py restore

# Pip leaves one core idle and compiling fills both: they run beside each other, unless a make above has its own jobs.
$(VENV)/.built: $(VENV)/.builder $(SOURCES)
	@echo "Engine: compiled from Rust, which takes two to four minutes on two cores the first time"
	@$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j2 $(TOGETHER)) $(VENV)/.installed extension
	@$(STAGE) run "install: engine" -- $(call MATURIN)
	@touch $@

.PHONY: extension
extension:
	@$(STAGE) cargo release "compile: engine" -- $(call MATURIN,--skip-install --timings)

setup: $(VENV)/.built ## virtual environment, locked dependencies, release build

demo: setup ## the first study: its answer to the terminal, its page to out/content-hdd/report.html
	@echo "Study: content-hdd, 82 runs"; echo
	@$(BIN)/hotband study run content-hdd --out out/content-hdd

# What `make test` does, in order: what is fetched; then all Rust is compiled once, in the profile that users install, with
# clippy looking on; then Rust tests, lints and budgets, then Python, each on both cores. What each stage took is in
# out/test-times.csv (`make test-times`); it fails where all of them took 10 % more than recorded.
test: ## every test and lint, as in CI
	@$(STAGE) begin
	$(MAKE) --no-print-directory -j2 $(TOGETHER) browser clients $(VENV)/.tests fetched
	$(MAKE) --no-print-directory -j2 $(TOGETHER) compiled lint-style
	$(MAKE) --no-print-directory -j2 $(TOGETHER) SHORT=--short test-rust budgets
	$(MAKE) --no-print-directory test-python
	@$(STAGE) stages
	@$(STAGE) budget

# Clippy lints what is compiled with its tests. Its arguments are in the form that `cargo clippy` gives them.
test test-long demo setup wheel: export RUSTC_WORKSPACE_WRAPPER = $(abspath scripts/rustc.sh)
test test-long: export CLIPPY_DRIVER = $(shell rustup which clippy-driver 2>/dev/null || command -v clippy-driver)
test test-long: export CLIPPY_ARGS = -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

.PHONY: test-times test-long fetched compiled lint-style modules test-rust-debug
test-times: ## the slowest fifty parts of the last `make test`
	@$(STAGE) show

fetched: Cargo.lock
	@$(STAGE) run "download: crates" -- $(CARGO) fetch --locked --quiet

# Programs of tests first: the extension, and `simulate` of the budgets, are linked from the same crates.
RUST_TESTS := --workspace --exclude hotband-benches
compiled: Cargo.lock $(VENV)/.installed
	@$(STAGE) cargo release "compile: Rust tests" -- $(CARGO) test --release --no-run $(RUST_TESTS) --locked --quiet --timings
	@$(MAKE) --no-print-directory setup

test-rust: Cargo.lock
	@$(STAGE) run "Rust tests" -- $(PYTHON) scripts/rust_tests.py --release $(RUST_TESTS)
	@$(STAGE) run "Rust of CONTRIBUTING.md" -- $(CARGO) test --release --doc $(RUST_TESTS) --locked --quiet

# With overflow checks and debug assertions, which the installed profile does not have.
test-rust-debug: Cargo.lock
	@HOTBAND_LONG=1 $(STAGE) run "long: Rust tests" -- $(PYTHON) scripts/rust_tests.py $(RUST_TESTS)

# Modules that every process of the tests imports, to bytecode: four begin at once, and would each compile all of them.
TEST_IMPORTS := altair,duckdb,hypothesis.strategies,jinja2,numpy,polars,pyarrow.parquet,pytest,scipy.special,starlette,tomlkit,typer,uvicorn
modules: $(VENV)/.tests
	@$(STAGE) run "compile: Python" -- env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c \
	  'import compileall,$(TEST_IMPORTS); compileall.compile_dir("python/hotband", quiet=1)'

lint-style: $(VENV)/.tests modules
	@$(STAGE) run rustfmt -- $(CARGO) fmt --all --check
	@$(STAGE) run ruff -- sh -c '$(BIN)/ruff check --quiet python tests fuzz scripts && $(BIN)/ruff format --quiet --check python tests fuzz scripts'
	@$(STAGE) run mypy -- $(BIN)/mypy

lint: clippy lint-style ## clippy, formats, ruff and mypy alone

clippy: Cargo.lock
	@$(STAGE) run clippy -- $(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

# A lane of tests that wait (for programs, servers, kills, browsers) beside one that computes on both cores.
test-python: $(VENV)/.tests setup
	@$(STAGE) run "Python tests" -- $(BIN)/python scripts/python_tests.py

# Full studies, whole catalogs, calibrations and many mutations, of which `make test` has a short form (docs/decisions/0007).
test-long: $(VENV)/.tests setup ## the long forms of tests, after `make test`: says what they cover and what they took
	@$(MAKE) --no-print-directory clippy test-rust-debug RUSTC_WORKSPACE_WRAPPER=
	$(SIMULATE)
	@$(STAGE) run "long: budgets" -- $(PYTHON) scripts/budgets.py
	@HOTBAND_LONG=1 $(STAGE) run "long: Python tests" -- $(BIN)/python scripts/python_tests.py --long
	@$(STAGE) show

# Needs valgrind, which counts instructions: installed where that is possible, else this says so and goes on.
SHORT ?=
budgets: setup ## instructions of one I/O on each path, against tests/budgets/instructions.csv
	@command -v valgrind >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { $(STAGE) run "download: valgrind" -- sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends valgrind'; } >/dev/null 2>&1 || true; \
	fi
	@$(STAGE) run "compile: simulate" -- $(SIMULATE)
	@$(STAGE) run budgets -- $(PYTHON) scripts/budgets.py $(SHORT)

profile: setup ## make profile WHAT=raid10-write: a flame graph of the instructions of a path of the budgets, in out/
	env CARGO_PROFILE_RELEASE_DEBUG=line-tables-only $(SIMULATE)
	env CARGO_PROFILE_RELEASE_DEBUG=line-tables-only $(CARGO) build --release --locked --quiet -p hotband-benches --features flame --bin flame
	@mkdir -p out
	$(PYTHON) scripts/flame.py $(WHAT) > out/profile-$(WHAT).folded
	target/release/flame "instructions: $(WHAT)" < out/profile-$(WHAT).folded > out/profile-$(WHAT).svg
	@echo "out/profile-$(WHAT).svg"

bench-peers: setup ## our speed beside DiskSim, MQSim and libCacheSim: DISKSIM=, MQSIM=, LIBCACHESIM= are their programs
	$(SIMULATE)
	$(PYTHON) scripts/bench_peers.py

bench-waits: setup ## processor seconds and memory of the commands that people wait for; ARGS=--all for the long ones
	$(BIN)/python scripts/bench_waits.py $(ARGS)

# The report is opened in a real browser; where none can be installed that test is skipped and says so.
growth: setup ## how cost grows with size, as exponents against tests/budgets/growth.csv, and out/growth.svg: half an hour
	$(SIMULATE)
	$(PYTHON) scripts/growth.py

browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing chromium for the browser test"; \
	  { $(STAGE) run "download: browser" -- sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core'; } >/dev/null 2>&1 \
	    || echo "chromium could not be installed: the browser test will be skipped"; \
	else echo "install chromium to run the browser test; it will be skipped"; fi

# Served drives and job files are given to the programs that people use; where those cannot be installed their tests are
# skipped and say so. After the browser: one package manager at a time.
CLIENT_PACKAGES := fio nbdkit libnbd-bin qemu-utils e2fsprogs xfsprogs util-linux postgresql nginx-light wrk sysbench rocksdb-tools
CLIENTS := fio nbdkit nbdinfo qemu-io mkfs.ext4 mkfs.xfs losetup psql nginx wrk sysbench db_bench
clients: | browser
	@missing=; for one in $(CLIENTS); do PATH=$$PATH:/usr/sbin:/sbin command -v $$one >/dev/null || missing="$$missing $$one"; done; \
	if [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing$$missing for the tests of served drives, programs and job files"; \
	  { $(STAGE) run "download: clients" -- sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(CLIENT_PACKAGES)'; } >/dev/null 2>&1 \
	    || echo "some could not be installed: the tests with them will be skipped"; \
	else echo "install$$missing to run the tests with them; they will be skipped"; fi

# What `hotband program` runs: packages of Debian where that is possible; then what no package has, into a folder of the
# user's cache: go-ycsb (three minutes to fetch, two to build) and a shim for user-mode Linux on processors with AMX.
PROGRAM_PACKAGES := busybox-static ceph-common ceph-mgr ceph-mon ceph-osd e2fsprogs fio nginx-light postgresql \
	qemu-system-common rocksdb-tools sysbench user-mode-linux util-linux wrk xfsprogs
PROGRAMS := $(or $(HOTBAND_PROGRAMS),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hotband/programs)
programs: ## real programs for `hotband program`: what can be installed is, the rest is named
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing $(PROGRAM_PACKAGES)"; \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PROGRAM_PACKAGES); } >/dev/null 2>&1 \
	    || echo "some could not be installed: hotband program says which, and their tests are skipped"; \
	else echo "install $(PROGRAM_PACKAGES); programs that lack theirs are skipped"; fi
	@mkdir -p $(PROGRAMS)
	@cc -shared -fPIC -O2 -o $(PROGRAMS)/uml-xstate.so scripts/uml_xstate.c -ldl
	@if [ -x $(PROGRAMS)/go-ycsb ]; then echo "go-ycsb is there"; \
	elif command -v go >/dev/null; then \
	  echo "building go-ycsb: about five minutes"; \
	  sh scripts/go_ycsb.sh $(PROGRAMS) || echo "go-ycsb could not be built: ycsb will be skipped"; \
	else echo "install go to build go-ycsb; ycsb will be skipped"; fi

wheel: setup ## dist/hotband-*.whl, for pip and pipx: one for every Python from 3.11 on
	$(BIN)/maturin build --release --locked --quiet --out dist

bench: Cargo.lock ## simulated I/Os per second of wall time, and the parts
	$(CARGO) bench --locked -p hotband-benches --bench speed
	$(CARGO) bench --locked -p hotband-benches --bench caches
	$(CARGO) bench --locked -p hotband-benches --bench ssd
	$(CARGO) bench --locked -p hotband-benches --bench apps
	$(CARGO) bench --locked -p hotband-benches --bench parts
	$(CARGO) bench --locked -p hotband-benches --bench plan
	$(CARGO) bench --locked -p hotband-benches --bench reading
	$(CARGO) bench --locked -p hotband-benches --bench fio_log

pictures: setup ## the pictures of README and guides
	$(BIN)/python scripts/pictures.py

# Runs are kept in out/accuracy: killed, it goes on where it was.
accuracy: setup ## the corpus and every study: how large the errors are, to the terminal and into two pages of docs
	$(BIN)/python scripts/corpus_learn.py out/corpus
	$(BIN)/hotband study accuracy --out out/accuracy --page docs/accuracy-studies.md

# Of its own environment: what builds the site is needed by nobody else. Zensical, or mkdocs where it cannot be had.
DOCS := out/docs-env
$(DOCS)/.installed: requirements-docs.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.lock
	@touch $@

.PHONY: docs
docs: setup $(DOCS)/.installed ## the documentation site, in out/site
	$(BIN)/python scripts/reference.py
	$(DOCS)/bin/zensical build --config-file mkdocs.yml --clean
	@echo "out/site/index.html"

lock: ## after a change of dependencies: rewrites rust.lock and requirements*.lock from what is installed
	$(PYTHON) scripts/rust_lock.py save
	$(BIN)/python scripts/python_lock.py

clean: ## everything that was built
	rm -rf target $(VENV) out dist Cargo.lock

# Damaged inputs of every kind, through the real entry points (docs/security.md). What breaks something is filed in
# out/probe/failures; interrupted, it goes on where it was.
.PHONY: probe probe-long
probe: setup ## damaged inputs of every kind, some minutes
	$(BIN)/python scripts/probe_inputs.py --count 5000

probe-long: setup ## the same for hours
	nice -n 10 $(BIN)/python scripts/probe_inputs.py --count 100000

# Needs cargo-fuzz and the nightly toolchain for the targets in Rust; installs atheris for those in Python, into out/fuzz.
.PHONY: fuzz
MINUTES ?= 60
fuzz: setup ## fuzzing of parsers, readers and both servers: MINUTES=60; goes on where it was, in out/fuzz
	nice -n 10 $(BIN)/python scripts/fuzz.py --minutes $(MINUTES)

# Commands that are ended at any moment, failing system calls, odd environments (only root can try a full disk).
.PHONY: probe-faults probe-security sbom
probe-faults: setup ## kills, signals, full disks, failing calls, clocks, surroundings: an hour; resumes where it stopped
	$(BIN)/python scripts/probe_schedules.py --kills 200 --signals 200 --failing-calls 100 --jumps 20 --two-writers 20 \
	  --surroundings 200 $$([ "$$(id -u)" != 0 ] || echo --disk-full 100)

probe-security: setup ## NBD, HTTP, command lines, hostile names and links, bombs: an hour; resumes where it stopped
	nice -n 10 $(BIN)/python scripts/probe_inputs.py --kind nbd,http,words,name,bomb --count 20000

# Metamorphic relations: what must hold between two runs, whatever the figures are (CONTRIBUTING.md).
.PHONY: probe-relations
probe-relations: setup ## a deeper queue is no slower, and so on, of every drive and of layouts: an hour; goes on where it was
	nice -n 10 $(BIN)/python scripts/probe_relations.py

# Machines and loads at random, whose records may not contradict themselves; what fails is made as small as it can be.
.PHONY: probe-machines
probe-machines: setup $(VENV)/.tests ## machines at random under loads at random, CASES=2000 of them: some minutes
	CASES=$(CASES) nice -n 10 $(BIN)/python -m pytest -q tests/probe/test_machines.py

sbom: setup $(VENV)/.tests ## what Hotband is made of, with licences: out/sbom.json (CycloneDX)
	$(BIN)/python scripts/sbom.py out/sbom.json

# Two builds of the engine, minutes each.
.PHONY: cpu-levels
cpu-levels: Cargo.lock ## the engine compiled for two levels of processors: is a run the same, bit for bit?
	$(PYTHON) scripts/cpu_levels.py

# Does a test fail when a line is changed? A sample of a copy of what is committed, each with the tests of its crate alone;
# what they miss the tests of the engine may still notice. SHARD=0/1 is all of them: a day.
.PHONY: mutants
SHARD ?= 0/100
mutants: Cargo.lock ## changed lines of layouts, parts of drives, units and machine that no test notices: SHARD=n/k of them, into out/mutants
	@command -v cargo-mutants >/dev/null || { echo "install cargo-mutants (cargo install --locked cargo-mutants) for make mutants"; exit 0; }; \
	rm -rf out/mutants/tree && mkdir -p out/mutants/tree && git archive HEAD | tar -x -C out/mutants/tree && cp Cargo.lock out/mutants/tree/ && \
	cd out/mutants/tree && for one in layouts/src:layouts drives/src/parts:drives units/src:units machine/src:machine; do \
	  nice -n 10 $(CARGO) mutants --in-place -C=--locked -p hotband-$${one#*:} -f "crates/$${one%:*}/**" --shard $(SHARD) \
	    --sharding round-robin --timeout 60 --output ../$${one#*:} || { code=$$?; [ $$code = 2 ] || [ $$code = 3 ] || exit 1; }; \
	done

# The same for Python: operators, comparisons, numbers of the auditor, the comparison and the intervals.
.PHONY: mutants-python
COUNT ?= 60
mutants-python: setup ## changed pieces of audit, compare and interval that no test notices: COUNT= of each, into out/mutants
	nice -n 10 $(BIN)/python scripts/python_mutants.py --count $(COUNT)

# What is known of the versions that are locked: bring the advisories, for nothing is fetched.
.PHONY: advisories
advisories: $(VENV)/.installed ## known advisories that apply to what is locked: OSV= is a folder or zip of osv.dev
	$(BIN)/python scripts/advisories.py $(OSV)

# Lines and branches of python/hotband that tests reach, in this process alone: commands that a test starts are not counted.
.PHONY: coverage
COVERED ?= tests
coverage: setup $(VENV)/.tests ## lines and branches of the Python code that tests reach: COVERED=tests/audit for a part; out/coverage
	COVERAGE_FILE=out/.coverage $(BIN)/python -m coverage run --branch --source=python/hotband -m pytest -q $(COVERED)
	COVERAGE_FILE=out/.coverage $(BIN)/python -m coverage html --quiet --directory out/coverage
	COVERAGE_FILE=out/.coverage $(BIN)/python -m coverage report --skip-covered --sort=cover | tail -n 25

# What holds for whatever is drawn, drawn far more often than in `make test`: a fault that comes once in thousands.
.PHONY: properties
CASES ?= 2000
properties: Cargo.lock ## properties of the Rust crates, CASES=2000 of each: a quarter of an hour
	PROPTEST_CASES=$(CASES) nice -n 10 $(CARGO) test --workspace --exclude hotband-benches --locked --quiet --no-fail-fast

# Needs cargo-llvm-cov, and llvm-cov of the LLVM that rustc has: installed where that is possible.
.PHONY: coverage-rust
LLVM = $(shell rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
CRATES ?= --workspace --exclude hotband-benches --exclude hotband-python
coverage-rust: Cargo.lock ## lines and regions of Rust that tests reach (half an hour): CRATES="-p hotband-layouts" for a part; out/coverage-rust
	@command -v llvm-cov-$(LLVM) >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends llvm-$(LLVM); } >/dev/null 2>&1 || true; \
	fi
	@if ! command -v llvm-cov-$(LLVM) >/dev/null; then echo "install llvm-$(LLVM) for make coverage-rust"; \
	elif ! command -v cargo-llvm-cov >/dev/null; then echo "install cargo-llvm-cov (cargo install --locked cargo-llvm-cov) for make coverage-rust"; \
	else export LLVM_COV=llvm-cov-$(LLVM) LLVM_PROFDATA=llvm-profdata-$(LLVM); \
	  $(CARGO) llvm-cov $(CRATES) --locked --quiet --html --output-dir out/coverage-rust && \
	  $(CARGO) llvm-cov report $(filter-out --workspace --exclude hotband-benches hotband-python,$(CRATES)) --summary-only | tail -n 1; fi

# Tests of what reads bytes of others or calls C, with AddressSanitizer: reads and writes outside of what is owned.
.PHONY: sanitize
sanitize: Cargo.lock ## AddressSanitizer over the tests of parsers, servers and compression; needs the nightly toolchain
	@if ! $(CARGO) +nightly --version >/dev/null 2>&1; then echo "install the nightly toolchain (rustup toolchain install nightly) for make sanitize"; else \
	  RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/sanitize $(CARGO) +nightly test --locked --quiet --target $$(rustc -vV | sed -n 's/^host: //p') \
	    -p hotband-units -p hotband-entropy -p hotband-results -p hotband-traces -p hotband-serve --lib --tests; fi
