"""The imports of a program, and the shapes of its functions, which reveal where they come from."""
import ast
import hashlib
import sys

SMALL = 25  # a function of fewer nodes may be anybody's, such as x * x
LONG = 200  # a string of so many characters could be a program


def function_shapes(source):
    """{digest: nodes} of the larger functions of a program, and of programs in its strings.

    Names, docstrings and types do not count. Code in a further disguise, say compressed, is not found.
    RecursionError or MemoryError where it is too deep for a tree: Python may run it all the same.
    """
    shapes = {}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # it is not a program
        return shapes
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and len(node.value) > LONG:
            shapes.update(function_shapes(node.value))
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            body = [node.body] if isinstance(node, ast.Lambda) else [
                line for line in node.body
                if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))]
            names = {}
            words = [word for line in body for inner in ast.walk(line) for word in node_words(inner, names)]
            if len(words) >= SMALL:
                shapes[hashlib.sha256("\0".join(words).encode(errors="replace")).hexdigest()] = len(words)
    return shapes


def imports_packages(source):
    """Whether a program imports anything but Python's library, in any place."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except Exception:  # it is not a program
        return False
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += ["." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] not in sys.stdlib_module_names for name in names)


def node_words(node, names):
    """The node as words: its kind, and its attribute or constant; names become numbers, in order of use."""
    if isinstance(node, ast.Name):  # so that a + b * a and x + y * x have one shape
        return [f"Name {names.setdefault(node.id, len(names))}"]
    if isinstance(node, (ast.expr_context, ast.arguments, ast.arg)):
        return []
    constant = repr(node.value) if isinstance(node, ast.Constant) else ""
    return [f"{type(node).__name__} {getattr(node, 'attr', '')} {constant}"]
