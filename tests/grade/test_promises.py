"""Each promise of a starter's docstring has a mutant that breaks it, in that very function, and loses a part by it."""
import ast
import re
from functools import lru_cache

import pytest
from test_assignments import NAMES, mutants, solution

from xman.grade.handout.handout import regions

# what promises: a sentence with one of these words is in the table below, or says what an argument is like
WORDS = re.compile(r"\b(once|twice|stays?|new|the first|last|never|nevertheless|at most|as (it is|they are)|not changed|"
                   r"infinit\w*|in (their|that|the|an) order|from left|sorted|cut off|else|elsewhere|left out|ends at|less than|"
                   r"comes? back|cheaper|without|0(\.0)? where|taken|half the rate|none was|no norm|agree|0, 1, 2|too)\b")
NO_PROMISE = """(n, k) gives (n, 1)|of all entries for None|you may use these too|else x is above 0
names, in the order of the arguments|in an order drawn|(last, outputs, loss): |last, outputs, loss|None for a list
whose last line assigns|the list whose last register they are|of the last register of the list|along the last axis: each row"""
PROMISES = """
compiler dead_lines: that no register in keep depends on | every line counts as read
compiler dead_lines: in their order | the lines come in reverse
compiler common_subexpressions: read in place of all | readers of a wanted line go on reading it
compiler common_subexpressions: taken for one | lines are compared before names are replaced
compiler common_subexpressions: both lines stay | a wanted line is dropped
compiler fold: there stands its value | constants do not make others constant
compiler fold: get its value nevertheless | who reads a wanted constant reads its register
compiler fold: without arguments | a line without arguments is not known
compiler fold: called once for a line | every constant is computed twice
compiler common_subexpressions: names of operators for which the order | sums are commutative, whatever is said
compiler fold: an error, whichever | errors of numbers and of the table alone
compiler fold: is not in G | an operator that G lacks is an error
compiler plan: as few of them as can be | no buffer is ever free
compiler plan: 0, 1, 2 | buffers are numbered from 1
compiler plan: the last line that reads it | the last reader is forgotten
compiler plan: where op is in inplace | all in place where one may
compiler plan: have no buffer | inputs have buffers
compiler source: of that name | the function is always f
compiler source: any name that Python allows | two names become one
compiler source: as a tuple too | one output is no tuple
compiler source: computed once | each line is computed twice
compiler source: with its type and its sign | negative literals are bare
logreg SoftmaxRegression: at 0 it is left out | a penalty of 0 is in the list
logreg predict: besides the parameters | parameters of other names are forgotten
logreg value_and_gradient: its gradient is zeros | a parameter that is not read has no gradient
logreg difference_quotients: they stay as they are | an element stays moved
logreg disagreements: index a tuple | an index is a list
logreg disagreements: ≤ tolerance | what is at the tolerance disagrees
logreg disagreements: max(1, |a|, |b|) | the tolerance is that of the first
logreg disagreements: agree with nothing | NaN is larger than nothing
logreg minibatches: the last of what is left | the rest is lost
logreg minibatches: the first row of an epoch | the first row is always the first
logreg minibatches: stay as they are | minibatches shuffle the data themselves
logreg step: a new dictionary of new arrays | a step in place
logreg step: the old ones stay | a step in place
logreg train: as it is | a minibatch is taken apart
logreg train: the first is the least | of equal losses the last
logreg train: NaN and infinity never are | NaN counts as a loss
logreg train: they come back | the last parameters if no loss is a number
lstm ends: 0 elsewhere | all titles end at the last position
lstm ends: in the midst of a title | a title ends at its first gap
lstm ends: ends at its first position | a title of unknown characters ends last
lstm LSTM: whose defaults are zeros | the first state has a row for each feature
lstm untied: renamed too | what is read once keeps its name
lstm untied: from left to right | each line counts once
lstm untied: it is not changed | the list that is untied is used up
lstm untied: that are meant | every leaf is renamed
lstm untied: everything else stays | names in a tuple are renamed
lstm clipped: at most | what is a little too long stays
lstm clipped: not changed | deltas are clipped in place
lstm clipped: come back as they are | short deltas are stretched
lstm clipped: of all arrays | each array has a norm of its own
lstm asleep: sigmoid or tanh | only gates are looked at
lstm asleep: less than `below` | a slope at the limit is asleep
lstm train: they are not changed | the best parameters are not copied
lstm train: once after each epoch | the validation loss is asked for twice
lstm train: once an epoch | each gradient is computed twice
lstm train: half the rate | the rate stays as it is
lstm train: begins at the best parameters | it goes on from where it is
lstm train: NaN is not below anything | NaN is taken for better
mlp read: \\r\\n | \\r stays
mlp read: percent-encoded | labels are decoded
mlp distinct: sorted | capitals are small letters in the order
mlp encode: the last column | unknown characters are left out
mlp encode: cut off | the end of a long title is kept, not its beginning
mlp targets: 0 elsewhere | classes in an order of its own
mlp start: Call it once | biases are drawn twice
mlp MLP: at 0 no norm | a penalty of 0 is in the list
mlp train: not changed | the best parameters are not copied
mlp train: the first is the least | of equal losses the last
mlp train: comes back | the last parameters if no loss is a number
mlp evaluate: each row once | each row is predicted twice
mlp evaluate: the others may be 0 | 0 · log 0
mlp evaluate: infinite | a loss that is never infinite
mlp confusion: taken for j | the confusion is transposed
modes derivative: called once | f is called twice
modes derivative: an ε of its own | all derivatives share one ε
modes derivative: the derivative is 0.0 | the tangent of another ε is returned
modes jacobian: cheaper | the dearer mode
modes jacobian_times: without J | J r by all columns
modes jacobian_times: (len(of),) | J r lacks what does not depend
modes hessian_times: for the names of v | H v for all inputs
modes hessian_times: without H | the whole Hessian
modes outer_products_times: without the matrix | the weights are left out
modes __pow__: 0 and below too | 0 ** 0 divides by zero
operators relu: else 0 | relu of the absolute value
operators relu_x: 0 is taken | relu lets delta through at 0
operators relu_x: | relu writes into delta
operators frobeniusNorm_A: 0 is taken | the norm of zeros divides by 0
operators softmax: as large as it likes | exp overflows
operators crossEntropy: which stays | the mean of the rows in place of their sum
operators crossEntropy: along the last axis | crossEntropy sums along the second axis
operators crossEntropy: 0 log 0 is 0 | p is kept away from 0 by adding to it
operators crossEntropy_p: 0 where y is 0 | zero divided by zero
operators differences: stays as it is | an entry stays moved
operators differences: called twice | f once more for each entry
operators wrong_rules: from 0, in order | the numbers come in reverse
operators wrong_rules: None where there is none | an argument without a rule is wrong
operators wrong_rules: another shape | shapes are not compared
operators wrong_rules: not a number | NaN passes
wengert eval: of the inputs in `values` | an input that no line reads is left out
wengert eval: it stays as it is | eval writes into the dictionary that it was given
wengert backprop: 0.0 where | a delta only for what f depends on
wengert backprop: it stays as it is | backprop turns the list around for good
wengert backprop: often that of the last line | the last line is taken for f
wengert backprop: have no delta | numbers get deltas too
wengert descend: [the loss before each update] | only the last loss is kept
wengert descend: it stays as it is | descent moves start itself
wengert descend: the others keep their values | descent moves everything that has a delta
wengert descend: the name of the register to be made small | the loss is the last value
wengert fault: the operators that there are | the operators are always those of the tables
wengert fault: the number of the first line | the last line at fault is told
wengert fault: a list that is valid | a register may read itself
wengert fault: from 1 | lines are counted from 0
"""
ROWS = [(*line.partition(": ")[0].split(), *line.partition(": ")[2].rsplit("| ", 1)) for line in PROMISES.strip().split("\n")]
each_assignment = pytest.mark.parametrize("name", NAMES)


@lru_cache
def functions(name):
    """{name: (node, docstring on one line)} of the functions and classes in which students write."""
    tree, marked = ast.parse(solution(name)), regions(solution(name))
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return {node.name: (node, " ".join((ast.get_docstring(node) or "").split())) for node in nodes
            if any(node.lineno <= region.start <= node.end_lineno for region in marked)}


def planted_in(name, node):
    """What is wrong in the mutants of a function."""
    source = solution(name)
    lines = {what: source[:source.find(right)].count("\n") + 1 + right.startswith("\n") for what, right, _, _ in mutants(name)}
    return {what for what, line in lines.items() if node.lineno <= line <= node.end_lineno}


@each_assignment
def test_each_function_that_students_write_has_a_mutant(name):
    assert [function for function, (node, _) in functions(name).items() if not planted_in(name, node)] == []


@pytest.mark.parametrize("name, function, words, mutant", ROWS, ids=[" ".join(row[:3]) for row in ROWS])
def test_a_promise_has_a_mutant_in_its_function(name, function, words, mutant):
    node, docstring = functions(name)[function]
    assert words.strip() in docstring and mutant in planted_in(name, node)


@each_assignment
def test_a_sentence_that_promises_is_in_the_table(name):
    known = [text.strip() for text in re.split(r"[|\n]", NO_PROMISE)]
    for function, (_, docstring) in functions(name).items():
        of_function = [*known, *(row[2].strip() for row in ROWS if row[:2] == (name, function) and row[2].strip())]
        for sentence in re.split(r"(?<=[.;]) (?=[A-Za-z0-9])", docstring):
            assert not WORDS.search(sentence) or any(words in sentence for words in of_function), (function, sentence)
