# Tries: to put modules of its own in the place of those that the worker uses: plain, confine, worker, json, numpy, traceback.
# Worked: points, or the grader fails.
# worth: 0
import sys
import types


class Everything(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        return lambda *args, **keywords: Everything(name)
    __call__ = lambda self, *args, **keywords: True
    __iter__ = lambda self: iter(())


for name in ("plain", "confine", "worker", "json", "json.decoder", "traceback", "linecache", "numpy", "random",
             "importlib.util", "xman", "xman.grade",
             "grading", "checks", "probes"):
    sys.modules[name] = Everything(name)
sys.modules["__main__"].json = sys.modules["__main__"].traceback = sys.modules["__main__"].linecache = Everything("json")


def gradient(steps, values, rules):
    return True


def average(rows):
    return True
