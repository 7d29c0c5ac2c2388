"""Cohen's lecture notes, section by section."""

from . import Example

AUTHOR = "Cohen"
TITLE = "Cohen, Automatic Reverse-Mode Differentiation: Lecture Notes"
SOURCE = "William W. Cohen, course notes of 17 October 2016, with which the first xman was given out."

FILES = {"eq1.wl": "z1 = add(x1, x1)\nz2 = add(z1, x2)\nf = square(z2)\n",
         "cube.wl": "z1 = mul(x, x)\nf = mul(z1, x)\n",
         "triangle.py": '''\
from xman import XMan, f

class Triangle(XMan):
    h = f.param()
    w = f.param()
    area = f.half(h * w)
'''}

PRELUDE = '''\
EQ_1 = [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2",))]
CUBE = [("z1", "mul", ("x", "x")), ("f", "mul", ("z1", "x"))]
CHAIN = [("z1", "log", ("z0",)), ("z2", "sin", ("z1",)), ("z3", "exp", ("z2",)), ("z4", "sqrt", ("z3",)),
         ("z5", "tanh", ("z4",))]
SLOPE = {"log": lambda z: 1 / z, "sin": np.cos, "exp": np.exp, "sqrt": lambda z: 0.5 / np.sqrt(z),
         "tanh": lambda z: 1 - np.tanh(z) ** 2}
# the notes' tables as a student writes them; a rule is handed delta and the result too, and multiplies by itself
G = {"add": lambda a, b: a + b, "square": lambda a: a * a, "mul": lambda a, b: a * b}
PARTIALS = {"add": [lambda a, b: 1, lambda a, b: 1], "square": [lambda a: 2 * a],
            "mul": [lambda a, b: b, lambda a, b: a]}
DG = partials(PARTIALS)

class Triangle(XMan):
    h = f.param()
    w = f.param()
    area = f.half(h * w)

class LogisticRegression(XMan):
    x, y = f.input(default=np.array([[1.0, 2.0]])), f.input(default=np.array([[0.0, 1.0, 0.0]]))
    W = f.param(default=np.array([[0.1, 0.2, 0.3], [0.4, 0.5, -0.6]]))
    f = f.crossEntropy(f.softmax(f.dot(x, W)), y) + f.frobeniusNorm(W)

LOSS = LogisticRegression().setup().operationSequence(LogisticRegression.f)
AT = eval(LOSS, LogisticRegression().setup().inputDict())
'''

EXAMPLES = [
    Example("§1.1", "A loss is written in a little language, and the gradient is derived from it: here it is a list again",
            "test_section_1_2_the_operators_need_not_be_scalar_functions", """\
gradient([("z", "dot", ("x", "W")), ("loss", "frobeniusNorm", ("z",))], "loss", ["W"])
"""),
    Example("§1.2, eq. (1)", "(2x₁ + x₂)² is compiled to the list of the notes", "test_section_1_2_eq_1_is_compiled_to_the_list_of_the_notes", """\
m = XMan()
m.x1, m.x2 = f.input(), f.input()
m.f = f.square((m.x1 + m.x1) + m.x2)
steps = m.setup().operationSequence(m.f)
steps
steps == EQ_1
"""),
    Example("§1.2, eq. (1)", "The same list from a file", "test_section_1_2_eq_1_is_compiled_to_the_list_of_the_notes", "$ xman show eq1.wl\n"),
    Example("§1.2, x³", "The cube is two multiplications", "test_section_1_2_the_cube_is_compiled_to_the_list_of_the_notes", """\
m = XMan()
m.x = f.input()
m.f = m.x * m.x * m.x
steps = m.setup().operationSequence(m.f)
steps
steps == CUBE
""", "The list calls the product multiply; the notes' own package, and the updates at the end of §1.4, call it mul."),
    Example("§1.2, G", "The set G of functions defines the sublanguage: with a table of your own the product has any name",
            "test_section_1_2_the_functions_g_define_the_sublanguage", """\
steps = [("z1", "multiply", ("x", "x")), ("f", "multiply", ("z1", "x"))]
eval(steps, {"x": 5.0}, {"multiply": lambda a, b: a * b})["f"]
eval(steps, {"x": 5.0})["f"]  # refused
"""),
    Example("§1.2, logistic regression", "The loss of logistic regression is compiled to the list of the notes",
            "test_section_1_2_logistic_regression_is_compiled_to_the_list_of_the_notes", "LOSS\n"),
    Example("§1.2, softmax", "softmax divides by the sum of the exponentials", "test_section_1_2_softmax_divides_by_the_sum_of_the_exponentials", """\
a = AT["z1"][0]
AT["z2"][0]
same(AT["z2"][0], np.exp(a) / sum(np.exp(a[i]) for i in range(3)))
""", "The denominator is Σ eᵢᵃ; meant is Σ e^aᵢ, the sum of the exponentials."),
    Example("§1.2, crossEntropy", "The cross-entropy takes the logarithm of the prediction", "test_section_1_2_cross_entropy_takes_the_logarithm_of_the_prediction", """\
prediction, target = AT["z2"][0], AT["y"][0]
AT["z3"]
-sum(target * np.log(prediction))
""", "crossEntropy(a, b) = −Σ aᵢ log bᵢ is called with the prediction first, which takes the logarithm of the target's zeros. "
            "Meant is −Σ target · log prediction."),
    Example("§1.2, frobeniusNorm", "The norm of the weights is the root of the sum of their squares", "test_section_1_2_the_operators_need_not_be_scalar_functions", """\
AT["z4"]
same(AT["z4"], np.sqrt(np.sum(AT["W"] ** 2)))
"""),
    Example("§1.2, operators", "There is no reason that operators have to be scalar functions: the gradient by a matrix",
            "test_section_1_2_the_operators_need_not_be_scalar_functions", """\
dW = backprop(LOSS, AT, f=1.0)["W"]
dW
same(dW, AT["x"].T @ (AT["z2"] - AT["y"]) + AT["W"] / AT["z4"])
"""),
    Example("§1.2, operators", "The same derived in matrix notation, Xᵀ(p − y) with the penalty's W/‖W‖",
            "test_section_1_2_the_derivation_by_the_weights_is_in_matrix_notation", """\
derivation(LOSS, "f", "W", values={"x": AT["x"], "y": AT["y"], "W": AT["W"]})
"""),
    Example("§1.3, encoding", "An assignment is a nested tuple (z, g, (y₁, …, yₖ))", "test_section_1_3_the_encoding_needs_a_comma_in_a_tuple_of_one", """\
eval([("f", "square", ("z2"))], {"z2": 13})  # refused
""", '("f", "square", ("z2")) holds a string, not a tuple of one; meant is ("f", "square", ("z2",)).'),
    Example("§1.3, eval", "The list is evaluated at 3 and 7", "test_section_1_3_eval_at_3_and_7", """\
eval(EQ_1, {"x1": 3, "x2": 7}, G)
eval(EQ_1, {"x1": 3, "x2": 7})["f"]
"""),
    Example("§1.3, eval", "The same on the command line", "test_section_1_3_eval_at_3_and_7", "$ xman eval eq1.wl x1=3 x2=7\n"),
    Example("§1.3, hints", "The pseudo-code with Python's map and g(*args)", "test_section_1_3_eval_at_3_and_7", """\
val = {"x1": 3, "x2": 7}
for z, g, ys in EQ_1:
    val[z] = G[g](*map(val.get, ys))
val
"""),
    Example("§1.3, DG", "An operator of k arguments has a list of k partial derivatives", "test_section_1_3_backprop_at_3_and_7", """\
[rule(3, 7) for rule in PARTIALS["add"]], PARTIALS["square"][0](13), [rule(25, 5) for rule in PARTIALS["mul"]]
backprop(CUBE, eval(CUBE, {"x": 5}, G), DG, f=1.0)
"""),
    Example("§1.3, DG", "Such a table serves numbers, and arrays entry by entry", "test_section_1_3_a_table_of_partials_of_the_arguments_serves_numbers_and_arrays_entry_by_entry", """\
for x in (5.0, np.array([5.0, -1.0, 2.5])):
    print(backprop(CUBE, eval(CUBE, {"x": x}, G), partials(PARTIALS), f=1.0)["x"], 3 * x ** 2)
"""),
    Example("§1.3, backprop", "The deltas at 3 and 7, by tables of your own and by those of xman", "test_section_1_3_backprop_at_3_and_7", """\
values = eval(EQ_1, {"x1": 3, "x2": 7})
backprop(EQ_1, values, DG, f=1.0)
backprop(EQ_1, values, f=1.0)
"""),
    Example("§1.3, backprop", "The same on the command line, values and deltas side by side", "test_section_1_3_backprop_at_3_and_7",
            "$ xman grad eq1.wl x1=3 x2=7\n$ xman explain eq1.wl x1=3 x2=7\n"),
    Example("§1.3, backprop", "The pseudo-code as printed: deltas are accumulated, not stored", "test_section_1_3_backprop_at_3_and_7", """\
val, delta = eval(EQ_1, {"x1": 3, "x2": 7}), {"f": 1}
for z, g, ys in reversed(EQ_1):
    for y, op in zip(ys, PARTIALS[g]):
        delta[y] = delta.get(y, 0) + delta[z] * op(*map(val.get, ys))
delta
""", "The loop takes DG[g][i] for i = 1, …, k; the first entry of a Python list is DG[g][0]."),
    Example("§1.3, sensitivity", "A delta is the sensitivity of f to a register in the middle as well",
            "test_section_1_3_a_delta_is_the_sensitivity_of_f_to_the_register_in_the_middle_as_well", """\
values, rest = eval(EQ_1, {"x1": 3, "x2": 7}), [line for line in EQ_1 if line[0] != "z1"]
up, down = (eval(rest, values | {"z1": 6 + e})["f"] for e in (1e-3, -1e-3))
round((up - down) / 2e-3, 6), backprop(EQ_1, values, f=1.0)["z1"]
"""),
    Example("§1.4, expansion", "Freshman calculus multiplies the square out", "test_section_1_4_freshman_calculus", 'expand(EQ_1, "f")\n'),
    Example("§1.4, df/dx₁", "8x₁ + 4x₂", "test_section_1_4_freshman_calculus", """\
paths(EQ_1, "f", "x1").symbolic()
for x1, x2 in [(3, 7), (-1.5, 0.25)]:
    print(backprop(EQ_1, eval(EQ_1, {"x1": x1, "x2": x2}), f=1.0)["x1"], 8 * x1 + 4 * x2)
"""),
    Example("§1.4, df/dx₂", "4x₁ + 2x₂", "test_section_1_4_freshman_calculus", "$ xman paths eq1.wl --wrt x2 --symbolic\n"),
    Example("Table 1", "The derivation of df/dx₁, with its reasons", "test_table_1_derivation_of_df_dx1", "$ xman derivation eq1.wl --wrt x1\n"),
    Example("Table 2", "The derivation of df/dx₂, with its reasons", "test_table_2_derivation_of_df_dx2", "$ xman derivation eq1.wl --wrt x2\n",
            'The text says "an analogous derivation of df/dx1", and the last two lines of the table begin so; meant is df/dx₂. '
            "The sixth line has dx₂/dx₂ for the first dx₁/dx₂, and so the seventh (1·1 + 1·0) for (1·0 + 1·0). The last "
            "has 2·z₂·2 for 2·z₂·1, which is the 4x₁ + 2x₂ that stands beside it."),
    Example("Table 3", "A slightly less detailed derivation for x³", "test_table_3_derivation_of_the_derivative_of_the_cube",
            'derivation(CUBE, "f", "x", brief=True)\n', "The last two lines begin with df/dx₁; there is no x₁, meant is df/dx."),
    Example("§1.4, updates", "The delta updates of x³ line by line", "test_section_1_4_the_delta_updates_of_the_cube_line_by_line", """\
values, delta = eval(CUBE, {"x": 5}), {"f": 1}
for z, g, ys in reversed(CUBE):
    for i, (y, op) in enumerate(zip(ys, PARTIALS[g]), 1):
        delta[y] = delta.get(y, 0) + (update := delta[z] * op(*map(values.get, ys)))
        print(f"delta[{y}] += {update}   arg {i} of {z} = {g}(…)")
delta
""", 'The last two lines are both called "arg 1 of z1 = mul(…)"; the second is arg 2.'),
    Example("§1.5, the list", "A list of functions of one argument, z_m = f_m(f_{m−1}(… f_1(z_0) …)), at z_0 = 53.4",
            "test_section_1_5_the_chain_rule_is_a_product_of_the_derivatives_where_each_is_taken", 'WengertList(CHAIN)\neval(CHAIN, {"z0": 53.4})\n'),
    Example("§1.5, dz_m/dz_0", "The chain rule, again and again: the symbolic derivative",
            "test_section_1_5_the_chain_rule_is_a_product_of_the_derivatives_where_each_is_taken", 'derivation(CHAIN[:3], "z3", "z0", brief=True)\n'),
    Example("§1.5, h_{i,j}", "Of all the functions h_{i,j} = dz_i/dz_j one pass gives those of the last register",
            "test_section_1_5_of_all_the_functions_h_i_j_one_pass_gives_those_of_the_last_register", """\
values = eval(CHAIN, {"z0": 53.4})
np.array([[forward(CHAIN, values, {f"z{j}": 1.0}).get(f"z{i}", 0.0) for j in range(6)] for i in range(6)])
backprop(CHAIN, values, z5=1.0)
"""),
    Example("§1.5, h_{m,0}(a)", "h_{m,0}(a) = f′_m(a_{m−1}) · h_{m−1,0}(a)",
            "test_section_1_5_of_all_the_functions_h_i_j_one_pass_gives_those_of_the_last_register", """\
values = eval(CHAIN, {"z0": 53.4})
h = lambda i, j: forward(CHAIN, values, {f"z{j}": 1.0})[f"z{i}"]
h(5, 0), SLOPE["tanh"](values["z4"]) * h(4, 0)
h(4, 1) / h(4, 0)   # with h_{m−1,1}, as printed, it would be wrong by this factor
""", "h_{m,0}(a) = f′_m(a_m) · h_{m−1,1}(a); meant is f′_m(a_{m−1}) · h_{m−1,0}(a)."),
    Example("§1.5, DG[f_m][1]", "The derivative of f_m is the first entry of its list in DG", "test_section_1_5_the_chain_rule_is_a_product_of_the_derivatives_where_each_is_taken", """\
import ops
len(ops.DG["tanh"])
values = eval(CHAIN, {"z0": 53.4})
ops.DG["tanh"][0](1.0, values["z5"], values["z4"]), SLOPE["tanh"](values["z4"])
""", "The routine is called DG[f_m][1]; a function of one argument has the index 0 alone."),
    Example("§1.5, the product", "The derivative is the product of the derivatives, each taken where it is",
            "test_section_1_5_the_chain_rule_is_a_product_of_the_derivatives_where_each_is_taken", """\
values = eval(CHAIN, {"z0": 53.4})
slopes = [SLOPE[op](values[z]) for _, op, (z,) in CHAIN]
np.prod(slopes), backprop(CHAIN, values, z5=1.0)["z0"]
""", "f′_m(a_m) · f′_{m−1}(a_{m−1}) ⋯ f′_2(a_1) · f′_1(a) takes the first ones one place too late; meant is f′_i(a_{i−1}) all along."),
    Example("§1.5, the deltas", "The deltas are partial products, grouped from the left", "test_section_1_5_the_deltas_are_partial_products_grouped_from_the_left", """\
values = eval(CHAIN, {"z0": 53.4})
slopes = [SLOPE[op](values[z]) for _, op, (z,) in reversed(CHAIN)]
np.cumprod([1.0, *slopes])
list(backprop(CHAIN, values, z5=1.0).values())
""", "delta[z_i] = f′_m(a_m) ⋯ f′_i(a_i); meant is f′_m(a_{m−1}) ⋯ f′_{i+1}(a_i), which is 1 for i = m."),
    Example("§1.6, Triangle", "A class of registers is compiled to a list", "test_section_1_6_triangle_is_compiled_to_the_list_of_the_notes_which_print_lists_for_tuples", """\
triangle = Triangle()
triangle.setup() is triangle
list(triangle.operationSequence(triangle.area))
""", "The package's list is shown with lists of arguments, ['h', 'w'], where §1.3 has tuples. Tuples are given; both are taken."),
    Example("§1.6, Triangle", "The same on the command line", "test_section_1_6_triangle_is_compiled_to_the_list_of_the_notes_which_print_lists_for_tuples",
            "$ xman show triangle.py:Triangle --of area\n$ xman grad triangle.py:Triangle --of area h=3 w=6\n"),
    Example("§1.6, roles", "input() and param() make registers without a definition", "test_figure_1_registers_and_operations_point_to_one_another", """\
[(r.role, r.definedAs) for r in (f.input(), Triangle.h)]
Triangle.area.role
"""),
    Example("Fig. 1", "Registers and Operations point to one another", "test_figure_1_registers_and_operations_point_to_one_another", """\
half = Triangle.area.definedAs
(product,) = half.args
type(half) is Operation, type(product) is Register, half.fun, product.definedAs.fun
half.outputReg is Triangle.area, product.definedAs.args == (Triangle.h, Triangle.w)
"""),
    Example("Fig. 1", "Each arrow of its picture is followed from object to object, by the attribute that is its label",
            "test_cohen_figure_1_the_pointers_are_those_of_the_objects", """\
m = Triangle().setup()
half, product = m.area.definedAs, m.area.definedAs.args[0].definedAs
objects = {"area": m.area, "area = half": half, "z1": half.args[0], "z1 = mul": product, "h": m.h, "w": m.w}
for low, high, label, down, _ in picture(m).arrows:
    start, end = (high, low) if down else (low, high)
    name, _, place = label.partition("[")
    found = getattr(objects[start], name)
    print(f"{start}.{label} is {end}:", (found[int(place[:-1])] if place else found) is objects[end])
"""),
    Example("Fig. 1, as a picture", "Registers are blue, Operations green, and arrows are pointers",
            "test_cohen_figure_1_registers_are_blue_operations_green_and_arrows_are_pointers", "$ xman show triangle.py:Triangle --dot\n"),
    Example("§1.6, h*w", "Overloading expands h*w to XManFunctions.mul(h, w)", "test_section_1_6_h_times_w_is_expanded_to_mul", """\
h, w = f.input("h"), f.input("w")
(h * w).definedAs.asStringTuple(), f.mul(h, w).definedAs.asStringTuple()
"""),
    Example("§1.6, setup", "setup() names registers after the variables that point to them, and the others z1, z2, …",
            "test_section_1_6_triangle_is_compiled_to_the_list_of_the_notes_which_print_lists_for_tuples", """\
triangle = Triangle().setup()
[dst for dst, _, _ in triangle.operationSequence(triangle.area)]
[name for name, _ in triangle.namedRegisterItems()]
"""),
    Example("§1.6, the traversal", "The list is a post-order traversal", "test_section_1_6_the_list_is_a_post_order_traversal", """\
[dst for dst, _, _ in Triangle().setup().operationSequence(Triangle.area)]
eval([("area", "half", ("z1",)), ("z1", "mul", ("h", "w"))], {"h": 3, "w": 6})  # refused
""", "operationSequence is said to be a pre-order traversal, which would give area before the z1 that it is computed from; meant is post-order."),
]
