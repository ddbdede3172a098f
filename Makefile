# The front door. `make` builds build/muster; `make help` says what else there is.
SHELL := /bin/sh
BUILD := build
ASAN  := build-asan
TSAN  := build-tsan
FUZZ  := build-fuzz
NINJA := ninja
# With a sanitizer the compilers warn of what is not there, so warnings are no errors.
SANITIZED := -Db_lundef=false -Dwerror=false
# What fails runs once more, alone: tests/twice.
export TESTS_TWICE := 1

.PHONY: all deps deps-build deps-test deps-frameworks demo test check check-asan check-tsan lint lint-fast format fuzz \
        golden test-unit test-e2e test-operator test-sdk test-frameworks test-node test-newcomer test-leaks test-attack fuzz-http test-cluster test-clients test-gang-kube test-deploy soak bench bench-quick help clean \
        install uninstall man deb tarball deploy image
.NOTPARALLEL:

all: $(BUILD)/build.ninja ## build build/muster
	@$(NINJA) -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@tools/install-deps --build
	@meson setup $(BUILD) >/dev/null

deps: ## install every package that is missing
	@tools/install-deps

deps-build:
	@tools/install-deps --build

deps-test:
	@tools/install-deps --test

deps-frameworks:
	@tools/install-deps --frameworks

demo: ## install, build, and run a distributed job here
	@echo "make demo: checking for missing packages"
	@tools/install-deps --build --run
	@echo "make demo: building build/muster (the first time takes a minute or two)"
	@test -f $(BUILD)/build.ninja || $(MAKE) --no-print-directory $(BUILD)/build.ninja
	@if [ -t 1 ]; then $(NINJA) -C $(BUILD) muster; else $(NINJA) -C $(BUILD) --quiet muster; fi
	@examples/demo

test: deps-test test-unit test-e2e ## install, build, and run the tests that take a few minutes

test-unit: all ## units, golden files, and the corpus of each fuzz target
	@tests/twice meson test -C $(BUILD) --print-errorlogs --timeout-multiplier 4

golden: all ## rewrite what golden files expect; review the diff
	@GOLDEN_WRITE=1 $(BUILD)/tests/unit/job/job_test_golden tests/golden/job | grep -v ^ok; true
	@GOLDEN_WRITE=1 $(BUILD)/tests/unit/node/node_test_life tests/golden/node | grep -v ^ok; true
	@GOLDEN_WRITE=1 $(BUILD)/tests/unit/cli/cli_test_make_job tests/golden/make | grep -v ^ok; true
	@GOLDEN_WRITE=1 $(BUILD)/tests/unit/manifest/manifest_test_crd tests/golden/manifest | grep -v ^ok; true
	@GOLDEN_WRITE=1 $(BUILD)/tests/unit/manifest/manifest_test_install tests/golden/install | grep -v ^ok; true

test-e2e: all ## through the binary, with real kubectl and the Python client
	@tests/e2e/run

test-operator: deps-test all ## jobs from apply to their end, and faults, on muster up
	@tests/operator/run

test-sdk: deps-test all ## every kind of job through the official Python SDK, from PyPI
	@tests/sdk/run

test-frameworks: deps-frameworks all ## PyTorch, TensorFlow, JAX, MPI and others train here, from Debian and PyPI
	@tests/frameworks/run

test-node: deps-test all ## pods on this machine, at each level of isolation, as root and as a user
	@tests/node/run

test-newcomer: deps-test all ## commands of README and docs, own scripts and mistakes of a new user; NEWCOMER_WRITE=1 rewrites what is expected
	@tests/newcomer/run

test-leaks: deps-test all ## 500 short jobs at each level, as root and as a user: nothing is left of them
	@LEAK_JOBS=504 tests/node/run tests/node/t3000_leaks.py

test-attack: deps-test all ## attacks on the server and from pods, as root and as a user, and a minute of HTTP fuzzing
	@tests/attack/run

fuzz-http: deps-test all ## ten minutes of HTTP fuzzing against a build with sanitizers; ATTACK_SECONDS, ATTACK_SEED
	@test -f $(ASAN)/build.ninja || meson setup $(ASAN) -Db_sanitize=address,undefined $(SANITIZED) >/dev/null
	@$(NINJA) -C $(ASAN) --quiet muster
	@ATTACK_SECONDS=$${ATTACK_SECONDS:-600} tests/attack/run tests/attack/t9000_fuzz.py

test-clients: deps-test all ## the original training operator and kube-scheduler on muster up, for CLIENTS_SECONDS
	@tests/clients/run

test-gang-kube: deps-test all ## the operator with the gang scheduling of Kubernetes 1.36 itself
	@tests/gang-kube/run

test-deploy: deps-test all ## what is shipped for clusters: Kustomize, the Helm chart with Helm, the image
	@tests/deploy/run

soak: deps-test all ## 20 minutes of random jobs while muster up is killed with -9; SOAK_SECONDS, SOAK_SEED
	@tests/soak/run

test-cluster: deps-test all ## side by side with a real kube-apiserver, and the operator on it
	@tests/cluster/run $(BUILD)/muster
	@tests/operator/run --cluster

check: check-asan check-tsan ## unit tests with sanitizers

check-asan: deps-test ## unit tests with address, leak and undefined-behaviour checking
	@test -f $(ASAN)/build.ninja || meson setup $(ASAN) -Db_sanitize=address,undefined $(SANITIZED) >/dev/null
	@$(NINJA) -C $(ASAN) --quiet
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 tests/twice meson test -C $(ASAN) --print-errorlogs --timeout-multiplier 10

check-tsan: deps-test ## the tests where threads meet, with thread checking
	@test -f $(TSAN)/build.ninja || meson setup $(TSAN) -Db_sanitize=thread $(SANITIZED) >/dev/null
	@$(NINJA) -C $(TSAN) --quiet
	@tests/twice meson test -C $(TSAN) --print-errorlogs --timeout-multiplier 10 --suite threads

lint: deps all ## format, rooms, sizes, shellcheck, clang-tidy
	@tools/lint

lint-fast: deps all ## all of it but clang-tidy
	@tools/lint --fast

format: ## put the sources into the house format
	@git ls-files '*.c' '*.h' | xargs clang-format-14 -i

fuzz: deps ## fuzz every parser, SECONDS_EACH=60
	@tools/fuzz

bench: deps-test all ## the numbers of docs/performance.md
	@bench/run
	@bench/operator
	@bench/node
	@$(NINJA) -C $(BUILD) --quiet bench/sched_bench && $(BUILD)/bench/sched_bench
	@bench/scheduler

bench-quick: deps-test all ## smaller and less exact, of muster alone
	@bench/run --only ours --quick
	@bench/operator --quick
	@bench/node --quick
	@bench/scheduler --only ours --quick

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

deploy: all ## rewrite what of deploy/ is made from muster manifests
	@tools/make-deploy $(BUILD)/muster deploy

clean: ## remove what was built
	@rm -rf $(BUILD) $(ASAN) $(TSAN) $(FUZZ) build-tidy build-ci

# ---- packages. SOURCE_DATE_EPOCH, of the last commit unless set, makes them the same each time.
PREFIX  := /usr/local
DESTDIR :=
MUSTER  := $(NINJA) -C $(BUILD) --quiet muster
dated    = SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || stat -c %Y meson.build)}

install: $(BUILD)/build.ninja ## install below PREFIX=/usr/local, in DESTDIR= if set: program, man pages, completions, docs
	@$(MUSTER)
	@$(dated) tools/install-files $(BUILD)/muster "$(DESTDIR)$(PREFIX)"

uninstall: ## remove what make install installed, with the same PREFIX= and DESTDIR=
	@tools/install-files --remove "$(DESTDIR)$(PREFIX)"

man: $(BUILD)/build.ninja ## write the man pages, from --help, to build/man
	@$(MUSTER)
	@$(dated) tools/manpages $(BUILD)/muster $(BUILD)/man

deb: $(BUILD)/build.ninja ## build a Debian package in build/
	@$(MUSTER)
	@$(dated) tools/make-deb $(BUILD)/muster $(BUILD)

tarball: $(BUILD)/build.ninja ## build a tar archive, with all libraries, that runs on any Linux, in build/
	@$(MUSTER)
	@$(dated) tools/make-tarball $(BUILD)/muster $(BUILD)

image: $(BUILD)/build.ninja ## build a container image of the operator, without a daemon, in build/
	@$(MUSTER)
	@$(dated) tools/make-image $(BUILD)/muster $(BUILD)
