"""XManError, the one exception for what a user can mend; its message says how to mend it."""
from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable
from types import ModuleType

from ops.expression import SAME


class XManError(ValueError):
    """A list, a model, a value or a file is not what it should be."""


# other names of operators: in NumPy, and in the code of the course's students
SYNONYMS = SAME | dict(pair.split("=") for pair in """
    plus=add sub=subtract minus=subtract neg=negative div=divide pow=power sqr=square squared=square ln=log
    asin=arcsin acos=arccos atan=arctan atan2=arctan2 times=mul hadamard=mul elem_prod=mul elem_mul=mul
    ele_mul=mul element_mul=mul elementMul=mul mm=dot matrix_mul=dot matrixMul=dot transp=transpose
    logistic=sigmoid softMax=softmax soft_max=softmax
    crossEnt=crossEntropy cross_entropy=crossEntropy crossEnt-softMax=softmaxCrossEntropy""".split())


def nearest(name: str, known: Iterable[str]) -> str:
    """'; did you mean …?' where a known name is close to this one, else nothing."""
    import difflib  # only an error needs it
    known = list(known)
    near = [SYNONYMS[name]] if SYNONYMS.get(name) in known else difflib.get_close_matches(str(name), known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def refuse_unknown(names: Iterable, known: Collection, sentence: str) -> None:
    """XManError unless all names are known: the sentence, {!r} the first unknown name, and the known ones."""
    if strange := [name for name in names if name not in known]:
        first, words = strange[0], [*map(str, known)]
        raise XManError(f"{sentence.format(first)}{nearest(str(first), words)}; there are {', '.join(words)}")


def extra(module: str, name: str, purpose: str) -> ModuleType:
    """The module, imported now. If it is not installed, XManError names the extra that brings it, and why."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise XManError(f"{purpose} needs the package {module.split('.')[0]}: pip install "
                        f"'xman[{name}]'") from None
