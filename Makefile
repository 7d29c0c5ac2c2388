# make test, make train, make docs, make slides, make bench, make clean: each makes .venv first where it is missing
# make release: builds dist/ and checks it; it ends before the upload. make browser: the tour as a page of JupyterLite
# make oldest, make newest: some tests with the lowest versions of setup.cfg, and with the newest, by PYTHON=python3.10
PYTHON ?= python3
BIN = .venv/bin
# else each of the hundreds of processes that the tests start would compile all of xman anew
unexport PYTHONDONTWRITEBYTECODE

PIP = -m pip install --quiet --disable-pip-version-check
# tests that touch each package, in seconds
SOME = tests/test_first_hour.py tests/ops/test_shapes.py tests/functions/test_numpy_names.py tests/engines/test_engines.py \
       tests/tables tests/files tests/plots tests/cli/test_derivatives.py

# what is read, and codespell and proselint read first
PAGES = *.md docs assignments ops xman data/README.md tests/bench/README.md
PROSE = *.md docs/*.md docs/book/*.md docs/documents/*.md assignments/*.md assignments/*/*.md $$(find ops xman -name '*.py')

.PHONY: oldest newest train test some docs slides browser release bench clean

train: .venv/ready
	$(BIN)/xman train mlp --data digits --loss squaredError

test: export OPENBLAS_NUM_THREADS = 1
test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/python -m codespell_lib $(PAGES)
	$(BIN)/proselint check --config proselint.json $(PROSE)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

some:
	@echo $(SOME)

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

browser: .venv-release/ready
	rm -rf build/browser
	mkdir -p build/browser
	.venv-release/bin/python -m build --wheel --outdir build/browser
	.venv-release/bin/python $(PIP) 'jupyterlite-core>=0.6' 'jupyterlite-pyodide-kernel>=0.6' jupyter-server
	$(PYTHON) docs/scripts/notebook.py docs/tour.md build/browser/tour.ipynb
	cd build/browser && ../../.venv-release/bin/jupyter lite build --contents tour.ipynb --piplite-wheels *.whl --output-dir site

# all that git has is in the sdist, whose tests pass where the wheel alone is installed
release: .venv-release/ready
	rm -rf dist build/release
	.venv-release/bin/python -m build
	.venv-release/bin/twine check --strict dist/*
	.venv-release/bin/check-wheel-contents dist/*.whl
	.venv-release/bin/pyroma --min 8 dist/*.tar.gz
	mkdir -p build/release && tar xzf dist/*.tar.gz -C build/release --strip-components 1
	git ls-files | while read -r file; do test -f "build/release/$$file" || { echo "the sdist lacks $$file"; exit 1; }; done
	$(PYTHON) -m venv build/release/.venv
	build/release/.venv/bin/python $(PIP) "$$(ls dist/*.whl)[cli,tables,fast]" pytest pytest-timeout pytest-xdist hypothesis
	cd build && release/.venv/bin/python -c "import numpy, xman; assert xman.grad(numpy.sin)(0.0) == 1.0"
	cd build/release && .venv/bin/python -m pytest --numprocesses auto $(SOME)
	@echo; echo "dist/ is checked. What comes next stands in CONTRIBUTING.md, under \"A release\"; nothing was uploaded."
	@! grep -n OWNER setup.cfg || echo "setup.cfg has no address of the repository yet: write it there first."

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

.venv-release/ready: setup.cfg
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python $(PIP) --upgrade pip build check-wheel-contents pyroma twine
	touch $@

.venv-newest/ready: setup.cfg
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python $(PIP) --no-compile --editable '.[cli,tables,fast]' \
	    pytest pytest-timeout pytest-xdist hypothesis pytest-run-parallel
	touch $@

clean:
	rm -rf .venv* build dist docs/build docs/generated *.egg-info
