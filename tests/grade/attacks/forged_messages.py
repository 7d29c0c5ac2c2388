# Tries: to write messages of its own making on every open file: other nonces, no nonce, asks for functions that are not there
# or are another
# question's, with arguments that hurt whoever uses them.
# Worked: points, a crash or a memory error in the grader.
# worth: 40
import json
import os
import sys

calls = []


def gradient(steps, values, rules):
    frame = sys._getframe(1)
    while "question" not in frame.f_locals:
        frame = frame.f_back
    me = frame.f_locals["self"]
    asks = [("99", []), ("0", ["a" * 1000, 10 ** 29]), ([], []), ({}, {}), (None, None), ("__class__", []), (0, [1, 2, 3]),
            ("0", {"a": 1}),
            ("0", [[[[]]]] * 100), ("1", [1, 2]), ("-1", [1, 2, 3]), ("0", 7), ("0", "abc")]
    for name, args in asks:
        me.write({"ask": name, "args": args})
        me.questions.readline()
    for number in range(16):
        for nonce in (me.nonce, "0" * 16, None, "", ["a"], me.nonce + "0"):
            try:
                line = json.dumps({"dict": [["nonce", nonce], ["result", {"dict": [["x0", 1.0]]}], ["credit", 1]]}) + "\n"
                os.write(number, line.encode())
            except OSError:
                pass
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
