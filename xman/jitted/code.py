"""For `jit`: what a piece of code names: what can be read by it."""
from __future__ import annotations

import functools
from collections.abc import Iterator
from dis import get_instructions
from types import CodeType
from typing import NamedTuple

from .known import DUNDERS, TITLES, Impure

# what takes a name that can have been computed
LOOKS = {"getattr", "hasattr", "vars", "dir", "attrgetter", "methodcaller", "getmembers", "delattr",
         "setattr", "__dict__", "__getattribute__"}
FORMATS = {"format", "format_map", "vformat", "get_field"}  # methods that take names within a text: "{0.rate}"
IDLE = {"PRECALL", "CACHE", "EXTENDED_ARG", "PUSH_NULL", "RESUME"}  # instructions between those that count
TYPE = "it asks for type(…), which is another of a traced value; isinstance is the same"
IDENTITY = "it compares by `is`, which for arguments may hold at one call and not at another"


class Facts(NamedTuple):
    """What a piece of code names: globals, modules that it imports with their levels, attributes and texts;
    what it compares with by `is`, as (a global, an attribute of it or None). asks: "caught" if it can catch
    errors, "missing" or "computed" if a name may be that when it looks for an attribute, "titles" if it names
    or writes out functions, "own" if it asks for the type of self or cls."""
    names: frozenset[str]
    sentinels: frozenset[tuple[str, str | None]]
    imports: frozenset[tuple[str, int]]
    attributes: frozenset[str]
    asks: frozenset[str]


@functools.lru_cache
def facts_of_code(code: CodeType) -> Facts:
    steps = [step for step in get_instructions(code) if step.opname not in IDLE]
    names = frozenset(step.argval for step in steps if step.opname.endswith(("_GLOBAL", "LOAD_NAME")))
    imports = frozenset((step.argval, steps[k - 2].argval) for k, step in enumerate(steps)
                        if step.opname == "IMPORT_NAME")
    texts = {text for constant in code.co_consts  # a tuple has the names of `case Settings(rate=r)`
             for text in (constant if isinstance(constant, tuple) else (constant,)) if isinstance(text, str)}
    looks = [k for k, step in enumerate(steps) if step.argval in LOOKS and step.opname.startswith("LOAD")
             or step.argval in FORMATS and step.opname in ("LOAD_ATTR", "LOAD_METHOD")
             or step.opname == "MATCH_CLASS" and step.arg]
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
    guarded = (bool(getattr(code, "co_exceptiontable", b""))
               or any(step.opname.startswith("SETUP_") for step in steps))
    titles = not texts.union(code.co_names).isdisjoint({*TITLES, "repr", "str", "format", "ascii"}) or any(
        step.opname.startswith(("FORMAT_", "CONVERT_")) for step in steps)
    asks = {"caught": guarded, "computed": not literal, "titles": titles or not literal,
            "missing": guarded or looks or any(step.opname == "MATCH_CLASS" for step in steps),
            "own": any(step.argval == "type" and step.opname == "LOAD_GLOBAL" for step in steps)}
    return Facts(names, frozenset(sentinels), imports, texts.union(code.co_names),
                 frozenset(word for word, it_does in asks.items() if it_does))


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
