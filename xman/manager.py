"""XMan, the expression manager: it finds the registers of a model, names them, and compiles them to a Wengert list."""
from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import XManError, nearest
from .register import InOrder, Register, evaluationOrder
from .validity import refuse_name
from .wengert import WengertList, temporaries


class XMan:
    """A model: registers as attributes of a subclass, of its bases, or of an instance.

        class Triangle(XMan):
            h = f.param()
            w = f.param()
            area = f.half(h * w)

        Triangle().setup().operationSequence(Triangle.area)    # [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]

    Names belong to the manager and not to the register, so two models may share one. A register goes by the name that
    its user gave it, else by that of the first attribute bound to it; all others are z1, z2, … in order of evaluation.
    """

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        for name, value in vars(cls).items():
            refuse_method(name, value)
            if isinstance(value, Register) and not value.home:
                value.home = cls, name

    def __getstate__(self) -> dict:
        return InOrder(self, *(r for r in vars(self).values() if isinstance(r, Register)))

    def __setattr__(self, name: str, value: Any) -> None:
        refuse_method(name, value)
        self._roles().pop(name, None)
        super().__setattr__(name, value)

    def setup(self) -> XMan:
        """The model itself, its names checked: each register has one, and none has another's or an operator's."""
        self.names()
        return self

    def namedRegisterItems(self) -> list[tuple[str, Register]]:
        """The pairs (attribute, register) of the model: those of its base classes first, in the order of definition."""
        attributes = itertools.chain(*(vars(cls) for cls in reversed(type(self).__mro__)), vars(self))
        return [(name, reg) for name in dict.fromkeys(attributes)
                if isinstance(reg := getattr(self, name, None), Register)]

    def registers(self) -> list[Register]:
        """The registers of the model, each once."""
        return list({id(reg): reg for _, reg in self.namedRegisterItems()}.values())

    def names(self, others: Iterable[Register] = ()) -> dict[int, str]:
        """The name of each register by its id, of the model and of `others` that their user named.

        Raises XManError for a name that two registers have, and for one that cannot stand in a list.
        """
        names: dict[int, str] = {}
        owner: dict[str, Register] = {}
        given = [(reg.name, reg) for reg in (*self.registers(), *others) if reg.name]
        for name, reg in given + self.namedRegisterItems():
            if owner.setdefault(name, reg) is not reg:
                at = [own for own, r in self.namedRegisterItems() if r is reg or r is owner[name]]
                raise XManError(f"two registers are called {name!r}: {owner[name]!r} and {reg!r}"
                                f"{f', the attributes {chr(32).join(at)}' if at else ''}; rename one of them")
            if id(reg) not in names:  # else the name is a second one
                refuse_name(name)
                names[id(reg)] = name
        return names

    def operationSequence(self, *outputs: Register) -> WengertList:
        """The Wengert list that computes the outputs, in the order of evaluation. Raises XManError as `names` does."""
        if not outputs:
            raise XManError("operationSequence needs the register that is to be computed, as in m.operationSequence(m.loss)")
        if strange := [r for r in outputs if not isinstance(r, Register)]:
            raise XManError(f"operationSequence takes registers of the model, as in m.operationSequence(m.loss), "
                            f"not {strange[0]!r}")
        order = list(evaluationOrder(*outputs))
        names = self.names(order)
        taken = {name for name, _ in self.namedRegisterItems()} | set(names.values())
        fresh = temporaries(taken)
        for reg in order:
            if id(reg) not in names:
                if not reg.definedAs:
                    raise nameless(reg, order, names)
                names[id(reg)] = next(fresh)
        self._roles().update((names[id(reg)], reg.role) for reg in order)
        return WengertList(reg.definedAs.asStringTuple(names) for reg in order if reg.definedAs)

    def inputDict(self, **values: Any) -> dict[str, Any]:
        """A value for each input and parameter: that given here, else its default (parameters a copy, to be updated).

        One that has neither is left out. Raises XManError for a name that is no input or parameter of the model.
        """
        reachable = list(evaluationOrder(*self.registers()))
        names = self.names(reachable)
        byName = {**{names[id(r)]: r for r in reachable if id(r) in names}, **dict(self.namedRegisterItems())}
        for name in values:
            if name not in byName or byName[name].definedAs:
                leaves = [n for n, r in byName.items() if not r.definedAs]
                found = "is computed, not given" if name in byName else "is no input or parameter"
                raise XManError(f"{name!r} {found}; the model has {', '.join(leaves) or 'none'}{nearest(name, leaves)}")
        given = {names[id(byName[name])]: value for name, value in values.items()}
        if len(given) < len(values):
            twice = [name for name in values if [byName[n] is byName[name] for n in values].count(True) > 1]
            raise XManError(f"{' and '.join(map(repr, twice))} are one register; give it one value")
        defaults = {names[id(r)]: np.array(r.default) if r.role == "param" and isinstance(r.default, np.ndarray) else r.default
                    for r in byName.values() if not r.definedAs and r.default is not None}
        return {**defaults, **given}

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
        roles = self._roles()
        if name not in roles:
            named = ((r.name, r) for r in evaluationOrder(*self.registers()) if r.name)
            roles.update((own, r.role) for own, r in (*named, *self.namedRegisterItems()))
        if name not in roles:
            raise XManError(f"the model has no register {name!r}{nearest(name, roles)}")
        return roles[name]

    def _roles(self) -> dict[str, str]:
        """The role of every name met so far, temporaries among them."""
        return vars(self).setdefault("_XMan__known", {})


def nameless(reg: Register, order: list[Register], names: dict[int, str]) -> XManError:
    """The error for an input or parameter that no attribute and no name leads to."""
    users = (r for r in order if any(a is reg for a in r.inputsTo()))
    user = next((f"{names.get(id(r), 'a temporary')} = {r.definedAs.fun}(…)" for r in users), "the list")
    return XManError(f"{'an input' if reg.role == 'input' else 'a param'} without a name is used by {user}: make it an attribute "
                     f"of the model, or give it a name, as in {reg.role}('x')")


def refuse_method(name: str, value: Any) -> None:
    if isinstance(value, Register) and hasattr(XMan, name):
        raise XManError(f"a register cannot be called {name!r}: that is a method of XMan; choose another name")


