"""Trees: what is a leaf, in which order, and how two structures differ."""
from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

from xman import XManError, grad, hvp, jacobian, jvp, value_and_grad
from xman.functions.trees import flattened_tree, leaf_names, matching, unflatten

Point = namedtuple("Point", "x y")
TREE = {"b": [1, (2, None)], "a": Point(3, {"z": 4, 5: 6}), "c": {}}


def test_leaves_come_in_the_order_of_the_sorted_keys():
    assert flattened_tree(TREE)[0] == [3, 6, 4, 1, 2]


def test_a_tree_comes_back_from_its_leaves():
    leaves, structure = flattened_tree(TREE)
    assert unflatten(structure, leaves) == TREE and type(unflatten(structure, leaves)["a"]) is Point
    assert repr(structure["b"]) == "[*, (*, None)]"


@pytest.mark.parametrize("tree", [OrderedDict(b=1, a=2), defaultdict(list, b=1, a=2)])
def test_a_dict_keeps_its_type_and_its_order(tree):
    leaves, structure = flattened_tree(tree)
    back = unflatten(structure, leaves)
    assert leaves == [2, 1] and back == tree and type(back) is type(tree) and list(back) == ["b", "a"]


def test_equal_dicts_have_equal_orders_even_where_keys_cannot_be_sorted():
    assert flattened_tree({"a": 1, 2: 3})[0] == flattened_tree({2: 3, "a": 1})[0]


def test_paths_are_names():
    assert list(leaf_names(TREE, "p")) == ["p_a_x", "p_a_y_5", "p_a_y_z", "p_b_0", "p_b_1_0"]
    assert list(leaf_names({"a b": 1}, "p")) == ["p_a_b"] and list(leaf_names(1.0, "x")) == ["x"]


@pytest.mark.parametrize(("tree", "words"), [
    ({**TREE, "b": [1, (2, 3)]}, r"v\['b'\]\[1\]\[1\] is a leaf where w has None"),
    ({**TREE, "b": [1]}, r"v\['b'\] is a list of 1 where w has a list of 2"),
    ({**TREE, "c": 1}, r"v\['c'\] is a leaf where w has a dict with the keys"),
    ({"b": 1}, "v is a dict with the keys b where w has a dict with the keys b, a, c"),
])
def test_another_structure_is_refused_with_the_path(tree, words):
    with pytest.raises(XManError, match=words):
        matching(tree, flattened_tree(TREE)[1], "v", "w")


@dataclass(frozen=True)
class Layer:
    w: object
    b: object = None
    name: str = field(default="layer", metadata={"static": True})

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b)


@dataclass(eq=False, slots=True)
class Net:
    layers: list
    scale: float
    size: object = field(init=False)

    def __post_init__(self):
        if np.ndim(self.scale) or self.scale < 0:
            raise ValueError("the scale is a number, and not negative")
        self.size = self.scale * self.scale


NET = Net([Layer(np.ones((2, 3)), np.zeros(3), "first"), Layer(np.full((3, 1), 0.5), np.zeros(1))], 2.0)


def loss(net, x):
    for layer in net.layers:
        x = layer(x)
    return np.sum(x) * net.size


def test_dataclasses_are_trees_frozen_with_slots_and_with_static_fields():
    slope = grad(loss)(NET, np.ones((1, 2)))
    assert type(slope) is Net and type(slope.layers[0]) is Layer and slope.layers[0].name == "first"
    flat = grad(lambda ws, scale: loss(Net([Layer(*w) for w in ws], scale), np.ones((1, 2))), (0, 1))(
        [(layer.w, layer.b) for layer in NET.layers], 2.0)
    np.testing.assert_array_equal(slope.layers[0].w, flat[0][0][0])
    assert slope.scale == 0 and 2 * 2.0 * slope.size == flat[1] != 0  # the constructor, which squares the scale, is not called
    assert list(leaf_names(NET, "net")) == ["net_layers_0_w", "net_layers_0_b", "net_layers_1_w", "net_layers_1_b", "net_scale", "net_size"]
    rows = jacobian(lambda net: net.layers[0].b * net.scale)(NET)
    assert rows.layers[0].b.shape == (3, 3)  # a tree of blocks
    assert hvp(loss, (NET, np.ones((1, 2))), (NET,)).scale == pytest.approx(jvp(lambda n: grad(loss)(n, np.ones((1, 2))), (NET,), (NET,))[1].scale)


def test_structures_of_dataclasses_are_equal_when_they_look_the_same():
    twin = Net(list(NET.layers), 3.0)
    assert len(matching(twin, flattened_tree(NET)[1], "v", "w")) == 6
    with pytest.raises(XManError, match=r"v\['layers'\] is a list of 1 where w has a list of 2"):
        matching(Net(NET.layers[:1], 3.0), flattened_tree(NET)[1], "v", "w")
    other = Net([Layer(1.0, 2.0, "another"), NET.layers[1]], 3.0)
    with pytest.raises(XManError, match=r"v\['layers'\]\[0\] is a Layer with the keys w, b, name"):
        matching(other, flattened_tree(NET)[1], "v", "w")
    with pytest.raises(XManError, match="v is a tuple of 2"):
        matching((1.0, 2.0), flattened_tree(Layer(1.0, 2.0))[1], "v", "w")


@dataclass
class Unit:
    w: object

    def __post_init__(self):
        self.w = 2.0 * np.asarray(self.w)  # as users do, and not the same when it is done again


def test_a_dataclass_is_what_its_fields_are_now_whatever_its_constructor_did():
    unit = Unit(np.array([1.0, 3.0]))
    unit.w = np.array([5.0, 5.0])
    value, slope = value_and_grad(lambda u: np.sum(u.w ** 2))(unit)
    assert value == 50 and slope.w.tolist() == [10, 10]


# bugs that had survived planting


def test_a_list_in_the_place_of_a_tuple_is_refused():
    with pytest.raises(XManError, match="v is a list of 2 where w has a tuple of 2"):
        matching([1, 2], flattened_tree((1, 2))[1], "v", "w")


def test_a_tree_that_contains_itself_is_refused():
    tree = [1.0]
    tree.append(tree)
    with pytest.raises(XManError, match="contains itself"):
        flattened_tree(tree)


def test_a_list_with_a_constructor_of_its_own_is_refused():
    class Pair(list):
        def __init__(self, a, b):
            super().__init__([a, b])
    with pytest.raises(XManError, match="a Pair cannot be rebuilt from its parts"):
        flattened_tree(Pair(1.0, 2.0))
