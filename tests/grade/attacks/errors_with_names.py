# Tries: to harm whoever prints an error: classes with escapes as names, messages of 10**8 characters, of which the class lies
# as well.
# Worked: an escape in the record, a large record, or the other task lost.
# worth: 40
asked = []


class Meta(type):
    __name__ = property(lambda cls: "\x1b[31m" * 10 ** 6)
    __instancecheck__ = lambda cls, thing: True


class Evil(Exception, metaclass=Meta):
    def __str__(self):
        return "\x1b]0;evil\x07<b>" * 10 ** 7
    __repr__ = __format__ = __str__
    __class__ = KeyboardInterrupt


def gradient(steps, values, rules):
    asked.append(1)
    if len(asked) == 1:
        raise Evil("evil")
    raise type("N\x1b[31m" + "o" * 10 ** 6, (NotImplementedError,), {})("<script>\x9b\u202e" * 10 ** 5)


def average(rows):
    return [sum(row) / len(row) for row in rows]
