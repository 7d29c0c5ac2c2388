# Tries: to confuse by attributes of the functions themselves: __name__, __doc__, __wrapped__, __code__, defaults that change,
# descriptors.
# Worked: points, or an escape in the record.
# worth: 40
class Descriptor:
    def __get__(self, thing, kind=None):
        raise SystemExit("\x1b[31m")


def gradient(steps, values, rules, kept=[]):  # noqa: B006 (it is the attack)
    kept.append(values)
    gradient.__code__ = (lambda steps, values, rules, kept=None: {}).__code__
    return kept[0]


gradient.__name__ = gradient.__qualname__ = gradient.__doc__ = "\x1b[31m<b>gradient</b>"
gradient.__wrapped__ = gradient
gradient.__module__ = Descriptor()


def average(rows):
    return [sum(row) / len(row) for row in rows]
