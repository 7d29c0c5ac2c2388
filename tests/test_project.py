"""Facts about the project as a whole: which way imports run, what is installed, how long files are, what is documented."""

import ast
import configparser
import functools
import inspect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from house import circles, homonyms, naming, package_circles, pronouns, wide

import ops
import xman
import xman.models
import xman.train

ROOT = Path(__file__).parents[1]
PACKAGES = "ops", "xman"
BESIDE_A_WORKER = "confine", "plain", "shapes"  # a worker of the grader imports what lies beside it
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
HEAVY = "scipy", "click", "matplotlib", "tqdm", "safetensors", "pyarrow", "pandas", "sklearn", "onnx"

# the parts of xman, each above those that it may import
RANKS = [{"errors", "notation", "own_ops", "validity", "wengert", "register", "manager"},
         {"interpreters"},
         {"passes"},
         {"sparse"},
         {"matrices"},
         {"traced"},
         {"numpy"},
         {"scipy"},
         {"functions"},
         {"jets"},
         {"autograd", ""},  # the package itself
         {"engines"},
         {"jitted"},
         {"reasons"},
         {"tables"},
         {"files"},
         {"scale"},
         {"formulas"},
         {"show", "train", "export"},
         {"optimize"},
         {"grade"},
         {"models"},
         {"estimators", "explorer", "plots", "serve"},
         {"cli"},
         {"__main__"}]
RANK = {part: k for k, parts in enumerate(RANKS) for part in parts}


def name_of(path):
    return str(path.relative_to(ROOT))


IN_XMAN = [path for path in FILES if path.relative_to(ROOT).parts[0] == "xman"]


def statements(node, inside=False):
    """(statement, whether it is inside a function) of all that runs; what only a type checker reads is left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child, inside
        yield from statements(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))


@functools.cache
def imports(path):
    """(module with all its dots resolved, whether it is imported inside a function), for each import of the file."""
    return list(imported(path))


def imported(path):
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node, inside in statements(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[:len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            for alias in node.names:  # from . import x is an import of x where x is a file
                file = ROOT.joinpath(*module.split("."), alias.name)
                yield f"{module}.{alias.name}" if file.is_dir() or file.with_suffix(".py").is_file() else module, inside


def top(module):
    return module.partition(".")[0]


def third_party(module):
    return top(module) not in sys.stdlib_module_names and top(module) not in {*PACKAGES, *BESIDE_A_WORKER}


def part(module):
    """The part of xman that a module xman.… belongs to."""
    return (module.split(".") + [""])[1]


# imports


def test_relative_imports_are_seen_by_these_tests():
    found = {module for module, _ in imports(ROOT / "xman" / "train" / "run.py")}
    assert {"numpy", "xman.scale.shares", "xman.scale.streams", "xman.interpreters.eval", "xman.train.checkpoints"} <= found


def test_ops_imports_numpy_scipy_and_the_standard_library_alone():
    found = {top(module) for path in FILES if path not in IN_XMAN for module, _ in imports(path)}
    assert found - sys.stdlib_module_names <= {"numpy", "scipy", "ops"}


def test_no_package_imports_assignments_tests_or_data():
    assert not [(name_of(path), module) for path in FILES for module, _ in imports(path)
                if top(module) in ("assignments", "tests", "bench", "data")]


def test_inside_xman_imports_run_from_the_command_line_down_to_the_list():
    def rank(path):
        return RANK[part(".".join(path.relative_to(ROOT).with_suffix("").parts).replace(".__init__", ""))]

    assert not [(name_of(path), module) for path in IN_XMAN for module, _ in imports(path)
                if top(module) == "xman" and RANK[part(module)] > rank(path)]


def test_no_files_import_one_another_in_a_circle():
    assert circles(ROOT) == []


def test_no_folders_import_one_another_in_a_circle():
    assert package_circles(ROOT) == []


def test_the_nests_import_no_engine():
    nests = [path for path in IN_XMAN if path.parent.name == "nests"]
    engines = "llvm", "numpy", "jax", "tape", "interpret"
    assert not [(name_of(path), module) for path in nests for module, _ in imports(path)
                if module.startswith("xman.engines.") and module.split(".")[2] in engines]


def test_fewer_than_75_functions_share_their_name():
    """See tests/house.py for what counts."""
    assert sum(map(len, (shared := homonyms(ROOT)).values())) < 75, shared


def test_names_say_what_they_hold():
    """The models have 1 to 4 pronouns among 1,000 identifiers; what is above that here does not grow."""
    assert all(few <= limit for few, limit in zip(pronouns(ROOT).values(), (6, 4), strict=True)), pronouns(ROOT)


def test_an_operator_is_named_in_few_files_beside_its_row_and_engines():
    """What is true of an operator is a fact of its row (ops/facts.py): a user's own has it too."""
    named = naming(ROOT, {*ops.OURS})
    assert sum(map(len, named.values())) <= 1.41 * len(ops.OURS), max(named.items(), key=lambda item: len(item[1]))


def test_packages_other_than_numpy_are_imported_inside_functions_or_in_the_command_line():
    """An engine that takes another library is imported when somebody asks for it; its ENGINE is in its __init__."""
    assert not [(name_of(path), module) for path in FILES for module, inside in imports(path)
                if not inside and third_party(module) and top(module) not in ("numpy", path.parent.name)
                and not (top(module) == "click" and ROOT / "xman" / "cli" in path.parents)
                and not (top(module) == "scipy" and "sparse" in path.relative_to(ROOT / path.parts[0]).with_suffix("").parts)]


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_none_of_the_heavy_ones(package):
    code = f"import sys, {package}; print(*sorted({{name.partition('.')[0] for name in sys.modules}} & set({HEAVY})))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_star_gives_the_four_classes_and_shadows_no_builtin():
    space = {}
    exec("from xman import *", space)
    assert {name for name in space if name != "__builtins__"} == {"Operation", "Register", "XMan", "XManFunctions"}


# sizes


def lines(path):
    return len(path.read_text("utf-8").splitlines())


@pytest.mark.parametrize("name", ["eval", "backprop", "forward"])
def test_an_interpreter_fits_on_a_screen(name):
    assert lines(ROOT / "xman" / "interpreters" / f"{name}.py") <= 60


def test_the_core_the_kinds_of_row_the_list_and_the_interpreters_is_at_most_1700_lines():
    families = [path for path in FILES if path.parent == ROOT / "ops" and path.stem not in ("__init__", "table", "expression")]
    core = [path for path in FILES if path.parent in (ROOT / "ops", ROOT / "xman", ROOT / "xman" / "interpreters")]
    assert sum(map(lines, core)) - sum(map(lines, families)) <= 1700


def test_a_part_that_is_built_on_the_core_is_at_most_2300_lines():
    """A part is a folder with all in it; the rooms of the engines and of the grader count by themselves."""
    sizes = Counter()
    for path in FILES:
        folders = path.relative_to(ROOT).parts[1:-1]
        sizes["/".join(folders[:1 + (folders[0] in ("engines", "grade"))]) if folders else "core"] += lines(path)
    assert {part: size for part, size in sizes.items() if size > 2300 and part != "core"} == {}


def test_a_file_is_at_most_350_lines():
    assert {name_of(path): n for path in FILES if (n := lines(path)) > 350} == {}


def test_no_line_is_wider_than_110_columns_but_those_of_tables():
    assert wide(ROOT) == []


def test_a_folder_has_about_ten_files_at_most():
    folders = {path.parent for path in FILES}
    assert {name_of(f): n for f in folders if (n := sum(p.parent == f and not p.name.startswith("__") for p in FILES)) > 11} == {}


# what is installed


@pytest.fixture(scope="module")
def setup():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


def test_setup_lists_every_folder_of_the_packages_and_the_data_and_no_other(setup):
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in FILES}
    assert set(setup["options"]["packages"].split()) == folders | {"xman.datasets"}


def test_setup_installs_nothing_of_assignments_or_tests(setup):
    text = re.sub("(?m)^#.*", "", (ROOT / "setup.cfg").read_text("utf-8"))
    assert "assignments" not in text and "tests" not in text and "find:" not in text


def test_the_core_requires_numpy_and_scipy_alone(setup):
    assert re.findall(r"(?m)^[\w-]+", setup["options"]["install_requires"]) == ["numpy", "scipy"]


def test_the_packages_are_typed_and_say_so(setup):
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file() and "py.typed" in setup["options.package_data"][package]


def test_every_third_party_package_that_is_imported_is_required_or_in_an_extra(setup):
    wanted = {top(module) for path in FILES for module, _ in imports(path) if third_party(module)}
    named = {top(module) for path in FILES for module in re.findall(r'extra\("([\w.]+)"', path.read_text("utf-8"))}
    listed = setup["options"]["install_requires"] + "".join(setup["options.extras_require"].values())
    # what is installed under another name than it is imported by
    listed = listed.replace("scikit-learn", "sklearn").replace("pyyaml", "yaml")
    assert wanted | named <= set(re.findall(r"(?m)^[\w-]+", listed))


# what is documented


PUBLIC = {f"{module.__name__}.{name}": member for module in (xman, xman.train, xman.models)
          for name in {*vars(module), *module.__all__, *(xman.LATER if module is xman else ())}
          for member in [getattr(module, name)]
          if not name.startswith("_") and getattr(member, "__module__", "").startswith("xman")}
CLASSES = {name: member for name, member in PUBLIC.items() if inspect.isclass(member)}
METHODS = {f"{name}.{own}": getattr(cls, own) for name, cls in CLASSES.items() for own, member in vars(cls).items()
           if isinstance(member, (type(top), staticmethod, classmethod)) and not own.startswith("_")
           and not any(own in vars(base) for base in cls.__mro__[1:])}  # what overrides a method is documented there
CONSTRUCTORS = {f"{name}.__init__": cls.__init__ for name, cls in CLASSES.items() if "__init__" in vars(cls)}
FUNCTIONS = {name: member for name, member in PUBLIC.items() if callable(member) and not inspect.isclass(member)}


def test_these_tests_see_the_public_functions_and_methods():
    assert {"xman.eval", "xman.train.fit"} <= FUNCTIONS.keys()
    assert {"xman.XMan.setup", "xman.WengertList.to_json"} <= METHODS.keys()


def test_what_is_public_has_a_docstring_of_its_own():
    assert not [name for name, member in {**PUBLIC, **METHODS}.items()
                if len((member.__doc__ or "").split()) <= 2 or member.__doc__.startswith("Alias for field")]


def is_annotated(member):
    signature = inspect.signature(member)
    bare = [name for name, p in signature.parameters.items() if p.annotation is p.empty and name not in ("self", "cls")]
    return not bare and (member.__name__ == "__init__" or signature.return_annotation is not signature.empty)


def test_what_is_public_is_annotated():
    assert not [name for name, member in {**FUNCTIONS, **METHODS, **CONSTRUCTORS}.items() if not is_annotated(member)]


def test_help_tells_what_a_function_takes_in_a_few_lines():
    assert not [name for name, member in {**FUNCTIONS, **METHODS, **CONSTRUCTORS}.items()
                if len(str(inspect.signature(member))) > 1000]


TEXTS = [path for path in [*FILES, *ROOT.glob("[!.]*.*"), ROOT / "Makefile", ROOT / ".ci" / "run", ROOT / "data" / "README.md",
                           *(ROOT / "data").rglob("*.py"), *(ROOT / "assignments").rglob("*.py")] if path.is_file()]


def test_no_file_names_an_absolute_path_of_one_machine():
    """The folders that a submission sees are named in the sandbox alone."""
    assert not [name_of(path) for path in TEXTS if "sandbox" not in path.parts
                and re.search(r"(?<![\w./:-])/(work|tmp|home|root|mnt|Users)\b", path.read_text("utf-8"))]


# what is released


def test_the_version_is_said_alike_and_the_repository_has_one_address(setup):
    assert f"\nversion: {xman.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'version = "{xman.__version__}"' in (ROOT / "conda" / "meta.yaml").read_text("utf-8")
    url = setup["metadata"]["url"]
    folders = "", ".github", "conda", "docs", "ops", "xman"
    texts = [path for name in folders for path in (ROOT / name).glob("*.*" if not name else "**/*.*")
             if path.suffix in (".py", ".md", ".yml", ".yaml", ".cff", ".toml", ".cfg") and "build" not in path.parts]
    assert {path.name for path in texts if url in path.read_text("utf-8")} == {"setup.cfg"}


def test_a_recipe_requires_what_setup_requires(setup):
    recipe = (ROOT / "conda" / "meta.yaml").read_text("utf-8").replace("matplotlib-base", "matplotlib")
    extras = [setup["options.extras_require"][extra] for extra in ("cli", "tables", "fast")]
    required = "\n".join([setup["options"]["install_requires"], *extras])
    # scipy-openblas64 is PyPI's alone; what else depends on the platform is for others than conda too
    lines = [line for line in required.split("\n") if line and ";" not in line]
    assert {f"- {line.replace('>=', ' >=')}" for line in lines} <= {*map(str.strip, recipe.split("\n"))}
