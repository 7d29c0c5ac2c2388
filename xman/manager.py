"""XMan, the expression manager: finds the registers of a model, names them, compiles a Wengert list."""
from __future__ import annotations

import copy
import importlib
import textwrap
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from .errors import XManError, nearest
from .notation import in_notebooks
from .register import InOrder, Register, as_floats, evaluation_order
from .validity import refuse_name
from .wengert import WengertList, temporaries

Model = TypeVar("Model", bound="XMan")


class XMan:
    """A model: registers as attributes of a subclass, of its bases, or of an instance.

        class Triangle(XMan):
            h = f.param()
            w = f.param()
            area = f.half(h * w)

        Triangle().setup().operationSequence(Triangle.area)    # [("z1", "mul", ("h", "w")), ("area", …)]

    Names belong to the manager and not to the register, so two models may share a register. Its name is the
    one that its user gave it, or else that of its first attribute (W_0 or W_key in a list or dict W there);
    all others are z1, z2, … in the order of evaluation.
    """

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        for name, value in vars(cls).items():
            refuse_method(name, value)
            if isinstance(value, Register) and not value.home:
                value.home = cls, name

    def __repr__(self) -> str:  # <House of h, w, target>
        given = ", ".join(name for name, reg in self._items() if not reg.definedAs)
        return f"<{type(self).__name__}{' of ' * bool(given)}{textwrap.shorten(given, 100, placeholder='…')}>"

    def __getstate__(self) -> dict: return InOrder(self, *(reg for _, reg in self._items()))

    def __setattr__(self, name: str, value: Any) -> None:
        refuse_method(name, value)
        self._known().pop(name, None)
        super().__setattr__(name, value)

    def setup(self: Model) -> Model:
        """The model itself, after a look at its names: each register has one, and no two have the same."""
        self.names()
        return self

    def namedRegisterItems(self) -> list[tuple[str, Register]]:
        """The pairs (attribute, register) of the model and its bases, sorted by name as in the course."""
        return sorted(self._items(), key=lambda item: item[0])

    def registers(self) -> dict[str, Register]:
        """All registers that the attributes lead to, by name, temporaries too."""
        names = self._listed(order := list(evaluation_order(*(reg for _, reg in self._items()))))
        return {names[id(reg)]: reg for reg in order}

    def names(self, others: Iterable[Register] = ()) -> dict[int, str]:
        """The name of each register, and of `others` that have one, by id. XManError if two have the same."""
        names, owner, items = {}, {}, self._items()
        for name, reg in [(r.given, r) for r in (*(r for _, r in items), *others) if r.given] + items:
            if owner.setdefault(name, reg) is not reg:
                at = [own for own, r in items if r is reg or r is owner[name]]
                raise XManError(f"two registers are called {name!r}: {owner[name]!r} and {reg!r}"
                                f"{f', the attributes {chr(32).join(at)}' if at else ''}; rename one of them")
            if id(reg) not in names:  # the first attribute names it
                refuse_name(name, ())
                names[id(reg)] = name
                reg.called |= {name}
        return names

    def operationSequence(self, *outputs: Any,
                          previouslyDefined: Collection[str] | None = None) -> WengertList:
        """The Wengert list that computes the outputs, in the order of evaluation.

        outputs: registers; a last one may be previouslyDefined, a collection. previouslyDefined: names whose
        lines are left out; if it is a set the new names are added. XManError as `names`.
        """
        names = lambda x: isinstance(x, (set, list, tuple, dict, frozenset)) and {*map(type, x)} <= {str}
        if len(outputs) > 1 and (outputs[-1] is None or names(outputs[-1])):
            *outputs, previouslyDefined = outputs
        if not outputs or not all(isinstance(r, Register) for r in outputs):
            raise XManError("operationSequence takes the registers of the model that it has to list, as in "
                            f"m.operationSequence(m.loss), not {', '.join(map(repr, outputs)) or 'nothing'}")
        previouslyDefined = [previouslyDefined] if isinstance(previouslyDefined, str) else previouslyDefined
        known = {**self._known(), **dict(self._items())} if previouslyDefined else {}
        done = {id(known[name]): name for name in previouslyDefined or () if name in known}
        order = list(evaluation_order(*outputs, done=done))
        names = self._listed(order, done)
        if isinstance(previouslyDefined, set):
            previouslyDefined.update(names[id(reg)] for reg in order)
        return WengertList(reg.definedAs.asStringTuple(names) for reg in order if reg.definedAs)

    def inputDict(self, **values: Any) -> dict[str, Any]:
        """A value for each input and parameter that has one: the value given here, or else its default.

        A parameter's array belongs to the model; it begins as a copy of the default, in floats. So a change
        in place, values["W"] -= rate * deltas["W"], is there at the next call, but in no other model of the
        class (a number cannot be changed in place). XManError for a name that is no input or parameter.
        """
        reachable = list(evaluation_order(*(reg for _, reg in self._items())))
        names = self.names(reachable)
        by_name = {**{names[id(r)]: r for r in reachable if id(r) in names}, **dict(self._items())}
        result, given = {}, {}
        for r in by_name.values():
            if r.default is not None:
                result[names[id(r)]] = self._own(names[id(r)], r.default) if r.role == "param" else r.default
        for name, value in values.items():
            if name not in by_name or by_name[name].definedAs:
                leaves = [n for n, r in by_name.items() if not r.definedAs]
                found = "is computed, not given" if name in by_name else "is no input or parameter"
                raise XManError(f"{name!r} {found}; the model has "
                                f"{', '.join(leaves) or 'none'}{nearest(name, leaves)}")
            if (other := given.setdefault(own := names[id(by_name[name])], name)) != name:
                raise XManError(f"{other!r} and {name!r} are one register; give it one value")
            result[own] = as_floats(value) if by_name[name].role == "param" else value
        return result

    def explore(self, of: Any = None, **values: Any) -> Any:
        """The page that steps through the list of the register `of` (None: loss), as `xman.explore` gives it.

        values: inputs by name; the others have their defaults."""
        return importlib.import_module(__package__).explore(self, of=of, values=values)

    _repr_html_ = in_notebooks("model_in_html")

    def _own(self, name: str, default: Any) -> Any:
        """The model's own value of a parameter, for as long as the parameter has this default."""
        own = vars(self).setdefault("_XMan__own", {})
        if name not in own or own[name][0] is not default:
            own[name] = default, as_floats(copy.copy(default))
        return own[name][1]

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
        known = self._known()
        known.update(() if name in known else self._items())
        if name not in known and name not in self.registers():
            raise XManError(f"the model has no register {name!r}{nearest(name, known)}")
        return known[name].role

    def _known(self) -> dict[str, Register]:
        """The register of each name, temporaries of lists that were made before too."""
        return vars(self).setdefault("__known__", {})

    def _items(self) -> list[tuple[str, Register]]:
        """The pairs (attribute, register) in their order: base classes first, lists and dicts last."""
        spaces = *map(vars, reversed(type(self).__mro__)), vars(self)
        attributes = dict.fromkeys(x for names in spaces for x in names if not x.startswith("__"))
        todo = [(name, getattr(self, name, None), ()) for name in attributes][::-1]
        own = [(name, value) for name, value, _ in reversed(todo) if isinstance(value, Register)]
        places = {id(reg): None for _, reg in own}
        while todo:
            name, value, around = todo.pop()
            if isinstance(value, Register):
                places.setdefault(id(value), (value.given or name, value))
            elif (isinstance(value, (list, tuple, dict)) and not isinstance(value, WengertList)
                  and id(value) not in around):
                kinds = {*map(type, value.values() if isinstance(value, dict) else value)}
                if any(issubclass(kind, (Register, list, tuple, dict)) for kind in kinds):
                    pairs = [*(value.items() if isinstance(value, dict) else enumerate(value))]
                    todo += [(f"{name}_{k}", part, (*around, id(value))) for k, part in reversed(pairs)]
        return own + list(filter(None, places.values()))

    def _listed(self, order: list[Register], done: Mapping[int, str] | None = None) -> dict[int, str]:
        """The names, by id, of the registers in order, temporaries z1, z2, … too, and of those in done."""
        names = {**self.names(order), **(done or {})}
        fresh = (z for z in temporaries(set(names.values()))
                 if not isinstance(getattr(self, z, None), Register))
        for reg in order:
            if id(reg) not in names:
                if not reg.definedAs:
                    users = [r for r in order if any(a is reg for a in r.inputsTo())]
                    said = [f"{names.get(id(r), 'a temporary')} = {r.definedAs.fun}(…)" for r in users]
                    raise XManError(f"{'an input' if reg.role == 'input' else 'a param'} without a name is "
                                    f"used by {(*said, 'the list')[0]}: make it an attribute of the model, or give it a name, "
                                    f"as in {reg.role}('x')")
                names[id(reg)] = name = next(fresh)
                reg.listed |= {name}
        self._known().update((names[id(reg)], reg) for reg in order)
        return names


def refuse_method(name: str, value: Any) -> None:
    function = callable(value) or hasattr(value, "__get__")
    if hasattr(XMan, name) and not name.startswith("__") and not function:
        raise XManError(f"{'a register' if isinstance(value, Register) else 'an attribute'} cannot be called "
                        f"{name!r}: that is a method of XMan; choose another name")
