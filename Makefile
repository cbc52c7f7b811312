# The commands for developers and CI. You only need Python 3.11+ and make: if uv is not on the PATH, it
# is installed into .tools. Everything else is installed into .venv, in the versions of uv.lock.

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo .tools/bin/uv)
export UV_PYTHON_DOWNLOADS = never
export UV_PYTHON ?= $(PYTHON)

RUN := .venv/bin/
ARGUMENTS ?=

# The oldest supported PostgreSQL, from Debian 12. If it is not installed, test-postgres uses the newest,
# as `make test` does.
OLDEST_POSTGRES := $(wildcard /usr/lib/postgresql/15/bin)
# Tests that do not depend on the database (HTTP, permissions, limits, responses from a snapshot, queues,
# compression, drawings, documentation), or that choose a database themselves. The contract suite tests
# that both databases return maps, files, links and tokens unchanged.
WITHOUT_DATABASE := $(patsubst %, \%/test_%.py, admission bodies bodies_on_the_wire comparing contract \
	compression cookies csrf desktop_program docs drawings every_combination exchange forms illustrated_exports \
	images large_files links measurements oauth_clients one_map openapi permissions private \
	rate_limits real_server search send_rate stalled_clients store_away streaming thumbnails tracing \
	verified_snapshots work_queue)
POSTGRES_TESTS := $(wildcard tests/store/test_postgres*.py) tests/store/test_transfer.py \
	$(filter-out $(WITHOUT_DATABASE), $(wildcard tests/api/test_*.py))

# Five workers on two cores, because many tests spend their time waiting.
WORKERS ?= 5
# All tests of a file run in one worker, so shared fixtures (a browser, a server, a catalogue) are made
# once. tests/conftest.py starts the slowest files first.
PYTEST = $(RUN)pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# Temporary files go to memory if there is room: no test cuts the machine's power, so none needs a disk.
MEMORY := $(shell df -Pm /dev/shm 2>/dev/null | awk 'NR > 1 && $$4 >= 4000 { print "/dev/shm" }')
test test-fast test-postgres test-cluster: export TMPDIR := $(or $(TMPDIR),$(MEMORY),/tmp)

# Tests start hundreds of Python processes. Write bytecode even if the environment forbids it, so that
# their imports are compiled only once.
test test-fast test-postgres test-cluster: export PYTHONDONTWRITEBYTECODE =

# Tested with Node.js 20.
OIDC_PROVIDER := 8.8.1

.PHONY: help demo wheel sbom audit test test-fast test-postgres test-cluster check format bench clean openid-provider

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: .venv/.installed ## serve the sample maps with a ready-made token
	$(RUN)python scripts/demo.py $(ARGUMENTS)

wheel: | $(UV) ## build the package, for pipx, uv tool or pip
	rm -f dist/mapshelf-*.whl
	$(UV) build --wheel --quiet
	@ls dist/mapshelf-*.whl

sbom: | $(UV) ## list the dependencies of the package in CycloneDX format: dist/mapshelf.cdx.json
	@mkdir -p dist
	$(UV) export --quiet --locked --no-dev --format cyclonedx1.5 --preview-features sbom-export \
		--output-file dist/mapshelf.cdx.json > /dev/null

audit: | $(UV) ## look for known vulnerabilities (api.osv.dev) in the dependencies in uv.lock
	@$(UV) audit --locked --preview-features audit-command $(ARGUMENTS) || { code=$$?; [ $$code -eq 1 ] || \
		echo "make audit: NOTHING WAS CHECKED. It needs uv 0.10.12 or newer, and access to api.osv.dev." >&2; \
		exit $$code; }

test: .venv/.developed ## run the tests
	$(PYTEST) $(ARGUMENTS)

test-fast: WORKERS = 2 # these tests do not wait, and each further worker imports all test files
test-fast: .venv/.developed ## run the fast tests, which start no other processes: about a minute
	$(PYTEST) -m 'not (browser or cluster or postgres or process or slow)' \
		--hypothesis-profile fast $(ARGUMENTS)

test-postgres: export MAPSHELF_TEST_POSTGRES_BIN ?= $(OLDEST_POSTGRES)
test-postgres: .venv/.developed ## run the tests of the API and of the PostgreSQL store on PostgreSQL 15
	MAPSHELF_TEST_DATABASE=postgres $(PYTEST) $(POSTGRES_TESTS) $(ARGUMENTS)

test-cluster: .venv/.developed ## run nodes, a primary and a standby under load, and make them fail
	$(RUN)pytest -m cluster -s -p no:cacheprovider tests/cluster $(ARGUMENTS)

check: .venv/.developed ## verify formatting, lint, types and layers
	$(UV) lock --check
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy
	$(RUN)lint-imports --no-logo

format: .venv/.developed ## format the code
	$(RUN)ruff format .
	$(RUN)ruff check --fix .

bench: .venv/.benched ## run the benchmarks (ARGUMENTS='--help' lists the options)
	$(RUN)python -m benchmarks $(ARGUMENTS)

clean: ## remove everything that make has created
	rm -rf .venv .tools dist .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

openid-provider: .tools/node/node_modules/oidc-provider ## install the OpenID provider for the tests

.tools/node/node_modules/oidc-provider:
	npm install --silent --no-audit --no-fund --no-save --prefix .tools/node oidc-provider@$(OIDC_PROVIDER)

.venv/.developed: pyproject.toml uv.lock | $(UV)
	$(UV) sync --locked --quiet
	@touch $@ .venv/.installed

.venv/.benched: .venv/.developed
	$(UV) sync --locked --quiet --group bench
	@touch $@

.venv/.installed: pyproject.toml uv.lock | $(UV)
	$(UV) sync --locked --quiet --no-dev --inexact
	@touch $@

.tools/bin/uv: # --clear: an interrupted installation may be incomplete
	$(PYTHON) -m venv --clear .tools
	.tools/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.8,<1'
