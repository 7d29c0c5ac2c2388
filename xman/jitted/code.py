"""For `jit`: what a piece of code names: what can be read by it."""
from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterator
from dis import Instruction, get_instructions
from types import CodeType
from typing import NamedTuple

from .kinds import DUNDERS, TITLE, Impure

# what takes a name that can have been computed, and methods that take names within a text: "{0.rate}"
LOOKS = set("getattr hasattr vars dir attrgetter methodcaller getmembers delattr setattr".split())
LOOKS |= {"__dict__", "__getattribute__"}
FORMATS = {"format", "format_map", "vformat", "get_field"}
IDLE = {"PRECALL", "CACHE", "EXTENDED_ARG", "PUSH_NULL", "RESUME"}  # instructions between those that count
GLOBALS = "_GLOBAL", "LOAD_NAME"
TYPE = "it asks for type(…), which is another of a traced value; isinstance is the same"
IDENTITY = "it compares by `is`, which for arguments may hold at one call and not at another"


class Facts(NamedTuple):
    """What a piece of code names: globals, modules that it imports with their levels, attributes and texts;
    what it compares with by `is`, as (a global, an attribute of it or None). asks: "caught" if it can catch
    errors, "missing" or "computed" if a name may be that when it looks for an attribute, "titles" if it names
    or writes out functions, "own" if it asks for the type of self or cls, "abstract" if it matches lists.
    handed, handed_globals: attributes and globals that it may hand on, as stat in map(os.stat, files): their
    calls are not heard."""
    names: frozenset[str]
    sentinels: frozenset[tuple[str, str | None]]
    imports: frozenset[tuple[str, int]]
    attributes: frozenset[str]
    asks: frozenset[str]
    handed: frozenset[str]
    handed_globals: frozenset[str]


@functools.lru_cache
def facts_of_code(code: CodeType) -> Facts:
    steps = [step for step in get_instructions(code) if step.opname not in IDLE]
    names = frozenset(step.argval for step in steps if step.opname.endswith(GLOBALS))
    imports = frozenset((step.argval, steps[k - 2].argval) for k, step in enumerate(steps)
                        if step.opname == "IMPORT_NAME")
    tuples = [constant for constant in code.co_consts if isinstance(constant, tuple)]  # of case Kind(rate=r)
    texts = {x for x in itertools.chain(code.co_consts, *tuples) if isinstance(x, str)}
    looks = [k for k, step in enumerate(steps) if looks_up(step)]
    strange = {name for name in code.co_names if name.startswith("__") and name.endswith("__")} - DUNDERS
    strange |= {name for name in texts.union(code.co_names) if name == "ctypes" or name.startswith("__array")}
    if strange:
        raise Impure(f"it reads {min(strange)}")
    sentinels = set()
    for k, step in enumerate(steps):
        of_own = steps[min(k + 1, len(steps) - 1)].argval in ("self", "cls")
        if step.argval == "type" and step.opname.startswith("LOAD") and not of_own:
            raise Impure(TYPE)
        if step.opname == "IS_OP" and (last := steps[k - 1]).opname != "LOAD_CONST":
            before = [x.argval for x in steps[max(k - 4, 0):k - 2]]
            if last.argval == "__class__" or before == ["type", "self"]:
                continue  # classes, which no arguments are
            attribute = last.opname == "LOAD_ATTR"
            owner = steps[k - 2] if attribute else last
            if owner.opname != "LOAD_GLOBAL":
                raise Impure(IDENTITY)
            sentinels.add((owner.argval, last.argval if attribute else None))
    literal = all(steps[k].argval in ("getattr", "hasattr") and called_with_literal(steps, k) for k in looks)
    does = lambda *operations: any(step.opname.startswith(operations) for step in steps)
    attributes = texts.union(code.co_names)
    caught = getattr(code, "co_exceptiontable", b"") or does("SETUP_")
    titles = does("FORMAT_", "CONVERT_") or attributes & {*TITLE.names, "repr", "str", "format", "ascii"}
    asks = [("caught", caught), ("computed", not literal), ("titles", titles or not literal)]
    asks += [("missing", caught or looks or does("MATCH_CLASS")), ("own", "type" in names)]
    asks += [("abstract", does("MATCH_MAPPING", "MATCH_SEQUENCE"))]
    values = [*loaded_as_values(code)]
    handed = texts.union(step.argval for step in values if step.opname in ("LOAD_ATTR", "IMPORT_FROM"))
    handed_globals = names.intersection(step.argval for step in values if step.opname.endswith(GLOBALS))
    return Facts(names, frozenset(sentinels), imports, attributes, frozenset(word for word, it in asks if it),
                 frozenset(handed), handed_globals if sys.version_info > (3, 11) else frozenset())


def loaded_as_values(code: CodeType) -> Iterator[Instruction]:
    """The loads of what is not called next, nor asked for an attribute. A call begins with NULL, before the
    first name of os.stat(file) or after the last; before 3.11 no instruction says so of a global."""
    steps = [step for step in get_instructions(code) if step.opname not in IDLE - {"PUSH_NULL"}]
    calls = False
    for step, before, after in zip(steps, [None, *steps], [*steps[1:], steps[-1]], strict=False):
        begins = "NULL" in step.argrepr or before and before.opname == "PUSH_NULL"
        calls = bool(begins or calls and step.opname == "LOAD_ATTR")
        if not calls and after.opname not in ("PUSH_NULL", "LOAD_ATTR", "LOAD_METHOD"):
            yield step


def looks_up(step: Instruction) -> bool:
    """Whether it takes attributes by names that may have been computed, or that a class gives by place."""
    if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and step.argval in FORMATS:
        return True
    by_place = step.opname == "MATCH_CLASS" and step.arg > 0
    return by_place or step.argval in LOOKS and step.opname.startswith("LOAD")


def called_with_literal(steps: list, k: int) -> bool:
    """Whether the call of getattr or hasattr that is loaded at k takes a name that stands in the code: its
    second argument is loaded last, or last but a default that is one instruction."""
    for j in range(k + 1, len(steps) - 2):
        if steps[j].opname == "LOAD_CONST" and isinstance(steps[j].argval, str):
            return any(steps[j + n].opname.startswith("CALL") and steps[j + n].arg == n + 1 for n in (1, 2))
    return False


def nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from nested(part)


def imported(name: str, level: int, scope: dict) -> str:
    """The name of a module that code with these globals imports, `level` packages up."""
    package = scope.get("__package__") or ""
    return ".".join(filter(None, (package.rsplit(".", level - 1)[0], name))) if level else name
