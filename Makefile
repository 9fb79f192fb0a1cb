# make demo   sets everything up with pip alone and runs the demo
# make test   sets everything up, Debian tools too when it may, and runs every check
# make help   lists the rest

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet --prefer-binary -c requirements.lock
PYTEST := $(BIN)/python -m pytest -c tests/pytest.ini
WORKERS ?= 2
# Whatever tools write when they are first used stays in the environment.
CACHE  := $(CURDIR)/$(VENV)/cache
CACHES := XDG_CACHE_HOME="$(CACHE)" MPLCONFIGDIR="$(CACHE)/matplotlib" ZIG_GLOBAL_CACHE_DIR="$(CACHE)/zig" \
          HYPOTHESIS_STORAGE_DIRECTORY="$(CACHE)/hypothesis"
# What to hand to the program: make demo ARGS='-o out', make test ARGS='-k levinson'
ARGS   ?=
# make test TOOLS=optional runs what the machine can run and reports the rest, instead of failing
TOOLS  ?= required

.PHONY: help demo test tools lint campaign docs figures lock clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: $(VENV)/demo.stamp ## set up with pip alone, then train kernel machines on an emulated Cortex-M4
	@$(BIN)/kerncast demo $(ARGS)

test: tools lint ## set up and run every check; closes with what ran on which back end
	@$(CACHES) $(if $(filter required,$(TOOLS)),KERNCAST_REQUIRE_TOOLS=1) $(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder tests $(ARGS)

tools: $(VENV)/test.stamp ## install the Debian tools that the tests use, or name the missing ones; fill caches
	@.ci/tools $(TOOLS) $(BIN)/python
	@$(CACHES) $(BIN)/python .ci/warm.py "$(CACHE)/warm"

lint: $(VENV)/test.stamp ## ruff, mypy --strict, and the phrases that texts do not use
	@$(BIN)/python -m ruff check .
	@$(BIN)/python tests/language/check.py
	@cd $(VENV)/src && MYPYPATH=. ../bin/python -m mypy --config-file kerncast/pyproject.toml \
	    --cache-dir ../mypy-cache -p kerncast.sim -p kerncast.codegen -p kerncast.hw -p kerncast.lab -p kerncast.cli

campaign: export KERNCAST_CAMPAIGN = 1
campaign: tools ## the long searches: random property tests, every size, fuzzing, soaks; hours, not minutes
	@$(CACHES) $(PYTEST) -n $(WORKERS) tests $(ARGS)

docs: $(VENV)/test.stamp ## build the documentation site into build/site; no network, built or read
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

figures: tools ## measure every figure of README and docs again (hours); ARGS=docs/measured/costs.md for one page
	@$(BIN)/python .ci/requirements.py papers > $(VENV)/papers.txt && $(PIP) -r $(VENV)/papers.txt
	@$(BIN)/python -m kerncast.benchmarks.figures --measure $(ARGS)

lock: $(VENV)/test.stamp ## choose today's versions of every requirement
	@$(BIN)/python .ci/lock.py > requirements.lock.new && mv requirements.lock.new requirements.lock

clean: ## remove everything that make made
	rm -rf $(VENV) build *.egg-info .ruff_cache tests/.pytest_cache requirements.lock.new
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- setting up: each stamp is newer than what it was made from ----
$(VENV)/demo.stamp: $(VENV)/linked.stamp pyproject.toml requirements.lock
	@echo "kerncast: installing what the demo needs (about a minute, once)"
	@$(BIN)/python .ci/requirements.py demo > $(VENV)/demo.txt
	@$(PIP) -r $(VENV)/demo.txt
	@touch $@

$(VENV)/test.stamp: $(VENV)/demo.stamp
	@echo "kerncast: installing what the tests need (about a minute, once)"
	@$(BIN)/python .ci/requirements.py test dev > $(VENV)/test.txt
	@$(PIP) -r $(VENV)/test.txt
	@$(PIP) --no-deps aeon==1.6.0 # its data files only: its own requirements exclude versions that the lock chooses
	@touch $@

# The repository root is the package, whatever the checkout is called: a link with the right name, found
# through a .pth file. Nothing is built, and an edit is live.
$(VENV)/linked.stamp: .ci/kerncast.sh
	@.ci/python-ok $(PYTHON)
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(VENV)/src && ln -sfn ../.. $(VENV)/src/kerncast
	@$(BIN)/python -c "import pathlib, sysconfig as s; site = pathlib.Path(s.get_path('purelib')); \
	    (site / 'kerncast.pth').write_text('../' * len(site.relative_to(pathlib.Path('$(VENV)').resolve()).parts) + 'src\n')"
	@cp .ci/kerncast.sh $(BIN)/kerncast && chmod +x $(BIN)/kerncast
	@touch $@
