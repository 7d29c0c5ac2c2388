"""The files inside the sandbox: Python, its shared libraries, the requested packages, and no more."""
from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from xman.errors import XManError

BRINGS = {"numpy": (), "scipy": ("numpy",), "xman": ("numpy", "scipy", "ops"), "ops": ()}
# parts of xman: the grader, models that assignments ask for, and parts that not every installation has
NOT_SHOWN = "grade", "models", "cli", "datasets"


class SandboxView:
    """A root directory that grows: bubblewrap's arguments, in the order of mounting."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self._shown = {"/"}

    def folder(self, inside: str) -> None:
        """Add a folder, and those above it. (bubblewrap would make these too, but closed to other users.)"""
        for path in [*reversed([str(above) for above in PurePosixPath(inside).parents]), inside]:
            if path not in self._shown:
                self._shown.add(path)
                self.arguments += ["--perms", "0755", "--dir", path]

    def show(self, source: str | Path, inside: str, option: str = "--ro-bind") -> None:
        """Add a file or folder of the host, read-only; with option="--symlink" a link to it."""
        self.folder(str(PurePosixPath(inside).parent))
        self._shown.add(inside)
        self.arguments += [option, str(source), inside]

    def memory(self, inside: str, mib: int) -> None:
        self.folder(str(PurePosixPath(inside).parent))
        self.arguments += ["--perms", "1777", "--size", str(mib * 2 ** 20), "--tmpfs", inside]

    def library(self, source: Path, inside: str) -> None:
        """Add a folder of libraries, read-only, with an empty folder in place of other packages."""
        self.show(source, inside)
        for folder in [*source.glob("*-packages"), *source.glob("python3*/*-packages")]:
            mask = f"{inside}/{folder.relative_to(source)}"
            self.arguments += ["--perms", "0555", "--tmpfs", mask, "--remount-ro", mask]


def python() -> Path:
    """The interpreter itself, outside any virtual environment."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()


def standard_libraries() -> set[Path]:
    """The folders of Python's own library, outside any virtual environment."""
    places = {"platbase": sys.base_exec_prefix}
    return {Path(sysconfig.get_path(name, vars=places)).resolve() for name in ("stdlib", "platstdlib")}


def show_python(view: SandboxView) -> tuple[str, dict[str, str]]:
    """Add this Python; give its path inside, and the environment that it needs."""
    base, program = Path(sys.base_prefix).resolve(), python()
    if base == Path("/usr"):
        view.show(program, str(program))
        for folder in sorted(standard_libraries()):
            if not any(str(folder).startswith(f"{shown}/") for shown in library_folders()):
                view.library(folder, str(folder))
        return str(program), {}
    inside = f"/python/bin/{program.name}"
    view.show(program, inside)
    if (base / "conda-meta").is_dir():  # conda's packages use the libraries in its lib/
        view.library(base / "lib", "/python/lib")
    else:
        for folder in sorted(standard_libraries()):
            view.library(folder, f"/python/{folder.relative_to(base)}")
        for file in sorted((base / "lib").glob("libpython*.so*")):
            view.show(file.resolve(), f"/python/lib/{file.name}")
    return inside, {"LD_LIBRARY_PATH": "/python/lib"}


@functools.cache
def readable_files() -> tuple[list[str], list[str]]:
    """(folders whose names a worker without a root of its own may read, what it may read whole).

    These are Python and shared libraries, without the packages that lie among them.
    """
    listable: set[Path] = set()
    system = map(Path, ("/lib", "/lib64", "/usr/lib", "/usr/lib64"))
    folders = {*standard_libraries(), *library_folders(), *system}
    files: set[Path] = {python(), *map(Path, ("/etc/ld.so.cache", "/etc/alternatives"))}
    files |= {Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom")}
    files |= {*Path(sys.base_prefix, "lib").glob("libpython*.so*")}

    def add_without_packages(folder: Path) -> None:
        """The folder, or, where packages lie in it or in its folders of Python, the entries that are none."""
        if not [*folder.glob("*-packages"), *folder.glob("python3*/*-packages")]:
            files.add(folder)
            return
        listable.add(folder)
        for entry in folder.iterdir():
            if re.fullmatch(r"python3[.\d]*", entry.name):
                add_without_packages(entry)
            elif not entry.name.endswith("-packages"):
                files.add(entry)
    for folder in folders:
        if folder.is_dir():
            add_without_packages(folder)
    return sorted(map(str, listable)), sorted(map(str, files))


@functools.cache
def library_folders() -> tuple[Path, ...]:
    """The folders of the system's shared libraries, with symbolic links resolved."""
    multiarch = sysconfig.get_config_var("MULTIARCH")
    for names in ([f"/lib/{multiarch}", f"/usr/lib/{multiarch}"], ["/lib64", "/usr/lib64"],
                  ["/lib", "/usr/lib"]):
        folders = dict.fromkeys(Path(name).resolve() for name in names if Path(name).is_dir())
        if any(any(folder.glob("libc.*so*")) for folder in folders):
            return tuple(folders)
    raise XManError("the C library was found in none of /lib, /lib64, /usr/lib and /usr/lib64, so the "
                    "sandbox cannot show it")


def show_libraries(view: SandboxView) -> None:
    """Add the shared libraries and the program that loads them; links stay links."""
    for name in ("/lib", "/lib64"):
        if Path(name).is_symlink():
            view.show(os.readlink(name), name, "--symlink")
    for folder in library_folders():
        view.library(folder, str(folder))
    for name in ("/lib", "/lib64"):
        for loader in sorted(Path(name).glob("ld-*.so*")):
            inside = loader.parent.resolve() / loader.name
            if inside.parent not in library_folders():
                view.show(loader.resolve(), str(inside))
    for link in sorted(Path("/etc/alternatives").glob("lib*.so*")):  # Debian's libblas.so.3 is one
        view.show(os.readlink(link), str(link), "--symlink")


def package_paths(packages: Sequence[str]) -> dict[str, Path]:
    """{name below the folder of packages ("numpy.libs", "xman/wengert.py"): its path here}."""
    paths = {}
    if strange := [package for package in packages if package not in BRINGS]:
        raise XManError(f"the sandbox has no package {strange[0]!r}; it has numpy, scipy and xman")
    for package in dict.fromkeys(name for requested in packages for name in (requested, *BRINGS[requested])):
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise XManError(f"the sandbox needs the package {package}, which is not installed here: pip "
                            f"install {package}")
        folder = Path(next(iter(spec.submodule_search_locations))).resolve()
        if package == "xman":
            paths |= {f"xman/{path.name}": path for path in sorted(folder.iterdir())
                      if path.name not in NOT_SHOWN}
        else:
            paths |= {path.name: path for path in (folder, folder.with_name(f"{package}.libs"))
                      if path.is_dir()}
    return paths
