"""The engine llvm: the nests of a list (`engines/nests`, to be read first), compiled by LLVM.

    function    a function that is being written; arithmetic: operators on numbers, as LLVM's text
    elementary  exp, log, tanh and their like
    emit        from the tree to LLVM's text, a function for each nest;
    products: BLAS, called by its symbols; loops: functions that lines apply, in place; threads: large nests
    places      where the numbers of a root are, for the text of a function
    step        the function that calls them all, and the memory of their roots
    compiled    from LLVM's text to machine code, which is kept on disk
    engine      the function in Python that looks at the values and runs the code
"""
from ops.loops import functions_in

from ..program import Engine


def preference(steps, values, inplace):
    if not ENGINE.installed:
        return (0, "llvmlite is not installed; with it, pip install 'xman[fast]', small arrays take a third "
                "of the time or less")
    return 20, "llvmlite is installed, and the list becomes nests of loops"


ENGINE = Engine("llvm", f"{__name__}.engine", preference, after="numpy", package="llvmlite", extra="fast",
                open_loops=True,
                seconds=lambda steps: 0.0016 * sum(map(len, [steps, *(x[3] for x in functions_in(steps))])))
