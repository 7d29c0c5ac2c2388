# Tries: to write to the instructor's terminal: escape sequences that clear it, set its title, its clipboard, its answers.
# Worked: an escape, in a record or in a table.
# worth: 40
import sys

EVIL = ("\x1b[2J\x1b[H\x1b]0;title\x07\x1b]52;c;cm0gLXJmIH4K\x07\x1b[6n\x1bP+q544e\x1b\\"
        "\x9b31m\x1b]8;;http://evil\x07link\x1b]8;;\x07\r\b\b\b\x7f\v\f\x00"
        "\u202e\u2066\u200f\u2028\u2029\ufeff\x85\U000e0041"
        "<script>alert(1)</script><img src=x onerror=alert(2)>&lt;'\"{{7*7}}{% raw %}")


def gradient(steps, values, rules):
    print(EVIL, file=sys.stderr)
    sys.stdout.buffer.write(EVIL.encode("latin-1", "ignore") + b"\xff\xfe\xed\xa0\x80\n")
    sys.stdout.flush()
    if "x2" in values:
        raise type("Error" + EVIL, (ValueError,), {})(EVIL)
    return {EVIL: EVIL, "x0": EVIL}


def average(rows):
    print(EVIL)
    return [sum(row) / len(row) for row in rows]
