"""The imports of a program, and the runs of nodes in its functions, which reveal where they come from."""
import ast
import hashlib
import sys

SMALL = 25  # a function of fewer nodes may be anybody's, such as x * x
RUN = 12    # so many nodes in the same order may be
LONG = 200  # a string of so many characters could be a program


def function_runs(source):
    """The digests of the runs of nodes: a set for each larger function of a program, and of its strings.

    Names, numbers, docstrings and types do not count. Code in a further disguise, say compressed, is missed.
    RecursionError or MemoryError where it is too deep for a tree: Python may run it all the same.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # it is not a program
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and len(node.value) > LONG:
            yield from function_runs(node.value)
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            words = [*node_words(*(node.body if isinstance(node.body, list) else [node.body]))]
            if len(words) >= SMALL:
                yield {digest for digest, _ in runs(words, RUN)}


def runs(words, length):
    """(digest, lines) of each run of so many words (kind, line), in order."""
    for k in range(len(words) - length + 1):
        kinds, lines = zip(*words[k:k + length])  # noqa: B905 (they are pairs)
        yield hashlib.sha256("\0".join(kinds).encode(errors="replace")).hexdigest()[:16], {*lines}


def node_words(*trees):
    """(kind, line) of the nodes in the order of the text, without names, numbers, types and docstrings."""
    stack, line = [*reversed(trees)], 1
    while stack:
        node = stack.pop()
        line = getattr(node, "lineno", line)
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text or isinstance(node, (ast.expr_context, ast.alias)):
            continue
        yield f"{type(node).__name__} {getattr(node, 'attr', '')}", line
        fields = [child for name, child in ast.iter_fields(node) if name not in ("annotation", "returns")]
        children = [each for child in fields for each in (child if isinstance(child, list) else [child])]
        stack += [child for child in reversed(children) if isinstance(child, ast.AST)]


def imports_packages(source):
    """Whether a program imports anything but Python's library, in any place."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except Exception:  # it is not a program
        return False
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += ["." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] not in sys.stdlib_module_names for name in names)
