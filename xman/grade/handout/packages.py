"""The grader for other systems: Gradescope's autograder.zip, and Autolab's Makefile and autograde.tar.

Both hold one assignment, xman's own sources and the secret of the term. The formats are those of Gradescope's
"Autograder Specifications" (https://gradescope-autograders.readthedocs.io/en/latest/specs/) and of Autolab's
"Guide for Lab Authors" (https://docs.autolabproject.com/lab/).
"""
from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import xman

from ...errors import XManError
from ...files.whole import write_whole
from ..assignment import Assignment
from ..reports.platforms import autolab_problem
from .handout import fresh_folder, outside

SOURCES = "ops", "xman", "data", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"
MODES = dict.fromkeys(("setup.sh", "run_autograder", "driver.sh"), 0o755)  # modes of files that are run
TEMPLATES = Path(__file__).parent / "templates"

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

box = sandbox_here(unsafe=True) if "--unsafe" in sys.argv else None
if getattr(box, "stays_root", False):
    sys.exit("xman: a submission would run as root, with the solution and the results before it; it was not graded")
if not getattr(box, "closes", True):
    sys.exit("xman: a submission could read xman's sources, and so answers, in this container; it was not graded")
term = (here / "term").read_text().strip()  # in no command line, where a submission could read it
sys.argv = ["xman", "grade", "run", "NAME", *sys.argv[1:], "--assignments", str(here / "assignment"), "--term", term]
main()
'''


def gradescope(assignment: Assignment, out: Path, term: str,
               beside: Mapping[str, bytes] | None = None) -> None:
    """Write the autograder for Gradescope, the file out (a .zip). The same contents give the same bytes.

    beside: the files that lie beside the folder of the assignment, such as term.toml.
    """
    if out.suffix != ".zip":
        raise XManError(f"Gradescope takes a .zip, not {out.name!r}: --out autograder.zip")
    outside(assignment, out)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in package_files(assignment, term, beside, "setup.sh", "run_autograder").items():
            info = zipfile.ZipInfo(name)  # its date is 1980
            info.create_system = 3  # Unix, where the upper half of external_attr has the permissions
            info.external_attr = (stat.S_IFREG | MODES.get(name, 0o644)) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    write_whole(out, packed.getvalue())


def autolab(assignment: Assignment, out: Path, term: str, beside: Mapping[str, bytes] | None = None) -> None:
    """Write Autolab's autograde-Makefile, also as Makefile, and autograde.tar into the new folder out."""
    outside(assignment, out)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in package_files(assignment, term, beside, "driver.sh").items():
            info = tarfile.TarInfo(f"autograder/{name}")  # its date is 1970, its owner is root
            info.mode, info.size = MODES.get(name, 0o644), len(data)
            archive.addfile(info, io.BytesIO(data))
    points = [f"({sum(part.points for part in task.parts):g} points)" for task in assignment.tasks]
    names = [autolab_problem(task.number, task.title) for task in assignment.tasks]
    problems = "\n".join(f"#     {name}   {maximum}" for name, maximum in zip(names, points, strict=True))
    makefile = (TEMPLATES / "Makefile").read_text("utf-8")
    with fresh_folder(out) as fresh:
        (fresh / "autograde.tar").write_bytes(packed.getvalue())
        for name in ("Makefile", "autograde-Makefile"):
            (fresh / name).write_text(makefile.replace("PROBLEMS", problems), "utf-8")


def package_files(assignment: Assignment, term: str, beside: Mapping[str, bytes] | None,
                  *scripts: str) -> dict[str, bytes]:
    """All files of a package by their names: the scripts, the term, the assignment, and xman's sources."""
    name = assignment.folder.name
    files = {script: (TEMPLATES / script).read_bytes() for script in scripts}
    files |= {"grade.py": GRADE.replace('"NAME"', repr(name)).encode(), "term": f"{term}\n".encode()}
    files |= {f"assignment/{name}/{path}": data for path, data in tree(assignment.folder).items()}
    files |= {f"assignment/{path}": data for path, data in (beside or {}).items()}
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
                    "in no checkout; clone xman, and run this in the clone")


def tree(folder: Path) -> dict[str, bytes]:
    inner = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    hidden = lambda name: any(part.startswith(".") or part == "__pycache__" for part in name.parts)
    return {x.as_posix(): path.read_bytes() for x, path in sorted(inner.items()) if not hidden(x)}
