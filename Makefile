# The front door. `make` builds build/muster; `make help` says what else there is.
SHELL := /bin/sh
BUILD := build
ASAN  := build-asan
TSAN  := build-tsan
NINJA := ninja

.PHONY: all deps demo test check check-asan check-tsan lint format fuzz bench test-e2e test-cluster golden help clean

all: $(BUILD)/build.ninja ## build build/muster
	@$(NINJA) -C $(BUILD) --quiet

deps: ## install every package that is missing
	@tools/install-deps

deps-build:
	@tools/install-deps --build

$(BUILD)/build.ninja:
	@tools/install-deps --build
	@meson setup $(BUILD) >/dev/null

demo: deps-build all ## install, build, and show a Kubernetes API at work
	@examples/demo

test: deps all ## install, build, and run the tests that take no more than a few minutes
	@meson test -C $(BUILD) --print-errorlogs
	@tests/e2e/run

check: check-asan ## unit tests with address, leak and undefined-behaviour checking

check-asan: deps
	@test -d $(ASAN) || meson setup $(ASAN) -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=false >/dev/null
	@$(NINJA) -C $(ASAN) --quiet
	@meson test -C $(ASAN) --print-errorlogs --timeout-multiplier 5

check-tsan: deps ## the tests where threads meet, with thread checking
	@test -d $(TSAN) || meson setup $(TSAN) -Db_sanitize=thread -Db_lundef=false -Dwerror=false >/dev/null
	@$(NINJA) -C $(TSAN) --quiet
	@meson test -C $(TSAN) --print-errorlogs --timeout-multiplier 10 --suite threads

lint: deps ## format, clang-tidy, rooms, shellcheck
	@tools/lint

format: ## put the sources into the house format
	@git ls-files '*.c' '*.h' | xargs clang-format-14 -i

fuzz: deps ## fuzz every parser for a minute each
	@tools/fuzz

test-e2e: deps all ## through the binary, with real kubectl and the Python client
	@tests/e2e/run

test-cluster: deps all ## side by side with a real kube-apiserver
	@tests/cluster/run $(BUILD)/muster

bench: deps all ## the numbers of docs/performance.md
	@bench/run

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

clean: ## remove what was built
	@rm -rf $(BUILD) $(ASAN) $(TSAN) build-fuzz build-tidy
