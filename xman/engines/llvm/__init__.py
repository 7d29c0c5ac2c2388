"""The engine llvm: lists as nests of loops over affine views, compiled by LLVM. Read it in this order:

    views       where a number lies: an affine map from the indices of loops into the memory of a register
    nests       what there is to do: lines, and the loops, products and calls of a tree
    lines       from each line of a list to views, to lines of the tree, or to products
    schedule    the one rule by which a line finds its place in the tree, and what memory that leaves to be kept
    arithmetic  what an operator does to numbers, in LLVM's words; formulas and powers are elementary functions
    emit        from the tree to LLVM's text
    products    BLAS, called by its symbols
    compiled    from LLVM's text to machine code, by way of `disk`
    engine      the function in Python that looks at the values and runs it all
"""
import importlib.util

from ..program import Engine

LONG = 5000  # lines of a list: of more LLVM's compiler takes long


def wish(steps, values, inplace):
    if importlib.util.find_spec("llvmlite") is None:
        return 0, "llvmlite is not installed; with it, pip install 'xman[fast]', small arrays take a third of the time or less"
    if len(steps) > LONG:
        return 0, f"{len(steps):,} lines are more than {LONG:,}, and LLVM would take long to compile them"
    return 20, "llvmlite is installed, and the list becomes nests of loops"


ENGINE = Engine("llvm", f"{__name__}.engine", wish, after="numpy", package="llvmlite", extra="fast")
