# What can be done here: `make help`.  How to work here: CONTRIBUTING.md.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
PYTHON := $(VENV)/bin/python
LINKS := platform/pinakes/hbase_schema platform/pinakes/mr_jobs platform/pinakes/qa
OTHER_PYTHONS := 3.10 3.12 3.13 3.14
HALVES := half-3.10 half-3.13
# Two processes, or as many as there are processors where there is but one.
PROCESSES := $(shell n=$$(nproc 2>/dev/null || echo 1); echo $$(( n < 2 ? 1 : n > 4 ? 4 : n )))
SHARED_OUT := -n $(PROCESSES) --dist worksteal
# A test that hangs is ended after so many seconds, and named with the stacks of its threads.
ENDED_AFTER := -o faulthandler_exit_on_timeout=true -o faulthandler_timeout=
NO_SKIPS := $(if $(filter 1,$(PINAKES_REQUIRE_SHARED)),--no-skips)
MINUTES := 10
# `make -n` runs every recipe that names MAKE, and with .ONESHELL all of it.
SUBMAKE := $(MAKE)
# Of lines and branches; less is a failure.
COVERAGE_PERCENT := 95

# Where it is set, each of the many processes that tests start would compile all modules again, and
# pytest all tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## what can be done here
	@echo "Two commands: make demo, make test.  All of them:"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

.PHONY: dev
dev: links ## the environment in .venv, from the lock file; quick when it is there
	@.ci/make-venv $(VENV) 3.11 3.12 3.13 3.14 3.10

.PHONY: dev-jobs dev-cluster dev-spark dev-study dev-qa dev-redis
dev-jobs: ## and the extra `jobs`, from its lock; so dev-cluster, dev-spark, dev-study, dev-redis, dev-qa
dev-jobs dev-cluster dev-spark dev-study dev-qa dev-redis: dev-%: dev
	@version=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	$(PYTHON) -m pip --disable-pip-version-check --quiet install --require-hashes --no-deps \
	    --no-build-isolation --use-pep517 -r requirements/lock-$$version-$*.txt

.PHONY: links
links: $(LINKS)

# For mypy, import-linter and editors, which want one tree; git ignores them.
$(LINKS):
	@ln -sfn ../../$(notdir $@) $@

.PHONY: demo
demo: dev ## crawl a small site twice, land it, dedupe it, restore a file, look at its pages
	@.ci/system-packages demo
	if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then $(SUBMAKE) --no-print-directory dev-qa; fi
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" bash demo/run.sh

# What tests and demo call besides Python: programs of the system; and readers and players by
# others, to compare with, outside the clone.
.PHONY: tools
tools: dev
	@.ci/system-packages tests
	PYTHONPATH=. $(PYTHON) -m bench.peers install

# Spark, 300 MB, and what QA compares with, for one Python only.
.PHONY: test
test: tools dev-spark dev-qa ## what fits in eighteen minutes: tests, and some on servers, YARN, in browsers
	@$(PYTHON) -c 'import platform; print("== Python", platform.python_version())'
	.ci/in-memory $(PYTHON) -m pytest $(SHARED_OUT) $(ENDED_AFTER)900 --budget $(NO_SKIPS) $(ARGS)

# By .ci/run, behind the tests: both at once, a process each, and what one said when it ends.
.PHONY: test-halves $(HALVES)
half-3.10: HALF := 0
half-3.13: HALF := 1
$(HALVES): half-%: test-%
test-halves: ## half of the fast tests on each of two other Pythons
	@$(SUBMAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target $(HALVES)

.PHONY: $(OTHER_PYTHONS:%=test-%)
$(OTHER_PYTHONS:%=test-%): test-%:
	@if ! .ci/python-for $* >/dev/null; then
	    echo "!! NOT TESTED on Python $*: there is none on this machine"
	    exit 0
	fi
	.ci/make-venv .venv-$* $*
	echo "== Python $*, $(if $(HALF),half of the )fast tests"
	PINAKES_TEST_PROFILE=brief .ci/in-memory .venv-$*/bin/python -m pytest -q \
	    $(if $(HALF),--half $(HALF),$(SHARED_OUT)) \
	    $(ENDED_AFTER)900 -m "not slow" -p no:cacheprovider -r fE

# What `make test` leaves out, in parts that run alone: CONTRIBUTING.md says which change calls for
# which.  With PINAKES_TEST_PROFILE=long properties try more examples, and every byte is changed.
PARTS := examples large faults yarn browsers
PART = PINAKES_TEST_PROFILE=long $(IN_MEMORY) $(PYTHON) -m pytest $(SHARED_OUT) $(ENDED_AFTER)7200 $(NO_SKIPS)

.PHONY: test-long
test-long: ## all parts below, one after the other: hours
	@failed=
	for part in $(PARTS); do
	    $(SUBMAKE) --no-print-directory test-$$part || failed="$$failed test-$$part"
	done
	[ -z "$$failed" ] || { echo "!! failed:$$failed" >&2; exit 1; }

.PHONY: test-examples
test-examples: IN_MEMORY := .ci/in-memory
test-examples: dev-spark dev-qa $(OTHER_PYTHONS:%=test-%) ## all fast tests on all Pythons, with more examples
	$(PART) -m "not slow" $(ARGS)

.PHONY: test-large
test-large: dev-spark dev-qa ## gigabytes, and every seed of loops and random kills
	$(PART) -m large $(ARGS)

.PHONY: test-faults
test-faults: tools dev-spark dev-qa ## servers killed, hung, full, moved; backups of a cluster
	$(PART) -m faults $(ARGS)

.PHONY: test-yarn
test-yarn: tools dev-spark dev-qa ## each job on YARN, and what happens to it there; Spark
	$(PART) -m yarn $(ARGS)

.PHONY: test-browsers
test-browsers: tools dev-spark browsers ## browsers besides Chromium, pywb's views, training
	$(PART) -m browsers $(ARGS)

.PHONY: coverage
coverage: ## `test` and `test-long` again, counting lines: hours; fails below 95%
	@rm -f .coverage .coverage.*
	failed=
	for tests in test test-long; do
	    $(SUBMAKE) --no-print-directory $$tests ARGS="--cov --cov-append --cov-report=" || failed=1
	done
	$(PYTHON) -m coverage report --fail-under=$(COVERAGE_PERCENT)
	[ -z "$$failed" ]

.PHONY: lint
lint: dev ## ruff, mypy strict, import-linter
	@for link in $(LINKS); do
	    [ -d "$$link/." ] && [ -L "$$link" ] || { echo "$$link is missing, or leads nowhere: make links" >&2; exit 1; }
	done
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	PYTHONPATH=platform:. $(VENV)/bin/lint-imports --config setup.cfg --no-logo

.PHONY: fuzz
fuzz: dev ## fuzz the reader for MINUTES=10
	@$(PYTHON) tests/support/fuzz_run.py --minutes $(MINUTES)

# LINES=100000,1000000,10000000 measures the jobs besides, in several processes of this host, and
# what one digest with a third of all captures does to them.
.PHONY: bench
bench: dev ## measure against the floor and the peers that are installed
	@PYTHONPATH=. $(PYTHON) -m bench $(ARGS)
	$(if $(LINES),PYTHONPATH=. $(PYTHON) -m bench.jobs --lines $(LINES))
	$(if $(LINES),PYTHONPATH=. $(PYTHON) -m bench.skew)
	$(if $(LINES),PYTHONPATH=. $(PYTHON) -m bench.skew --job resolve_collisions)

# ROWS=N puts so many captures' rows besides; ten million take 20 GB of disk and half an hour.
# LINES=N,N measures the jobs on YARN besides, and counts calls of the name node.
.PHONY: bench-cluster
bench-cluster: dev ## landing and answers on real HBase and HDFS, started for it: ARGS, ROWS=N
	@.ci/system-packages
	folder=$$(mktemp -d)
	trap '$(VENV)/bin/pinakes -q cluster down --folder '$$folder'; rm -rf '$$folder EXIT
	$(VENV)/bin/pinakes cluster up --with thrift2 --folder $$folder
	PYTHONPATH=. $(PYTHON) -m bench.landing $$folder/conf/pinakes.toml $(ARGS)
	$(if $(ROWS),PYTHONPATH=. $(PYTHON) -m bench.rows $$folder/conf/pinakes.toml --captures $(ROWS))
	$(if $(ROWS),PYTHONPATH=. $(PYTHON) -m bench.access --cluster $$folder/conf/pinakes.toml --captures $(ROWS))
	$(if $(LINES),PYTHONPATH=. $(PYTHON) -m bench.jobs --runner hadoop --lines $(LINES) \
	    --config $$folder/conf/pinakes.toml)

.PHONY: bench-qa
bench-qa: dev-qa ## rendering QA: looks by browser, comparisons, pairs, memory over 1,000 pages
	@PYTHONPATH=. $(PYTHON) -m bench.qa_speed $(ARGS)

.PHONY: bench-peers
bench-peers: tools ## install the peers that bench compares with, outside the clone, and wrk
	@.ci/system-packages bench

.PHONY: lock
lock: ## resolve requirements/lock-*.txt again, on every Python found
	@requirements/lock

# FOLDER=DIR for another than the user's own; ARGS='--base-port 25000 --with thrift2'.
CLUSTER_FOLDER := $(if $(FOLDER),--folder '$(FOLDER)')

.PHONY: cluster-up
cluster-up: dev ## a single-host cluster for development and tests: HDFS, HBase, YARN
	@.ci/system-packages
	$(VENV)/bin/pinakes cluster up $(CLUSTER_FOLDER) $(ARGS)

.PHONY: cluster-down
cluster-down: dev ## stop it; what it holds stays
	@$(VENV)/bin/pinakes cluster down $(CLUSTER_FOLDER)

.PHONY: bundle
bundle: dev ## the environment as one archive, for jobs; in build/
	@$(PYTHON) -m pinakes.mr_jobs.driver.environment build

.PHONY: browsers
browsers: dev-qa ## what rendering QA looks at pages with: Chromiums, Firefox, WebKitGTK
	@.ci/browsers $(PYTHON)
