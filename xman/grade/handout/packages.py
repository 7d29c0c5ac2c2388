"""The grader for elsewhere: Gradescope's autograder.zip, and Autolab's Makefile and autograde.tar.

Both hold one assignment, xman's own sources and the secret of the term. The formats are those of Gradescope's
"Autograder Specifications" (https://gradescope-autograders.readthedocs.io/en/latest/specs/) and of Autolab's
"Guide for Lab Authors" (https://docs.autolabproject.com/lab/).
"""
from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import xman

from ...errors import XManError
from ..assignment import Assignment
from ..reports.autolab import problem
from ..reports.files import atomically
from .handout import fresh_folder, outside

SOURCES = "ops", "xman", "data", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"
SCRIPTS = "setup.sh", "run_autograder", "driver.sh"  # that are run

GRADE = '''"""Grades with what lies beside this file: grade.py SUBMISSION [options of `xman grade run`]."""
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
try:
    import xman
except ImportError:
    sys.path.insert(0, str(here / "sources"))

from xman.cli import main
from xman.grade.sandbox import sandbox_here

if "--unsafe" in sys.argv and getattr(sandbox_here(unsafe=True), "stays_root", False):
    sys.exit("xman: a submission would run as root, with the solution and the results before it; it was not graded")
term = (here / "term").read_text().strip()  # in no command line, where a submission could read it
sys.argv = ["xman", "grade", "run", str(here / "assignment" / "NAME"), *sys.argv[1:], "--term", term]
main()
'''

SETUP = r"""#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: Python, the sandbox, and xman in an environment of its own.
set -euo pipefail
umask 022
root="${AUTOGRADER:-/autograder}"
environment="${XMAN_ENVIRONMENT:-/opt/xman}"

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap libseccomp2
python3 -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else "Choose a newer base image: xman needs Python 3.10.")'
python3 -m venv "$environment"
"$environment/bin/pip" install --no-cache-dir "$root/source/sources[grade]"
chmod -R go= "$root/source"
"$environment/bin/xman" grade doctor --unsafe || true # for the log: the container that grades may allow more or less
"""

RUN = r"""#!/usr/bin/env bash
# Gradescope runs this for each submission. It leaves a results.json, whatever becomes of the grader.
exec 2>&1 # what is printed is shown to instructors alone
umask 022
root="${AUTOGRADER:-/autograder}"
environment="${XMAN_ENVIRONMENT:-/opt/xman}"
results="$root/results/results.json"

# These results stand from the start; the grader puts its own in their place in one step, or is stopped before.
mkdir -p "$root/results"
cat >"$results" <<'END'
{"score": 0, "output": "The grader failed: these 0 points say nothing about your work. Please tell your instructor, who finds \
the reason in the output of the autograder.", "output_format": "text", "visibility": "visible", "stdout_visibility": "hidden"}
END

# Where the container allows no sandbox, a submission runs as another user, for whom all of this is closed.
chmod -R go= "$root/source" "$root/submission" "$root/results" "$0"
work="$(mktemp -d)" || exit 0
trap 'rm -rf "$work"' EXIT
"$environment/bin/python" "$root/source/grade.py" "$root/submission" --unsafe --gradescope "$results" --out "$work/grades"
status=$?
if [ "$status" -ne 0 ]; then
    echo "Instructor: the grader ended with status $status; what it said stands above."
fi
exit 0
""".replace("\\\n", "")

MAKEFILE = r"""# Autolab: give the assessment this file as autograde-Makefile, autograde.tar, and the problems
PROBLEMS
# The image needs Python 3.10 or newer and bubblewrap: apt-get install python3 python3-venv python3-pip bubblewrap libseccomp2.
# It had better have xman's packages too, which else are installed for each submission: pip install numpy scipy click jinja2
# pyseccomp tqdm. To try it, put a submission beside this file and run make.

# Where the image allows no sandbox, nothing is graded. With SANDBOX = --unsafe a submission is run all the same: as the user who
# grades, so that it can read the solution.
SANDBOX =

# The last line is JSON, whatever happens. Without scores in it Autolab keeps those that were there, and says what went wrong.
all:
	@tar -xf autograde.tar && bash autograder/driver.sh $(SANDBOX) || echo '{"scores": {}}'

clean:
	rm -rf autograder

.PHONY: all clean
"""

DRIVER = r"""#!/usr/bin/env bash
# Autolab's make runs this for each submission, which lies in the folder: driver.sh [--unsafe]. Students see what it prints.
here="$(cd "$(dirname "$0")" && pwd)" || exit 1
handin=
for file in *; do
    case "$file" in
    Makefile | autograde-Makefile | autograde.tar | autograder | settings.json) ;;
    *) [ -e "$file" ] && handin="./$file" && break ;;
    esac
done
chmod -R go= "$here"

failed() {
    echo "The grader failed; this says nothing about your work. Please tell your instructor: $1"
    grep -s '^xman: ' "$here/errors"
    echo '{"scores": {}}'
    exit 0
}

[ -n "$handin" ] || failed "no submission was there."
python=python3
if ! python3 -c 'import click, jinja2, numpy, scipy, sys, tqdm; sys.exit(sys.version_info < (3, 10))' 2>"$here/errors"; then
    python="$here/environment/bin/python"
    { python3 -m venv "$here/environment" && "$python" -m pip install --quiet "$here/sources[grade]"; } >"$here/errors" 2>&1 ||
        failed "xman's packages are not in the image and could not be installed."
fi
"$python" "$here/grade.py" "$handin" --autolab --out "$here/grades" "$@" >"$here/output" 2>"$here/errors" ||
    failed "it ended with status $?."
tail -n 1 "$here/output" | "$python" -c 'import json, sys; json.load(sys.stdin)["scores"]' 2>/dev/null ||
    failed "it printed no scores."
grep -s '^xman: ' "$here/errors"
cat "$here/output"
"""


def gradescope(assignment: Assignment, out: Path, term: str) -> None:
    """Write the autograder for Gradescope, the file out (a .zip). The same contents give the same bytes."""
    if out.suffix != ".zip":
        raise XManError(f"Gradescope takes a .zip, not {out.name!r}: --out autograder.zip")
    outside(assignment, out)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in package_files(assignment, term, {"setup.sh": SETUP, "run_autograder": RUN}).items():
            info = zipfile.ZipInfo(name)  # of 1980
            info.create_system = 3  # Unix, whose permissions are in the upper half
            info.external_attr = (stat.S_IFREG | mode(name)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    atomically(out, packed.getvalue())


def autolab(assignment: Assignment, out: Path, term: str) -> None:
    """Write Autolab's autograde-Makefile, also as Makefile, and autograde.tar into the new folder out."""
    outside(assignment, out)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in package_files(assignment, term, {"driver.sh": DRIVER}).items():
            info = tarfile.TarInfo(f"autograder/{name}")  # of 1970, and nobody's
            info.mode, info.size = mode(name), len(data)
            archive.addfile(info, io.BytesIO(data))
    problems = "\n".join(f"#     {problem(task.number, task.title)}   "
                         f"({sum(part.points for part in task.parts):g} points)"
                         for task in assignment.tasks)
    with fresh_folder(out) as fresh:
        (fresh / "autograde.tar").write_bytes(packed.getvalue())
        for name in ("Makefile", "autograde-Makefile"):
            (fresh / name).write_text(MAKEFILE.replace("PROBLEMS", problems), "utf-8")


def mode(name: str) -> int:
    return 0o755 if name in SCRIPTS else 0o644


def package_files(assignment: Assignment, term: str, scripts: dict[str, str]) -> dict[str, bytes]:
    """All files of a package by their names: the scripts, the term, the assignment, and xman's sources."""
    name = assignment.folder.name
    texts = {**scripts, "grade.py": GRADE.replace('"NAME"', repr(name)), "term": term + "\n"}
    files = {name: text.encode() for name, text in texts.items()}
    files |= {f"assignment/{name}/{path}": data for path, data in tree(assignment.folder).items()}
    root = checkout(assignment)
    for source in SOURCES:
        inner = tree(root / source) if (root / source).is_dir() else {"": (root / source).read_bytes()}
        files |= {f"sources/{source}/{path}".rstrip("/"): data for path, data in inner.items()}
    return dict(sorted(files.items()))


def checkout(assignment: Assignment) -> Path:
    """The folder of xman's sources: that of the package, or one that the assignment lies in."""
    for root in (Path(xman.__file__).resolve().parents[1], *assignment.folder.resolve().parents):
        if all((root / name).exists() for name in SOURCES):
            return root
    raise XManError(f"an autograder brings xman's sources, and they are not here: {assignment.folder} lies "
                    "in no checkout, and the xman that runs was installed without; clone xman, and run this "
                    "in the clone")


def tree(folder: Path) -> dict[str, bytes]:
    """The files below a folder by their names, but for hidden and compiled ones."""
    inner = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {name.as_posix(): path.read_bytes() for name, path in sorted(inner.items())
            if not any(part.startswith(".") or part == "__pycache__" for part in name.parts)}
