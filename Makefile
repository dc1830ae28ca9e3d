# factdrift: every target is one command. `make help` lists them.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
ENGINE ?= duckdb
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

RECIPE ?=
DUMP ?=
OLDER ?=
NEWS ?=
KEEP ?=
PAGES ?=
TREX ?=
GOLD ?=
SNAPSHOT ?=
VERSION ?=
# A glob as its files: the shell would make all but the first of them words of their own.
files = $(or $(wildcard $(1)),$(1))
release_options = $(RECIPE) --jobs $(JOBS) --engine $(ENGINE) $(foreach d,$(call files,$(DUMP)),--dump $(d)) \
	$(if $(OLDER),--older $(OLDER)) $(foreach n,$(call files,$(NEWS)),--news $(n)) $(if $(KEEP),--keep $(KEEP)) $(foreach p,$(call files,$(PAGES)),--pages $(p)) $(foreach t,$(call files,$(TREX)),--trex $(t)) $(foreach g,$(call files,$(GOLD)),--gold $(g)) \
	$(if $(SNAPSHOT),--snapshot-date $(SNAPSHOT)) \
	$(if $(VERSION),--version $(VERSION))

LAYOUT ?=
DATASET ?=
PLATFORM ?= static
N ?=
UNTIL ?=
RESULTS ?=
AGAIN ?=
OPEN ?=
POST ?=
CODE ?=
COMPLETE ?=
SPLIT_PAGES ?=
EXPERT ?=
EXPERTS ?=
FEEDBACK ?=
hits_options = $(LAYOUT) --platform $(PLATFORM) $(if $(DATASET),--dataset $(DATASET)) \
	$(if $(N),--n $(N)) $(foreach n,$(call files,$(NEWS)),--news $(n)) $(if $(PAGES),--pages $(PAGES)) $(if $(EXPERT),--expert) \
	$(if $(UNTIL),--until $(UNTIL)) $(if $(AGAIN),--again) $(if $(OPEN),--open) $(delivery)
delivery = $(if $(POST),--post '$(POST)') $(if $(CODE),--code '$(CODE)') \
	$(if $(COMPLETE),--complete '$(COMPLETE)') $(if $(SPLIT_PAGES),--split-pages)
judgments_options = $(RESULTS) $(if $(EXPERTS),--experts $(EXPERTS)) $(if $(FEEDBACK),--feedback $(FEEDBACK))

BENCHES ?= mine period_diff questions filters timeqa pages align wmt

.DEFAULT_GOAL := help
.PHONY: help setup lm release templates hits judgments bands layouts test check bench golden sample lock clean

help: ## list the targets
	@echo "make TARGET [RECIPE=builders/recipes/X.yaml] [DUMP=wikidata-YYYYMMDD-all.json.gz] [VERSION=1.2.3]"
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(VENV)/.run ## make .venv with what a release needs

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@echo "setting up $(VENV), once"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what a release needs, once (about a minute)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "installing what the tests need, once (a few minutes: PySpark is large)"
	@$(PIP) --editable '.[dev,spark]'
	@touch $@

$(VENV)/.lm: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing everything, torch too, once (some minutes)"
	@$(PIP) --editable '.[dev,spark,lm]'
	@touch $(VENV)/.run $(VENV)/.dev $@

lm: $(VENV)/.lm ## install what language models need (torch), for their backends and tests

release: $(VENV)/.run ## build the sample recipes, or RECIPE=…, into releases/ (DUMP=… for a real dump)
	@$(BIN)/python -m builders release $(release_options)

templates: $(VENV)/.run ## check templates/*.yaml and print an example of each
	@$(BIN)/python -m builders templates

hits: $(VENV)/.run ## rows out to people: LAYOUT=… [DATASET=…] PLATFORM=static|mturk|label_studio [N=…] [OPEN=1]
	@$(BIN)/python -m builders hits $(hits_options)

judgments: $(VENV)/.run ## what came back, RESULTS=…, into judgments/ with a report [EXPERTS=ids.txt] [FEEDBACK=folder]
	@$(BIN)/python -m builders judgments $(judgments_options)

bands: $(VENV)/.run ## toxicity thresholds band by band, again and again: [DATASET=streamingqa] [PLATFORM=…]
	@$(BIN)/python -m builders bands $(DATASET) --platform $(PLATFORM) $(if $(AGAIN),--again) $(delivery)

layouts: $(VENV)/.run ## check annotation/layouts and list them, or LAYOUT=folder alone
	@$(BIN)/python -m builders layouts $(LAYOUT)

SLOW ?=
test: $(VENV)/.dev ## run the tests; SLOW=1: those of a minute, too
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile $(if $(SLOW),,-m "not slow")

check: $(VENV)/.dev ## ruff, mypy --strict, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/.dev ## measure speed; ratios against a baseline of the same run
	@missed=; for b in $(BENCHES); do \
		echo "== $$b"; $(BIN)/python -m bench.$$b || missed="$$missed $$b"; \
	done; [ -z "$$missed" ] || { echo "missed a mark:$$missed"; exit 1; }

golden: $(VENV)/.dev ## rewrite the expected outputs in tests/golden, to be read in review
	@$(BIN)/python -m pytest tests/test_golden.py --golden

sample: $(VENV)/.run ## make the samples anew from their YAML and text
	@$(BIN)/python samples/wikidata/make.py
	@$(BIN)/python samples/news/make.py
	@$(BIN)/python samples/wikipedia/make.py

lock: $(VENV)/.dev ## write constraints.txt from what .venv holds
	@$(BIN)/python -m pip list --format=freeze --exclude-editable --disable-pip-version-check \
		| grep -viE '^(pip|setuptools|wheel)==' | sed 's/+cpu//' > constraints.txt

clean: ## remove build/ (releases/ and .venv stay)
	rm -rf build
