# make test, make train, make docs, make slides, make bench, make clean: each makes .venv first where it is missing
PYTHON ?= python3
BIN = .venv/bin
# else each of the hundreds of processes that the tests start would compile all of xman anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: train test docs slides bench clean

train: .venv/ready
	$(BIN)/xman train mlp --data digits --loss squaredError

test: export OPENBLAS_NUM_THREADS = 1
test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

docs: .venv/ready
	rm -rf docs/build docs/generated
	$(BIN)/python -m sphinx --fail-on-warning --nitpicky --keep-going --quiet docs docs/build

slides: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'sphinx-revealjs>=3.2'
	$(BIN)/python -m sphinx -b revealjs --quiet docs docs/build/slides docs/slides.md

bench: .venv/ready
	$(BIN)/python -m tests.bench

.venv/ready: setup.cfg pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip  # an old one chooses for a minute
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[cli,grade,dev,docs,browser]'
	touch $@

clean:
	rm -rf .venv build docs/build docs/generated *.egg-info
