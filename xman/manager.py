"""XMan, the expression manager: finds the registers of a model, names them, compiles a Wengert list."""
from __future__ import annotations

import importlib
import textwrap
from collections.abc import Collection, Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from .errors import XManError, nearest
from .notation import in_notebooks
from .notation.pickling import InOrder
from .register import Operation, Register, as_floats, evaluation_order
from .validity import refuse_name
from .wengert import WengertList, temporaries

Manager = TypeVar("Manager", bound="XMan")


latest_change = [object()]  # of an attribute of any model


class XMan:
    """A model: registers as attributes of a subclass, of its bases, or of an instance.

        class Triangle(XMan):
            h = f.param()
            w = f.param()
            area = f.half(h * w)

        Triangle().setup().operationSequence(Triangle.area)    # [("z1", "mul", ("h", "w")), ("area", …)]

    Names belong to the manager and not to the register, so two models may share a register. Its name is the
    one that its user gave it, or else that of its first attribute: W_0 or W_key in a list or dict W there,
    l1_W in a model or another object l1. All others are z1, z2, … in the order of evaluation.
    """

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        for name, value in vars(cls).items():
            refuse_method(name, value)
            if isinstance(value, Register) and not value.home:
                value.home = cls, name

    def __repr__(self) -> str:  # <House of h, w, target>
        leaves = ", ".join(name for name, reg in self._items() if not reg.definedAs)
        leaves = textwrap.shorten(leaves, 100, placeholder="…")
        return f"<{type(self).__name__}{' of ' * bool(leaves)}{leaves}>"

    def __getstate__(self) -> dict:
        return InOrder(self, evaluation_order, *(reg for _, reg in self._items()))

    def __setattr__(self, name: str, value: Any) -> None:
        refuse_method(name, value)
        self._register_of().pop(name, None)  # the name stands for another register from now on
        latest_change[0] = object()  # and l1_W, in models that have this one, after l1.W = …
        super().__setattr__(name, value)

    def setup(self: Manager) -> Manager:
        """The model itself, after a look at its names: each register has one, and no two have the same."""
        self.names()
        return self

    def namedRegisterItems(self) -> list[tuple[str, Register]]:
        """The pairs (attribute, register) of the model and its bases, sorted by name as in the course."""
        return sorted(self._items(), key=lambda item: item[0])

    def registers(self) -> dict[str, Register]:
        """All registers that the attributes lead to, by name, temporaries too."""
        names = self._names_in_list(order := list(evaluation_order(*(reg for _, reg in self._items()))))
        return {names[id(reg)]: reg for reg in order}

    def names(self, registers: Iterable[Register] = ()) -> dict[int, str]:
        """The name of each attribute's register, and of other `registers` that their user named, by id.

        XManError if two have the same name."""
        names, owners, items = {}, {}, self._items()
        chosen = [(r.chosen_name, r) for r in (*(r for _, r in items), *registers) if r.chosen_name]
        for name, reg in chosen + items:  # a name that its user chose goes before those of attributes
            owner = owners.setdefault(name, reg)
            if owner is not reg:
                attributes = " ".join(attribute for attribute, r in items if r is reg or r is owner)
                raise XManError(f"two registers are called {name!r}: {owner!r} and {reg!r}"
                                f"{f', the attributes {attributes}' * bool(attributes)}; rename one of them")
            if id(reg) not in names:  # the first attribute names it
                refuse_name(name, ())
                names[id(reg)] = name
                reg.attribute_names |= {name}
        return names

    def operationSequence(self, *outputs: Any,
                          previouslyDefined: Collection[str] | None = None) -> WengertList:
        """The Wengert list that computes the outputs, in the order of evaluation.

        outputs: registers; a last one may be previouslyDefined, a collection. previouslyDefined: names whose
        lines are left out; if it is a set the new names are added. XManError as `names`.
        """
        are_names = lambda x: isinstance(x, (set, list, tuple, dict, frozenset)) and {*map(type, x)} <= {str}
        if len(outputs) > 1 and (outputs[-1] is None or are_names(outputs[-1])):  # by place, as in the course
            *outputs, previouslyDefined = outputs
        if not outputs or not all(isinstance(r, Register) for r in outputs):
            raise XManError("operationSequence takes the registers of the model that it has to list, as in "
                            f"m.operationSequence(m.loss), not {', '.join(map(repr, outputs)) or 'nothing'}")
        previouslyDefined = [previouslyDefined] if isinstance(previouslyDefined, str) else previouslyDefined
        register_of = {**self._register_of(), **dict(self._items())} if previouslyDefined else {}
        done = {id(register_of[name]): name for name in previouslyDefined or () if name in register_of}
        order = list(evaluation_order(*outputs, done=done))
        names = self._names_in_list(order, done)
        if isinstance(previouslyDefined, set):
            previouslyDefined.update(names[id(reg)] for reg in order)
        steps = WengertList(reg.definedAs.asStringTuple(names) for reg in order if reg.definedAs)
        steps.places = {names[id(reg)]: reg.place for reg in order if reg.definedAs}
        return steps

    def inputDict(self, **values: Any) -> dict[str, Any]:
        """A value for each input and parameter that has one: the value given here, or else its default.

        A parameter's array belongs to its register, whose default it is from now on: a copy, in floats, of
        its user's. So a change in place, values["W"] -= rate * deltas["W"], is there at the next call, and
        in each model that has the register (a number cannot be changed in place). The default of an input is
        copied for each call. XManError for a name that is no input or parameter.
        """
        reachable = list(evaluation_order(*(reg for _, reg in self._items())))
        names = self.names(reachable)
        named = {**{names[id(r)]: r for r in reachable if id(r) in names}, **dict(self._items())}
        inputs, spellings = {names[id(r)]: r.initial() for r in named.values() if r.default is not None}, {}
        for name, value in values.items():
            if name not in named or named[name].definedAs:
                leaves = [leaf for leaf, r in named.items() if not r.definedAs]
                trouble = "is computed, not given" if name in named else "is no input or parameter"
                raise XManError(f"{name!r} {trouble}; the model has "
                                f"{', '.join(leaves) or 'none'}{nearest(name, leaves)}")
            register = named[name]
            if (spelling := spellings.setdefault(id(register), name)) != name:
                raise XManError(f"{spelling!r} and {name!r} are one register; give it one value")
            inputs[names[id(register)]] = as_floats(value) if register.role == "param" else value
        return inputs

    def explore(self, of: Any = None, **values: Any) -> Any:
        """The page that steps through the list of the register `of` (None: loss), as `xman.explore` gives it.

        values: inputs by name; the others have their defaults."""
        return importlib.import_module(__package__).explore(self, of=of, values=values)

    _repr_html_ = in_notebooks("model_in_html")

    def isParam(self, name: str) -> bool:
        """Whether `name` is a parameter. Raises XManError for a name that the model does not have."""
        return self._role(name) == "param"

    def isInput(self, name: str) -> bool:
        """Whether `name` is an input. Raises XManError for a name that the model does not have."""
        return self._role(name) == "input"

    def isOpOutput(self, name: str) -> bool:
        """Whether `name` is computed. Raises XManError for a name that the model does not have."""
        return self._role(name) == "operationOutput"

    def _role(self, name: str) -> str:
        register_of, space = self._register_of(), vars(self)
        if name not in register_of or space.get("__latest__") is not latest_change[0]:
            register_of.update(self._items())
            space["__latest__"] = latest_change[0]
        if name not in register_of and name not in self.registers():
            raise XManError(f"the model has no register {name!r}{nearest(name, register_of)}")
        return register_of[name].role

    def _register_of(self) -> dict[str, Register]:
        """The register of each name that was looked up or listed so far, temporaries too."""
        return vars(self).setdefault("__register_of__", {})

    def _items(self) -> list[tuple[str, Register]]:
        """The pairs (attribute, register) in their order; those in lists, dicts, models and objects last."""
        todo = pairs_in(self)[::-1]
        direct = [(name, value) for name, value in reversed(todo) if isinstance(value, Register)]
        # by id: a register in a list that is an attribute too is named by the attribute alone
        nested: dict[int, Any] = {id(reg): None for _, reg in direct}
        opened = {id(self): self}  # lists and objects may hold themselves
        while todo:
            name, value = todo.pop()
            if isinstance(value, Register):
                nested.setdefault(id(value), (value.chosen_name or name, value))
            elif id(value) not in opened and may_hold_registers(type(value)):
                opened[id(value)], pairs = value, pairs_in(value)
                # by type: a list of a million numbers is looked at once
                if any(map(may_hold_registers, {type(entry) for _, entry in pairs})):
                    todo += [(f"{name}_{k}", entry) for k, entry in reversed(pairs)]
        return direct + list(filter(None, nested.values()))

    def _names_in_list(self, order: list[Register], done: Mapping[int, str] | None = None) -> dict[int, str]:
        """The names, by id, of the registers in order, temporaries z1, z2, … too, and of those in done."""
        names = {**self.names(order), **(done or {})}
        fresh = (z for z in temporaries(set(names.values()))
                 if not isinstance(getattr(self, z, None), Register))
        for reg in order:
            if id(reg) not in names:
                if not reg.definedAs:
                    users = [f"{names.get(id(r), 'a temporary')} = {r.definedAs.fun}(…)"
                             for r in order if any(a is reg for a in r.inputsTo())]
                    base, attribute = reg.home or (type(self), "")
                    if isinstance(getattr(self, attribute, None), Register):
                        raise XManError(f"{users[0]} reads {attribute} of {base.__name__}, but {attribute} is "
                                        f"another register in {type(self).__name__}: define its readers anew")
                    raise XManError(f"{'an input' if reg.role == 'input' else 'a param'} without a name is "
                                    f"used by {(*users, 'the list')[0]}: make it an attribute of the model, or "
                                    f"give it a name, as in {reg.role}('x')")
                names[id(reg)] = name = next(fresh)
                reg.temporary_names |= {name}
        self._register_of().update((names[id(reg)], reg) for reg in order)
        return names


def refuse_method(name: str, value: Any) -> None:
    function = callable(value) or hasattr(value, "__get__")
    if hasattr(XMan, name) and not name.startswith("__") and not function:
        raise XManError(f"{'a register' if isinstance(value, Register) else 'an attribute'} cannot be called "
                        f"{name!r}: that is a method of XMan; choose another name")


def pairs_in(value: Any) -> list[tuple[Any, Any]]:
    """The pairs (attribute, key or index; value) of a model, its base classes first, a list or an object."""
    if isinstance(value, XMan):
        spaces = *map(vars, reversed(type(value).__mro__)), vars(value)
        names = dict.fromkeys(x for space in spaces for x in space if not x.startswith("__"))
        return [(name, getattr(value, name, None)) for name in names]
    if isinstance(value, (list, tuple)):
        return [*enumerate(value)]
    return [*(value if isinstance(value, dict) else vars(value)).items()]


def may_hold_registers(kind: type) -> bool:
    """Whether values of this type are registers or may hold some that are the model's."""
    return bool(kind.__dictoffset__ or issubclass(kind, (list, tuple, dict))) and not issubclass(
        kind, (type, ModuleType, FunctionType, Operation, WengertList))
