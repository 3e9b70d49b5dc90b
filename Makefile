# `make run` and `make test` need a Python of 3.11 or newer, make, and a package index: nothing else.

TIER ?= fast
PY := .venv/bin/python
READY := .venv/.installed
RUNS := .venv/.runs
SANDBOX := .venv/.sandbox
CHROMIUM := .venv/.chromium
PEERS := .venv/.peers
CLIS := .venv/clis/.installed

# Without bytecode every command would start more than twice as slowly as it does for users.
unexport PYTHONDONTWRITEBYTECODE
export PYTHON PREFIX

.DEFAULT_GOAL := help
.PHONY: help venv run dashboard services services-stop install uninstall test test-clis check fix bench faults teeth requirements trace golden picture \
	pins clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(READY)  ## make .venv and install Moot into it, editable

$(READY): pyproject.toml requirements/dev.txt tools/venv.sh
	@tools/venv.sh

# What the demo needs and nothing else, where nothing is installed yet.
$(RUNS): pyproject.toml requirements/dev.txt tools/venv.sh
	@tools/venv.sh run

$(SANDBOX): tools/bwrap.sh | $(READY)
	@tools/bwrap.sh

$(CHROMIUM): tools/chromium.sh | $(READY)
	@tools/chromium.sh

$(CLIS): pyproject.toml tools/clis.sh | $(READY)
	@tools/clis.sh

$(PEERS): pyproject.toml requirements/dev.txt | $(READY)
	@$(PY) -m pip install --quiet --disable-pip-version-check -c requirements/dev.txt -e '.[bench]' && touch $@ || \
		echo "the peers could not be installed; the workloads run without them"

dashboard: $(READY)  ## the page with hot reload, against the hub of your home: for those who change it
	@$(PY) -m tools.page dev

run: $(if $(STORE)$(LOG),$(READY),$(RUNS))  ## a demo team that talks; needs no API key. STORE=postgres LOG=kafka put it on the servers of make services
	@$(PY) -m tools.page --or-without
ifneq ($(filter postgres,$(STORE))$(filter kafka,$(LOG)),)
	@$(PY) -m tools.services >/dev/null
	@. ./.services/env && export $(if $(filter postgres,$(STORE)),MOOT_STORE__URL="$$MOOT_PG_URL") \
		$(if $(filter kafka,$(LOG)),MOOT_LOG__URL="kafka://$$MOOT_KAFKA" MOOT_LOG__TOPIC_PREFIX="run$$(date +%s).") && .venv/bin/moot demo || [ $$? -eq 130 ]
else
	@.venv/bin/moot demo || [ $$? -eq 130 ]  # 130: left by Ctrl+C, which is no error
endif

services: $(READY)  ## PostgreSQL and Kafka for trying out; .services/env says where
	@$(PY) -m tools.services

services-stop: $(READY)  ## end them; their data stays
	@$(PY) -m tools.services stop

install: $(READY)  ## put moot onto your PATH: a link in PREFIX/bin, which is ~/.local/bin
	@tools/link.sh install

uninstall:  ## take that link away again
	@tools/link.sh uninstall

test: $(READY) $(SANDBOX) $(CHROMIUM)  ## everything: check, all suites, requirements; each with its time budget
	@$(PY) -m tools.suites test

test-clis: $(READY) $(CLIS)  ## the real claude and codex, with a scripted model; downloads 500 MB once
	@$(PY) -m tools.suites clis

check: $(READY)  ## format, lint, types, import contracts, architecture and unit tests, in 90 s
	@$(PY) -m tools.suites check

fix: $(READY)  ## format, and mend what ruff can mend
	@.venv/bin/ruff check --fix . || true
	@.venv/bin/ruff format .

bench: $(READY) $(PEERS)  ## workloads against their peers; W="W1 W5" picks some
	@$(PY) -m bench $(W)

faults: $(READY)  ## kills and broken disks; TIER=fast (default) or nightly: ten times larger, and 10,000 questions at once
	@MOOT_TIER=$(TIER) $(PY) -m tools.suites faults

teeth: $(READY)  ## plant known defects in a copy, one by one: a named test must turn red
	@$(PY) tools/teeth.py

requirements: $(READY)  ## requirement id, its tests, pass or fail
	@$(PY) -m tools.requirements

trace: $(READY)  ## what a message runs through before its verb, door by door; T=-v lists it
	@$(PY) -m tools.trace $(T)

golden: $(READY)  ## keep a home of this version for all later ones to open: once per release
	@$(PY) -m tools.golden

picture: $(READY) $(CHROMIUM)  ## make the pictures of the documentation anew: the demo, and the page
	@$(PY) -m tools.record
	@$(PY) -m tools.page_pictures

pins: $(READY)  ## renew requirements/dev.txt (needs uv)
	@tools/pins.sh

clean:  ## remove .venv and everything the tools left behind
	rm -rf .venv .results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis artifacts dist build src/moot/_web dashboard/node_modules
	find src tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
