# The project's commands; `make` lists them. Only python3 (3.11 or newer, with venv), make and git are assumed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCKS := deploy/requirements
PACKAGES := $(wildcard engine/moonvale* service/moonvale* clients/python/moonvale*)
COMPILED := build/compiled
ENGINE_SOURCES := $(shell find engine -name '*.py')

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
UV_COMPILE := $(BIN)/uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-emit-index-url --system-certs \
	--custom-compile-command "make lock"
# Followed by a command: runs it in the TypeScript client, whose packages are installed first; exits with 3 without Node.js.
TYPESCRIPT = $(BIN)/python clients/typescript/install.py && cd clients/typescript &&

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run demo test same fuzz fuzz-input fuzz-api chaos cancel bench watch-scale lint fmt proto lock image image-test cluster-test clean FORCE

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.service $(if $(PURE),,$(COMPILED)/.made) ## Start the service on this machine and print how to join (uncompiled: PURE=1)
	@PYTHONPATH=$(if $(PURE),,$(CURDIR)/$(COMPILED):)$$PYTHONPATH $(BIN)/moonvale serve

demo: $(VENV)/.service ## Let four agents play one game over gRPC while you look on
	@$(BIN)/moonvale demo

test: $(VENV)/.dev $(COMPILED)/.made ## Run every test (options for pytest: ARGS="-k servers")
	@tests/support/install_redis.sh
	@tests/support/install_node.sh
	@tests/support/install_promtool.sh
	@$(BIN)/python -m pytest -n auto $(ARGS)

same: N = 10000
same: $(VENV)/.dev $(COMPILED)/.made ## Play random games on the pure and the compiled engine, comparing all that comes of them (how many: N=10000)
	@$(BIN)/python -m tests.same $(N)

fuzz: $(VENV)/.dev ## Play random games that try every ability, checking every position (how many: N=2000)
	@$(BIN)/python -m tests.fuzz $(N)

fuzz-input: $(VENV)/.dev ## Send random and mutated messages to every method of the service (how many: N=200000)
	@$(BIN)/python -m tests.chaos.fuzz_input $(N)

fuzz-api: N = 200
fuzz-api: $(VENV)/.dev ## Ask the HTTP port all that its OpenAPI document allows and forbids (how many of each: N=200)
	@$(BIN)/python -m tests.http.api_fuzz $(N)

chaos: $(VENV)/.dev ## Play games while workers, store and network break, checking each game (how long: MINUTES=5 or SECONDS=90)
	@tests/support/install_redis.sh
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.chaos $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

cancel: $(VENV)/.dev ## Give calls and watches up at any moment, checking what they leave behind (how many: N=10000)
	@$(BIN)/python -m tests.chaos.cancel $(N)

bench: $(VENV)/.dev $(COMPILED)/.made ## Measure engine and service beside their peers (parts: ONLY=engine,service; few rounds: QUICK=1)
	@tests/support/install_redis.sh
	@tests/support/install_node.sh
	@$(BIN)/python -m tests.bench $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick) $(if $(PUBLISH),--publish)

watch-scale: N = 10000
watch-scale: $(VENV)/.dev ## Open watches in one server process and measure what each costs (how many: N=10000)
	@$(BIN)/python -m tests.service.watch_scale $(N)

lint: $(VENV)/.dev ## Check style, types and the contract, and that generated code is up to date
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(if $(wildcard proto/generate.py),$(BIN)/python proto/generate.py --check)
	@$(TYPESCRIPT) npm run --silent check || { test $$? -eq 3 && test "$$CI" != true && echo "Not checked: its style and types"; }

fmt: $(VENV)/.dev ## Format the code and mend what ruff can mend by itself
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(TYPESCRIPT) npm run --silent format || test $$? -eq 3

proto: $(VENV)/.dev ## Rebuild the code generated from proto/
	@$(BIN)/python proto/generate.py

lock: $(VENV)/.dev ## Rewrite the lock files for pyproject.toml and package.json (newest releases: UPGRADE=--upgrade)
	@$(PIP_INSTALL) 'uv>=0.13'
	@$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra service --group build -o $(LOCKS)/service.txt
	@$(UV_COMPILE) $(UPGRADE) --group compile --constraint $(LOCKS)/service.txt -o $(LOCKS)/compile.txt
	@$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra service --extra telemetry --extra arena --group build --group dev \
		--constraint $(LOCKS)/service.txt --constraint $(LOCKS)/compile.txt --override $(LOCKS)/overrides.txt -o $(LOCKS)/dev.txt
	@$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra service --extra telemetry --constraint $(LOCKS)/service.txt -o $(LOCKS)/image.txt
	@cd clients/typescript && npm install --package-lock-only
	@for peer in tests/bench/peers/*.in; do $(UV_COMPILE) $(UPGRADE) "$$peer" -o "$${peer%.in}.txt" || exit 1; done

image: IMAGE = moonvale:$(shell sed -n 's/^version = "\(.*\)"$$/\1/p' pyproject.toml)
image: ## Build the image by docker, podman or buildah (name: IMAGE=moonvale:1.2.3; options: ARGS="--build-arg RUN_IMAGE=...")
	@deploy/image.sh $(IMAGE) $(ARGS)

image-test: $(VENV)/.dev ## Build the image, run it as strictly as a cluster does, and stop it under load (base from Debian: BASE=debian)
	@MOONVALE_IMAGE=$(IMAGE) BASE=$(BASE) GRPC_VERBOSITY=NONE $(BIN)/python -m pytest -n 0 -s tests/deploy/image_checks.py $(ARGS)

cluster-test: $(VENV)/.dev ## Play games in a cluster while its pods are rolled, scaled and deleted (which cluster: KUBECONFIG=~/.kube/config)
	@test -n "$(KUBECONFIG)" || { echo "Say which cluster: make cluster-test KUBECONFIG=..." >&2; exit 2; }
	@$(BIN)/python -m tests.deploy.cluster $(KUBECONFIG) $(if $(IMAGE),--image $(IMAGE)) $(ARGS)

clean: ## Remove what the other commands made, except the service's data
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache *.egg-info
	rm -rf clients/typescript/node_modules clients/typescript/dist
	find engine service clients tests proto -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: .venv/.python when the environment exists, .service when `moonvale` runs in it, .dev when tests do too.
$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null || { \
		echo "Moonvale needs Python 3.11 to 3.14, but $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing)." \
			"Install one (Debian and Ubuntu: apt-get install python3 python3-venv) or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) lacks the venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# An editable install knows the packages by name, so it is made anew when there is another one.
$(VENV)/.packages: $(VENV)/.python FORCE
	@echo "$(PACKAGES)" | cmp -s - $@ || echo "$(PACKAGES)" > $@

$(VENV)/.service: $(VENV)/.python pyproject.toml $(LOCKS)/service.txt $(VENV)/.packages
	@echo "Installing what the service needs"
	@$(PIP_INSTALL) --no-deps --require-hashes -r $(LOCKS)/service.txt
	@$(PIP_INSTALL) --no-deps --no-index --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.service $(LOCKS)/dev.txt
	@echo "Installing what tests and checks need"
	@$(PIP_INSTALL) --no-deps --require-hashes -r $(LOCKS)/dev.txt
	@touch $@

# The engine compiled by mypyc lies in a folder of its own, which commands that want it put first on the path: beside the source it would
# hide later changes of it. Without a C compiler the folder stays empty, so that the source is found, and setup.py says so.
$(COMPILED)/.made: $(VENV)/.service setup.py pyproject.toml $(LOCKS)/compile.txt $(ENGINE_SOURCES)
	@echo "Compiling the engine, which takes a minute"
	@rm -rf $(COMPILED)
	@$(PIP_INSTALL) --no-deps --require-hashes -r $(LOCKS)/compile.txt
	@MOONVALE_COMPILE=1 $(BIN)/python setup.py --quiet build_ext --build-lib $(COMPILED) --build-temp build/temporary
	@mkdir -p $(COMPILED)
	@touch $@
