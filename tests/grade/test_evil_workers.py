"""The verdict's side of the pipe: whatever a worker sends, the grader gets plain data or a Failed, soon and in little memory."""

import io
import json
import math
import os
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xman.grade import Failed
from xman.grade.sandbox import Limits
from xman.grade.sandbox.inside import plain
from xman.grade.sandbox.worker import Worker
from xman.grade.session import ANSWER, ENTRIES, ITEMS, NODES, Session, bounded_args

MIB = 300  # by which the grader may grow


class Scripted:
    """A sandbox whose worker is a thread of this process: it is given each question's nonce, and says the bytes of say(nonce)."""
    name = "none"

    def __init__(self, say):
        self.say, self.heard = say, []

    def start(self, submission, packages, limits, extra_files):
        (questions, ask), (answers, tell), (errors, complain) = os.pipe(), os.pipe(), os.pipe()
        process = SimpleNamespace(stdin=io.FileIO(ask, "w"), stdout=io.FileIO(answers), stderr=io.FileIO(errors), pid=0,
                                  returncode=0,
                                  wait=lambda timeout=None: 0, kill=lambda: None)
        os.close(complain)
        gone = threading.Event()
        thread = threading.Thread(target=self.work, args=(questions, tell, gone), daemon=True)
        thread.start()
        return Worker(process, {"grader": "/grader"}, gone.set, ExitStack())

    def work(self, questions, tell, gone):
        with open(questions, "rb") as asked, suppress(OSError), open(tell, "wb", buffering=0) as told:
            for line in asked:
                self.heard.append(line)
                question = plain.decoded(line, lambda name: name)
                said = self.say(question["nonce"]) if "nonce" in question else b""  # a reply is no question
                rest = memoryview(said)
                while rest and not gone.is_set():
                    rest = rest[told.write(rest):]
                if said[-1:] not in (b"", b"\n"):  # it ends in the middle of a line
                    return


def answered(say, call=lambda session: session.call("f", (), {}), **limits):
    """What the call of a worker that says this is given, or the Failed that it raises; any other exception is an error here."""
    with Session(Scripted(say), b"", "m", (), Limits(**{"wall_seconds": 5, "cpu_seconds": 2, **limits})) as session:
        try:
            return call(session)
        except Failed as failed:
            return failed


def message(nonce, result):
    return b'{"dict":[["nonce","%s"],["result",%s]]}\n' % (nonce.encode(), result)


def is_plain(value):
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    if type(value) is np.ndarray:
        return value.dtype.name in plain.TYPES and value.base is None or value.size >= 0
    return value is None or type(value) in (bool, int, float, str)


def growth_since(before=None):
    """MiB that this process has grown by at most, since it was called without before."""
    words = Path("/proc/self/status").read_text().split()
    if before is None:
        Path("/proc/self/clear_refs").write_text("5")
        return int(words[words.index("VmRSS:") + 1]) / 1024
    return int(words[words.index("VmHWM:") + 1]) / 1024 - before


measured = pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK),
                              reason="the peak of memory is read from Linux's /proc")


# plain data, and what is nearly that

numbers = st.one_of(st.integers(-10 ** 32, 10 ** 32), st.floats(), st.booleans())
leaves = st.one_of(st.none(), numbers, st.text(max_size=5))
arrays = st.builds(lambda *inner: {"array": list(inner)}, st.sampled_from([*plain.TYPES, "object", "U5", "int8", 3, None]),
                   st.one_of(st.lists(st.one_of(st.integers(-2, 9), numbers), max_size=4), leaves),
                   st.one_of(st.lists(st.one_of(numbers, leaves), max_size=9), leaves))
kinds = st.sampled_from(["tuple", "dict", "array", "function", "list", ""])
nearly = st.recursive(st.one_of(leaves, arrays), lambda inner: st.one_of(
    st.lists(inner, max_size=5), st.dictionaries(kinds, inner, max_size=2), st.builds(lambda pairs: {"dict": pairs}, st.lists(
        st.lists(inner, min_size=1, max_size=3), max_size=4))), max_leaves=20)
data = st.recursive(st.one_of(st.none(), st.booleans(), st.integers(-10 ** 29, 10 ** 29), st.floats(allow_nan=False),
                              st.text(max_size=9)),
                    lambda inner: st.one_of(st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(
                        st.one_of(st.text(max_size=5), st.integers(-99, 99), st.tuples(st.integers(0, 9), st.text(max_size=2))),
                        inner,
                        max_size=4)), max_leaves=20)


@settings(max_examples=100, deadline=None)
@given(data)
def test_plain_data_comes_back_as_it_was(value):
    assert plain.decoded(plain.encoded(value)) == value


@settings(max_examples=150, deadline=None)
@given(nearly)
def test_any_json_is_plain_data_or_a_value_error(tree):
    with suppress(ValueError):
        assert is_plain(plain.decoded(json.dumps(tree).encode()))


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text(alphabet='[]{}":,0123456789.eE-+NaIinfty tuplearrydicf\\',
                                                 max_size=60).map(str.encode)))
def test_any_bytes_are_plain_data_or_a_value_error(line):
    with suppress(ValueError):
        assert is_plain(plain.decoded(line))


@pytest.mark.parametrize("text", [
    '{"array":["float64",[1000000000000],[]]}', '{"array":["float64",[0,1000000000000000000],[]]}',
    '{"array":["float64",[-1],[1.0]]}',
    '{"array":["float64",[0,99999],[]]}', '{"array":["float64",[true],[1.0]]}', '{"array":["float64",[1.0],[1.0]]}',
    '{"array":["object",[1],[1]]}', '{"array":["float64",[1],["1"]]}', '{"array":["float64",[1],[[1]]]}',
    '{"array":["int64",[1],[NaN]]}',
    '{"array":["int64",[1],[1e300]]}', '{"array":["int64",[1],[99999999999999999999]]}', '{"array":["float64",{},[1]]}',
    '{"array":1}',
    '{"array":["float64",[1]]}', '{"array":"abc"}', '{"array":[["float64"],[1],[1]]}',
    '{"array":["float64",[1,1,1,1,1,1,1,1,1],[1]]}',
    '{"dict":[[[],1]]}', '{"dict":[[{"dict":[]},1]]}', '{"dict":[[{"array":["float64",[1],[1]]},1]]}', '{"dict":[[1]]}',
    '{"dict":[1]}',
    '{"dict":{"a":1}}', '{"tuple":1}', '{"tuple":[],"dict":[]}', '{}', '{"function":"0"}', '{"a":1}', "1" * 32, "-" + "1" * 32,
    "",
    "[" * 101 + "]" * 101, '{"tuple":[' * 60 + "]}" * 60 + "x", '{"dict":[[1,' * 101 + "1" + "]]}" * 101, "[" * 10 ** 6])
def test_what_is_no_plain_data_is_a_value_error(text):
    with pytest.raises(ValueError):
        plain.decoded(text.encode())


def test_what_is_odd_and_does_no_harm_is_kept():
    text = '{"array":["float32",[2],[1e300,NaN]]}', "[NaN,Infinity,-Infinity,1e999]", '{"dict":[[1,2],[1.0,3],[true,4]]}'
    single, special, keys = (plain.decoded(line.encode()) for line in text)
    assert single.dtype == np.float32 and np.isinf(single[0]) and np.isnan(single[1])
    assert math.isnan(special[0]) and special[1:] == [math.inf, -math.inf, math.inf] and keys == {1: 4}


def test_few_objects_that_are_a_large_tree_are_refused_soon(monkeypatch):
    monkeypatch.setattr(plain, "MOST", 400_000)
    tree, start = [], time.process_time()
    for _ in range(60):
        tree = [tree, tree]
    with pytest.raises(TypeError, match="more than 400,000 items"):
        plain.encoded(tree)
    assert time.process_time() - start < 10


# what a worker says

sayings = st.one_of(
    st.binary(max_size=40).map(lambda said: lambda nonce: said + b"\n"),
    nearly.map(lambda tree: lambda nonce: message(nonce, json.dumps(tree).encode())),
    nearly.map(lambda tree: lambda nonce: b'{"dict":[["nonce",%s],["result",1]]}\n' % json.dumps(tree).encode()),
    nearly.map(lambda tree: lambda nonce: b'{"dict":[["nonce","%s"],["error",%s]]}\n' % (nonce.encode(),
        json.dumps(tree).encode())),
    st.tuples(nearly, nearly).map(lambda both: lambda nonce: b'{"dict":[["nonce","%s"],["ask",%s],["args",%s]]}\n' % (
        nonce.encode(), *(json.dumps(tree).encode() for tree in both)) + message(nonce, b"1")))


@settings(max_examples=150, deadline=None)
@given(sayings)
def test_whatever_a_worker_says_is_plain_data_or_failed(say):
    found = answered(say, lambda session: [session.call("f", (lambda *args: args,), {}) for _ in range(2)])
    assert isinstance(found, Failed) or is_plain(found)
    if isinstance(found, Failed):
        assert all(character.isprintable() or character in "\n\t" for character in str(found.came_back))


@pytest.mark.parametrize("say, said", [
    (lambda nonce: message("0" * 16, b"1"), "does not belong"), (lambda nonce: b'{"nonce":"%s","result":1}\n' % nonce.encode(),
        "plain data"),
    (lambda nonce: b"[1]\n", "does not belong"), (lambda nonce: message(nonce, b"1")[:-2], "the process ended"),
    (lambda nonce: b'{"dict":[["nonce","%s"]]}\n' % nonce.encode(), "does not belong"), (lambda nonce: b"\n", "plain data"),
    (lambda nonce: b'{"dict":[["nonce",{"array":["float64",[2],[1,2]]}],["result",1]]}\n', "does not belong"),
    (lambda nonce: b'{"dict":[["nonce","%s"],["ask",[]],["args",[]]]}\n' % nonce.encode(), "does not belong"),
    (lambda nonce: b'{"dict":[["nonce","%s"],["ask","0"],["args",7]]}\n' % nonce.encode(), "does not belong"),
    (lambda nonce: b"[" * (ANSWER + 9), "more than 8 MiB"), (lambda nonce: b"[" + b"0," * NODES * 40, "more than 8 MiB")])
def test_what_is_no_answer_ends_the_worker_in_a_sentence(say, said):
    found = answered(say)
    assert isinstance(found, Failed) and said in found.came_back, found.came_back


def test_an_answer_too_many_is_not_that_of_the_next_question():
    found = answered(lambda nonce: message(nonce, b"1") * 2, lambda session: [session.call("f", (), {}), session.call("f", (),
        {})])
    assert isinstance(found, Failed) and "does not belong" in found.came_back


FILL = ANSWER - 100
LARGE = {"lists": b"[" + b"[]," * (FILL // 3) + b"0]", "objects": b"[" + b"{}," * (FILL // 3) + b"0]",
         "pairs": b"[" + b'{"":0},' * (FILL // 7) + b"0]", "strings": b"[" + b'"ab",' * (FILL // 5) + b"0]",
         "numbers": b"[" + b"1e1," * (FILL // 4) + b"0]", "whole numbers": b"[" + b"999," * (FILL // 4) + b"0]",
         "digits": b"1" * FILL, "a fraction": b"0." + b"7" * FILL, "zeros": b"0." + b"0" * FILL + b"1",
         "an exponent": b"1e" + b"9" * FILL,
         "text": b'"' + "\u20ac".encode() * (FILL // 3) + b'"', "escapes": b'"' + b"\\u0001" * (FILL // 6) + b'"',
         "depth": b"[" * FILL,
         "an array": b'{"array":["float64",[%d],[%s0]]}' % (FILL // 4 - 9, b"1e1," * (FILL // 4 - 10)), "spaces": b" " * FILL,
         "within the limit": b"[" + b"[]," * (NODES - 9) + b"0]", "tuples": b"[" + b'{"tuple":[]},' * (NODES // 2 - 9) + b"0]",
         "arrays": b"[" + b'{"array":["bool",[0],[]]},' * (NODES // 4 - 9) + b"0]",
         "one hash": b'{"dict":[%s]}' % b",".join(b"[%d,0]" % (k * (2 ** 61 - 1)) for k in range(1, 100_000)),
         "one hash, few": b'{"dict":[%s]}' % b",".join(b"[%d,0]" % (k * (2 ** 61 - 1)) for k in range(1, plain.KEYS)),
         "names": b'{"dict":[%s]}' % b",".join(b'["%d",0]' % k for k in range(90_000))}


@measured
@pytest.mark.parametrize("what", LARGE if os.environ.get("XMAN_ALL_CASES") else list(LARGE)[::3])
def test_the_largest_answer_takes_little_time_and_memory(what):
    size, start = growth_since(), time.thread_time()
    found = answered(lambda nonce: message(nonce, LARGE[what]), cpu_seconds=60, wall_seconds=60)
    assert growth_since(size) < MIB and time.thread_time() - start < 16
    assert isinstance(found, Failed) == (what in ("lists", "objects", "pairs", "digits", "depth", "spaces", "one hash"))


# what a worker asks


def asked(args, function):
    """The reply to an ask with these arguments."""
    box = Scripted(lambda nonce: plain.encoded({"nonce": nonce, "ask": "0", "args": args}) + message(nonce, b"1"))
    with Session(box, b"", "m", (), Limits(cpu_seconds=5, wall_seconds=5)) as session:
        session.call("f", (function,), {})
        session.worker.process.stdin.close()
        until = time.monotonic() + 5
        while len(box.heard) < 2 and time.monotonic() < until:
            time.sleep(0.001)
    return plain.decoded(box.heard[1])


def test_a_function_of_the_grader_is_called_with_plain_data():
    assert asked([1, (2.0, "x"), {"a": [True, None]}], lambda *args: args) == {"result": (1, (2.0, "x"), {"a": [True, None]})}


@pytest.mark.parametrize("args, function, said", [
    ([10 ** 29, 10 ** 29], lambda x, n: x ** n, "OverflowError"), ([3, 10 ** 9], lambda x, n: x ** n, "OverflowError"),
    ([10_000, 10_000], lambda x, n: x ** n, "more than 30 digits"), ([[0] * (ITEMS + 1), 9], lambda x, n: x * n,
        "ValueError: a list"),
    (["a" * (ITEMS + 1), 9], lambda x, n: x * n, "ValueError: a str"), (["a", 10 ** 9], lambda x, n: x * n, "TypeError"),
    ([["a"] * ITEMS, 10 ** 9], lambda x, n: x * n, "TypeError"), ([np.ones((2000, 1)), np.ones((1, 2000))], lambda x, y: x * y,
        "too large"),
    ([np.ones((500, 1, 1)), {"a": [np.ones((1, 500, 1))]}, np.ones(500)], lambda *args: args, "too large"),
    ([[[0.0] * ITEMS] * 20, 9999], lambda x, n: x * n, "items and characters"),
    ([1], lambda x, y: x, "TypeError"), ([0], lambda x: 1 / x, "ZeroDivisionError"), ([], lambda: object(), "TypeError"),
    ([], lambda: "x" * ANSWER, "items and characters"), ([], lambda: "\0" * (ANSWER // 4), "more than 8 MiB"),
    ([], lambda: sorted([1, "a"]), "TypeError"), ([], lambda: [][0],
        "IndexError")])
def test_arguments_that_would_harm_the_grader_are_an_error_of_the_submission(args, function, said):
    start = time.thread_time()
    reply = asked(args, function)
    assert said in f"{reply['kind']}: {reply['error']}" and len(reply["error"]) < 600 and time.thread_time() - start < 8


def test_modest_arguments_stay_what_they_are():
    arguments = [1, -10_000, True, None, 0.5, "x" * ITEMS, (1, [2, {"a": (3,)}]), [0] * ITEMS, {("a", 1): "b"}]
    assert bounded_args(arguments) == arguments and list(map(type, bounded_args(arguments))) == list(map(type, arguments))
    a = np.ones((1000, ENTRIES // 1000))
    assert bounded_args([a, a[0], 2.0])[0] is a and type(bounded_args([10_001])[0]) is float


def test_the_grader_does_not_work_for_ever_for_one_submission():
    large = plain.encoded([[0.5] * 1000] * 300)[:-1]
    asks = lambda nonce: b'{"dict":[["nonce","%s"],["ask","9"],["args",%s]]}\n' % (nonce.encode(), large) * 80
    start = time.thread_time()
    found = answered(asks, cpu_seconds=1, wall_seconds=60)
    assert "1 s of processor time" in found.came_back and time.thread_time() - start < 16


def test_a_worker_that_does_not_read_is_stopped_by_the_clock():
    class Deaf(Scripted):
        def work(self, questions, tell, gone):
            gone.wait(20)
            os.close(questions), os.close(tell)
    with Session(Deaf(None), b"", "m", (), Limits(wall_seconds=1)) as session:
        start = time.monotonic()
        with pytest.raises(Failed) as failed:
            session.call("f", ("x" * 10 ** 6,), {})
        assert "no answer within 1 s" in failed.value.came_back and time.monotonic() - start < 10
