# Tries: to overflow the grader's stack: lists, tuples and dicts, thousands deep, as an answer, in an error, as arguments of an
# ask.
# Worked: the grader crashes or blames itself.
# worth: 0
import sys

asked = []


def raw(text):
    frame = sys._getframe(1)
    while "question" not in frame.f_locals:
        frame = frame.f_back
    me = frame.f_locals["self"]
    me.answers.write(b'{"dict":[["nonce","%s"],%s]}\n' % (me.nonce.encode(), text.encode()))
    me.answers.flush()


def nested(depth, left, right):
    return left * depth + right * depth


def gradient(steps, values, rules):
    asked.append(1)
    if len(asked) == 1:
        raw('["result",' + nested(450, '{"tuple":[', ']}') + "]")
    elif len(asked) == 2:
        raw('["error",' + nested(900, "[", "]") + "]")
    else:
        raw('["result",' + nested(900, "[", "]") + "]")


def average(rows):
    raw('["result",' + nested(200_000, "[", "]") + "]")
