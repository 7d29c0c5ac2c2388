"""Records of a class that never was: a generator of what the grader leaves behind, friendly and hostile."""

import hashlib
import re

import numpy as np

HOSTILE = ("<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</style><svg onload=alert(1)>",
           "{{ 7 * 7 }}{% raw %}", "=HYPERLINK(\"http://evil.example\")", "\x1b[2J\x1b]0;owned\x07",
           "\u202egnirts desrever", "]]>--></title>&lt;")
SECRET = "the-hidden-input-4711"  # stands in the feedback of hidden parts, and may stand nowhere else
NAMES = ("Zoë Müller", "Jürgen Groß", "李小龙", "Ōyama Kazuko", "Nguyễn Thị Minh Khai", "O'Brien, Siobhán", "Łukasz Żak",
         "Anna-Lena Weiß", "Мария Иванова", "Søren Kierkegård", "María José Núñez", "김민수", "Ada Lovelace", "Alan Turing",
         "Grace Hopper", "Emmy Noether")

# number, title, [(title, points, hidden, [case])]
TASKS = [(1, "the tables G and DG", [("values of G", 6, False, ["add", "mul", "divide", "sin"]),
                                     ("partial derivatives", 9, False, ["subtract", "divide", "half", "sqrt", "tanh"]),
                                     ("each partial is a function of all arguments", 5, True, ["all"])]),
         (2, "eval", [("eval of the notes' lists", 5, False, ["the house", "equation 1", "the triangle"]),
                      ("eval of random lists", 10, False, ["short", "long"]),
                      ("each line is evaluated once", 5, True, ["counted"])]),
         (3, "backprop", [("adjoints of the operators", 12, False, ["add", "subtract", "mul", "divide"]),
                          ("a register that is read twice", 10, False, ["square", "twice"]),
                          ("backprop of random lists", 10, False, ["short", "long", "longest"]),
                          ("the rules are called once for each argument", 8, True, ["counted"])]),
         (4, "descent", [("a minimum of a parabola", 8, False, [""]), ("the parameters are not changed in place", 4, False, [""]),
                         ("descent on a random list", 8, True, ["a", "b"])])]

GIVEN = "eval([('z1', 'mul', ('h', 'w')), ('area', 'half', ('z1',))], {'h': 5, 'w': 10}, G)"
MATRIX = "[[ 0.1234 -0.5678  1.0000]\n [ 2.5000  0.0000 -3.1416]], shape (2, 3)"
FEEDBACK = [(GIVEN, "-50, which is off", "the value of z1, from the line z1 = mul(h, w), to agree to 1e-09",
             "Its sign is the other way round."),
            ("backprop([…], {'b1': 0.25, 'x': 1.5}, DG, f=1.0)", "shape (5,)", "delta of b1: shape (1, 5)",
             "delta of `b1` has shape (5,), the register has shape (1, 5): did the sum keep its axis?"),
            (None, MATRIX, "rows that sum to 1", "Subtract the largest element of each row, then divide by the sum of the row."),
            (GIVEN, "KeyError: 'z1' (line 17 of wengert.py)", "an answer", None),
            ("descent(f, [1.0, 2.0], rate=0.1, steps=100)", "nan", "delta of x: finite numbers",
             "Where does it overflow, or divide by zero? Look at the largest exponent and the smallest denominator.")]
TROUBLES = ["the worker was stopped after 20 s of processor time (an endless loop?)",
            "the process ended in eval: killed by signal 11 (a crash)", "it printed more than 1 MiB and was stopped"]


def feedback_of(rng, hidden):
    given, came_back, expected, look = FEEDBACK[rng.choice(len(FEEDBACK), p=[0.35, 0.3, 0.15, 0.1, 0.1])]
    if hidden:
        given, came_back, expected, look = f"once({SECRET})", SECRET, f"{SECRET} calls", f"Look at {SECRET}."
    return {"given": given, "came_back": came_back, "expected": expected, "look": look}


def part_of(rng, part, skill):
    title, of, hidden, names = part
    cases = []
    for name in names:
        credit = 1.0 if rng.random() < skill else float(rng.choice([0.0, 0.0, 0.0, 0.5]))
        cases.append({"name": name, "credit": credit, "feedback": None if credit == 1 else feedback_of(rng, hidden)})
    points = round(of * sum(case["credit"] for case in cases) / len(cases), 6)
    return {"title": title, "points": points, "of": float(of), "hidden": hidden, "cases": cases}


def record(name, skill=0.8, seed=0, trouble=None, task_trouble=None, output=""):
    """The record of a submission whose cases pass with the probability skill."""
    rng = np.random.default_rng(seed)
    tasks = []
    for number, title, parts in TASKS:
        parts = [part_of(rng, part, 0.0 if trouble or task_trouble == number else skill) for part in parts]
        own = TROUBLES[number % 3] if task_trouble == number else None
        for case in (case for part in parts for case in part["cases"] if trouble or own):
            case.update(credit=0.0, feedback={"given": None, "came_back": trouble or own, "expected": "an answer", "look": None})
        for part in parts:
            part["points"] = round(part["of"] * sum(case["credit"] for case in part["cases"]) / len(part["cases"]), 6)
        tasks.append({"number": number, "title": title, "points": round(sum(part["points"] for part in parts), 6),
                      "of": sum(part["of"] for part in parts), "seconds": round(float(rng.gamma(2, 0.3)) + 20 * bool(own), 3),
                      "trouble": own, "output": output if number == 2 else "", "parts": parts})
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    slug = f"{re.sub('[^a-z0-9]+', '-', name.lower())[:30].strip('-')}-{digest[:6]}"
    return {"submission": name, "slug": slug, "file": f"{name}.zip", "assignment": "wengert", "title": "Wengert lists",
            "points": round(sum(task["points"] for task in tasks), 6), "of": sum(task["of"] for task in tasks),
            "trouble": trouble, "tasks": tasks,
            "graded": {"digest": digest, "assignment": "0123456789ab", "xman": "0.1.0", "python": "3.11.7", "numpy": "2.4.6",
                       "sandbox": "bubblewrap 0.8.0, seccomp", "term": "fedcba987654", "when": "2026-11-21T15:02:34+00:00"},
            "seconds": round(sum(task["seconds"] for task in tasks) + 0.1, 3)}


def hostile(text, seed=0, titles=True):
    """A record in which each string that a submission can shape is the text; the titles too, which are the instructor's."""
    made = record(text, skill=0.3, seed=seed, output=text)
    made["title"] = text if titles else made["title"]
    for task in made["tasks"]:
        task.update(trouble=text, title=text if titles else task["title"])
        for part in task["parts"]:
            part["title"] = text if titles else part["title"]
            for k, case in enumerate(part["cases"]):
                hidden = SECRET if part["hidden"] else text
                case.update(name=f"{text}{k}", feedback=case["feedback"] and dict.fromkeys(case["feedback"], hidden))
    return made


def grader_failed(made, hidden=False):
    """The record with a case in which the grader itself failed; what it says is for the instructor alone."""
    part = next(part for task in made["tasks"] for part in task["parts"] if part["hidden"] == hidden)
    part["cases"][0].update(credit=0.0, feedback={
        "given": GIVEN, "came_back": None, "grader": True, "look": "Tell your instructor.",
        "expected": f"something that the grader can judge (ZeroDivisionError: {SECRET})",
        "traceback": f"Traceback …\n  {SECRET}"})
    return made


def classroom(count=40, seed=1):
    """A class: good and weak, one with all points, troubles, hostile names, one failure of the grader."""
    rng = np.random.default_rng(seed)
    names = [*NAMES, *(f"student{k:03}" for k in range(len(NAMES), max(count, len(NAMES))))][:count]
    output = "epoch 1 loss 0.693\nepoch 2 loss 0.512\n"
    made = [record(name, skill=float(rng.beta(6, 1.6)), seed=seed + k, output=output * (k % 4 == 0))
            for k, name in enumerate(names)]
    if count >= 16:
        made[3] = record(names[3], skill=1)
        made[5] = record(names[5], trouble="no file wengert.py in the archive: found solution.py, notes.txt")
        made[7] = record(names[7], task_trouble=3, seed=7)
        made[8] = record(names[8], task_trouble=2, seed=8)
        made[9] = record(names[9], trouble="importing it failed: SyntaxError: invalid syntax (wengert.py, line 12)")
        made[10] = hostile(HOSTILE[0], seed=10, titles=False)
        made[11] = grader_failed(made[11])
        made[12] = record("a name that is so very long that no column of any table holds it, whatever its width may be", seed=12)
    return made
