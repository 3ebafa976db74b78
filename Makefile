# Two commands matter: `make demo` runs the main job, `make test` passes the tests.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
.DEFAULT_GOAL := help
# Where this is set, each of the hundreds of processes that the tests start compiles NumPy, pandas and numba for 3 s.
unexport PYTHONDONTWRITEBYTECODE

help:  ## Say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# One stamp per set of extras: nothing is installed twice, and a changed pyproject.toml installs again. Modules are
# compiled when they are first imported: compiling all of them at once takes longer than all else here.
define install
	@echo "== creating $(VENV) and installing lbg-recsys$(1) (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.$(2)'
	@touch $@ $(VENV)/.run
endef

$(VENV)/.run: pyproject.toml
	$(call install)

$(VENV)/.dev: pyproject.toml
	$(call install, with its development tools,[dev])

$(VENV)/.bench: pyproject.toml
	$(call install, with the rivals it is measured against,[bench])

demo: $(VENV)/.run  ## Cross-validate beside Surprise on MovieLens-100K and run the paper's forced prediction
	@$(BIN)/lbg-recsys datasets fetch ml-100k
	@$(BIN)/lbg-recsys demo

smoke: $(VENV)/.dev  ## Run the main job and an explanation on the sample; compiles most of what the tests use
	@echo "== running the main job on the sample"
	@$(BIN)/lbg-recsys demo sample --folds 2 --quiet
	@mkdir -p $(VENV)/smoke && cd $(VENV)/smoke && run=$(abspath $(BIN))/lbg-recsys && printf 'item,rating\n5,4\n9,2\n' > me.csv \
		&& $$run fit sample -o model.lbg --param n_sweeps=20 --quiet && $$run explain model.lbg --new-user me.csv --item 3

PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

test:  ## Run the whole test-suite: the fast tests and, if they pass, the slow ones
	@$(MAKE) test-fast
	@$(MAKE) test-slow

test-fast: $(VENV)/.dev  ## Run the tests that take a few seconds at most, and stop at the third failure
	@echo "== running the fast tests"
	@$(PYTEST) -m "not slow" --maxfail 3

test-slow: $(VENV)/.dev  ## Run the other tests
	@echo "== running the slow tests"
	@$(PYTEST) -m slow

fuzz: $(VENV)/.dev  ## Throw 100,000 and more random and mutated files at load and at the ratings reader
	@echo "== fuzzing model files and the ratings reader"
	@LBG_FUZZ_EXAMPLES=10000 $(BIN)/python -m pytest -q -n auto tests/persistence/test_fuzz.py tests/readers/test_ratings_fuzz.py

# Cases of each of eleven kinds of fuzzing: a million in all, about 40 minutes on two cores. The rest takes four.
FUZZ ?= 91000
stress: $(VENV)/.dev  ## Attack it: fuzzing, odd arguments, kills, full disks, threads
	@echo "== fuzzing with $(FUZZ) cases of each kind (make stress FUZZ=10000 for five minutes of it), then everything else"
	@LBG_FUZZ_EXAMPLES=$(FUZZ) LBG_ODD_EXAMPLES=5000 LBG_STRESS=10 $(PYTEST) -q \
		tests/persistence/test_fuzz.py tests/readers/test_ratings_fuzz.py tests/properties tests/test_robustness.py \
		tests/core/gibbs/test_joint_distribution.py tests/serving/test_server.py

lint: $(VENV)/.dev  ## Check style, security rules and types
	@echo "== ruff" && $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@echo "== mypy" && $(BIN)/mypy

bench: $(VENV)/.bench  ## Measure against the rivals; writes benchmarks/results/*.json
	@$(BIN)/python -m benchmarks.run

docs: $(VENV)/.dev  ## Build the documentation into docs/_build/html; warnings and broken links are errors
	@echo "== building the documentation"
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

build: $(VENV)/.dev  ## Build the source archive and the wheel into dist/ and check their metadata
	@rm -rf dist && $(BIN)/python -m build --quiet && $(BIN)/python -m twine check --strict dist/*

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) build dist docs/_build docs/api/generated *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help demo smoke test test-fast test-slow fuzz stress lint bench docs build clean
