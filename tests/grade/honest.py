"""Other ways to write the solutions, each as right as they are: (text in the solution, its replacement)."""
import ast
import random

SOFTMAX_JACOBIAN = "out[..., None] * np.eye(out.shape[-1]) - out[..., :, None] * out[..., None, :]"

WAYS = {
    "wengert": [
        ('"half": lambda x: x / 2', '"half": lambda x: 0.5 * x'), ('"square": lambda x: x * x', '"square": lambda x: x ** 2'),
        ("[lambda x, y: 1 / y, lambda x, y: -x / y ** 2]", "[lambda x, y: y ** -1, lambda x, y: -(x / y) / y]"),
        ("0.5 / math.sqrt(x)", "0.5 * x ** -0.5"), ("1 - math.tanh(x) ** 2", "(1 - math.tanh(x)) * (1 + math.tanh(x))"),
        ("2 * x]", "x + x]"), ("1.0 / x]", "x ** -1]"), ('"sin": math.sin', '"sin": lambda x: float(np.sin(x))'),
        ("[lambda x: math.cos(x)]", "[lambda x: float(np.cos(x))]"), ("-math.sin(x)", "-float(np.sin(x))"),
        ("import math\n", "import math\n\nimport numpy as np\n"),
        ("deltas[a] += deltas[z] * derivative(*inputs)", "deltas[a] = derivative(*inputs) * deltas[z] + deltas[a]"),
        ("if deltas[z] != 0.0:  #", "if deltas[z]:  #"),
        ("inputs[name] - rate * deltas[name]", "-rate * deltas[name] + inputs[name]")],
    "operators": [
        ("unbroadcast(delta * y, np.shape(x))", "unbroadcast(y * delta, getattr(x, 'shape', ()))"),
        ("delta * (2 * x)", "2 * delta * x"), ("np.maximum(x, 0.0)", "np.where(x > 0, x, 0.0)"),
        ("delta * (x > 0)", "np.where(out > 0, delta, 0.0)"), ("delta * (1 - out ** 2)", "(1 - out) * (1 + out) * delta"),
        ("delta @ b.T", "np.einsum('...j,lj->...l', delta, b)"), ("a.T @ delta", "(delta.T @ a).T"),
        ("delta / n * np.ones_like(x)", "np.broadcast_to(delta, x.shape) / n"), ("np.sqrt(np.sum(A * A))", "np.linalg.norm(A)"),
        ("delta * A / out if", "A * (delta / out) if"),
        ("out * (delta - np.sum(delta * out, axis=-1, keepdims=True))",
         f"np.einsum('...k,...kl->...l', delta, {SOFTMAX_JACOBIAN})"),
        ("e / np.sum(e, axis=-1, keepdims=True)", "np.exp(np.log(e) - np.log(np.sum(e, axis=-1, keepdims=True)))"),
        ("np.log(p, out=np.zeros_like(p), where=y != 0)", "np.log(np.where(y != 0, p, 1.0))"),
        ("-np.divide(delta * y, p, out=np.zeros_like(p), where=y != 0)", "-delta * np.where(y != 0, y / np.where(y != 0, p, 1), 0)"),
        ("(f(up) - f(down)) / (2 * step)", "0.5 * (f(up) - f(down)) / step")],
    "logreg": [
        ("np.sqrt(6 / (features + classes))", "np.sqrt(6.0) / np.sqrt(features + classes)"),
        ("rng.uniform(-limit, limit, (features, classes))", "limit * (2 * rng.random((features, classes)) - 1)"),
        ("rng.uniform(-0.1, 0.1, (1, classes))", "0.2 * rng.random((1, classes)) - 0.1"),
        ("self.X @ self.W + self.b", "self.b + self.X @ self.W"),
        ("penalty * f.frobeniusNorm(self.W)", "penalty * f.sqrt(f.sum(f.square(self.W)))"),
        ("f.mean(f.softmaxCrossEntropy(self.scores, self.y))", "-f.mean(-f.softmaxCrossEntropy(self.scores, self.y))"),
        ("-np.mean(np.log(outputs[np.arange(len(y)), y]))", "sum(-np.log(p[k]) for p, k in zip(outputs, y)) / len(y)"),
        ("np.mean(outputs.argmax(axis=1) == y)", "sum(p.argmax() == k for p, k in zip(outputs, y)) / len(y)"),
        ("(up - down) / (2 * epsilon)", "0.5 * (up - down) / epsilon"),
        ("order = rng.permutation(len(X))", "order = np.argsort(rng.random(len(X)))"),
        ("value - rate * gradient[name]", "-rate * gradient[name] + value")],
    "mlp": [
        ("np.sqrt(6 / (before + after))", "np.sqrt(6.0) / np.sqrt(before + after)"), ("a = h @ W + b\n", "a = b + h @ W\n"),
        ("f.frobeniusNorm(W)", "f.sqrt(f.sum(f.square(W)))"), ("w - rate * deltas[name]", "-rate * deltas[name] + w"),
        ("f.mean(f.crossEntropy(self.outputs, self.y))", "f.mean(f.softmaxCrossEntropy(self.scores, self.y))"),
        ("-np.mean(np.log(outputs[Y == 1]))", "-np.mean(np.log(np.sum(outputs * Y, axis=1)))"),
        ("np.mean(outputs.argmax(axis=1) == Y.argmax(axis=1))", "np.mean([p.argmax() == y.argmax() for p, y in zip(outputs, Y)])"),
        ("sorted(set(items))", "sorted(dict.fromkeys(items))"),
        ("np.eye(len(classes))[[classes.index(label) for label in labels]]",
         "np.array([[float(label == c) for c in classes] for label in labels])")],
    "lstm": [
        ('x @ p["Wi"] + h @ p["Ui"] + p["bi"]', 'p["bi"] + h @ p["Ui"] + x @ p["Wi"]'), ("keep * c + i * g", "i * g + keep * c"),
        ('x @ p["Wo"] + h @ p["Uo"] + p["bo"]', 'x @ p["Wo"] + (p["bo"] + h @ p["Uo"])'), ("return o * f.tanh(c), c", "return f.tanh(c) * o, c"),
        ('last @ p["W2"] + p["b2"]', 'p["b2"] + last @ p["W2"]'), ("last = last + e * h", "last = h * e + last"),
        ("np.sqrt(sum(np.sum(d ** 2) for d in deltas.values()))", "np.linalg.norm(np.concatenate([d.ravel() for d in deltas.values()]))"),
        ("factor * d for name, d in", "d * factor for name, d in"), ("lambda v: v * (1 - v)", "lambda v: v - v ** 2"),
        ("lambda v: 1 - v ** 2", "lambda v: (1 - v) * (1 + v)"), ("w - rate * deltas[name]", "-rate * deltas[name] + w"),
        ("np.max(X.any(axis=2) * np.arange(steps), axis=1)", "[max(np.flatnonzero(x.any(axis=1)), default=0) for x in X]")],
    "modes": [
        ("dx * y + x * dy", "x * dy + dx * y"), ("(dx * y - x * dy) / (y * y)", "(dx - x / y * dy) / y"),
        ("-other * self.tangent / (self.value * self.value)", "-(other / self.value) / self.value * self.tangent"),
        ("power = other ** self.value", "power = exp(self.value * math.log(other))"),
        ("x.tangent / (2.0 * value)", "0.5 * x.tangent / value"), ("(1.0 - value * value)", "(1.0 - value) * (1.0 + value)"),
        ("return A.T @ A", "return sum(np.outer(a, a) for a in A)"), ("Dual(x - y, dx - dy, tag)", "Dual(-y + x, -dy + dx, tag)"),
        ("A.T @ ((y * (1.0 - y))[:, None] * A)", "sum(w * (1.0 - w) * np.outer(a, a) for w, a in zip(y, A))"),
        ("Jn.T @ (np.diag(pn) - np.outer(pn, pn)) @ Jn", "Jn.T @ (pn[:, None] * (Jn - pn @ Jn))"),
        ("pull(y * (1.0 - y) * push(v))", "pull(push(v) * (y - y ** 2))"), ("eval(slopes, values), v)", "eval(slopes, dict(values)), dict(v))"),
        ("slopes = gradient(steps, of, list(v))", "slopes = gradient(steps, of, sorted(v))")],
    "compiler": [
        ("return live[::-1]", "return list(reversed(live))"), ("free.pop()", "free.pop(0)"), ('return f"{a}_"', 'return f"r_{a}"'),
        ('return f"({a!r})"', 'return f"(({a!r}))"'), ('"\\n".join(lines) + "\\n"', '"\\n".join(lines)'),
        ("key = (op, *(sorted(same) if op in commutative else same))", "key = op + repr(sorted(same) if op in commutative else same)"),
        ("last.update((name, len(steps)) for name in keep)", "last.update(dict.fromkeys(keep, len(steps) + 1))"),
        ("return f\"float('{a}')\"", "return f\"float({str(a)!r})\"")]}


class Renamed(ast.NodeTransformer):
    """Another name for each local variable, and no comments."""

    def visit_FunctionDef(self, node):
        inner = [part for part in ast.walk(node) if isinstance(part, (ast.FunctionDef, ast.Lambda)) and part is not node]
        shared = {part.id for other in inner for part in ast.walk(other) if isinstance(part, ast.Name)}
        own = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)} - shared
        own -= {arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in own:
                part.id = f"my_{part.id}"
        return node


def written(name, solution, seed):
    """The solution of an assignment, some of it written in other ways; the same for the same seed."""
    draw = random.Random(f"{name} {seed}")
    for old, new in WAYS[name]:
        assert solution.count(old) == 1, old
        if draw.random() < 0.5 or "numpy" in new:
            solution = solution.replace(old, new)
    return ast.unparse(Renamed().visit(ast.parse(solution))) if draw.random() < 0.5 else solution
