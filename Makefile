# make demo   set up .venv and run the main job
# make test   set up .venv, then ruff, mypy and the tests
# make quick  the same without the tests marked slow
# make verify the tests that are slow by nature; FULL=1 adds the long checks, for hours
# make lint   ruff and mypy alone        make format  let ruff rewrite the files
# make docs   the pages, into out/site   make bench   the benchmarks; QUICK=1 a short form
# make release  what a release needs, built and checked; nothing is uploaded
# make clean  remove .venv and everything generated
#
# PYTHON=python3.12 picks the interpreter, PYTEST_ARGS="-n 2 tests/unit" what pytest gets.

PYTHON ?= python3
PYTEST_ARGS ?=

VENV := .venv
RUN := $(VENV)/bin/python
# Old pips take a build's constraints from PIP_CONSTRAINT, new ones from PIP_BUILD_CONSTRAINT.
PIP_INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(RUN) -m pip install -qq

.PHONY: release demo test quick verify lint format docs bench clean

demo: $(VENV)/.installed-demo
	@$(RUN) -m fullrank demo

test: lint
	$(RUN) -m pytest -m "not verify" $(PYTEST_ARGS)

quick: lint
	$(RUN) -m pytest -m "not slow and not verify" $(PYTEST_ARGS)

# What CI runs is `.ci/run`: this, the tests, the lowest versions and the other Pythons.
verify: $(VENV)/.installed-test
	$(RUN) -m pytest -m verify $(PYTEST_ARGS)
	$(if $(FULL),$(RUN) tools/verify.py)

lint: $(VENV)/.installed-test
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

format: $(VENV)/.installed-test
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

docs: $(VENV)/.installed-test
	$(RUN) docs/_tools/write_pages.py
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict

bench: $(VENV)/.installed-bench
	@$(RUN) benchmarks $(if $(QUICK),--quick)

# Nothing else needs twine, so it has an environment of its own.
release: $(VENV)/.created
	$(RUN) -m venv --without-pip $(VENV)-release
	$(RUN) -m pip --python $(VENV)-release/bin/python install -qq \
		pip build==1.6.1 cffconvert==2.0.0 trove-classifiers twine==7.0.0
	$(VENV)-release/bin/python tools/release.py

clean:
	rm -rf $(VENV) $(VENV)-* build dist out .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is touched when its step has succeeded: what was cut short is done again, what is done is
# not looked at twice. The test set-up contains the demo's, hence both its stamps.

$(VENV)/.installed-demo: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing fullrank into $(VENV) (about a minute, the first time only) ..."
	@$(PIP_INSTALL) --editable ".[cli,plot,report]"
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing fullrank and what its tests need into $(VENV) (a few minutes, the first time only) ..."
	@$(PIP_INSTALL) --editable ".[cli,plot,report,torch,cuda,ray,docs,test]"
	@touch $@ $(VENV)/.installed-demo

# Of the libraries that the benchmarks stand beside, what cannot be had here is left out there.
$(VENV)/.installed-bench: $(VENV)/.installed-test
	@echo "Installing what the benchmarks compare with into $(VENV) ..."
	@for peer in $$($(RUN) tools/floors.py --only bench); do \
		$(PIP_INSTALL) "$$peer" || echo "$$peer cannot be installed here."; done
	@touch $@

# Where Debian's python3-venv is missing, the pip that is there can serve the new environment.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fullrank needs Python 3.11 or newer and $(PYTHON) is %d.%d: try make PYTHON=python3.12" % sys.version_info[:2])'
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { \
		$(PYTHON) -m venv --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(VENV)/bin/python install -qq pip; }
	@touch $@
