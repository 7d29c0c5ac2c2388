"""What a program imports, and the shapes of its functions, by which it is known whose they are."""
import ast
import hashlib
import sys

SMALL = 25  # nodes of a function that anybody may write, as x * x
LONG = 200  # characters of a string that could be a program


def function_shapes(source):
    """{digest: nodes} of the functions of a program that are not small, those in the text of its strings too.

    Names, docstrings and types do not count. What is disguised further, say compressed, is not seen.
    """
    found = {}
    try:
        tree = ast.parse(source)
    except Exception:  # no program, and so without functions
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > LONG:
            found.update(function_shapes(node.value))
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            body = [node.body] if isinstance(node, ast.Lambda) else [
                line for line in node.body
                if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))]
            names = {}
            words = [word for part in body for inner in ast.walk(part) for word in node_words(inner, names)]
            if len(words) >= SMALL:
                found[hashlib.sha256("\0".join(words).encode(errors="replace")).hexdigest()] = len(words)
    return found


def imports_packages(source):
    """Whether a program imports what is not Python's own, in any place."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except Exception:  # no program, and so without imports
        return False
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += ["." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] not in sys.stdlib_module_names for name in names)


def node_words(node, names):
    """The node as words: its kind, with its attribute or constant; a name as the number of names before."""
    if isinstance(node, ast.Name):
        return [f"Name {names.setdefault(node.id, len(names))}"]
    if isinstance(node, (ast.expr_context, ast.arguments, ast.arg)):
        return []
    constant = repr(node.value) if isinstance(node, ast.Constant) else ""
    return [f"{type(node).__name__} {getattr(node, 'attr', '')} {constant}"]
