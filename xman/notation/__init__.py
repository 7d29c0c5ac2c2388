"""The text and the JSON form of a list, written and read, and tables of text.

Text is one assignment a line, valid Python over the operators' names: `z1 = mul(h, w)`. Registers are names;
literals are numbers, None, True, False, ..., tuples, slice(0, 3, None), float('nan') and array([[1.0, 2.0]],
'float64'), or array(2.5, 'float64', (2, 3)) of one number that is spread. A function that lines apply stands
before them, `def step(h, x): …`, and is applied by its name.
JSON is [["z1", "mul", ["h", "w"]], …]: a register is a string, each literal but numbers an object of one key.

This folder imports nothing of xman, and so it raises ValueError; the list makes XManError of it.
"""
from . import habits  # fills the table of them
from .json_form import from_json, json_lines, json_literal, to_json
from .notebooks import in_notebooks
from .parsing import from_text
from .tables import table_as_text
from .text import (
    apart_from_operators,
    definition,
    literal_text,
    renamed,
    renamings,
    shortened,
    shown,
    to_text,
)

WORDS = ("array", "float", "slice")  # the text form calls these; no register may have such a name
