# make test, make train, make docs, make slides, make bench, make clean: each makes .venv first where it is missing
# make oldest, make newest: some tests with the lowest versions of setup.cfg, and with the newest, by PYTHON=python3.10
PYTHON ?= python3
BIN = .venv/bin
# else each of the hundreds of processes that the tests start would compile all of xman anew
unexport PYTHONDONTWRITEBYTECODE

PIP = -m pip install --quiet --disable-pip-version-check
# tests that touch each package, in seconds
SOME = tests/test_first_hour.py tests/ops/test_shapes.py tests/functions/test_numpy_names.py tests/engines/test_engines.py \
       tests/tables tests/files tests/plots tests/cli/test_derivatives.py

.PHONY: oldest newest train test docs slides bench clean

train: .venv/ready
	$(BIN)/xman train mlp --data digits --loss squaredError

test: export OPENBLAS_NUM_THREADS = 1
test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

oldest newest: export OPENBLAS_NUM_THREADS = 1
oldest: .venv-oldest/ready
	.venv-oldest/bin/python -m pytest --numprocesses auto $(SOME)

newest: .venv-newest/ready
	.venv-newest/bin/python -m pytest --numprocesses auto $(SOME)
	.venv-newest/bin/python -m pytest --parallel-threads 4 tests/ops/test_shapes.py tests/functions/test_numpy_names.py

docs: .venv/ready
	rm -rf docs/build docs/generated
	$(BIN)/python -m sphinx --fail-on-warning --nitpicky --keep-going --quiet docs docs/build

slides: .venv/ready
	$(BIN)/python $(PIP) 'sphinx-revealjs>=3.2'
	$(BIN)/python -m sphinx -b revealjs --quiet docs docs/build/slides docs/slides.md

bench: .venv/ready
	$(BIN)/python -m tests.bench

.venv/ready: setup.cfg pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --upgrade pip  # an old one chooses for a minute
	$(BIN)/python $(PIP) --no-compile --editable '.[cli,grade,dev,docs,browser]'
	touch $@

# pyparsing: what Matplotlib 3.9 calls was deprecated after it
.venv-oldest/ready: setup.cfg
	$(PYTHON) -m venv .venv-oldest
	sed -n 's/^    \([A-Za-z_-]*\)>=/\1==/p' setup.cfg > .venv-oldest/lowest.txt
	.venv-oldest/bin/python $(PIP) --no-compile -c .venv-oldest/lowest.txt 'pyparsing<3.3' --editable '.[cli,tables,fast]' \
	    pytest pytest-timeout pytest-xdist hypothesis
	touch $@

.venv-newest/ready: setup.cfg
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python $(PIP) --no-compile --editable '.[cli,tables,fast]' \
	    pytest pytest-timeout pytest-xdist hypothesis pytest-run-parallel
	touch $@

clean:
	rm -rf .venv* build docs/build docs/generated *.egg-info
